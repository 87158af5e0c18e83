"""OpenAI Agents and pydantic-ai: a memory as the `Session` of a run, or as a capability.

    result = await Runner.run(agent, "Where is Sam?", session=OpenAISession("trip-1", memory))
    agent = Agent("openai:gpt-5", capabilities=[pydantic_ai_memory(memory)])

The items of an OpenAI session are facts of the caller's own user and of that session, in order. A
popped item and a cleared session are retractions, so the history keeps them. An item that looks
like an order to a model is quarantined, and one that holds a secret is never stored. In both cases
the same item without its words keeps the place, because a provider refuses a conversation with a
hole. `agents.memory.session.Session` is a protocol, so nothing is imported here.

The capability compiles the context before each request, for what the user said last. Its stable
part becomes an instruction, and its turn replaces the user's text in this request alone; the
history of the run stays as it was. The tools `recall` and `remember` use the memory that was handed
in, never one that a call names.

`joined_class` joins a class of ours with the base class of a framework that may not be installed.
Written for openai-agents 0.9 and pydantic-ai 2.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import new_class
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput
from ...schema.principal import Scope
from ...schema.vocabulary import Outcome, StateLayer
from ...schema.write import Write

if TYPE_CHECKING:
    from ...service.client.memory import Memory
    from ...service.compilation.shown import Envelope

TRANSCRIPT_SLOT: Final = "transcript"
_PAGE_ITEMS: Final = 50
"""Items of one document: a claim is compared with all others of its slot."""
_UNSTORABLE: Final = frozenset({"secret_in_content", "too_large", "unstorable_text"})
_WORDS: Final = ("content", "output", "summary")
"""Fields of an item that hold free text."""

Entry = Mapping[str, Any]
_Answer = TypeVar("_Answer")


class OpenAISession:
    """A session of OpenAI Agents, kept in a memory."""

    session_settings: Any = None

    def __init__(self, session_id: str, memory: Memory) -> None:
        """Take the name of the session and the memory of whose session it is.

        Raises:
            InvalidInput: `bad_scope`, for a name that no scope can hold.
        """
        principal = replace(memory.principal, session=session_id)
        self.session_id = session_id
        self._scope = Scope(user=principal.user, session=session_id).scope_id
        self._memory = memory.bind(principal)
        self._last_page = 0
        # What is added or popped stands behind what was read before it.
        self._turn = threading.Lock()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items in order, or the last `limit` of them."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        return await asyncio.to_thread(self._items, limit)

    async def add_items(self, items: Sequence[Any]) -> None:
        """Add items behind those that are there, in one transaction."""
        await asyncio.to_thread(self._in_turn, self._add, [dict(item) for item in items])

    async def pop_item(self) -> Any:
        """Retract the last item and return it; None where there is none."""
        return await asyncio.to_thread(self._in_turn, self._pop)

    async def clear_session(self) -> None:
        """Retract all items."""
        await asyncio.to_thread(self._in_turn, self._clear)

    # --- on a thread

    def _in_turn(self, change: Callable[..., _Answer], *args: Any) -> _Answer:
        """Make a change when those before it are made."""
        with self._turn:
            return change(*args)

    def _items(self, limit: int | None) -> list[Entry]:
        items: list[Entry] = []
        for page in range(self._newest_page() + 1):
            for entry in self._entries(page):
                items.append(entry["item"])
        return items if limit is None else items[max(0, len(items) - limit) :]

    def _add(self, items: list[Entry]) -> None:
        page = self._newest_page()
        present = self._entries(page)
        first = present[-1]["number"] + 1 if present else page * _PAGE_ITEMS
        entries: list[Entry] = []
        for number, item in enumerate(items, first):
            entries.append({"number": number, "item": item})

        try:
            receipts = self._memory.write_many(map(self._write, entries))
        except InvalidInput as refusal:
            if refusal.code not in _UNSTORABLE:
                raise
            entries = [self._storable(entry) for entry in entries]
            receipts = self._memory.write_many(map(self._write, entries))

        notes: list[Entry] = []
        for entry, receipt in zip(entries, receipts, strict=True):
            if receipt.outcome is Outcome.QUARANTINED:
                notes.append(_without_words(entry, f"set apart, object {receipt.object_id}"))
        self._memory.write_many(map(self._write, notes))

    def _storable(self, entry: Entry) -> Entry:
        """An entry as it is, or without its words where they cannot be kept."""
        try:
            self._memory.write_many([self._write(entry)], dry_run=True)
        except InvalidInput as refusal:
            return _without_words(entry, f"not stored, {refusal.code}")
        return entry

    def _pop(self) -> Entry | None:
        entries = self._entries(self._newest_page())
        if not entries:
            return None

        self._memory.write_many([self._write(entries[-1], op="retract")])
        return cast("Entry", entries[-1]["item"])

    def _clear(self) -> None:
        writes: list[Write] = []
        for page in range(self._newest_page() + 1):
            for entry in self._entries(page):
                writes.append(self._write(entry, op="retract"))
        self._memory.write_many(writes)
        self._last_page = 0

    def _newest_page(self) -> int:
        """The last page that holds an item; another process may have added or popped some."""
        page = self._last_page
        while page and not self._entries(page):
            page -= 1
        while self._entries(page + 1):
            page += 1
        self._last_page = page
        return page

    def _entries(self, page: int) -> list[Any]:
        state = self._memory.as_of().slot(self._document(page), TRANSCRIPT_SLOT)
        return sorted(state.values, key=lambda entry: entry["number"])

    def _document(self, page: int) -> EntityRef:
        return EntityRef(
            name=f"transcript of {self.session_id}, part {page + 1}",
            type="document",
            external_ids={TRANSCRIPT_SLOT: f"{self._scope}/{page}"},
        )

    def _write(self, entry: Entry, op: str = "assert") -> Write:
        return Write(
            subject=self._document(entry["number"] // _PAGE_ITEMS),
            slot=TRANSCRIPT_SLOT,
            value=entry,
            op=op,
            layer=StateLayer.SESSION.value,
            source_origin=_origin(entry["item"]),
        )


def _origin(item: Entry) -> str:
    """Where the words of an item come from; its scheme sets their level."""
    if item.get("role") == "user":
        return "chat://openai-agents"
    if "output" in item:
        return "tool://openai-agents"
    return "agent://openai-agents"


def _without_words(entry: Entry, note: str) -> Entry:
    """An entry whose item keeps its kind and its ids, with a note in place of its words."""
    item = dict(entry["item"])
    for name in _WORDS:
        if name in item:
            item[name] = f"[{note}]"
    if "arguments" in item:
        item["arguments"] = "{}"
    return {"number": entry["number"], "item": item}


def joined_class(name: str, own_class: type, framework_class: Any) -> Any:
    """Return a subclass of both, made when the framework is there.

    Our own methods win; what the framework adds to them comes along.
    """
    members = {"__module__": own_class.__module__, "__doc__": own_class.__doc__}
    return new_class(name, (own_class, framework_class), {}, lambda body: body.update(members))


_HITS: Final = 10


def pydantic_ai_memory(memory: Memory, task: str = "assistant", **options: Any) -> Any:
    """Return a capability that compiles the context of each request from a memory.

    `task` is a task type, `options` are those of `memory.compile`.

    Raises:
        ModuleNotFoundError: without the extra `[pydantic-ai]`.
    """
    capabilities: Any = import_module("pydantic_ai.capabilities")
    base: Any = capabilities.AbstractCapability
    capability = joined_class("TenureMemory", ContextCapability, base)()
    capability.memory = memory
    capability.compile_fields = {"task": task, **options}
    return capability


class ContextCapability:
    """What the capability does; the framework's base class answers everything else."""

    memory: Memory
    compile_fields: Mapping[str, Any]

    def get_toolset(self) -> Any:
        """The tools `recall` and `remember`."""
        toolsets: Any = import_module("pydantic_ai.toolsets")
        memory = self.memory

        def recall(query: str) -> list[str]:
            """Search the memory for what is true now."""
            return [hit.object.content or "" for hit in memory.as_of().search(query, _HITS).hits]

        def remember(text: str) -> str:
            """Keep a statement, verbatim."""
            receipts = memory.observe(text, None, source_origin="agent://pydantic-ai")
            return receipts[0].outcome.value

        return toolsets.FunctionToolset([recall, remember])

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Lay the compiled context over one request; nothing of it enters the history."""
        place = _user_turn(request_context.messages)
        if place is None:
            return request_context

        words = _words(request_context.messages[place])
        fields: dict[str, Any] = {"query": words, "user_request": words, **self.compile_fields}
        envelope = await asyncio.to_thread(lambda: self.memory.compile(**fields))
        system, turn = _zone_texts(envelope)

        messages = [*request_context.messages]
        messages[place] = _with_words(messages[place], turn)
        parameters = request_context.model_request_parameters
        part: Any = import_module("pydantic_ai.messages").InstructionPart(system, dynamic=True)
        instructions = [*(parameters.instruction_parts or ()), part]
        return replace(
            request_context,
            messages=messages,
            model_request_parameters=replace(parameters, instruction_parts=instructions),
        )


def _user_turn(messages: Any) -> int | None:
    """The place of the last message in which the user said something."""
    for place in range(len(messages) - 1, -1, -1):
        if _words(messages[place]):
            return place
    return None


def _words(message: Any) -> str:
    texts: list[str] = []
    for part in message.parts:
        if part.part_kind == "user-prompt":
            contents = [part.content] if isinstance(part.content, str) else part.content
            for content in contents:
                if isinstance(content, str):
                    texts.append(content)
    return "\n".join(texts)


def _with_words(message: Any, text: str) -> Any:
    """A message whose user's texts are replaced by one; pictures and files stay."""
    parts: list[Any] = []
    for part in message.parts:
        if part.part_kind != "user-prompt":
            parts.append(part)
            continue
        contents: list[Any] = [] if isinstance(part.content, str) else [*part.content]
        media = [content for content in contents if not isinstance(content, str)]
        if text or media:
            parts.append(replace(part, content=[text, *media] if media else text))
        text = ""
    return replace(message, parts=parts)


def _zone_texts(envelope: Envelope) -> tuple[str, str]:
    """The stable part of an envelope, and its turn."""
    texts = {"system": "", "user": ""}
    for message in envelope.render("openai")["messages"]:
        texts["system" if message["role"] == "system" else "user"] += message["content"]
    return texts["system"], texts["user"]
