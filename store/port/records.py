"""The records that stores exchange with the rest: batches, asks, sessions, targets.

A `Batch` is everything one transaction writes, an `Ask` says which versions to read, and the kinds
of `RecordKind` make up a lossless export, so a restore is an `apply`. `store` states the
guarantees.

A session is an append-only list of events. An event's digest covers the one before it, its own
fields and the keyed digests of its texts. Texts are stored apart, so an erasure empties them and
the chain still verifies. A snapshot is a cache of the folded log; no chain and no export includes
it.

A target is a server and a database on it; a cell is a server for a group of tenants. Nothing
crosses tenants, so a map from tenant to target is enough. No driver is imported here. `OwnIds`
identify a caller with certainty, for whom personal data is shown whole. They leave out an
identifier that another writer stated with the entity, unless a system of record or a directing
writer did. C-133.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

from ...resolution.known import Known, Lookup
from ...schema.claim import Assertion, Details, Edge, MentionLink, Permissions, Row, Version
from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.errors import Fault, InvalidInput
from ...schema.interval import ALL_TIME, INF_US, Interval
from ...schema.principal import Principal, Sight
from ...schema.records import short_repr
from ...schema.values import canonical_json
from ...schema.vocabulary import ActionKind

SNAPSHOTS_KEPT: Final = 2
"""Of one session: the newest, and one to fall back on where the newest does not verify."""
LOG_START: Final = b""
"""What comes before the first event of a session."""


@dataclass(frozen=True, slots=True)
class SessionText:
    """A text of an event."""

    text: str | None
    """None where an erasure emptied it."""
    digest: bytes = b""
    """Keyed digest of the text; set by the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """One event of a session's log."""

    session: str
    """The session's scope, `session=s` or `session=s,user=u`."""
    seq: int
    """Rises by one from 1 inside the session."""
    kind: str
    actor: str
    last_us: int
    """The tenant's last stamp when it was appended: events of sessions take none."""
    recorded_us: int
    """The clock of the writer; for readers alone."""
    body: str
    """Canonical JSON without free text."""
    texts: tuple[SessionText, ...] = ()
    digest: bytes = b""
    """Set by the store."""


class SessionHead(NamedTuple):
    """The last event of a session; sequence number 0 before the first."""

    seq: int
    digest: bytes


class SessionSummary(NamedTuple):
    """A session in a list of them."""

    session: str
    seq: int
    recorded_us: int
    """Of its last event."""


class SessionSnapshot(NamedTuple):
    """What a session's log comes to up to an event, as the writer encoded it."""

    seq: int
    body: str


class SessionPlace(NamedTuple):
    """A text of an event in a session."""

    session: str
    seq: int
    part: int
    """Its place among the texts of the event, from 0."""


def seal(key: bytes, head: SessionHead, record: SessionRecord) -> SessionRecord:
    """A record with its digests, as the event behind a head.

    A text that was erased keeps the digest it came with: nobody can make it again.
    """
    # The chain goes over digests, never over texts: so it still closes when texts are erased.
    texts: list[SessionText] = []
    for text in record.texts:
        digest = text.digest if text.text is None else _digest(key, text.text.encode())
        texts.append(SessionText(text.text, digest))

    header = [
        record.session,
        record.seq,
        record.kind,
        record.actor,
        record.last_us,
        record.recorded_us,
        record.body,
        [text.digest.hex() for text in texts],
    ]
    message = head.digest + canonical_json(header).encode()
    return replace(record, texts=tuple(texts), digest=_digest(key, message))


def snapshot_seal(key: bytes, event_digest: bytes, body: str) -> bytes:
    """The seal of a snapshot: it holds behind the one event with this digest, and only there."""
    return _digest(key, event_digest + b"snapshot" + body.encode())


def seal_next(key: bytes, head: SessionHead, record: SessionRecord) -> SessionRecord:
    """A record with its digests, right behind the last event of its session.

    Raises:
        Fault: `invariant_broken`, for an event that leaves a gap or is there already.
    """
    if record.seq != head.seq + 1:
        raise Fault(
            f"event {record.seq} does not follow event {head.seq} of its session",
            code="invariant_broken",
        )
    return seal(key, head, record)


def chain_faults(key: bytes, records: Iterable[SessionRecord]) -> Iterator[str]:
    """One sentence for each session whose log is broken; records come by session, then number."""
    for session, events in groupby(records, key=lambda record: record.session):
        head = SessionHead(0, LOG_START)
        for event in events:
            if event.seq != head.seq + 1:
                yield f"the log of {session} has a gap before event {event.seq}"
                break
            if seal(key, head, event) != event:
                yield f"the chain of {session} breaks at event {event.seq}"
                break
            head = SessionHead(event.seq, event.digest)


def _digest(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


class Names(NamedTuple):
    """The names that a reader is opened for, or a writer locks for."""

    lookup: Lookup
    scopes: tuple[str, ...]
    """Canonical ids of the scopes whose aliases are visible."""
    keys: tuple[str, ...] = ()
    """Of a writer: the idempotency keys whose receipts it will find."""


def held_ask(object_ids: Sequence[str], newest: int) -> Ask:
    """Return the ask for the newest of the objects that wait, the oldest of them first."""
    return Ask(objects=tuple(sorted(object_ids[-newest:])), heads=False)


class Walk(NamedTuple):
    """Two steps of `around`: from these entities, and from those that are met there."""

    entity_ids: tuple[str, ...]
    limit: int
    room: int
    """How many entities the second step takes, in the order in which the first meets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextReads:
    """The questions that come next, at one point and for one sight."""

    sight: Sight
    point: Point
    terms: tuple[str, ...] = ()
    limit: int = 0
    """Of the search for these terms."""
    asks: tuple[Ask, ...] = ()
    held: int = 0
    """How many of the newest objects that wait for a review of their quarantine."""
    standing: tuple[str, ...] | None = None
    """The scopes of what stands without any query; None: not asked."""
    walk: Walk | None = None
    entity_ids: tuple[str, ...] = ()
    """Entities, in addition to those that the slots asked for point at."""


@dataclass(frozen=True, slots=True)
class SubjectSpan:
    """Which subjects of a scope are asked for."""

    scope_id: str
    after: str
    """The raw id above which they begin; empty for the first."""
    limit: int
    """How many are answered at most."""


class TextPool(NamedTuple):
    """The visible hits of a search in the order of their rows, a place in each column for each."""

    terms: tuple[str, ...]
    """The words that tell most, at most `term_weights.POOL_TERMS`: the rarest first."""
    vids: tuple[int, ...]
    masks: tuple[int, ...]
    """Which of the words a hit holds: the first is bit 0."""
    sizes: tuple[int, ...]
    """Characters of its terms."""
    scopes: tuple[str, ...]
    turns: tuple[int, ...]
    """Its number among the turns of its scope; 0 for what nobody said."""
    is_fact: tuple[bool, ...]
    """Whether it has a slot."""
    withheld: int = 0
    """Hits that may not be seen."""
    cut: bool = False
    """Whether more matched than were looked at."""


class Point(NamedTuple):
    """A point on both axes."""

    valid_us: int
    tx_us: int


class Clock(NamedTuple):
    """The counters of a tenant; an empty tenant has seq 0 and last stamp `MIN_US`."""

    seq: int
    """How many writes were stamped, without gaps."""
    last_us: int
    """The last stamp."""
    next_vid: int
    """The number the next version row takes."""
    vec_seq: int
    """How many vector rows were ever put."""


@dataclass(frozen=True, slots=True)
class SlotRead:
    """The open rows that a write needs of one slot (of all members of a cluster)."""

    slot_keys: tuple[str, ...]
    span: Interval
    full: bool
    """Also hidden rows: for `correct`, `retract` and `delete`."""
    values: tuple[str, ...] = ()
    """Of a slot of many values: rows of these value keys alone. Empty: of every value."""


@dataclass(frozen=True, slots=True)
class SlotRecord:
    """A slot as it is stored."""

    slot_key: str
    subject_id: str | None
    """None for text that asserts no slot."""
    slot: str | None
    scope_id: str
    many: bool


@dataclass(frozen=True, slots=True)
class Closing:
    """The one change a row may see."""

    vid: int
    tx: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TxEvent:
    """One stamped write in the audit log; digests chain."""

    seq: int
    tx: int
    actor: str
    op: str
    object_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipt:
    """A receipt by object id and, when it was given one, by idempotency key."""

    object_id: str
    tx: int
    body: str
    """The receipt as canonical JSON; empty once an erasure emptied it."""
    idempotency_key: str | None
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    """An entry of the resolver queue."""

    action_id: str
    kind: ActionKind
    object_id: str
    slot_key: str | None = None
    interval: Interval = ALL_TIME
    members: tuple[str, ...]
    detail: str = "{}"
    """Canonical JSON; `{}` once an erasure emptied it."""
    tx_start: int
    tx_end: int = INF_US
    outcome: str = ""
    closed_by: str = ""


@dataclass(frozen=True, slots=True)
class ActionClosing:
    """How an action ended."""

    action_id: str
    tx: int
    outcome: str
    closed_by: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A recorded mark on an object: it is a log, a later one of the same kind wins.

    Kinds: `stale` (a source changed), `demoted` (archival tier), `confirm_due`. `on` False
    lifts the mark.
    """

    object_id: str
    kind: str
    on: bool
    tx: int


@dataclass(frozen=True, slots=True)
class PermissionChange:
    """A recorded change of an object's permissions; acts on all times at once."""

    object_id: str
    permissions: Permissions
    tx: int
    actor: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector of a claim for one encoder; part is `why` or the number of a chunk."""

    object_id: str
    encoder_id: str
    part: str
    vec16: bytes
    """int16, little endian, `rint(4000 x)` of the normalised vector."""


@dataclass(frozen=True, slots=True)
class PlacedVector(VectorRow):
    """A vector, and where its claim stands, which never changes."""

    scope_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What an erasure leaves: who, when and why, and nothing of what."""

    erasure_id: str
    tx: int
    actor: str
    reason: str
    object_ids: tuple[str, ...]
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestRecord:
    """A stored manifest and what it compiled."""

    envelope_id: str
    manifest: str
    """Canonical JSON; empty once an erasure emptied it."""
    object_ids: tuple[str, ...]
    pack: str
    """SHA-256 of the policy pack's text, in hex."""


@dataclass(frozen=True, slots=True)
class BlockKeys:
    """The blocking keys of a norm, as an export holds them."""

    norm: str
    keys: tuple[tuple[str, str], ...]
    """(key, kind) pairs, sorted."""


@dataclass(frozen=True, slots=True)
class CanonicalId:
    """The canonical id of a raw id, as an export holds it; ids of their own are left out."""

    raw_id: str
    canonical_id: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How often an object was used and when last; never part of an answer about time."""

    object_id: str
    uses: int
    last_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything one transaction writes; applied in the order of the fields."""

    clock: Clock
    """The counters after it."""
    events: tuple[TxEvent, ...] = ()
    entities: tuple[Entity, ...] = ()
    """New ones, or known ones with another name, type or state."""
    aliases: tuple[Alias, ...] = ()
    closed_aliases: tuple[tuple[Alias, int], ...] = ()
    """An open alias and the tx that closes it."""
    identifiers: tuple[Identifier, ...] = ()
    block_keys: Mapping[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )
    """(key, kind) pairs by norm of a new alias; a key has one kind."""
    slots: tuple[SlotRecord, ...] = ()
    claims: tuple[Assertion, ...] = ()
    mentions: tuple[MentionLink, ...] = ()
    """Of claims and entities that are stored, or in this batch."""
    close: tuple[Closing, ...] = ()
    rows: tuple[Row, ...] = ()
    """New rows with their vids; a row may be born closed."""
    edges: tuple[Edge, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    closed_judgements: tuple[tuple[str, int], ...] = ()
    reviews: tuple[Review, ...] = ()
    """New cases, and decided ones with a higher version."""
    canonical: tuple[tuple[str, str], ...] = ()
    """(raw id, canonical id) of members whose cluster changed: a projection for look-ups."""
    actions: tuple[ActionRecord, ...] = ()
    closed_actions: tuple[ActionClosing, ...] = ()
    flags: tuple[Flag, ...] = ()
    permissions: tuple[PermissionChange, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    receipts: tuple[StoredReceipt, ...] = ()
    session_events: tuple[SessionRecord, ...] = ()
    """Each right behind the last one of its session; the store makes their digests."""
    definitions: tuple[str, ...] = ()
    """This field and those below are only met in a restore; writers have calls of their own."""
    packs: tuple[str, ...] = ()
    """Texts of policy packs."""
    manifests: tuple[ManifestRecord, ...] = ()
    vectors: tuple[VectorRow, ...] = ()
    """They raise the vector counter, which `clock` never lowers."""
    usage: tuple[Usage, ...] = ()
    keys: tuple[bytes, ...] = ()
    """All secret keys, one an epoch; only into a tenant that never had a write."""


class RecordKind(StrEnum):
    """What an export is made of, in the order in which a restore applies it."""

    EVENT = "event"
    ENTITY = "entity"
    ALIAS = "alias"
    IDENTIFIER = "identifier"
    BLOCK_KEYS = "block_keys"
    SLOT = "slot"
    CLAIM = "claim"
    MENTION = "mention"
    ROW = "row"
    EDGE = "edge"
    JUDGEMENT = "judgement"
    REVIEW = "review"
    CANONICAL = "canonical"
    ACTION = "action"
    FLAG = "flag"
    PERMISSION = "permission"
    TOMBSTONE = "tombstone"
    RECEIPT = "receipt"
    DEFINITION = "definition"
    PACK = "pack"
    MANIFEST = "manifest"
    VECTOR = "vector"
    USAGE = "usage"
    SESSION_EVENT = "session_event"


class Migration(NamedTuple):
    """How a schema was, or would be, brought up to date."""

    before: int
    """The number of the schema that was found; 0 for none."""
    after: int
    """The number that this code reads and writes."""
    steps: tuple[str, ...]
    """What is made, in order, repairs included; empty where the schema is current."""


class ScopeTurns(NamedTuple):
    """Turns of one scope."""

    scope_id: str
    numbers: tuple[int, ...]
    """Each once, as `Version.turn` has them; numbers that nothing has bring nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Which versions to read; fields combine with AND, empty ones do not restrict."""

    subjects: tuple[str, ...] = ()
    """Raw entity ids."""
    slots: tuple[str, ...] = ()
    """Slot names."""
    objects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Objects: what was derived from them directly; stated alone."""
    keys: tuple[str, ...] = ()
    """Slot keys; stated alone."""
    vids: tuple[int, ...] = ()
    """Numbers of rows: the claims that they belong to; stated alone, or with `turns`."""
    turns: tuple[ScopeTurns, ...] = ()
    """Turns of talk by their numbers, those of scopes in sight; stated alone, or with `vids`."""
    texts: int | None = None
    """Of `subjects` without `slots`: the newest texts about each that are needed in addition to the
    slots, as a person may have said a hundred thousand; a store may give more. None: all."""
    extras: int | None = None
    """Of a whole timeline, with neither `heads` nor `at_valid`: the newest rows of each slot that
    are needed in addition to those that decide the point's valid time, as a slot may have changed
    ten thousand times; a store may give more. None: all."""
    heads: bool = True
    """Only rows that decide an instant; quarantined ones are never heads."""
    at_valid: bool = True
    """Only rows that cover the point's valid time; False: the whole of valid time."""
    at_tx: bool = True
    """Only rows believed at the point's tx; False: every row known by then."""
    facts: bool = False
    """Of `objects`: only claims with a slot, so that no text is read."""

    @property
    def extras_of_timeline(self) -> int | None:
        """`extras` where it counts: of a timeline as it was believed at a tx. None: all."""
        is_timeline = self.at_tx and not (self.heads or self.at_valid)
        return self.extras if is_timeline else None


class DecidedValue(NamedTuple):
    """What a slot says where a single clean row decides it, or nothing does."""

    value_json: str | None
    """The value as JSON; None where nothing is stated."""


class RelatedEnds(NamedTuple):
    """What relates entities to others."""

    ends: tuple[tuple[str, str], ...]
    """Raw (subject, value) pairs, sorted, each once."""
    hubs: tuple[str, ...] = ()
    """The entities with too many relations to tell anything, sorted."""


class Page(NamedTuple):
    """Versions in order of vid unless the read names another, and how many are withheld."""

    versions: tuple[Version, ...]
    withheld: int
    """Rows that the read met and scope, clearance or roles hide. The versions that `versions`
    returns with `visible=False` are among them."""
    cut: bool = False
    """Whether a limit cut the candidates."""
    fans: tuple[tuple[str, str, int], ...] = ()
    """Of each entity that a limit cut: (raw id, slot, visible facts with the entity as their
    value), sorted. Denials and personal data are not counted."""


DATABASE = "neo4j"
"""The only database of a Community server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a tenant's data lives: a server and a database on it."""

    __repr__ = short_repr

    uri: str
    """`neo4j://host:7687`, `bolt+s://…`; never with credentials in it."""
    database: str = DATABASE
    """The name of the database; `neo4j` is the only one on Community."""
    auth: tuple[str, str] | None = field(default=None, repr=False)
    """User and password of this server; None: those of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A target for a group of tenants."""

    __repr__ = short_repr

    target: Target
    tenants: frozenset[str]


Resolve = Callable[[str], Target]
"""The target of a tenant."""


def cell_map(cells: Sequence[Cell], default: Target) -> Resolve:
    """Return the map of cells; a tenant of none of them lives at `otherwise`.

    >>> a, b = Target(uri="bolt://a:7687"), Target(uri="bolt://b:7687")
    >>> where = cell_map([Cell(target=b, tenants=frozenset({"acme"}))], a)
    >>> where("acme").uri, where("globex").uri
    ('bolt://b:7687', 'bolt://a:7687')

    Raises:
        InvalidInput: `bad_settings` for a tenant in two cells.
    """
    places: dict[str, Target] = {}
    for cell in cells:
        duplicates = sorted(cell.tenants & places.keys())
        if duplicates:
            raise InvalidInput(
                f"the tenant {duplicates[0]!r} stands in two cells; leave it in one",
                code="bad_settings",
                tenant=duplicates[0],
            )
        places.update(dict.fromkeys(cell.tenants, cell.target))

    return lambda tenant: places.get(tenant, default)


@dataclass(frozen=True, slots=True)
class OwnIds:
    """The raw ids of the entities that are a caller."""

    vouched_ids: frozenset[str] = frozenset()
    """By the word of others."""
    claimed_ids: frozenset[str] = frozenset()
    """By the caller's own word alone."""

    def covers(self, details: Details, principal: Principal) -> bool:
        """Whether a claim is about the caller beyond doubt, or their own word about themselves."""
        subject = details.subject_id
        return subject in self.vouched_ids or (
            details.actor == principal.user and subject in self.claimed_ids
        )


NOBODY: Final = OwnIds()
"""Of a caller who is no entity."""


def own_ids_in(known: Known, identifier: tuple[str, str] | None, sight: Sight) -> OwnIds:
    """The entities that bear a (scheme, value) as a caller may know it, their clusters whole."""
    vouched_ids: set[str] = set()
    claimed_ids: set[str] = set()
    for row in known.identifiers:
        if (row.scheme, row.value) == identifier and known.shows(row, sight):
            ids = vouched_ids if _is_trusted(row, known) else claimed_ids
            ids.update(_members(row.entity_id, known))
    return OwnIds(frozenset(vouched_ids), frozenset(claimed_ids))


def _is_trusted(row: Identifier, known: Known) -> bool:
    """Whether an identifier is taken at its word."""
    teacher = known.teachers.get(row.object_id)
    if teacher is not None and teacher.vouches:
        return True
    entity = known.entities.get(row.entity_id)
    came_with_entity = entity is not None and entity.tx_start == row.tx_start
    return came_with_entity and (teacher is None or teacher.actor != row.value)


def _members(raw: str, known: Known) -> frozenset[str]:
    """The raw ids of an entity: a claim may be under any id that was merged into it."""
    root = known.canonical.get(raw, raw)
    return frozenset({raw, *(member for member, top in known.canonical.items() if top == root)})
