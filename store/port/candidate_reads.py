"""The part of the store port that proposes what a question may be about, without being told ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...schema.principal import Sight
from .records import Page, Point, SubjectSpan, TextPool


class CandidateReads(Protocol):
    """What a snapshot proposes, filtered by sight and time; scoring is the compiler's."""

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Return heads at the point whose claim shares a term, the most telling ones first.

        A term counts by how few claims hold it (`term_weights.weight`) of those in the scopes that
        are searched (`term_weights.searched_scopes`), of equals the newest claim is first. A term
        that more than `common(limit)` hold proposes nothing, unless all are so: then the
        alphabetically first one does. What is withheld of the scopes that are searched is counted
        up to the limit; a store may count what it met of others, too.
        """
        ...

    def text_pool(
        self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int, unless: int
    ) -> TextPool | None:
        """Return as columns what `matching` would; None for at most `unless` rows."""
        ...

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Page:
        """Return policy rules of levels 0-1, tool schemas, and what scopes prefer, bar, decided."""
        ...

    def standing_subjects(
        self, slots: Sequence[str], *, sight: Sight, point: Point, span: SubjectSpan
    ) -> tuple[str, ...]:
        """Return about whom one scope prefers, bars or decides something in slots of these names.

        Raw ids, sorted, of those in the span; what the caller may not see and what is erased tells
        of nobody. Cost follows the subjects that are answered, not what is known of them.
        """
        ...

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Return clean heads about these entities, pointing at them or mentioning them.

        At most `limit` for each entity: strongest authority, then trust, then vid first. What
        only mentions it comes after all that is about it, the newest of equal trust first.
        """
        ...
