"""What was believed of one slot over both clocks: true time across and known time up.

A band is a stretch of known time in which the same was believed; it holds beliefs side by side
in true time. Both axes are stretched so that every value can be written: between two edges time
runs evenly, edges stand as far apart as words need. One layout gives the text of a terminal and
the picture of a page. Nothing here reads a store.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from ...schema.short_repr import short_repr
from ...schema.values import micros


class BeliefState(StrEnum):
    """What a belief is, beside its value."""

    CLEAN = "clean"
    DISPUTED = "disputed"
    PLANNED = "planned"
    DENIED = "denied"
    ERASED = "erased"
    WITHHELD = "withheld"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBelief:
    """What was held to be true over a stretch of true time."""

    __repr__ = short_repr

    state: BeliefState
    value: str
    """For people; empty where there is none to show."""
    valid_from: datetime | None
    valid_until: datetime | None
    object_ids: tuple[str, ...] = ()
    """The claims that decide it."""
    source: str = ""
    """Where the deciding claim comes from, as an origin."""
    actor: str = ""
    """Who entered it; empty where that may not be told."""
    entry_time: datetime | None = None
    """When the deciding claim was entered."""

    @property
    def words(self) -> str:
        """The value, or what stands in its place."""
        return self.value or self.state.value

    def holds_at(self, valid: datetime) -> bool:
        """Whether it is about an instant of true time."""
        is_begun = self.valid_from is None or self.valid_from <= valid
        return is_begun and (self.valid_until is None or valid < self.valid_until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A stretch of known time in which the same was believed."""

    __repr__ = short_repr

    known_from: datetime
    known_until: datetime | None
    """None: still."""
    beliefs: tuple[SlotBelief, ...]
    """By true time, without overlap."""

    def holds_at(self, known: datetime) -> bool:
        """Whether it is what was believed at an instant of known time."""
        return self.known_from <= known and (self.known_until is None or known < self.known_until)

    def belief_at(self, valid: datetime) -> SlotBelief | None:
        """What it says about an instant of true time."""
        for belief in self.beliefs:
            if belief.holds_at(valid):
                return belief
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """One belief over the bands in which nothing of it changed."""

    __repr__ = short_repr

    belief: SlotBelief
    known_from: datetime
    known_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefPlane:
    """Everything that was ever believed of one slot, and the point that is asked for."""

    entity: str
    """Its name."""
    slot: str
    bands: tuple[Band, ...]
    """Oldest knowledge first."""
    lost_claims: tuple[Rectangle, ...] = field(default=())
    """Claims that never decided, or no longer do, over where they stood below another."""
    valid: datetime
    """The asked instant of true time."""
    known: datetime
    """The asked instant of known time."""

    @property
    def answer(self) -> SlotBelief | None:
        """What was believed at the asked point."""
        return self._belief_known_at(self.known)

    @property
    def latest(self) -> SlotBelief | None:
        """What is known today about the asked instant."""
        return self.bands[-1].belief_at(self.valid) if self.bands else None

    @property
    def sentence(self) -> str:
        """The answer in words: what was believed, what is known today, and who entered it when."""
        answer, latest = self.answer, self.latest
        is_latest = not self.bands or self.bands[-1].known_from <= self.known
        answer_words = _belief_words(answer)
        valid, known = long_day(self.valid), long_day(self.known)
        if is_latest:
            is_ahead = answer is not None and answer.state is BeliefState.PLANNED
            verb = "it will be, as planned," if is_ahead else "it is"
            return f"On {valid} {verb} {answer_words}{_entry(answer)}."

        start = f"On {valid} we believed {answer_words}"
        if valid != known:
            start = f"On {known} we believed about {valid}: {answer_words}"
        if _belief_words(latest) == answer_words:
            return f"{start}; that is still what we know."
        return f"{start}. Today we know it was {_belief_words(latest)}{_entry(latest)}."

    def valid_edges(self) -> tuple[datetime, ...]:
        """The instants of true time at which any belief begins or ends, oldest first."""
        edges: set[datetime] = set()
        for band in self.bands:
            for belief in band.beliefs:
                for edge in (belief.valid_from, belief.valid_until):
                    if edge is not None:
                        edges.add(edge)
        return tuple(sorted(edges))

    def rectangles(self) -> tuple[Rectangle, ...]:
        """The beliefs, each once over all neighbouring bands that hold it unchanged."""
        # Only from one band to the next: a belief that was given up and came back is two.
        rectangles: list[Rectangle] = []
        standing: dict[SlotBelief, int] = {}
        for band in self.bands:
            positions: dict[SlotBelief, int] = {}
            for belief in band.beliefs:
                position = standing.get(belief)
                if position is None:
                    position = len(rectangles)
                    rectangles.append(
                        Rectangle(
                            belief=belief,
                            known_from=band.known_from,
                            known_until=band.known_until,
                        )
                    )
                else:
                    rectangles[position] = replace(
                        rectangles[position], known_until=band.known_until
                    )
                positions[belief] = position
            standing = positions
        return tuple(rectangles)

    def _belief_known_at(self, known: datetime) -> SlotBelief | None:
        band = next((band for band in self.bands if band.holds_at(known)), None)
        return band.belief_at(self.valid) if band else None


def _belief_words(belief: SlotBelief | None) -> str:
    """A belief in the middle of a sentence."""
    return belief.words if belief else "not known"


def _entry(belief: SlotBelief | None) -> str:
    """Who entered a belief and when, and whether that was after it began to be true."""
    if belief is None or belief.entry_time is None:
        return ""

    author = source_words(belief.source) or belief.actor or "somebody"
    begin = belief.valid_from
    lateness = " late," if begin is not None and belief.entry_time.date() > begin.date() else ""
    return f": {author} entered it{lateness} on {long_day(belief.entry_time)}"


def source_words(origin: str) -> str:
    """An origin for people: the system, the page or the person behind it.

    >>> source_words("record://billing/accounts"), source_words("chat://s1"), source_words("")
    ('billing', 'chat s1', '')
    """
    scheme, _, path = origin.partition("://")
    host = path.partition("/")[0]
    if scheme == "user":
        return "a person"
    return host if scheme in ("record", "https", "http", "web") else f"{scheme} {host}".strip()


def long_day(moment: datetime) -> str:
    """A day in a sentence: `1 April 2026`."""
    return f"{moment.day} {moment:%B %Y}"


def short_day(moment: datetime) -> str:
    """A day as an axis writes it: `1 Apr 26`."""
    return f"{moment.day} {moment:%b %y}"


def day_labels(moments: Sequence[datetime]) -> list[str]:
    """Names of moments on an axis: the day, with as much of the time as tells two apart.

    >>> from datetime import UTC
    >>> nine = datetime(2026, 7, 1, 9, tzinfo=UTC)
    >>> day_labels([nine, nine.replace(hour=10)]), day_labels([nine, nine.replace(second=2)])
    (['1 Jul 09:00', '1 Jul 10:00'], ['1 Jul 09:00:00', '1 Jul 09:00:02'])
    """
    days: list[str] = []
    minutes: list[str] = []
    for moment in moments:
        days.append(short_day(moment))
        minutes.append(f"{moment.day} {moment:%b %H:%M}")

    labels: list[str] = []
    for moment, day, minute in zip(moments, days, minutes, strict=True):
        label = day
        if days.count(day) > 1:
            label = f"{minute}:{moment:%S}" if minutes.count(minute) > 1 else minute
        labels.append(label)
    return labels


@dataclass(frozen=True, slots=True)
class Axis:
    """Edges of time with the positions at which they stand; between two time runs evenly."""

    edges: tuple[datetime, ...]
    positions: tuple[int, ...]
    start: int
    end: int

    def position(self, moment: datetime | None, *, is_end: bool = False) -> int:
        """Where an instant stands; an open end stands at the end of the axis."""
        if moment is None:
            return self.end if is_end else self.start
        if not self.edges or moment < self.edges[0]:
            # What lies before every edge has one place, in the middle of the room for it.
            first = self.positions[0] if self.positions else self.end
            return (self.start + first) // 2
        if moment >= self.edges[-1]:
            is_edge = moment == self.edges[-1]
            return self.positions[-1] if is_edge else (self.positions[-1] + self.end) // 2

        after = bisect_right(self.edges, moment)
        before_edge, after_edge = self.edges[after - 1], self.edges[after]
        length = micros(after_edge) - micros(before_edge)
        room = self.positions[after] - self.positions[after - 1]
        share = room * (micros(moment) - micros(before_edge)) // length
        return self.positions[after - 1] + share


def axis(edges: Sequence[datetime], needs: Sequence[int], start: int, end: int) -> Axis:
    """Put edges between two positions, so that after each there is the room that it needs.

    `needs` has one more entry than there are edges: the first is the room before the first edge.
    What is left goes to the stretches in equal parts; where there is too little, all shrink alike.
    """
    room, total = end - start, sum(needs)
    if total > room:
        shares = [need * room // total for need in needs]
    else:
        spare = (room - total) // max(1, len(needs) - 1)
        # The first stretch lies before every edge: nothing is written there that needs more room.
        shares = list(needs)
        for stretch in range(1, len(shares)):
            shares[stretch] += spare

    positions: list[int] = []
    position = start
    for share in shares[:-1]:
        position += share
        positions.append(position)
    return Axis(tuple(edges), tuple(positions), start, end)


def without_repeats(bands: Iterable[Band]) -> tuple[Band, ...]:
    """Join neighbouring bands that believe the same; empty ones at the start go."""
    distinct_bands: list[Band] = []
    for band in bands:
        if distinct_bands and distinct_bands[-1].beliefs == band.beliefs:
            distinct_bands[-1] = replace(distinct_bands[-1], known_until=band.known_until)
        elif distinct_bands or band.beliefs:
            distinct_bands.append(band)
    return tuple(distinct_bands)
