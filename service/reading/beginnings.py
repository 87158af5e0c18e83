"""Ids that begin in one way: what a person types who reads an id off a table.

Nothing here decides which is meant; where several begin so, the asker lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...schema.entity import Judgement
from ...schema.principal import STEWARD
from ...store.port.records import RecordKind
from ...store.port.store import Reader
from ..backend.caller import Caller
from .context_objects import visible_object_ids

_PAGE: Final = 200
"""Ids that are read at once: most stores have fewer of one beginning."""


@dataclass(frozen=True, slots=True)
class Beginnings(Caller):
    """Ids by their beginning, as one caller may learn of them."""

    def objects(self, beginning: str, *, limit: int) -> tuple[str, ...]:
        """The objects that the caller may see whose ids begin so, sorted; at most so many."""
        with self._reading() as reader:
            visible: list[str] = []
            for page in _pages(reader, beginning):
                rows = self._rows_of(reader, page)
                visible += sorted(visible_object_ids(rows))
                if len(visible) >= limit:
                    break
        return tuple(visible[:limit])

    def merges(self, beginning: str) -> tuple[str, ...]:
        """The merges, also those that were taken back, whose ids begin so; sorted.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(STEWARD)

        # No index leads from a part of the id to a merge; judgements are few beside claims.
        merge_ids: set[str] = set()
        with self._reading() as reader:
            for record in reader.records(RecordKind.JUDGEMENT):
                if isinstance(record, Judgement) and record.merge_id is not None:
                    merge_ids.add(record.merge_id)
        return tuple(sorted(item for item in merge_ids if item.startswith(beginning)))


def _pages(reader: Reader, beginning: str) -> Iterator[tuple[str, ...]]:
    """Yield the ids that begin so, a page at a time."""
    after = ""
    while page := reader.object_ids(beginning, after=after, limit=_PAGE):
        yield page
        after = page[-1]
