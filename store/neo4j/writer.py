"""One write transaction of a tenant, over an explicit transaction of the driver.

`lock` writes the clock node first, so everything read afterwards is read alone and commit order
is tx order; it is the only lock a tenant has, so no two writers can deadlock. `finish` commits.
When the connection breaks during the commit its outcome is unknown: `landed` then asks, under
the lock, whether the last event's digest stands in the log. Nothing here decides: plans come
from outside.

Sources: port, `WriteTx`; neo4j 4; settled 1 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...resolution.known import Known, Lookup
from ...schema.claim import Assertion, Claim, Row, Version
from ...schema.entity import AUDIT, SUGGESTION, Alias, Judgement, Review
from ...schema.errors import Fault, NotFound
from ...schema.interval import INF_US
from ...schema.principal import Sight
from ..port.store import (
    ActionRecord,
    Batch,
    Clock,
    Point,
    Related,
    SlotRead,
    SlotRecord,
    StoredReceipt,
)
from . import applying, codec, erasing, identity, register_codec, versions
from .applying import Counters
from .calls import Writes
from .cypher import core as cypher
from .cypher import register

_HEADS = [codec.HEAD, codec.HIDDEN_DENIAL]
_ALL = [*_HEADS, codec.HIDDEN]


class Neo4jWriteTx:
    """A write transaction; `Neo4jStore.writing` opens and ends it."""

    def __init__(self, calls: Writes) -> None:
        self._calls = calls
        self._counters: Counters | None = None
        self._unused: set[str] = set()
        """Objects of which nothing is derived, as far as this transaction has met them."""
        self.mark: tuple[int, bytes] | None = None
        """Sequence number and digest of the last event written, to find it again."""

    @property
    def round_trips(self) -> int:
        """How many statements were run so far."""
        return self._calls.count

    def lock(self) -> Clock:
        """Take the tenant's write lock and return its counters; first call of all."""
        if self._counters is None:
            found = self._calls.rows(cypher.LOCK)
            if not found:
                raise NotFound(
                    "this store holds no such tenant; call ensure first", code="unknown_tenant"
                )
            self._counters = Counters.of(found[0])
        return self._counters.clock

    @property
    def counters(self) -> Counters:
        """Return the counters under the lock."""
        if self._counters is None:
            raise Fault("a write transaction begins with lock()", code="invariant_broken")
        return self._counters

    @property
    def calls(self) -> Writes:
        """Return what runs statements under the lock."""
        if self._counters is None:
            raise Fault("a write transaction begins with lock()", code="invariant_broken")
        return self._calls

    # --- identity

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        return self._register().known(lookup, scopes, tx_us)

    def known_each(
        self, asked: Sequence[tuple[Lookup, Sequence[str]]], *, tx_us: int
    ) -> Sequence[Known]:
        """Return what is known of each look-up over aliases of its scopes, in order."""
        return self._register().known_each(asked, tx_us)

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, aliases, identifiers and judgements."""
        return self._register().entities(entity_ids, tx_us)

    def _register(self) -> identity.Register:
        return identity.Register(self.calls, self.counters.clock.last_us)

    def names_of(
        self, entity_ids: Sequence[str], *, scopes: Sequence[str], tx_us: int
    ) -> tuple[Alias, ...]:
        """Return the aliases that raw entities have in these scopes, in their order."""
        return self._register().names_of(entity_ids, scopes, tx_us)

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> Related:
        """Return what relates entities to others by its raw ends; hubs are named apart."""
        pinned = self._pinned(point)
        return versions.relations(self.calls, entity_ids, sight=sight, point=pinned, limit=limit)

    def review(self, review_id: str) -> Review | None:
        """Return a review case in its newest version."""
        found = self.calls.rows(register.REVIEWS, first=review_id, last=review_id, state=None)
        return next((register_codec.review(record["review"]) for record in found), None)

    def cases(self, entity_ids: Sequence[str]) -> tuple[Review, ...]:
        """Return the blocking cases of raw entities in their newest version, by review id."""
        asked = {"entity_ids": list(dict.fromkeys(entity_ids)), "aside": [SUGGESTION, AUDIT]}
        found = self.calls.rows(register.CASES, **asked)
        return tuple(register_codec.review(record["review"]) for record in found)

    def waiting(self, actor: str, origin: str, *, limit: int) -> int:
        """Return how many blocking cases that a source has opened still wait, `limit` at most."""
        asked = {"actor": actor, "origin": origin, "limit": limit, "aside": [SUGGESTION, AUDIT]}
        return int(self.calls.rows(register.WAITING, **asked)[0]["held"])

    # --- what a plan needs

    def receipts(
        self, keys: Sequence[str], object_ids: Sequence[str] = ()
    ) -> tuple[StoredReceipt, ...]:
        """Return the receipts of idempotency keys and of objects."""
        found = self.calls.rows(register.RECEIPTS, keys=list(keys), object_ids=list(object_ids))
        return tuple(register_codec.receipt(record["receipt"]) for record in found)

    def open_rows(self, reads: Sequence[SlotRead]) -> tuple[tuple[Row, ...], ...]:
        """Return, for each read, the open rows that overlap its span, by vid."""
        asked = [
            {
                "place": place,
                "slot_keys": list(dict.fromkeys(read.slot_keys)),
                "since": read.span.start_us,
                "until": read.span.end_us,
                "open": _ALL if read.full else _HEADS,
            }
            for place, read in enumerate(reads)
        ]
        found: list[list[Row]] = [[] for _ in reads]
        for at in range(0, len(asked), applying.LARGEST):
            portion = asked[at : at + applying.LARGEST]
            for record in self.calls.rows(cypher.OPEN_ROWS, reads=portion):
                row = codec.row(record["row"], codec.claim(record["claim"]))
                found[int(record["place"])].append(row)
                if not record["used"]:
                    self._unused.add(row.claim.object_id)
        return tuple(map(tuple, found))

    def rows_of(self, object_ids: Sequence[str]) -> tuple[Row, ...]:
        """Return the open rows of objects, quarantined ones included, by vid."""
        asked = list(dict.fromkeys(object_ids))
        found = self.calls.rows(cypher.ROWS_OF, object_ids=asked, inf=INF_US)
        return tuple(codec.row(r["row"], codec.claim(r["claim"])) for r in found)

    def slot_claims(self, slot_keys: Sequence[str]) -> tuple[Claim, ...]:
        """Return every claim of slots that is not quarantined or erased, in order of writing."""
        found = self.calls.rows(cypher.SLOT_CLAIMS, slot_keys=list(dict.fromkeys(slot_keys)))
        return tuple(codec.claim(record["claim"]) for record in found)

    def slots(self, slot_keys: Sequence[str]) -> tuple[SlotRecord, ...]:
        """Return the stored slots among the keys, by key."""
        found = self.calls.rows(cypher.SLOTS, slot_keys=list(dict.fromkeys(slot_keys)))
        return tuple(codec.slot(record["slot"]) for record in found)

    def slots_of(self, entity_ids: Sequence[str]) -> tuple[SlotRecord, ...]:
        """Return the slots of subjects, by key."""
        found = self.calls.rows(cypher.SLOTS_OF, entity_ids=list(dict.fromkeys(entity_ids)))
        return tuple(codec.slot(record["slot"]) for record in found)

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Return every object that is about one of these, points at it or mentions it."""
        found = self.calls.rows(cypher.OBJECTS_OF, entity_ids=list(dict.fromkeys(entity_ids)))
        return tuple(sorted(str(record["object_id"]) for record in found))

    def live_objects(self, kind: str, value: str) -> tuple[str, ...]:
        """Return the objects with open rows whose scope has this id, sorted."""
        found = self.calls.rows(cypher.LIVE_OBJECTS, part=f",{kind}={value},", inf=INF_US)
        return tuple(str(record["object_id"]) for record in found)

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, whoever may see them."""
        return tuple(versions.decaying(self.calls, point=self._pinned(point)))

    def _pinned(self, point: Point) -> Point:
        return Point(point.valid_us, min(point.tx_us, self.counters.clock.last_us))

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        """Return the judgements, open and closed, of raw entities or of a merge, by id."""
        asked = list(dict.fromkeys(entity_ids))
        found = self.calls.rows(register.JUDGEMENTS, entity_ids=asked, merge_id=merge_id)
        judged = (register_codec.judgement(record["judgement"]) for record in found)
        return tuple(sorted(judged, key=lambda judgement: judgement.judgement_id))

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Return whole claims by object id, with today's permissions; erased ones left out."""
        found = self.calls.rows(cypher.ASSERTIONS, object_ids=list(dict.fromkeys(object_ids)))
        stated = (codec.assertion(record["claim"]) for record in found)
        return {one.claim.object_id: one for one in stated}

    def dependants(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the objects derived from these, directly or not, sorted, without them."""
        seen, edge = set(object_ids), set(object_ids) - self._unused
        while edge:
            found = self.calls.rows(cypher.DERIVED, object_ids=sorted(edge))
            edge = {str(record["object_id"]) for record in found} - seen
            seen |= edge
        return tuple(sorted(seen - set(object_ids)))

    def open_actions(
        self, *, slot_keys: Sequence[str] = (), object_ids: Sequence[str] = ()
    ) -> tuple[ActionRecord, ...]:
        """Return the open actions of slots or objects, by action id."""
        bound = {"slot_keys": list(slot_keys), "object_ids": list(object_ids), "inf": INF_US}
        found = self.calls.rows(register.OPEN_ACTIONS, **bound)
        actions = (register_codec.action(record["action"]) for record in found)
        return tuple(sorted(actions, key=lambda action: action.action_id))

    def action(self, action_id: str) -> ActionRecord | None:
        """Return an entry of the resolver queue, open or closed."""
        found = self.calls.rows(register.ACTION, action_id=action_id)
        return next((register_codec.action(record["action"]) for record in found), None)

    # --- writing

    def apply(self, batch: Batch) -> None:
        """Write a batch.

        Raises:
            Fault: `invariant_broken` when the batch does not fit what is stored.
        """
        applying.batch(self.calls, self.counters, batch)
        self._unused.clear()
        if batch.events:
            self.mark = batch.clock.seq, self.counters.digest

    def empty(self, object_ids: Sequence[str], entity_ids: Sequence[str]) -> None:
        """Empty what erasure must empty, in every place."""
        erasing.empty(self.calls, self.counters, object_ids, entity_ids)


def landed(calls: Writes, mark: tuple[int, bytes]) -> bool:
    """Tell whether the event of a transaction stands in the log; waits for the lock first."""
    calls.rows(cypher.LOCK)
    seq, digest = mark
    found = calls.rows(cypher.EVENT_AT, seq=seq)
    return any(bytes(record["digest"]) == digest for record in found)
