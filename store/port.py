"""The store port: what a store must do, and nothing about how.

Two adapters implement it, SQLite and Neo4j, and one contract suite runs over both. A tenant
is a partition: every method belongs to one tenant, and every read of objects carries the
caller's `Sight` and the `Point` it is asked at, so an unscoped query cannot be written.

Guarantees. A write transaction holds the tenant's one write lock from `lock` to commit, so
commit order equals tx order. What `apply` is given becomes durable as a whole or not at all.
A `Reader` is one consistent snapshot. Rows are never changed but for one closing of
`tx_end`; content, permissions, usage, vectors and flags stand in tables of their own.
Candidates are proposed generously, filtered by sight and time; scoring is the compiler's.

Sources: DESIGN 6; settled 1 and 8; bitemporal 8; neo4j 2 to 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from ..resolution.known import Known, Lookup
from ..schema.claim import Assertion, Claim, Edge, Permissions, Row, Version
from ..schema.entity import Alias, Entity, Identifier, Judgement, Review
from ..schema.interval import Interval
from ..schema.principal import Sight
from ..schema.vocabulary import ActionKind


class Point(NamedTuple):
    """A point on both axes."""

    valid_us: int
    tx_us: int


class Clock(NamedTuple):
    """The counters of a tenant; an empty tenant has seq 0 and last stamp `MIN_US`."""

    seq: int
    """How many writes were stamped, without gaps."""
    last_us: int
    """The last stamp."""
    next_vid: int
    """The number the next version row takes."""
    vec_seq: int
    """How many vector rows were ever put."""


@dataclass(frozen=True, slots=True)
class SlotRead:
    """The open rows that a write needs of one slot (of all members of a cluster)."""

    slot_keys: tuple[str, ...]
    span: Interval
    full: bool
    """Also hidden rows: for `correct`, `retract` and `delete`."""


@dataclass(frozen=True, slots=True)
class SlotRecord:
    """A slot as it is stored."""

    slot_key: str
    subject_id: str | None
    """None for text that asserts no slot."""
    slot: str | None
    scope_id: str
    many: bool


@dataclass(frozen=True, slots=True)
class Closing:
    """The one change a row may see."""

    vid: int
    tx: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TxEvent:
    """One stamped write in the audit log; digests chain."""

    seq: int
    tx: int
    actor: str
    op: str
    object_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipt:
    """A receipt by object id and, when it was given one, by idempotency key."""

    object_id: str
    tx: int
    body: str
    """The receipt as canonical JSON."""
    idempotency_key: str | None
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    """An entry of the resolver queue."""

    action_id: str
    kind: ActionKind
    object_id: str
    slot_key: str | None
    interval: Interval
    members: tuple[str, ...]
    detail: str
    """Canonical JSON."""
    tx_start: int
    tx_end: int
    outcome: str = ""
    closed_by: str = ""


@dataclass(frozen=True, slots=True)
class ActionClosing:
    """How an action ended."""

    action_id: str
    tx: int
    outcome: str
    closed_by: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A recorded mark on an object: it is a log, a later one of the same kind wins.

    Kinds: `stale` (a source changed), `demoted` (archival tier), `confirm_due`. `on` False
    lifts the mark.
    """

    object_id: str
    kind: str
    on: bool
    tx: int


@dataclass(frozen=True, slots=True)
class PermissionChange:
    """A recorded change of an object's permissions; acts on all times at once."""

    object_id: str
    permissions: Permissions
    tx: int
    actor: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector of a claim for one encoder; part is `why` or the number of a chunk."""

    object_id: str
    encoder_id: str
    part: str
    vec16: bytes
    """int16, little endian, `rint(4000 x)` of the normalised vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What an erasure leaves: who, when and why, and nothing of what."""

    erasure_id: str
    tx: int
    actor: str
    reason: str
    object_ids: tuple[str, ...]
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything one transaction writes; applied in the order of the fields."""

    clock: Clock
    """The counters after it."""
    events: tuple[TxEvent, ...] = ()
    entities: tuple[Entity, ...] = ()
    """New ones, or known ones with another name, type or state."""
    aliases: tuple[Alias, ...] = ()
    closed_aliases: tuple[tuple[Alias, int], ...] = ()
    """An open alias and the tx that closes it."""
    identifiers: tuple[Identifier, ...] = ()
    block_keys: Mapping[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )
    """(key, kind) pairs by norm of a new alias."""
    slots: tuple[SlotRecord, ...] = ()
    claims: tuple[Assertion, ...] = ()
    close: tuple[Closing, ...] = ()
    rows: tuple[Row, ...] = ()
    """New rows with their vids; a row may be born closed."""
    edges: tuple[Edge, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    closed_judgements: tuple[tuple[str, int], ...] = ()
    reviews: tuple[Review, ...] = ()
    """New cases, and decided ones with a higher version."""
    canonical: tuple[tuple[str, str], ...] = ()
    """(raw id, canonical id) of members whose cluster changed: a projection for look-ups."""
    actions: tuple[ActionRecord, ...] = ()
    closed_actions: tuple[ActionClosing, ...] = ()
    flags: tuple[Flag, ...] = ()
    permissions: tuple[PermissionChange, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    receipts: tuple[StoredReceipt, ...] = ()


class RecordKind(StrEnum):
    """What an export is made of, in the order in which a restore applies it."""

    EVENT = "event"
    ENTITY = "entity"
    ALIAS = "alias"
    IDENTIFIER = "identifier"
    SLOT = "slot"
    CLAIM = "claim"
    ROW = "row"
    EDGE = "edge"
    JUDGEMENT = "judgement"
    REVIEW = "review"
    ACTION = "action"
    FLAG = "flag"
    PERMISSION = "permission"
    TOMBSTONE = "tombstone"
    RECEIPT = "receipt"


class IdentityReads(Protocol):
    """Look-ups that resolution needs; a writer asks them under the lock."""

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        ...

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, aliases, identifiers and judgements."""
        ...


class WriteTx(IdentityReads, Protocol):
    """One write transaction of a tenant; leaving it cleanly commits."""

    def lock(self) -> Clock:
        """Take the tenant's write lock and return its counters; first call of all."""
        ...

    def receipts(
        self, keys: Sequence[str], object_ids: Sequence[str] = ()
    ) -> tuple[StoredReceipt, ...]:
        """Return the receipts of idempotency keys and of objects."""
        ...

    def open_rows(self, reads: Sequence[SlotRead]) -> tuple[tuple[Row, ...], ...]:
        """Return, for each read, the open rows that overlap its span, by vid.

        Without `full`: the heads, and denials whether they are heads or not. Rows of
        quarantined claims are left out.
        """
        ...

    def rows_of(self, object_ids: Sequence[str]) -> tuple[Row, ...]:
        """Return the open rows of objects, quarantined ones included, by vid."""
        ...

    def slot_claims(self, slot_keys: Sequence[str]) -> tuple[Claim, ...]:
        """Return every claim of slots that is not quarantined or erased, in order of writing."""
        ...

    def slots(self, slot_keys: Sequence[str]) -> tuple[SlotRecord, ...]:
        """Return the stored slots among the keys, by key."""
        ...

    def slots_of(self, entity_ids: Sequence[str]) -> tuple[SlotRecord, ...]:
        """Return the slots of subjects, by key."""
        ...

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Return every object whose subject or value is one of these, erased ones left out."""
        ...

    def live_objects(self, kind: str, value: str) -> tuple[str, ...]:
        """Return the objects with open rows whose scope has this id, sorted.

        `kind` is `session`, `project` or `user`, whatever other ids the scope holds.
        """
        ...

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, with all content, by vid."""
        ...

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        """Return the judgements, open and closed, of raw entities or of a merge, by id."""
        ...

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Return whole claims by object id, with today's permissions; erased ones left out."""
        ...

    def dependants(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the objects derived from these, directly or not, sorted, without them."""
        ...

    def open_actions(
        self, *, slot_keys: Sequence[str] = (), object_ids: Sequence[str] = ()
    ) -> tuple[ActionRecord, ...]:
        """Return the open actions of slots or objects, by action id."""
        ...

    def action(self, action_id: str) -> ActionRecord | None:
        """Return an entry of the resolver queue, open or closed."""
        ...

    def review(self, review_id: str) -> Review | None:
        """Return a review case in its newest version."""
        ...

    def apply(self, batch: Batch) -> None:
        """Write a batch."""
        ...

    def empty(self, object_ids: Sequence[str], entity_ids: Sequence[str]) -> None:
        """Empty what erasure must empty, in every table and index.

        Of objects: content, terms, vectors, receipts, actions and manifests that repeat it.
        Of entities: names, aliases, identifiers, blocking keys, reviews, judgement evidence.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Which versions to read; fields combine with AND, empty ones do not restrict."""

    subjects: tuple[str, ...] = ()
    """Raw entity ids."""
    slots: tuple[str, ...] = ()
    """Slot names."""
    objects: tuple[str, ...] = ()
    heads: bool = True
    """Only rows that decide an instant; quarantined ones are never heads."""
    at_valid: bool = True
    """Only rows that cover the point's valid time; False: the whole of valid time."""
    at_tx: bool = True
    """Only rows believed at the point's tx; False: every row known by then."""


class Found(NamedTuple):
    """Versions in order of vid, and how many the caller may not see."""

    versions: tuple[Version, ...]
    withheld: int
    cut: bool = False
    """Whether a limit cut the candidates."""


class Reader(IdentityReads, Protocol):
    """One consistent snapshot of a tenant.

    A version that the caller may not see is returned only by `versions`, with
    `visible=False` and no content, because it may decide a slot; everywhere else it is
    counted in `withheld`.
    """

    def clock(self) -> Clock:
        """Return the counters at the snapshot."""
        ...

    def definitions(self, after: int = 0) -> tuple[tuple[int, str], ...]:
        """Return (number, canonical JSON) of vocabulary definitions above a number."""
        ...

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Found:
        """Return the versions of an ask."""
        ...

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return heads at the point whose claim shares a term, most shared terms first."""
        ...

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Found:
        """Return the heads that a compile fetches with no query.

        They are policy rules of levels 0 and 1, tool schemas, and the preferences,
        constraints and decisions of these scopes.
        """
        ...

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return clean heads about these entities or pointing at them.

        At most `limit` for each entity: strongest authority, then trust, then vid first.
        """
        ...

    def changes(
        self, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str] = ()
    ) -> Found:
        """Return rows opened or closed in (after, until]; cost follows the changes."""
        ...

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        """Return the edges from or to objects known at a tx."""
        ...

    def receipts(self, object_ids: Sequence[str]) -> tuple[StoredReceipt, ...]:
        """Return the receipts of objects."""
        ...

    def actions(self, *, open_only: bool, tx_us: int) -> tuple[ActionRecord, ...]:
        """Return actions known at a tx, oldest first."""
        ...

    def reviews(self, *, state: str | None = None) -> tuple[Review, ...]:
        """Return review cases in their newest version, oldest first."""
        ...

    def entity_ids(self, *, type: str | None = None) -> tuple[str, ...]:
        """Return raw entity ids, sorted."""
        ...

    def slot_records(self, slot_keys: Sequence[str]) -> tuple[SlotRecord, ...]:
        """Return slots by key."""
        ...

    def slot_in_use(self, name: str) -> bool:
        """Tell whether any claim of a slot of this name was ever stored."""
        ...

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, with all content, by vid."""
        ...

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[VectorRow, ...]]:
        """Return the vector counter and the rows put after a count, in order."""
        ...

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        ...

    def manifest(self, envelope_id: str) -> str | None:
        """Return a stored manifest."""
        ...

    def manifests(self, *, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return (envelope id, manifest) pairs, newest first."""
        ...

    def envelopes_of(self, object_id: str) -> tuple[str, ...]:
        """Return the envelope ids an object was compiled into, oldest first."""
        ...

    def policy_pack(self, digest: str) -> str | None:
        """Return a stored policy pack."""
        ...

    def keys(self) -> tuple[bytes, ...]:
        """Return the tenant's secret keys, one an epoch."""
        ...

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order: the lossless logical export.

        The records are those that `Batch` takes, so that a restore is an `apply`.
        """
        ...


class Store(Protocol):
    """A store of many tenants."""

    @property
    def url(self) -> str:
        """Return where it is, without secrets."""
        ...

    def ensure(self, tenant: str, *, key: bytes | None = None) -> None:
        """Create a tenant when it is not there; `key` sets its first secret key."""
        ...

    def reading(self, tenant: str) -> AbstractContextManager[Reader]:
        """Open a snapshot."""
        ...

    def writing(self, tenant: str) -> AbstractContextManager[WriteTx]:
        """Open a write transaction; leaving it cleanly commits, an error rolls back."""
        ...

    def define(self, tenant: str, *, after: int, definition: str) -> bool:
        """Append a vocabulary definition when the list still has `after` entries."""
        ...

    def put_vectors(self, tenant: str, rows: Sequence[VectorRow]) -> None:
        """Add or replace vectors; takes no stamp."""
        ...

    def put_manifest(
        self, tenant: str, *, envelope_id: str, manifest: str, objects: Sequence[str], pack: str
    ) -> None:
        """Store a manifest, the objects it compiled and its policy pack; idempotent."""
        ...

    def log_usage(self, tenant: str, object_ids: Sequence[str], *, at_us: int) -> None:
        """Record that objects were used; never part of a version, a ranking or bytes."""
        ...

    def check(self, tenant: str) -> tuple[str, ...]:
        """Return one sentence for each broken invariant; empty when all hold."""
        ...

    def close(self) -> None:
        """Release everything; nothing buffered is lost."""
        ...
