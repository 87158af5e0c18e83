"""The time plane in characters, for terminals and pages of text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from .beliefs import Axis, BeliefPlane, BeliefState, axis, day_labels, short_day
from .text import visible

_FILL: Final = {BeliefState.DISPUTED: "~", BeliefState.PLANNED: "."}
"""What follows a value to the end of its stretch; a blank for all others."""
_MARGIN: Final = 2
_CELL_LIMIT: Final = 24
"""Characters of a value; a longer one is cut."""


def plane_text(plane: BeliefPlane, width: int) -> str:
    """Draw a plane, the newest knowledge on top, with the asked point and the answer."""
    # A grid of characters: every line is put together at positions of one axis.
    labels = day_labels([band.known_from for band in plane.bands])
    gutter = max(map(len, [*labels, "known ^"])) + 1
    title = visible(f"{plane.entity}, {plane.slot.replace('_', ' ')}")
    if not plane.bands:
        return f"{title}: nothing was ever known\n"

    edges = plane.valid_edges()
    days = _valid_axis(plane, edges, gutter + _MARGIN, width)
    lines = [f"{'known ^':>{gutter}}  {title}"]
    is_asked_shown = False
    for band, label in zip(reversed(plane.bands), reversed(labels), strict=True):
        line = _line(gutter, label)
        for belief in band.beliefs:
            begin = days.position(belief.valid_from)
            end = days.position(belief.valid_until, is_end=True)
            cell = _cell(belief.state, belief.words, end - begin, is_open=not belief.valid_until)
            line = _put(line, begin, cell)
        lines.append(line.rstrip())
        if band.holds_at(plane.known):
            lines.append(_question(plane, gutter, days, width))
            is_asked_shown = True

    if not is_asked_shown:
        lines.append(_question(plane, gutter, days, width))
    lines.append(_scale(gutter, days, width))
    return "\n".join([*lines, *_legend(plane), "", visible(plane.sentence), ""])


def _valid_axis(plane: BeliefPlane, edges: Sequence[datetime], start: int, width: int) -> Axis:
    """The axis of true time: room for every value and for the name of every edge."""
    needs = [0] + [len(label) + _MARGIN for label in day_labels(edges)]
    for band in plane.bands:
        for belief in band.beliefs:
            column = 0 if belief.valid_from is None else edges.index(belief.valid_from) + 1
            last = len(edges) if belief.valid_until is None else edges.index(belief.valid_until)
            if column == last:  # it has one stretch alone to stand in
                length = min(_CELL_LIMIT, len(visible(belief.words))) + 5
                needs[column] = max(needs[column], length)

    if edges and plane.valid < edges[0]:
        needs[0] = max(needs[0], 4)
    return axis(edges, needs, start, width)


def _line(gutter: int, label: str) -> str:
    return f"{label:>{gutter}}| "[: gutter + _MARGIN]


def _put(line: str, position: int, cell: str) -> str:
    row = line.ljust(position)
    return row[:position] + cell + row[position + len(cell) :]


def _cell(state: BeliefState, words: str, room: int, *, is_open: bool) -> str:
    """A value in its stretch: `| premium ~~~~`, `| enterprise ->`."""
    tail = " ->" if is_open else " "
    text = visible(words)
    space = max(1, room - len(tail) - (4 if state in _FILL else 2))
    if len(text) > space:
        text = text[: max(0, space - 1)] + "…"

    filling = _FILL.get(state)
    body = f"| {text}" if filling is None else f"| {text} {filling}"
    if is_open:
        return body + tail
    return body.ljust(room - len(tail), filling or " ") + tail


def _question(plane: BeliefPlane, gutter: int, days: Axis, width: int) -> str:
    answer = plane.answer.words if plane.answer else "not known"
    words = visible(f"{short_day(plane.valid)}, as known on {short_day(plane.known)} = {answer}")
    position = min(days.position(plane.valid), width - 1)
    line = _put(_line(gutter, ""), position, "o")
    if position + 2 + len(words) <= width:
        return f"{line} {words}"

    # No room to the right of the point: its words stand before it, else on a line of their own.
    start = max(gutter + _MARGIN, position - len(words) - 1)
    if start + len(words) < position:
        return _put(line, start, words)
    # A long value is cut as in its stretch; the sentence above has it whole.
    room = width - gutter - _MARGIN
    if len(words) > room:
        words = words[: room - 1] + "…"
    return f"{line}\n{_line(gutter, '')}{words}"


def _scale(gutter: int, days: Axis, width: int) -> str:
    line = (" " * gutter + "+").ljust(width - len("> true when"), "-")
    # A label that would run into the one before or the name of the axis is left out.
    free = 0
    for label, position in zip(day_labels(days.edges), days.positions, strict=True):
        end = position + len(label)
        if free <= position and end < width - len("> true when"):
            line = line[:position] + label + line[end:]
            free = end + 1
    return line + "> true when"


def _legend(plane: BeliefPlane) -> list[str]:
    states: set[BeliefState] = set()
    for band in plane.bands:
        for belief in band.beliefs:
            states.add(belief.state)
    signs = [f"{sign} {state.value}" for state, sign in _FILL.items() if state in states]
    return [f"o where you ask; {', '.join(signs)}"] if signs else ["o where you ask"]
