"""Whom a caller means by a name, in the snapshot that was asked."""

from __future__ import annotations

from typing import NamedTuple

from ...resolution.register import Register
from ...store.port.store import Reader


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
