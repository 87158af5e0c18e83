"""Whom a caller means by a name, in the snapshot that was asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...resolution.register import Register
from ...store.port.store import Reader


def members_of(roots: Iterable[str], register: Register) -> frozenset[str]:
    """The raw ids of all these entities.

    Rows keep the raw id that they were written under, so a merge rewrites none of them. Whoever
    reads the rows of an entity asks for all its members, never for its canonical id alone.
    """
    members: set[str] = set()
    for root in roots:
        members.update(register.members(root))
    return frozenset(members)


class ResolvedName(NamedTuple):
    """A snapshot with whom a name means in it."""

    reader: Reader
    roots: tuple[str, ...]
    """Canonical ids: none, one, or several of a name that is ambiguous."""
    register: Register
    """What is known around them."""

    @property
    def is_one(self) -> bool:
        """Whether it means one entity."""
        return len(self.roots) == 1

    @property
    def members(self) -> tuple[str, ...]:
        """The raw ids of that one."""
        return self.register.members(self.roots[0])
