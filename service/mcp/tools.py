"""The seven tools: what an agent may do with a memory, and no more.

None of them takes a user or a tenant: who asks is settled by the transport or the profile, for
a model would pass whatever name a text told it to. There is no erasing, no deciding of reviews
and no reading of everything; `forget` retracts, so that nothing is lost and all is undone by
saying it again. The descriptions are fixed byte for byte: they stand in prompt caches.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec

from mcp_types import CallToolResult
from pydantic import Field

from ...schema.answers import Quarantine, SlotState
from ...schema.context_object import ContextObject
from ...schema.entity import Review
from ...schema.errors import Forbidden, InvalidInput, TenureError
from ...schema.slots import TASK_TYPES
from ...schema.values import iso
from ...schema.vocabulary import Authority
from ...schema.write import Receipt
from ..client.memory import Memory
from ..reading.view import View, point_of
from .answers import ToolItem, ToolQuestion, page, refusal

Arguments = ParamSpec("Arguments")
Cursor = Annotated[str | None, Field(description="From the last page.")]
Instant = Annotated[str | None, Field(description="ISO 8601; default now.")]
Speaker = Literal["user", "agent", "tool", "web"]

_ORIGINS = {
    "user": "chat://mcp",
    "agent": "agent://mcp",
    "tool": "tool://mcp",
    "web": "web://mcp",
}
_TASKS = f"{', '.join(TASK_TYPES)}, or a type that this memory defines."
_TEXT_LIMIT = 600
"""Characters of an object in a list; `explain` gives the rest."""

_CHUNK = 1_000
"""Characters of a long text in one item."""

_SEARCH_LIMIT = 50


def refusal_as_result(
    tool: Callable[Arguments, CallToolResult],
) -> Callable[Arguments, CallToolResult]:
    """Answer a refusal of the memory as a result, with its code, instead of an error."""

    @wraps(tool)
    def telling(*args: Arguments.args, **kwargs: Arguments.kwargs) -> CallToolResult:
        try:
            return tool(*args, **kwargs)
        except TenureError as error:
            return refusal(error)

    return telling


@dataclass(frozen=True)
class Toolbox:
    """The tools over the memory of whoever asks."""

    memory_of: Callable[[], Memory]

    @refusal_as_result
    def remember(
        self,
        text: Annotated[str | None, Field(description="A statement, verbatim.")] = None,
        subject: str | None = None,
        slot: Annotated[str | None, Field(description="Such as office, role, email.")] = None,
        value: str | None = None,
        valid_from: Instant = None,
        valid_until: Annotated[str | None, Field(description="ISO 8601; default open.")] = None,
        said_by: Annotated[Speaker, Field(description="Whose words these are.")] = "agent",
    ) -> CallToolResult:
        """Store a fact (subject, slot, value) or a text. Facts are dated, never overwritten."""
        # The scheme of the origin sets trust and level; the caller's ceiling holds above it.
        memory, origin = self.memory_of(), _ORIGINS[said_by]
        if slot is not None:
            fields = {"valid_from": valid_from, "valid_until": valid_until}
            receipts = [memory.write(subject, slot, value, source_origin=origin, **fields)]  # type: ignore[arg-type]
        elif text:
            receipts = memory.observe(text, subject, source_origin=origin, at=valid_from)
        else:
            raise InvalidInput(
                "give a text, or subject, slot and value", code="missing_value", field="text"
            )

        items = list(map(_receipt_item, receipts))
        return page(ToolQuestion(memory, "remember", {}), items)

    @refusal_as_result
    def recall(
        self,
        query: str,
        entity: Annotated[str | None, Field(description="Only about this name or id.")] = None,
        limit: Annotated[int, Field(ge=1, le=_SEARCH_LIMIT)] = 10,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Search the memory for what is true now."""
        memory = self.memory_of()
        arguments = {"query": query, "entity": entity, "limit": limit}
        question = ToolQuestion(memory, "recall", arguments, cursor)
        view = memory.as_of(tx=question.place()[1])

        result = view.search(query, limit, entity)
        items = [_object_item(hit.object) for hit in result.hits]
        return page(question, items, tx=_stamp(view))

    @refusal_as_result
    def as_of(
        self,
        entity: str,
        slot: Annotated[str | None, Field(description="Default: all that is known.")] = None,
        valid: Annotated[str | None, Field(description="True when; default now.")] = None,
        tx: Annotated[str | None, Field(description="As known when; default now.")] = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Tell what was true of an entity at a time, as known at a time."""
        memory = self.memory_of()
        arguments = {"entity": entity, "slot": slot, "valid": valid, "tx": tx}
        question = ToolQuestion(memory, "as_of", arguments, cursor)
        # Without a stated tx every page answers as of the first, whatever is written meanwhile.
        view = memory.as_of(valid, tx or question.place()[1])

        facts = view.facts(entity) if slot is None else {slot: view.slot(entity, slot)}
        items = [_state_item(name, state) for name, state in facts.items()]
        point = {"valid": _text(view.valid), "tx": _text(view.tx)}
        return page(question, items, head=point, tx=_stamp(view), placeholder="nothing known")

    @refusal_as_result
    def compile_context(
        self,
        query: str,
        task: Annotated[str, Field(description=_TASKS)] = "assistant",
        budget_tokens: Annotated[int, Field(ge=256, le=200_000)] = 1_500,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Compile the context for a task before you answer: current, permitted, within budget."""
        memory = self.memory_of()
        arguments = {"query": query, "task": task, "budget_tokens": budget_tokens}
        question = ToolQuestion(memory, "compile_context", arguments, cursor)

        # A later page reads the stored envelope again: a second compile could differ from it.
        _, envelope_id = question.place()
        if envelope_id is None:
            envelope = memory.compile(task, query, budget_tokens=budget_tokens)
        else:
            envelope = memory.replay(envelope_id)

        items = list(map(ToolItem, _parts(envelope.text)))
        head = {
            "envelope_id": envelope.envelope_id,
            "digest": envelope.digest,
            "tokens": envelope.tokens,
            "left_out": len(envelope.trace.left_out),
        }
        return page(question, items, head=head, tx=envelope.envelope_id)

    @refusal_as_result
    def explain(self, object_id: str, cursor: Cursor = None) -> CallToolResult:
        """Tell where an object comes from, who said it, and what replaced it."""
        memory = self.memory_of()
        question = ToolQuestion(memory, "explain", {"object_id": object_id}, cursor)
        explanation = memory.explain(object_id)

        # A content of any length comes in pieces, so that its first page is no longer than others.
        source = explanation.object
        items = [ToolItem(json_line(part), {"text": part}) for part in _parts(source.content)]
        items.append(
            ToolItem(
                f"from {source.source_origin}, level {int(source.authority_level)}, "
                f"confidence {source.confidence_score:.2f}",
                {"source_origin": source.source_origin, "level": int(source.authority_level)},
            )
        )
        if explanation.quarantine is not None:
            items.append(_quarantine_item(explanation.quarantine))
        for row in explanation.rows:
            span = _span(row.valid_from, row.valid_until)
            known = f"known {_span(row.tx_start, row.tx_end)}"
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
        object_ids: Annotated[list[str], Field(min_length=1, max_length=20)],
        reason: str = "",
    ) -> CallToolResult:
        """Retract your own objects, and tell what shows in their place. History stays."""
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


def _quarantine_item(quarantine: Quarantine) -> ToolItem:
    """Why an object is set apart; the quotes of its text stay in quotes."""
    signs = list(map(str, quarantine.signs))
    data = {"set_apart": quarantine.reason, "signs": signs, "remedy": quarantine.remedy}
    return ToolItem(f"set apart: {json_line(signs)}; {quarantine.remedy}", data)


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


def _object_item(item: ContextObject) -> ToolItem:
    text = item.content if len(item.content) <= _TEXT_LIMIT else item.content[:_TEXT_LIMIT] + "…"
    data = {
        "object_id": item.object_id,
        "text": text,
        "status": item.contradiction_status.value,
        "valid_from": _text(item.valid_from),
        "source_origin": item.source_origin,
        "level": int(item.authority_level),
    }
    # What was only retrieved is nobody's word here, and its text may pose as an instruction.
    doubt = "untrusted " if item.authority_level >= Authority.RETRIEVED else ""
    since = f", since {_text(item.valid_from)}" if item.valid_from else ""
    source = f"{doubt}from {item.source_origin}{since}"
    return ToolItem(f"{json_line(text)} ({source}) [{item.object_id}]", data)


def _state_item(slot: str, state: SlotState) -> ToolItem:
    data = {
        "slot": slot,
        "status": state.status.value,
        "value": _plain(state),
        "reason": state.reason,
        "valid_from": _text(state.valid_from),
        "valid_until": _text(state.valid_until),
        "object_ids": [candidate.object_id for candidate in state.candidates],
    }
    value = json_line(_plain(state)) if state.values else state.reason
    span = _span(state.valid_from, state.valid_until)
    return ToolItem(f"{slot}: {value} ({state.status.value}, {span})", data)


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


def _span(start: datetime | None, end: datetime | None) -> str:
    return f"{_text(start) or 'always'} to {_text(end) or 'now'}"


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _stamp(view: View) -> str | None:
    return iso(point_of(view).tx_us)
