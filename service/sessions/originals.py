"""Originals read back from the log: by address, by turn, or by a question.

Nothing that left the window is gone: the log holds every text. A unit is put together from its own
events, so reading by address costs what the page costs, however long the session is. A question
searches an index that grows with the log. An answer is at most a page, and its text ends with the
cursor to the next one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...compiler.text.relevance import lexical, term_text, terms_of
from ...schema.errors import ContextBudgetExhausted, NotFound
from ...schema.records import short_repr
from ...window.checkpoint import media_blocks, media_line
from ...window.events import EventKind, WindowEvent, result_texts
from ...window.state import EMPTY_STATE, WindowState
from ...window.step import step
from ...window.units import PartKind, WindowItem, WindowUnit, item_from, unit_record
from .core import EventDraft, SessionCore

_ADDRESS: Final = re.compile(r"(?:window://)?(\d+)(?:-(\d+))?")
_TURN: Final = re.compile(r"turn:(\d+)")
_EDITS: Final = frozenset({EventKind.EDITED, EventKind.UNDONE, EventKind.FORGOTTEN})
_MESSAGES: Final = frozenset({EventKind.TURN_STARTED, EventKind.STEP_MADE})
_MATCHES: Final = 12
"""Units that a question brings at most, before the page is cut."""
_CHUNK: Final = 64
"""Events that are read at a time."""
_BEFORE_PASSAGE: Final = 200
"""Characters before the passage with which a page begins."""
_NAMED_EDITS: Final = 5
_CURSOR_TOKENS: Final = 40


@dataclass(frozen=True, slots=True)
class Rehydration:
    """Originals as text, and where to read on."""

    __repr__ = short_repr

    text: str
    """It ends with the cursor where there is more."""
    numbers: tuple[int, ...]
    """The units on this page."""
    cursor: str | None
    """What to ask for next, None at the end."""


def pointed_numbers(pointer: int | str) -> tuple[int, int] | None:
    """The first and last number that an address names, None for what is no address.

    >>> pointed_numbers("window://57-59")
    (57, 59)
    """
    if isinstance(pointer, int):
        return pointer, pointer
    match = _ADDRESS.fullmatch(pointer.strip())
    if match is None:
        return None
    first = int(match[1])
    return first, max(first, int(match[2] or first))


def standing_unit(state: WindowState, item: int | str | None) -> WindowUnit:
    """The unit in the window under an address; without one the newest message of a user.

    Raises:
        NotFound: `unknown_unit`.
    """
    if item is None:
        unit = next((unit for unit in reversed(state.units) if unit.is_user), None)
        if unit is None:
            raise NotFound("no user's message is in the window", code="unknown_unit")
        return unit

    numbers = pointed_numbers(item)
    unit = state.unit(numbers[0]) if numbers else None
    if unit is None:
        raise NotFound(f"{item!r} is not in the window", code="unknown_unit")
    return unit


def full_history(log: Iterable[WindowEvent]) -> WindowState:
    """The state that a log folds to when nothing ever left the window."""
    state = EMPTY_STATE
    for event in log:
        if event.kind not in _EDITS:
            state = step(state, _with_original(event))
    return state


def _with_original(event: WindowEvent) -> WindowEvent:
    """A result's event with the original in place of the short form it came in."""
    if event.kind is not EventKind.RESULT_CAME:
        return event
    body = {name: value for name, value in event.body.items() if name != "apart"}
    return replace(event, texts=result_texts(event), body=body)


def units_between(core: SessionCore, first: int, last: int) -> list[WindowUnit]:
    """The units in full whose events have numbers in a range, put together from these events.

    A result follows its call before the next message, so a unit ends where the next one begins.
    """
    units: list[WindowUnit] = []
    # The number may be that of a result: its message came shortly before.
    message = _message_before(core, first)
    after = (message.seq if message else first) - 1
    while True:
        events = core.log.read(after, after + _CHUNK)
        for event in events:
            if event.kind in _MESSAGES:
                if event.seq > last:
                    return units
                turn = int(event.body.get("turn", 0))
                units.append(WindowUnit(event.seq, turn, 0, _items_of(event)))
            elif event.kind is EventKind.RESULT_CAME and units:
                items = _items_of(_with_original(event))
                units[-1] = replace(units[-1], items=(*units[-1].items, *items))
        if len(events) < _CHUNK:
            return units
        after += _CHUNK


def _message_before(core: SessionCore, number: int) -> WindowEvent | None:
    """The message that an event belongs to: the event itself, or that of its call."""
    until = number
    while until > 0:
        for event in reversed(core.log.read(max(0, until - 20), until)):
            if event.kind in _MESSAGES:
                return event
        until -= 20
    return None


def _items_of(event: WindowEvent) -> tuple[WindowItem, ...]:
    lines = zip(event.body["parts"], event.texts, strict=False)
    return tuple(item_from(event.seq, line, text, part) for part, (line, text) in enumerate(lines))


def rehydration(core: SessionCore, request: str) -> Rehydration:
    """The originals that an address, a turn (`turn:12`), a question or a cursor asks for.

    Raises:
        NotFound: `unknown_unit`, for an address or a turn that the log does not hold.
    """
    address, _, digits = request.strip().rpartition("@")
    offset = int(digits) if address and digits.isdigit() else None
    request = address if offset is not None else request.strip()

    units = _asked_units(core, request)
    if not units:
        raise NotFound(
            f"{request!r} leads to nothing in this session; ask with an address that it shows "
            "(window://57), a turn (turn:12), or a question in its words",
            code="unknown_unit",
        )

    text = "\n\n".join(map(_unit_text, units))
    if offset is None:
        is_question = pointed_numbers(request) is None and not _TURN.fullmatch(request)
        offset = _passage(text, request, len(_unit_text(units[0]))) if is_question else 0
    page_tokens = core.policy.page_tokens_of(core.state.limit)
    page = _page(core.state, text[offset:], page_tokens - _CURSOR_TOKENS)
    end = offset + len(page)
    cursor = f"{request}@{end}" if end < len(text) else None
    if cursor:
        page = f"{page}\n[{len(text) - end} characters follow; read on with the request {cursor}]"
    return Rehydration(page, tuple(unit.number for unit in units), cursor)


def media_originals(core: SessionCore, pointer: int | str) -> list[dict[str, Any]]:
    """The pictures and files under an address, as the blocks in which they came.

    Raises:
        NotFound: `unknown_unit`, where none is.
    """
    numbers = pointed_numbers(pointer)
    blocks = media_blocks(units_between(core, *numbers)) if numbers else []
    if not blocks:
        raise NotFound(f"{pointer!r} leads to no picture and no file", code="unknown_unit")
    return blocks


def _asked_units(core: SessionCore, request: str) -> Sequence[WindowUnit]:
    turn = _TURN.fullmatch(request)
    if turn is not None:
        return _units_of_turn(core, int(turn[1]))
    numbers = pointed_numbers(request)
    if numbers is None:
        if core.search is None:
            core.search = SessionSearch()
        return core.search.matching(core, request)  # type: ignore[no-any-return]
    # A number that no event has leads nowhere, and not to the message before it.
    return units_between(core, *numbers) if numbers[0] <= core.state.seq else []


def _units_of_turn(core: SessionCore, turn: int) -> list[WindowUnit]:
    """The units of a turn, which is found by halving: each message states its turn."""

    def turn_at(number: int) -> int:
        message = _message_before(core, number)
        return int(message.body["turn"]) if message else 0

    numbers = range(1, core.state.seq + 1)
    first = bisect_left(numbers, turn, key=turn_at) + 1
    last = bisect_right(numbers, turn, key=turn_at)
    return units_between(core, first, last) if first <= last else []


class SessionSearch:
    """The words of a session's units, for questions; it reads on as the log grows."""

    def __init__(self) -> None:
        self.seq = 0
        self.units: list[WindowUnit] = []
        self.postings: dict[str, list[int]] = {}
        """By term, the positions of the units that have it."""

    def matching(self, core: SessionCore, question: str) -> list[WindowUnit]:
        """The units that answer a question best by BM25, best first; of equals the newest."""
        if core.state.seq > self.seq:
            self._read_on(core)

        terms = terms_of(question)
        positions = {place for term in terms for place in self.postings.get(term, ())}
        units = [self.units[place] for place in sorted(positions, reverse=True)]
        documents = [(term_text(unit.text),) for unit in units]
        scores = lexical(terms, documents, k1=1.2, b=0.75)
        ranking = sorted(zip(scores, units, strict=True), key=lambda p: (-p[0], -p[1].number))
        return [unit for score, unit in ranking[:_MATCHES] if score > 0]

    def _read_on(self, core: SessionCore) -> None:
        # The last unit may have more results by now, so it is read again.
        first = self.units.pop().number if self.units else 1
        place = len(self.units)
        self.units += units_between(core, first, core.state.seq)
        for position in range(place, len(self.units)):
            for term in set(terms_of(self.units[position].text)):
                known = self.postings.setdefault(term, [])
                if position not in known[-1:]:
                    known.append(position)
        self.seq = core.state.seq


def _passage(text: str, question: str, most: int) -> int:
    """Where the densest lines of the best unit begin: those that hold most words of a question."""
    terms = set(terms_of(question))
    best, start = 0, 0
    position = 0
    for line in text[:most].splitlines(keepends=True):
        hits = len(terms & set(terms_of(line)))
        if hits > best:
            best, start = hits, position
        position += len(line)
    # The unit's own heading says where the passage is from, so a short way back leads to the top.
    return max(0, start - _BEFORE_PASSAGE) if start > _BEFORE_PASSAGE else 0


def _unit_text(unit: WindowUnit) -> str:
    turn = f", turn {unit.turn}" if unit.turn else ""
    lines = [f"[window://{unit.number}{turn}]"]
    for item in unit.items:
        if item.kind is PartKind.MEDIA:
            # Pages of base64 say nothing to a model; `media` gives the block back as it came.
            lines.append(media_line(unit.number, [item.text]))
            continue
        name = f" {item.content.name}" if item.content.name else ""
        lines.append(f"{item.kind.value}{name}: {item.text}")
    return "\n".join(lines)


def _page(state: WindowState, text: str, page_tokens: int) -> str:
    """The longest beginning of a text within so many tokens, at a line's end where one is near."""
    # Counts grow with length but not evenly, so the cut is searched and not computed.
    most = min(len(text), page_tokens * 8)
    if most == len(text) and state.count(text) <= page_tokens:
        return text
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        if state.count(text[:middle]) <= page_tokens:
            low = middle
        else:
            high = middle
    line_end = text.rfind("\n", low - low // 4, low) + 1
    return text[: line_end or max(1, low)]


def undo_draft(core: SessionCore, edit: int) -> EventDraft | None:
    """The event that puts back what an edit changed, the newest first, while there is room.

    None where nothing is changed any more.

    Raises:
        NotFound: `unknown_edit`.
        ContextBudgetExhausted: `required_over_budget`.
    """
    found = core.log.read(edit - 1, edit)
    if not found or found[0].kind is not EventKind.EDITED:
        raise _unknown_edit(core, edit)

    # As they were before this edit: an excerpt of an earlier one stays an excerpt.
    state = core.state_at(edit - 1)
    edited = {unit.number: unit for unit in step(state, found[0]).units}
    current = {unit.number: unit for unit in core.state.units}
    room = core.state.correction.own(core.state.limit) - core.state.own_tokens
    originals: list[WindowUnit] = []
    missing = 0
    for before in reversed(state.units):
        after, now = edited.get(before.number), current.get(before.number)
        # What a later event changed again is not this edit's to give back.
        if after == before or now not in (None, after):
            continue
        room -= before.tokens - (now.tokens if now else 0)
        # Whole edits are not promised: what fits comes back, the newest first.
        if room < 0:
            missing = -room
            break
        originals.append(before)

    if not originals:
        if not missing:
            return None
        raise ContextBudgetExhausted(
            f"the window has no room for what edit {edit} took out: {missing} tokens are "
            "missing; read it with rehydrate instead",
            code="required_over_budget",
            shortfall=missing,
        )
    records: list[dict[str, Any]] = []
    texts: list[str] = []
    for unit in reversed(originals):
        record, words = unit_record(unit)
        records.append(record)
        texts += words
    return EventDraft(EventKind.UNDONE, {"edit": edit, "units": records}, tuple(texts))


def _unknown_edit(core: SessionCore, edit: int) -> NotFound:
    """The error of a number that is no edit; the newest ones are named, to take one of them."""
    log = core.log.read()
    numbers = [str(event.seq) for event in log if event.kind is EventKind.EDITED][-_NAMED_EDITS:]
    advice = f"its newest edits are {', '.join(numbers)}" if numbers else "it has had none"
    return NotFound(f"event {edit} is no edit of this session; {advice}", code="unknown_edit")
