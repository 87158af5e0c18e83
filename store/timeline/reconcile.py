"""Reconciliation on write: the pure planner of a slot's timeline.

Per valid instant, among the live claims that cover it, the one with the greatest key is
shown. The key belongs to the claim, never to a piece, so plain asserts and denials commute.
Equal greatest keys with different values tie: both are excluded on the intersection, and
nothing weaker takes their place.

`plan` recomputes the timeline inside the written interval and diffs it against the stored
rows: splitting, truncating, reviving after a bounded exception and several incumbents all
fall out of that. The Allen relation only labels the decision. Invariants: the rows of a claim
never overlap; an unchanged row is left alone; a stronger level is never withdrawn.

>>> from ...schema.vocabulary import Op
>>> def says(id, value, start, end, tx, level=2):
...     return Claim(object_id=id, slot_key="s", op=Op.ASSERT, value_key=value, level=level,
...                  interval=Interval(start, end), since_us=start, source_authority=800,
...                  confidence=800, tx=tx, ordinal=0)
>>> rows = fold([says("a", "standard", 10, 99, 1), says("b", "premium", 15, 99, 2)])
>>> [(r.claim.value_key, r.interval.start_us, r.look.status.value) for r in rows]
[('standard', 10, 'clean'), ('standard', 15, 'overridden'), ('premium', 15, 'clean')]

Checklist: C-060, C-066 to C-073.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from ...schema.claim import Claim, Edge, Look, Row
from ...schema.errors import Fault
from ...schema.interval import Interval, relation
from ...schema.vocabulary import ClaimVerdict, EdgeKind, Op, Outcome, Status
from ...schema.write import RelationMet
from .rule import (
    DENIED_HEAD,
    DOMINATED_ROW,
    IDLE,
    IN_FORCE,
    TIED_HEAD,
    Reach,
    acts_on_own_value,
    adds,
    everywhere,
    looks,
    loses,
    named,
    withdrawn,
)

__all__ = [
    "DENIED_HEAD",
    "IDLE",
    "IN_FORCE",
    "TIED_HEAD",
    "Plan",
    "Reach",
    "Tie",
    "fold",
    "net",
    "plan",
    "rows_after",
    "ties_of",
    "was_tied",
]

_ROW_KEY: Final = attrgetter("row_key")
_REASON_OF_VERB: Final = {
    Op.CORRECT: "declared_correction",
    Op.RETRACT: "retracted",
    Op.DELETE: "deleted",
}
_REASONS: Final = frozenset(_REASON_OF_VERB.values())

_EDGE_OF: Final = {
    ClaimVerdict.WINS: EdgeKind.SUPERSEDES,
    ClaimVerdict.LOSES: EdgeKind.OVERRIDES,
    ClaimVerdict.TIES: EdgeKind.CONFLICTS_WITH,
    ClaimVerdict.CONFIRMS: EdgeKind.CONFIRMS,
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
    withdrew: tuple[Row, ...] = ()
    """Rows of a later start that were shown, and that a correction took back."""


class _Span(NamedTuple):
    """A piece of a claim's live portion."""

    start: int
    end: int
    claim: Claim


class _Cell(NamedTuple):
    """A stretch of valid time inside which nothing changes."""

    start: int
    end: int
    looks: list[tuple[Claim, Look]]


class _Work(NamedTuple):
    """The timeline inside the written interval, and what it changes."""

    incumbents: list[Row]
    """The rows that take part, by place."""
    survivors: list[Row]
    """Those of them that the write does not withdraw."""
    cells: list[_Cell]
    close: list[Row]
    insert: list[Row]
    """Dominated pieces among them, which no store keeps."""


def plan(rows: Sequence[Row], new: Claim, *, many: bool = False, reach: Reach = everywhere) -> Plan:
    """Return what a claim does to the open rows of its slot.

    `rows` are the open rows that overlap the claim's interval, in any order: all of them for
    `correct`, `retract` and `delete`, else at least the heads and the denials. Rows of
    quarantined claims take no part. `many` is the slot's cardinality. The new rows carry the
    claim's stamp and no vid.

    Raises:
        Fault: `invariant_broken` for a `delete` of a named value where a slot holds one.
    """
    work = _work_of(rows, new, many, reach)
    relations = [_relation(row, new, work.cells, many, reach) for row in work.incumbents]
    encounters = list(zip(work.incumbents, relations, strict=True))
    return Plan(
        close=tuple(work.close),
        insert=tuple(filter(_is_stored, work.insert)),
        relations=tuple(relations),
        edges=tuple(_edges(encounters, new)),
        ties=_new_ties(work, many),
        outcome=_outcome(work, new, many, reach),
        withdrew=_withdrew(work, new),
    )


def fold(
    claims: Iterable[Claim], *, many: bool = False, reach: Reach = everywhere
) -> tuple[Row, ...]:
    """Return the open rows that a slot has after its claims, planned in order of writing.

    The rows have no vid and the stamp of the claim that last shaped them. Erase, merge and
    un-merge use this, because a dominated claim has no row to come back from:
    here it keeps its place, so that a withdrawal which reaches only the stronger claim shows it.
    """
    rows_of: dict[str, tuple[Row, ...]] = {}
    for claim in sorted(claims, key=lambda c: c.order):
        value = claim.value_key if many else ""
        # A claim is planned over the rows of its value, so that a fold of many values is linear.
        if not many or acts_on_own_value(claim):
            rows = rows_of.get(value, ())
            work = _work_of(rows, claim, many, reach)
            rows_of[value] = _after(rows, work.close, work.insert)
            continue

        rows = tuple(chain.from_iterable(rows_of.values()))
        work = _work_of(rows, claim, many, reach)
        by_value: dict[str, list[Row]] = {}
        for row in _after(rows, work.close, work.insert):
            by_value.setdefault(row.claim.value_key, []).append(row)
        rows_of = {key: tuple(rows) for key, rows in by_value.items()}

    stored = filter(_is_stored, chain.from_iterable(rows_of.values()))
    return tuple(sorted(stored, key=_place))


def _is_stored(row: Row) -> bool:
    return row.look != DOMINATED_ROW


def rows_after(rows: Sequence[Row], result: Plan) -> tuple[Row, ...]:
    """Return the open rows after a plan."""
    return _after(rows, result.close, result.insert)


def _after(rows: Sequence[Row], close: Sequence[Row], insert: Sequence[Row]) -> tuple[Row, ...]:
    closed = set(map(id, close))
    return (*(row for row in rows if id(row) not in closed), *insert)


def net(before: Sequence[Row], after: Sequence[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the rows to close and to insert between two states of a slot.

    A row that says the same in both states stays as it is, so a row that was opened and
    replaced under one stamp is never written.
    """
    had, has = set(map(_ROW_KEY, before)), set(map(_ROW_KEY, after))
    close = tuple(row for row in before if row.row_key not in has)
    insert = tuple(sorted((row for row in after if row.row_key not in had), key=_place))

    return close, insert


def ties_of(rows: Iterable[Row], *, many: bool = False) -> tuple[Tie, ...]:
    """Return the ties that stand in a slot, in order of valid time."""
    rows_tied: list[Row] = []
    points: set[int] = set()
    for row in rows:
        if row.look == TIED_HEAD:
            rows_tied.append(row)
            points |= {row.interval.start_us, row.interval.end_us}

    ties: list[Tie] = []
    for start, end in pairwise(sorted(points)):
        claims = [row.claim for row in rows_tied if start in row.interval]
        ties += _ties(Interval(start, end), claims, many)

    return _join_ties(ties)


def _ties(interval: Interval, claims: Iterable[Claim], many: bool) -> Iterator[Tie]:
    """Yield the ties of a stretch: a `many` slot has one for each value."""
    groups: dict[str, list[str]] = {}
    for c in claims:
        groups.setdefault(c.value_key if many else "", []).append(c.object_id)

    for _, members in sorted(groups.items()):
        if len(members) > 1:
            yield Tie(interval, tuple(sorted(members)))


def _work_of(rows: Iterable[Row], new: Claim, many: bool, reach: Reach) -> _Work:
    if new.op is Op.DELETE and not (many or new.says_nothing):
        raise Fault(
            "a delete names a value only where a slot holds many; give it the key of no value",
            code="invariant_broken",
            object_id=new.object_id,
        )

    # What is set apart stands in nobody's way until a person lets it in.
    incumbents: list[Row] = []
    own_value = new.value_key if many and acts_on_own_value(new) else None
    for row in rows:
        if own_value is not None and row.claim.value_key != own_value:
            continue
        if row.interval.overlaps(new.interval) and row.look.status is not Status.QUARANTINED:
            incumbents.append(row)
    incumbents.sort(key=_place)
    survivors = [row for row in incumbents if not withdrawn(new, row.claim, many, reach)]
    cells = _cells(survivors, new, many)

    return _Work(incumbents, survivors, cells, *_diff(incumbents, cells, new))


def _cells(survivors: Sequence[Row], new: Claim, many: bool) -> list[_Cell]:
    """Cut the written interval at every end point and resolve each stretch."""
    first, last = new.interval.start_us, new.interval.end_us
    spans: list[_Span] = []
    for row in survivors:
        start, end = max(row.interval.start_us, first), min(row.interval.end_us, last)
        spans.append(_Span(start, end, row.claim))
    if adds(new, many):
        spans.append(_Span(first, last, new))

    waiting = sorted(spans, key=lambda span: span.start, reverse=True)
    points = {first, last}
    for span in spans:
        points |= {span.start, span.end}

    # A sweep in order of time: a span enters at its start and leaves at its end, so that a slot
    # with a long history is read once and not once for each of its stretches.
    alive: list[_Span] = []
    cells: list[_Cell] = []

    for start, end in pairwise(sorted(points)):
        alive = [span for span in alive if span.end > start]
        while waiting and waiting[-1].start == start:
            alive.append(waiting.pop())
        cells.append(_Cell(start, end, _cell_looks(list(map(attrgetter("claim"), alive)), many)))

    return cells


def _cell_looks(alive: list[Claim], many: bool) -> list[tuple[Claim, Look]]:
    if not many:
        return looks(alive)

    by_value: dict[str, list[Claim]] = {}
    for c in alive:
        by_value.setdefault(c.value_key, []).append(c)

    looks_of_all: list[tuple[Claim, Look]] = []
    for claims in by_value.values():
        looks_of_all += looks(claims)
    return looks_of_all


def _pieces(cells: Iterable[_Cell]) -> dict[str, list[tuple[int, int, Look]]]:
    """Join neighbouring cells in which a claim looks the same."""
    pieces_of: dict[str, list[tuple[int, int, Look]]] = {}
    for cell in cells:
        for claim, look in cell.looks:
            pieces = pieces_of.setdefault(claim.object_id, [])
            if pieces and pieces[-1][1:] == (cell.start, look):
                pieces[-1] = (pieces[-1][0], cell.end, look)
            else:
                pieces.append((cell.start, cell.end, look))

    return pieces_of


def _diff(
    incumbents: Iterable[Row], cells: Iterable[_Cell], new: Claim
) -> tuple[list[Row], list[Row]]:
    """The rows to close and to insert: rows are never changed, so one that is cut is replaced."""
    pieces_of, span = _pieces(cells), new.interval
    close: list[Row] = []
    insert: list[Row] = []
    for start, end, look in pieces_of.get(new.object_id, ()):
        insert.append(Row(0, new, Interval(start, end), look, new.tx))

    for row in incumbents:
        first, last = row.interval.start_us, row.interval.end_us
        inner = max(first, span.start_us), min(last, span.end_us)
        pieces: list[tuple[int, int, Look]] = []
        for start, end, look in pieces_of.get(row.claim.object_id, ()):
            if start < inner[1] and inner[0] < end:
                pieces.append((max(start, inner[0]), min(end, inner[1]), look))
        if pieces == [(*inner, row.look)]:
            continue

        close.append(row)
        remnants = [(first, inner[0], row.look), (inner[1], last, row.look)]
        # A row that this stamp has cut before has no vid, but the row it came from has.
        origin = row.vid or row.continues
        for start, end, look in remnants + pieces:
            if start < end:
                cut = Interval(start, end)
                insert.append(Row(0, row.claim, cut, look, new.tx, continues=origin))

    return close, sorted(insert, key=_place)


def _place(row: Row) -> tuple[int, int, int, str]:
    return (row.interval.start_us, *row.claim.order, row.claim.object_id)


def _relation(
    row: Row, new: Claim, cells: Iterable[_Cell], many: bool, reach: Reach
) -> RelationMet:
    overlap = row.interval.intersection(new.interval)
    assert overlap is not None  # met rows overlap
    verdict, reason = _verdict(row.claim, new, many, reach)
    denial = row.claim if row.claim.op is Op.DENY else new
    contested = (
        verdict not in (ClaimVerdict.APART, ClaimVerdict.CONFIRMS) and reason not in _REASONS
    )
    if contested and denial.op is Op.DENY and not _acts(denial, overlap, cells):
        verdict, reason = ClaimVerdict.APART, ""

    return RelationMet(
        object_id=row.claim.object_id,
        relation=relation(row.interval, new.interval).value,
        verdict=verdict,
        reason=reason,
        interval=overlap,
    )


def _acts(denial: Claim, interval: Interval, cells: Iterable[_Cell]) -> bool:
    """Tell whether a denial meets its value as the one that leads, anywhere on an interval."""
    for cell in cells:
        if cell.start not in interval:
            continue
        for c, look in cell.looks:
            if c is denial and look not in (IDLE, DOMINATED_ROW):
                return True

    return False


def _verdict(incumbent: Claim, new: Claim, many: bool, reach: Reach) -> tuple[ClaimVerdict, str]:
    """Return how the incoming claim fares against one stored claim, and why."""
    said = incumbent.says == new.says
    if named(new, incumbent, many, reach):
        if incumbent.level < new.level:
            return ClaimVerdict.LOSES, "weaker_authority"
        is_restated = said and adds(new, many)
        return (ClaimVerdict.CONFIRMS if is_restated else ClaimVerdict.WINS), _REASON_OF_VERB[
            new.op
        ]

    if not adds(new, many) or new.target is not None:
        return ClaimVerdict.APART, ""
    if said:
        return ClaimVerdict.CONFIRMS, ""

    denial = Op.DENY in (incumbent.op, new.op)
    if incumbent.value_key != new.value_key and (denial or many):
        return ClaimVerdict.APART, ""

    return _contest(incumbent, new)


def _contest(incumbent: Claim, new: Claim) -> tuple[ClaimVerdict, str]:
    if incumbent.key == new.key:
        return ClaimVerdict.TIES, "unresolved_tie"

    wins = new.key > incumbent.key
    loser, winner = (incumbent, new) if wins else (new, incumbent)
    reason = "denied" if winner.op is Op.DENY else loses(loser.key, winner.key).reason

    return (ClaimVerdict.WINS if wins else ClaimVerdict.LOSES), reason


def _edges(encounters: Iterable[tuple[Row, RelationMet]], new: Claim) -> Iterator[Edge]:
    for row, encounter in encounters:
        taken = encounter.reason in _REASONS
        kind = EdgeKind.SUPERSEDES if taken else _EDGE_OF.get(encounter.verdict)
        if kind is None or not (taken or row.look.head or row.look == IDLE):
            continue

        incoming, stored_id = new.object_id, row.claim.object_id
        src, dst = (stored_id, incoming) if kind is EdgeKind.OVERRIDES else (incoming, stored_id)
        yield Edge(
            kind=kind,
            src=src,
            dst=dst,
            interval=encounter.interval,
            reason=encounter.reason,
            relation=encounter.relation,
            tx=new.tx,
        )


def _new_ties(work: _Work, many: bool) -> tuple[Tie, ...]:
    """The ties that the write opens: one that stood before is not told a second time."""
    before = ties_of(work.incumbents, many=many)
    ties: list[Tie] = []
    for cell in work.cells:
        claims = [c for c, look in cell.looks if look == TIED_HEAD]
        for tie in _ties(Interval(cell.start, cell.end), claims, many):
            if not was_tied(tie, before):
                ties.append(tie)

    return _join_ties(ties)


def was_tied(tie: Tie, before: Iterable[Tie]) -> bool:
    """Tell whether the same claims were tied before, on some part of a stretch."""
    for past_tie in before:
        if past_tie.members == tie.members and past_tie.interval.overlaps(tie.interval):
            return True
    return False


def _join_ties(ties: Iterable[Tie]) -> tuple[Tie, ...]:
    """Join the neighbouring stretches of each tie."""
    stretches: list[Tie] = []
    for tie in sorted(ties, key=lambda tie: (tie.members, tie.interval)):
        last = stretches[-1] if stretches else None
        if last and last.members == tie.members and last.interval.end_us == tie.interval.start_us:
            stretches[-1] = Tie(Interval(last.interval.start_us, tie.interval.end_us), tie.members)
        else:
            stretches.append(tie)

    return tuple(sorted(stretches))


def _outcome(work: _Work, new: Claim, many: bool, reach: Reach) -> Outcome:
    if not adds(new, many):
        if not any(named(new, row.claim, many, reach) for row in work.survivors):
            return Outcome.ACCEPTED
        return Outcome.REFUSED if len(work.survivors) == len(work.incumbents) else Outcome.CLIPPED

    statuses = {_look_of(cell, new).status for cell in work.cells}
    if Status.DISPUTED in statuses:
        return Outcome.DISPUTED
    if statuses == {Status.OVERRIDDEN}:
        return Outcome.REFUSED if new.op.withdraws else Outcome.OVERRIDDEN
    if Status.OVERRIDDEN in statuses:
        return Outcome.CLIPPED
    return Outcome.CONFIRMED if _was_shown(work, new) else Outcome.ACCEPTED


def _withdrew(work: _Work, new: Claim) -> tuple[Row, ...]:
    """The later changes that a correction took back along with what it corrects."""
    if new.op is not Op.CORRECT or len(work.survivors) == len(work.incumbents):
        return ()

    survivor_ids = set(map(id, work.survivors))
    rows: list[Row] = []
    for row in work.incumbents:
        is_later = row.look.head and row.claim.since_us > new.since_us
        if id(row) not in survivor_ids and is_later and row.claim.says != new.says:
            rows.append(row)
    return tuple(rows)


def _look_of(cell: _Cell, new: Claim) -> Look:
    """Return how what the claim says looks in a cell, whichever claim says it."""
    return next(look for c, look in cell.looks if c.says == new.says and look != DOMINATED_ROW)


def _was_shown(work: _Work, new: Claim) -> bool:
    """Tell whether the same was in force before the write on its whole interval.

    A correction withdraws what came later, so the rows of its value must leave no gap.
    """
    reached_us = new.interval.start_us
    for row in work.incumbents:  # by place
        is_same = row.look.status is Status.CLEAN and row.claim.says == new.says
        if is_same and row.interval.start_us <= reached_us:
            reached_us = max(reached_us, row.interval.end_us)
    return reached_us >= new.interval.end_us
