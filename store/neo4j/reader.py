"""One consistent view of a tenant: every read of history is pinned by its tx.

Neo4j reads committed data and keeps no snapshot, so consistency comes from the model: rows are
only ever added and closed once, every statement tests both stamps against the pin, and what a
later write did reads as not done. The counters are taken once, when the reader is opened, in one
round trip with the tenant's keys and the names it is opened for; a later point is pinned to them.
Questions that were told beforehand are answered by `foresight`. What has no stamp (reviews,
vocabulary, manifests, vectors, usage) is read as it is now.

Sources: port, `Reader`; neo4j 5; settled 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...resolution.known import Known, Lookup
from ...schema.claim import Edge, MentionLink, Version
from ...schema.entity import Alias, Review
from ...schema.errors import NotFound
from ...schema.interval import MIN_US
from ...schema.principal import Sight
from ...schema.vocabulary import ActionKind
from ..port.records import Expected, Names
from ..port.store import (
    ActionRecord,
    Ask,
    Clock,
    Found,
    Point,
    RecordKind,
    Related,
    StoredReceipt,
    Usage,
    VectorRow,
)
from ..port.vectors import Vectors
from . import codec, exporting, identity, register_codec, versions
from .applying import clock_of
from .calls import Reads
from .cypher import core as cypher
from .cypher import identity as cypher_identity
from .cypher import register
from .foresight import Foresight

_LAST_ID = "\uffff"
_ALL = 2**31 - 1
"""Above every review id."""


class Neo4jReader:
    """A reader over a session of the driver."""

    def __init__(
        self,
        calls: Reads,
        names: Names | None = None,
        near: Callable[[str, int], Vectors] | None = None,
    ) -> None:
        self._calls = calls
        self._near = near
        lookup, scopes = names or Names(Lookup(), ())
        found = calls.rows(cypher_identity.OPENING, **identity.names_asked(lookup, scopes))
        if not found:
            raise NotFound(
                "this store holds no such tenant; call ensure first", code="unknown_tenant"
            )
        (opened,) = found
        self._clock = clock_of(opened)
        self._definitions = int(opened["definitions"])
        self._erased_seq: int | None = opened["erased_seq"]
        """Where nothing later was erased; None for a tenant from before this was kept."""
        self._keys = tuple(bytes(secret) for secret in opened["secrets"])
        self._register = identity.Register(calls, self._clock.last_us)
        self._register.meet(lookup, scopes, opened)
        self._foresight = Foresight(calls, self._register)

    @property
    def round_trips(self) -> int:
        """How many statements were run so far, that of the counters included."""
        return self._calls.count

    @property
    def home(self) -> str:
        """Return the server and database that the snapshot is of."""
        return self._calls.home

    def expect(self, questions: Callable[[], Expected | None]) -> None:
        """Hear what will be asked next, and ask it all at once."""
        asked = questions()
        if asked is None:
            return
        point = self._pinned(asked.point)
        self._foresight.ask(replace(asked, point=point), live=point.tx_us >= self._clock.last_us)

    def clock(self) -> Clock:
        """Return the counters at the snapshot."""
        return self._clock

    def _pin(self, tx_us: int) -> int:
        return min(tx_us, self._clock.last_us)

    def _pinned(self, point: Point) -> Point:
        return Point(point.valid_us, self._pin(point.tx_us))

    def definitions(self, after: int = 0) -> tuple[tuple[int, str], ...]:
        """Return (number, canonical JSON) of vocabulary definitions above a number."""
        if after >= self._definitions:
            return ()
        found = self._calls.rows(register.DEFINITIONS, after=after)
        return tuple((record["number"], record["body"]) for record in found)

    # --- identity

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        return self._register.known(lookup, scopes, self._pin(tx_us))

    def known_each(
        self, asked: Sequence[tuple[Lookup, Sequence[str]]], *, tx_us: int
    ) -> Sequence[Known]:
        """Return what is known of each look-up over aliases of its scopes, in order."""
        return self._register.known_each(asked, self._pin(tx_us))

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, aliases, identifiers and judgements."""
        return self._register.entities(entity_ids, self._pin(tx_us))

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
        point = self._pinned(point)
        found = self._foresight.versions(ask, sight, point)
        return found or versions.versions(self._calls, ask, sight=sight, point=point)

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return heads at the point whose claim shares a term, the most telling ones first."""
        point = self._pinned(point)
        live = point.tx_us >= self._clock.last_us
        search = versions.search_of(terms, limit=limit, live=live)
        first = self._foresight.search(search, sight, point)
        return versions.matching(self._calls, search, sight=sight, point=point, first=first)

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Found:
        """Return the heads that a compile fetches with no query."""
        point = self._pinned(point)
        found = self._foresight.standing(scopes, sight, point)
        return found or versions.standing(self._calls, sight=sight, point=point, scopes=scopes)

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return clean heads about these entities or pointing at them."""
        point = self._pinned(point)
        found = self._foresight.around(entity_ids, limit, sight, point)
        return found or versions.around(
            self._calls, entity_ids, sight=sight, point=point, limit=limit
        )

    def names_of(
        self, entity_ids: Sequence[str], *, scopes: Sequence[str], tx_us: int
    ) -> tuple[Alias, ...]:
        """Return the aliases that raw entities have in these scopes, in their order."""
        return self._register.names_of(entity_ids, scopes, self._pin(tx_us))

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> Related:
        """Return what relates entities to others by its raw ends; hubs are named apart."""
        pinned = self._pinned(point)
        return versions.relations(self._calls, entity_ids, sight=sight, point=pinned, limit=limit)

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

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        """Return actions known at a tx, of one kind or of all, oldest first."""
        tx_us = self._pin(tx_us)
        known = self._foresight.actions(kind, tx_us) if open_only else None
        if known is not None:
            return known
        after = tx_us if open_only else MIN_US
        found = self._calls.rows(register.ACTIONS, tx=tx_us, after=after, kind=kind)
        return tuple(register_codec.action(record["action"], tx_us) for record in found)

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

    def near(self, encoder_id: str) -> Vectors | None:
        """Return the server's own vector index where the store was opened with it."""
        return None if self._near is None else self._near(encoder_id, self._clock.vec_seq)

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        if self._erased_seq is not None and self._erased_seq <= seq:
            return ()
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
        return self._keys

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order."""
        return exporting.records(self._calls, kind)


def _distinct(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids))
