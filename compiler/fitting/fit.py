"""Fitting: which pieces go in, so that the text keeps to its budget.

Required pieces go in first. Then the optional sections of zone 3, each under a cap that looks
neither at the query nor at history, so that a cached prefix keeps its bytes. The rest of the
budget is divided between the turn's sections by `allocate`, over the utility curves that their
items really have, frames included. Inside its share, and afterwards in whatever is left, every
section is filled by one order: score x min(1, 200 / tokens), best first, passing over what does
not fit. A long text must be worth it, and many short empty turns do not go before a telling one.

A larger budget never shows less. The same is done on a ladder of budgets, 500 tokens and each
double of it: what the budget below holds goes in before anything else. Where the budget itself
holds everything, there is nothing to build on.

Costs are estimates of the parts; `order` measures the assembled text and asks again with more
`slack`. What happens to the rest depends on the overflow policy. Checklist C-123, C-124, C-138
to C-141, C-212 to C-217.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Final

from ...schema.compile_terms import OverflowPolicy, Reason, SectionName
from ..budget.diversity import mmr
from ..budget.items import Item
from ..ir.context import CompileContext
from ..ir.piece import Piece, Short
from ..text.relevance import FULL, terms_of
from ..tokens.counting import room_of, size_of
from .ledger import Drop, Ledger, Place, Prices, Rung, Unit, is_vital, is_wanted
from .offers import TURN_TWIN, moved_to_turn
from .price import worth_its_price
from .rations import limits, rations, recency, units
from .shorten import excerpt, fold
from .tabulate import may_be_cut, tabulate

_S: Final = SectionName
STABLE: Final = (_S.TOOLS, _S.GUIDANCE, _S.MEMORY, _S.PINNED_KNOWLEDGE)
"""Cached sections with items that may stay out."""
TURN: Final = (_S.HISTORY, _S.EVIDENCE, _S.TURN_MEMORY, _S.ERRORS, _S.TURN_GUIDANCE)

_FIRST_RUNG: Final = 500
"""Tokens of the smallest budget that larger ones build on."""

_FEW: Final = 64
"""Pieces of a section that compete whatever the budget is."""

_SURPLUS: Final = 2
"""How many times a budget the pieces that compete for it may fill."""

_LEAST_EXCERPT: Final = 24
"""Tokens below which an excerpt says nothing."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The pieces that go in, and those that do not."""

    pieces: Sequence[Piece]
    drops: Sequence[Drop] = ()
    shorts: Sequence[Short] = ()
    allocation: Mapping[str, int] = field(default_factory=dict[str, int])
    shadow_price: float = 0.0


def fit(pieces: Sequence[Piece], context: CompileContext, *, slack: int, tight: bool) -> Fit:
    """Return the pieces that fit the budget less a slack.

    The slack falls on the turn; `tight` lets it fall on zone 3 too, when the turn has nothing
    left to give.
    """
    in_order = sorted(pieces, key=lambda piece: (piece.section, piece.key))
    essentials = [piece for piece in in_order if piece.required]
    loose: dict[SectionName, list[Piece]] = {}
    for piece in in_order:
        if not piece.required:
            loose.setdefault(piece.section, []).append(piece)

    prices = Prices(context)
    trial = Rung(Ledger(context, context.budget, prices), context.budget)
    if _holds_all(trial, essentials, loose, slack) and len(trial.ledger.pieces) == len(pieces):
        return Fit(trial.ledger.pieces)

    base: Mapping[str, int] = {}
    stable_base: Mapping[str, int] = {}
    for budget in _ladder(context.budget):
        rung = Rung(Ledger(context, budget, prices), budget)
        for piece in essentials:
            rung.ledger.take(piece)

        last = rung.is_last
        if rung.ledger.room <= 0 and not last:
            continue
        stable_slack, turn_slack = (slack, 0) if tight else (0, slack)
        rung.ledger.room -= stable_slack if last else 0
        turn: dict[SectionName, list[Piece]] = {n: list(loose[n]) for n in TURN if n in loose}
        transfers: list[Piece] = []
        for section in STABLE:
            if section in loose:
                transfers += _fit_stable(rung, section, loose[section], stable_base)
        for piece in transfers:
            turn.setdefault(piece.section, []).append(piece)

        # What the turn showed must not decide what stands in a cached zone.
        stable_base = rung.sizes()
        rung.ledger.room -= turn_slack if last else 0
        _fit_turn(rung, turn, base)
        base = rung.sizes()

    # A ladder has a rung: its last is the budget itself.
    top = rung  # pyright: ignore[reportPossiblyUnboundVariable]
    return Fit(top.ledger.pieces, top.drops, top.shorts, top.allocation, top.shadow_price)


def _holds_all(
    rung: Rung,
    essentials: Sequence[Piece],
    loose: Mapping[SectionName, Sequence[Piece]],
    slack: int,
) -> bool:
    """Take all pieces, where the budget less the slack holds them and nothing has to be divided.

    Then no smaller budget has to say what goes first. False where something must stay out.
    """
    ledger = rung.ledger
    ledger.room -= slack
    if sum(map(ledger.size, chain(essentials, *loose.values()))) > ledger.room:
        return False

    for piece in essentials:
        ledger.take(piece)
    for section in STABLE:
        if section in loose and _fit_stable(rung, section, loose[section], {}):
            return False

    turn = {name: list(loose[name]) for name in TURN if name in loose}
    sections, surplus = _contenders(_worthwhile(rung, turn), rung.budget)
    # Whatever a cap or a price has left out stands among the drops.
    if surplus or rung.drops or ledger.room < 0:
        return False
    return ledger.take_together(chain.from_iterable(sections.values()))


def _ladder(budget: int) -> list[int]:
    """List the budgets that a compile goes through, its own last.

    >>> _ladder(2_500)
    [500, 1000, 2000, 2500]
    """
    rungs: list[int] = []
    rung = _FIRST_RUNG
    while rung < budget:
        rungs.append(rung)
        rung *= 2
    return [*rungs, budget]


def required_alone(pieces: Sequence[Piece], context: CompileContext) -> Fit:
    """Return the required pieces alone."""
    rung = Rung(Ledger(context, context.budget, Prices(context)), context.budget)
    for piece in sorted(pieces, key=lambda piece: (piece.section, piece.key)):
        if piece.required:
            rung.ledger.take(piece)
        else:
            rung.drop(piece, Reason.OVER_BUDGET)
    return Fit(rung.ledger.pieces, rung.drops)


def _fit_stable(
    rung: Rung, section: SectionName, pieces: Sequence[Piece], base: Mapping[str, int]
) -> list[Piece]:
    """Fill a section of zone 3 up to its cap; return what the turn may take of the rest."""
    cap = limits(rung, section).ceiling
    left = rung.ledger.room - min(cap, rung.ledger.room)
    offers: list[Piece] = []
    for piece in _by_worth(rung, pieces, base):
        cost = rung.ledger.cost(piece)
        if cost <= rung.ledger.room - left:
            rung.ledger.take(piece)
        elif section in TURN_TWIN:
            offers.append(moved_to_turn(piece, rung.context))
        elif cost > cap:
            rung.drop(piece, Reason.ITEM_LARGER_THAN_SECTION)
        else:
            rung.drop(piece, Reason.OVER_BUDGET if left == 0 else Reason.SECTION_CAP)
    return offers


def _fit_turn(rung: Rung, loose: dict[SectionName, list[Piece]], base: Mapping[str, int]) -> None:
    """Divide what is left between the sections of the turn, and fill them."""
    page = rung.ledger.room
    sections, surplus = _contenders(_worthwhile(rung, loose), rung.budget)
    if not surplus and rung.ledger.take_together(chain.from_iterable(sections.values())):
        return

    # What the smaller budget held goes first; then each section takes its share; then all
    # sections compete for what is left.
    shares = rations(rung, sections)
    before = dict(rung.ledger.spending)
    waiting: list[Unit] = []
    history_ends = False
    for unit in _queue(rung, sections, base):
        section = unit[0].section
        known = unit[0].object_id in base
        if not known and section is not _S.HISTORY and not rung.ledger.may_hold(unit[0]):
            waiting.append(unit)
            continue

        cost = rung.ledger.total(unit)
        usage = rung.ledger.spending.get(section, 0) - before.get(section, 0)
        may_enter = known or cost <= shares.get(section, 0) - usage
        # An allergy stands before a dinner is planned, however little a line of it weighs. Half of
        # the turn stays for the rest.
        if is_vital(unit[0]) and rung.ledger.room - cost >= page // 2:
            may_enter = True
        if section is _S.HISTORY:
            history_ends = history_ends or not may_enter or cost > rung.ledger.room
            may_enter = not history_ends

        if may_enter and cost <= rung.ledger.room:
            rung.take(unit)
        elif not known or not _shorten(rung, unit[0], room=2 * base[unit[0].object_id]):
            waiting.append(unit)

    remainder: list[Piece] = []
    for unit in waiting:
        if unit[0].section is not _S.HISTORY and rung.holds(unit):
            rung.take(unit)
        else:
            remainder += unit
    # The best first: what is left of the room goes to an excerpt of one of them.
    _overflow(rung, remainder + surplus, shares, page)


def _worthwhile(
    rung: Rung, loose: dict[SectionName, list[Piece]]
) -> dict[SectionName, list[Piece]]:
    """Leave out what brings less than its tokens cost; turns are never judged by that."""
    if not rung.context.rules.cost_weight:
        return loose

    worthwhile: dict[SectionName, list[Piece]] = {}
    for name, pieces in loose.items():
        worthwhile[name] = []
        for piece in pieces:
            if name is _S.HISTORY or worth_its_price(piece, rung.ledger.size, rung.context):
                worthwhile[name].append(piece)
            else:
                rung.drop(piece, Reason.BELOW_FLOOR, "cost")
    return worthwhile


def _contenders(
    loose: Mapping[SectionName, Sequence[Piece]], budget: int
) -> tuple[dict[SectionName, list[Piece]], list[Piece]]:
    """The best pieces of each section, several times what a budget holds, and the rest.

    What stands behind so many better ones is never shown, and pricing it is what a fit takes
    longest for. It hangs on the rung alone, so a larger budget goes through the same rungs.
    """
    contenders: dict[SectionName, list[Piece]] = {}
    surplus: list[Piece] = []
    for name, pieces in loose.items():
        if name is _S.HISTORY or len(pieces) <= _FEW:
            contenders[name] = list(pieces)
            continue

        room = room_of(budget, _SURPLUS)
        best: set[int] = set()
        for piece in sorted(pieces, key=lambda piece: (-piece.value, piece.object_id)):
            if room <= 0 and len(best) >= _FEW:
                break
            best.add(id(piece))
            room -= size_of(piece.text)

        contenders[name] = []
        for piece in pieces:
            competes = id(piece) in best or is_wanted(piece)
            (contenders[name] if competes else surplus).append(piece)
    return contenders, surplus


def _queue(
    rung: Rung, sections: Mapping[SectionName, Sequence[Piece]], base: Mapping[str, int]
) -> list[Unit]:
    """Return the units of all sections in the one order in which they are taken.

    Turns go by age, the newest first; each has the worth of a text whose relevance halves with
    so many turns.
    """
    half_life = rung.context.rules.history_full_turns
    entries: list[tuple[Place, Unit]] = []
    for age, unit in enumerate(units(sections.get(_S.HISTORY, ()))):
        entries.append(((True, -recency(age, half_life), ""), unit))

    late_ids = _late_ids(rung, sections.get(_S.EVIDENCE, ()))
    for name, pieces in sections.items():
        if name is _S.HISTORY:
            continue
        for piece in pieces:
            place = rung.ledger.place(piece)
            if piece.object_id in late_ids:
                place = (place[0], 0, place[2])
            entries.append((place, (piece,)))

    # What the smaller budget held goes first, each part in the same order.
    entries.sort(key=itemgetter(0))
    before: list[Unit] = []
    new: list[Unit] = []
    for _, unit in entries:
        (before if unit[0].object_id in base else new).append(unit)
    return before + new


def _by_worth(rung: Rung, pieces: Iterable[Piece], base: Mapping[str, int]) -> list[Piece]:
    place = rung.ledger.place
    return sorted(pieces, key=lambda piece: (piece.object_id not in base, place(piece)[1:]))


def _late_ids(rung: Rung, pieces: Sequence[Piece]) -> frozenset[str]:
    """Return the evidence that waits for the rest, where the policy wants it to be various."""
    rules = rung.context.rules
    if rules.evidence_selection != "mmr" or not pieces:
        return frozenset()

    # Only the best compete, because every pair of them is compared.
    items: list[Item] = []
    words: dict[str, frozenset[str]] = {}
    tokens = 0
    for piece in pieces:
        size = rung.ledger.size(piece)
        tokens += size
        items.append(Item(piece.object_id, size, max(1, piece.value)))
        words[piece.object_id] = terms_of(piece.text)
    best = sorted(items, key=lambda item: (-item.value, item.id))[: rules.mmr_items]

    def alike(left: str, right: str) -> int:
        union = len(words[left] | words[right])
        common = len(words[left] & words[right])
        return FULL * common // union if union else FULL

    # What the pieces share is paid before any of them: heading, boundary, days and sources.
    frames = rung.ledger.total(pieces) - tokens
    room = max(0, rung.ledger.room - frames)
    picks = mmr(best, alike, room, relevance_permille=round(1000 * rules.mmr_relevance))
    return frozenset(words).difference(picks.ids)


def _overflow(
    rung: Rung, waiting: Sequence[Piece], shares: Mapping[SectionName, int], page: int
) -> None:
    """Shorten or drop what did not fit, as the policy says."""
    policy = overflow_of(rung.context)
    if policy is OverflowPolicy.CASCADE_COMPRESS:
        waiting = _compress(rung, waiting)

    # Why something stays out is told of the budget itself alone.
    for piece in waiting if rung.is_last else ():
        reason = Reason.OVER_BUDGET if shares.get(piece.section) else Reason.SECTION_DROPPED
        if policy is OverflowPolicy.PAGINATE:
            larger = rung.ledger.cost(piece) > page
            reason = Reason.ITEM_LARGER_THAN_SECTION if larger else Reason.NEXT_PAGE
        elif policy is OverflowPolicy.DEFER_RETRIEVAL and piece.section is _S.EVIDENCE:
            reason = Reason.RETRIEVAL_DEFERRED
        rung.drop(piece, reason)


def overflow_of(context: CompileContext) -> OverflowPolicy:
    """Return the overflow policy: a safety-critical pack fails loud (C-139)."""
    rules = context.rules
    return OverflowPolicy.FAIL_LOUD if rules.safety_critical else OverflowPolicy(rules.overflow)


def _compress(rung: Rung, waiting: Sequence[Piece]) -> list[Piece]:
    """Take shorter forms of what did not fit: folded turns, then excerpts of texts."""
    ledger, context = rung.ledger, rung.context

    # Turns first: one block holds them all, while each excerpt pays for a frame of its own.
    turns = [piece for piece in waiting if piece.section is _S.HISTORY]
    short = fold(turns, room=ledger.room, counter=context.counter)
    shortened_ids: set[str] = set()
    if short is not None and rung.fits(short.piece):
        ledger.take(short.piece)
        rung.shorts.append(short)
        shortened_ids.update(short.object_ids)

    for piece in waiting:
        if ledger.room < _LEAST_EXCERPT:
            break
        if piece.section is not _S.HISTORY and _shorten(rung, piece, room=ledger.room):
            shortened_ids.add(piece.object_id)
    return [piece for piece in waiting if piece.object_id not in shortened_ids]


def _shorten(rung: Rung, piece: Piece, *, room: int) -> bool:
    """Take the best part of a piece that a room holds; say whether there is one."""
    ledger, context = rung.ledger, rung.context
    if min(room, ledger.room) < _LEAST_EXCERPT or not may_be_cut(piece):
        return False

    # A shorter form opens the same heading, block and row as the whole would.
    frames = ledger.cost(piece) - context.counter.upper_bound(piece.text)
    room = min(room, ledger.room) - frames
    if room < _LEAST_EXCERPT:
        return False

    short = tabulate(piece, room=room, context=context)
    if short is None and piece.alone:
        short = excerpt(piece, room=room, context=context, envelope_statements=rung.statements())
    if short is None or not rung.fits(short.piece):
        return False
    ledger.take(short.piece)
    rung.shorts.append(short)
    return True
