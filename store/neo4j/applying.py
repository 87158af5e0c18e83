"""Writing a batch: its parts as lists of rows, few statements, and the checks.

An ordinary write is one statement (`PUT_FACTS`), a write with new names two; a large batch runs
the same texts part by part, at most `LARGEST` rows each, because the server holds a statement's
work in memory. The counters may only move as the batch says: its events take the next sequence
numbers, and every closing must hit exactly one open node, else the transaction is a `Fault`.

`serial` numbers what must keep its order of writing (claims, edges, receipts, …), since nodes
have no order of their own.

Sources: port, `Batch`; neo4j 4; settled 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, LiteralString

from ...schema.errors import Fault
from ...schema.interval import INF_US
from ...schema.signing import sign_scope
from ...schema.vocabulary import EdgeKind
from ..port.audit import GENESIS, chained
from ..port.store import Batch, Clock, VectorRow
from . import codec, register_codec
from .calls import Writes
from .codec import Properties
from .cypher import core as cypher
from .cypher import register

LARGEST: Final = 1_000
"""Rows of one statement."""

Parts = Mapping[str, Sequence[Any]]
"""The lists that a statement unwinds, by parameter."""

_EDGES: Final[Mapping[EdgeKind, str]] = {
    EdgeKind.SUPERSEDES: "supersedes",
    EdgeKind.OVERRIDES: "overrides",
    EdgeKind.CONFLICTS_WITH: "conflicts",
    EdgeKind.CONFIRMS: "confirms",
    EdgeKind.DERIVED_FROM: "derives",
}
"""The lists of edges, by kind."""


@dataclass(slots=True)
class Counters:
    """The counters of a tenant's clock node, as this transaction has moved them."""

    clock: Clock
    serial: int
    """The last number given to something that keeps its order of writing."""
    norms: int
    """How many norms have blocking keys."""
    definitions: int
    digest: bytes
    """The digest of the last event."""
    stored: Properties = field(default_factory=dict[str, Any])
    """What this transaction last wrote to the clock node."""

    @classmethod
    def of(cls, held: Mapping[str, Any]) -> Counters:
        """Return the counters of a record."""
        return cls(
            clock=clock_of(held),
            serial=held["serial"],
            norms=held["norms"],
            definitions=held["definitions"],
            digest=bytes(held["digest"] or GENESIS),
        )

    def number(self) -> int:
        """Return the next serial number."""
        self.serial += 1
        return self.serial

    @property
    def props(self) -> Properties:
        """Return the properties of the clock node."""
        return {
            **self.clock._asdict(),
            "serial": self.serial,
            "norms": self.norms,
            "definitions": self.definitions,
            "digest": self.digest,
        }

    def store(self, calls: Writes) -> None:
        """Write the counters, when they are not written yet."""
        if self.props != self.stored:
            self.stored = self.props
            calls.rows(cypher.SET_CLOCK, clock=self.stored)


def clock_of(held: Mapping[str, Any]) -> Clock:
    """Return the counters of the port."""
    return Clock(held["seq"], held["last_us"], held["next_vid"], held["vec_seq"])


def batch(calls: Writes, counters: Counters, given: Batch) -> None:
    """Write a batch inside the open transaction, and move the counters.

    Raises:
        Fault: `invariant_broken`.
    """
    _check(counters.clock, given)
    vec_seq = max(counters.clock.vec_seq, given.clock.vec_seq)
    counters.clock = given.clock._replace(vec_seq=vec_seq)
    _names(calls, counters, given)
    _facts(calls, counters, given)
    _mentions(calls, given)
    _judgements(calls, given)
    _queue(calls, counters, given)
    _restored(calls, counters, given)
    counters.store(calls)


def _require(held: bool, what: str) -> None:
    if not held:
        raise Fault(f"a batch does not fit the store: {what}", code="invariant_broken")


def _check(now: Clock, given: Batch) -> None:
    clock, events = given.clock, given.events
    stamps = [now.last_us, *(event.tx for event in events)]
    _require(
        [event.seq for event in events] == list(range(now.seq + 1, now.seq + 1 + len(events)))
        and clock.seq == now.seq + len(events),
        "its events do not take the next sequence numbers",
    )
    _require(
        all(a < b for a, b in pairwise(stamps)) and clock.last_us == stamps[-1],
        "its stamps do not rise",
    )
    _require(
        all(row.vid < clock.next_vid for row in given.rows) and clock.next_vid >= now.next_vid,
        "a version number is not below the next one",
    )


def _run(calls: Writes, text: LiteralString, parts: Parts, **bound: Any) -> dict[str, int]:
    """Run a statement over its parts, at once where they are few, and add up its counts."""
    counts: dict[str, int] = {}
    for some in _portions(parts):
        for record in calls.rows(text, inf=INF_US, **some, **bound):
            for name in record.keys():  # noqa: SIM118 - a record iterates over its values
                counts[name] = counts.get(name, 0) + int(record[name])
    return counts


def _portions(parts: Parts) -> Iterator[Parts]:
    total = sum(len(rows) for rows in parts.values())
    if 0 < total <= LARGEST:
        yield parts
        return
    for name, rows in parts.items():
        for at in range(0, len(rows), LARGEST):
            yield {**dict.fromkeys(parts, ()), name: rows[at : at + LARGEST]}


def _names(calls: Writes, counters: Counters, given: Batch) -> None:
    number = counters.number
    parts: Parts = {
        "entities": [register_codec.entity_row(e, number()) for e in given.entities],
        "closed_aliases": [register_codec.alias_closing(a, tx) for a, tx in given.closed_aliases],
        "aliases": [register_codec.alias_row(a, number()) for a in given.aliases],
        "identifiers": [register_codec.identifier_row(i, number()) for i in given.identifiers],
        "norms": [
            {"norm": norm, "n": number(), "keys": [list(pair) for pair in keys]}
            for norm, keys in given.block_keys.items()
        ],
    }
    done = _run(calls, register.PUT_NAMES, parts)
    counters.norms += done.get("norms", 0)
    closed = done.get("closed", 0)
    _require(closed == len(given.closed_aliases), "a closed alias was not open")
    _require(done.get("aliases", 0) == len(given.aliases), "an alias names an unknown entity")


def _facts(calls: Writes, counters: Counters, given: Batch) -> None:
    number, token = counters.number, codec.tenant_token(calls.tenant)
    live = {row.claim.object_id for row in given.rows if codec.openness(row) == codec.HEAD}
    signatures = _signatures(calls, given)
    parts: Parts = {
        "events": list(_events(counters, given)),
        "slots": [codec.slot_row(slot, number()) for slot in given.slots],
        "claims": [
            codec.claim_row(one, n=number(), live=one.claim.object_id in live, token=token)
            | {"signature": signatures.get(one.claim.object_id)}
            for one in given.claims
        ],
        "close": [{"vid": closing.vid, "tx": closing.tx} for closing in given.close],
        "rows": [codec.version_row(row) for row in given.rows],
        "receipts": [register_codec.receipt_row(r, number()) for r in given.receipts],
        **_edges(counters, given),
        "moved": _moved(given),
    }
    # what is numbered later takes its numbers from here, so that the clock is written now
    later = sum(map(len, (given.flags, given.permissions, given.manifests)))
    counters.stored = counters.props | {"serial": counters.serial + later}
    done = _run(calls, cypher.PUT_FACTS, parts, clock=counters.stored)
    if not done:
        counters.stored = {}
    _require(done.get("claims", 0) == len(given.claims), "a claim names an unknown slot")
    _require(done.get("closed", 0) == len(given.close), "a row to close was not open")
    _require(done.get("rows", 0) == len(given.rows), "a row belongs to an unknown claim")
    _require(done.get("edges", 0) == len(given.edges), "an edge ends at an unknown claim")


def _moved(given: Batch) -> list[int]:
    """Return the rows whose claims may have become live, or no longer be."""
    written = {stated.claim.object_id for stated in given.claims}
    moved = [closing.vid for closing in given.close]
    return moved + [row.vid for row in given.rows if row.claim.object_id not in written]


def _signatures(calls: Writes, given: Batch) -> dict[str, str]:
    """Return the signatures of what belongs to a project, by object id (C-096)."""
    scoped = [one for one in given.claims if one.details.scope.project is not None]
    if not scoped:
        return {}
    key = bytes(calls.rows(cypher.KEYS)[-1]["secret"])
    return {
        one.claim.object_id: sign_scope(key, one.claim.object_id, one.details.scope.scope_id)
        for one in scoped
    }


def _events(counters: Counters, given: Batch) -> Iterator[Properties]:
    for event in given.events:
        counters.digest = chained(counters.digest, event)
        yield {
            "seq": event.seq,
            "tx": event.tx,
            "actor": event.actor,
            "op": event.op,
            "object_ids": list(event.object_ids),
            "digest": counters.digest,
        }


def _slices(rows: Sequence[Any]) -> Iterator[list[Any]]:
    for at in range(0, len(rows), LARGEST):
        yield list(rows[at : at + LARGEST])


def _each(calls: Writes, text: LiteralString, rows: Iterable[Properties], **bound: Any) -> int:
    """Run a statement over rows, and return what its only number adds up to."""
    made = 0
    for some in _slices(list(rows)):
        for record in calls.rows(text, rows=some, **bound):
            made += int(record[0])
    return made


def _mentions(calls: Writes, given: Batch) -> None:
    made = _each(calls, register.PUT_MENTIONS, map(codec.mention_row, given.mentions))
    _require(made == len(given.mentions), "a mention stands in an unknown claim")


def _edges(counters: Counters, given: Batch) -> dict[str, list[Properties]]:
    found: dict[str, list[Properties]] = {name: [] for name in _EDGES.values()}
    for edge in given.edges:
        found[_EDGES[edge.kind]].append(codec.edge_row(edge, counters.number()))
    return found


def _judgements(calls: Writes, given: Batch) -> None:
    closings = [{"judgement_id": i, "tx": tx} for i, tx in given.closed_judgements]
    closed = _each(calls, register.CLOSE_JUDGEMENTS, closings, inf=INF_US)
    _require(closed == len(closings), "a judgement to close was not open")
    rows = [register_codec.judgement_row(j) for j in given.judgements]
    made = _each(calls, register.PUT_JUDGEMENTS, rows)
    _require(made == len(rows), "a judgement is about an unknown entity")
    _each(calls, register.PUT_REVIEWS, map(register_codec.review_row, given.reviews))
    pairs = [{"raw_id": raw, "canonical_id": canonical} for raw, canonical in given.canonical]
    _each(calls, register.PUT_CANONICAL, pairs, inf=INF_US, tx=given.clock.last_us)


def _queue(calls: Writes, counters: Counters, given: Batch) -> None:
    _each(calls, register.PUT_ACTIONS, map(register_codec.action_row, given.actions))
    closings = [
        {"action_id": c.action_id, "tx": c.tx, "outcome": c.outcome, "closed_by": c.closed_by}
        for c in given.closed_actions
    ]
    closed = _each(calls, register.CLOSE_ACTIONS, closings, inf=INF_US)
    _require(closed == len(closings), "an action to close was not open")
    flags = [
        {"n": counters.number(), "object_id": f.object_id, "kind": f.kind, "on": f.on, "tx": f.tx}
        for f in given.flags
    ]
    _require(_each(calls, cypher.PUT_FLAGS, flags) == len(flags), "a flag on an unknown object")
    changes = [
        {"n": counters.number(), "object_id": p.object_id, "tx": p.tx, "actor": p.actor}
        | codec.permit(p.permissions)
        for p in given.permissions
    ]
    changed = _each(calls, cypher.PUT_PERMISSIONS, changes)
    _require(changed == len(changes), "permissions of an unknown object")
    stones = [
        {
            "erasure_id": t.erasure_id,
            "tx": t.tx,
            "actor": t.actor,
            "reason": t.reason,
            "object_ids": list(t.object_ids),
            "entity_ids": list(t.entity_ids),
        }
        for t in given.tombstones
    ]
    _each(calls, cypher.PUT_TOMBSTONES, stones, seq=counters.clock.seq)


# --- what has calls of its own, and what a restore brings


def _restored(calls: Writes, counters: Counters, given: Batch) -> None:
    define(calls, counters, given.definitions)
    put_packs(calls, given.packs)
    manifests = [
        {
            "n": counters.number(),
            "envelope_id": m.envelope_id,
            "body": m.manifest,
            "pack": m.pack,
            "object_ids": list(m.object_ids),
        }
        for m in given.manifests
    ]
    put_manifests(calls, manifests)
    put_vectors(calls, counters, given.vectors)
    usage = [{"object_id": u.object_id, "uses": u.uses, "last_us": u.last_us} for u in given.usage]
    _each(calls, register.LOG_USAGE, usage)
    if given.keys:
        calls.rows(cypher.CLEAR_KEYS)
        keys = [{"epoch": epoch, "secret": secret} for epoch, secret in enumerate(given.keys)]
        _each(calls, cypher.PUT_KEYS, keys)


def define(calls: Writes, counters: Counters, definitions: Sequence[str]) -> None:
    """Append vocabulary definitions."""
    rows = [
        {"number": number, "body": body}
        for number, body in enumerate(definitions, counters.definitions + 1)
    ]
    counters.definitions += len(rows)
    _each(calls, register.PUT_DEFINITIONS, rows)


def digest_of(pack: str) -> str:
    """Return the hash by which a policy pack is stored."""
    return hashlib.sha256(pack.encode()).hexdigest()


def put_packs(calls: Writes, packs: Iterable[str]) -> None:
    """Store policy packs by their hash."""
    rows = [{"digest": digest_of(pack), "body": pack} for pack in packs]
    _each(calls, register.PUT_PACKS, rows)


def put_manifests(calls: Writes, rows: Iterable[Properties]) -> None:
    """Store manifests and what they compiled, unless they are there."""
    for row in rows:
        calls.rows(register.PUT_MANIFESTS, rows=[row])


def put_vectors(calls: Writes, counters: Counters, vectors: Sequence[VectorRow]) -> None:
    """Add or replace vectors under new numbers; those of erased objects are left out."""
    first = counters.clock.vec_seq + 1
    rows = [
        {
            "object_id": v.object_id,
            "encoder_id": v.encoder_id,
            "part": v.part,
            "vec16": v.vec16,
            "vec_seq": number,
        }
        for number, v in enumerate(vectors, first)
    ]
    counters.clock = counters.clock._replace(vec_seq=counters.clock.vec_seq + len(rows))
    _each(calls, register.PUT_VECTORS, rows)
