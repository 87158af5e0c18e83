"""The results of reads and the receipts of operations, as frozen records.

Times are aware UTC datetimes; `None` is an open end. A receipt of an operation other than a plain
write (merge, erasure, reclassification, sweep, action) has a stamp of its own. A retry with the
same id returns the first receipt with `replayed=True`. After an erasure only the ids in its receipt
are kept. Checklist C-061 to C-063.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .claim import Permissions
from .context_object import ContextObject
from .entity import Review, SlotValue
from .records import short_repr
from .vocabulary import ActionKind, SlotStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotCandidate:
    """A claim that takes part in deciding a slot at one instant."""

    __repr__ = short_repr

    object_id: str
    op: str
    value: SlotValue
    status: str
    reason: str
    authority_level: int
    source_origin: str
    valid_from: datetime | None
    valid_until: datetime | None
    tx: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotState:
    """The answer of a slot at (valid, tx)."""

    __repr__ = short_repr

    status: SlotStatus
    value: SlotValue = None
    """The clean value; None otherwise."""
    values: tuple[SlotValue, ...] = ()
    """All shown values, in order of first tx, then object id."""
    reason: str = ""
    """Why unknown: `no_value`, `unknown_entity`, `ambiguous_entity`, `withheld`."""
    candidates: tuple[SlotCandidate, ...] = ()
    """The deciding heads."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    object: ContextObject | None = None
    """The object that is shown, when exactly one is."""
    entities: tuple[str, ...] = ()
    """Of an ambiguous entity: the canonical ids it may mean."""
    precision: str = ""
    """`year` or `month` where `valid_from` is the first instant of one that was stated."""
    possibly: bool = False
    """Whether the view lies inside of that year or month, so that the value may not hold yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of valid time with one answer."""

    __repr__ = short_repr

    valid_from: datetime | None
    valid_until: datetime | None
    state: SlotState


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of belief between two transaction times."""

    __repr__ = short_repr

    kind: str
    """`opened` or `closed`."""
    entity: str | None
    slot: str | None
    value: SlotValue
    valid_from: datetime | None
    valid_until: datetime | None
    status: str
    object_id: str
    tx: datetime
    actor: str = ""
    """Who made it; empty when that was done with an object that the caller may not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One transaction as the log tells it: who did what, and when."""

    __repr__ = short_repr

    tx: datetime
    actor: str
    op: str
    """`write`, `replay`, or the name of an operation such as `merge`."""
    sentences: tuple[str, ...]
    """What it was about, with names, in order; only what the caller may see."""
    objects: tuple[str, ...]
    """The objects that it brought or changed, of those that the caller may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """A version row on both axes."""

    __repr__ = short_repr

    vid: int
    object_id: str
    op: str
    value: SlotValue
    valid_from: datetime | None
    valid_until: datetime | None
    tx_start: datetime
    tx_end: datetime | None
    status: str
    reason: str
    head: bool
    authority_level: int
    source_origin: str
    scope: str
    erased: bool = False
    actor: str = ""
    """Who made this version; empty when that was done with an object the caller may not see."""
    precision: str = ""
    """`year` or `month` where `valid_from` is the first instant of one that was stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An edge between claims as `explain` shows it."""

    __repr__ = short_repr

    kind: str
    object_id: str
    """The claim at the other end."""
    reason: str
    relation: str
    valid_from: datetime | None
    valid_until: datetime | None
    tx: datetime
    merge_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionView:
    """A name inside a text, and whom it means."""

    __repr__ = short_repr

    start: int
    """First character in the text."""
    end: int
    """One past the last character."""
    surface: str
    """The name as it is there; empty once the text was erased."""
    entity: str
    """Canonical id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackSign:
    """A sign of an attack that the detectors see in a text."""

    __repr__ = short_repr

    attack: str
    """The class of attack that it points to, such as `indirect` or `smuggling`."""
    code: str
    """The sign, such as `override_instructions`."""
    detail: str
    """What was seen: counts and short quotes, never a secret."""

    def __str__(self) -> str:
        """The sign in words: its class, its code and what was seen."""
        return f"{self.attack}, {self.code}".replace("_", " ") + f": {self.detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Why an object is quarantined, and what to do about it."""

    __repr__ = short_repr

    reason: str
    """`injection_suspected` or `policy_hold`."""
    signs: tuple[AttackSign, ...]
    """What the detectors see in its texts today, phrases first. Empty where they see nothing: a
    name that came with it was suspected, the rules have changed since, or they are masked."""
    action_id: str
    """The entry of the resolver queue that asks what becomes of it."""
    remedy: str
    """What to do, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where an object comes from, what it met, and what was compiled from it."""

    __repr__ = short_repr

    object: ContextObject
    rows: tuple[HistoryRow, ...]
    superseded: tuple[Link, ...]
    """What this object displaced or hides."""
    superseded_by: tuple[Link, ...]
    conflicts: tuple[Link, ...]
    confirmations: tuple[Link, ...]
    sources: tuple[Link, ...]
    """What it was derived from."""
    derived: tuple[Link, ...]
    """What was derived from it."""
    verdicts: tuple[dict[str, Any], ...]
    """The relations of its receipt."""
    envelopes: tuple[str, ...] = ()
    mentions: tuple[MentionView, ...] = ()
    """The names inside its text, in order."""
    quarantine: Quarantine | None = None
    """Why it is quarantined, as long as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """An entity as known at (valid, tx)."""

    __repr__ = short_repr

    entity_id: str
    """Canonical id."""
    name: str
    type: str
    state: str
    members: tuple[str, ...]
    aliases: tuple[str, ...]
    external_ids: dict[str, str]
    """One identifier a scheme, the oldest."""
    identifiers: tuple[tuple[str, str], ...] = ()
    """Every (scheme, value), by scheme, the oldest first: of e-mail addresses, phones, handles and
    domains there may be several."""
    redirected_from: str | None = None
    """The merged-away id that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What stands around an entity, nearest first."""

    __repr__ = short_repr

    entities: tuple[EntityView, ...]
    facts: tuple[ContextObject, ...]
    edges: tuple[tuple[str, str, str], ...]
    """(from entity, slot, to entity)."""
    truncated: bool
    """Whether a cap of the policy cut the walk."""
    withheld: bool = False
    """Whether something around it may not be seen by the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A found object with its score."""

    __repr__ = short_repr

    object: ContextObject
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search found; it is read, counted and tested like the hits themselves."""

    __repr__ = short_repr

    hits: tuple[SearchHit, ...]
    withheld: bool = False
    """Whether something that matches may not be seen; only an auditor is told, since anybody else
    could guess words until it turned true."""
    truncated: bool = False

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> SearchHit:
        return self.hits[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something in the resolver queue."""

    __repr__ = short_repr

    action_id: str
    kind: ActionKind
    object_id: str
    """The object it is about."""
    slot_key: str | None
    entity: str | None
    slot: str | None
    members: tuple[str, ...]
    """Of a tie: the objects that tie."""
    valid_from: datetime | None
    valid_until: datetime | None
    opened: datetime
    closed: datetime | None = None
    outcome: str = ""
    closed_by: str = ""
    detail: dict[str, Any] = field(default_factory=dict[str, Any])


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
    warnings: tuple[str, ...] = ()
    """Relations between the two, in sentences: merged, somebody is their own manager."""


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
class ErasedEnvelope:
    """An envelope that an erasure emptied, and who had received it."""

    __repr__ = short_repr

    envelope_id: str
    user: str | None = None
    """None also where the user is who was erased."""
    session: str | None = None
    project: str | None = None
    task: str = ""
    valid: datetime | None = None
    tx: datetime | None = None
    tokens: int = 0
    object_ids: tuple[str, ...] = ()
    """The erased objects that it held, sorted; none where only its request named the entity."""


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
    recipients: tuple[ErasedEnvelope, ...] = ()
    """Who had received each of these envelopes, by envelope id."""
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
