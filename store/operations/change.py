"""One operation's change: who ordered it, its stamp, and everything its batch will hold.

An operation locks the tenant, gathers what it does in a `Change` and applies one `Batch` with
one stamp and one event. Nothing here decides anything.
Sources: DESIGN 2; settled 1 (each write has its own stamp).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from ...resolution.clusters import pair
from ...schema.claim import Assertion, Edge, Row
from ...schema.entity import Alias, Entity, Judgement, Review
from ...schema.errors import NotFound
from ...schema.values import stamped
from ...schema.vocabulary import JudgedBy, JudgementVerdict
from ..port.store import (
    ActionClosing,
    ActionRecord,
    Batch,
    Clock,
    Closing,
    Flag,
    PermissionChange,
    SlotRecord,
    StoredReceipt,
    Tombstone,
    TxEvent,
    WriteTx,
)
from ..timeline.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Mandate:
    """Who orders an operation, when, why, and under which id."""

    operation_id: str
    """A uuid; a retry under the same id returns the first receipt."""
    actor: str
    now_us: int
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Change:
    """What an operation has gathered so far; lives for one call."""

    mandate: Mandate
    clock: Clock
    """The counters before it."""
    op: str
    """The word of the audit log."""
    ledger: Ledger
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
        """Return the operation's own stamp."""
        return max(self.mandate.now_us, self.clock.last_us + 1)

    @property
    def at(self) -> datetime:
        """Return the stamp as a datetime."""
        return stamped(self.stamp)

    def flag(self, object_id: str, kind: str, *, on: bool) -> None:
        """Set or lift a mark of an object."""
        self.flags.append(Flag(object_id, kind, on, self.stamp))

    def close_actions(self, actions: Iterable[ActionRecord], outcome: str) -> None:
        """Close entries of the resolver queue, each once."""
        for action in actions:
            self.closed_actions.setdefault(action.action_id, outcome)

    def keep(self, key: str, body: str) -> None:
        """Keep a receipt for retries under a key of its own."""
        self.receipts.append(
            StoredReceipt(
                object_id=key, tx=self.stamp, body=body, idempotency_key=None, fingerprint=""
            )
        )

    def batch(self) -> Batch:
        """Return everything as one batch."""
        stamp, actor = self.stamp, self.mandate.actor
        return Batch(
            clock=Clock(self.clock.seq + 1, stamp, self.ledger.next_vid, self.clock.vec_seq),
            events=(
                TxEvent(
                    seq=self.clock.seq + 1,
                    tx=stamp,
                    actor=actor,
                    op=self.op,
                    object_ids=tuple(dict.fromkeys(self.objects)),
                ),
            ),
            entities=tuple(self.entities),
            aliases=tuple(self.aliases),
            closed_aliases=tuple((alias, stamp) for alias in self.closed_aliases),
            block_keys=self.block_keys,
            slots=tuple(self.slots),
            claims=tuple(self.claims),
            close=(
                *self.ledger.closings,
                *(Closing(row.vid, stamp) for row in self.closed_rows),
            ),
            rows=self.ledger.rows,
            edges=tuple(dict.fromkeys(self.edges)),
            judgements=tuple(self.judgements),
            closed_judgements=tuple((found, stamp) for found in self.closed_judgements),
            reviews=tuple(self.reviews),
            canonical=tuple(self.canonical),
            actions=tuple(self.actions),
            closed_actions=tuple(
                ActionClosing(found, stamp, outcome, actor)
                for found, outcome in sorted(self.closed_actions.items())
            ),
            flags=tuple(self.flags),
            permissions=tuple(self.permissions),
            tombstones=tuple(self.tombstones),
            receipts=tuple(self.receipts),
        )


def begin(clock: Clock, mandate: Mandate, op: str) -> Change:
    """Return an empty change over counters read under the lock."""
    return Change(mandate=mandate, clock=clock, op=op, ledger=Ledger(clock.next_vid))


def derived_id(base: str, name: str) -> str:
    """Return an id that follows from another: the same on every store and in every retry."""
    return str(uuid.uuid5(uuid.UUID(base), name))


def judged(
    change: Change,
    ids: tuple[str, str],
    verdict: JudgementVerdict,
    judged_by: JudgedBy,
    name: str,
) -> Judgement:
    """Return what an operation judges about two entities; its id follows from the operation."""
    left, right = pair(*ids)
    return Judgement(
        judgement_id=derived_id(change.mandate.operation_id, f"{name}/{left}/{right}"),
        merge_id=change.mandate.operation_id,
        left_id=left,
        right_id=right,
        verdict=verdict,
        judged_by=judged_by,
        actor=change.mandate.actor,
        score=None,
        log_odds=None,
        evidence="{}",
        model_version="",
        reason=change.mandate.reason,
        tx_start=change.stamp,
    )


def first_receipt(tx: WriteTx, key: str) -> str | None:
    """Return the stored receipt of an operation, None for a first call."""
    return next((r.body for r in tx.receipts((), (key,)) if r.body), None)


def unknown_object(object_id: str) -> NotFound:
    """Return the error of an object that is not there, or was erased."""
    return NotFound(
        f"there is no object {object_id}, or it was erased; look it up with explain()",
        code="unknown_object",
        object_id=object_id,
    )
