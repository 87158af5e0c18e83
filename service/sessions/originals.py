"""Originals read back from the log: by address, by turn, or by a question.

Nothing that left the window is gone: the log holds every text, and a session that is folded
without its edits is what was said, in full. An answer is at most a page of tokens; a cursor leads
to the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...compiler.text.relevance import lexical, term_text, terms_of
from ...schema.errors import NotFound
from ...window.events import EventKind, WindowEvent, result_texts
from ...window.scratchpad import media_blocks, media_line
from ...window.state import EMPTY_STATE, WindowState
from ...window.step import step
from ...window.units import PartKind, WindowUnit

_ADDRESS: Final = re.compile(r"(?:window://)?(\d+)(?:-(\d+))?")
_EDITS: Final = frozenset({EventKind.EDITED, EventKind.UNDONE})
_MATCHES: Final = 12
"""Units that a question brings at most, before the page is cut."""


@dataclass(frozen=True, slots=True)
class Rehydration:
    """Originals as text, and where to read on."""

    text: str
    numbers: tuple[int, ...]
    """The units on this page."""
    cursor: str | None
    """What to ask for next, None at the end."""


def pointed_numbers(pointer: int | str) -> tuple[int, ...]:
    """The numbers that an address names, empty for what is no address.

    >>> pointed_numbers("window://57-59")
    (57, 58, 59)
    """
    if isinstance(pointer, int):
        return (pointer,)

    match = _ADDRESS.fullmatch(pointer.strip())
    if match is None:
        return ()

    first, last = int(match[1]), int(match[2] or match[1])
    return tuple(range(first, last + 1))


def standing_unit(state: WindowState, item: int | str | None) -> WindowUnit:
    """The unit that stands under an address; without one the newest message of a user.

    Raises:
        NotFound: `unknown_unit`.
    """
    if item is None:
        unit = next((unit for unit in reversed(state.units) if unit.is_user), None)
        if unit is None:
            raise NotFound("no user's message stands in the window", code="unknown_unit")

        return unit

    numbers = pointed_numbers(item)
    unit = state.unit(numbers[0]) if numbers else None
    if unit is None:
        raise NotFound(f"{item!r} does not stand in the window", code="unknown_unit")

    return unit


def full_history(log: Iterable[WindowEvent]) -> WindowState:
    """The state that a log folds to when nothing ever left the window."""
    state = EMPTY_STATE
    for event in log:
        if event.kind not in _EDITS:
            state = step(state, _with_original(event))

    return state


def _with_original(event: WindowEvent) -> WindowEvent:
    """A result's event with the original in the place of the short form it came in."""
    if event.kind is not EventKind.RESULT_CAME:
        return event

    body = {name: value for name, value in event.body.items() if name != "apart"}
    return replace(event, texts=result_texts(event), body=body)


def originals_of(log: Iterable[WindowEvent], numbers: Iterable[int]) -> tuple[WindowUnit, ...]:
    """The units that numbers belong to, in the form in which they came into the window."""
    state = EMPTY_STATE
    for event in log:
        if event.kind not in _EDITS:
            state = step(state, event)

    return _units_of(state, numbers)


def rehydration(log: Sequence[WindowEvent], request: str, page_tokens: int) -> Rehydration:
    """The originals that an address, a turn (`turn:12`), a question or a cursor asks for.

    Raises:
        NotFound: `unknown_unit`, for an address or a turn that the log does not hold.
    """
    address, _, offset_digits = request.rpartition("@")
    offset = int(offset_digits) if address and offset_digits.isdigit() else 0
    request = address if offset else request

    state = full_history(log)
    units = _asked_units(state, request)
    if not units:
        raise NotFound(
            f"{request!r} leads to nothing in this session; ask with an address that it shows "
            "(window://57), a turn (turn:12), or a question in its words",
            code="unknown_unit",
        )

    text = "\n\n".join(_unit_text(unit) for unit in units)
    page = _page(state, text[offset:], page_tokens)
    end = offset + len(page)
    cursor = f"{request}@{end}" if end < len(text) else None
    return Rehydration(page, tuple(unit.number for unit in units), cursor)


def media_originals(log: Iterable[WindowEvent], pointer: int | str) -> list[dict[str, Any]]:
    """The pictures and files under an address, as the blocks in which they came.

    Raises:
        NotFound: `unknown_unit`, where none is.
    """
    blocks = media_blocks(_units_of(full_history(log), pointed_numbers(pointer)))
    if not blocks:
        raise NotFound(f"{pointer!r} leads to no picture and no file", code="unknown_unit")

    return blocks


def _asked_units(state: WindowState, request: str) -> tuple[WindowUnit, ...]:
    turn = re.fullmatch(r"turn:(\d+)", request.strip())
    if turn is not None:
        return tuple(unit for unit in state.units if unit.turn == int(turn[1]))

    numbers = pointed_numbers(request)
    return _units_of(state, numbers) if numbers else _matching(state, request)


def _units_of(state: WindowState, numbers: Iterable[int]) -> tuple[WindowUnit, ...]:
    """The units that have one of some numbers, as their own or of a part."""
    targets = set(numbers)
    units: list[WindowUnit] = []
    for unit in state.units:
        if targets & {unit.number, *(item.seq for item in unit.items)}:
            units.append(unit)

    return tuple(units)


def _matching(state: WindowState, question: str) -> tuple[WindowUnit, ...]:
    """The units that answer a question best by BM25, best first; of equals the newest."""
    # Ranked over what was said in full: the words of a question may have left the window.
    documents = [(term_text(unit.text),) for unit in state.units]
    scores = lexical(terms_of(question), documents, k1=1.2, b=0.75)
    ranking = sorted(zip(scores, state.units, strict=True), key=lambda pair: -pair[1].number)
    ranking.sort(key=lambda pair: -pair[0])
    return tuple(unit for score, unit in ranking[:_MATCHES] if score > 0)


def _unit_text(unit: WindowUnit) -> str:
    lines = [f"[window://{unit.number}, turn {unit.turn}]"]
    for item in unit.items:
        if item.kind is PartKind.MEDIA:
            # Pages of base64 say nothing to a model; `media` gives the block back as it came.
            lines.append(media_line(unit.number, [item.text]))
            continue

        name = f" {item.content.name}" if item.content.name else ""
        lines.append(f"{item.kind.value}{name}: {item.text}")

    return "\n".join(lines)


def _page(state: WindowState, text: str, page_tokens: int) -> str:
    """The longest beginning of a text within so many tokens, by halving."""
    # Counts grow with length but not evenly, so the cut is searched and not computed.
    if state.count(text) <= page_tokens:
        return text

    low, high = 0, min(len(text), page_tokens * 8)
    while high - low > 1:
        middle = (low + high) // 2
        if state.count(text[:middle]) <= page_tokens:
            low = middle
        else:
            high = middle

    return text[:low]
