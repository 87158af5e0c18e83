"""What tokens cost: the price that a section's tokens must be worth, and that of an envelope.

The cost of a token is its price against the base price of an input token, from the dated
capability table: the history is a cached prefix, so its tokens are read at the price of a
cached read; what the turn brings is paid in full. A policy may state other coefficients, for a
section that is slow to fetch. `cost_weight` is mu: at 0, the default, tokens are used as long
as they bring anything at all; above it, what brings less than it costs stays out.
Checklist C-122.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...schema.compile_terms import SectionName
from ..ir.context import CompileContext
from ..ir.piece import Piece
from ..text.relevance import FULL
from ..tokens.capabilities import capability

THOUSAND: Final = 1000


MILLION: Final = 1_000_000


def token_cost(section: SectionName, context: CompileContext) -> float:
    """Return the cost of one token of a section, 1 for a token at the base price."""
    cost = dict(context.rules.section_costs).get(section.value)
    if cost is not None:
        return cost
    row = capability(context.request.model)
    return row.read_permille / THOUSAND if section is SectionName.HISTORY else 1.0


def mu(context: CompileContext) -> float:
    """Return the utility that one token at the base price must bring."""
    return context.rules.cost_weight / THOUSAND


def worth_its_price(piece: Piece, size: Callable[[Piece], int], context: CompileContext) -> bool:
    """Tell whether a piece brings at least what its tokens cost; always, where mu is 0."""
    weight = round(MILLION * context.weights.get(piece.section.value, 0.5))
    price = round(MILLION * mu(context) * token_cost(piece.section, context) * size(piece))
    return piece.value * weight // FULL >= price
