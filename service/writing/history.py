"""A history in an import file: consecutive lines with one `recorded_at` are one write.

A group of lines has one stamp and is taken as a whole, or not at all. Many groups share a
transaction of the store, since a server needs longer to answer than to write a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .event_lines import Definition, Event, Line, TalkLine
from .write import RecordedGroup

LINES_AT_ONCE: Final = 1_000
"""Lines that share a transaction, unless one group has more: what one statement takes."""


class HistoryLines(NamedTuple):
    """The lines of one stamp, and what they write."""

    group: RecordedGroup
    lines: list[Line]


def history_lines(tenant: str, events: Sequence[Event]) -> HistoryLines:
    """The group of events with one stamp."""
    recorded_us = events[0].recorded_us
    assert recorded_us is not None  # reading refused a line without one
    pairs = ((event.members, event.write) for event in events)
    group = RecordedGroup.from_events(tenant, recorded_us, pairs)
    return HistoryLines(group, [event.line for event in events])


def steps_of(items: Iterable[Definition | TalkLine | Event]) -> Iterator[Definition | list[Event]]:
    """The events of each stamp, in their order; a definition before the group it stands in."""
    group: list[Event] = []
    for item in items:
        if isinstance(item, Definition):
            yield item
        elif isinstance(item, Event):  # reading refused talk in a history
            if group and item.recorded_us != group[0].recorded_us:
                yield group
                group = []
            group.append(item)

    if group:
        yield group


@dataclass(slots=True)
class PendingGroups:
    """Groups that will share the next transaction."""

    _groups: list[HistoryLines] = field(default_factory=list[HistoryLines])
    _line_count: int = 0
    _object_ids: set[str] = field(default_factory=set[str])

    def has_room_for(self, history: HistoryLines) -> bool:
        """Tell whether a group fits, and refers to nothing that these are yet to make."""
        if self._line_count + len(history.lines) > LINES_AT_ONCE:
            return False
        return self._object_ids.isdisjoint(history.group.references)

    def add(self, history: HistoryLines) -> None:
        """Put a group behind the others."""
        self._groups.append(history)
        self._line_count += len(history.lines)
        self._object_ids.update(history.group.object_ids)

    def drain(self) -> list[HistoryLines]:
        """Give the groups away, in their order."""
        groups = self._groups
        self._groups, self._line_count, self._object_ids = [], 0, set()
        return groups
