"""Offers: what a cached section's cap leaves out, as items of the turn.

The cached sections are filled without a look at the question, under fixed shares. What does not
fit there stands in the turn's section of the same kind, where the question and free tokens
decide; so a user of hundreds of preferences sees those that bear on the question.
"""

from __future__ import annotations

from typing import Final

from ...schema.compile_terms import SECTIONS, SectionName
from ..ir.context import CompileContext
from ..ir.piece import Piece

TURN_TWIN: Final = {
    SectionName.GUIDANCE: SectionName.TURN_GUIDANCE,
    SectionName.MEMORY: SectionName.TURN_MEMORY,
}
"""By cached section: the one of the turn that takes what its cap leaves out."""


def moved_to_turn(piece: Piece, context: CompileContext) -> Piece:
    """A piece of a cached section as one of the turn, worth what the question makes of it."""
    section = TURN_TWIN[piece.section]
    relevance = piece.candidate.relevance if piece.candidate is not None else 0
    share = round(1000 * context.rules.relevance_weight)

    return piece._replace(
        section=section,
        level=max(piece.level, SECTIONS[section].authority),
        value=(share * relevance + (1000 - share) * piece.value) // 1000,
        relevance=relevance,
    )
