"""Evidence: what a write says of a name that cannot change, and what is stored of its bearers.

The lines of one record are weighed together, whatever their order: a birth date of one line tells
who the other lines are about. What is stored is read only where a name could be bound and the
write states something that may speak for or against it. Decides nothing about identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...resolution.identifiers import BUILT_IN_CONSTANTS, place_slots
from ...resolution.keys import alias_key, as_ref, is_id
from ...resolution.known import Lookup
from ...resolution.register import Register, Rules
from ...schema.claim import Row, slot_key
from ...schema.interval import ALL_TIME
from ...schema.policy import ResolutionPolicy
from ...schema.vocabulary import Op, Status
from ...schema.write import RECORD_SCHEME, Draft
from ..port.store import SlotRead, WriteTx
from ..port.tables import SLOTS

RECORD: Final = "record"
"""In place of a slot: the record that has said something of an entity."""

MentionLines = tuple[str, tuple[tuple[str, str], ...], str, str]
"""What the lines about one subject have in common: key, identifiers, scope and origin."""


def lines_key(draft: Draft) -> MentionLines | None:
    """What tells the subjects of a write apart; None for one that is named by id."""
    if draft.subject is None or draft.slot_key is not None:
        return None
    if isinstance(draft.subject, str) and is_id(draft.subject):
        return None
    ref = as_ref(draft.subject)
    identifiers = tuple(sorted(ref.external_ids.items()))
    return (
        alias_key(ref.name),
        identifiers,
        draft.details.scope.scope_id,
        draft.details.source_origin,
    )


def evidence_of(
    drafts: Sequence[Draft], bands: ResolutionPolicy
) -> dict[MentionLines, dict[str, str]]:
    """The value keys by slot that the lines about each subject state and that cannot change.

    A record of a register states its place as well. Of anyone else a new place is a move.
    """
    evidence: dict[MentionLines, dict[str, str]] = {}
    places = place_slots(bands)
    for draft in drafts:
        key = lines_key(draft)
        slot = draft.slot
        if key is None or slot is None or slot.many:
            continue
        is_record = draft.details.source_origin.startswith(RECORD_SCHEME)
        if not (slot.constant or (is_record and slot.name in places)):
            continue
        # Talk is about whom the listener knows: a second value contradicts and parts nobody.
        if draft.details.derived_from:
            continue
        if draft.op in (Op.ASSERT, Op.CORRECT) and draft.value_key and not draft.quarantine:
            evidence.setdefault(key, {}).setdefault(slot.name, draft.value_key)
    return evidence


@dataclass(slots=True)
class StoredFacts:
    """What a store and this transaction say of candidates, read once each."""

    tx: WriteTx
    register: Register
    rules: Rules
    origin: str
    slots: frozenset[str]
    """The constant slots that the write states something about."""
    stamp: int
    """The transaction time of the write."""
    _constants: dict[str, Mapping[str, frozenset[str]]] = field(
        default_factory=dict[str, Mapping[str, frozenset[str]]]
    )

    def constants(self, root: str) -> Mapping[str, frozenset[str]]:
        """The value keys of the slots that cannot change, by slot."""
        if root not in self._constants:
            self._constants[root] = self._read(root)
        return self._constants[root]

    def _read(self, root: str) -> Mapping[str, frozenset[str]]:
        keys: dict[str, set[str]] = {}
        for slot, key in self.register.said_of(root):
            if slot != RECORD:
                keys.setdefault(slot, set()).add(key)

        slot_of_key: dict[str, str] = {}
        for slot in sorted(self.slots | BUILT_IN_CONSTANTS):
            for member in self.register.members(root):
                for scope_id in sorted(self.rules.scopes):
                    slot_of_key[slot_key(member, slot, scope_id)] = slot

        (rows,) = self.tx.open_rows((SlotRead(tuple(slot_of_key), ALL_TIME, full=False),))
        shown_rows: list[Row] = []
        for row in rows:
            is_stated = row.claim.op is not Op.DENY and not row.claim.says_nothing
            if row.look.head and is_stated and row.look.status is not Status.QUARANTINED:
                shown_rows.append(row)

        visible_ids = self._visible([row.claim.object_id for row in shown_rows])
        for row in shown_rows:
            if row.claim.object_id in visible_ids:
                keys.setdefault(slot_of_key[row.claim.slot_key], set()).add(row.claim.value_key)
        return {slot: frozenset(values) for slot, values in keys.items()}

    def bearers(self, lookup: Lookup) -> int:
        """How many people that the writer may see have the family name of a record's look-up."""
        if not (self.origin.startswith(RECORD_SCHEME) or self.rules.evidence):
            return 0
        now = self.register.bearers_now(lookup.family, self.rules) if lookup.family else 0
        return (
            now + self.tx.known(lookup, scopes=sorted(self.rules.scopes), tx_us=self.stamp).bearers
        )

    def shares_record(self, root: str) -> bool:
        """Whether the record that the write comes from has said something of an entity."""
        if not self.origin.startswith(RECORD_SCHEME):
            return False
        if (RECORD, self.origin) in self.register.said_of(root):
            return True

        records = self.tx.find(SLOTS, "subject_id", self.register.members(root))
        keys = tuple(record.slot_key for record in records if record.slot is not None)
        if not keys:
            return False
        (rows,) = self.tx.open_rows((SlotRead(keys, ALL_TIME, full=False),))
        for assertion in self.tx.assertions(sorted({row.claim.object_id for row in rows})).values():
            is_visible = self.rules.sight is None or assertion.is_visible(self.rules.sight)
            if is_visible and assertion.details.source_origin == self.origin:
                return True
        return False

    def _visible(self, object_ids: Sequence[str]) -> frozenset[str]:
        sight = self.rules.sight
        if sight is None or not object_ids:
            return frozenset(object_ids)
        assertions = self.tx.assertions(sorted(set(object_ids)))
        return frozenset(i for i, assertion in assertions.items() if assertion.is_visible(sight))
