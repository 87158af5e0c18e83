"""What will be asked next: hints that change no answer.

A caller that knows its next questions tells them before it asks them one by one. A store across
a network answers all of them in one round trip and keeps the answers for the questions; an
embedded store has nothing to gain and does nothing. Whoever asks something else, or asks
otherwise than he said, gets the same answer, a round trip later.

Sources: settled 8 (three round trips); DESIGN 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..resolution.known import Lookup
from ..schema.principal import Sight
from .port.records import Ask, Point


class Names(NamedTuple):
    """The names that a reader is opened for."""

    lookup: Lookup
    scopes: tuple[str, ...]
    """Canonical ids of the scopes whose aliases are visible."""


def held_ask(object_ids: Sequence[str], newest: int) -> Ask:
    """Return the ask for the newest of the objects that wait, the oldest of them first."""
    return Ask(objects=tuple(sorted(object_ids[-newest:])), heads=False)


class Walk(NamedTuple):
    """Two steps of `around`: from these entities, and from those that are met there."""

    entity_ids: tuple[str, ...]
    limit: int
    room: int
    """How many entities the second step takes, in the order in which the first meets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The questions that come next, at one point and for one sight."""

    sight: Sight
    point: Point
    terms: tuple[str, ...] = ()
    limit: int = 0
    """Of the search for these terms."""
    asks: tuple[Ask, ...] = ()
    held: int = 0
    """How many of the newest objects that wait for a review of their quarantine."""
    standing: tuple[str, ...] | None = None
    """The scopes of what stands without any query; None: not asked."""
    walk: Walk | None = None
    entity_ids: tuple[str, ...] = ()
    """Entities, beside those that the slots asked for point at."""
