"""Reading a time plane: what was believed of one slot in every stretch of known time.

Each band is worked out as the answer of a view is, from the rows that were believed then and the
identity that was known then, so the picture never says anything that a question would not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from ...resolution.register import Register
from ...schema.answers import Segment, SlotState
from ...schema.claim import Version
from ...schema.interval import INF_US
from ...schema.slots import Slot
from ...schema.values import micros, moment, stamp_time
from ...schema.vocabulary import SlotStatus
from ...store.port.store import Reader
from ...store.timeline.state import plain_value, segments
from ..visual.plane import Band, BeliefState, Rectangle, SlotBelief, without_repeats

BAND_LIMIT: Final = 60
"""Stretches of known time in one picture; the oldest beyond it are left out."""

Naming = Callable[[Any], str]
"""How a value reads to people."""

_STATES: Final[Mapping[SlotStatus, BeliefState]] = {
    SlotStatus.CLEAN: BeliefState.CLEAN,
    SlotStatus.DISPUTED: BeliefState.DISPUTED,
    SlotStatus.DENIED: BeliefState.DENIED,
    SlotStatus.ERASED: BeliefState.ERASED,
    SlotStatus.UNKNOWN: BeliefState.WITHHELD,
}


def bands_of(
    reader: Reader,
    versions: Sequence[Version],
    slot: Slot,
    *,
    entity: str,
    now_us: int,
    naming: Naming,
) -> tuple[Band, ...]:
    """What was believed in each stretch of known time, oldest first."""
    # Rows are opened and closed at these stamps alone: the same ones stand throughout a stretch.
    edges: set[int] = set()
    for version in versions:
        edges.update((version.row.tx_start, version.row.tx_end))
    edges.discard(INF_US)
    stretches = [*sorted(edges)[-BAND_LIMIT:], INF_US]

    bands: list[Band] = []
    for start_us, end_us in pairwise(stretches):
        members = _members_at(reader, versions, entity, start_us)
        rows: list[Version] = []
        for version in versions:
            row = version.row
            is_believed = row.tx_start <= start_us < row.tx_end
            if is_believed and version.details.subject_id in members:
                rows.append(version)
        beliefs = _beliefs(segments(rows, many=slot.many, shape=None), now_us, naming)
        band = Band(
            known_from=stamp_time(start_us), known_until=moment(end_us), beliefs=tuple(beliefs)
        )
        bands.append(band)
    return without_repeats(bands)


def with_actors(bands: Iterable[Band], actors: Mapping[int, str]) -> tuple[Band, ...]:
    """The bands with who entered each belief, by the stamp of its entry."""
    signed_bands: list[Band] = []
    for band in bands:
        beliefs: list[SlotBelief] = []
        for belief in band.beliefs:
            stamp = micros(belief.entry_time) if belief.entry_time else 0
            beliefs.append(replace(belief, actor=actors.get(stamp, "")))
        signed_bands.append(replace(band, beliefs=tuple(beliefs)))
    return tuple(signed_bands)


def entry_stamps(bands: Iterable[Band]) -> Iterator[int]:
    """The transactions that entered what the bands hold."""
    for band in bands:
        for belief in band.beliefs:
            if belief.entry_time is not None:
                yield micros(belief.entry_time)


def lost_claims(versions: Iterable[Version], naming: Naming) -> tuple[Rectangle, ...]:
    """Visible claims below another, over the times at which they stood so."""
    rectangles: list[Rectangle] = []
    for version in versions:
        row = version.row
        if row.look.head or not version.visible or version.erased:
            continue
        belief = SlotBelief(
            state=BeliefState.LOST,
            value=naming(plain_value(version)),
            valid_from=moment(row.interval.start_us),
            valid_until=moment(row.interval.end_us),
            object_ids=(row.claim.object_id,),
            source=version.details.source_origin,
            entry_time=stamp_time(row.claim.tx),
        )
        rectangles.append(
            Rectangle(
                belief=belief,
                known_from=stamp_time(row.tx_start),
                known_until=moment(row.tx_end),
            )
        )
    return tuple(rectangles)


def _members_at(
    reader: Reader, versions: Sequence[Version], entity: str, tx_us: int
) -> frozenset[str]:
    """The raw ids that were one with an entity at a transaction."""
    subjects = {v.details.subject_id for v in versions if v.details.subject_id}
    register = Register(reader.entities(sorted({entity, *subjects}), tx_us=tx_us))
    return frozenset(register.members(register.root(entity)))


def _beliefs(stretches: Iterable[Segment], now_us: int, naming: Naming) -> Iterator[SlotBelief]:
    for stretch in stretches:
        state = stretch.state
        # The claim that was entered last is the one that made it so.
        candidates = sorted(state.candidates, key=lambda c: (c.tx, c.object_id))
        decider = candidates[-1] if candidates else None
        yield SlotBelief(
            state=_state_of(stretch, now_us),
            value=_value_words(state, naming),
            valid_from=stretch.valid_from,
            valid_until=stretch.valid_until,
            object_ids=tuple(candidate.object_id for candidate in candidates),
            source=decider.source_origin if decider else "",
            entry_time=decider.tx if decider else None,
        )


def _state_of(stretch: Segment, now_us: int) -> BeliefState:
    state = _STATES[stretch.state.status]
    begin = stretch.valid_from
    is_ahead = begin is not None and micros(begin) > now_us
    return BeliefState.PLANNED if state is BeliefState.CLEAN and is_ahead else state


def _value_words(state: SlotState, naming: Naming) -> str:
    if state.status is SlotStatus.CLEAN:
        return ", ".join(map(naming, state.values))
    if state.status is SlotStatus.DISPUTED:
        words = dict.fromkeys(naming(candidate.value) for candidate in state.candidates)
        return " / ".join(words)
    return ""
