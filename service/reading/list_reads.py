"""What a list shows of many ids: their names or their objects, all of them in one read.

Asked one by one, a page of two hundred actions is two hundred snapshots of an embedded store,
and on a server as many round trips.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...schema.claim import Version
from ...schema.context_object import ContextObject
from ...store.port.store import Ask
from ..backend.caller import Caller
from .context_objects import ObjectShaper, closeness
from .entity_views import names_by_id
from .masking import Mask
from .view import pinned, point_of, sight_of


@dataclass(frozen=True, slots=True)
class ListReads(Caller):
    """Reads about now for what a caller is shown in a list."""

    def names(self, entity_ids: Iterable[str]) -> Mapping[str, str]:
        """The names of entities by id; an id that stands for none is left out."""
        with self._reading() as reader:
            tx_us = reader.clock().last_us
            return names_by_id(reader, entity_ids, sight_of(self.principal, None), tx_us)

    def objects(self, object_ids: Iterable[str]) -> Mapping[str, ContextObject]:
        """Objects by id, as `View.object` answers; what the caller may not see is left out."""
        ask = Ask(
            objects=tuple(dict.fromkeys(object_ids)), heads=False, at_valid=False, at_tx=False
        )
        if not ask.objects:
            return {}

        access = sight_of(self.principal, None)
        with self._reading() as reader:
            point = point_of(pinned(self._backend, self.principal, reader, None, None))
            page = reader.versions(ask, sight=access, point=point)
            # The row that is nearest to now stands for an object, as in `View.object`: one that
            # was retracted is shown as it last was.
            best: dict[str, Version] = {}
            for version in Mask(self.principal, self._backend.policy).over(reader, page.versions):
                object_id = version.row.claim.object_id
                rival = best.get(object_id)
                is_closer = rival is None or closeness(version, point) > closeness(rival, point)
                if version.visible and is_closer:
                    best[object_id] = version

            shape = ObjectShaper(reader, best.values(), caller=self.principal, point=point)
            return dict(zip(best, map(shape, best.values()), strict=True))
