"""The time plane as SVG: rectangles, words and a crosshair; no script, no style attribute.

Fills are light enough for dark words in both themes, and no state is told by colour alone: a
dispute is hatched, a plan has a dashed frame, a lost claim has a frame and nothing else. A picture
for a phone has the same shapes; values that have no room in their rectangles stand below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .beliefs import Axis, BeliefPlane, Rectangle, axis, day_labels
from .text import visible

if TYPE_CHECKING:
    from jinja2 import Template

WIDTH: Final = 960
PHONE_WIDTH: Final = 340
_GUTTER: Final = 96
_PHONE_GUTTER: Final = 72
_PHONE_LABEL: Final = 9
"""Letters of a moment beside a picture for a phone; a longer one takes two lines."""
_VALUE_LETTERS: Final = 24
_PHONE_VALUE_LETTERS: Final = 8
"""Letters of a value for which its stretch is made wide enough."""
_TICK_LETTER: Final = 7
_NOTE: Final = 20
"""Height of a line below the picture."""
_TOP: Final = 34
_BAND: Final = 44
_FOOT: Final = 48
_LETTER: Final = 8
"""Units that a letter takes, on the safe side."""
_MARGIN: Final = 18
_BEFORE_EDGES: Final = _LETTER * 8
"""Room before the first edge, where something was true since ever."""
_PADDING: Final = 12


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture."""

    state: str
    words: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Tick:
    """An edge of time with its name; without one where its neighbour's leaves no room."""

    label: str
    position: int
    anchor: str = "start"


def plane_svg(plane: BeliefPlane, width: int = WIDTH) -> str:
    """Draw a plane so wide, the newest knowledge on top."""
    chart_height = _TOP + _BAND * max(1, len(plane.bands)) + _FOOT
    known = _known_axis(plane)
    gutter = _gutter(known, width)
    days = _valid_axis(plane, gutter, width)

    boxes: list[Box] = []
    for rectangle in plane.rectangles():
        boxes.append(_box(rectangle, days, known))
    boxes, notes = _with_short_words(boxes) if width >= WIDTH else _with_numbers(boxes, width)
    lost_boxes: list[Box] = []
    for rectangle in plane.lost_claims:
        lost_boxes.append(_box(rectangle, days, known))

    drawing: str = _template().render(
        plane=plane,
        title=visible(f"{plane.entity}, {plane.slot.replace('_', ' ')}: what was true when"),
        description=visible(plane.sentence),
        # A page may hold two pictures of one plane, and ids are the page's.
        name="plane" if width == WIDTH else f"plane-{width}",
        width=width,
        height=chart_height + _NOTE * len(notes),
        chart_height=chart_height,
        left=gutter,
        top=_TOP,
        foot=chart_height - _FOOT,
        boxes=boxes,
        lost_boxes=lost_boxes,
        notes=notes,
        days=_spread_labels(_ticks(days), width),
        # Known time grows upwards, pixels downwards.
        moments=[_moment(tick, chart_height, width) for tick in _ticks(known)],
        x=days.position(plane.valid),
        y=chart_height - known.position(plane.known),
    )
    return drawing


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


def _with_short_words(boxes: Sequence[Box]) -> tuple[list[Box], list[str]]:
    """Rectangles with as much of their words as has room, and no lines."""
    return [replace(box, words=_cut(box.words, box.width - _PADDING)) for box in boxes], []


def _with_numbers(boxes: Sequence[Box], width: int) -> tuple[list[Box], list[str]]:
    """Rectangles whose words have no room by number, and the lines that say the numbers."""
    numbers: dict[str, int] = {}
    numbered_boxes: list[Box] = []
    for box in boxes:
        words = box.words
        if _cut(words, box.width - _PADDING) != words:
            words = str(numbers.setdefault(box.words, len(numbers) + 1))
        numbered_boxes.append(replace(box, words=words))

    lines: list[str] = []
    for words, number in numbers.items():
        lines.append(_cut(f"{number}  {words}", width))
    return numbered_boxes, lines


def _gutter(known: Axis, width: int) -> int:
    """The room that the moments beside the picture need."""
    if width < WIDTH:
        return _PHONE_GUTTER
    longest = max(map(len, day_labels(known.edges)), default=0)
    return max(_GUTTER, longest * _TICK_LETTER + _PADDING)


def _moment(tick: Tick, chart_height: int, width: int) -> Tick:
    """A moment beside the picture, the day above the time where both have no room."""
    label = tick.label
    if width < WIDTH and len(label) > _PHONE_LABEL:
        label = "\n".join(label.rsplit(" ", 1))
    return Tick(label, chart_height - tick.position)


def _valid_axis(plane: BeliefPlane, gutter: int, width: int) -> Axis:
    edges = plane.valid_edges()
    needs = [0, *repeat(_LETTER * 10 + _MARGIN, len(edges))]
    if edges and plane.valid < edges[0]:
        needs[0] = _BEFORE_EDGES

    most_letters = _VALUE_LETTERS if width >= WIDTH else _PHONE_VALUE_LETTERS
    for band in plane.bands:
        for belief in band.beliefs:
            letters = min(len(belief.words), most_letters)
            column = 0 if belief.valid_from is None else edges.index(belief.valid_from) + 1
            last = len(edges) if belief.valid_until is None else edges.index(belief.valid_until)
            if column == 0:
                needs[0] = max(needs[0], _BEFORE_EDGES)
            if column == last:
                needs[column] = max(needs[column], letters * _LETTER + _MARGIN)
    return axis(edges, needs, gutter, width)


def _known_axis(plane: BeliefPlane) -> Axis:
    """The axis of known time from the foot upwards: every band is equally high."""
    edges = tuple(band.known_from for band in plane.bands)
    top = _FOOT + _BAND * len(edges)
    return Axis(edges, tuple(range(_FOOT, top, _BAND)), _FOOT, max(top, _FOOT + _BAND))


def _ticks(scale: Axis) -> list[Tick]:
    ticks: list[Tick] = []
    for label, position in zip(day_labels(scale.edges), scale.positions, strict=True):
        ticks.append(Tick(label, position))
    return ticks


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
