"""Binding the mentions of a request: by id, identifier or exact visible alias, in one look-up.

The default of `BindMentions`. A compile is a read, so it never scores and never creates; what a
name may mean is decided by `resolution.locate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...resolution.bind import lookup_of
from ...resolution.locate import locate
from ...resolution.register import Register
from ...schema.entity import MAX_NAME, is_visible
from ...schema.vocabulary import EntityState
from ...store.port.store import IdentityReads
from ..ir.snapshot import Bound


def bindable(mentions: Sequence[str]) -> list[str]:
    """Return the mentions that can name anything."""
    return [m for m in mentions if len(m) <= MAX_NAME and is_visible(m)]


@dataclass(frozen=True, slots=True)
class ExactBinder:
    """Binds mentions over what a reader knows at a tx."""

    reader: IdentityReads
    scopes: frozenset[str]
    """Canonical ids of the scopes whose aliases are visible."""
    tx_us: int

    def __call__(self, mentions: Sequence[str]) -> tuple[Bound, ...]:
        """Return what each mention means, in order."""
        names = bindable(mentions)
        if not names:
            return tuple(Bound(mention, ()) for mention in mentions)

        # All mentions in one look-up: on a server each one is a round trip.
        known = self.reader.known(lookup_of(names), scopes=sorted(self.scopes), tx_us=self.tx_us)
        register = Register(known)
        fit = set(names)

        # In the order of the request, whose stated entities stand first: callers slice by it.
        bindings: list[Bound] = []
        for mention in mentions:
            binding = self._bound(mention, register) if mention in fit else Bound(mention, ())
            bindings.append(binding)
        return tuple(bindings)

    def _bound(self, mention: str, register: Register) -> Bound:
        entity_ids = locate(mention, register, self.scopes)
        waits = False
        for entity_id in entity_ids:
            entity = register.entity(entity_id)
            waits |= entity is not None and entity.state is EntityState.PENDING
        return Bound(mention, entity_ids, waits)
