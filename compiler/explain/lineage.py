"""Lineage: where each object of an envelope came from, what was done to it, and where it stands.

A row is an object: how it was found (words, meaning, a slot of a named entity, …) and from which
origin, what it became, and the block that holds it. What was merged into an object, or left out
as its duplicate, stands beside it. The picture joins the three; the same rows are a table for
those who cannot see it. Checklist C-176.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...schema.compile_terms import Reason
from ..ir.records import Via
from .charts import FILLS, ChartFrame, PlacedWords, plural
from .report import EnvelopeReport, entries

_ROWS: Final = 60
"""Objects that are drawn; the table of a page holds them all."""
_STEP: Final = 30
_NODE: Final = _STEP - 8
_TOP: Final = 26
_COLUMNS: Final = ((0, 300), (350, 320), (720, 240))
"""(left, width) of origin, object and block."""
_PHRASES: Final[Mapping[Via, str]] = {
    Via.PINNED: "pinned",
    Via.TEXT: "words of the query",
    Via.VECTOR: "meaning of the query",
    Via.SLOT: "a named entity",
    Via.NEIGHBOUR: "the neighbourhood",
    Via.STANDING: "standing",
    Via.TEMPLATE: "a template",
    Via.RIVAL: "a rival scope",
    Via.TALK: "a turn beside one that was found",
    Via.SIBLING: "other facts of its subject",
}
_ABSORPTIONS: Final = frozenset({Reason.DUPLICATE_OF.value, Reason.MERGED_INTO.value})


@dataclass(frozen=True, slots=True)
class Descent:
    """One object, from its origin to its block."""

    object_id: str
    object_type: str
    origin: str
    found: tuple[str, ...]
    """How it was found; `the request` for what the caller handed in."""
    became: str
    """Its form in the text."""
    changes: tuple[str, ...]
    """What was done to its text, in order."""
    absorbed: tuple[str, ...]
    """Objects that it stands for: merged into it, or left out as its duplicates."""
    block: int
    """The number of its block."""
    section: str


def descents(report: EnvelopeReport) -> tuple[Descent, ...]:
    """The lineage of every compiled object, in the order of the text."""
    # Only what the store found has a way; items of the request have no row.
    via_of = {source.object_id: source.via for source in report.manifest.candidates if source.vid}

    changes: dict[str, list[str]] = {}
    for change in report.trace.conversions:
        changes.setdefault(change.object_id, []).append(change.conversion.value)

    absorptions: dict[str, list[str]] = {}
    for omission in report.trace.omitted_objects:
        if omission.reason in _ABSORPTIONS and omission.detail:
            absorptions.setdefault(omission.detail, []).append(omission.object_id)

    rows: list[Descent] = []
    placements = [(entry, source) for entry in entries(report) for source in entry.objects]
    for entry, source in placements:
        object_id = source.object_id
        row = Descent(
            object_id,
            source.object_type,
            source.source_origin,
            found_by(via_of[object_id]) if object_id in via_of else ("the request",),
            source.compiled_as,
            tuple(changes.get(object_id, ())),
            tuple(dict.fromkeys((*source.merged, *absorptions.get(object_id, ())))),
            entry.number,
            entry.block.section,
        )
        rows.append(row)

    return tuple(rows)


def found_by(via: int) -> tuple[str, ...]:
    """How a candidate was found, in words.

    >>> found_by(9)
    ('words of the query', 'a named entity')
    """
    return tuple(phrase for flag, phrase in _PHRASES.items() if via & flag)


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An origin, an object or a block, as a box with words."""

    text: str
    fill: str
    left: int
    top: int
    width: int


@dataclass(frozen=True, slots=True)
class LineageGraph:
    """Origins on the left, the objects they gave in the middle, blocks on the right."""

    frame: ChartFrame
    heads: tuple[PlacedWords, ...]
    paths: tuple[str, ...]
    nodes: tuple[GraphNode, ...]
    node_height: int = _NODE


def lineage_graph(report: EnvelopeReport, *, alone: bool) -> LineageGraph:
    """Lay out the lineage of an envelope; at most 60 objects."""
    rows = descents(report)
    surplus = len(rows) - _ROWS
    rows = rows[:_ROWS]

    # Each origin and block is drawn once, in the order in which the rows reach it: lines cross
    # least where both columns follow the middle one.
    origins = list(dict.fromkeys(map(_source, rows)))
    blocks = list(dict.fromkeys((row.block, row.section) for row in rows))

    foot = f" Of these, {_ROWS} are drawn." if surplus > 0 else ""
    frame = ChartFrame(
        "tenure-lineage",
        f"Lineage of {plural(len(rows) + max(0, surplus), 'object')}",
        f"{plural(len(origins), 'source')} on the left, the objects they gave in the middle, "
        f"{plural(len(blocks), 'block')} of the text on the right.{foot}",
        _TOP + _STEP * max(1, len(rows)) + (_STEP if surplus > 0 else 0),
        alone,
    )

    heads: list[PlacedWords] = []
    for (left, width), word in zip(_COLUMNS, ("from", "object", "block"), strict=True):
        heads.append(PlacedWords(word, left + 4, 16, width))

    if surplus > 0:
        y = _TOP + _STEP * len(rows) + 18
        heads.append(PlacedWords(f"and {surplus:,} more", _COLUMNS[1][0], y, 300))

    zones: dict[int, str] = {}
    for entry in entries(report):
        zones[entry.number] = FILLS[entry.zone]

    origin_tops = _tops(len(origins), len(rows))
    block_tops = _tops(len(blocks), len(rows))
    paths: list[str] = []
    nodes: list[GraphNode] = []

    for position, row in enumerate(rows):
        top = _TOP + position * _STEP
        origin_top = origin_tops[origins.index(_source(row))]
        block_top = block_tops[blocks.index((row.block, row.section))]
        paths.append(_path((_right(0), origin_top), (_COLUMNS[1][0], top)))
        paths.append(_path((_right(1), top), (_COLUMNS[2][0], block_top)))
        nodes.append(_node(1, top, _caption(row), zones[row.block]))

    for top, origin in zip(origin_tops, origins, strict=True):
        nodes.append(_node(0, top, origin, "#dfe5ec"))

    for top, (number, section) in zip(block_tops, blocks, strict=True):
        nodes.append(_node(2, top, f"{number} {section}", zones[number]))

    return LineageGraph(frame, tuple(heads), tuple(paths), tuple(nodes))


def _tops(count: int, rows: int) -> list[int]:
    """The heights of nodes that share the height of the rows."""
    height = rows * _STEP
    tops: list[int] = []
    for number in range(count):
        # The middle of its equal part of the height, in whole numbers: a page is the same bytes
        # on every machine.
        middle = (2 * number + 1) * height // (2 * count)
        tops.append(_TOP + middle - _STEP // 2)
    return tops


def _right(column: int) -> int:
    left, width = _COLUMNS[column]
    return left + width


def _source(row: Descent) -> str:
    return f"{row.origin} ({', '.join(row.found)})"


def _caption(row: Descent) -> str:
    steps = " → ".join((row.object_type, *row.changes, row.became))
    absorptions = f" +{len(row.absorbed)}" if row.absorbed else ""
    return f"{row.object_id[:8]} {steps}{absorptions}"


def _node(column: int, top: int, text: str, fill: str) -> GraphNode:
    left, width = _COLUMNS[column]
    return GraphNode(text, fill, left, top, width)


def _path(start: tuple[int, int], end: tuple[int, int]) -> str:
    # A cubic curve that leaves and arrives level: half the way out, half the way in.
    (x1, y1), (x2, y2) = start, end
    half = _NODE // 2
    middle = (x1 + x2) // 2
    return f"M{x1} {y1 + half}C{middle} {y1 + half} {middle} {y2 + half} {x2} {y2 + half}"
