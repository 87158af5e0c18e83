"""Writing a batch: its parts as lists of rows, few statements, and the checks.

An ordinary batch is one statement (`PUT_BATCH`). Of a large one, or one of a single list, each part
is a statement of its own (`PUT_PART`), at most `LARGEST` rows each, because the server holds a
statement's work in memory. The counters may only move as the batch says: its events take the next
sequence numbers, and every closing must hit exactly one open node, else the transaction is a
`Fault`.

`serial` numbers what must keep its order of writing (claims, edges, receipts, …), since nodes
have no order of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from typing import Any, Final, LiteralString

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

    def number_rows(self, rows: Iterable[Properties]) -> list[Properties]:
        """Rows with the next serial numbers, as `n`."""
        numbered_rows = [row | {"n": n} for n, row in enumerate(rows, self.serial + 1)]
        self.serial += len(numbered_rows)
        return numbered_rows

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
    parts = _names(counters, batch) | _facts(calls, counters, batch) | _register(counters, batch)
    bound: dict[str, Any] = {"inf": INF_US, "tx": batch.clock.last_us}
    counts: dict[str, int] = {}
    clock: list[Properties] = []
    if sum(map(len, parts.values())) <= LARGEST and sum(map(bool, parts.values())) > 1:
        if counters.is_locked:
            # what is numbered later takes its numbers from here, so that the clock is written now
            clock.append(counters.props | {"serial": counters.serial + len(batch.manifests)})
        counts = dict(calls.rows(core.PUT_BATCH, clock=clock, **parts, **bound)[0])
    else:
        # One list at a time, in this order: a list refers to nodes of earlier ones.
        for name, rows in parts.items():
            for portion in portions_of(rows):
                (count,) = calls.column(core.PUT_PART[name], **{name: portion}, **bound)
                counts[name] = counts.get(name, 0) + int(count)

    counters.norms += counts.get("norms", 0)
    counters.last_write = clock[0] | {"norms": counters.norms} if clock else {}
    for name, sentence in _MUST_BE_WRITTEN.items():
        require(counts.get(name, 0) == len(parts[name]), sentence)

    tombstones = map(to_plain, batch.tombstones)
    _put(calls, core.PUT_TOMBSTONES, tombstones, seq=counters.clock.seq)
    sessions.put(calls, batch.session_events)
    _write_restored(calls, counters, batch)
    counters.store(calls)


_MUST_BE_WRITTEN: Final[Mapping[str, str]] = {
    "closed_aliases": "a closed alias was not open",
    "aliases": "an alias names an unknown entity",
    "claims": "a claim names an unknown slot",
    "close": "a row to close was not open",
    "rows": "a row belongs to an unknown claim",
    "edges": "an edge ends at an unknown claim",
    "mentions": "a mention stands in an unknown claim",
    "closed_judgements": "a judgement to close was not open",
    "judgements": "a judgement is about an unknown entity",
    "closed_actions": "an action to close was not open",
    "flags": "a flag on an unknown object",
    "permissions": "permissions of an unknown object",
}
"""The lists of which each row must meet what it ends at, and what is wrong where one does not."""


def _names(counters: ClockCounters, batch: Batch) -> dict[str, Sequence[Any]]:
    norms: list[Properties] = []
    for norm, keys in batch.block_keys.items():
        norms.append({"norm": norm, "keys": list(map(list, keys))})
    return {
        "entities": counters.number_rows(map(codec.entity_row, batch.entities)),
        "closed_aliases": [codec.alias_closing(a, tx) for a, tx in batch.closed_aliases],
        "aliases": counters.number_rows(map(codec.alias_row, batch.aliases)),
        "identifiers": counters.number_rows(map(codec.identifier_row, batch.identifiers)),
        "norms": counters.number_rows(norms),
    }


def _facts(calls: Writes, counters: ClockCounters, batch: Batch) -> dict[str, Sequence[Any]]:
    # The index of live claims holds what has an open head and nothing else.
    live = {row.claim.object_id for row in batch.rows if codec.openness(row) == codec.HEAD}
    signatures = _signatures(calls, batch)
    fresh_ids = {assertion.claim.object_id for assertion in batch.claims}
    claims: list[Properties] = []
    for assertion in batch.claims:
        object_id = assertion.claim.object_id
        row = codec.claim_row(assertion, tenant=calls.tenant, live=object_id in live)
        claims.append(row | {"signature": signatures.get(object_id)})

    return {
        "events": list(_events(counters, batch)),
        "slots": counters.number_rows(map(codec.slot_row, batch.slots)),
        "claims": counters.number_rows(claims),
        "close": [{"vid": c.vid, "replaced_at": codec.time_text(c.tx)} for c in batch.close],
        "rows": [_row(row, fresh_ids) for row in batch.rows],
        "receipts": counters.number_rows(map(codec.receipt_row, batch.receipts)),
        "edges": counters.number_rows(map(codec.edge_row, batch.edges)),
        "closed": [closing.vid for closing in batch.close],
    }


def _register(counters: ClockCounters, batch: Batch) -> dict[str, Sequence[Any]]:
    """Mentions, who is who, the queues, and what is recorded about an object."""
    changes: list[Properties] = []
    for change in batch.permissions:
        row = codec.permit(change.permissions) | {"object_id": change.object_id}
        changes.append(row | {"tx": change.tx, "actor": change.actor})

    return {
        "mentions": list(map(codec.mention_row, batch.mentions)),
        "closed_judgements": [
            {"judgement_id": judgement_id, "tx": tx} for judgement_id, tx in batch.closed_judgements
        ],
        "judgements": list(map(codec.judgement_row, batch.judgements)),
        # A case is never changed: a decision is its next version.
        "reviews": list(map(codec.review_row, batch.reviews)),
        "canonical": [{"raw_id": raw, "canonical_id": top} for raw, top in batch.canonical],
        "actions": list(map(codec.action_row, batch.actions)),
        "closed_actions": list(map(to_plain, batch.closed_actions)),
        "flags": counters.number_rows(map(to_plain, batch.flags)),
        "permissions": counters.number_rows(changes),
    }


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


def _put(calls: Writes, text: LiteralString, rows: Iterable[Properties], **bound: Any) -> None:
    for portion in portions_of(list(rows)):
        calls.rows(text, rows=portion, **bound)


# --- what has calls of its own, and what a restore brings


def _write_restored(calls: Writes, counters: ClockCounters, batch: Batch) -> None:
    define(calls, counters, batch.definitions)
    put_packs(calls, batch.packs)
    manifests = [asdict(record) | {"body": record.manifest} for record in batch.manifests]
    for row in counters.number_rows(manifests):
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
