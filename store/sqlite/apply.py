"""Writing a batch: batched statements in the order of the batch's fields, and the checks.

The counters may only move as the batch says: its events take the next sequence numbers, and
every closing must hit exactly one open row, else the transaction is a `Fault` and leaves no
trace. The text index of live claims follows the heads that a batch opens and closes. Events of
sessions get their digests here, under the write lock, from the key of the file.

An erasure empties tables in an order that lets the text indices read what they remove, then
rewrites them, because FTS5 keeps deleted terms until segments are merged.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...schema.claim import Assertion, Permissions, Row
from ...schema.signing import sign_scope
from ...schema.vocabulary import Op
from ..port import tables
from ..port.receipts import GENESIS, chain_digest, require, require_next, without_candidates
from ..port.records import (
    LOG_START,
    SessionHead,
    SessionRecord,
    SessionText,
    seal_next,
)
from ..port.store import Batch, Clock, ManifestRecord, TxEvent, Usage, VectorRow
from ..port.tables import Record, RecordTable
from . import codec, register_sql, sql
from .caches import Caches
from .codec import Line

_SESSION_COLUMNS = ("session", "seq", "kind", "actor", "last_us", "recorded_us", "body", "digest")


def session_head(db: sqlite3.Connection, session: str) -> SessionHead:
    """The last event of a session."""
    line = db.execute(register_sql.HEAD, (session,)).fetchone()
    return SessionHead(0, LOG_START) if line is None else SessionHead(*line)


def put_session_events(db: sqlite3.Connection, records: Sequence[SessionRecord]) -> None:
    """Append events, each right behind the last one of its session.

    Raises:
        Fault: `invariant_broken`, for an event that leaves a gap or is there already.
    """
    key: bytes = db.execute(sql.KEYS).fetchone()[0]

    for record in records:
        last = session_head(db, record.session)
        event = seal_next(key, last, record)
        fields = (event.actor, event.last_us, event.recorded_us, event.body, event.digest)
        db.execute(register_sql.PUT_EVENT, (event.session, event.seq, event.kind, *fields))
        for part, text in enumerate(event.texts):
            db.execute(
                register_sql.PUT_TEXT, (event.session, event.seq, part, text.digest, text.text)
            )


def all_session_events(db: sqlite3.Connection) -> Iterator[SessionRecord]:
    """Every event of every session, by session, then number."""
    for line in db.execute(register_sql.ALL_EVENTS):
        texts = db.execute(register_sql.EVENT_TEXTS, line[:2])
        yield session_record(line, tuple(SessionText(text, digest) for text, digest in texts))


def session_record(line: Line, texts: tuple[SessionText, ...]) -> SessionRecord:
    """An event of a session, from its line and its texts."""
    fields = dict(zip(_SESSION_COLUMNS, line, strict=True))
    return SessionRecord(texts=texts, **fields)


class Counters(NamedTuple):
    """What a write transaction starts from: the counters, and the last of what it continues."""

    seq: int
    last_us: int
    next_vid: int
    vec_seq: int
    erasures: int
    permits: int | None
    """The highest number of a permission set."""
    last_claim: int
    digest: bytes | None
    """The digest of the last event, None before the first."""
    schema: int
    """The version of the file's schema: a newer process may have migrated it."""


def batch(db: sqlite3.Connection, changes: Batch, *, counters: Counters, caches: Caches) -> None:
    """Write a batch inside the open transaction, which the counters were read in.

    Raises:
        Fault: `invariant_broken`.
    """
    require_next(Clock(*counters[:4]), changes)
    db.execute(sql.SET_COUNTERS, changes.clock)
    _events(db, changes.events, counters.digest)
    # Most writes name entities that are known, so that they leave the whole register alone.
    names_touched = touches_names(changes)
    if names_touched:
        _register(db, changes)
    permits = _Permits(db, counters, caches)
    _claims(db, changes, counters, permits)
    _mentions(db, changes)
    _versions(db, changes)
    if names_touched or changes.reviews:
        _judgements(db, changes)
    _queue(db, changes, permits)
    if changes.session_events:
        put_session_events(db, changes.session_events)
    _restore_rest(db, changes)


def touches_names(changes: Batch) -> bool:
    """Whether a batch changes what a look-up of names answers."""
    return any(
        (
            changes.entities,
            changes.aliases,
            changes.closed_aliases,
            changes.identifiers,
            changes.block_keys,
            changes.judgements,
            changes.closed_judgements,
            changes.canonical,
            changes.tombstones,
            changes.permissions,
        )
    )


def _sign(db: sqlite3.Connection, claims: Sequence[tuple[int, Assertion]]) -> None:
    """Sign the scope of what belongs to a project (C-096)."""
    key = b""
    lines: list[Line] = []
    for n, assertion in claims:
        scope = assertion.details.scope
        if scope.project is not None:
            # Most claims belong to no project, and leave the key unread; the newest one signs.
            key = key or db.execute(sql.KEYS).fetchall()[-1][0]
            lines.append((n, sign_scope(key, assertion.claim.object_id, scope.scope_id)))
    _run_many(db, sql.PUT_SIGNATURE, lines)


def _run_many(db: sqlite3.Connection, statement: str, lines: Iterable[Line]) -> int:
    """Run a statement for each line and return how many rows it changed."""
    rows = list(lines)
    # Most batches leave most tables alone, and a call of SQLite costs also for no line at all.
    return max(db.executemany(statement, rows).rowcount, 0) if rows else 0


def _put(db: sqlite3.Connection, table: RecordTable[Record], records: Sequence[Record]) -> None:
    """Put records into their table."""
    if records:
        db.executemany(register_sql.PUT[table.name], map(codec.ENCODERS[table.name], records))


def _events(db: sqlite3.Connection, events: Sequence[TxEvent], last: bytes | None) -> None:
    digest = GENESIS if last is None else last
    lines: list[Line] = []

    for event in events:
        digest = chain_digest(digest, event)
        ids = codec.list_json(event.object_ids)
        lines.append((event.seq, event.tx, event.actor, event.op, ids, digest))

    _run_many(db, sql.PUT_EVENT, lines)


def _register(db: sqlite3.Connection, changes: Batch) -> None:
    _put(db, tables.ENTITIES, changes.entities)
    # closings come first: a successor may take the same key in the same batch
    closed = _run_many(
        db,
        register_sql.CLOSE_ALIAS,
        (
            (tx, a.entity_id, a.norm, a.scope_id, a.type, a.ordinal, a.valid_from)
            for a, tx in changes.closed_aliases
        ),
    )
    require(closed == len(changes.closed_aliases), "a closed alias was not open")
    _put(db, tables.ALIASES, changes.aliases)
    _put(db, tables.IDENTIFIERS, changes.identifiers)
    if changes.block_keys:
        _block(db, changes.block_keys)


def _block(db: sqlite3.Connection, block_keys: Mapping[str, tuple[tuple[str, str], ...]]) -> None:
    """Add the blocking keys of norms and count them; a known norm may bring further keys."""
    lines: list[tuple[str, int, str]] = []
    fresh = 0
    for norm, keys in block_keys.items():
        stored_keys: set[str] = set()
        known = db.execute(register_sql.NORM_ID, (norm,)).fetchone()
        if known is None:
            fresh += 1
            known = db.execute(register_sql.PUT_NORM, (norm,)).fetchone()
        else:
            stored_keys.update(codec.first_column(db.execute(register_sql.KEYS_OF_NORM, known)))
        for key, kind in keys:
            if key not in stored_keys:
                lines.append((key, known[0], kind))

    lines.sort()  # neighbours in the index are written together
    _run_many(db, register_sql.PUT_BLOCK_KEY, lines)
    # The counts say what a key is worth: without them a look-up would count all postings itself.
    counts = Counter((key, kind) for key, _, kind in lines)
    counts[register_sql.NORMS_COUNTED] += fresh
    _run_many(
        db, register_sql.COUNT_BLOCK_KEY, ((*key, count) for key, count in counts.items() if count)
    )


# --- claims and versions


class _Permits:
    """The numbers of permission sets, new ones made on the way.

    Sets are only ever added, so that a number which other transactions can see is kept for the
    next ones; one that this transaction made could still be given to another set.
    """

    def __init__(self, db: sqlite3.Connection, counters: Counters, caches: Caches) -> None:
        self._db = db
        self._committed = counters.permits or 0
        self._shared = caches.permit_numbers
        self._own: dict[Line, int] = {}

    def number(self, scope_id: str, permissions: Permissions) -> int:
        line = codec.permit_line(scope_id, permissions)
        known = self._own.get(line) or self._shared.get(line)
        if known is not None:
            return known

        row = self._db.execute(sql.FIND_PERMIT, line).fetchone()
        if row is None:
            row = self._db.execute(sql.PUT_PERMIT, line).fetchone()
        number = int(row[0])

        if number <= self._committed:
            self._shared.put(line, number)
        else:
            self._own[line] = number
        return number


def _claims(db: sqlite3.Connection, changes: Batch, counters: Counters, permits: _Permits) -> None:
    _put(db, tables.SLOTS, changes.slots)
    if not changes.claims:
        return

    claims = list(enumerate(changes.claims, start=counters.last_claim + 1))
    claim_lines: list[Line] = []
    content_lines: list[Line] = []
    text_lines: list[Line] = []
    for n, assertion in claims:
        claim_lines.append(codec.claim_line(n, assertion))
        # A restore brings erased claims too: they keep their place, and have nothing to say.
        if not assertion.erased:
            content_lines.append(codec.content_line(n, assertion))
            if assertion.content.terms:
                scope = codec.scope_word(assertion.details.scope.scope_id)
                text_lines.append((n, f"{assertion.content.terms} {scope}"))
    _run_many(db, sql.PUT_CLAIM, claim_lines)
    _run_many(db, sql.PUT_CONTENT, content_lines)
    _run_many(db, sql.PUT_TEXT, text_lines)
    db.execute(sql.PUT_VALUES, (counters.last_claim,))
    _sign(db, claims)

    permit_lines: list[Line] = []
    for n, assertion in claims:
        number = permits.number(assertion.details.scope.scope_id, assertion.permissions)
        permit_lines.append((n, number))
    _run_many(db, sql.PUT_OBJECT_PERMIT, permit_lines)


def _mentions(db: sqlite3.Connection, changes: Batch) -> None:
    lines = ((m.start, m.end, m.entity_id, m.object_id) for m in changes.mentions)
    put = _run_many(db, sql.PUT_MENTION, lines)
    require(put == len(changes.mentions), "a mention stands in an unknown claim")


def _versions(db: sqlite3.Connection, changes: Batch) -> None:
    closed_vids = [closing.vid for closing in changes.close]
    closed = _run_many(db, sql.CLOSE_VERSION, ((c.tx, c.vid) for c in changes.close))
    require(closed == len(closed_vids), "a row to close was not open")
    _run_many(db, sql.PUT_VERSION, map(_row_line, changes.rows))

    vids = codec.list_json([*closed_vids, *(row.vid for row in changes.rows)])
    # The text index holds the claims with an open head: it follows what leaves and enters `live`,
    # so that the question who has one is asked once.
    if changes.close:
        departures = db.execute(sql.LEAVE_LIVE, (vids,)).fetchall()
        _run_many(db, sql.LEAVE_TEXT_LIVE, departures)
    if changes.rows:
        arrivals = db.execute(sql.ENTER_LIVE, (vids,)).fetchall()
        _run_many(db, sql.ENTER_TEXT_LIVE, arrivals)

    _put(db, tables.EDGES, changes.edges)


def _row_line(row: Row) -> Line:
    look = row.look
    return (row.vid, row.interval.start_us, row.interval.end_us, row.tx_start, row.tx_end,
            look.status.value, look.reason, int(look.head), row.continues,
            int(row.claim.op is Op.DENY), row.claim.object_id, row.claim.object_id)  # fmt: skip


# --- entities that are one, and what waits for people


def _judgements(db: sqlite3.Connection, changes: Batch) -> None:
    closed = _run_many(
        db, register_sql.CLOSE_JUDGEMENT, ((tx, i) for i, tx in changes.closed_judgements)
    )
    require(closed == len(changes.closed_judgements), "a judgement to close was not open")
    _put(db, tables.JUDGEMENTS, changes.judgements)
    _put(db, tables.REVIEWS, changes.reviews)

    # an id that is its own canonical id needs no projection
    _run_many(db, register_sql.DROP_CANONICAL, ((raw,) for raw, _ in changes.canonical))
    merged_ids = (pair for pair in changes.canonical if pair[0] != pair[1])
    _run_many(db, register_sql.PUT_CANONICAL, merged_ids)


def _queue(db: sqlite3.Connection, changes: Batch, permits: _Permits) -> None:
    _put(db, tables.ACTIONS, changes.actions)
    closed = _run_many(
        db,
        register_sql.CLOSE_ACTION,
        ((c.tx, c.outcome, c.closed_by, c.action_id) for c in changes.closed_actions),
    )
    require(closed == len(changes.closed_actions), "an action to close was not open")
    _put(db, tables.FLAGS, changes.flags)
    _permissions(db, changes, permits)
    _put(db, tables.TOMBSTONES, changes.tombstones)
    _put(db, tables.RECEIPTS, changes.receipts)


def _permissions(db: sqlite3.Connection, changes: Batch, permits: _Permits) -> None:
    for change in changes.permissions:
        place = db.execute(sql.SCOPE_OF_OBJECT, (change.object_id,)).fetchone()
        require(place is not None, "permissions of an unknown object")
        claim_id, scope_id = place
        number = permits.number(scope_id, change.permissions)
        db.execute(sql.CHANGE_OBJECT_PERMIT, (number, claim_id))
        db.execute(sql.PUT_PERMISSION_CHANGE, (claim_id, number, change.tx, change.actor))


# --- what has calls of its own, and what a restore brings


def _restore_rest(db: sqlite3.Connection, changes: Batch) -> None:
    for definition in changes.definitions:
        define(db, definition)

    for pack in changes.packs:
        put_pack(db, pack)

    for manifest in changes.manifests:
        put_manifest(db, manifest)

    put_vectors(db, changes.vectors)
    _put(db, tables.USAGE, changes.usage)
    if changes.keys:
        db.execute(sql.CLEAR_KEYS)
        _run_many(db, sql.PUT_KEY, enumerate(changes.keys))


def define(db: sqlite3.Connection, definition: str) -> None:
    """Append a vocabulary definition."""
    count = db.execute(sql.COUNT_DEFINITIONS).fetchone()[0]
    db.execute(sql.PUT_DEFINITION, (count + 1, definition))


def put_pack(db: sqlite3.Connection, pack: str) -> str:
    """Store a policy pack by its hash, and return the hash."""
    digest = hashlib.sha256(pack.encode()).hexdigest()
    db.execute(register_sql.PUT_PACK, (digest, pack))
    return digest


def put_manifest(db: sqlite3.Connection, manifest: ManifestRecord) -> None:
    """Store a manifest and what it compiled, unless it is there."""
    line = (manifest.envelope_id, manifest.manifest, manifest.pack)
    numbers = db.execute(register_sql.PUT_MANIFEST, line).fetchall()
    for (number,) in numbers:
        lines = ((number, place, oid) for place, oid in enumerate(manifest.object_ids))
        _run_many(db, register_sql.PUT_COMPILED, lines)


def put_vectors(db: sqlite3.Connection, rows: Sequence[VectorRow]) -> None:
    """Add or replace vectors under new numbers; those of erased objects are left out."""
    if not rows:
        return

    # A vector that is put again takes a new number, so that who reads on from a count meets it.
    _run_many(db, register_sql.DROP_VECTOR, ((r.encoder_id, r.part, r.object_id) for r in rows))
    first = db.execute(sql.COUNTERS).fetchone()[3] + 1
    _run_many(
        db,
        register_sql.PUT_VECTOR,
        (
            (number, r.encoder_id, r.part, r.vec16, r.object_id)
            for number, r in enumerate(rows, start=first)
        ),
    )
    db.execute(sql.RAISE_VECTORS, (len(rows),))


def use(db: sqlite3.Connection, object_ids: Iterable[str], at_us: int) -> None:
    """Record that objects were used."""
    _put(db, tables.USAGE, [Usage(object_id, 1, at_us) for object_id in object_ids])


def empty(
    db: sqlite3.Connection,
    object_ids: Sequence[str],
    entity_ids: Sequence[str],
    nameless_ids: Sequence[str],
) -> None:
    """Empty what repeats these objects and entities, and the indices over it."""
    claims = codec.first_column(db.execute(sql.CLAIM_IDS, (codec.list_json(object_ids),)))
    _run_each(db, register_sql.EMPTY_OBJECTS, claims)
    _run_each(db, register_sql.EMPTY_RECORDS, object_ids)
    _run_each(db, register_sql.EMPTY_ENTITIES, entity_ids)

    # A receipt names the candidates that a write was compared with, whoever's write it was.
    unnamed_ids = [*entity_ids, *nameless_ids]
    if unnamed_ids:
        _run_each(db, register_sql.EMPTY_NAMINGS, unnamed_ids)
        bound = (codec.list_json(unnamed_ids),)
        for number, body in db.execute(register_sql.NAMING_RECEIPTS, bound).fetchall():
            short_body = without_candidates(body, unnamed_ids)
            if short_body != body:
                db.execute(register_sql.SHORTEN_RECEIPT, (short_body, number))

    for statement in (*register_sql.EMPTY_NORMS, *register_sql.COMPACT_TEXT):
        db.execute(statement)

    db.execute(sql.RAISE_ERASURES)


def _run_each(db: sqlite3.Connection, statements: Iterable[str], ids: Sequence[object]) -> None:
    bound = (codec.list_json(ids),)
    for statement in statements:
        db.execute(statement, bound)
