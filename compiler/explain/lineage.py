"""Lineage: where each object of an envelope came from, what was done to it, and where it stands.

A row is an object: how it was found (words, meaning, a slot of a named entity, …) and from which
origin, what it became, and the block that holds it. What was merged into an object, or left out
as its duplicate, stands beside it. The picture joins the three; the same rows are a table for
those who cannot see it. Source 000, 6.11.2 ("section lineage graph"); checklist C-176.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ...schema.compile_terms import Reason
from ..ir.snapshot import Via
from ..trace.trace import CompiledObject
from .charts import FILLS, INK, Picture, framed, plural, words
from .markup import Markup, element
from .report import Entry, Shown, entries

_ROWS: Final = 60
"""Objects that are drawn; the table of a page holds them all."""
_STEP: Final = 30
_TOP: Final = 26
_COLUMNS: Final = ((0, 300), (350, 320), (720, 240))
"""(left, width) of origin, object and block."""
_FOUND: Final[Mapping[Via, str]] = {
    Via.PINNED: "pinned",
    Via.TEXT: "words of the query",
    Via.VECTOR: "meaning of the query",
    Via.SLOT: "a named entity",
    Via.NEIGHBOUR: "the neighbourhood",
    Via.STANDING: "standing",
    Via.TEMPLATE: "a template",
    Via.RIVAL: "a rival scope",
}
_TARGETED: Final = frozenset({Reason.DUPLICATE_OF.value, Reason.MERGED_INTO.value})


class Descent(NamedTuple):
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


def descents(shown: Shown) -> tuple[Descent, ...]:
    """Return the lineage of every compiled object, in the order of the text."""
    found = {each.object_id: each.via for each in shown.manifest.candidates if each.vid}
    changes: dict[str, list[str]] = {}
    for change in shown.trace.conversions:
        changes.setdefault(change.object_id, []).append(change.conversion.value)
    absorbed: dict[str, list[str]] = {}
    for omitted in shown.trace.omitted_objects:
        if omitted.reason in _TARGETED and omitted.detail:
            absorbed.setdefault(omitted.detail, []).append(omitted.object_id)
    return tuple(
        Descent(
            each.object_id,
            each.object_type,
            each.source_origin,
            found_by(found[each.object_id]) if each.object_id in found else ("the request",),
            each.compiled_as,
            tuple(changes.get(each.object_id, ())),
            tuple(dict.fromkeys((*each.merged, *absorbed.get(each.object_id, ())))),
            entry.number,
            entry.block.section,
        )
        for entry, each in _placed(shown)
    )


def _placed(shown: Shown) -> Iterator[tuple[Entry, CompiledObject]]:
    for entry in entries(shown):
        for each in entry.objects:
            yield entry, each


def found_by(via: int) -> tuple[str, ...]:
    """Return in words how a candidate was found.

    >>> found_by(9)
    ('words of the query', 'a named entity')
    """
    return tuple(said for flag, said in _FOUND.items() if via & flag)


def lineage_svg(shown: Shown, *, alone: bool = True) -> str:
    """Return the lineage as a graph: origins, the objects from them, the blocks they stand in."""
    rows = descents(shown)
    drawn, rest = rows[:_ROWS], len(rows) - _ROWS
    origins = list(dict.fromkeys(_source(row) for row in drawn))
    blocks = list(dict.fromkeys((row.block, row.section) for row in drawn))
    foot = f" Of these, {_ROWS} are drawn." if rest > 0 else ""
    picture = Picture(
        "tenure-lineage",
        f"Lineage of {plural(len(rows), 'object')}",
        f"{plural(len(origins), 'source')} on the left, the objects they gave in the middle, "
        f"{plural(len(blocks), 'block')} of the text on the right.{foot}",
        _TOP + _STEP * max(1, len(drawn)) + (_STEP if rest > 0 else 0),
        alone,
    )
    shapes = list(_drawn(shown, drawn, origins, blocks))
    if rest > 0:
        y = _TOP + _STEP * len(drawn) + 18
        shapes.append(words(_COLUMNS[1][0], y, f"and {rest:,} more", most=300))
    return framed(picture, shapes)


def _drawn(
    shown: Shown,
    rows: Sequence[Descent],
    origins: Sequence[str],
    blocks: Sequence[tuple[int, str]],
) -> Iterator[Markup]:
    heads = ("from", "object", "block")
    for (left, width), head in zip(_COLUMNS, heads, strict=True):
        yield words(left + 4, 16, head, most=width)
    zones = {entry.number: FILLS[entry.zone] for entry in entries(shown)}
    starts, ends = _spread(len(origins), len(rows)), _spread(len(blocks), len(rows))
    for place, row in enumerate(rows):
        middle = _TOP + place * _STEP
        left = starts[origins.index(_source(row))]
        right = ends[blocks.index((row.block, row.section))]
        yield _line((_right(0), left), (_COLUMNS[1][0], middle))
        yield _line((_right(1), middle), (_COLUMNS[2][0], right))
    for place, row in enumerate(rows):
        yield _node(1, _TOP + place * _STEP, _said(row), zones[row.block])
    for y, origin in zip(starts, origins, strict=True):
        yield _node(0, y, origin, "#dfe5ec")
    for y, (number, section) in zip(ends, blocks, strict=True):
        yield _node(2, y, f"{number} {section}", zones[number])


def _spread(count: int, rows: int) -> list[int]:
    """Return the heights of nodes that share the height of the rows."""
    return [_TOP + (2 * place + 1) * rows * _STEP // (2 * count) - _STEP // 2
            for place in range(count)]  # fmt: skip


def _right(column: int) -> int:
    left, width = _COLUMNS[column]
    return left + width


def _source(row: Descent) -> str:
    return f"{row.origin} ({', '.join(row.found)})"


def _said(row: Descent) -> str:
    steps = " → ".join((row.object_type, *row.changes, row.became))
    beside = f" +{len(row.absorbed)}" if row.absorbed else ""
    return f"{row.object_id[:8]} {steps}{beside}"


def _node(column: int, y: int, text: str, fill: str) -> Markup:
    left, width = _COLUMNS[column]
    box = element(
        "rect", x=left, y=y, width=width, height=_STEP - 8, rx=4, fill=fill, stroke="#5b6b7f"
    )
    label = words(left + 6, y + 15, text, most=width - 10, fill=INK)
    return element("g", element("title", text), box, label)


def _line(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    (x1, y1), (x2, y2) = start, end
    half = (_STEP - 8) // 2
    middle = (x1 + x2) // 2
    path = f"M{x1} {y1 + half}C{middle} {y1 + half} {middle} {y2 + half} {x2} {y2 + half}"
    return element("path", d=path, fill="none", stroke="#7c8ca0", stroke_width="1")
