"""One consistent snapshot of a tenant's file: everything the port lets a reader ask.

The snapshot begins with the counters and lasts until the reader is given back; versions come
from `versions`, names from `identity`. The rest are plain look-ups, each one statement. The
export is one statement a kind, which streams, so that it needs the memory of one record; what is
derived (text indices, live marks, counts of blocking keys) is made again by applying it.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from ...schema.claim import Assertion, Edge
from ...schema.entity import Review
from ...schema.interval import INF_US, MIN_US
from ...schema.vocabulary import ActionKind
from ..port import tables
from ..port.records import (
    BlockKeys,
    NextReads,
    PermissionChange,
    PlacedVector,
    SessionRecord,
    SessionSnapshot,
    SessionSummary,
    SessionText,
    snapshot_seal,
)
from ..port.store import ActionRecord, Clock, ManifestRecord, RecordKind, TxEvent
from ..port.tables import Decoder, Record, RecordTable
from ..port.vectors import Vectors
from . import apply, codec, register_sql, sql
from .caches import Caches
from .codec import Line
from .identity import SqliteRegister
from .versions import Timelines


def _block_keys(db: sqlite3.Connection) -> Iterator[BlockKeys]:
    for norm, lines in groupby(db.execute(register_sql.BLOCK_KEYS), key=lambda line: str(line[0])):
        yield BlockKeys(norm, tuple((line[1], line[2]) for line in lines))


def _manifests(db: sqlite3.Connection) -> Iterator[ManifestRecord]:
    for number, envelope_id, manifest, pack in db.execute(register_sql.ALL_MANIFESTS):
        object_ids = codec.first_column(db.execute(register_sql.COMPILED_IDS, (number,)))
        yield ManifestRecord(
            envelope_id=envelope_id, manifest=manifest, object_ids=tuple(object_ids), pack=pack
        )


def _permission(line: Line) -> PermissionChange:
    return PermissionChange(line[0], codec.permissions(line[1:4]), line[4], line[5])


def _plain(statement: str, decode: Callable[[Line], object]) -> Callable[..., Iterator[object]]:
    def read(db: sqlite3.Connection) -> Iterator[object]:
        return map(decode, db.execute(statement))

    return read


_READ: Final[dict[RecordKind, Callable[[sqlite3.Connection], Iterator[object]]]] = {
    RecordKind.BLOCK_KEYS: _block_keys,
    RecordKind.CLAIM: _plain(sql.ALL_CLAIMS, codec.assertion),
    RecordKind.ROW: _plain(sql.ALL_ROWS, codec.row),
    RecordKind.PERMISSION: _plain(sql.PERMISSION_CHANGES, _permission),
    RecordKind.DEFINITION: _plain(sql.DEFINITION_BODIES, lambda line: str(line[0])),
    RecordKind.PACK: _plain(register_sql.ALL_PACKS, lambda line: str(line[0])),
    RecordKind.MANIFEST: _manifests,
    RecordKind.SESSION_EVENT: apply.all_session_events,
} | {
    kind: _plain(register_sql.EXPORTS[table.name], codec.DECODERS[table.name])
    for kind, table in tables.EXPORT_TABLES.items()
}


class ClaimLookups:
    """What a snapshot and a write transaction are asked alike, beside what is known of names."""

    _db: sqlite3.Connection

    def _connection(self) -> sqlite3.Connection:
        return self._db

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Every object that is about one of these, points at it or mentions it, none erased."""
        bound = {"ids": codec.list_json(dict.fromkeys(entity_ids))}
        return tuple(codec.first_column(self._connection().execute(sql.OBJECTS_OF, bound)))

    def objects_with(self, words: Sequence[str]) -> tuple[str, ...]:
        """Objects that hold all of these terms, none erased, sorted."""
        query = " AND ".join(f'"{word}"' for word in words)
        return tuple(codec.first_column(self._connection().execute(sql.OBJECTS_WITH, (query,))))

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Whole claims by object id, with today's permissions; erased ones left out."""
        bound = (codec.list_json(dict.fromkeys(object_ids)),)
        return {
            line[1]: codec.assertion(line)
            for line in self._connection().execute(sql.ASSERTIONS, bound)
        }

    def review(self, review_id: str) -> Review | None:
        """Return a review case in its newest version."""
        return next(iter(self.find(tables.REVIEWS, "review_id", (review_id,))), None)

    def find(
        self,
        table: RecordTable[Record],
        column: str,
        values: Sequence[str] | Sequence[int],
        *,
        open_only: bool = False,
    ) -> tuple[Record, ...]:
        """The records of a table with one of these values in a column, by the table's key."""
        decode: Decoder[Record] = codec.DECODERS[table.name]
        ids = codec.list_json(dict.fromkeys(values))
        bound = {"ids": ids, "least": INF_US if open_only else MIN_US}
        return tuple(
            map(decode, self._connection().execute(register_sql.FIND[table.name, column], bound))
        )


class SqliteReader(Timelines, SqliteRegister, ClaimLookups):
    """A reader over a connection inside a transaction."""

    def __init__(
        self,
        db: sqlite3.Connection,
        caches: Caches,
        home: str,
        keys: Callable[[], tuple[bytes, ...]] | None = None,
    ) -> None:
        """Open a reader; `keys` are those of a tenant that has no file yet.

        What is sealed or hashed with a key outlives the snapshot.
        """
        *counters, erasures, permits = db.execute(sql.COUNTERS).fetchone()
        clock = Clock(*counters)
        Timelines.__init__(self, db, caches, clock=clock, erasures=erasures, permits=permits or 0)
        SqliteRegister.__init__(self, db, clock.last_us)
        self._home = home
        self._keys = keys

    @property
    def home(self) -> str:
        """Return the file that the snapshot is of."""
        return self._home

    def expect(self, questions: Callable[[], NextReads | None]) -> None:
        """Decline to hear what will be asked next: each question is answered at once."""

    def clock(self) -> Clock:
        """Return the counters at the snapshot."""
        return self._clock

    def definitions(self, after: int = 0) -> tuple[tuple[int, str], ...]:
        """Return (number, canonical JSON) of vocabulary definitions above a number."""
        return tuple(self._db.execute(sql.DEFINITIONS, (after,)))

    # --- identity

    def entity_ids(
        self,
        *,
        type: str | None = None,
        after: str = "",
        most: int | None = None,
        scopes: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Return raw entity ids above another one, sorted; at most so many."""
        bound = {"type": type, "after": after, "most": -1 if most is None else most}
        bound["scopes"] = codec.list_json(scopes or ())
        statement = register_sql.ENTITY_IDS[type is not None, scopes is not None]
        return tuple(codec.first_column(self._db.execute(statement, bound)))

    def object_ids(self, beginning: str, *, after: str = "", limit: int) -> tuple[str, ...]:
        """Return ids of objects that begin so, above another one, sorted; at most so many."""
        bound = {"beginning": beginning, "after": after, "limit": limit}
        return tuple(codec.first_column(self._db.execute(sql.OBJECT_IDS, bound)))

    def reviews(self, *, state: str | None = None, mention: str = "") -> tuple[Review, ...]:
        """Return review cases in their newest version, oldest first; of a state, of a mention."""
        lines = self._db.execute(register_sql.REVIEWS, {"state": state, "mention": mention})
        return tuple(map(codec.review, lines))

    # --- claims and what stands next to them

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        """Return the edges from or to objects known at a tx."""
        bound = {"objects": codec.list_json(object_ids), "tx": tx_us}
        return tuple(map(codec.edge, self._db.execute(sql.EDGES, bound)))

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        """Return actions known at a tx, of one kind or of all, oldest first."""
        bound = {"tx": tx_us, "after": tx_us if open_only else MIN_US, "kind": kind}
        lines = self._db.execute(register_sql.ACTIONS, bound)
        return tuple(codec.action(line, tx_us) for line in lines)

    def events_in(
        self, after_us: int, until_us: int, *, actor: str | None, limit: int
    ) -> tuple[TxEvent, ...]:
        """Return the newest events of (after, until], of one actor or of all, newest first."""
        bound = {"after": after_us, "until": until_us, "actor": actor, "limit": limit}
        return tuple(map(codec.event, self._db.execute(sql.EVENTS_IN, bound)))

    def slot_in_use(self, name: str) -> bool:
        """Tell whether any claim of a slot of this name was ever stored."""
        return bool(self._db.execute(sql.SLOT_IN_USE, (name,)).fetchone()[0])

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[PlacedVector, ...]]:
        """Return the vector counter and the rows put after a count, in order."""
        lines = self._db.execute(register_sql.VECTORS, (after, encoder_id))
        return self._clock.vec_seq, tuple(PlacedVector(*line) for line in lines)

    def near(self, encoder_id: str) -> Vectors | None:
        """Return no index of its own: vectors are searched exactly in the shared matrix."""
        return None

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        return self._texts(sql.ERASED_SINCE, seq, MIN_US)

    def manifest(self, envelope_id: str) -> str | None:
        """Return a stored manifest; empty text when an erasure emptied it."""
        return self._text(register_sql.MANIFEST, envelope_id)

    def manifests(self, *, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return (envelope id, manifest) pairs, newest first."""
        return tuple(self._db.execute(register_sql.MANIFESTS, (limit,)))

    def envelopes_of(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the envelope ids that any of these objects was compiled into, oldest first."""
        return self._texts(register_sql.ENVELOPES_OF, codec.list_json(object_ids))

    def policy_pack(self, digest: str) -> str | None:
        """Return a stored policy pack."""
        return self._text(register_sql.PACK, digest)

    def keys(self) -> tuple[bytes, ...]:
        """Return the tenant's secret keys, one an epoch."""
        return self._keys() if self._keys else self._texts(sql.KEYS)

    def session_events(
        self, session: str, *, after: int = 0, until: int = 2**62
    ) -> tuple[SessionRecord, ...]:
        """The events of a session with numbers above `after`, up to `until`, in order."""
        texts: dict[int, tuple[SessionText, ...]] = {}
        lines = self._db.execute(register_sql.TEXTS, (session, after, until))
        for seq, group in groupby(lines, key=lambda line: int(line[0])):
            texts[seq] = tuple(SessionText(text, digest) for _, text, digest in group)

        records: list[SessionRecord] = []
        for line in self._db.execute(register_sql.EVENTS, (session, after, until)):
            records.append(apply.session_record(line, texts.get(line[1], ())))
        return tuple(records)

    def session_snapshot(self, session: str) -> SessionSnapshot | None:
        """The newest snapshot of a session whose seal holds."""
        for seq, body, stored_seal, digest in self._db.execute(register_sql.SNAPSHOTS, (session,)):
            if hmac.compare_digest(stored_seal, snapshot_seal(self.keys()[0], digest, body)):
                return SessionSnapshot(seq, body)
        return None

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session of the tenant with its last event, by session."""
        return tuple(SessionSummary(*line) for line in self._db.execute(register_sql.SUMMARIES))

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order."""
        return _READ[kind](self._db)

    def _text(self, statement: str, key: str) -> str | None:
        row = self._db.execute(statement, (key,)).fetchone()
        return None if row is None else str(row[0])

    def _texts(self, statement: str, *bound: object) -> tuple[Any, ...]:
        return tuple(codec.first_column(self._db.execute(statement, bound)))
