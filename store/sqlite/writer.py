"""One write transaction of a tenant's file.

`lock` takes this process's turn and SQLite's write lock, so commit order is tx order; reads
under it see what earlier `apply` calls of the transaction wrote. `finish` commits, and
whatever fails before leaves no trace. Nothing here decides: plans come from outside.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ...resolution.known import Known, Lookup
from ...schema.claim import Claim, Row
from ...schema.errors import Fault
from ...schema.principal import Sight
from ..port.records import (
    SNAPSHOTS_KEPT,
    Names,
    RelatedEnds,
    SessionHead,
    SessionPlace,
    snapshot_seal,
)
from ..port.store import Batch, Clock, Point, SlotRead
from . import apply, codec, register_sql, sql
from .caches import Caches, LookupCache
from .identity import SqliteRegister
from .partition import Partition
from .reader import ClaimLookups, SqliteReader


class SqliteWriteTx(SqliteRegister, ClaimLookups):
    """A write transaction; `SqliteStore.writing` opens and ends it."""

    def __init__(self, partition: Partition, db: sqlite3.Connection) -> None:
        self._partition = partition
        self._db = db
        self._last_us = 0
        """The last stamp, those of this transaction included."""
        self._erased = False
        self._counters: apply.Counters | None = None
        """As they are inside this transaction; read again after each change of ours."""
        self._seq = 0
        """The number of events, those of this transaction included."""
        self._lookups: LookupCache | None = None
        """What earlier transactions looked up; None once this one has touched a name."""
        self._names_changed = False
        self._overtaken: list[int] = []
        """The claims whose rows this transaction closed."""

    # --- its life

    def lock(self, names: Names | None = None, *, importing: bool = False) -> Clock:
        """Take the tenant's write lock and return its counters; first call of all.

        Raises:
            Conflict: `in_progress`, unless the transaction is a step of the import.
            Unavailable: `newer_schema`.
        """
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
            self._partition.require_schema(self._counters_now().schema)
            if not importing:
                self._partition.require_complete(self._db)
            self._seq, self._last_us, *_ = self._counters_now()
            self._lookups = self._partition.caches.known_at(self._seq)
        return self._clock()

    def finish(self) -> None:
        """Commit, when anything was begun."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
            self._partition.caches.register_stands(self._seq, changed=self._names_changed)
            # Not before the commit: a reader would decode them once more meanwhile.
            self._partition.caches.overtaken(self._overtaken)
        if self._erased:
            self._partition.checkpoint_due = True

        self._partition.flush()

    def abandon(self) -> None:
        """Leave no trace."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _clock(self) -> Clock:
        return Clock(*self._counters_now()[:4])

    def _counters_now(self) -> apply.Counters:
        if self._counters is None:
            self._counters = apply.Counters(*self._db.execute(sql.COUNTERS_TO_WRITE).fetchone())
        return self._counters

    def _connection(self) -> sqlite3.Connection:
        if not self._db.in_transaction:
            raise Fault("a write transaction begins with lock()", code="invariant_broken")
        return self._db

    def vocabulary_version(self) -> int:
        """How many vocabulary definitions there are."""
        return int(self._connection().execute(sql.COUNT_DEFINITIONS).fetchone()[0])

    # --- identity

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        key = lookup, tuple(scopes)
        # A fuzzy look-up holds a test of its own caller; an earlier tx is another question.
        is_kept = not lookup.block_keys and tx_us >= self._clock().last_us
        known = self._lookups.get(key) if is_kept and self._lookups is not None else None
        if known is None:
            (known,) = self.known_each([(lookup, scopes)], tx_us=tx_us)
            if is_kept and self._lookups is not None:
                self._lookups.put(key, known)
        return known

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> RelatedEnds:
        """Return what relates entities to others by its raw ends; hubs are named apart."""
        return self.reader().relations(entity_ids, sight=sight, point=point, limit=limit)

    def waiting(self, actor: str, origin: str, *, limit: int) -> int:
        """Return how many blocking cases that a source has opened still wait, `limit` at most."""
        bound = actor, origin, limit
        return int(self._connection().execute(register_sql.WAITING, bound).fetchone()[0])

    # --- what a plan needs

    def open_rows(self, reads: Sequence[SlotRead]) -> tuple[tuple[Row, ...], ...]:
        """Return, for each read, the open rows that overlap its span, by vid."""
        db = self._connection()
        bound_by_statement: dict[str, list[tuple[object, ...]]] = {}
        for number, read in enumerate(reads):
            statement = sql.OPEN_HIDDEN if read.full else sql.OPEN_DENIALS
            if read.values:
                statement = sql.OPEN_OF_VALUES
            span = read.span
            for slot_key in dict.fromkeys(read.slot_keys):
                bound = (number, slot_key, span.start_us, span.end_us)
                all_bound = bound_by_statement.setdefault(statement, [])
                all_bound += [(*bound, value, read.full) for value in read.values] or [bound]

        # One statement reads all slots of a group, each over its own span.
        rows_by_read: list[list[Row]] = [[] for _ in reads]
        for statement, all_bound in bound_by_statement.items():
            for line in db.execute(statement, {"reads": codec.list_json(all_bound)}):
                place: int = line[codec.ROW_END]
                rows_by_read[place].append(codec.row(line))
        return tuple(map(tuple, rows_by_read))

    def rows_of(self, object_ids: Sequence[str]) -> tuple[Row, ...]:
        """Return the open rows of objects, quarantined ones included, by vid."""
        lines = self._connection().execute(sql.OPEN_OF_OBJECTS, (_distinct(object_ids),))
        return tuple(map(codec.row, lines))

    def slot_claims(self, slot_keys: Sequence[str]) -> tuple[Claim, ...]:
        """Return every claim of slots that is not quarantined or erased, in order of writing."""
        lines = self._connection().execute(sql.CLAIMS_OF_SLOTS, (_distinct(slot_keys),))
        return tuple(codec.body(line).claim for line in lines)

    def live_objects(self, kind: str, value: str) -> tuple[str, ...]:
        """Return the objects with open rows whose scope has this id, sorted."""
        lines = self._connection().execute(sql.LIVE_OBJECTS, (f",{kind}={value},",))
        return tuple(codec.first_column(lines))

    def dependants(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the objects derived from these, directly or not, sorted, without them."""
        db = self._connection()
        bound = {"objects": codec.list_json(object_ids)}
        # Nothing is derived from most objects, and setting up the recursion costs more than asking.
        if not db.execute(sql.HAS_DEPENDANTS, bound).fetchone()[0]:
            return ()
        return tuple(codec.first_column(db.execute(sql.DEPENDANTS, bound)))

    # --- writing

    def session_head(self, session: str) -> SessionHead:
        """The last event of a session; number 0 for one that has none."""
        return apply.session_head(self._connection(), session)

    def empty_session_texts(self, places: Sequence[SessionPlace]) -> None:
        """Empty texts of events, and drop their sessions' snapshots; events and chain stay."""
        db = self._connection()
        db.executemany(register_sql.EMPTY_TEXTS, places)
        # A snapshot repeats texts in a form that cannot be searched, so all of them are deleted.
        for session in {place.session for place in places}:
            db.execute(register_sql.DROP_SNAPSHOTS, {"session": session, "keep": 0})
        self._erased = True

    def reader(self) -> SqliteReader:
        """What a snapshot would show if this transaction were committed now."""
        # Caches of its own: what is read here may never be committed.
        return SqliteReader(self._connection(), Caches(), f"{self._partition.path}#uncommitted")

    def put_session_snapshot(self, session: str, body: str) -> None:
        """Keep what a session's log folds to up to its last event; older ones but one go.

        Raises:
            Fault: `invariant_broken`, for a session without events.
        """
        db, last = self._connection(), self.session_head(session)
        if last.seq == 0:
            raise Fault(f"{session} has no events to keep a snapshot of", code="invariant_broken")
        seal = snapshot_seal(db.execute(sql.KEYS).fetchone()[0], last.digest, body)
        db.execute(register_sql.PUT_SNAPSHOT, (session, last.seq, seal, body))
        db.execute(register_sql.DROP_SNAPSHOTS, {"session": session, "keep": SNAPSHOTS_KEPT})

    def apply(self, batch: Batch) -> None:
        """Write a batch.

        Raises:
            Fault: `invariant_broken` when the batch does not fit what is stored.
        """
        db = self._connection()
        apply.batch(db, batch, counters=self._counters_now(), caches=self._partition.caches)
        self._counters = None
        self._seq, self._last_us = batch.clock.seq, batch.clock.last_us
        if batch.close:
            vids = codec.list_json(closing.vid for closing in batch.close)
            self._overtaken += codec.first_column(db.execute(sql.CLAIMS_OF_ROWS, (vids,)))
        if apply.touches_names(batch):
            self._forget_names()

    def empty(
        self,
        object_ids: Sequence[str],
        entity_ids: Sequence[str],
        nameless_ids: Sequence[str] = (),
    ) -> None:
        """Empty what erasure must empty, in every table and index."""
        apply.empty(self._connection(), object_ids, entity_ids, nameless_ids)
        self._erased = True
        self._counters = None
        self._forget_names()

    def _forget_names(self) -> None:
        """What this transaction did to names is for itself alone until it commits."""
        self._names_changed = True
        self._lookups = None


def _distinct(ids: Sequence[str]) -> str:
    return codec.list_json(dict.fromkeys(ids))
