"""Writing a batch: its parts as lists of rows, few statements, and the checks.

An ordinary write is one statement (`PUT_FACTS`), a write with new names two; a large batch runs
the same texts part by part, at most `LARGEST` rows each, because the server holds a statement's
work in memory. The counters may only move as the batch says: its events take the next sequence
numbers, and every closing must hit exactly one open node, else the transaction is a `Fault`.

`serial` numbers what must keep its order of writing (claims, edges, receipts, …), since nodes
have no order of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from typing import Any, LiteralString

from ...schema.claim import Row
from ...schema.interval import INF_US
from ...schema.record_json import to_plain
from ...schema.signing import sign_scope
from ..port.importing import ImportJournal
from ..port.receipts import GENESIS, chain_digest, require, require_next
from ..port.store import Batch, Clock, VectorRow
from . import codec, sessions
from .calls import LARGEST, Writes, portions_of
from .codec import Properties
from .cypher import core, register

Parts = Mapping[str, Sequence[Any]]
"""The lists that a statement unwinds, by parameter."""


@dataclass(slots=True)
class ClockCounters:
    """The counters of a tenant's clock node, as this transaction has moved them."""

    clock: Clock
    serial: int
    """The last number given to something that keeps its order of writing."""
    norms: int
    """How many norms have blocking keys."""
    definitions: int
    digest: bytes
    """The digest of the last event."""
    journal: ImportJournal | None = None
    """How far an import has come, as the lock met it."""
    last_write: Properties = field(default_factory=dict[str, Any])
    """What this transaction last wrote to the clock node."""
    is_locked: bool = True
    """False where they are foretold, and the clock node is not to be touched yet."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ClockCounters:
        """The counters of a record."""
        return cls(
            clock=clock_of(record),
            serial=record["serial"],
            norms=record["norms"],
            definitions=record["definitions"],
            digest=bytes(record["digest"] or GENESIS),
            journal=journal_of(record),
        )

    def number(self) -> int:
        """The next serial number."""
        self.serial += 1
        return self.serial

    @property
    def props(self) -> Properties:
        """The properties of the clock node."""
        return {
            **self.clock._asdict(),
            "serial": self.serial,
            "norms": self.norms,
            "definitions": self.definitions,
            "digest": self.digest,
        }

    def store(self, calls: Writes) -> None:
        """Write the counters, when they are not written yet."""
        if self.is_locked and self.props != self.last_write:
            self.last_write = self.props
            calls.rows(core.SET_CLOCK, clock=self.last_write)


def journal_of(record: Mapping[str, Any]) -> ImportJournal | None:
    """The journal that a clock's record holds; None where no import is in progress."""
    if record["import_digest"] is None:
        return None
    return ImportJournal(record["import_digest"], record["import_applied"], record["import_total"])


def keep_journal(calls: Writes, journal: ImportJournal | None) -> None:
    """Keep a journal inside the open transaction; None ends the import."""
    properties: dict[str, Any] = dict.fromkeys(("digest", "applied", "total"))
    if journal is not None:
        properties = asdict(journal)
    calls.rows(core.KEEP_JOURNAL, journal=properties)


def clock_of(record: Mapping[str, Any]) -> Clock:
    """The counters of the port."""
    return Clock(record["seq"], record["last_us"], record["next_vid"], record["vec_seq"])


def write_batch(calls: Writes, counters: ClockCounters, batch: Batch) -> None:
    """Write a batch inside the open transaction, and move the counters.

    Raises:
        Fault: `invariant_broken`.
    """
    require_next(counters.clock, batch)
    vec_seq = max(counters.clock.vec_seq, batch.clock.vec_seq)
    counters.clock = batch.clock._replace(vec_seq=vec_seq)

    # Names first, because mentions, judgements and relations end at entities.
    _write_names(calls, counters, batch)
    _write_facts(calls, counters, batch)
    count = _put(calls, register.PUT_MENTIONS, map(codec.mention_row, batch.mentions))
    require(count == len(batch.mentions), "a mention stands in an unknown claim")
    _write_judgements(calls, batch)
    _write_queue(calls, counters, batch)
    sessions.put(calls, batch.session_events)
    _write_restored(calls, counters, batch)
    counters.store(calls)


def _run(calls: Writes, text: LiteralString, parts: Parts, **bound: Any) -> dict[str, int]:
    """Run a statement over its parts, at once where they are few, and add up its counts."""
    counts: dict[str, int] = {}
    for portion in _portions(parts):
        for record in calls.rows(text, inf=INF_US, **portion, **bound):
            # A list that is longer than a portion makes several records: its counts add up.
            for name in record.keys():  # noqa: SIM118 - a record iterates over its values
                counts[name] = counts.get(name, 0) + int(record[name])
    return counts


def _portions(parts: Parts) -> Iterator[Parts]:
    total = sum(map(len, parts.values()))
    if 0 < total <= LARGEST:
        yield parts
        return

    # One list at a time, in the order of the statement: what a later list ends at
    # stands before it.
    for name, rows in parts.items():
        for portion in portions_of(rows):
            yield {**dict.fromkeys(parts, ()), name: portion}


def _write_names(calls: Writes, counters: ClockCounters, batch: Batch) -> None:
    number = counters.number
    norms: list[Properties] = []
    parts: Parts = {
        "entities": [codec.entity_row(e, number()) for e in batch.entities],
        "closed_aliases": [codec.alias_closing(a, tx) for a, tx in batch.closed_aliases],
        "aliases": [codec.alias_row(a, number()) for a in batch.aliases],
        "identifiers": [codec.identifier_row(i, number()) for i in batch.identifiers],
        "norms": norms,
    }
    for norm, keys in batch.block_keys.items():
        norms.append({"norm": norm, "n": number(), "keys": list(map(list, keys))})

    counts = _run(calls, register.PUT_NAMES, parts)
    counters.norms += counts.get("norms", 0)
    closed = counts.get("closed", 0)
    require(closed == len(batch.closed_aliases), "a closed alias was not open")
    require(counts.get("aliases", 0) == len(batch.aliases), "an alias names an unknown entity")


def _write_facts(calls: Writes, counters: ClockCounters, batch: Batch) -> None:
    number = counters.number
    # The index of live claims holds what has an open head and nothing else.
    live = {row.claim.object_id for row in batch.rows if codec.openness(row) == codec.HEAD}
    signatures = _signatures(calls, batch)
    fresh_ids = {assertion.claim.object_id for assertion in batch.claims}
    claims: list[Properties] = []
    parts: Parts = {
        "events": list(_events(counters, batch)),
        "slots": [codec.slot_row(slot, number()) for slot in batch.slots],
        "claims": claims,
        "close": [{"vid": c.vid, "replaced_at": codec.time_text(c.tx)} for c in batch.close],
        "rows": [_row(row, fresh_ids) for row in batch.rows],
        "receipts": [],
        "closed": [closing.vid for closing in batch.close],
    }

    for assertion in batch.claims:
        object_id = assertion.claim.object_id
        is_live = object_id in live
        row = codec.claim_row(assertion, tenant=calls.tenant, n=number(), live=is_live)
        claims.append(row | {"signature": signatures.get(object_id)})

    receipts = [codec.receipt_row(receipt, number()) for receipt in batch.receipts]
    edges = [codec.edge_row(edge, number()) for edge in batch.edges]
    parts = {**parts, "receipts": receipts, "edges": edges}

    # what is numbered later takes its numbers from here, so that the clock is written now
    numbered_later = sum(map(len, (batch.flags, batch.permissions, batch.manifests)))
    clock = [counters.props | {"serial": counters.serial + numbered_later}]
    if not counters.is_locked:
        clock = []
    counts = _run(calls, core.PUT_FACTS, parts, clock=clock)
    # An empty batch ran no statement, so the clock has still to be written.
    counters.last_write = clock[0] if counts and clock else {}
    require(counts.get("claims", 0) == len(batch.claims), "a claim names an unknown slot")
    require(counts.get("closed", 0) == len(batch.close), "a row to close was not open")
    require(counts.get("rows", 0) == len(batch.rows), "a row belongs to an unknown claim")
    require(counts.get("edges", 0) == len(batch.edges), "an edge ends at an unknown claim")


def _row(row: Row, fresh_ids: AbstractSet[str]) -> Properties:
    """A new row, and whether it makes a claim live that stood before: only an open head does."""
    is_reviving = codec.openness(row) == codec.HEAD and row.claim.object_id not in fresh_ids
    return codec.version_row(row) | {"live": [1] if is_reviving else []}


def _signatures(calls: Writes, batch: Batch) -> dict[str, str]:
    """The signatures of what belongs to a project, by object id (C-096)."""
    scopes: dict[str, str] = {}
    for assertion in batch.claims:
        if assertion.details.scope.project is not None:
            scopes[assertion.claim.object_id] = assertion.details.scope.scope_id

    if not scopes:
        return {}

    # Keys come by epoch; only the newest one signs.
    newest_key = bytes(calls.column(core.KEYS)[-1])
    return {i: sign_scope(newest_key, i, scope_id) for i, scope_id in scopes.items()}


def _events(counters: ClockCounters, batch: Batch) -> Iterator[Properties]:
    for event in batch.events:
        # Each digest covers the one before it, so one event is made after another.
        counters.digest = chain_digest(counters.digest, event)
        yield codec.event_row(event) | {"digest": counters.digest}


def _put(calls: Writes, text: LiteralString, rows: Iterable[Properties], **bound: Any) -> int:
    """Run a statement over rows, and return what its only number adds up to."""
    count = 0
    for portion in portions_of(list(rows)):
        count += sum(map(int, calls.column(text, rows=portion, **bound)))
    return count


def _write_judgements(calls: Writes, batch: Batch) -> None:
    closings = [{"judgement_id": i, "tx": tx} for i, tx in batch.closed_judgements]
    closed = _put(calls, register.CLOSE_JUDGEMENTS, closings, inf=INF_US)
    require(closed == len(closings), "a judgement to close was not open")

    judgements = map(codec.judgement_row, batch.judgements)
    count = _put(calls, register.PUT_JUDGEMENTS, judgements)
    require(count == len(batch.judgements), "a judgement is about an unknown entity")

    # A case is never changed: a decision is its next version.
    _put(calls, register.PUT_REVIEWS, map(codec.review_row, batch.reviews))
    pairs = [{"raw_id": raw, "canonical_id": canonical} for raw, canonical in batch.canonical]
    _put(calls, register.PUT_CANONICAL, pairs, tx=batch.clock.last_us)


def _write_queue(calls: Writes, counters: ClockCounters, batch: Batch) -> None:
    _put(calls, register.PUT_ACTIONS, map(codec.action_row, batch.actions))
    closings = list(map(to_plain, batch.closed_actions))
    closed = _put(calls, register.CLOSE_ACTIONS, closings, inf=INF_US)
    require(closed == len(closings), "an action to close was not open")

    flags = [to_plain(flag) | {"n": counters.number()} for flag in batch.flags]
    require(_put(calls, core.PUT_FLAGS, flags) == len(flags), "a flag on an unknown object")

    changes: list[Properties] = []
    for change in batch.permissions:
        row = codec.permit(change.permissions)
        row |= {"n": counters.number(), "object_id": change.object_id}
        changes.append(row | {"tx": change.tx, "actor": change.actor})

    row_count = _put(calls, core.PUT_PERMISSIONS, changes)
    require(row_count == len(changes), "permissions of an unknown object")

    tombstones = map(to_plain, batch.tombstones)
    _put(calls, core.PUT_TOMBSTONES, tombstones, seq=counters.clock.seq)


# --- what has calls of its own, and what a restore brings


def _write_restored(calls: Writes, counters: ClockCounters, batch: Batch) -> None:
    define(calls, counters, batch.definitions)
    put_packs(calls, batch.packs)
    for record in batch.manifests:
        row = asdict(record) | {"n": counters.number(), "body": record.manifest}
        calls.rows(core.PUT_MANIFESTS, rows=[row])
    put_vectors(calls, counters, batch.vectors)
    _put(calls, register.LOG_USAGE, map(codec.usage_row, batch.usage))

    if batch.keys:
        calls.rows(core.CLEAR_KEYS)
        keys = [{"epoch": epoch, "secret": secret} for epoch, secret in enumerate(batch.keys)]
        _put(calls, core.PUT_KEYS, keys)


def define(calls: Writes, counters: ClockCounters, definitions: Sequence[str]) -> None:
    """Append vocabulary definitions."""
    rows = [
        {"number": number, "body": body}
        for number, body in enumerate(definitions, counters.definitions + 1)
    ]
    counters.definitions += len(rows)
    _put(calls, register.PUT_DEFINITIONS, rows)


def digest_of(pack: str) -> str:
    """The hash by which a policy pack is stored."""
    return hashlib.sha256(pack.encode()).hexdigest()


def put_packs(calls: Writes, packs: Iterable[str]) -> None:
    """Store policy packs by their hash."""
    rows = [{"digest": digest_of(pack), "body": pack} for pack in packs]
    _put(calls, register.PUT_PACKS, rows)


def put_vectors(calls: Writes, counters: ClockCounters, vectors: Sequence[VectorRow]) -> None:
    """Add or replace vectors under new numbers; those of erased objects are left out."""
    # Numbered anew even where a vector is replaced, so that a matrix hears of it.
    first = counters.clock.vec_seq + 1
    rows = [codec.vector_row(v) | {"vec_seq": number} for number, v in enumerate(vectors, first)]
    counters.clock = counters.clock._replace(vec_seq=counters.clock.vec_seq + len(rows))
    _put(calls, register.PUT_VECTORS, rows)
