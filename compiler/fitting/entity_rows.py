"""Anchored synthesis: the clean facts of one entity as one row, each cell with its anchor.

    Sam Rivera | office = Chicago [3] | title = engineer [4]

Values, dates and names are copied verbatim. A row is taken only if it has fewer tokens than the
sentences it replaces; else the sentences stay. The anchor leads to the object in the trace.
Checklist C-082.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...schema.compile_terms import SectionName
from ..ir.piece import Piece
from ..tokens.counting import TokenCounter


def row_text(label: str, cells: Iterable[tuple[str, str]]) -> str:
    """Return a row of (cell, anchor) pairs.

    >>> row_text("Sam", [("office = Chicago", "3")])
    'Sam | office = Chicago [3]'
    """
    return " | ".join((label, *(f"{cell} [{anchor}]" for cell, anchor in cells)))


def keep_prose(pieces: Sequence[Piece], counter: TokenCounter) -> list[Piece]:
    """Take the cells off facts whose row would not be shorter than their sentences."""
    groups: dict[tuple[SectionName, str], list[Piece]] = {}
    for piece in pieces:
        if piece.cell:
            groups.setdefault((piece.section, piece.label), []).append(piece)

    # Anchors have no number yet: two digits stand for each, in the row as in the sentences.
    prose: set[int] = set()
    for (_, label), members in groups.items():
        row = row_text(label, ((piece.cell, "10") for piece in members))
        lines = "\n".join(f"[10] {piece.text}" for piece in members)
        if counter.count(row) >= counter.count(lines):
            prose.update(map(id, members))

    outcome: list[Piece] = []
    for piece in pieces:
        is_prose = id(piece) in prose
        outcome.append(piece._replace(label="", cell="") if is_prose else piece)
    return outcome
