"""One consistent view of a tenant: every read of history is pinned by its tx.

Neo4j reads committed data and keeps no snapshot, so consistency comes from the model: rows are
only ever added and closed once, every statement tests both stamps against the pin, and what a
later write did reads as not done. The counters are taken once, when the reader is opened, in one
round trip with the tenant's keys and the names it is opened for; a later point is pinned to them.
Questions that were stated beforehand are answered by `prefetch`. What has no stamp (reviews,
vocabulary, manifests, vectors, usage) is read as it is now. The export streams one statement a
kind, without what is derived.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final, LiteralString

from ...resolution.known import Lookup
from ...schema.claim import Assertion, Edge, Version
from ...schema.entity import Review
from ...schema.errors import NotFound
from ...schema.interval import INF_US, MIN_US
from ...schema.principal import Sight
from ...schema.vocabulary import ActionKind
from ..port import tables
from ..port.importing import import_in_progress
from ..port.records import (
    BlockKeys,
    DecidedValue,
    Names,
    NextReads,
    PermissionChange,
    PlacedVector,
    RelatedEnds,
    SessionRecord,
    SessionSnapshot,
    SessionSummary,
    SubjectSpan,
    TextPool,
    snapshot_seal,
)
from ..port.store import ActionRecord, Ask, Clock, ManifestRecord, Page, Point, RecordKind, TxEvent
from ..port.tables import ReadProperties, Record, RecordTable
from ..port.vectors import Vectors
from ..search.term_weights import POOL_TERMS, common, pool_of, visible_hits
from . import codec, identity, sessions, versions
from .answers import ReadAnswer, answers_of
from .applying import clock_of, journal_of
from .calls import Reads, distinct
from .cypher import candidates, core, register
from .identity import Neo4jRegister
from .prefetch import Prefetch

_Properties = Mapping[str, Any]


def _block_keys(properties: _Properties) -> BlockKeys:
    return BlockKeys(properties["norm"], tuple((key, kind) for key, kind in properties["keys"]))


def _permission(properties: _Properties) -> PermissionChange:
    permissions = codec.permissions(properties)
    return PermissionChange(
        properties["object_id"], permissions, properties["tx"], properties["actor"]
    )


def _manifest(properties: _Properties) -> ManifestRecord:
    return ManifestRecord(
        envelope_id=properties["envelope_id"],
        manifest=properties["body"],
        object_ids=tuple(properties["object_ids"]),
        pack=properties["pack"],
    )


_DECODE: Final[Mapping[RecordKind, Callable[[_Properties], object]]] = {
    RecordKind.BLOCK_KEYS: _block_keys,
    RecordKind.CLAIM: codec.assertion,
    RecordKind.ROW: lambda record: codec.row(record["row"], codec.claim(record["claim"])),
    RecordKind.PERMISSION: _permission,
    RecordKind.DEFINITION: lambda properties: str(properties["body"]),
    RecordKind.PACK: lambda properties: str(properties["body"]),
    RecordKind.MANIFEST: _manifest,
    **{kind: codec.DECODERS[table.name] for kind, table in tables.EXPORT_TABLES.items()},
}


_NO_LIMIT = 2**31 - 1


class SharedReads(Neo4jRegister):
    """What a snapshot and a write transaction are asked alike, as of the last stamp at most."""

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> RelatedEnds:
        """What relates entities to others by its raw ends; hubs are named apart."""
        bound = versions.seen_at(sight, self.at_snapshot(point)) | {"most": limit + 1}
        ends: set[tuple[str, str]] = set()
        hubs: set[str] = set()
        for record in self.calls.rows(
            candidates.RELATIONS, entity_ids=distinct(entity_ids), **bound
        ):
            if len(record["ends"]) > limit:
                hubs.add(str(record["entity_id"]))
            else:
                ends.update(map(tuple, record["ends"]))

        return RelatedEnds(tuple(sorted(ends)), tuple(sorted(hubs)))

    def review(self, review_id: str) -> Review | None:
        """A review case in its newest version."""
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
        decode: ReadProperties[Record] = codec.DECODERS[table.name]
        ids = distinct(values)
        if column == "idempotency_key" and self.receipts_of_keys.keys() >= set(ids):
            receipts = filter(None, map(self.receipts_of_keys.get, ids))
            return tuple(map(decode, sorted(receipts, key=itemgetter("object_id"))))
        text = register.FIND[f"{table.name}.{column}"]
        bound = {"ids": ids, "least": INF_US if open_only else MIN_US}
        return tuple(map(decode, self.calls.column(text, **bound))) if values else ()

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Every object that is about one of these, points at it or mentions it."""
        values = self.calls.column(core.OBJECTS_OF, entity_ids=distinct(entity_ids))
        return tuple(sorted(map(str, values)))

    def objects_with(self, words: Sequence[str]) -> tuple[str, ...]:
        """The objects that hold all of these searchable terms, none erased, sorted."""
        lucene = codec.holds_all(self.calls.tenant, words)
        values = self.calls.column(core.OBJECTS_WITH, lucene=lucene)
        return tuple(map(str, values))

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Whole claims by object id, with today's permissions; erased ones left out."""
        values = self.calls.column(core.ASSERTIONS, object_ids=distinct(object_ids))
        return {a.claim.object_id: a for a in map(codec.assertion, values)}

    def at_snapshot(self, point: Point) -> Point:
        """A point, its stamp the last one at most."""
        return Point(point.valid_us, self.pin(point.tx_us))


class Neo4jReader(SharedReads):
    """A reader over a session of the driver."""

    def __init__(
        self,
        calls: Reads,
        names: Names | None = None,
        near: Callable[[str, int], Vectors] | None = None,
    ) -> None:
        super().__init__()
        self._calls = calls
        self._near = near
        lookup, scopes, _ = names or Names(Lookup(), ())
        bound = identity.name_parameters(lookup, scopes)
        records = calls.rows(register.OPENING, **bound)
        if not records:
            raise no_such_tenant()

        (opening,) = records
        counters = opening["clock"]
        journal = journal_of(counters)
        if journal is not None:
            raise import_in_progress(journal)

        self._clock = clock_of(counters)
        self._definitions = int(counters["definitions"])
        self._erased_seq: int | None = counters["erased_seq"]
        """Where nothing later was erased; None for a tenant from before this was kept."""
        self._has_standing = bool(opening["has_standing"])
        """False where nothing could stand at any time up to the snapshot: then nothing is asked."""
        calls.share_claims(
            counters["incarnation"] or "",
            erased_seq=self._erased_seq or 0,
            snapshot_us=self._clock.last_us,
        )
        self._keys = tuple(bytes(secret) for secret in opening["secrets"])
        self.meet(lookup, scopes, opening)
        self._prefetch = Prefetch(calls)

    @property
    def calls(self) -> Reads:
        """What runs statements."""
        return self._calls

    def last_us(self) -> int:
        """The last stamp at the snapshot."""
        return self._clock.last_us

    @property
    def round_trips(self) -> int:
        """How many statements were run so far, that of the counters included."""
        return self._calls.count

    @property
    def home(self) -> str:
        """The server and database that the snapshot is of."""
        return self._calls.home

    def expect(self, questions: Callable[[], NextReads | None]) -> None:
        """Hear what will be asked next, and ask it all at once."""
        forecast = questions()
        if forecast is None:
            return

        point = self.at_snapshot(forecast.point)
        live = point.tx_us >= self._clock.last_us
        standing = forecast.standing if self._has_standing else None
        entity_ids = self.unknown(forecast.entity_ids)
        forecast = replace(forecast, point=point, standing=standing, entity_ids=entity_ids)
        for learned in self._prefetch.ask(forecast, live=live):
            self.learn(*learned)

    def clock(self) -> Clock:
        """The counters at the snapshot."""
        return self._clock

    def definitions(self, after: int = 0) -> tuple[tuple[int, str], ...]:
        """Return (number, canonical JSON) of vocabulary definitions above a number."""
        if after >= self._definitions:
            return ()
        records = self._calls.rows(register.DEFINITIONS, after=after)
        return tuple((record["number"], record["body"]) for record in records)

    # --- identity

    def entity_ids(
        self,
        *,
        type: str | None = None,
        after: str = "",
        most: int | None = None,
        scopes: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Raw entity ids above another one, sorted; at most so many."""
        bound: dict[str, object] = {"after": after, "most": _NO_LIMIT if most is None else most}
        bound["scopes"] = None if scopes is None else list(scopes)
        if type is None:
            values = self._calls.column(register.ENTITY_IDS, **bound)
        else:
            values = self._calls.column(register.ENTITY_IDS_OF_TYPE, type=type, **bound)

        return tuple(map(str, values))

    def object_ids(self, beginning: str, *, after: str = "", limit: int) -> tuple[str, ...]:
        """Ids of objects that begin so, above another one, sorted; at most so many."""
        bound = {"beginning": beginning, "after": after, "limit": limit}
        return tuple(map(str, self._calls.column(core.OBJECT_IDS, **bound)))

    def reviews(self, *, state: str | None = None, mention: str = "") -> tuple[Review, ...]:
        """Review cases in their newest version, oldest first; of a state, of a mention."""
        values = self._calls.column(register.REVIEWS, state=state, mention=mention)
        return tuple(map(codec.review, values))

    # --- versions

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Page:
        """The versions of an ask."""
        point = self.at_snapshot(point)
        page = self._prefetch.versions(ask, sight, point)
        if page is None:
            kind = versions.kind_of(ask)
            bound = {kind: [versions.question(ask, point)]}
            answers = self._answers(candidates.OF_KIND[kind], sight, point, bound)
            page = versions.every_row(answers, sight, point.tx_us)
        return page

    def _answers(
        self, text: LiteralString, sight: Sight, point: Point, questions: Mapping[str, object]
    ) -> tuple[ReadAnswer, ...]:
        """The answers to questions, each claim with what it says."""
        bound = versions.seen_at(sight, point) | self._calls.claims.bounds
        return answers_of(self._calls, self._calls.rows(text, **bound, **questions), sight)

    def decided_value(self, ask: Ask, *, sight: Sight, point: Point) -> DecidedValue | None:
        """None: the versions come in one trip, too."""

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Heads at the point whose claim shares a term, the most telling ones first."""
        point = self.at_snapshot(point)
        search = versions.search_of(terms, sight=sight, limit=limit, live=self._is_live(point))
        answer = self._prefetch.search(search, sight, point)
        while search is not None:
            if answer is None:
                questions = {"searches": [search.question(self._calls.tenant)]}
                bound = questions | versions.bounds(search)
                (answer,) = self._answers(candidates.SEARCH, sight, point, bound)
            page = search.page(answer, point)
            if isinstance(page, Page):
                return page
            search, answer = page, None

        return Page((), 0)

    def text_pool(
        self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int, unless: int
    ) -> TextPool | None:
        """The columns of the first hits; None where they are at most `unless`."""
        point = self.at_snapshot(point)
        live = self._is_live(point)
        # What was asked before counts words for a page: here it holds where a pool counts alike.
        if common(unless) == common(limit):
            search = versions.search_of(terms, sight=sight, limit=unless, live=live)
            answer = self._prefetch.pool(search, sight, point)
            if search and answer and not search.is_overtaken(point, answer.last_us):
                return versions.pool_of_answer(answer, search, limit=limit, unless=unless)
            # Most questions match few claims: then nothing more is asked.
            page = self._prefetch.search(search, sight, point)
            if search and page and search.is_listed(page, point):
                return None

        search = versions.search_of(terms, sight=sight, limit=limit, live=live)
        if search is None:
            return None

        search = search._replace(most=limit + 1)
        while True:
            bound = versions.bounds(search) | versions.seen_at(sight, point)
            bound |= {"searches": [search.question(self._calls.tenant)], "pool_terms": POOL_TERMS}
            (record,) = self._calls.rows(candidates.POOL, **bound)
            if search.is_overtaken(point, record["last_us"]):
                search = search._replace(live=False)
                continue

            visible = visible_hits(map(versions.pool_row, record["rows"]), limit)
            if record["proposed"] >= search.most and not visible.cut:
                search = search._replace(most=versions.ALL_HITS)
                continue

            if len(visible.rows) <= unless:
                return None
            words: list[str] = [search.terms[place] for place in record["words"]]
            return pool_of(visible, words)

    def _is_live(self, point: Point) -> bool:
        """Whether the index of live claims answers for a point."""
        return point.tx_us >= self._clock.last_us

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Page:
        """The heads that a compile fetches with no query."""
        if not self._has_standing:
            return Page((), 0)

        point = self.at_snapshot(point)
        page = self._prefetch.standing(scopes, sight, point)
        if page is None:
            bound = {"standing": versions.standing_questions(sight, scopes)}
            answers = self._answers(candidates.STANDING, sight, point, bound)
            page = versions.visible_rows(answers, point.tx_us)
        return page

    def standing_subjects(
        self, slots: Sequence[str], *, sight: Sight, point: Point, span: SubjectSpan
    ) -> tuple[str, ...]:
        """About whom something stands in slots of these names, in one scope."""
        if not self._has_standing:
            return ()

        bound = {
            "standing_slots": list(slots),
            "scope": span.scope_id,
            "after": span.after,
            "most_subjects": span.limit,
            **versions.seen_at(sight, self.at_snapshot(point)),
        }
        (record,) = self._calls.rows(candidates.STANDING_SUBJECTS, **bound)
        # Whoever asks for them looks them up next, to tell one person under two ids from two.
        self.learn(record["ids"], record["entities"])
        return tuple(record["ids"])

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Clean heads about these entities or pointing at them."""
        point = self.at_snapshot(point)
        page = self._prefetch.around(entity_ids, limit, sight, point)
        if page is None:
            question = {"place": 0, "ids": distinct(entity_ids)}
            bound = {"around": [question], "limit": limit}
            (answer,) = self._answers(candidates.NEIGHBOURHOOD, sight, point, bound)
            page = versions.near_rows(answer, point.tx_us)
        return page

    def changes(
        self, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str] = ()
    ) -> Page:
        """Rows opened or closed in (after, until]; cost follows the changes."""
        point = Point(0, self.pin(until_us))
        bound = {"after_at": codec.instant(after_us), "subjects": distinct(subjects)}
        answers = self._answers(candidates.CHANGES, sight, point, bound)
        return versions.visible_rows(answers, point.tx_us)

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """The clean heads that have a decay rule, with all content, by vid."""
        point = self.at_snapshot(point)
        by_vid: dict[int, Version] = {}
        for record in self._calls.rows(candidates.DECAYING, valid=point.valid_us, tx=point.tx_us):
            entry = codec.ClaimEntry._make(record["entry"])
            marks = codec.claim_marks(record["marks"]).get(entry.object_id, codec.NO_MARKS)
            body = codec.body(record["line"])
            for version in codec.versions(entry, body, marks, point.tx_us):
                by_vid[version.row.vid] = version
        return tuple(by_vid[vid] for vid in sorted(by_vid))

    # --- claims and what stands beside them

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        """The edges from or to objects known at a tx."""
        ids, pin_us = distinct(object_ids), self.pin(tx_us)
        return tuple(map(codec.edge, self._calls.column(core.EDGES, object_ids=ids, tx=pin_us)))

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        """Actions known at a tx, of one kind or of all, oldest first."""
        tx_us = self.pin(tx_us)
        known = self._prefetch.actions(kind, tx_us) if open_only else None
        if known is not None:
            return known

        after = tx_us if open_only else MIN_US
        values = self._calls.column(register.ACTIONS, tx=tx_us, after=after, kind=kind)
        return tuple(codec.action(value, tx_us) for value in values)

    def events_in(
        self, after_us: int, until_us: int, *, actor: str | None, limit: int
    ) -> tuple[TxEvent, ...]:
        """The newest events of (after, until], of one actor or of all, newest first."""
        bound = {"after": after_us, "until": self.pin(until_us), "actor": actor, "limit": limit}
        return tuple(map(codec.event, self._calls.column(register.EVENTS_IN, **bound)))

    def slot_in_use(self, name: str) -> bool:
        """Whether any claim of a slot of this name was ever stored."""
        return bool(self._calls.rows(core.SLOT_IN_USE, name=name))

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[PlacedVector, ...]]:
        """The vector counter and the rows put after a count, in order."""
        count = self._clock.vec_seq
        bound = {"encoder_id": encoder_id, "after": after, "until": count}
        records = self._calls.stream(register.VECTORS, **bound)
        return count, tuple(codec.placed_vector(record, encoder_id) for record in records)

    def near(self, encoder_id: str) -> Vectors | None:
        """The server's own vector index where the store was opened with it."""
        return None if self._near is None else self._near(encoder_id, self._clock.vec_seq)

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """The objects erased by stamps after a sequence number."""
        if self._erased_seq is not None and self._erased_seq <= seq:
            return ()
        values = self._calls.column(register.ERASED_SINCE, seq=seq, min=MIN_US)
        return tuple(map(str, values))

    def manifest(self, envelope_id: str) -> str | None:
        """A stored manifest; empty text when an erasure emptied it."""
        values = self._calls.column(register.MANIFEST, envelope_id=envelope_id)
        return next(map(str, values), None)

    def manifests(self, *, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return (envelope id, manifest) pairs, newest first."""
        records = self._calls.rows(register.MANIFESTS, limit=limit)
        return tuple((record["envelope_id"], record["body"]) for record in records)

    def envelopes_of(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """The envelope ids that any of these objects was compiled into, oldest first."""
        values = self._calls.column(register.ENVELOPES_OF, object_ids=list(object_ids))
        return tuple(map(str, values))

    def policy_pack(self, digest: str) -> str | None:
        """A stored policy pack."""
        values = self._calls.column(register.PACK, digest=digest)
        return next(map(str, values), None)

    def keys(self) -> tuple[bytes, ...]:
        """The tenant's secret keys, one an epoch."""
        return self._keys

    def session_events(
        self, session: str, *, after: int = 0, until: int = 2**62
    ) -> tuple[SessionRecord, ...]:
        """The events of a session with numbers above `after`, up to `until`, in order."""
        return sessions.events(self._calls, session, after, until)

    def session_snapshot(self, session: str) -> SessionSnapshot | None:
        """The newest snapshot of a session whose seal holds."""
        for row in self._calls.rows(core.SNAPSHOTS, session=session):
            # Newest first: one that was tampered with, or is of another log, is passed over.
            seal = snapshot_seal(self._keys[0], bytes(row["digest"]), row["body"])
            if hmac.compare_digest(bytes(row["seal"]), seal):
                return SessionSnapshot(row["seq"], row["body"])
        return None

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session of the tenant with its last event, by session."""
        return sessions.summaries(self._calls)

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order."""
        # Events of sessions are joined from two statements, which no row of the table can say.
        if kind is RecordKind.SESSION_EVENT:
            return sessions.all_events(self._calls)
        decode = _DECODE[kind]
        return (decode(record["record"]) for record in self._calls.stream(register.EXPORTS[kind]))


def no_such_tenant() -> NotFound:
    """What a call gets for a tenant that was never made, or was removed."""
    return NotFound("this store holds no such tenant; call ensure first", code="unknown_tenant")
