"""Reconciliation on write: the pure planner of a slot's timeline.

Per valid instant, among the live claims that cover it, the one with the greatest key is
shown. The key belongs to the claim, never to a piece, so plain asserts and denials commute.
Equal greatest keys with different values tie: both are excluded on the intersection, and
nothing weaker takes their place.

`plan` recomputes the timeline inside the written interval and diffs it against the stored
rows: splitting, truncating, reviving after a bounded exception and several incumbents all
fall out of that. The Allen relation only labels the decision. Invariants: the rows of a claim
never overlap; an unchanged row is left alone; a stronger level is never withdrawn.

>>> from ..schema.vocabulary import Op
>>> def says(id, value, start, end, tx, level=2):
...     return Claim(object_id=id, slot_key="s", op=Op.ASSERT, value_key=value, level=level,
...                  interval=Interval(start, end), since_us=start, source_authority=800,
...                  confidence=800, tx=tx, ordinal=0)
>>> rows = fold([says("a", "standard", 10, 99, 1), says("b", "premium", 15, 99, 2)])
>>> [(r.claim.value_key, r.interval.start_us, r.look.status.value) for r in rows]
[('standard', 10, 'clean'), ('standard', 15, 'overridden'), ('premium', 15, 'clean')]

Sources: DESIGN 3; bitemporal 2 and 3; checklist C-060, C-066 to C-073; rules R7, R10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from ..schema.claim import SHOWN, Claim, Edge, Key, Look, Row
from ..schema.interval import Interval, relation
from ..schema.vocabulary import EdgeKind, Op, Outcome, Status, Verdict
from ..schema.write import RelationMet

Reach = Callable[[Claim, Claim], bool]
"""Whether a withdrawal may act on a stored claim: slots of a cluster differ over time."""

TIED: Final = Look(Status.DISPUTED, "unresolved_tie", True)
DENIED: Final = Look(Status.OVERRIDDEN, "denied", True)
IN_FORCE: Final = Look(Status.CLEAN, "denial", True)
IDLE: Final = Look(Status.CLEAN, "denial", False)
_REASON_OF_VERB: Final = {
    Op.CORRECT: "declared_correction",
    Op.RETRACT: "retracted",
    Op.DELETE: "deleted",
}


class Tie(NamedTuple):
    """Claims that exclude each other on an interval."""

    interval: Interval
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one write does to a slot."""

    close: tuple[Row, ...]
    insert: tuple[Row, ...]
    relations: tuple[RelationMet, ...]
    edges: tuple[Edge, ...]
    ties: tuple[Tie, ...]
    """Ties that the write made."""
    outcome: Outcome


class _Piece(NamedTuple):
    claim: Claim
    interval: Interval
    look: Look


class _Cell(NamedTuple):
    """A stretch of valid time inside which nothing changes."""

    interval: Interval
    looks: tuple[tuple[Claim, Look], ...]


def _everywhere(_withdrawal: Claim, _claim: Claim) -> bool:
    return True


def plan(
    rows: Sequence[Row], new: Claim, *, many: bool = False, reach: Reach = _everywhere
) -> Plan:
    """Return what a claim does to the open rows of its slot.

    `rows` are the open rows that overlap the claim's interval, in any order: all of them for
    `correct`, `retract` and `delete`, else at least the heads and the denials. Rows of
    quarantined claims take no part. `many` is the slot's cardinality. The new rows carry the
    claim's stamp and no vid.
    """
    met = [
        row
        for row in rows
        if row.interval.overlaps(new.interval) and row.look.status is not Status.QUARANTINED
    ]
    kept = [row for row in met if not _withdrawn(new, row.claim, many, reach)]
    adds = new.op is not Op.RETRACT and not (many and new.says_nothing)
    cells = _cells(kept, new, adds=adds, many=many)
    close, insert = _diff(met, cells, new)
    relations = tuple(_relation(row, new, many, reach) for row in sorted(met, key=_place))
    return Plan(
        close=tuple(close),
        insert=tuple(insert),
        relations=relations,
        edges=tuple(_edges(zip(sorted(met, key=_place), relations, strict=True), new)),
        ties=_new_ties(met, cells),
        outcome=_outcome(met, kept, cells, new, adds=adds, many=many),
    )


def fold(
    claims: Iterable[Claim], *, many: bool = False, reach: Reach = _everywhere
) -> tuple[Row, ...]:
    """Return the open rows that a slot has after its claims, planned in order of writing.

    The rows have no vid and the stamp of the claim that last shaped them. Erase, merge and
    un-merge use this, because a dominated claim has no row to come back from (settled 5).
    """
    rows: tuple[Row, ...] = ()
    for claim in sorted(claims, key=lambda c: c.order):
        rows = applied(rows, plan(rows, claim, many=many, reach=reach))
    return tuple(sorted(rows, key=_place))


def applied(rows: Sequence[Row], done: Plan) -> tuple[Row, ...]:
    """Return the open rows after a plan."""
    closed = {id(row) for row in done.close}
    return (*(row for row in rows if id(row) not in closed), *done.insert)


def net(before: Sequence[Row], after: Sequence[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the rows to close and to insert between two states of a slot.

    A row that says the same in both states stays as it is, so a row that was opened and
    replaced under one stamp is never written.
    """
    had, has = {row.same for row in before}, {row.same for row in after}
    close = tuple(row for row in before if row.same not in has)
    insert = tuple(sorted((row for row in after if row.same not in had), key=_place))
    return close, insert


def ties_of(rows: Iterable[Row]) -> tuple[Tie, ...]:
    """Return the ties that stand in a slot, in order of valid time."""
    tied = [row for row in rows if row.look == TIED]
    points = sorted({p for r in tied for p in (r.interval.start_us, r.interval.end_us)})
    found = []
    for start, end in pairwise(points):
        members = tuple(sorted(r.claim.object_id for r in tied if start in r.interval))
        if len(members) > 1:
            found.append(Tie(Interval(start, end), members))
    return _joined(found)


def resolve(alive: Iterable[Claim]) -> tuple[tuple[Claim, Look], ...]:
    """Return how the claims covering one instant look, of one value on a `many` slot.

    Of claims that say the same only the strongest counts; the others get no look. Of several
    denials of a value the strongest decides, whatever the order of arrival.
    """
    best = _strongest(alive)
    positive = [c for (denies, _), c in best.items() if not denies]
    top = max((c.key for c in positive), default=None)
    lead = [c for c in positive if c.key == top]
    foe = _foe(best, lead)
    heads = _heads(lead, foe)
    looks = [(c, look) for c, look in heads.items()]
    for c in best.values():
        if c not in heads:
            looks.append((c, _hidden(c, lead, top)))
    return tuple(looks)


def _strongest(alive: Iterable[Claim]) -> dict[tuple[bool, str], Claim]:
    best: dict[tuple[bool, str], Claim] = {}
    for c in sorted(alive, key=lambda c: c.object_id):
        said = (c.op is Op.DENY, c.value_key)
        if said not in best or c.key > best[said].key:
            best[said] = c
    return best


def _foe(best: dict[tuple[bool, str], Claim], lead: list[Claim]) -> Claim | None:
    """Return the denial that reaches the one leading value, if there is one."""
    if len(lead) != 1 or lead[0].says_nothing:
        return None
    foe = best.get((True, lead[0].value_key))
    return foe if foe and foe.key >= lead[0].key else None


def _heads(lead: list[Claim], foe: Claim | None) -> dict[Claim, Look]:
    if foe and foe.key > lead[0].key:
        return {lead[0]: DENIED, foe: IN_FORCE}
    if foe or len(lead) > 1:
        return dict.fromkeys((*lead, *((foe,) if foe else ())), TIED)
    return dict.fromkeys(lead, SHOWN)


def _hidden(c: Claim, lead: list[Claim], top: Key | None) -> Look:
    if c.op is Op.DENY and not (len(lead) == 1 and lead[0].value_key == c.value_key):
        return IDLE
    assert top is not None  # a claim that is no idle denial is hidden by a positive one
    return _loses(c, top)


def _loses(c: Claim, top: Key) -> Look:
    if -c.level != top.strength:
        return Look(Status.OVERRIDDEN, "lower_authority", False)
    if c.since_us != top.since_us:
        return Look(Status.OVERRIDDEN, "newer_valid_from", False)
    return Look(Status.DISPUTED, "lower_trust", False)


def _named(new: Claim, stored: Claim, many: bool, reach: Reach) -> bool:
    """Tell whether the verb of a withdrawal names a stored claim, level apart."""
    if not new.op.withdraws or not reach(new, stored):
        return False
    if new.target is not None:
        return stored.object_id == new.target
    if new.op is Op.RETRACT or (many and not new.says_nothing):
        return stored.value_key == new.value_key
    return True


def _withdrawn(new: Claim, stored: Claim, many: bool, reach: Reach) -> bool:
    return stored.level >= new.level and _named(new, stored, many, reach)


def _cells(kept: Sequence[Row], new: Claim, *, adds: bool, many: bool) -> tuple[_Cell, ...]:
    span = new.interval
    live = [(r.claim, r.interval.intersection(span)) for r in kept]
    pieces = [(c, piece) for c, piece in live if piece is not None]
    if adds:
        pieces.append((new, span))
    points = {span.start_us, span.end_us}
    points.update(t for _, piece in pieces for t in (piece.start_us, piece.end_us))
    return tuple(
        _Cell(Interval(start, end), _resolve_cell([c for c, p in pieces if start in p], many))
        for start, end in pairwise(sorted(points))
    )


def _resolve_cell(alive: list[Claim], many: bool) -> tuple[tuple[Claim, Look], ...]:
    if not many:
        return resolve(alive)
    values = sorted({c.value_key for c in alive})
    return tuple(
        look for value in values for look in resolve(c for c in alive if c.value_key == value)
    )


def _pieces(cells: Iterable[_Cell]) -> dict[str, list[_Piece]]:
    """Join neighbouring cells in which a claim looks the same."""
    want: dict[str, list[_Piece]] = {}
    for cell in cells:
        for claim, look in cell.looks:
            mine = want.setdefault(claim.object_id, [])
            if (
                mine
                and mine[-1].interval.end_us == cell.interval.start_us
                and mine[-1].look == look
            ):
                mine[-1] = _Piece(
                    claim, Interval(mine[-1].interval.start_us, cell.interval.end_us), look
                )
            else:
                mine.append(_Piece(claim, cell.interval, look))
    return want


def _diff(met: Sequence[Row], cells: tuple[_Cell, ...], new: Claim) -> tuple[list[Row], list[Row]]:
    want, span = _pieces(cells), new.interval
    close: list[Row] = []
    insert = [Row(0, p.claim, p.interval, p.look, new.tx) for p in want.get(new.object_id, ())]
    for row in met:
        inner = row.interval.intersection(span)
        assert inner is not None  # met rows overlap the span
        mine = [
            (cut, piece.look)
            for piece in want.get(row.claim.object_id, ())
            if (cut := piece.interval.intersection(inner)) is not None
        ]
        if mine == [(inner, row.look)]:
            continue
        close.append(row)
        insert += [
            Row(0, row.claim, interval, look, new.tx, continues=row.vid or None)
            for interval, look in (*_outside(row, span), *mine)
        ]
    return close, sorted(insert, key=_place)


def _outside(row: Row, span: Interval) -> list[tuple[Interval, Look]]:
    rest = []
    if row.interval.start_us < span.start_us:
        rest.append((Interval(row.interval.start_us, span.start_us), row.look))
    if span.end_us < row.interval.end_us:
        rest.append((Interval(span.end_us, row.interval.end_us), row.look))
    return rest


def _place(row: Row) -> tuple[int, int, int, str]:
    return (row.interval.start_us, *row.claim.order, row.claim.object_id)


def _relation(row: Row, new: Claim, many: bool, reach: Reach) -> RelationMet:
    both = row.interval.intersection(new.interval)
    assert both is not None  # met rows overlap
    verdict, reason = _verdict(row.claim, new, many, reach)
    return RelationMet(
        object_id=row.claim.object_id,
        relation=relation(row.interval, new.interval).value,
        verdict=verdict,
        reason=reason,
        interval=both,
    )


def _verdict(stored: Claim, new: Claim, many: bool, reach: Reach) -> tuple[Verdict, str]:
    """Return how the incoming claim fares against one stored claim, and why."""
    said = (stored.op is Op.DENY, stored.value_key) == (new.op is Op.DENY, new.value_key)
    if _named(new, stored, many, reach):
        if stored.level < new.level:
            return Verdict.LOSES, "weaker_authority"
        restated = said and new.op is Op.CORRECT
        return (Verdict.CONFIRMS if restated else Verdict.WINS), _REASON_OF_VERB[new.op]
    if new.op is Op.RETRACT or new.target is not None:
        return Verdict.APART, ""
    if said:
        return Verdict.CONFIRMS, ""
    denial = Op.DENY in (stored.op, new.op)
    if stored.value_key != new.value_key and (denial or many):
        return Verdict.APART, ""
    return _contest(stored, new, denial)


def _contest(stored: Claim, new: Claim, denial: bool) -> tuple[Verdict, str]:
    if stored.key == new.key:
        return Verdict.TIES, "unresolved_tie"
    wins = new.key > stored.key
    loser, winner = (stored, new) if wins else (new, stored)
    reason = "denied" if denial and winner.op is Op.DENY else _loses(loser, winner.key).reason
    return (Verdict.WINS if wins else Verdict.LOSES), reason


def _edges(met: Iterable[tuple[Row, RelationMet]], new: Claim) -> Iterable[Edge]:
    for row, found in met:
        kind = _EDGE_OF.get(found.verdict)
        withdrawn = found.reason in _REASON_OF_VERB.values()
        if kind is None or not (row.look.head or withdrawn):
            continue
        if withdrawn:
            kind = EdgeKind.SUPERSEDES
        mine, other = new.object_id, row.claim.object_id
        src, dst = (other, mine) if kind is EdgeKind.OVERRIDES else (mine, other)
        yield Edge(
            kind=kind,
            src=src,
            dst=dst,
            interval=found.interval,
            reason=found.reason,
            relation=found.relation,
            tx=new.tx,
        )


_EDGE_OF: Final = {
    Verdict.WINS: EdgeKind.SUPERSEDES,
    Verdict.LOSES: EdgeKind.OVERRIDES,
    Verdict.TIES: EdgeKind.CONFLICTS_WITH,
    Verdict.CONFIRMS: EdgeKind.CONFIRMS,
}


def _new_ties(met: Sequence[Row], cells: tuple[_Cell, ...]) -> tuple[Tie, ...]:
    before = ties_of(met)
    found = []
    for cell in cells:
        members = tuple(sorted(c.object_id for c, look in cell.looks if look == TIED))
        known = any(t.members == members and cell.interval.overlaps(t.interval) for t in before)
        if members and not known:
            found.append(Tie(cell.interval, members))
    return _joined(found)


def _joined(ties: Iterable[Tie]) -> tuple[Tie, ...]:
    joined: list[Tie] = []
    for tie in ties:
        last = joined[-1] if joined else None
        if last and last.members == tie.members and last.interval.end_us == tie.interval.start_us:
            joined[-1] = Tie(Interval(last.interval.start_us, tie.interval.end_us), tie.members)
        else:
            joined.append(tie)
    return tuple(joined)


def _outcome(
    met: Sequence[Row],
    kept: Sequence[Row],
    cells: tuple[_Cell, ...],
    new: Claim,
    *,
    adds: bool,
    many: bool,
) -> Outcome:
    blocked = any(
        row.claim.level < new.level and _named(new, row.claim, many, _everywhere) for row in kept
    )
    if not adds:
        if not blocked:
            return Outcome.ACCEPTED
        return Outcome.REFUSED if len(kept) == len(met) else Outcome.CLIPPED
    looks = [_look_of(cell, new) for cell in cells]
    hidden = [look.status is Status.OVERRIDDEN for look in looks]
    if any(look.status is Status.DISPUTED for look in looks):
        return Outcome.DISPUTED
    if all(hidden):
        return Outcome.REFUSED if new.op.withdraws else Outcome.OVERRIDDEN
    if any(hidden):
        return Outcome.CLIPPED
    return Outcome.CONFIRMED if _was_shown(met, cells, new) else Outcome.ACCEPTED


def _look_of(cell: _Cell, new: Claim) -> Look:
    """Return how what the claim says looks in a cell, whichever claim says it."""
    said = (new.op is Op.DENY, new.value_key)
    return next(look for c, look in cell.looks if (c.op is Op.DENY, c.value_key) == said)


def _was_shown(met: Sequence[Row], cells: tuple[_Cell, ...], new: Claim) -> bool:
    """Tell whether the same was in force before the write on its whole interval."""
    same = [
        row
        for row in met
        if row.look.status is Status.CLEAN
        and (row.claim.op is Op.DENY, row.claim.value_key) == (new.op is Op.DENY, new.value_key)
    ]
    return all(any(cell.interval.start_us in row.interval for row in same) for cell in cells)
