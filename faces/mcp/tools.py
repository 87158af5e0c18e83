"""The seven tools: what an agent may do with a memory, and how answers are cut into pages.

No tool takes a user or a tenant: the transport or the profile settles them, because a model would
pass any name that a text contains. No tool erases, decides reviews or reads everything. `forget`
retracts, so nothing is lost and writing the value again restores it. The descriptions are fixed
byte for byte, because prompt caches contain them.

An answer is short lines for the model and the same as data, at most `PAGE_TOKENS` long, with a
cursor to the rest. A cursor has the time and the end of the last page, and is bound to caller, tool
and arguments; an edited or foreign one is refused. It grants nothing: each page is read again with
the caller's rights of today.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import wraps
from inspect import signature
from typing import Annotated, Any, Final, Literal, ParamSpec

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from ...schema.answers import Quarantine, SlotState
from ...schema.context_object import ContextObject
from ...schema.document import Citation
from ...schema.entity import EntityRef, Review
from ...schema.errors import Forbidden, InvalidInput, TenureError
from ...schema.slots import TASK_TYPES
from ...schema.values import iso
from ...schema.vocabulary import Authority
from ...schema.write import Receipt
from ...service.backend.caller import backend_of, error_text
from ...service.client.answer import gap_lines
from ...service.client.memory import Memory
from ...service.compilation.shown import ExactCounter
from ...service.documents.records import DocumentPassage
from ...service.reading.view import Beginnings, View, point_of
from ...service.visual.text import held_span, when
from ...service.writing.observe import own_entity
from .hook import holds_memory

PAGE_TOKENS: Final = 2_000
"""The most of a text, in o200k tokens."""

_PURPOSE: Final = "tenure cursor v1"
"""Keeps the other uses of the tenant's key apart from this one."""

_ROOM: Final = 240
"""Tokens kept for the line that names the cursor, and for the frame of the data."""

_COUNTER: Final = ExactCounter()

Cursor = Annotated[str | None, Field(description="Of the page before, for the next one.")]

_ORIGIN = "agent://mcp"
"""A model passes on what it has read: its words are never those of the user."""

_BEGINNING = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,31}…?")
_SLOTS = (
    "From a closed list: title, employer, manager, team, office, home, email, phone, birthday, "
    "skill, diet, allergy, partner, child, likes, goal, todo, status, owner, deadline, decision, "
    "constraint and others; a wrong name is answered with the nearest ones."
)
_OWN_WORDS = frozenset({"me", "myself", "i", "user", "the user"})
_TIME = "2026-08-03 or an ISO 8601 instant"
_TASKS = f"{', '.join(TASK_TYPES)}, or a type that this memory defines."
_OTHER_FACE = re.compile(r"[;:,] [^;:]*(?:`tenure |reserve_tokens|\b[a-z_]+\.[a-z_]+\(\)).*")
"""Advice that names a command, an option or a call that no tool has, to its end."""
_ADVICE = {
    "unknown_vocabulary": "choose a name from the description of the argument",
    "unknown_entity": "find it with recall, or remember a fact of it first",
    "required_over_budget": "raise budget_tokens, or shorten the query",
    "unknown_object": "take the object_id from recall or as_of",
}
_TEXT_LIMIT = 600
"""Characters of an object in a list; `explain` gives the rest."""

_CHUNK = 1_000
"""Characters of a long text in one item."""

_SEARCH_LIMIT = 50


@dataclass(frozen=True, slots=True)
class ToolItem:
    """One line of an answer, and the same as data."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def tokens(self) -> int:
        """What the longer of its two forms costs."""
        plain = json.dumps(self.data, ensure_ascii=False)
        return max(_COUNTER.count(self.text + "\n"), _COUNTER.count(plain))


@dataclass(frozen=True, slots=True)
class ToolQuestion:
    """A call of a tool: who asks what, and the page that is asked for."""

    memory: Memory
    tool: str
    arguments: Mapping[str, Any]
    cursor: str | None = None

    def place(self) -> tuple[int, str | None]:
        """The number of the first item, and the tx that the first page was read at.

        Raises:
            InvalidInput: `bad_cursor`.
        """
        if self.cursor is None:
            return 0, None
        # Whatever a cursor decodes to, only one that this server marked is believed.
        try:
            first, tx, mark = json.loads(base64.urlsafe_b64decode(self.cursor))
            is_own = hmac.compare_digest(str(mark), self._mark(int(first), tx))
        except (ValueError, TypeError, OverflowError, RecursionError):
            is_own = False
            first, tx = 0, None
        if not is_own:
            raise InvalidInput(
                "this cursor is not of this call; ask again without one", code="bad_cursor"
            )

        return int(first), tx

    def cursor_to(self, first: int, tx: str | None) -> str:
        """The cursor of the page that begins with an item."""
        plain = json.dumps([first, tx, self._mark(first, tx)])
        return base64.urlsafe_b64encode(plain.encode()).decode()

    def _mark(self, first: int, tx: object) -> str:
        caller = self.memory.principal
        identity = [caller.tenant, caller.user, caller.session, sorted(caller.roles)]
        bound = json.dumps(
            [_PURPOSE, identity, self.tool, dict(self.arguments), first, tx],
            sort_keys=True,
            default=str,
        )
        secret = backend_of(self.memory).secret(caller.tenant)
        return hmac.new(secret, bound.encode(), hashlib.sha256).hexdigest()[:24]


def page(
    question: ToolQuestion,
    items: Sequence[ToolItem],
    *,
    head: Mapping[str, Any] | None = None,
    tx: str | None = None,
    placeholder: str = "nothing found",
) -> CallToolResult:
    """The items that fit into one answer, from where the cursor says."""
    first, _ = question.place()
    left_tokens = PAGE_TOKENS - _ROOM - _COUNTER.count(json.dumps(head or {}, default=str))
    last = first

    for item in items[first:]:
        left_tokens -= item.tokens
        # The first item goes in whatever it costs, or a page could stand still for ever.
        if left_tokens < 0 and last > first:
            break
        last += 1

    page_items = items[first:last]
    lines = [item.text for item in page_items] or [placeholder]
    data: dict[str, Any] = {"status": "ok", **(head or {})}
    data["items"] = [dict(item.data) for item in page_items if item.data]
    if last < len(items):
        data["cursor"] = question.cursor_to(last, tx)
        lines.append(f"({len(items) - last} more; call again with cursor={data['cursor']})")

    return answer("\n".join(lines), data)


def answer(text: str, data: Mapping[str, Any], *, is_error: bool = False) -> CallToolResult:
    """An answer in its two forms."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=dict(data),
        is_error=is_error,
    )


def refusal(error: TenureError, arguments: Iterable[str] = ()) -> CallToolResult:
    """A refusal as a result: what a model may mend must reach it, with its code.

    Advice for another face is left out, and a field is named as the tool's argument.
    """
    message, count = _OTHER_FACE.subn("", error_text(error))
    if count:
        message += f"; {_ADVICE.get(error.code, 'ask your user')}"
    if "text" not in arguments and "query" in arguments:
        message = re.sub(r"^text\b", "query", message)
    data = {"status": "refused", "code": error.code, "message": message}
    return answer(f"refused ({error.code}): {message}", data, is_error=True)


Arguments = ParamSpec("Arguments")


def refusal_as_result(
    tool: Callable[Arguments, CallToolResult],
) -> Callable[Arguments, CallToolResult]:
    """Answer a refusal of the memory as a result, with its code, instead of an error."""

    @wraps(tool)
    def telling(*args: Arguments.args, **kwargs: Arguments.kwargs) -> CallToolResult:
        try:
            return tool(*args, **kwargs)
        except TenureError as error:
            return refusal(error, signature(tool).parameters)

    return telling


@dataclass(frozen=True)
class Toolbox:
    """The tools over the memory of whoever asks."""

    memory_of: Callable[[], Memory]

    @refusal_as_result
    def remember(
        self,
        text: Annotated[str | None, Field(description="A sentence, instead of a fact.")] = None,
        subject: Annotated[
            str | None, Field(description="Name or id of what it is about, else your user.")
        ] = None,
        slot: Annotated[str | None, Field(description=_SLOTS)] = None,
        value: Annotated[str | None, Field(description="Text, number, date or a name.")] = None,
        valid_from: Annotated[
            str | None, Field(description=f"True from: {_TIME}, else now.")
        ] = None,
        valid_until: Annotated[
            str | None, Field(description=f"True until: {_TIME}, else open.")
        ] = None,
    ) -> CallToolResult:
        """Store a fact (subject, slot and value) or a text. New facts overwrite no history.

        Preferences and rules stay data until the user says them or a person confirms them.
        """
        memory = self.memory_of()
        person = _meant(memory, subject or "me")
        if slot is not None:
            fields = {"valid_from": valid_from, "valid_until": valid_until}
            receipts = [memory.write(person, slot, value, source_origin=_ORIGIN, **fields)]  # type: ignore[arg-type]
        elif text:
            receipts = memory.observe(text, person, source_origin=_ORIGIN, at=valid_from)
        else:
            raise InvalidInput(
                "give a text, or subject, slot and value", code="missing_value", field="text"
            )

        items = list(map(_receipt_item, receipts))
        return page(ToolQuestion(memory, "remember", {}), items)

    @refusal_as_result
    def recall(
        self,
        query: Annotated[str, Field(description="Words or a question.")],
        entity: Annotated[str | None, Field(description="Only about this name or id.")] = None,
        limit: Annotated[int, Field(ge=1, le=_SEARCH_LIMIT)] = 10,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Search what is true now. Lines end with the object_id for explain and forget."""
        memory = self.memory_of()
        arguments = {"query": query, "entity": entity, "limit": limit}
        question = ToolQuestion(memory, "recall", arguments, cursor)
        view = memory.as_of(tx=question.place()[1])

        subject = _meant(memory, entity)
        scope = f" about {json_line(view.entity(subject).name)}" if subject else ""
        result = view.search(query, limit, subject)
        places = memory.documents.cite(
            [hit.object.object_id for hit in result.hits], tx=_stamp(view)
        )
        items = [_object_item(hit.object, places.get(hit.object.object_id)) for hit in result.hits]
        placeholder = f"nothing found for {json_line(query)}{scope}"
        return page(question, items, tx=_stamp(view), placeholder=placeholder)

    @refusal_as_result
    def as_of(
        self,
        entity: Annotated[str, Field(description="Name or id.")],
        slot: Annotated[str | None, Field(description="One slot; else all that are known.")] = None,
        valid: Annotated[str | None, Field(description=f"True at: {_TIME}, else now.")] = None,
        tx: Annotated[str | None, Field(description=f"As known at: {_TIME}, else now.")] = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Show the facts of an entity that were true at one time, as known at another."""
        memory = self.memory_of()
        arguments = {"entity": entity, "slot": slot, "valid": valid, "tx": tx}
        question = ToolQuestion(memory, "as_of", arguments, cursor)
        # Without a stated tx every page answers as of the first, whatever is written meanwhile.
        view = memory.as_of(valid, tx or question.place()[1])

        # An unknown name is refused here: an empty answer would say that nothing holds of it.
        reference = _meant(memory, entity) or entity
        subject = view.entity(reference)
        name = subject.name
        head = {"entity": name, "valid": _text(view.valid), "tx": _text(view.tx)}
        if slot is None and subject.type == "document":
            record = memory.documents.get(subject.entity_id, valid=valid, tx=_stamp(view))
            items = list(map(_passage_item, record.passages))
            return page(question, items, head=head, tx=_stamp(view))
        facts = view.facts(reference) if slot is None else {slot: view.slot(reference, slot)}
        items = [_state_item(name, state) for name, state in facts.items()]
        topic = f"{json_line(name)}, true at {when(view.valid, missing='now')}"
        if tx is not None:
            topic += f", as known at {when(view.tx)}"
        items = [ToolItem(f"{topic}:"), *items] if items else items
        return page(
            question, items, head=head, tx=_stamp(view), placeholder=f"nothing known of {topic}"
        )

    @refusal_as_result
    def compile_context(
        self,
        query: Annotated[str, Field(description="The question that you will answer.")],
        task: Annotated[str, Field(description=_TASKS)] = "assistant",
        budget_tokens: Annotated[int, Field(ge=256, le=200_000)] = 1_500,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Get what to know before you answer: current, permitted, within a budget."""
        memory = self.memory_of()
        arguments = {"query": query, "task": task, "budget_tokens": budget_tokens}
        question = ToolQuestion(memory, "compile_context", arguments, cursor)

        # A later page reads the stored envelope again: a second compile could differ from it.
        _, envelope_id = question.place()
        if envelope_id is None:
            envelope = memory.compile(task, query, budget_tokens=budget_tokens)
        else:
            envelope = memory.replay(envelope_id)

        items = list(map(ToolItem, _parts(envelope.text))) if holds_memory(envelope) else []
        places = envelope.citations
        for number, place in places.items():
            items.append(ToolItem(f"[{number}] is from {json_line(str(place))}"))
        gaps: list[str] = []
        for gap in gap_lines(memory, envelope):
            gaps.append(": ".join(filter(None, (gap.reason, gap.topic, gap.detail))))
        items += [ToolItem(f"missing: {words}") for words in gaps]
        head = {
            "gaps": gaps,
            "asked": [asdict(record) for record in envelope.asked],
            "unmatched": list(envelope.unmatched),
            "envelope_id": envelope.envelope_id,
            "digest": envelope.digest,
            "tokens": envelope.tokens,
            "left_out": len(envelope.trace.left_out),
            "citations": {number: str(place) for number, place in places.items()},
        }
        return page(
            question,
            items,
            head=head,
            tx=envelope.envelope_id,
            placeholder="nothing is known of it",
        )

    @refusal_as_result
    def explain(
        self,
        object_id: Annotated[str, Field(description="From recall or as_of.")],
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Show where an object comes from, who said it, and what replaced it."""
        memory = self.memory_of()
        question = ToolQuestion(memory, "explain", {"object_id": object_id}, cursor)
        explanation = memory.explain(_whole_id(memory, object_id))

        # A content of any length comes in pieces, so that its first page is no longer than others.
        source = explanation.object
        items = [ToolItem(json_line(part), {"text": part}) for part in _parts(source.content or "")]
        items.append(
            ToolItem(
                f"from {source.source_origin}, level {int(source.authority_level)}, "
                f"confidence {source.confidence_score:.2f}",
                {"source_origin": source.source_origin, "level": int(source.authority_level)},
            )
        )
        for place in memory.documents.cite([source.object_id]).values():
            items.append(ToolItem(json_line(str(place)), {"citation": str(place)}))
        if explanation.quarantine is not None:
            items.append(_quarantine_item(explanation.quarantine))
        for row in explanation.rows:
            span = held_span(row)
            end = f" until {when(row.tx_end)}" if row.tx_end else ""
            known = f"known from {when(row.tx_start)}{end}"
            data = {"status": row.status, "valid": span, "by": row.actor, "known": known}
            items.append(
                ToolItem(f"{row.status}: true {span}, {known}, by {row.actor or '?'}", data)
            )
        for link in (*explanation.superseded, *explanation.superseded_by, *explanation.conflicts):
            data = {"kind": link.kind, "object_id": link.object_id, "reason": link.reason}
            items.append(ToolItem(f"{link.kind} {link.object_id} ({link.reason})", data))

        return page(question, items)

    @refusal_as_result
    def list_reviews(
        self, status: Literal["open", "all"] = "open", cursor: Cursor = None
    ) -> CallToolResult:
        """List names whose identity waits for a person to decide."""
        memory = self.memory_of()
        question = ToolQuestion(memory, "list_reviews", {"status": status}, cursor)
        items = list(map(_review_item, memory.reviews.list(status)))
        return page(question, items, placeholder="nothing waits")

    @refusal_as_result
    def forget(
        self,
        object_ids: Annotated[
            list[str], Field(min_length=1, max_length=20, description="From recall or as_of.")
        ],
        reason: Annotated[str, Field(description="Why, for the log.")] = "",
    ) -> CallToolResult:
        """Retract your user's own objects, if the user asks for it. History stays."""
        memory = self.memory_of()
        # All are looked at before the first is retracted: a foreign one among them stops it all.
        objects = [_own_object(memory, object_id) for object_id in object_ids]

        items: list[ToolItem] = []
        for item in objects:
            receipt = memory.write(
                op="retract",
                object_id=item.object_id,
                source_origin="chat://mcp",
                why_it_matters=reason,
            )
            items.append(_retraction_item(memory, item, receipt))

        return page(ToolQuestion(memory, "forget", {}), items)


def _meant(memory: Memory, reference: str | None) -> EntityRef | str | None:
    """What a model names: its user where it says so, who has one entity whatever the words."""
    if reference is None or reference.casefold() not in _OWN_WORDS:
        return reference
    return own_entity(memory.principal)


def _whole_id(memory: Memory, beginning: str) -> str:
    """The one object whose id begins so, as tables show ids; else the text itself."""
    if not _BEGINNING.fullmatch(beginning):
        return beginning
    reader = Beginnings(backend_of(memory), memory.principal)
    ids = reader.objects(beginning.rstrip("…"), limit=2)
    if len(ids) > 1:
        raise InvalidInput(
            f"several ids begin with {beginning}; state the whole id", code="unknown_object"
        )
    return ids[0] if ids else beginning


def _quarantine_item(quarantine: Quarantine) -> ToolItem:
    """Why an object is set apart; the quotes of its text stay in quotes."""
    signs = list(map(str, quarantine.signs))
    data = {"set_apart": quarantine.reason, "signs": signs, "remedy": quarantine.remedy}
    return ToolItem(f"quarantined: {json_line(signs)}; {quarantine.remedy}", data)


def _own_object(memory: Memory, object_id: str) -> ContextObject:
    """An object that the caller may retract: of an own scope, or an own statement.

    Raises:
        Forbidden: `scope_not_yours`.
        NotFound: `unknown_object`.
    """
    caller = memory.principal
    target = memory.as_of().object(object_id)
    if caller.privileged:
        return target

    is_personal = target.user_id is not None and target.user_id == caller.user
    writers = {row.actor for row in memory.explain(object_id).rows}
    if not is_personal and (caller.user is None or writers != {caller.user}):
        raise Forbidden(
            "this object is not yours to forget: say what is right instead, or ask a steward",
            code="scope_not_yours",
            object_id=object_id,
        )
    return target


def _retraction_item(memory: Memory, target: ContextObject, receipt: Receipt) -> ToolItem:
    outcome = receipt.outcome.value
    entity = next(iter(target.canonical_entity_ids), None)
    data: dict[str, Any] = {"object_id": target.object_id, "outcome": outcome, "slot": target.slot}
    if target.slot is None or entity is None:
        return ToolItem(f"{target.object_id}: {outcome}, hidden from answers", data)

    state = memory.as_of().slot(entity, target.slot)
    data |= {"now": _plain(state), "status": state.status.value}
    shows = f"shows {json_line(_plain(state))} again" if state.values else "shows nothing"
    return ToolItem(f"{target.object_id}: {outcome}; {target.slot} now {shows}", data)


def _receipt_item(receipt: Receipt) -> ToolItem:
    data = {
        "object_id": receipt.object_id,
        "outcome": receipt.outcome.value,
        "entity": receipt.entity,
        "reviews": list(receipt.reviews),
        "detail": receipt.detail,
    }
    waiting = ", a person will decide who is meant" if receipt.reviews else ""
    detail = f": {receipt.detail}" if receipt.detail else ""
    return ToolItem(f"{receipt.outcome.value}{waiting}{detail} [{receipt.object_id}]", data)


def _passage_item(passage: DocumentPassage) -> ToolItem:
    """A passage of a document; its words and its titles are those of a file."""
    place = str(passage.citation)
    data = {"object_id": passage.citation.object_id, "text": passage.text, "citation": place}
    return ToolItem(f"{json_line(place)}: {json_line(passage.text)}", data)


def _object_item(item: ContextObject, place: Citation | None = None) -> ToolItem:
    content = item.content or ""
    text = content if len(content) <= _TEXT_LIMIT else content[:_TEXT_LIMIT] + "…"
    data = {
        "object_id": item.object_id,
        "text": text,
        "status": item.contradiction_status.value,
        "valid_from": _text(item.valid_from),
        "precision": item.precision,
        "source_origin": item.source_origin,
        "level": int(item.authority_level),
    }
    # What was only retrieved is nobody's word here, and its text may pose as an instruction.
    doubt = "untrusted " if item.authority_level >= Authority.RETRIEVED else ""
    since = f", since {when(item.valid_from, precision=item.precision)}" if item.valid_from else ""
    source = f"{doubt}from {item.source_origin}{since}"
    if place is not None:
        data["citation"] = str(place)
        source += f", {json_line(str(place))}"
    return ToolItem(f"{json_line(text)} ({source}) [{item.object_id}]", data)


def _state_item(slot: str, state: SlotState) -> ToolItem:
    data = {
        "slot": slot,
        "status": state.status.value,
        "value": _plain(state),
        "reason": state.reason,
        "valid_from": _text(state.valid_from),
        "valid_until": _text(state.valid_until),
        "precision": state.precision,
        "possibly": state.possibly,
        "object_ids": [candidate.object_id for candidate in state.candidates],
    }
    if not state.values:
        return ToolItem(f"{slot}: no value ({state.status.value}, {state.reason})", data)
    value = json_line(_plain(state))
    return ToolItem(f"{slot}: {value} ({state.status.value}, {held_span(state)})", data)


def _review_item(review: Review) -> ToolItem:
    data = {"review_id": review.review_id, "mention": review.mention, "reason": review.reason}
    return ToolItem(f"{json_line(review.mention)}: {review.reason} [{review.review_id}]", data)


def _plain(state: SlotState) -> Any:
    return state.values[0] if len(state.values) == 1 else list(state.values)


def json_line(value: Any) -> str:
    """A stored value on one line, in quotes: it can't pose as a line of the answer itself."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _parts(text: str) -> list[str]:
    """A text in pieces that each fit on a page, cut at line ends where there are some."""
    parts: list[str] = []
    for line in text.splitlines() or [""]:
        pieces = [line[start : start + _CHUNK] for start in range(0, len(line), _CHUNK)]
        parts += pieces or [""]
    return parts


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _stamp(view: View) -> str | None:
    return iso(point_of(view).tx_us)
