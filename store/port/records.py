"""The records that stores exchange with the rest: batches, asks, and what an export holds.

A `Batch` is everything one transaction writes; an `Ask` says which versions to read; the
kinds of `RecordKind` are what a lossless export is made of, so that a restore is an `apply`.
Nothing here decides; the guarantees stand in `port`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from ...resolution.known import Lookup
from ...schema.claim import Assertion, Edge, MentionLink, Permissions, Row, Version
from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.interval import INF_US, Interval
from ...schema.principal import Sight
from ...schema.quick_init import quick_init
from ...schema.vocabulary import ActionKind
from .sessions import SessionRecord


class Names(NamedTuple):
    """The names that a reader is opened for."""

    lookup: Lookup
    scopes: tuple[str, ...]
    """Canonical ids of the scopes whose aliases are visible."""
    reads: OpeningReads | None = None
    """What will be asked about whom they mean; a store that answers at once needs no word of it."""


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
    """Entities, beside those that the slots asked for point at."""


NEWEST: Final = INF_US - 1
"""The tx of a point that stands for the last stamp before that is known: no stamp is later."""


@dataclass(frozen=True, slots=True)
class SubjectSpan:
    """Which subjects of a scope are asked for."""

    scope_id: str
    after: str
    """The raw id above which they begin; empty for the first."""
    limit: int
    """How many are answered at most."""


class StandingSubjects(NamedTuple):
    """The question about whom one scope prefers, bars or decides something."""

    slots: tuple[str, ...]
    """Names of slots, sorted."""
    span: SubjectSpan


class OpeningReads(NamedTuple):
    """What is asked next where names mean entities without doubt and are spelled as these are."""

    reads: NextReads
    """At `NEWEST`. Its walk begins at whom the names mean, and has no entities yet."""
    slots: Ask
    """The slots of these and of the caller; its subjects are not known yet either."""
    own_identifiers: tuple[tuple[str, str], ...] = ()
    """The identifiers that are the caller's, around whom nothing is walked."""
    wishes: StandingSubjects | None = None
    """Asked for where the request is for nobody who is named; the slots of an only subject, too."""
    siblings: Ask | None = None
    """The other facts of a subject to which the words lead, which is not known yet either."""
    rivals: Ask | None = None
    """What stands in the caller's other scopes in the slots of all facts that are met."""


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


@quick_init
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
    slot_key: str | None
    interval: Interval
    members: tuple[str, ...]
    detail: str
    """Canonical JSON; `{}` once an erasure emptied it."""
    tx_start: int
    tx_end: int
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


@quick_init
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


@quick_init
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
    """Numbers of rows: the claims that they belong to; stated alone, or beside `turns`."""
    turns: tuple[ScopeTurns, ...] = ()
    """Turns of talk by their numbers, those of scopes in sight; stated alone, or beside `vids`."""
    texts: int | None = None
    """Of `subjects` without `slots`: the newest texts about each that are needed beside the slots,
    as a person may have said a hundred thousand; a store may give more. None: all."""
    extras: int | None = None
    """Of a whole timeline, with neither `heads` nor `at_valid`: the newest rows of each slot that
    are needed beside those that decide the point's valid time, as a slot may have changed ten
    thousand times; a store may give more. None: all."""
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
