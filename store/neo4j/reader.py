"""One consistent view of a tenant: every read of history is pinned by its tx.

Neo4j reads committed data and keeps no snapshot, so consistency comes from the model: rows are
only ever added and closed once, every statement tests both stamps against the pin, and what a
later write did reads as not done. The counters are taken once, when the reader is opened, and a
later point is pinned to them. What has no stamp (reviews, vocabulary, manifests, vectors,
usage) is read as it is now.

Sources: port, `Reader`; neo4j 5; settled 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...resolution.known import Known, Lookup
from ...schema.claim import Edge, MentionLink, Version
from ...schema.entity import Review
from ...schema.errors import NotFound
from ...schema.interval import MIN_US
from ...schema.principal import Sight
from ..port import (
    ActionRecord,
    Ask,
    Clock,
    Found,
    Point,
    RecordKind,
    SlotRecord,
    StoredReceipt,
    Usage,
    VectorRow,
)
from . import codec, exporting, identity, register_codec, versions
from . import register_statements as register
from . import statements as cypher
from .applying import clock_of
from .calls import Reads

_LAST_ID = "\uffff"
_ALL = 2**31 - 1
"""Above every review id."""


class Neo4jReader:
    """A reader over a session of the driver."""

    def __init__(self, calls: Reads) -> None:
        self._calls = calls
        found = calls.rows(cypher.CLOCK)
        if not found:
            raise NotFound(
                "this store holds no such tenant; call ensure first", code="unknown_tenant"
            )
        self._clock = clock_of(found[0])

    @property
    def round_trips(self) -> int:
        """How many statements were run so far, that of the counters included."""
        return self._calls.count

    def clock(self) -> Clock:
        """Return the counters at the snapshot."""
        return self._clock

    def _pin(self, tx_us: int) -> int:
        return min(tx_us, self._clock.last_us)

    def _pinned(self, point: Point) -> Point:
        return Point(point.valid_us, self._pin(point.tx_us))

    def definitions(self, after: int = 0) -> tuple[tuple[int, str], ...]:
        """Return (number, canonical JSON) of vocabulary definitions above a number."""
        found = self._calls.rows(register.DEFINITIONS, after=after)
        return tuple((record["number"], record["body"]) for record in found)

    # --- identity

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        return identity.known(self._calls, lookup, scopes, self._pin(tx_us))

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, aliases, identifiers and judgements."""
        return identity.entities(self._calls, entity_ids, self._pin(tx_us))

    def entity_ids(
        self, *, type: str | None = None, after: str = "", most: int | None = None
    ) -> tuple[str, ...]:
        """Return raw entity ids above another one, sorted; at most so many."""
        bound = {"after": after, "most": _ALL if most is None else most}
        if type is None:
            found = self._calls.rows(register.ENTITY_IDS, **bound)
        else:
            found = self._calls.rows(register.ENTITY_IDS_OF_TYPE, type=type, **bound)
        return tuple(str(record["entity_id"]) for record in found)

    def review(self, review_id: str) -> Review | None:
        """Return a review case in its newest version."""
        found = self._calls.rows(register.REVIEWS, first=review_id, last=review_id, state=None)
        return next((register_codec.review(record["review"]) for record in found), None)

    def reviews(self, *, state: str | None = None) -> tuple[Review, ...]:
        """Return review cases in their newest version, oldest first."""
        found = self._calls.rows(register.REVIEWS, first="", last=_LAST_ID, state=state)
        return tuple(register_codec.review(record["review"]) for record in found)

    # --- versions

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Found:
        """Return the versions of an ask."""
        return versions.versions(self._calls, ask, sight=sight, point=self._pinned(point))

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return heads at the point whose claim shares a term, most shared terms first."""
        return versions.matching(
            self._calls,
            terms,
            sight=sight,
            point=self._pinned(point),
            limit=limit,
            last_us=self._clock.last_us,
        )

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Found:
        """Return the heads that a compile fetches with no query."""
        return versions.standing(self._calls, sight=sight, point=self._pinned(point), scopes=scopes)

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return clean heads about these entities or pointing at them."""
        return versions.around(
            self._calls, entity_ids, sight=sight, point=self._pinned(point), limit=limit
        )

    def changes(
        self, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str] = ()
    ) -> Found:
        """Return rows opened or closed in (after, until]; cost follows the changes."""
        until = self._pin(until_us)
        return versions.changes(self._calls, after_us, until, sight=sight, subjects=subjects)

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, with all content, by vid."""
        return tuple(versions.decaying(self._calls, point=self._pinned(point)))

    # --- claims and what stands beside them

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        """Return the edges from or to objects known at a tx."""
        found = self._calls.rows(
            cypher.EDGES, object_ids=_distinct(object_ids), tx=self._pin(tx_us)
        )
        return tuple(codec.edge(r["kind"], r["src"], r["dst"], r["edge"]) for r in found)

    def mentions(self, object_ids: Sequence[str]) -> tuple[MentionLink, ...]:
        """Return the names inside the texts of objects, by object id, then start."""
        found = self._calls.rows(register.MENTIONS, object_ids=_distinct(object_ids))
        return tuple(codec.mention(record["record"]) for record in found)

    def receipts(self, object_ids: Sequence[str]) -> tuple[StoredReceipt, ...]:
        """Return the receipts of objects."""
        found = self._calls.rows(register.RECEIPTS, keys=[], object_ids=_distinct(object_ids))
        return tuple(register_codec.receipt(record["receipt"]) for record in found)

    def actions(self, *, open_only: bool, tx_us: int) -> tuple[ActionRecord, ...]:
        """Return actions known at a tx, oldest first."""
        tx_us = self._pin(tx_us)
        after = tx_us if open_only else MIN_US
        found = self._calls.rows(register.ACTIONS, tx=tx_us, after=after)
        return tuple(register_codec.action(record["action"], tx_us) for record in found)

    def slot_records(self, slot_keys: Sequence[str]) -> tuple[SlotRecord, ...]:
        """Return slots by key."""
        found = self._calls.rows(cypher.SLOTS, slot_keys=_distinct(slot_keys))
        return tuple(codec.slot(record["slot"]) for record in found)

    def slot_in_use(self, name: str) -> bool:
        """Tell whether any claim of a slot of this name was ever stored."""
        return bool(self._calls.rows(cypher.SLOT_IN_USE, name=name))

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[VectorRow, ...]]:
        """Return the vector counter and the rows put after a count, in order."""
        count = self._clock.vec_seq
        bound = {"encoder_id": encoder_id, "after": after, "until": count}
        rows = tuple(
            VectorRow(record["object_id"], encoder_id, record["part"], bytes(record["vec16"]))
            for record in self._calls.stream(register.VECTORS, **bound)
        )
        return count, rows

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        found = self._calls.rows(register.ERASED_SINCE, seq=seq, min=MIN_US)
        return tuple(str(record["object_id"]) for record in found)

    def manifest(self, envelope_id: str) -> str | None:
        """Return a stored manifest; empty text when an erasure emptied it."""
        found = self._calls.rows(register.MANIFEST, envelope_id=envelope_id)
        return next((str(record["body"]) for record in found), None)

    def manifests(self, *, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return (envelope id, manifest) pairs, newest first."""
        found = self._calls.rows(register.MANIFESTS, limit=limit)
        return tuple((record["envelope_id"], record["body"]) for record in found)

    def envelopes_of(self, object_id: str) -> tuple[str, ...]:
        """Return the envelope ids an object was compiled into, oldest first."""
        found = self._calls.rows(register.ENVELOPES_OF, object_id=object_id)
        return tuple(str(record["envelope_id"]) for record in found)

    def policy_pack(self, digest: str) -> str | None:
        """Return a stored policy pack."""
        found = self._calls.rows(register.PACK, digest=digest)
        return next((str(record["body"]) for record in found), None)

    def usage(self, object_ids: Sequence[str]) -> Mapping[str, Usage]:
        """Return how objects were used, by object id."""
        found = self._calls.rows(register.USAGE, object_ids=_distinct(object_ids))
        return {
            record["usage"]["object_id"]: Usage(
                record["usage"]["object_id"], record["usage"]["uses"], record["usage"]["last_us"]
            )
            for record in found
        }

    def keys(self) -> tuple[bytes, ...]:
        """Return the tenant's secret keys, one an epoch."""
        return tuple(bytes(record["secret"]) for record in self._calls.rows(cypher.KEYS))

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order."""
        return exporting.records(self._calls, kind)


def _distinct(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids))
