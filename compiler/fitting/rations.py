"""Rations: how many tokens each section of the turn gets, by the utility its items really have.

What is left of the budget is divided by the exact allocator, over curves that price the headings
and frames which the items would open. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from ...schema.compile_terms import SectionName
from ..budget.allocate import allocate
from ..budget.section import Section, concave_envelope, significant, slope_at
from ..ir.context import SectionShare
from ..ir.piece import Piece
from ..text.relevance import FULL
from .ledger import Ledger, Rung, Unit
from .price import mu, token_cost

_S: Final = SectionName


def limits(rung: Rung, section: SectionName) -> SectionShare:
    """Return the fewest and the most tokens of a section."""
    share = rung.context.shares.get(section.value, SectionShare(0, 1000))
    cap = -(-rung.budget * share.ceiling // 1000)
    cap = min(cap, dict(rung.context.rules.section_tokens).get(section.value, cap))
    return SectionShare(min(cap, rung.budget * share.floor // 1000), cap)


def rations(rung: Rung, sections: Mapping[SectionName, Sequence[Piece]]) -> dict[SectionName, int]:
    """Return the tokens of each section by the exact allocator."""
    ledger, context = rung.ledger, rung.context
    names = [name for name, pieces in sections.items() if pieces]
    if len(names) == 1 and _S.HISTORY not in names and not context.rules.cost_weight:
        # Nothing competes: the section has all there is, whatever its share. What a token more
        # would bring is told of the budget itself alone.
        if rung.is_last:
            points = concave_envelope(_utility(rung, names[0], sections[names[0]]))
            weight = context.weights.get(names[0].value, 0.5) / FULL
            rung.shadow_price = significant(weight * slope_at(points, ledger.room))
        rung.allocation[names[0].value] = ledger.room
        return {names[0]: ledger.room}

    envelopes: dict[SectionName, tuple[tuple[int, int], ...]] = {}
    limits_of: dict[SectionName, SectionShare] = {}
    floors = 0
    for name in names:
        points = concave_envelope(_utility(rung, name, sections[name]))
        envelopes[name] = points
        limits_of[name] = limits(rung, name)
        # No section is promised more than it could spend.
        floors += min(limits_of[name].floor, points[-1][0])

    curves: list[Section] = []
    for name, points in envelopes.items():
        curve = tuple((tokens, value / FULL) for tokens, value in points)
        share = limits_of[name]
        curves.append(
            Section(
                name.value,
                w=context.weights.get(name.value, 0.5),
                alpha=1.0,
                beta=1.0,
                t_min=min(share.floor, curve[-1][0]) if floors <= ledger.room else 0,
                t_max=min(share.ceiling, curve[-1][0]),
                cost=token_cost(name, context),
                curve=curve,
            )
        )

    answer = allocate(curves, max(0, ledger.room), mu=mu(context))
    rung.allocation.update(answer.tokens)
    rung.shadow_price = answer.shadow_price
    return {SectionName(name): tokens for name, tokens in answer.tokens.items()}


def _utility(rung: Rung, name: SectionName, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Return (tokens, value) after each item, taken in the order in which it pays most.

    The first item pays for the section's heading and frame too, so that a section which would
    be opened for little is weighed with all that it costs. Nothing can be given beyond what is
    left, so the curve ends with the first item that passes it.
    """
    if name is _S.HISTORY:
        turns = chain.from_iterable(units(pieces))
        half_life = rung.context.rules.history_full_turns
        ranked = [(piece, recency(age, half_life)) for age, piece in enumerate(turns)]
    else:
        size = rung.ledger.size
        by_density = sorted(pieces, key=lambda p: (-p.value * 1000 // max(1, size(p)), p.object_id))
        ranked = [(piece, max(1, piece.value)) for piece in by_density]

    # A ledger of its own measures what is new: what is open already costs this section nothing.
    trial = Ledger(rung.context, 0, rung.ledger.prices)
    trial.headings |= rung.ledger.headings
    trial.frames |= rung.ledger.frames
    points: list[tuple[int, int]] = []
    total = 0
    for piece, value in ranked:
        trial.take(piece)
        total += value
        points.append((-trial.room, total))
        if -trial.room > rung.ledger.room:
            break
    return points


def recency(age: int, half_life: int) -> int:
    """What a turn of an age is worth: half as much with so many turns behind it."""
    strength: float = 2.0 ** (-age / max(1, half_life))
    return round(FULL * strength)


def units(pieces: Iterable[Piece]) -> list[Unit]:
    """Return the turns newest first, those of one tool call together."""
    units: list[Unit] = []
    for piece in sorted(pieces, key=lambda p: p.key, reverse=True):
        if units and piece.pair and units[-1][-1].pair == piece.pair:
            units[-1] = (*units[-1], piece)
        else:
            units.append((piece,))
    return units
