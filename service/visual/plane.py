"""The time plane: beliefs of one slot over both clocks, valid time across and known time up.

A band is a stretch of known time with the same beliefs, ordered by valid time. Both axes are
stretched so that every value can be written: time runs evenly between two edges, and edges are as
far apart as the words need. One layout gives the text of a terminal and the SVG of a page. Nothing
here reads a store.

The SVG is rectangles, words and a crosshair, without scripts and style attributes. Each value has a
colour that dark words are readable on in both themes, and its name. No state is shown by colour
alone: a dispute is hatched, a plan has a dashed frame, a losing claim a frame with its name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import chain, repeat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...schema.records import short_repr
from ...schema.values import micros
from .text import visible

if TYPE_CHECKING:
    from jinja2 import Template

_DAY = timedelta(days=1)

WIDTH: Final = 960
_GUTTER: Final = 96
_VALUE_LETTERS: Final = 24
"""Letters of a value for which its stretch is made wide enough."""
_TICK_LETTER: Final = 7
_TOP: Final = 34
_BAND: Final = 44
_FOOT: Final = 48
_LETTER: Final = 8
"""Units that a letter takes, on the safe side."""
_MARGIN: Final = 18
_BEFORE_EDGES: Final = _LETTER * 8
"""Room before the first edge, where something was true since ever."""
_PADDING: Final = 12
_PLANE_TEXT_MARGIN: Final = 2
_CELL_LIMIT: Final = 24
"""Characters of a value; a longer one is cut."""


class BeliefState(StrEnum):
    """What a belief is, in addition to its value."""

    CLEAN = "clean"
    DISPUTED = "disputed"
    PLANNED = "planned"
    DENIED = "denied"
    ERASED = "erased"
    WITHHELD = "withheld"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBelief:
    """What was held to be true over a stretch of true time."""

    __repr__ = short_repr

    state: BeliefState
    value: str
    """For people; empty where there is none to show."""
    valid_from: datetime | None
    valid_until: datetime | None
    object_ids: tuple[str, ...] = ()
    """The claims that decide it."""
    source: str = ""
    """Where the deciding claim comes from, as an origin."""
    actor: str = ""
    """Who entered it; empty where that may not be told."""
    entry_time: datetime | None = None
    """When the deciding claim was entered."""

    @property
    def words(self) -> str:
        """The value, or what is in its place."""
        return self.value or self.state.value

    def holds_at(self, valid: datetime) -> bool:
        """Whether it is about an instant of true time."""
        is_begun = self.valid_from is None or self.valid_from <= valid
        return is_begun and (self.valid_until is None or valid < self.valid_until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A stretch of known time in which the same was believed."""

    __repr__ = short_repr

    known_from: datetime
    known_until: datetime | None
    """None: still."""
    beliefs: tuple[SlotBelief, ...]
    """By true time, without overlap."""

    def holds_at(self, known: datetime) -> bool:
        """Whether it is what was believed at an instant of known time."""
        return self.known_from <= known and (self.known_until is None or known < self.known_until)

    def belief_at(self, valid: datetime) -> SlotBelief | None:
        """What it says about an instant of true time."""
        for belief in self.beliefs:
            if belief.holds_at(valid):
                return belief
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """One belief over the bands in which nothing of it changed."""

    __repr__ = short_repr

    belief: SlotBelief
    known_from: datetime
    known_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePlane:
    """Beliefs with a marked point, as text for a terminal and as SVG for pages and notebooks."""

    __repr__ = short_repr

    # A docstring of a field would stand in the description of the HTTP interface.
    entity: str
    slot: str
    bands: tuple[Band, ...]  # Oldest knowledge first.
    # Claims that never decided, or no longer do, over where they stood below another.
    lost_claims: tuple[Rectangle, ...] = field(default=())
    valid: datetime
    known: datetime

    @property
    def answer(self) -> SlotBelief | None:
        """What was believed at the asked point."""
        band = next((band for band in self.bands if band.holds_at(self.known)), None)
        return band.belief_at(self.valid) if band else None

    @property
    def latest(self) -> SlotBelief | None:
        """What is known today about the asked instant."""
        return self.bands[-1].belief_at(self.valid) if self.bands else None

    @property
    def sentence(self) -> str:
        """The answer in words: what was believed, what is known today, and who entered it when."""
        answer, latest = self.answer, self.latest
        is_latest = not self.bands or self.bands[-1].known_from <= self.known
        answer_words = _belief_words(answer)
        valid, known = long_day(self.valid), long_day(self.known)
        if is_latest:
            verb = "it was" if self.valid < self.known else "it is"
            if answer is not None and answer.state is BeliefState.PLANNED:
                verb = "it will be, as planned,"
            return f"On {valid} {verb} {answer_words}{_entry(answer)}."

        today = f"Today we know it was {_belief_words(latest)}{_entry(latest)}."
        if answer is None:
            return f"On {known} nothing was known of it. {today if latest else 'Nor is it today.'}"
        start = f"On {valid} we believed {answer_words}"
        if valid != known:
            start = f"On {known} we believed about {valid}: {answer_words}"
        if _belief_words(latest) == answer_words:
            return f"{start}; that is still what we know."
        return f"{start}. {today}"

    def valid_edges(self) -> tuple[datetime, ...]:
        """The instants of true time at which any belief begins or ends, oldest first."""
        edges: set[datetime | None] = set()
        for belief in _beliefs(self):
            edges |= {belief.valid_from, belief.valid_until}
        return tuple(sorted(filter(None, edges)))

    def rectangles(self) -> tuple[Rectangle, ...]:
        """The beliefs, each once over all neighbouring bands that hold it unchanged."""
        # Only from one band to the next: a belief that was given up and came back is two.
        rectangles: list[Rectangle] = []
        standing: dict[SlotBelief, int] = {}
        for band in self.bands:
            positions: dict[SlotBelief, int] = {}
            for belief in band.beliefs:
                position = standing.get(belief)
                if position is None:
                    position = len(rectangles)
                    rectangles.append(
                        Rectangle(
                            belief=belief,
                            known_from=band.known_from,
                            known_until=band.known_until,
                        )
                    )
                else:
                    rectangles[position] = replace(
                        rectangles[position], known_until=band.known_until
                    )
                positions[belief] = position
            standing = positions
        return tuple(rectangles)

    def text(self, width: int = 80) -> str:
        """Draw it in characters, at most `width` of them a line."""
        return plane_text(self, width)

    def svg(self) -> str:
        """Draw it as SVG, with a title and a description in words."""
        return plane_svg(self)

    def at(self, x: int, y: int) -> TimePlane:
        """Ask the point at a place of the picture instead."""
        height, known, days = _scales(self)
        return replace(
            self, valid=days.moment_at(x, self.valid), known=known.moment_at(height - y, self.known)
        )

    def _repr_html_(self) -> str:

        # A cell of a notebook is narrower than the picture, which keeps its own size elsewhere.
        fixed_size = f'width="{WIDTH}" height="'
        head, _, tail = self.svg().partition(fixed_size)
        _, _, remainder = tail.partition('"')
        return f'{head}width="100%"{remainder}'


def _beliefs(plane: TimePlane) -> Iterator[SlotBelief]:
    """The beliefs of all bands."""
    return chain.from_iterable(map(attrgetter("beliefs"), plane.bands))


def _belief_words(belief: SlotBelief | None) -> str:
    """A belief in the middle of a sentence."""
    return belief.words if belief else "not known"


def _entry(belief: SlotBelief | None) -> str:
    """Who entered a belief and when, and whether that was after it began to be true."""
    if belief is None or belief.entry_time is None:
        return ""

    author = source_words(belief.source) or belief.actor or "somebody"
    begin = belief.valid_from
    lateness = " late," if begin is not None and belief.entry_time.date() > begin.date() else ""
    return f": {author} entered it{lateness} on {long_day(belief.entry_time)}"


def source_words(origin: str) -> str:
    """An origin for people: the system, the page or the person behind it.

    >>> source_words("record://billing/accounts"), source_words("chat://s1"), source_words("")
    ('billing', 'chat s1', '')
    """
    scheme, _, path = origin.partition("://")
    host = path.partition("/")[0]
    if scheme == "user":
        return "a person"
    return host if scheme in ("record", "https", "http", "web") else f"{scheme} {host}".strip()


def long_day(moment: datetime) -> str:
    """A day in a sentence: `1 April 2026`."""
    return f"{moment.day} {moment:%B %Y}"


def short_day(moment: datetime) -> str:
    """A day as an axis writes it: `1 Apr 26`."""
    return f"{moment.day} {moment:%b %y}"


def day_labels(moments: Sequence[datetime]) -> list[str]:
    """Names of moments on an axis: the day, with as much of the time as tells two apart.

    >>> from datetime import UTC
    >>> nine = datetime(2026, 7, 1, 9, tzinfo=UTC)
    >>> day_labels([nine, nine.replace(hour=10)]), day_labels([nine, nine.replace(second=2)])
    (['1 Jul 09:00', '1 Jul 10:00'], ['1 Jul 09:00:00', '1 Jul 09:00:02'])
    """
    days = list(map(short_day, moments))
    minutes = [f"{moment.day} {moment:%b %H:%M}" for moment in moments]
    labels: list[str] = []
    for moment, day, minute in zip(moments, days, minutes, strict=True):
        label = day
        if days.count(day) > 1:
            label = f"{minute}:{moment:%S}" if minutes.count(minute) > 1 else minute
        labels.append(label)
    return labels


@dataclass(frozen=True, slots=True)
class Axis:
    """Edges of time with the positions at which they stand; between two time runs evenly."""

    edges: tuple[datetime, ...]
    positions: tuple[int, ...]
    start: int
    end: int

    def position(self, moment: datetime | None, *, is_end: bool = False) -> int:
        """Where an instant is; an open end is at the end of the axis."""
        if moment is None:
            return self.end if is_end else self.start
        if not self.edges or moment < self.edges[0]:
            # What lies before every edge has one place, in the middle of the room for it.
            first = self.positions[0] if self.positions else self.end
            return (self.start + first) // 2
        if moment >= self.edges[-1]:
            is_edge = moment == self.edges[-1]
            return self.positions[-1] if is_edge else (self.positions[-1] + self.end) // 2

        after = bisect_right(self.edges, moment)
        before_edge, after_edge = self.edges[after - 1], self.edges[after]
        length = micros(after_edge) - micros(before_edge)
        room = self.positions[after] - self.positions[after - 1]
        share = room * (micros(moment) - micros(before_edge)) // length
        return self.positions[after - 1] + share

    def moment_at(self, position: int, otherwise: datetime) -> datetime:
        """The instant at a position, the inverse of `position`; at both ends a day outside.

        `otherwise` is the answer of an axis without edges.
        """
        if not self.edges:
            return otherwise
        if position < self.positions[0]:
            return self.edges[0] - _DAY
        if position >= self.positions[-1]:
            return self.edges[-1] + (_DAY if position > self.positions[-1] else timedelta())

        after = bisect_right(self.positions, position)
        before_edge, after_edge = self.edges[after - 1], self.edges[after]
        room = self.positions[after] - self.positions[after - 1]
        share = (position - self.positions[after - 1]) / room
        return before_edge + (after_edge - before_edge) * share


def axis(edges: Sequence[datetime], needs: Sequence[int], start: int, end: int) -> Axis:
    """Put edges between two positions, so that after each there is the room that it needs.

    `needs` has one more entry than there are edges: the first is the room before the first edge.
    What is left goes to the stretches in equal parts; where there is too little, all shrink alike.
    """
    room, total = end - start, sum(needs)
    if total > room:
        shares = [need * room // total for need in needs]
    else:
        spare = (room - total) // max(1, len(needs) - 1)
        # The first stretch lies before every edge: nothing is written there that needs more room.
        shares = list(needs)
        for stretch in range(1, len(shares)):
            shares[stretch] += spare

    positions: list[int] = []
    position = start
    for share in shares[:-1]:
        position += share
        positions.append(position)
    return Axis(tuple(edges), tuple(positions), start, end)


def without_repeats(bands: Iterable[Band]) -> tuple[Band, ...]:
    """Join neighbouring bands that believe the same; empty ones at the start go."""
    distinct_bands: list[Band] = []
    for band in bands:
        if distinct_bands and distinct_bands[-1].beliefs == band.beliefs:
            distinct_bands[-1] = replace(distinct_bands[-1], known_until=band.known_until)
        elif distinct_bands or band.beliefs:
            distinct_bands.append(band)
    return tuple(distinct_bands)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture."""

    state: str
    words: str
    x: int
    y: int
    width: int
    height: int
    fill: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """An edge of time with its name; without one where its neighbour's leaves no room."""

    label: str
    position: int
    anchor: str = "start"


_FILLS: Final = (
    "#a9c4ec",
    "#b9dfb4",
    "#f3d38a",
    "#d9c2ec",
    "#f2bfc6",
    "#b5e0de",
    "#d9d3b0",
    "#c8cfe0",
)
"""By value, in order of appearance; the ninth value has the first colour again."""


def plane_svg(plane: TimePlane) -> str:
    """Draw a plane, the newest knowledge on top."""
    height, known, days = _scales(plane)
    fills: dict[str, str] = {}
    boxes: list[Box] = []
    for rectangle in plane.rectangles():
        words = rectangle.belief.words
        fills.setdefault(words, _FILLS[len(fills) % len(_FILLS)])
        box = _box(rectangle, days, known)
        room = box.width - _PADDING
        boxes.append(replace(box, words=_cut(box.words, room), fill=fills[words]))
    lost_boxes: list[Box] = []
    for rectangle in plane.lost_claims:
        box = _box(rectangle, days, known)
        lost_boxes.append(replace(box, words=_cut(box.words, box.width - _PADDING)))

    drawing: str = _template().render(
        plane=plane,
        title=visible(f"{plane.entity}, {plane.slot.replace('_', ' ')}: what was true when"),
        description=visible(plane.sentence),
        width=WIDTH,
        height=height,
        left=days.start,
        top=_TOP,
        foot=height - _FOOT,
        boxes=boxes,
        lost_boxes=lost_boxes,
        days=_spread_labels(_ticks(days), WIDTH),
        # Known time grows upwards, pixels downwards.
        moments=[Tick(tick.label, height - tick.position) for tick in _ticks(known)],
        x=days.position(plane.valid),
        y=height - known.position(plane.known),
    )
    return drawing


def _scales(plane: TimePlane) -> tuple[int, Axis, Axis]:
    """The height of the picture, the axis of known time and that of true time."""
    # Known time goes from the foot upwards, and every band is equally high.
    edges = tuple(band.known_from for band in plane.bands)
    top = _FOOT + _BAND * len(edges)
    known = Axis(edges, tuple(range(_FOOT, top, _BAND)), _FOOT, max(top, _FOOT + _BAND))

    # The moments of known time are written to the left of the bands.
    longest = max(map(len, day_labels(edges)), default=0)
    gutter = max(_GUTTER, longest * _TICK_LETTER + _PADDING)
    return _TOP + _BAND * max(1, len(edges)) + _FOOT, known, _valid_axis(plane, gutter)


def _box(rectangle: Rectangle, days: Axis, known: Axis) -> Box:
    # What was known last lies on top, where the smaller y is.
    belief = rectangle.belief
    x = days.position(belief.valid_from)
    y = known.end + _TOP - known.position(rectangle.known_until, is_end=True)
    width = days.position(belief.valid_until, is_end=True) - x
    height = known.end + _TOP - known.position(rectangle.known_from) - y
    return Box(belief.state.value, visible(belief.words), x, y, width, height)


def _cut(words: str, room: int) -> str:
    """Words in so many units, with an ellipsis where they end early."""
    letters = max(0, room // _LETTER)
    if len(words) <= letters:
        return words
    return words[: letters - 1] + "…" if letters > 1 else ""


def _valid_axis(plane: TimePlane, gutter: int) -> Axis:
    edges = plane.valid_edges()
    needs = [0, *repeat(_LETTER * 10 + _MARGIN, len(edges))]
    is_open = any(belief.valid_from is None for belief in _beliefs(plane))
    if is_open or (edges and plane.valid < edges[0]):
        needs[0] = _BEFORE_EDGES

    for column, belief in _in_one_stretch(plane, edges):
        letters = min(len(belief.words), _VALUE_LETTERS)
        needs[column] = max(needs[column], letters * _LETTER + _MARGIN)
    return axis(edges, needs, gutter, WIDTH)


def _in_one_stretch(
    plane: TimePlane, edges: Sequence[datetime]
) -> Iterator[tuple[int, SlotBelief]]:
    """Each belief that has one stretch of the axis alone to be in, behind the stretch's number."""
    for belief in _beliefs(plane):
        first = 0 if belief.valid_from is None else edges.index(belief.valid_from) + 1
        last = len(edges) if belief.valid_until is None else edges.index(belief.valid_until)
        if first == last:
            yield first, belief


def _ticks(scale: Axis) -> list[Tick]:
    return list(map(Tick, day_labels(scale.edges), scale.positions))


def _spread_labels(ticks: Sequence[Tick], width: int) -> list[Tick]:
    """Ticks with the names that do not run into each other, the last one with its own."""
    named_ticks: list[Tick] = []
    end = width
    for tick in reversed(ticks):
        length = len(tick.label) * _TICK_LETTER
        is_last = tick.position + length > width
        start = tick.position - length if is_last else tick.position
        if (tick.position if is_last else start + length) <= end:
            named_ticks.append(replace(tick, anchor="end" if is_last else "start"))
            end = start - _TICK_LETTER
        else:
            named_ticks.append(replace(tick, label=""))
    return named_ticks[::-1]


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("plane.jinja")


_FILL: Final = {BeliefState.DISPUTED: "~", BeliefState.PLANNED: "."}
"""What follows a value to the end of its stretch; a blank for all others."""


def plane_text(plane: TimePlane, width: int) -> str:
    """Draw a plane, the newest knowledge on top, with the asked point and the answer."""
    # A grid of characters: every line is put together at positions of one axis.
    labels = day_labels([band.known_from for band in plane.bands])
    gutter = max(map(len, [*labels, "known ^"])) + 1
    title = visible(f"{plane.entity}, {plane.slot.replace('_', ' ')}")
    if not plane.bands:
        return f"{title}: nothing was ever known\n"

    edges = plane.valid_edges()
    days = _plane_text_valid_axis(plane, edges, gutter + _PLANE_TEXT_MARGIN, width)
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
    states = set(map(attrgetter("state"), _beliefs(plane)))
    signs = [f"{sign} {state.value}" for state, sign in _FILL.items() if state in states]
    lines += [f"o where you ask; {', '.join(signs)}" if signs else "o where you ask", ""]
    return "\n".join([*lines, visible(plane.sentence), ""])


def _plane_text_valid_axis(
    plane: TimePlane, edges: Sequence[datetime], start: int, width: int
) -> Axis:
    """The axis of true time: room for every value and for the name of every edge."""
    needs = [0] + [len(label) + _PLANE_TEXT_MARGIN for label in day_labels(edges)]
    for column, belief in _in_one_stretch(plane, edges):
        length = min(_CELL_LIMIT, len(visible(belief.words))) + 5
        needs[column] = max(needs[column], length)

    if edges and plane.valid < edges[0]:
        needs[0] = max(needs[0], 4)
    return axis(edges, needs, start, width)


def _line(gutter: int, label: str) -> str:
    return f"{label:>{gutter}}| "[: gutter + _PLANE_TEXT_MARGIN]


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


def _question(plane: TimePlane, gutter: int, days: Axis, width: int) -> str:
    answer = plane.answer.words if plane.answer else "not known"
    words = visible(f"{short_day(plane.valid)}, as known on {short_day(plane.known)} = {answer}")
    position = min(days.position(plane.valid), width - 1)
    line = _put(_line(gutter, ""), position, "o")
    if position + 2 + len(words) <= width:
        return f"{line} {words}"

    # No room to the right of the point: its words come before it, else on a line of their own.
    start = max(gutter + _PLANE_TEXT_MARGIN, position - len(words) - 1)
    if start + len(words) < position:
        return _put(line, start, words)
    # A long value is cut as in its stretch; the sentence above has it whole.
    room = width - gutter - _PLANE_TEXT_MARGIN
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
