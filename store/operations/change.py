"""The change of one operation: its actor, its stamp and everything its batch will hold.

An operation locks the tenant, gathers what it does in an `OperationChange` and applies one `Batch`
with one stamp and one event.

Reclassify changes who may see an object, at all times at once. Permissions belong to the object and
not to its rows, so a read of the past applies today's. A derived object may not be wider than its
source: dependants are tightened in the same transaction, and never widened.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeVar, cast

from ...resolution.clusters import pair
from ...schema.answers import ReclassifyReceipt
from ...schema.claim import Assertion, Edge, Permissions, Row
from ...schema.entity import Alias, Entity, Judgement, Review
from ...schema.errors import NotFound
from ...schema.principal import EVERYONE_TAG
from ...schema.record_json import from_plain, to_plain
from ...schema.values import canonical_json, stamp_time
from ...schema.vocabulary import JudgedBy, JudgementVerdict
from ..port.records import ActionClosing, Closing, Flag, PermissionChange, StoredReceipt, Tombstone
from ..port.store import ActionRecord, Batch, Clock, SlotRecord, TxEvent, WriteTx
from ..port.tables import RECEIPTS
from ..timeline.ledger import RowLedger

Receipt = TypeVar("Receipt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mandate:
    """Who orders an operation, when, why, and under which id."""

    operation_id: str
    """A uuid; a retry under the same id returns the first receipt."""
    actor: str
    now_us: int
    reason: str = ""


_AS_GATHERED: Final = (
    *("entities", "aliases", "slots", "claims", "judgements", "reviews", "canonical", "actions"),
    *("flags", "permissions", "tombstones", "receipts"),
)
"""What a batch takes as it was gathered."""


@dataclass(slots=True, kw_only=True)
class OperationChange:
    """What an operation has gathered so far; lives for one call."""

    mandate: Mandate
    clock: Clock
    """The counters before it."""
    op: str
    """The word of the audit log."""
    ledger: RowLedger
    objects: list[str] = field(default_factory=list[str])
    """The objects the event names."""
    entities: list[Entity] = field(default_factory=list[Entity])
    aliases: list[Alias] = field(default_factory=list[Alias])
    closed_aliases: list[Alias] = field(default_factory=list[Alias])
    block_keys: dict[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )
    slots: list[SlotRecord] = field(default_factory=list[SlotRecord])
    claims: list[Assertion] = field(default_factory=list[Assertion])
    quarantined_rows: list[Row] = field(default_factory=list[Row])
    closed_rows: list[Row] = field(default_factory=list[Row])
    """Rows outside the ledger: those of quarantined claims."""
    edges: list[Edge] = field(default_factory=list[Edge])
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    closed_judgements: list[str] = field(default_factory=list[str])
    reviews: list[Review] = field(default_factory=list[Review])
    canonical: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    actions: list[ActionRecord] = field(default_factory=list[ActionRecord])
    closed_actions: dict[str, str] = field(default_factory=dict[str, str])
    """Outcome by action id."""
    flags: list[Flag] = field(default_factory=list[Flag])
    permissions: list[PermissionChange] = field(default_factory=list[PermissionChange])
    tombstones: list[Tombstone] = field(default_factory=list[Tombstone])
    receipts: list[StoredReceipt] = field(default_factory=list[StoredReceipt])

    @property
    def stamp(self) -> int:
        """The operation's own stamp, later than every earlier one."""
        # A clock that jumped back must not write into what was read already.
        return max(self.mandate.now_us, self.clock.last_us + 1)

    @property
    def at(self) -> datetime:
        """The stamp as a datetime."""
        return stamp_time(self.stamp)

    def flag(self, object_id: str, kind: str, *, on: bool) -> None:
        """Set or lift a mark of an object."""
        self.flags.append(Flag(object_id, kind, on, self.stamp))

    def close_actions(self, actions: Iterable[ActionRecord], outcome: str) -> None:
        """Close entries of the resolver queue, each once."""
        # The first step that ended it says why; a later one has found it closed.
        for action in actions:
            self.closed_actions.setdefault(action.action_id, outcome)

    @property
    def action_ids(self) -> tuple[str, ...]:
        """The entries that it puts into the resolver queue."""
        return tuple(action.action_id for action in self.actions)

    def keep(self, key: str, body: str) -> None:
        """Keep a receipt for retries under a key of its own."""
        self.receipts.append(
            StoredReceipt(
                object_id=key, tx=self.stamp, body=body, idempotency_key=None, fingerprint=""
            )
        )

    def keep_receipt(self, key: str, receipt: object) -> None:
        """Keep the receipt of an operation; `kept_receipt` reads it back."""
        self.keep(key, canonical_json(to_plain(receipt)))

    def batch(self) -> Batch:
        """Everything as one batch, with one event of the audit log."""
        stamp, actor = self.stamp, self.mandate.actor
        event = TxEvent(
            seq=self.clock.seq + 1,
            tx=stamp,
            actor=actor,
            op=self.op,
            object_ids=tuple(dict.fromkeys(self.objects)),
        )

        closings = [*self.ledger.closings]
        for row in self.closed_rows:
            closings.append(Closing(row.vid, stamp))

        closed_actions: list[ActionClosing] = []
        for action_id, outcome in sorted(self.closed_actions.items()):
            closed_actions.append(ActionClosing(action_id, stamp, outcome, actor))

        quarantined_rows: list[Row] = []
        for row in self.quarantined_rows:
            quarantined_rows.append(replace(row, vid=self.ledger.next_vid))
            self.ledger.next_vid += 1

        # Two steps of one operation may draw the same edge or close the same row: each is once.
        closed_judgements = dict.fromkeys(self.closed_judgements, stamp)
        return Batch(
            clock=Clock(self.clock.seq + 1, stamp, self.ledger.next_vid, self.clock.vec_seq),
            events=(event,),
            closed_aliases=tuple((alias, stamp) for alias in self.closed_aliases),
            block_keys=self.block_keys,
            close=tuple(closings),
            rows=(*self.ledger.rows, *quarantined_rows),
            edges=tuple(dict.fromkeys(self.edges)),
            closed_judgements=tuple(closed_judgements.items()),
            closed_actions=tuple(closed_actions),
            **{name: tuple(getattr(self, name)) for name in _AS_GATHERED},
        )


def begin(clock: Clock, mandate: Mandate, op: str) -> OperationChange:
    """An empty change over counters that were read under the lock."""
    return OperationChange(mandate=mandate, clock=clock, op=op, ledger=RowLedger(clock.next_vid))


def derived_id(base: str, name: str) -> str:
    """An id that follows from another: the same on every store and in every retry."""
    return str(uuid.uuid5(uuid.UUID(base), name))


def judgement_of(
    change: OperationChange,
    ids: tuple[str, str],
    verdict: JudgementVerdict,
    judged_by: JudgedBy,
    name: str,
) -> Judgement:
    """What an operation judges about two entities; its id follows from the operation."""
    left, right = pair(*ids)
    return Judgement(
        judgement_id=derived_id(change.mandate.operation_id, f"{name}/{left}/{right}"),
        merge_id=change.mandate.operation_id,
        left_id=left,
        right_id=right,
        verdict=verdict,
        judged_by=judged_by,
        actor=change.mandate.actor,
        reason=change.mandate.reason,
        tx_start=change.stamp,
    )


def kept_receipt(
    tx: WriteTx, kind: type[Receipt], key: str, **later_fields: object
) -> Receipt | None:
    """The receipt of an operation that was run before under a key, marked as replayed; else None.

    `later_fields` are the values of fields that receipts of older versions do not have.
    """
    # An erasure keeps the receipt and empties it: such a call counts as never made.
    for receipt in tx.find(RECEIPTS, "object_id", (key,)):
        if receipt.body:
            plain = {**later_fields, **json.loads(receipt.body), "replayed": True}
            return cast("Receipt", from_plain(kind, plain))
    return None


def unknown_entity(entity_id: str) -> NotFound:
    """The error of an entity that is not there, or was erased."""
    return NotFound(
        f"there is no entity {entity_id}, or it was erased; "
        "look it up with `tenure entities` (entities.list())",
        code="unknown_entity",
        entity=entity_id,
    )


def unknown_object(object_id: str) -> NotFound:
    """The error of an object that is not there, or was erased."""
    return NotFound(
        f"there is no object {object_id}, or it was erased; "
        "take the id from a receipt or from `tenure history`",
        code="unknown_object",
        object_id=object_id,
    )


def reclassify(
    tx: WriteTx, object_id: str, permissions: Permissions, *, mandate: Mandate
) -> ReclassifyReceipt:
    """Set the permissions of an object, and tighten what was derived from it.

    Raises:
        NotFound: `unknown_object`.
    """
    change = begin(tx.lock(), mandate, "reclassify")
    if object_id not in tx.assertions((object_id,)):
        raise unknown_object(object_id)

    permissions_of = {object_id: permissions}
    dependants = tx.assertions(tx.dependants((object_id,)))
    for dependant, assertion in dependants.items():
        narrow = narrowed_permissions(assertion.permissions, permissions)
        if narrow != assertion.permissions:
            permissions_of[dependant] = narrow

    change.objects += permissions_of
    for affected_id, new_permissions in permissions_of.items():
        change.permissions.append(
            PermissionChange(affected_id, new_permissions, change.stamp, mandate.actor)
        )
    tx.apply(change.batch())
    return ReclassifyReceipt(
        object_id=object_id,
        permissions=permissions,
        tx=change.at,
        tightened=tuple(sorted(permissions_of.keys() - {object_id})),
    )


def narrowed_permissions(target: Permissions, source: Permissions) -> Permissions:
    """Permissions no wider than a source's: highest class, both lists, every denial.

    >>> both = Permissions(allow=("hr", "legal"))
    >>> narrowed_permissions(both, Permissions(allow=("legal",))).allow
    ('legal',)
    """
    own_roles, source_roles = set(target.allow), set(source.allow)
    if EVERYONE_TAG in own_roles:
        roles = source_roles
    elif EVERYONE_TAG in source_roles:
        roles = own_roles
    else:
        roles = own_roles & source_roles

    # An allow list is never empty, so two lists that share no role deny everyone instead.
    deny = set(target.deny) | set(source.deny)
    if not roles:
        deny.add(EVERYONE_TAG)
    return Permissions(
        classification=max(target.classification, source.classification, key=lambda c: c.rank),
        allow=tuple(sorted(roles)) or target.allow,
        deny=tuple(sorted(deny)),
    )
