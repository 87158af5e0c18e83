"""Choose the pieces of an envelope so that its text keeps to the budget.

Required pieces go in first. Then come the optional sections of zone 3, each under a cap that
depends neither on the query nor on history, so that a cached prefix keeps its bytes. Items above a
cap move to the turn's section of the same kind. `allocate` divides the rest of the budget between
the turn's sections by the utility of their items, frames included. Each section is filled in the
order of score x min(1, 200 / tokens), skipping what does not fit.

A larger budget never shows less: budgets of 500 tokens and each double of it are filled in turn,
and each keeps what the one below it holds. `cost_weight` is the price of a token; at 0 every token
is used that brings anything. Costs are estimates: `order` measures the text and asks again with
more `slack`. The overflow policy decides about the rest.
Checklist C-122 to C-124, C-138 to C-141, C-212 to C-217.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Final

from ...schema.compile_terms import SECTIONS, OverflowPolicy, Reason, SectionName
from ..budget.allocate import concave_envelope, divide
from ..budget.profiles import SectionShare
from ..ir.context import CompileContext
from ..ir.records import Piece, Short
from ..text.relevance import FULL, terms_of
from ..tokens.capabilities import capability
from ..tokens.counting import room_of, size_of
from .ledger import Drop, Ledger, Place, Prices, Rung, Unit, is_vital, is_wanted
from .shorten import excerpt, fold, may_be_cut, tabulate

THOUSAND: Final = 1000

MILLION: Final = 1_000_000

_S: Final = SectionName

TURN_TWIN: Final = {
    SectionName.GUIDANCE: SectionName.TURN_GUIDANCE,
    SectionName.MEMORY: SectionName.TURN_MEMORY,
}
"""By cached section: the one of the turn that takes what its cap leaves out."""

STABLE: Final = (_S.TOOLS, _S.GUIDANCE, _S.MEMORY, _S.PINNED_KNOWLEDGE)
"""Cached sections with items that may stay out."""
TURN: Final = (_S.HISTORY, _S.EVIDENCE, _S.TURN_MEMORY, _S.ERRORS, _S.TURN_GUIDANCE)

_FIRST_RUNG: Final = 500
"""Tokens of the smallest budget that larger ones build on."""

_FEW: Final = 64
"""Pieces of a section that compete whatever the budget is."""

_SURPLUS: Final = 2
"""How many times a budget the pieces that compete for it may fill."""

_BEST_HITS: Final = 3
"""Pieces of evidence that are never left out for their length."""

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

        # What the turn showed must not decide what is in a cached zone.
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
    # Whatever a cap or a price has left out is among the drops.
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
    sections = _take_best_hits(rung, sections)
    waiting: list[Unit] = []
    placed_ids: set[int] = set()
    vital_room = page // 2
    history_ends = False
    for unit in _queue(rung, sections, base):
        if id(unit[0]) in placed_ids:
            continue
        section = unit[0].section
        known = unit[0].object_id in base
        if not known and section is not _S.HISTORY and not rung.ledger.may_hold(unit[0]):
            waiting.append(unit)
            continue

        missing = _missing(unit, placed_ids)
        cost = rung.ledger.total(missing)
        usage = rung.ledger.spending.get(section, 0) - before.get(section, 0)
        may_enter = known or cost <= shares.get(section, 0) - usage
        # An allergy must be shown before a dinner is planned, however low its score. Half of the
        # turn stays for the rest.
        if is_vital(unit[0]) and cost <= vital_room:
            vital_room -= cost
            may_enter = True
        if section is _S.HISTORY:
            history_ends = history_ends or not may_enter or cost > rung.ledger.room
            may_enter = not history_ends

        if may_enter and cost <= rung.ledger.room:
            rung.take(missing)
            placed_ids.update(map(id, missing))
        elif not known or not _shorten(rung, unit[0], room=2 * base[unit[0].object_id]):
            waiting.append(unit)

    remainder: list[Piece] = []
    for unit in waiting:
        missing = _missing(unit, placed_ids)
        if unit[0].section is _S.HISTORY:
            remainder += unit
        elif id(unit[0]) in placed_ids:
            continue
        elif rung.holds(missing):
            rung.take(missing)
            placed_ids.update(map(id, missing))
        else:
            remainder.append(unit[0])
    # The best first: what is left of the room goes to an excerpt of one of them.
    _overflow(rung, remainder + surplus, shares, page)


def _missing(unit: Unit, placed_ids: Container[int]) -> Unit:
    """The pieces of a unit that are not in yet: a way may lead to several facts."""
    return tuple(piece for piece in unit if id(piece) not in placed_ids)


def _take_best_hits(
    rung: Rung, sections: Mapping[SectionName, Sequence[Piece]]
) -> dict[SectionName, list[Piece]]:
    """Take the best hits of the evidence whatever their length; return what else competes.

    Together they may take half of the section. One that does not fit is quoted: its best sentences
    in the third of the section that quotes share.
    """
    evidence: list[Piece] = []
    for piece in sections.get(_S.EVIDENCE, ()):
        # What the request brings has forms of its own in which it may fit.
        is_stored = piece.candidate is not None and piece.candidate.version is not None
        if piece.relevance and is_stored:
            evidence.append(piece)
    best = sorted(evidence, key=lambda piece: (-piece.relevance, piece.object_id))[:_BEST_HITS]
    section = min(limits(rung, _S.EVIDENCE).ceiling, rung.ledger.room)
    whole, quotes = section // 2, section // 3
    taken: set[int] = set()
    for piece in best:
        cost = rung.ledger.cost(piece)
        if cost <= whole:
            rung.take((piece,))
            whole -= cost
            taken.add(id(piece))
            continue

        room = rung.ledger.room
        if _shorten(rung, piece, room=quotes):
            quotes -= room - rung.ledger.room
            taken.add(id(piece))
    contenders: dict[SectionName, list[Piece]] = {}
    for name, pieces in sections.items():
        contenders[name] = [piece for piece in pieces if id(piece) not in taken]
    return contenders


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

    What comes after so many better ones is never shown, and pricing it is what a fit takes
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
    so many turns. A linked fact is one unit with the facts that lead to it.
    """
    half_life = rung.context.rules.history_full_turns
    entries: list[tuple[Place, Unit]] = []
    for age, unit in enumerate(units(sections.get(_S.HISTORY, ()))):
        entries.append(((True, -recency(age, half_life), ""), unit))

    late_ids = _late_ids(rung, sections.get(_S.EVIDENCE, ()))
    by_id = {piece.object_id: piece for piece in chain.from_iterable(sections.values())}
    for name, pieces in sections.items():
        if name is _S.HISTORY:
            continue
        for piece in pieces:
            place = rung.ledger.place(piece)
            if piece.object_id in late_ids:
                place = (place[0], 0, place[2])
            links = piece.candidate.way if piece.candidate is not None else ()
            entries.append((place, (piece, *filter(None, map(by_id.get, links)))))

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
    """Return the evidence that waits for the rest, where the policy wants it to be various.

    Maximal marginal relevance (Carbonell, Goldstein 1998): each choice weighs its worth against
    its likeness to the nearest chosen one.
    """
    rules = rung.context.rules
    if rules.evidence_selection != "mmr" or not pieces:
        return frozenset()

    # Only the best compete, because every pair of them is compared.
    by_worth = sorted(pieces, key=lambda piece: (-piece.value, piece.object_id))
    waiting = {piece.object_id: piece for piece in by_worth[: rules.mmr_items]}
    words = {object_id: terms_of(piece.text) for object_id, piece in waiting.items()}
    likeness = dict.fromkeys(waiting, 0)
    share = round(1000 * rules.mmr_relevance)

    def loss(object_id: str) -> tuple[int, str]:
        worth = share * max(1, waiting[object_id].value)
        return (1000 - share) * likeness[object_id] - worth, object_id

    # What the pieces share is paid before any of them: heading, boundary, days and sources.
    room = rung.ledger.room - rung.ledger.total(pieces) + sum(map(rung.ledger.size, pieces))
    picked_ids: set[str] = set()
    while waiting:
        piece = waiting.pop(min(waiting, key=loss))
        if rung.ledger.size(piece) > room:
            continue
        room -= rung.ledger.size(piece)
        picked_ids.add(piece.object_id)
        for other in waiting:
            union = len(words[piece.object_id] | words[other])
            common = len(words[piece.object_id] & words[other])
            nearness = FULL * common // union if union else FULL
            likeness[other] = max(likeness[other], nearness)
    return frozenset(piece.object_id for piece in pieces).difference(picked_ids)


def _overflow(
    rung: Rung, waiting: Sequence[Piece], shares: Mapping[SectionName, int], page: int
) -> None:
    """Shorten or drop what did not fit, as the policy says."""
    policy = overflow_of(rung.context)
    if policy is OverflowPolicy.CASCADE_COMPRESS:
        waiting = _compress(rung, waiting)

    # Only the last rung, the budget itself, says why something stays out.
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
    if short is None and (piece.alone or piece.shared):
        short = excerpt(piece, room=room, context=context, envelope_statements=rung.statements())
    if short is None or not rung.fits(short.piece):
        return False
    ledger.take(short.piece)
    rung.shorts.append(short)
    return True


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


def limits(rung: Rung, section: SectionName) -> SectionShare:
    """Return the fewest and the most tokens of a section."""
    share = rung.context.shares.get(section.value, SectionShare(0, 1000))
    cap = -(-rung.budget * share.ceiling // 1000)
    cap = min(cap, dict(rung.context.rules.section_tokens).get(section.value, cap))
    return SectionShare(min(cap, rung.budget * share.floor // 1000), cap)


def rations(rung: Rung, sections: Mapping[SectionName, Sequence[Piece]]) -> dict[SectionName, int]:
    """Return the tokens of each section."""
    ledger, context = rung.ledger, rung.context
    names = [name for name, pieces in sections.items() if pieces]
    curves: dict[str, list[tuple[int, float]]] = {}
    bounds: dict[str, tuple[int, int]] = {}
    for name in names:
        weight = context.weights.get(name.value, 0.5) / FULL
        price = mu(context) * token_cost(name, context)
        points = concave_envelope(_utility(rung, name, sections[name]))
        curves[name.value] = [(size, weight * value - price * size) for size, value in points]
        share = limits(rung, name)
        bounds[name.value] = share.floor, share.ceiling

    tokens, shadow_price = divide(curves, bounds, max(0, ledger.room))
    rung.allocation.update(dict(sorted(tokens.items())))
    rung.shadow_price = shadow_price
    return {SectionName(name): count for name, count in tokens.items()}


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
    """Return the turns newest first, the calls of a step together with all their results."""
    units: list[Unit] = []
    for piece in sorted(pieces, key=lambda p: p.key, reverse=True):
        next_turn = units[-1][-1] if units else None
        # Results follow their calls, so a result before a call ends an earlier step.
        is_same_step = next_turn is not None and piece.pair and next_turn.pair
        if (
            next_turn is not None
            and is_same_step
            and (next_turn.scheme == "tool" or piece.scheme != "tool")
        ):
            units[-1] = (*units[-1], piece)
        else:
            units.append((piece,))
    return units


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
