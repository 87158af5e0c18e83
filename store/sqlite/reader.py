"""One consistent snapshot of a tenant's file: everything the port lets a reader ask.

The snapshot begins with the counters and lasts until the reader is given back; versions come
from `versions`, mentions from `identity`, the export from `export`. The rest are plain
look-ups, each one statement. What a question about facts never asks for, sessions and the export,
is loaded by whoever asks for it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...resolution.known import Known, Lookup
from ...resolution.names import NameRow
from ...schema.claim import Assertion, Edge, MentionLink, Version
from ...schema.entity import Alias, Judgement, Review
from ...schema.interval import MIN_US
from ...schema.principal import Sight
from ...schema.vocabulary import ActionKind
from ..port.records import NextReads, SubjectSpan, TextPool
from ..port.sessions import SessionRecord, SessionSnapshot, SessionSummary
from ..port.store import (
    ActionRecord,
    Ask,
    Clock,
    DecidedValue,
    Page,
    PlacedVector,
    Point,
    RecordKind,
    RelatedEnds,
    StoredReceipt,
    TxEvent,
    Usage,
)
from ..port.vectors import Vectors
from . import claims, codec, register_codec
from .caches import Caches
from .identity import SqliteRegister
from .sql import core as sql
from .sql import register
from .versions import Timelines


class SqliteReader:
    """A reader over a connection inside a transaction."""

    def __init__(self, db: sqlite3.Connection, caches: Caches, home: str) -> None:
        self._db = db
        self._home = home
        *counters, erasures, permits = db.execute(sql.COUNTERS).fetchone()
        self._clock = Clock(*counters)
        self._register = SqliteRegister(db, self._clock.last_us)
        self._timelines = Timelines(
            db, caches, clock=self._clock, erasures=erasures, permits=permits or 0
        )

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

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known as of a tx, over aliases of these scopes."""
        (answer,) = self._register.known_each([(lookup, scopes)], tx_us=tx_us)
        return answer

    def known_each(
        self, asked: Sequence[tuple[Lookup, Sequence[str]]], *, tx_us: int
    ) -> Sequence[Known]:
        """Return what is known of each look-up over aliases of its scopes, in order."""
        return self._register.known_each(asked, tx_us=tx_us)

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, aliases, identifiers and judgements."""
        return self._register.entities(entity_ids, tx_us=tx_us)

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        """Return the judgements, open and closed, of raw entities or of a merge, by id."""
        return self._register.judgements(entity_ids, merge_id)

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
        if scopes is not None:
            bound["scopes"] = codec.list_json(scopes)
            statement = register.ENTITY_IDS_IN if type is None else register.ENTITY_IDS_IN_OF_TYPE
        else:
            statement = register.ENTITY_IDS if type is None else register.ENTITY_IDS_OF_TYPE
        return tuple(codec.first_column(self._db.execute(statement, bound)))

    def object_ids(self, beginning: str, *, after: str = "", limit: int) -> tuple[str, ...]:
        """Return ids of objects that begin so, above another one, sorted; at most so many."""
        bound = {"beginning": beginning, "after": after, "limit": limit}
        return tuple(codec.first_column(self._db.execute(sql.OBJECT_IDS, bound)))

    def review(self, review_id: str) -> Review | None:
        """Return a review case in its newest version."""
        line = self._db.execute(register.REVIEW, (review_id,)).fetchone()
        return None if line is None else register_codec.review(line)

    def reviews(self, *, state: str | None = None, mention: str = "") -> tuple[Review, ...]:
        """Return review cases in their newest version, oldest first; of a state, of a mention."""
        lines = self._db.execute(register.REVIEWS, {"state": state, "mention": mention})
        return tuple(map(register_codec.review, lines))

    # --- versions

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Page:
        """Return the versions of an ask."""
        return self._timelines.versions(ask, sight=sight, point=point)

    def decided_value(self, ask: Ask, *, sight: Sight, point: Point) -> DecidedValue | None:
        """Return what one clean row says of a slot; None where the versions must be asked."""
        return self._timelines.decided_value(ask, sight=sight, point=point)

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Return heads at the point whose claim shares a term, the most telling ones first."""
        return self._timelines.matching(terms, sight=sight, point=point, limit=limit)

    def text_pool(
        self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int, unless: int
    ) -> TextPool | None:
        """Return the columns of the first hits; None where they are at most `unless`."""
        return self._timelines.text_pool(
            terms, sight=sight, point=point, limit=limit, unless=unless
        )

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Page:
        """Return the heads that a compile fetches with no query."""
        return self._timelines.standing(sight=sight, point=point, scopes=scopes)

    def standing_subjects(
        self, slots: Sequence[str], *, sight: Sight, point: Point, span: SubjectSpan
    ) -> tuple[str, ...]:
        """Return about whom something stands in slots of these names, in one scope."""
        return self._timelines.standing_subjects(slots, sight=sight, point=point, span=span)

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        """Return clean heads about these entities or pointing at them."""
        return self._timelines.around(entity_ids, sight=sight, point=point, limit=limit)

    def names_of(
        self, entity_ids: Sequence[str], *, scopes: Sequence[str], tx_us: int
    ) -> tuple[Alias, ...]:
        """Return the aliases that raw entities have in these scopes, in their order."""
        return self._register.names_of(entity_ids, scopes=scopes, tx_us=tx_us)

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        """The names of raw entities that were open at a tx, whoever may see them."""
        return self._register.name_rows(entity_ids, tx_us=tx_us)

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> RelatedEnds:
        """Return what relates entities to others by its raw ends; hubs are named apart."""
        return self._timelines.relations(entity_ids, sight=sight, point=point, limit=limit)

    def changes(
        self, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str] = ()
    ) -> Page:
        """Return rows opened or closed in (after, until]; cost follows the changes."""
        return self._timelines.changes(after_us, until_us, sight=sight, subjects=subjects)

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, with all content, by vid."""
        return self._timelines.decaying(point=point)

    # --- claims and what stands beside them

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        """Return the edges from or to objects known at a tx."""
        bound = {"objects": codec.list_json(object_ids), "tx": tx_us}
        return tuple(map(codec.edge, self._db.execute(sql.EDGES, bound)))

    def mentions(self, object_ids: Sequence[str]) -> tuple[MentionLink, ...]:
        """Return the names inside the texts of objects, by object id, then start."""
        ids = codec.list_json(dict.fromkeys(object_ids))
        return tuple(map(codec.mention, self._db.execute(sql.MENTIONS, (ids,))))

    def receipts(self, object_ids: Sequence[str]) -> tuple[StoredReceipt, ...]:
        """Return the receipts of objects."""
        bound = {"objects": codec.list_json(object_ids), "keys": "[]"}
        return tuple(map(register_codec.receipt, self._db.execute(register.RECEIPTS, bound)))

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        """Return actions known at a tx, of one kind or of all, oldest first."""
        statement = register.ACTIONS_OPEN if open_only else register.ACTIONS
        lines = self._db.execute(statement, {"tx": tx_us, "kind": kind})
        return tuple(register_codec.action(line, tx_us) for line in lines)

    def events_at(self, stamps: Sequence[int]) -> tuple[TxEvent, ...]:
        """Return the events of the audit log with these stamps, by stamp."""
        lines = self._db.execute(sql.EVENTS_AT, (json.dumps(stamps),))
        return tuple(map(codec.event, lines))

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
        lines = self._db.execute(register.VECTORS, (after, encoder_id))
        return self._clock.vec_seq, tuple(PlacedVector(*line) for line in lines)

    def near(self, encoder_id: str) -> Vectors | None:
        """Return no index of its own: vectors are searched exactly in the shared matrix."""
        return None

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        return self._texts(sql.ERASED_SINCE, seq, MIN_US)

    def manifest(self, envelope_id: str) -> str | None:
        """Return a stored manifest; empty text when an erasure emptied it."""
        return self._text(register.MANIFEST, envelope_id)

    def manifests(self, *, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return (envelope id, manifest) pairs, newest first."""
        return tuple(self._db.execute(register.MANIFESTS, (limit,)))

    def envelopes_of(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the envelope ids that any of these objects was compiled into, oldest first."""
        return self._texts(register.ENVELOPES_OF, codec.list_json(object_ids))

    def policy_pack(self, digest: str) -> str | None:
        """Return a stored policy pack."""
        return self._text(register.PACK, digest)

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        """Every object that is about one of these, points at it or mentions it."""
        return claims.objects_of(self._db, entity_ids)

    def objects_with(self, words: Sequence[str]) -> tuple[str, ...]:
        """The objects that hold all of these searchable terms, none erased, sorted."""
        return claims.objects_with(self._db, words)

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        """Return whole claims by object id, with today's permissions; erased ones left out."""
        return claims.assertions(self._db, object_ids)

    def usage(self, object_ids: Sequence[str]) -> Mapping[str, Usage]:
        """Return how objects were used, by object id."""
        lines = self._db.execute(register.USAGE, (codec.list_json(object_ids),))
        return {line[0]: Usage(*line) for line in lines}

    def keys(self) -> tuple[bytes, ...]:
        """Return the tenant's secret keys, one an epoch."""
        return tuple(codec.first_column(self._db.execute(sql.KEYS)))

    def session_events(
        self, session: str, *, after: int = 0, until: int = 2**62
    ) -> tuple[SessionRecord, ...]:
        """The events of a session with numbers above `after`, up to `until`, in order."""
        from . import sessions

        return sessions.events(self._db, session, after, until)

    def session_snapshot(self, session: str) -> SessionSnapshot | None:
        """The newest snapshot of a session whose seal holds."""
        from . import sessions

        return sessions.snapshot(self._db, session)

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session of the tenant with its last event, by session."""
        from . import sessions

        return sessions.summaries(self._db)

    def records(self, kind: RecordKind) -> Iterator[object]:
        """Yield every record of a kind in a fixed order."""
        from . import export

        return export.records(self._db, kind)

    def _text(self, statement: str, key: str) -> str | None:
        row = self._db.execute(statement, (key,)).fetchone()
        return None if row is None else str(row[0])

    def _texts(self, statement: str, *bound: object) -> tuple[str, ...]:
        return tuple(codec.first_column(self._db.execute(statement, bound)))


class PromisedReader(SqliteReader):
    """A snapshot of a tenant that nobody has written yet: nothing, but for its keys.

    What is sealed or hashed with a key outlives the snapshot, so keys are those of the file.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        caches: Caches,
        home: str,
        keys: Callable[[], tuple[bytes, ...]],
    ) -> None:
        super().__init__(db, caches, home)
        self._keys = keys

    def keys(self) -> tuple[bytes, ...]:
        """Return the tenant's secret keys, one an epoch."""
        return self._keys()
