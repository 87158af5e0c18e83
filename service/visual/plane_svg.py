"""The time plane as SVG: rectangles, words and a crosshair; no script, no style attribute.

Fills are light enough for dark words in both themes, and no state is told by colour alone: a
dispute is hatched, a plan has a dashed frame, a lost claim has a frame and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .beliefs import Axis, BeliefPlane, Rectangle, axis, day_labels
from .text import visible

if TYPE_CHECKING:
    from jinja2 import Template

WIDTH: Final = 960
_GUTTER: Final = 96
_TOP: Final = 34
_BAND: Final = 44
_FOOT: Final = 48
_LETTER: Final = 8
"""Units that a letter takes, on the safe side."""
_MARGIN: Final = 18


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
    """An edge of time with its name."""

    label: str
    position: int


def plane_svg(plane: BeliefPlane) -> str:
    """Draw a plane, the newest knowledge on top."""
    height = _TOP + _BAND * max(1, len(plane.bands)) + _FOOT
    days = _valid_axis(plane)
    known = _known_axis(plane)

    boxes: list[Box] = []
    for rectangle in plane.rectangles():
        boxes.append(_box(rectangle, days, known))
    lost_boxes: list[Box] = []
    for rectangle in plane.lost_claims:
        lost_boxes.append(_box(rectangle, days, known))

    drawing: str = _template().render(
        plane=plane,
        title=visible(f"{plane.entity}, {plane.slot.replace('_', ' ')}: what was true when"),
        description=visible(plane.sentence),
        width=WIDTH,
        height=height,
        left=_GUTTER,
        top=_TOP,
        foot=height - _FOOT,
        boxes=boxes,
        lost_boxes=lost_boxes,
        days=_ticks(days),
        # Known time grows upwards, pixels downwards.
        moments=[Tick(tick.label, height - tick.position) for tick in _ticks(known)],
        x=days.position(plane.valid),
        y=height - known.position(plane.known),
    )
    return drawing


def _box(rectangle: Rectangle, days: Axis, known: Axis) -> Box:
    # What was known last lies on top, where the smaller y is.
    belief = rectangle.belief
    x = days.position(belief.valid_from)
    y = known.end + _TOP - known.position(rectangle.known_until, is_end=True)
    width = days.position(belief.valid_until, is_end=True) - x
    height = known.end + _TOP - known.position(rectangle.known_from) - y
    words = visible(belief.words)
    room = max(0, (width - 12) // _LETTER)
    if len(words) > room:
        words = words[: room - 1] + "…" if room > 1 else ""
    return Box(belief.state.value, words, x, y, width, height)


def _valid_axis(plane: BeliefPlane) -> Axis:
    edges = plane.valid_edges()
    needs = [0] + [_LETTER * 10 + _MARGIN for _ in edges]
    has_open_start = any(b.valid_from is None for band in plane.bands for b in band.beliefs)
    if has_open_start or (edges and plane.valid < edges[0]):
        needs[0] = _LETTER * 8

    for band in plane.bands:
        for belief in band.beliefs:
            column = 0 if belief.valid_from is None else edges.index(belief.valid_from) + 1
            last = len(edges) if belief.valid_until is None else edges.index(belief.valid_until)
            if column == last:
                needs[column] = max(needs[column], len(belief.words) * _LETTER + _MARGIN)
    return axis(edges, needs, _GUTTER, WIDTH)


def _known_axis(plane: BeliefPlane) -> Axis:
    """The axis of known time from the foot upwards: every band is equally high."""
    edges = tuple(band.known_from for band in plane.bands)
    positions = tuple(_FOOT + _BAND * number for number in range(len(edges)))
    return Axis(edges, positions, _FOOT, _FOOT + _BAND * max(1, len(edges)))


def _ticks(scale: Axis) -> list[Tick]:
    ticks: list[Tick] = []
    for label, position in zip(day_labels(scale.edges), scale.positions, strict=True):
        ticks.append(Tick(label, position))
    return ticks


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
