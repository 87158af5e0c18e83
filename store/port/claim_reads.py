"""The part of the store port that tells whole claims, under the lock and in a snapshot alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...schema.claim import Assertion


class ClaimReads(Protocol):
    """Whole claims, whoever may see them; what is shown of them is for the asker to choose."""

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Every object that is about one of these, points at it or mentions it, none erased."""
        ...

    def objects_with(self, words: Sequence[str]) -> tuple[str, ...]:
        """The objects that hold all of these searchable terms, none erased, sorted."""
        ...

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Return whole claims by object id, with today's permissions; erased ones left out."""
        ...
