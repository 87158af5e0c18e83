"""The store port: what a store must do, and nothing about how.

Two adapters implement it, SQLite and Neo4j, and one contract suite runs over both. A tenant
is a partition: every method belongs to one tenant, and every read of objects carries the
caller's `Sight` and the `Point` it is asked at, so an unscoped query cannot be written.

Guarantees. A write transaction holds the tenant's one write lock from `lock` to commit, so
commit order equals tx order. What `apply` is given becomes durable as a whole or not at all.
A `Reader` is one consistent snapshot. Rows are never changed but for one closing of
`tx_end`; content, permissions, usage, vectors and flags are kept in tables of their own.
Candidates are proposed generously, filtered by sight and time; scoring is the compiler's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from ...resolution.known import Known, Lookup
from ...resolution.names import NameRow
from ...schema.claim import Assertion, Claim, Edge, Row, Version
from ...schema.entity import Judgement, Review
from ...schema.principal import Sight
from ...schema.vocabulary import ActionKind
from .importing import Importing
from .records import (
    ActionRecord,
    Ask,
    Batch,
    Clock,
    DecidedValue,
    ManifestRecord,
    Migration,
    Names,
    NextReads,
    Page,
    PlacedVector,
    Point,
    RecordKind,
    RelatedEnds,
    SessionHead,
    SessionPlace,
    SessionRecord,
    SessionSnapshot,
    SessionSummary,
    SlotRead,
    SlotRecord,
    SubjectSpan,
    TextPool,
    TxEvent,
    Usage,
    VectorRow,
)
from .tables import Record, RecordTable
from .vectors import Vectors

__all__ = [
    "ActionRecord",
    "Ask",
    "Batch",
    "Clock",
    "IdentityReads",
    "ManifestRecord",
    "Names",
    "NextReads",
    "Page",
    "Point",
    "Reader",
    "RecordKind",
    "SlotRead",
    "SlotRecord",
    "Store",
    "TxEvent",
    "Usage",
    "VectorRow",
    "WriteTx",
]


class CandidateReads(Protocol):
    """What a snapshot proposes, filtered by sight and time; scoring is the compiler's."""

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Return heads at the point whose claim shares a term, the most telling ones first.

        A term counts by how few claims hold it (`term_weights.weight`) of those in the scopes that
        are searched (`term_weights.searched_scopes`), of equals the newest claim is first. A term
        that more than `common(limit)` hold proposes nothing, unless all are so: then the
        alphabetically first one does. What is withheld of the scopes that are searched is counted
        up to the limit; a store may count what it met of others, too.
        """
        ...

    def text_pool(
        self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int, unless: int
    ) -> TextPool | None:
        """Return as columns what `matching` would; None for at most `unless` rows."""
        ...

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Page:
        """Return policy rules of levels 0-1, tool schemas, and what scopes prefer, bar, decided."""
        ...

    def standing_subjects(
        self, slots: Sequence[str], *, sight: Sight, point: Point, span: SubjectSpan
    ) -> tuple[str, ...]:
        """Return about whom one scope prefers, bars or decides something in slots of these names.

        Raw ids, sorted, of those in the span; what the caller may not see and what is erased tells
        of nobody. Cost follows the subjects that are answered, not what is known of them.
        """
        ...

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Return clean heads about these entities, pointing at them or mentioning them.

        At most `limit` for each entity: strongest authority, then trust, then vid first. What
        only mentions it comes after all that is about it, the newest of equal trust first.
        """
        ...


class ClaimReads(Protocol):
    """Whole claims, whoever may see them; what is shown of them is for the asker to choose."""

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Every object that is about one of these, points at it or mentions it, none erased."""
        ...

    def objects_with(self, words: Sequence[str]) -> tuple[str, ...]:
        """The objects that hold all of these searchable terms, none erased, sorted."""
        ...

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Return whole claims by object id, with today's permissions; erased ones left out."""
        ...

    def find(
        self,
        table: RecordTable[Record],
        column: str,
        values: Sequence[str] | Sequence[int],
        *,
        open_only: bool = False,
    ) -> tuple[Record, ...]:
        """The records of a table with one of these values in a column, by the table's key.

        Of what has versions the newest; with `open_only` those that nothing has closed.
        """
        ...

    def review(self, review_id: str) -> Review | None:
        """Return a review case in its newest version."""
        ...


Result = TypeVar("Result")


class IdentityReads(Protocol):
    """Look-ups that resolution needs; a writer asks them under the lock."""

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        ...

    def known_each(
        self, lookups: Sequence[tuple[Lookup, Sequence[str]]], *, tx_us: int
    ) -> Sequence[Known]:
        """Return what is known of each look-up over aliases of its scopes, in order."""
        ...

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, aliases, identifiers and judgements."""
        ...

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        """The names of raw entities that were open at a tx, whoever may see them.

        `resolution.names` says which of them a caller is shown.
        """
        ...

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        """Return the judgements, open and closed, of raw entities or of a merge, by id."""
        ...

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> RelatedEnds:
        """Return the ends of the visible clean heads that relate entities to others.

        An entity with more than `limit` pairs of ends is a hub: it brings none of them, and is
        not read to its end.
        """
        ...


class WriteTx(IdentityReads, ClaimReads, Protocol):
    """One write transaction of a tenant; leaving it cleanly commits."""

    def lock(self, names: Names | None = None) -> Clock:
        """Take the tenant's write lock and return its counters; first call of all.

        `names` tells what will be looked up first, and changes no answer.
        """
        ...

    def vocabulary_version(self) -> int:
        """How many vocabulary definitions there are."""
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

    def live_objects(self, kind: str, value: str) -> tuple[str, ...]:
        """The objects with open rows whose scope has this session, project or user, sorted."""
        ...

    def dependants(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the objects derived from these, directly or not, sorted, without them."""
        ...

    def waiting(self, actor: str, origin: str, *, limit: int) -> int:
        """Return how many blocking cases that a source has opened still wait, `limit` at most."""
        ...

    def session_head(self, session: str) -> SessionHead:
        """The last event of a session; number 0 for one that has none."""
        ...

    def empty_session_texts(self, places: Sequence[SessionPlace]) -> None:
        """Empty texts of events, and drop their sessions' snapshots; events and chain stay."""
        ...

    def reader(self) -> Reader:
        """What a snapshot would show if this transaction were committed now."""
        ...

    def put_session_snapshot(self, session: str, body: str) -> None:
        """Keep what a session's log folds to up to its last event; older ones but one go."""
        ...

    def apply(self, batch: Batch) -> None:
        """Write a batch."""
        ...

    def empty(
        self,
        object_ids: Sequence[str],
        entity_ids: Sequence[str],
        nameless_ids: Sequence[str] = (),
    ) -> None:
        """Empty what erasure must empty, in every table and index.

        Of objects: content, paths, what repeats it, and closed names that they taught; an envelope
        that one of them was compiled into, or whose own id is among them, keeps its id. Of
        entities: names and identifiers; of these and of `nameless_ids`, which lost a name: cases,
        evidence, and candidates of others' receipts.
        """
        ...


class Reader(IdentityReads, ClaimReads, CandidateReads, Protocol):
    """One consistent snapshot of a tenant.

    A version that the caller may not see is returned only by `versions`, with `visible=False`
    and no content, because it may decide a slot; elsewhere it is counted in `withheld`. Rows of
    scopes outside the sight are never returned. What the point's tx cannot know is not shown: what
    was closed later reads as open, so no later write changes an answer.
    """

    @property
    def home(self) -> str:
        """Return the database that the snapshot is of; counters of one home may be compared."""
        ...

    def expect(self, questions: Callable[[], NextReads | None]) -> None:
        """Be offered what will be asked next, None for nothing; changes no answer."""

    def clock(self) -> Clock:
        """Return the counters at the snapshot."""
        ...

    def definitions(self, after: int = 0) -> tuple[tuple[int, str], ...]:
        """Return (number, canonical JSON) of vocabulary definitions above a number."""
        ...

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Page:
        """Return the versions of an ask."""
        ...

    def decided_value(self, ask: Ask, *, sight: Sight, point: Point) -> DecidedValue | None:
        """Return what an ask of one slot name comes to, where that is plain without its claims.

        None where `versions` must be asked: wherever more than one row has a say, or what the row
        says may not be for the caller. A store that gains nothing by it always says so.
        """
        ...

    def changes(
        self, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str] = ()
    ) -> Page:
        """Return rows opened or closed in (after, until]; cost follows the changes."""
        ...

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        """Return the edges from or to objects known at a tx."""
        ...

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        """Return actions known at a tx, of one kind or of all, oldest first."""
        ...

    def reviews(self, *, state: str | None = None, mention: str = "") -> tuple[Review, ...]:
        """Return review cases in their newest version, oldest first; of a state, of a mention."""
        ...

    def entity_ids(
        self,
        *,
        type: str | None = None,
        after: str = "",
        most: int | None = None,
        scopes: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Return raw entity ids above another one, sorted; at most so many.

        With `scopes` only those that were ever named in one of them, and those that others are
        one with, whose names may be there.
        """
        ...

    def object_ids(self, beginning: str, *, after: str = "", limit: int) -> tuple[str, ...]:
        """Return ids of objects that begin so, whoever may see them, above another one, sorted."""
        ...

    def events_in(
        self, after_us: int, until_us: int, *, actor: str | None, limit: int
    ) -> tuple[TxEvent, ...]:
        """Return the newest events of (after, until], of one actor or of all, newest first."""
        ...

    def slot_in_use(self, name: str) -> bool:
        """Tell whether any claim of a slot of this name was ever stored."""
        ...

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, with all content, by vid."""
        ...

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[PlacedVector, ...]]:
        """Return the vector counter and the rows put after a count, in order."""
        ...

    def near(self, encoder_id: str) -> Vectors | None:
        """Return the store's own vector index; None where the shared matrix is searched.

        Only a store that was opened to keep one has it. Its order is approximate, so answers
        found through it may differ between stores and over time.
        """
        ...

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        ...

    def manifest(self, envelope_id: str) -> str | None:
        """Return a stored manifest; empty text when an erasure emptied it."""
        ...

    def manifests(self, *, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return (envelope id, manifest) pairs, newest first."""
        ...

    def envelopes_of(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the envelope ids that any of these objects was compiled into, oldest first."""
        ...

    def policy_pack(self, digest: str) -> str | None:
        """Return a stored policy pack."""
        ...

    def keys(self) -> tuple[bytes, ...]:
        """Return the tenant's secret keys, one an epoch."""
        ...

    def session_events(
        self, session: str, *, after: int = 0, until: int = 2**62
    ) -> tuple[SessionRecord, ...]:
        """The events of a session with numbers above `after`, up to `until`, in order."""
        ...

    def session_snapshot(self, session: str) -> SessionSnapshot | None:
        """The newest snapshot of a session whose seal holds."""
        ...

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session of the tenant with its last event, by session."""
        ...

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order: the lossless logical export.

        The records are those that `Batch` takes, so that a restore is an `apply`.
        """
        ...


class Store(Importing, Protocol):
    """A store of many tenants."""

    @property
    def url(self) -> str:
        """Return where it is, without secrets."""
        ...

    @property
    def used_bytes(self) -> Mapping[str, int]:
        """About what the caches of all its tenants take in this process, by their names."""
        ...

    def ensure(self, tenant: str, *, key: bytes | None = None, at_once: bool = True) -> None:
        """Create a tenant when it is not there; `key` sets its first secret key.

        A tenant that is there has it already. Not `at_once`, its first use may make a tenant.
        """
        ...

    def migrate(self, tenant: str, *, dry_run: bool = False) -> Migration:
        """Bring the schema that holds a tenant up to date, and mend what of it is missing.

        `dry_run` says what would be done. An interrupted migration goes on where it stopped.
        """
        ...

    def reading(
        self, tenant: str, names: Callable[[], Names] | None = None
    ) -> AbstractContextManager[Reader]:
        """Open a snapshot; `names` tells what will be looked up first, and changes no answer."""
        ...

    def expect_reads(self, tenant: str) -> None:
        """Hear that compiles of a tenant will come, and prepare meanwhile.

        Nothing is stored and no tenant is made. What fails is met again by the compile itself.
        """
        ...

    def writing(self, tenant: str) -> AbstractContextManager[WriteTx]:
        """Open a write transaction; leaving it cleanly commits, an error rolls back."""
        ...

    def transact(self, tenant: str, work: Callable[[WriteTx], Result]) -> Result:
        """Return what a piece of work returns, run in a write transaction of its own.

        A server may ask for another try: the work may run several times, so it must leave
        nothing outside its transaction; only its last run is kept.
        """
        ...

    def name_rows(self, tenant: str, entity_ids: Sequence[str]) -> tuple[NameRow, ...]:
        """Return the open names of raw entities, in one call."""
        ...

    def newest(self, tenant: str, after: int) -> tuple[int, tuple[tuple[int, str], ...]]:
        """Return the last stamp and the definitions above a number: what a view is pinned to."""
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
