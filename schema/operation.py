"""Receipts of operations that are no plain writes: merge, erase, reclassify, sweep, actions.

Each carries its own stamp. A retry under the same id returns the first receipt with
`replayed=True`; the ids of an erasure's receipt are all that is left of what it emptied.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .claim import Permissions
from .entity import Review
from .short_repr import short_repr
from .vocabulary import ActionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReceipt:
    """What a merge did."""

    __repr__ = short_repr

    merge_id: str
    canonical_id: str
    """The id that survives."""
    replanned_slots: tuple[str, ...]
    """`canonical id/slot/scope` of every slot that became one, sorted."""
    tx: datetime
    members: tuple[str, ...]
    """Raw ids of the cluster, sorted."""
    actions: tuple[str, ...] = ()
    """Ties that the merge opened."""
    bridges: tuple[tuple[str, str], ...] = ()
    """Pairs that alone hold two groups together; look at them twice."""
    replayed: bool = False
    """The two were one already, or this is a retry."""
    withheld: bool = False
    """Whether some of its members, slots, ties or bridges may not be seen by the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmergeReceipt:
    """What an un-merge did."""

    __repr__ = short_repr

    merge_id: str
    parts: tuple[tuple[str, ...], ...]
    """Raw ids of each part that came apart, its canonical id first."""
    replanned_slots: tuple[str, ...]
    tx: datetime
    actions: tuple[str, ...] = ()
    replayed: bool = False
    withheld: bool = False
    """Whether some of its parts, members, slots or ties may not be seen by the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReceipt:
    """What a decision of a review did."""

    __repr__ = short_repr

    review: Review
    """The case in its new version."""
    tx: datetime
    canonical_id: str
    """The id under which the pending entity is known now."""
    merge: MergeReceipt | None = None
    unmerge: UnmergeReceipt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erasure emptied, and what it left; ids only."""

    __repr__ = short_repr

    erasure_id: str
    tx: datetime
    actor: str
    reason: str
    object_ids: tuple[str, ...]
    """Every object that was emptied, sorted: the ones asked for and what repeated them."""
    entity_ids: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    """Objects that say the same, or name the entity, on their own behalf and stay, sorted."""
    stale: tuple[str, ...] = ()
    """Derived objects that stay and are flagged stale, sorted."""
    actions: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    """Artifacts that held their words and were erased with them, sorted."""
    originals: tuple[str, ...] = ()
    """Artifacts they were taken from, which stay until `memory.artifacts.erase`, sorted."""
    envelopes: tuple[str, ...] = ()
    """Envelopes that held an object of it, or whose request named it, and were emptied, sorted."""
    sessions: tuple[str, ...] = ()
    """Sessions whose texts named the entity and were emptied, or name it in a single word and
    wait for a person to look, sorted."""
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclassifyReceipt:
    """What a change of permissions did."""

    __repr__ = short_repr

    object_id: str
    permissions: Permissions
    tx: datetime
    tightened: tuple[str, ...] = ()
    """Derived objects that had to follow, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionReceipt:
    """How an entry of the resolver queue was closed."""

    __repr__ = short_repr

    action_id: str
    kind: ActionKind
    outcome: str
    tx: datetime
    object_ids: tuple[str, ...] = ()
    """Objects written, archived or confirmed."""
    erasure: ErasureReceipt | None = None
    merge: MergeReceipt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReceipt:
    """What one batch of a sweep did, object ids in order of their rows."""

    __repr__ = short_repr

    tx: datetime | None
    """The stamp; of a batch with nothing to do the last one, None for an empty tenant."""
    examined: int
    archived: tuple[str, ...] = ()
    demoted: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Objects for which a confirmation was asked."""
    erased: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    """Archived, and waiting for somebody who may erase."""
    remaining: bool = False
    """Whether due objects are left for a next batch."""
    dry_run: bool = False

    @property
    def touched(self) -> int:
        """How many objects the batch retired in one way or another."""
        kinds = (self.archived, self.demoted, self.asked, self.erased, self.approvals)
        return sum(map(len, kinds))
