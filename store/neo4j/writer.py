"""One write transaction of a tenant, over an explicit transaction of the driver.

`lock` writes the clock node first, so everything read afterwards is read alone and commit order
is tx order; it is the only lock a tenant has, so no two writers can deadlock. `finish` commits.
When the connection breaks during the commit its outcome is unknown: `landed` then asks, under
the lock, whether the last event's digest stands in the log. Nothing here decides: plans come
from outside.

An erasure empties contents, index entries, vectors, and every record that repeats them, in the
transaction that marks it, so no reader sees half of one. Ids, times and the skeleton of
supersession stay: a read of the past finds the row and says *erased*, and the audit chain still
verifies. Its statements take at most `LARGEST` ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from ...resolution.known import Lookup
from ...schema.claim import Claim, Row
from ...schema.entity import AUDIT, SUGGESTION
from ...schema.errors import Fault
from ...schema.interval import INF_US, MIN_US
from ..port.importing import import_in_progress
from ..port.receipts import without_candidates
from ..port.records import SNAPSHOTS_KEPT, Names, SessionHead, SessionPlace, snapshot_seal
from ..port.store import Batch, Clock, SlotRead
from . import applying, codec, sessions
from .applying import ClockCounters
from .calls import Writes, distinct, portions_of
from .cypher import core, register
from .identity import name_parameters
from .reader import Neo4jReader, SharedReads, no_such_tenant


def empty(
    calls: Writes,
    counters: ClockCounters,
    object_ids: Sequence[str],
    entity_ids: Sequence[str],
    nameless_ids: Sequence[str],
) -> None:
    """Empty what repeats these objects and entities."""
    # Norms outlive their aliases here, and go last, when nobody has them any more.
    norms: list[str] = []
    for ids in portions_of(distinct(object_ids)):
        calls.rows(core.EMPTY_OBJECTS, object_ids=ids)
        calls.rows(core.EMPTY_VECTORS, object_ids=ids)
        for record in calls.rows(register.EMPTY_RECORDS, object_ids=ids, min=MIN_US, inf=INF_US):
            norms += record["norms"]

    for ids in portions_of(distinct(entity_ids)):
        for record in calls.rows(register.EMPTY_ENTITIES, entity_ids=ids):
            norms += record["norms"]
    for ids in portions_of(distinct([*entity_ids, *nameless_ids])):
        _empty_namings(calls, ids)

    for part in portions_of(distinct(norms)):
        counters.norms -= sum(map(int, calls.column(register.EMPTY_NORMS, norms=part)))

    counters.store(calls)
    calls.forget_claims()


def _empty_namings(calls: Writes, entity_ids: list[str]) -> None:
    """Empty the cases and receipts of others that repeat the names of entities."""
    rows: list[dict[str, str]] = []
    for record in calls.rows(register.EMPTY_NAMINGS, entity_ids=entity_ids):
        body = without_candidates(record["body"], entity_ids)
        if body != record["body"]:
            rows.append({"object_id": record["object_id"], "body": body})
    for portion in portions_of(rows):
        calls.rows(register.SHORTEN_RECEIPTS, rows=portion)


_HEADS = [codec.HEAD, codec.HIDDEN_DENIAL]
_EVERY_ROW = [*_HEADS, codec.HIDDEN_HEAD]


class Neo4jWriteTx(SharedReads):
    """A write transaction; `Neo4jStore.writing` opens and ends it."""

    def __init__(self, calls: Writes) -> None:
        super().__init__()
        self._calls = calls
        self._counters: ClockCounters | None = None
        self._unused: set[str] = set()
        """Objects of which nothing is derived, as far as this transaction has met them."""
        self.mark: tuple[int, bytes] | None = None
        """Sequence number and digest of the last event written, to find it again."""

    def lock(self, names: Names | None = None, *, importing: bool = False) -> Clock:
        """Take the tenant's write lock and return its counters; first call of all.

        The names are looked up in the same round trip.

        Raises:
            Conflict: `in_progress`, unless the transaction is a step of the import.
        """
        if self._counters is None:
            lookup, scopes, keys = names or Names(Lookup(), ())
            bound = name_parameters(lookup, scopes)
            records = self._calls.rows(core.LOCK, keys=list(keys), **bound)
            if not records:
                raise no_such_tenant()

            counters = ClockCounters.from_record(records[0]["clock"])
            if counters.journal is not None and not importing:
                raise import_in_progress(counters.journal)
            self._counters = counters
            self.meet(lookup, scopes, records[0])
            self.receipts_of_keys.update(dict.fromkeys(keys))
            for receipt in records[0]["receipts"]:
                self.receipts_of_keys[receipt["idempotency_key"]] = receipt

        return self._counters.clock

    @property
    def counters(self) -> ClockCounters:
        """The counters under the lock."""
        if self._counters is None:
            raise Fault("a write transaction begins with lock()", code="invariant_broken")
        return self._counters

    def vocabulary_version(self) -> int:
        """How many vocabulary definitions there are."""
        return self.counters.definitions

    @property
    def calls(self) -> Writes:
        """What runs statements under the lock."""
        if self._counters is None:
            raise Fault("a write transaction begins with lock()", code="invariant_broken")
        return self._calls

    # --- identity

    def last_us(self) -> int:
        """The last stamp, those of this transaction included."""
        return self.counters.clock.last_us

    def waiting(self, actor: str, origin: str, *, limit: int) -> int:
        """How many blocking cases that a source has opened still wait, `limit` at most."""
        bound = {"actor": actor, "origin": origin, "limit": limit, "aside": [SUGGESTION, AUDIT]}
        (count,) = self.calls.column(register.WAITING, **bound)
        return int(count)

    # --- what a plan needs

    def open_rows(self, reads: Sequence[SlotRead]) -> tuple[tuple[Row, ...], ...]:
        """Return, for each read, the open rows that overlap its span, by vid."""
        questions: dict[LiteralString, list[dict[str, Any]]] = {}
        for place, read in enumerate(reads):
            slot_keys = distinct(read.slot_keys)
            question: dict[str, Any] = {
                "place": place,
                "since": codec.instant(read.span.start_us),
                "until": codec.instant(read.span.end_us),
                "open": _EVERY_ROW if read.full else _HEADS,
            }
            if read.values:
                held = [codec.held_value(key, value) for key in slot_keys for value in read.values]
                of_values = questions.setdefault(core.OPEN_OF_VALUES, [])
                of_values += [question | {"held": part} for part in portions_of(held)]
            else:
                question["slot_keys"] = slot_keys
                questions.setdefault(core.OPEN_ROWS, []).append(question)

        rows_of: list[list[Row]] = [[] for _ in reads]
        for text, slot_reads in questions.items():
            for portion in portions_of(slot_reads):
                for record in self.calls.rows(text, reads=portion):
                    row = codec.row(record["row"], codec.claim(record["claim"]))
                    rows_of[int(record["place"])].append(row)
                    # What nothing is derived from has no dependants: no further question.
                    if not record["used"]:
                        self._unused.add(row.claim.object_id)

        return tuple(map(tuple, rows_of))

    def rows_of(self, object_ids: Sequence[str]) -> tuple[Row, ...]:
        """The open rows of objects, quarantined ones included, by vid."""
        records = self.calls.rows(core.ROWS_OF, object_ids=distinct(object_ids))
        return tuple(codec.row(r["row"], codec.claim(r["claim"])) for r in records)

    def slot_claims(self, slot_keys: Sequence[str]) -> tuple[Claim, ...]:
        """Every claim of slots that is not quarantined or erased, in order of writing."""
        values = self.calls.column(core.SLOT_CLAIMS, slot_keys=distinct(slot_keys))
        return tuple(map(codec.claim, values))

    def live_objects(self, kind: str, value: str) -> tuple[str, ...]:
        """The objects with open rows whose scope has this id, sorted."""
        values = self.calls.column(core.LIVE_OBJECTS, part=f",{kind}={value},")
        return tuple(map(str, values))

    def dependants(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        """The objects derived from these, directly or not, sorted, without them."""
        known = set(object_ids)
        frontier = known - self._unused
        while frontier:
            dependants = self.calls.column(core.DEPENDANTS, object_ids=sorted(frontier))
            frontier = set(map(str, dependants)) - known
            known |= frontier

        return tuple(sorted(known - set(object_ids)))

    # --- writing

    def session_head(self, session: str) -> SessionHead:
        """The last event of a session; number 0 for one that has none."""
        return sessions.head(self.calls, session)

    def empty_session_texts(self, places: Sequence[SessionPlace]) -> None:
        """Empty texts of events, and drop their sessions' snapshots; events and chain stay."""
        for portion in portions_of([place._asdict() for place in places]):
            self.calls.rows(core.EMPTY_TEXTS, rows=portion)
        # A snapshot repeats texts in a form that cannot be searched, so all of them are deleted.
        for session in {place.session for place in places}:
            self.calls.rows(core.DROP_SNAPSHOTS, session=session, keep=0)

    def reader(self) -> Neo4jReader:
        """What a snapshot would show if this transaction were committed now."""
        return Neo4jReader(self.calls)

    def put_session_snapshot(self, session: str, body: str) -> None:
        """Keep what a session's log folds to up to its last event; older ones but one go.

        Raises:
            Fault: `invariant_broken`, for a session without events.
        """
        key = bytes(self.calls.rows(core.KEYS)[0]["secret"])
        last = self.session_head(session)
        if last.seq == 0:
            raise Fault(f"{session} has no events to keep a snapshot of", code="invariant_broken")
        seal = snapshot_seal(key, last.digest, body)
        self.calls.rows(core.PUT_SNAPSHOT, session=session, seq=last.seq, seal=seal, body=body)
        self.calls.rows(core.DROP_SNAPSHOTS, session=session, keep=SNAPSHOTS_KEPT)

    def apply(self, batch: Batch) -> None:
        """Write a batch.

        Raises:
            Fault: `invariant_broken` when the batch does not fit what is stored.
        """
        applying.write_batch(self.calls, self.counters, batch)
        self._unused.clear()
        self.forget_names(_renamed_ids(batch))
        if batch.events:
            self.mark = batch.clock.seq, self.counters.digest

    def empty(
        self,
        object_ids: Sequence[str],
        entity_ids: Sequence[str],
        nameless_ids: Sequence[str] = (),
    ) -> None:
        """Empty what erasure must empty, in every place."""
        empty(self.calls, self.counters, object_ids, entity_ids, nameless_ids)
        self.forget_names()


def _renamed_ids(batch: Batch) -> set[str] | None:
    """The entities of which a batch changes what a look-up says; None for any."""
    # What is closed may have taught a name, and who may see a claim may see the names it taught.
    closed = batch.close or batch.closed_aliases or batch.closed_judgements
    if closed or batch.judgements or batch.permissions or batch.tombstones:
        return None
    entity_ids = {entity.entity_id for entity in batch.entities}
    entity_ids.update(alias.entity_id for alias in batch.aliases)
    entity_ids.update(identifier.entity_id for identifier in batch.identifiers)
    entity_ids.update(case.entity_id for case in batch.reviews if case.entity_id)
    return entity_ids


def landed(calls: Writes, mark: tuple[int, bytes]) -> bool:
    """Whether the event of a transaction stands in the log; waits for the lock first."""
    # Behind whoever may still be committing: its own commit is either done or gone by then.
    calls.rows(core.LOCK)
    seq, digest = mark
    return digest in map(bytes, calls.column(core.EVENT_AT, seq=seq))
