"""The stored records as tables: what both stores make their codecs from.

The columns of a record are its fields, kept by their types: a closed list by its value, an interval
as `valid_from` and `valid_until`, a tuple as a list. A `RecordTable` holds only what departs from
that: a field that is kept otherwise, and the columns that a closing writes, each with its value
while the record is open. A later closing reads as open, so a read of the past sees what was known
then.

Claims have columns of their own (`claim_columns`), because reads of thousands decode them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import (
    Any,
    Final,
    Generic,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ...schema.claim import Edge, MentionLink
from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.interval import INF_US, Interval
from .receipts import candidates_json, candidates_of
from .records import (
    ActionRecord,
    CanonicalId,
    Flag,
    RecordKind,
    SlotRecord,
    StoredReceipt,
    Tombstone,
    TxEvent,
    Usage,
    VectorRow,
)

Record = TypeVar("Record")
RecordOut = TypeVar("RecordOut", covariant=True)
Convert = Callable[[Any], Any]


class Decoder(Protocol[RecordOut]):
    """Makes a record of the values of its columns, as known at a stamp."""

    def __call__(self, line: Sequence[Any], tx_us: int = INF_US) -> RecordOut:
        """Make it; what was closed after the stamp reads as open."""
        ...


class ReadProperties(Protocol[RecordOut]):
    """Makes a record of the properties of its node, as known at a stamp."""

    def __call__(self, properties: Mapping[str, Any], tx_us: int = INF_US) -> RecordOut:
        """Make it; what was closed after the stamp reads as open."""
        ...


@dataclass(frozen=True, slots=True)
class RecordTable(Generic[Record]):
    """A stored record."""

    record: type[Record]
    name: str
    """Of its table in a file."""
    key: str = ""
    """What orders those that were found by a column."""
    columns: tuple[str, ...] = ()
    """What they are found by: each has an index."""
    versioned: bool = False
    """Whether only the newest version of each is found."""
    ends: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The columns of a closing, each with its value while the record is open."""
    kept: Mapping[str, tuple[Convert, Convert]] = field(
        default_factory=dict[str, tuple[Convert, Convert]]
    )
    """How a field is encoded and decoded that its type does not tell."""
    order: str = "rowid"
    """The columns that order all records in a file; without any the order of writing."""


@dataclass(frozen=True, slots=True)
class Lists:
    """How a store keeps a list of texts."""

    encode: Convert
    decode: Convert


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    path: str
    encode: Convert | None = None
    decode: Convert | None = None


def _columns(table: RecordTable[Any], lists: Lists) -> list[_Column]:
    hints = get_type_hints(table.record)
    columns: list[_Column] = []
    for item in fields(table.record):
        hint = hints[item.name]
        if get_origin(hint) in (Union, types.UnionType):
            hint = next(part for part in get_args(hint) if part is not types.NoneType)
        if item.name in table.kept:
            columns.append(_Column(item.name, item.name, *table.kept[item.name]))
        elif get_origin(hint) is tuple:
            columns.append(_Column(item.name, item.name, lists.encode, lists.decode))
        elif hint is Interval:
            columns.append(_Column("valid_from", f"{item.name}.start_us"))
            columns.append(_Column("valid_until", f"{item.name}.end_us"))
        elif hint is bool:
            columns.append(_Column(item.name, item.name, None, bool))
        elif issubclass(hint, StrEnum):
            members = {member.value: member for member in hint}
            value_of = attrgetter("value")
            columns.append(_Column(item.name, item.name, value_of, members.__getitem__))
        else:
            columns.append(_Column(item.name, item.name))
    return columns


def names_of(table: RecordTable[Any]) -> tuple[str, ...]:
    """The columns of a record, in order."""
    return tuple(column.name for column in _columns(table, Lists(list, tuple)))


def line_encoder(table: RecordTable[Record], lists: Lists) -> Callable[[Record], tuple[Any, ...]]:
    """What writes a record as the values of its columns."""
    columns = _columns(table, lists)
    values_of = attrgetter(*(column.path for column in columns))
    conversions = [(place, c.encode) for place, c in enumerate(columns) if c.encode]
    if not conversions:
        return values_of

    def encode(record: Record) -> tuple[Any, ...]:
        line = list(values_of(record))
        for place, convert in conversions:
            line[place] = convert(line[place])
        return tuple(line)

    return encode


def line_decoder(table: RecordTable[Record], lists: Lists) -> Decoder[Record]:
    """What makes a record of the values of its columns, further values left out."""
    columns = _columns(table, lists)
    names = [column.name for column in columns]
    conversions = [(c.name, c.decode) for c in columns if c.decode]
    end = next(iter(table.ends), None)
    span = next((c.path.partition(".")[0] for c in columns if c.name == "valid_from"), None)
    has_interval = span != "valid_from"

    def decode(line: Sequence[Any], tx_us: int = INF_US) -> Record:
        values = dict(zip(names, line, strict=False))
        if end is not None and values[end] > tx_us:
            values.update(table.ends)
        for name, convert in conversions:
            values[name] = convert(values[name])
        if span is not None and has_interval:
            values[span] = Interval(values.pop("valid_from"), values.pop("valid_until"))
        return table.record(**values)

    return decode


def property_encoder(
    table: RecordTable[Record], lists: Lists
) -> Callable[[Record], dict[str, Any]]:
    """What writes a record as properties of a node; null represents an absent one."""
    names = [column.name for column in _columns(table, lists)]
    encode = line_encoder(table, lists)
    return lambda record: dict(zip(names, encode(record), strict=True))


def property_decoder(table: RecordTable[Record], lists: Lists) -> ReadProperties[Record]:
    """What makes a record of the properties of its node."""
    names = [column.name for column in _columns(table, lists)]
    decode = line_decoder(table, lists)

    def read(properties: Mapping[str, Any], tx_us: int = INF_US) -> Record:
        return decode([properties.get(name) for name in names], tx_us)

    return read


_OPEN: Final = {"tx_end": INF_US}
EVENTS: Final = RecordTable(TxEvent, "tx_event", "tx", ("tx",), order="seq")
TOMBSTONES: Final = RecordTable(Tombstone, "tombstone", order="tx, erasure_id")
ENTITIES: Final = RecordTable(Entity, "entity", order="tx_start, entity_id")
ALIASES: Final = RecordTable(Alias, "alias", ends=_OPEN)
IDENTIFIERS: Final = RecordTable(Identifier, "identifier", ends=_OPEN)
JUDGEMENTS: Final = RecordTable(Judgement, "judgement", ends=_OPEN, order="tx_start, judgement_id")
REVIEWS: Final = RecordTable(
    Review,
    "review",
    "review_id",
    ("review_id", "entity_id"),
    versioned=True,
    kept={"candidates": (candidates_json, candidates_of)},
    order="opened_tx, review_id, version",
)
ACTIONS: Final = RecordTable(
    ActionRecord,
    "action",
    "action_id",
    ("action_id", "slot_key", "object_id"),
    ends=_OPEN | {"outcome": "", "closed_by": ""},
    order="tx_start, action_id",
)
RECEIPTS: Final = RecordTable(
    StoredReceipt, "receipt", "object_id", ("object_id", "idempotency_key")
)
EDGES: Final = RecordTable(Edge, "edge")
SLOTS: Final = RecordTable(SlotRecord, "slot", "slot_key", ("slot_key", "subject_id"))
MENTIONS: Final = RecordTable(MentionLink, "mention", "object_id, start", ("object_id",))
FLAGS: Final = RecordTable(Flag, "flag")
CANONICAL: Final = RecordTable(CanonicalId, "canonical", order="raw_id")
USAGE: Final = RecordTable(Usage, "usage", "object_id", ("object_id",), order="object_id")
VECTORS: Final = RecordTable(VectorRow, "vector")
EXPORT_TABLES: Final[Mapping[RecordKind, RecordTable[Any]]] = {
    RecordKind.EVENT: EVENTS,
    RecordKind.ENTITY: ENTITIES,
    RecordKind.ALIAS: ALIASES,
    RecordKind.IDENTIFIER: IDENTIFIERS,
    RecordKind.SLOT: SLOTS,
    RecordKind.MENTION: MENTIONS,
    RecordKind.EDGE: EDGES,
    RecordKind.JUDGEMENT: JUDGEMENTS,
    RecordKind.REVIEW: REVIEWS,
    RecordKind.CANONICAL: CANONICAL,
    RecordKind.ACTION: ACTIONS,
    RecordKind.FLAG: FLAGS,
    RecordKind.TOMBSTONE: TOMBSTONES,
    RecordKind.RECEIPT: RECEIPTS,
    RecordKind.VECTOR: VECTORS,
    RecordKind.USAGE: USAGE,
}
"""The kinds of an export that are kept as their fields; the others each store decodes itself."""
