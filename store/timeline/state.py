"""Answers: from the deciding rows of a slot to its state. Pure.

The heads of all visible scopes at an instant compete by effective level, then specificity
(session, project, user, tenant), then newer asserted valid_from; trust is not compared across
scopes. Whatever wins is the answer, be it a value, a denial, a gap or a tie. If the row that
decides may not be seen the answer is `unknown`, `withheld`: never the next one.
On a slot of cardinality `many` this goes value by value.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol

from ...schema.answers import HistoryRow, Segment, SlotCandidate, SlotState
from ...schema.claim import Claim, Look, Version
from ...schema.context_object import ContextObject
from ...schema.interval import INF_US, MIN_US
from ...schema.values import micros, moment, stamp_time
from ...schema.vocabulary import Op, SlotStatus
from .reconcile import DENIED_HEAD, IN_FORCE, TIED_HEAD


class Shape(Protocol):
    """Turns a version into what a caller sees."""

    def __call__(self, version: Version) -> ContextObject:
        """The object."""
        ...

    def value(self, version: Version) -> Any:
        """What it says: plain Python, an entity by its name; None when it may not be seen."""
        ...


_DENIALS = frozenset({DENIED_HEAD, IN_FORCE})
_LOOK: Final = attrgetter("row.look")

UNKNOWN = SlotState(status=SlotStatus.UNKNOWN, reason="no_value")


@dataclass(frozen=True, slots=True)
class _Standing:
    """The deciding rows of one scope, and how strongly they stand."""

    rows: tuple[Version, ...]
    strength: tuple[int, int, int]
    """(minus effective level, specificity, asserted valid_from); the greatest wins."""


class _Stretch(NamedTuple):
    """A stretch of valid time inside which no head begins or ends."""

    start_us: int
    end_us: int
    heads: tuple[Version, ...]


def slot_state(
    versions: Iterable[Version], *, many: bool, shape: Shape | None, at_us: int = INF_US
) -> SlotState:
    """Return the state of a slot from its heads at one point, of all visible scopes.

    Without `shape` the state carries no object, without `at_us` it is never just possible.
    """
    heads = list(filter(_is_head, versions))
    if not many:
        return _state(_winning(heads), shape, at_us)

    # Among many, each value is decided by itself, and no value stands in the way of another.
    by_value = sorted(heads, key=lambda v: (v.row.claim.value_key, v.row.vid))
    states: list[SlotState] = []
    for _, group in groupby(by_value, key=lambda v: v.row.claim.value_key):
        states.append(_state(_winning(list(group)), shape, at_us))

    return _many_state(states)


def _is_head(version: Version) -> bool:
    return version.row.look.head


def _winning(heads: Sequence[Version]) -> tuple[Version, ...]:
    scopes: dict[str, list[Version]] = {}
    for head in heads:
        scopes.setdefault(head.details.scope.scope_id, []).append(head)

    # Trust is not compared across scopes: what ties here decides together, and may disagree.
    standings: list[_Standing] = []
    for _, rows in sorted(scopes.items()):
        standings.append(_standing(rows))
    best = max(map(attrgetter("strength"), standings), default=None)
    winners: list[Version] = []
    for standing in standings:
        if standing.strength == best:
            winners += standing.rows

    return tuple(winners)


def _standing(rows: Sequence[Version]) -> _Standing:
    lead: Claim = max(map(attrgetter("row.claim"), rows), key=attrgetter("key"))
    return _Standing(tuple(rows), (-lead.level, rows[0].details.scope.specificity, lead.since_us))


def _state(rows: Sequence[Version], shape: Shape | None, at_us: int) -> SlotState:
    """Return the state that one deciding set gives, of one value on a `many` slot."""
    if not rows:
        return UNKNOWN
    # The next row would be an answer, too, and tell what the hidden one is not.
    if not all(map(attrgetter("visible"), rows)):
        return replace(UNKNOWN, reason="withheld")

    value_of = shape.value if shape else plain_value
    certain = map(attrgetter("details.certain_us"), rows)
    # The stretch on which all of them stand.
    latest = max(rows, key=attrgetter("row.interval.start_us"))
    state = SlotState(
        status=SlotStatus.UNKNOWN,
        reason="no_value",
        candidates=tuple(candidate(row, value_of(row)) for row in sorted(rows, key=_first)),
        valid_from=moment(latest.row.interval.start_us),
        valid_until=moment(min(map(attrgetter("row.interval.end_us"), rows))),
        precision=latest.precision,
        possibly=any(at_us < certain_us for certain_us in certain if certain_us is not None),
    )
    if any(map(attrgetter("erased"), rows)):
        return replace(state, status=SlotStatus.ERASED, reason="erased")

    looks: set[Look] = set(map(_LOOK, rows))
    if TIED_HEAD in looks or _split(rows):
        return replace(state, status=SlotStatus.DISPUTED, reason="unresolved_tie")
    if not looks.isdisjoint(_DENIALS):
        return replace(state, status=SlotStatus.DENIED, reason="denied")

    version = min(rows, key=_first)
    if version.row.claim.says_nothing:
        return state

    value = value_of(version)

    return replace(
        state,
        status=SlotStatus.CLEAN,
        reason="",
        value=value,
        values=(value,),
        object=shape(version) if shape else None,
    )


def _split(rows: Sequence[Version]) -> bool:
    """Tell whether scopes of equal strength disagree."""
    sayings: set[tuple[bool, str]] = set()
    for version in rows:
        claim = version.row.claim
        sayings.add((claim.op is Op.DENY, claim.value_key))
    return len(sayings) > 1 and _DENIALS.isdisjoint(map(_LOOK, rows))


def _many_state(states: Sequence[SlotState]) -> SlotState:
    """Join the states of the values of a `many` slot: any shown value makes it clean."""
    clean = [state for state in states if state.status is SlotStatus.CLEAN]
    clean.sort(key=lambda s: (s.candidates[0].tx, s.candidates[0].object_id))
    candidates = tuple(chain.from_iterable(map(attrgetter("candidates"), states)))
    if not clean:
        by_rank = sorted(states, key=lambda s: (_ORDER.index(s.status), s.reason == "no_value"))
        return replace(by_rank[0], candidates=candidates) if by_rank else UNKNOWN

    # A bound that is not there is an open end, so the narrowest stretch is that of the others.
    latest = max(clean, key=lambda s: MIN_US if s.valid_from is None else micros(s.valid_from))
    ends = filter(None, map(attrgetter("valid_until"), clean))
    values = tuple(map(attrgetter("value"), clean))
    is_single = len(clean) == 1

    return SlotState(
        status=SlotStatus.CLEAN,
        value=values[0] if is_single else values,
        values=values,
        candidates=candidates,
        valid_from=latest.valid_from,
        valid_until=min(ends, default=None),
        object=clean[0].object if is_single else None,
        precision=latest.precision,
        possibly=any(map(attrgetter("possibly"), clean)),
    )


_ORDER = (SlotStatus.DISPUTED, SlotStatus.ERASED, SlotStatus.DENIED, SlotStatus.UNKNOWN)


def _first(version: Version) -> tuple[int, str]:
    return version.row.claim.tx, version.row.claim.object_id


def plain_value(version: Version) -> Any:
    """Return the value of a version as plain Python; None when it may not be seen."""
    return None if version.content is None else json.loads(version.content.value_json)


def candidate(version: Version, value: Any) -> SlotCandidate:
    """Return a version as a candidate of its slot, with its value as it is shown."""
    row = version.row
    return SlotCandidate(
        object_id=row.claim.object_id,
        op=row.claim.op.value,
        value=value,
        status=row.look.status.value,
        reason=row.look.reason,
        authority_level=int(version.details.authority_level),
        source_origin=version.details.source_origin,
        valid_from=moment(row.interval.start_us),
        valid_until=moment(row.interval.end_us),
        tx=stamp_time(row.claim.tx),
    )


def history_row(version: Version, value: Any, actor: str) -> HistoryRow:
    """A version as a row of the history on both axes, with its value and who made it."""
    row = version.row
    return HistoryRow(
        vid=row.vid,
        object_id=row.claim.object_id,
        op=row.claim.op.value,
        value=value,
        valid_from=moment(row.interval.start_us),
        valid_until=moment(row.interval.end_us),
        tx_start=stamp_time(row.tx_start),
        tx_end=moment(row.tx_end),
        status=SlotStatus.ERASED.value if version.erased else row.look.status.value,
        reason=row.look.reason,
        head=row.look.head,
        authority_level=int(version.details.authority_level),
        source_origin=version.details.source_origin,
        scope=version.details.scope.scope_id,
        erased=version.erased,
        actor=actor,
        precision=version.precision,
    )


def segments(
    versions: Iterable[Version], *, many: bool, shape: Shape | None
) -> tuple[Segment, ...]:
    """Return the whole of valid time as stretches with one answer, the unknown ones left out.

    Neighbouring stretches that answer the same are joined. Without `shape` they carry no object.
    """
    joined_segments: list[Segment] = []
    for stretch in _stretches(versions):
        state = slot_state(stretch.heads, many=many, shape=shape)
        if state.status is SlotStatus.UNKNOWN and state.reason == "no_value":
            continue
        segment = _segment(stretch.start_us, stretch.end_us, state)
        if joined_segments and _continues(joined_segments[-1], segment):
            joined_segments[-1] = _join_segments(joined_segments[-1], segment)
        else:
            joined_segments.append(segment)

    return tuple(joined_segments)


def widened_state(state: SlotState, versions: Iterable[Version]) -> SlotState:
    """A clean state of one value, its bounds reaching over neighbouring rows of the same value.

    A confirmation or a clipped rival splits a value into rows; to a reader it is one fact.
    `versions` are the heads of the slot over all of valid time.
    """
    stretches = _stretches(versions)

    def same_at(at_us: int) -> SlotState | None:
        place = bisect_right(stretches, at_us, key=attrgetter("start_us")) - 1
        if place < 0 or at_us >= stretches[place].end_us:
            return None
        neighbour_state = slot_state(stretches[place].heads, many=False, shape=None)
        return neighbour_state if _says_same(neighbour_state, state) else None

    first, end = state, state.valid_until
    while first.valid_from is not None and (before := same_at(micros(first.valid_from) - 1)):
        first = before

    while end is not None and (after := same_at(micros(end))):
        end = after.valid_until

    return replace(state, valid_from=first.valid_from, valid_until=end, precision=first.precision)


def _says_same(left: SlotState, right: SlotState) -> bool:
    """Whether two states are clean with the same values."""
    are_clean = left.status is SlotStatus.CLEAN and right.status is SlotStatus.CLEAN
    return are_clean and left.values == right.values


def _stretches(versions: Iterable[Version]) -> list[_Stretch]:
    """Cut valid time at every end of a head."""
    heads = list(filter(_is_head, versions))
    waiting = sorted(heads, key=lambda head: head.row.interval.start_us, reverse=True)
    points: set[int] = set()
    for head in heads:
        points |= {head.row.interval.start_us, head.row.interval.end_us}

    # A sweep in order of time: a head enters at its start and leaves at its end, so that a value
    # confirmed every day for years is read once and not once for each of its days.
    alive: list[Version] = []
    stretches: list[_Stretch] = []
    for start_us, end_us in pairwise(sorted(points)):
        alive = [head for head in alive if head.row.interval.end_us > start_us]
        while waiting and waiting[-1].row.interval.start_us == start_us:
            alive.append(waiting.pop())
        stretches.append(_Stretch(start_us, end_us, tuple(alive)))

    return stretches


def _segment(start: int, end: int, state: SlotState) -> Segment:
    first, last = moment(start), moment(end)
    precision = state.precision if state.valid_from == first else ""
    state = replace(state, valid_from=first, valid_until=last, precision=precision)
    return Segment(valid_from=first, valid_until=last, state=state)


def _continues(before: Segment, after: Segment) -> bool:
    return (
        before.valid_until == after.valid_from
        and before.state.status is after.state.status
        and before.state.reason == after.state.reason
        and before.state.values == after.state.values
        and (bool(before.state.values) or _objects(before) == _objects(after))
    )


def _objects(segment: Segment) -> list[str]:
    return [c.object_id for c in segment.state.candidates]


def _join_segments(before: Segment, after: Segment) -> Segment:
    state = replace(before.state, valid_until=after.valid_until)
    return Segment(valid_from=before.valid_from, valid_until=after.valid_until, state=state)
