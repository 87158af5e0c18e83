"""LangChain and LangGraph: a retriever, a middleware with a session, and a `BaseStore`.

    retriever = langchain_retriever(memory, limit=5)
    agent = create_agent(model, tools, middleware=[langchain_middleware(memory, model="gpt-5")])
    graph = builder.compile(store=langgraph_store(memory.bind(principal)))

The retriever returns what the caller of the memory may see, true now or at the stated times. Each
document names its object, so that `memory.explain` says where it comes from.

The middleware takes the place of `SummarizationMiddleware`. The agent's own list of messages stays
whole, and each request holds what the window of the session shows. The session has the name of the
thread, and the tool `recall_original` reads what left the window.

The store keeps values under paths, as records: facts about a document that only its identifier
binds, so no two paths are taken for one another. A record belongs to the caller's own user, else to
its session, whatever namespace a model asks for. A put replaces the value before, and a delete ends
it; `memory.as_of` still returns both. Values do not expire by themselves.

Written for langchain-core 1.7, langchain 1.0 (middleware) and langgraph 1.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from itertools import islice
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from ...schema.answers import SearchHit
from ...schema.context_object import ContextObject
from ...schema.entity import MAX_NAME, EntityRef
from ...schema.errors import InvalidInput, NotFound
from ...schema.principal import Principal, Scope
from ...schema.values import fields_of
from ...schema.vocabulary import Outcome, StateLayer
from ...schema.write import Moment, Receipt, Write
from .openai import joined_class

if TYPE_CHECKING:
    from ...service.client.memory import Memory
    from ...service.sessions.session import Session
    from ...service.sessions.terms import SessionTerms

_MESSAGES: Final = ("turn_started", "step_made", "result_came")
"""Kinds of events that each record one of LangChain's messages."""


def langchain_retriever(
    memory: Memory, *, limit: int = 10, valid: Moment = None, tx: Moment = None
) -> Any:
    """Return a LangChain `BaseRetriever` over a memory.

    `limit` is the number of documents at most; `valid` and `tx` are the times of `as_of`, now
    by default, at each call anew.

    Raises:
        ModuleNotFoundError: without the extra `[langchain]`.
    """
    retrievers: Any = import_module("langchain_core.retrievers")
    documents: Any = import_module("langchain_core.documents")

    class TenureRetriever(retrievers.BaseRetriever):  # type: ignore[misc]
        """A memory's search as LangChain calls it."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            hits = memory.as_of(valid, tx).search(query, limit).hits
            texts: list[Any] = []
            for hit in hits:
                name, text = hit.object.object_id, hit.object.content
                texts.append(documents.Document(id=name, page_content=text, metadata=_fields(hit)))
            return texts

    return TenureRetriever()


def _fields(hit: SearchHit) -> dict[str, Any]:
    """What a document says of itself beside its text."""
    source = hit.object
    return {
        "object_id": source.object_id,
        "score": hit.score,
        "source": source.source_origin,
        "authority_level": int(source.authority_level),
        "status": source.contradiction_status.value,
        "valid_from": None if source.valid_from is None else source.valid_from.isoformat(),
        "valid_until": None if source.valid_until is None else source.valid_until.isoformat(),
    }


def langchain_middleware(
    memory: Memory, *, name: str | None = None, **terms: Unpack[SessionTerms]
) -> Any:
    """Return a middleware for `create_agent` that keeps the window of its threads in sessions.

    `name` is the session's name, by default the thread's; `terms` are those of `memory.session`.

    Raises:
        ModuleNotFoundError: without the extra `[langchain]`.
    """
    middleware: Any = import_module("langchain.agents.middleware")
    core_tools: Any = import_module("langchain_core.tools")
    utils: Any = import_module("langchain_core.messages.utils")
    threads = _Threads(memory, name, terms)

    def recall_original(request: str) -> str:
        """Read in full what left this conversation or is shortened in it.

        Ask with an address that is shown (window://57), turn:12, a question, or a cursor.
        """
        try:
            return threads.session().rehydrate(request).text
        except NotFound as error:
            return str(error)

    class TenureMiddleware(middleware.AgentMiddleware):  # type: ignore[misc]
        """What a window shows in place of an agent's whole history."""

        tools = (core_tools.StructuredTool.from_function(recall_original),)

        def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            """Record what is new, and send what the window shows."""
            return handler(request.override(**self._shown(request)))

        async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            """Do the same for an agent that runs asynchronously."""
            return await handler(request.override(**self._shown(request)))

        def after_agent(self, state: Any, runtime: Any) -> None:
            """Record the last answer, and close the turn."""
            session = threads.recorded(state["messages"])
            if session.state.in_turn and not session.state.open_units:
                session.on_turn_end()

        def _shown(self, request: Any) -> dict[str, Any]:
            context = threads.recorded(request.messages).compile()
            shown = context.render("openai")["messages"]
            words = [request.system_prompt or ""]
            if shown and shown[0]["role"] == "system":
                # The agent's own instruction is the request's; what the store adds goes with it.
                words.append(shown.pop(0)["content"].removeprefix(context.state.system).strip())
            system = "\n\n".join(filter(None, words))
            (message,) = utils.convert_to_messages([{"role": "system", "content": system}])
            return {"system_message": message, "messages": utils.convert_to_messages(shown)}

    return TenureMiddleware()


class _Threads:
    """The sessions of an agent's threads, and how many of their messages are recorded."""

    def __init__(self, memory: Memory, name: str | None, terms: SessionTerms) -> None:
        self._memory, self._name, self._terms = memory, name, terms
        self._sessions: dict[str, Session] = {}
        self._counts: dict[str, int] = {}

    def session(self) -> Session:
        """The session of the thread that runs."""
        name = self._name or self._thread()
        if name not in self._sessions:
            opened: Any = self._memory.session(name, resume=True, **cast("Any", self._terms))
            session: Session = opened
            kinds = [event.kind.value for event in session.events()]
            self._sessions[name] = session
            self._counts[name] = sum(kinds.count(kind) for kind in _MESSAGES)
        return self._sessions[name]

    def recorded(self, messages: Sequence[Any]) -> Session:
        """The session with the messages that it lacks; a thread only grows."""
        session = self.session()
        name = self._name or self._thread()
        talk = [message for message in messages if message.type != "system"]
        for message in talk[self._counts[name] :]:
            _record(session, message)
            self._counts[name] += 1
        return session

    @staticmethod
    def _thread() -> str:
        config: Any = import_module("langgraph.config").get_config()
        return str(config.get("configurable", {}).get("thread_id") or "thread")


def _record(session: Session, message: Any) -> None:
    match message.type:
        case "human":
            for unit in session.state.open_units:
                for call_id in unit.open_calls:
                    session.abandon(call_id)
            if session.state.in_turn:
                session.on_turn_end()
            session.on_turn_start(message)
        case "tool":
            failed = getattr(message, "status", "") == "error"
            session.on_tool_result(message.tool_call_id, message.content, is_error=failed)
        case _:
            session.on_step(message)


RECORD_SLOT: Final = "record"
_SCHEME: Final = "record"
_PAGE: Final = 500
"""Documents of one page of the register."""
_LEAST_HITS: Final = 200
"""Hits that a search asks for at least: those of other shelves are left out afterwards."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What stands at a path."""

    path: Path
    value: Any
    """As it was put: anything that JSON can hold."""
    object_id: str
    created_at: datetime
    """When something was first put at the path, since the last deletion."""
    updated_at: datetime
    score: float | None = None
    """Of a search; larger is better."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one caller under one shelf, such as `langgraph`."""

    memory: Memory
    shelf: str

    def get(self, path: Path) -> Record | None:
        """Return what stands at a path now."""
        state = self.memory.as_of().slot(self._document(path), RECORD_SLOT)
        return None if state.object is None else self._record(state.object)

    def put(self, values: Mapping[Path, Any]) -> None:
        """Put values at paths, all in one transaction; None deletes what stands there.

        Raises:
            InvalidInput: `record_quarantined`, for values that read like an order to a model: they
                wait for a steward, and their paths hold what they held. `secret_in_content`,
                `too_large` and their like; nothing was written then.
        """
        writes: list[Write] = []
        for path, value in values.items():
            record = self.get(path)
            if value is not None:
                writes.append(self._write(path, "assert", self._body(value, record)))
            elif record is not None:
                writes.append(self._write(path, "delete", None))

        receipts = self.memory.write_many(writes)
        refused_names = quarantined_names(writes, receipts)
        if refused_names:
            raise InvalidInput(
                f"{', '.join(refused_names)}: reads like an order to a model and waits for a "
                "steward; state it as a fact, or have it accepted",
                code="record_quarantined",
            )

    def entries(self, prefix: Path = ()) -> Iterator[Record]:
        """Yield the records below a prefix, by path."""
        view = self.memory.as_of()
        for _, entity_id in sorted(self._documents(prefix)):
            state = view.slot(entity_id, RECORD_SLOT)
            if state.object is not None:
                yield self._record(state.object)

    def search(self, query: str, limit: int, prefix: Path = ()) -> tuple[Record, ...]:
        """Return the records below a prefix that match a query, best first."""
        hits = self.memory.as_of().search(query, max(_LEAST_HITS, 10 * limit)).hits
        records: list[Record] = []
        for hit in hits:
            path = self._path(hit.object.external_ids)
            if hit.object.slot == RECORD_SLOT and path is not None and begins(path, prefix):
                records.append(self._record(hit.object, hit.score))
        return tuple(records[:limit])

    # --- inside

    def _documents(self, prefix: Path) -> Iterator[tuple[Path, str]]:
        last = ""
        while True:
            page = self.memory.entities.list("document", after=last, limit=_PAGE)
            for entity in page:
                path = self._path(entity.external_ids)
                if path is not None and begins(path, prefix):
                    yield path, entity.entity_id
            if len(page) < _PAGE:
                return
            last = page[-1].entity_id

    def _document(self, path: Path) -> EntityRef:
        if not path or not all(path):
            raise InvalidInput(f"{path!r} is no path of a record", code="bad_request")
        address = "/".join(map(_label_text, path))
        return EntityRef(
            name=f"{self.shelf} {'/'.join(path)}"[:MAX_NAME],
            type="document",
            external_ids={_SCHEME: self._root + address},
        )

    def _path(self, external_ids: Mapping[str, str]) -> Path | None:
        identifier = external_ids.get(_SCHEME, "")
        if not identifier.startswith(self._root):
            return None
        return tuple(map(_label, identifier.removeprefix(self._root).split("/")))

    @property
    def _root(self) -> str:
        owner = own_scope(self.memory.principal).scope_id
        return f"{_label_text(owner)}/{_label_text(self.shelf)}/"

    def _body(self, value: Any, earlier: Record | None) -> Mapping[str, Any]:
        # When a path was first written is its own to tell: the history may hold an earlier life.
        return {
            "created": None if earlier is None else earlier.created_at.isoformat(),
            "value": value,
        }

    def _write(self, path: Path, op: str, value: Any) -> Write:
        return Write(
            subject=self._document(path),
            slot=RECORD_SLOT,
            value=value,
            op=op,
            layer=own_layer(self.memory.principal),
            source_origin=f"agent://{self.shelf}",
        )

    def _record(self, source: ContextObject, score: float | None = None) -> Record:
        path = self._path(source.external_ids)
        assert path is not None  # it was found by its identifier
        updated_at = source.tx_start
        first_time = source.value["created"]
        return Record(
            path=path,
            value=source.value["value"],
            object_id=source.object_id,
            created_at=datetime.fromisoformat(first_time) if first_time else updated_at,
            updated_at=updated_at,
            score=score,
        )


def own_scope(principal: Principal) -> Scope:
    """The scope in which a caller keeps what is its own; the whole tenant for a service."""
    if principal.user is not None:
        return Scope(user=principal.user)
    return Scope(session=principal.session)


def own_layer(principal: Principal) -> str | None:
    """The layer of what a caller keeps as its own; None is the slot's."""
    if principal.user is not None:
        return StateLayer.USER.value
    return None if principal.session is None else StateLayer.SESSION.value


def quarantined_names(writes: Iterable[Write], receipts: Iterable[Receipt]) -> list[str]:
    """The names of the documents of which a value was set apart."""
    names: list[str] = []
    for write, receipt in zip(writes, receipts, strict=True):
        if receipt.outcome is Outcome.QUARANTINED and isinstance(write.subject, EntityRef):
            names.append(write.subject.name)
    return names


def begins(path: Path, prefix: Path) -> bool:
    """Whether a path is a prefix, or lies below it."""
    return path[: len(prefix)] == prefix


def _label_text(label: str) -> str:
    return label.replace("%", "%25").replace("/", "%2F")


def _label(label: str) -> str:
    return label.replace("%2F", "/").replace("%25", "%")


_MOST_FILTERED: Final = 1_000
"""Records that a search with a filter looks at."""
_ORDERS: Final = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def langgraph_store(memory: Memory) -> Any:
    """Return a LangGraph `BaseStore` over the records of a memory's caller.

    Raises:
        ModuleNotFoundError: without the extra `[langgraph]`.
    """
    types: Any = import_module("langgraph.store.base")
    store_type = joined_class("TenureStore", RecordStore, types.BaseStore)
    return store_type(memory, types)


class RecordStore:
    """What `BaseStore` asks for; the framework's own class adds the calls by name."""

    supports_ttl = False
    ttl_config = None

    def __init__(self, memory: Memory, types: Any) -> None:
        """Take the memory, and LangGraph's module of operations and items."""
        self._records = Records(memory, "langgraph")
        self._types = types

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer operations in their order; reads come before the puts, which are one write.

        Raises:
            InvalidInput: `record_quarantined`, `secret_in_content`, and what else a write refuses.
        """
        types = self._types
        results: list[Any] = []
        values: dict[Path, Any] = {}
        for op in ops:
            answer: Any = None
            if isinstance(op, types.PutOp):
                values[(*op.namespace, op.key)] = op.value
            elif isinstance(op, types.GetOp):
                record = self._records.get((*op.namespace, op.key))
                answer = None if record is None else self._entry(record, types.Item)
            elif isinstance(op, types.SearchOp):
                answer = self._search(op)
            else:
                answer = self._namespaces(op)
            results.append(answer)

        self._records.put(values)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer operations on a thread, as `batch` does."""
        return await asyncio.to_thread(self.batch, [*ops])

    # --- inside

    def _search(self, op: Any) -> list[Any]:
        records: Iterable[Record]
        if op.query:
            # A filter may leave out any number of the best, so that all are asked for.
            limit = _MOST_FILTERED if op.filter else op.offset + op.limit
            records = self._records.search(op.query, limit, op.namespace_prefix)
        else:
            records = self._records.entries(op.namespace_prefix)

        if op.filter:
            records = (record for record in records if _meets(record.value, op.filter))

        page: list[Any] = []
        for record in islice(records, op.offset, op.offset + op.limit):
            page.append(self._entry(record, self._types.SearchItem, score=record.score))
        return page

    def _namespaces(self, op: Any) -> list[Path]:
        namespaces: set[Path] = set()
        for record in self._records.entries():
            namespace = record.path[:-1]
            if all(_matches(namespace, condition) for condition in op.match_conditions or ()):
                namespaces.add(namespace[: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _entry(self, record: Record, entry_type: Any, **score: Any) -> Any:
        return entry_type(
            namespace=record.path[:-1],
            key=record.path[-1],
            value=record.value,
            created_at=record.created_at,
            updated_at=record.updated_at,
            **score,
        )


def _matches(namespace: Path, condition: Any) -> bool:
    pattern: Sequence[str] = condition.path
    if len(namespace) < len(pattern):
        return False

    part = namespace[: len(pattern)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(pattern) :]
    return all(label in ("*", word) for label, word in zip(pattern, part, strict=True))


def _meets(value: Any, condition: Any) -> bool:
    """Whether a value meets a filter: equal throughout, or as its operators say."""
    parts = fields_of(condition)
    if not parts:
        return bool(value == condition)

    operators = [name for name in parts if name.startswith("$")]
    if operators:
        return all(_compares(value, name, parts[name]) for name in operators)
    members = fields_of(value)
    return all(_meets(members.get(name), part) for name, part in parts.items())


def _compares(value: Any, operator: str, bound: Any) -> bool:
    if operator == "$eq":
        return bool(value == bound)
    if operator == "$ne":
        return bool(value != bound)
    if operator not in _ORDERS:
        raise InvalidInput(f"no filter has the operator {operator!r}", code="bad_request")
    try:
        return bool(_ORDERS[operator](float(value), float(bound)))
    except (TypeError, ValueError):
        return False
