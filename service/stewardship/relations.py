"""Relations between two who are to be merged: merged, a person would be their own manager.

The merge is done all the same, since the relation may be what is wrong. Its receipt and the preview
of a case name what the steward may see of such relations.
"""

from __future__ import annotations

from ...schema.claim import Assertion, masked_for
from ...store.operations.merge import members_of_root, relations_between
from ...store.port.store import WriteTx
from ..backend.caller import Caller
from ..reading.entities import names_by_id

_MOST_NAMED = 3


class RelationCheck(Caller):
    """What relates entities, as one steward may know of it."""

    __slots__ = ()

    def warnings(self, tx: WriteTx, a: str, b: str) -> tuple[str, ...]:
        """What relates two entities now, in sentences; none where they are one or not there."""
        clock = tx.lock()
        known = tx.entities((a, b), tx_us=clock.last_us)
        ids = known.canonical.get(a, a), known.canonical.get(b, b)
        if not {a, b} <= known.entities.keys() or ids[0] == ids[1]:
            return ()

        sides = members_of_root(known, ids[0]), members_of_root(known, ids[1])
        now_us = max(self._backend.now_us(), clock.last_us)
        relations = relations_between(tx, sides, since_us=now_us, counts=self._counts)
        if not relations:
            return ()

        sight, members = self.principal.sight(), (*sides[0], *sides[1])
        names = names_by_id(tx.reader(), members, sight, clock.last_us)
        sentences: list[str] = []
        for relation in relations[:_MOST_NAMED]:
            details = relation.details
            subject = names.get(details.subject_id or "", "")
            value = names.get(details.value_entity_id or "", "")
            slot = (details.slot or "").replace("_", " ")
            sentences.append(
                f"{value} is the {slot} of {subject} ({relation.claim.object_id}). No entity "
                "has this relation to itself: retract it, or undo the merge."
            )
        return tuple(sentences)

    def _counts(self, claim: Assertion) -> bool:
        roles = self._backend.policy.compile.show_personal_to
        is_masked = masked_for(self.principal, claim.details, roles=roles)
        return claim.is_visible(self.principal.sight()) and not is_masked
