"""Every record of a tenant in the order in which a restore applies it.

Each kind is one statement whose records stream. What is derived (labels, text indices, counts)
is left out: applying the records rebuilds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, LiteralString

from ...schema.interval import INF_US
from ..port.store import (
    BlockKeys,
    CanonicalId,
    Flag,
    ManifestRecord,
    PermissionChange,
    RecordKind,
    Usage,
    VectorRow,
)
from . import codec, register_codec, sessions
from .calls import Reads
from .cypher import register

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


def _vector(properties: _Properties) -> VectorRow:
    return VectorRow(
        properties["object_id"],
        properties["encoder_id"],
        properties["part"],
        bytes(properties["vec16"]),
    )


_READ: Final[Mapping[RecordKind, tuple[LiteralString, Callable[[_Properties], object]]]] = {
    RecordKind.EVENT: (register.ALL_EVENTS, codec.event),
    RecordKind.ENTITY: (register.ALL_ENTITIES, register_codec.entity),
    RecordKind.ALIAS: (register.ALL_ALIASES, register_codec.alias),
    RecordKind.IDENTIFIER: (register.ALL_IDENTIFIERS, register_codec.identifier),
    RecordKind.BLOCK_KEYS: (register.ALL_NORMS, _block_keys),
    RecordKind.SLOT: (register.ALL_SLOTS, codec.slot),
    RecordKind.CLAIM: (register.ALL_CLAIMS, codec.assertion),
    RecordKind.MENTION: (register.ALL_MENTIONS, codec.mention),
    RecordKind.ROW: (
        register.ALL_ROWS,
        lambda properties: codec.row(properties["row"], codec.claim(properties["claim"])),
    ),
    RecordKind.EDGE: (
        register.ALL_EDGES,
        lambda properties: codec.edge(
            properties["kind"], properties["src"], properties["dst"], properties["edge"]
        ),
    ),
    RecordKind.JUDGEMENT: (register.ALL_JUDGEMENTS, register_codec.judgement),
    RecordKind.REVIEW: (register.ALL_REVIEWS, register_codec.review),
    RecordKind.CANONICAL: (
        register.ALL_CANONICAL,
        lambda properties: CanonicalId(properties["raw_id"], properties["canonical_id"]),
    ),
    RecordKind.ACTION: (register.ALL_ACTIONS, register_codec.action),
    RecordKind.FLAG: (
        register.ALL_FLAGS,
        lambda properties: Flag(
            properties["object_id"], properties["kind"], properties["on"], properties["tx"]
        ),
    ),
    RecordKind.PERMISSION: (register.ALL_PERMISSIONS, _permission),
    RecordKind.TOMBSTONE: (register.ALL_TOMBSTONES, codec.tombstone),
    RecordKind.RECEIPT: (register.ALL_RECEIPTS, register_codec.receipt),
    RecordKind.DEFINITION: (register.ALL_DEFINITIONS, lambda properties: str(properties["body"])),
    RecordKind.PACK: (register.ALL_PACKS, lambda properties: str(properties["body"])),
    RecordKind.MANIFEST: (register.ALL_MANIFESTS, _manifest),
    RecordKind.VECTOR: (register.ALL_VECTORS, _vector),
    RecordKind.USAGE: (
        register.ALL_USAGE,
        lambda properties: Usage(
            properties["object_id"], properties["uses"], properties["last_us"]
        ),
    ),
}


def records(calls: Reads, kind: RecordKind) -> Iterator[object]:
    """Yield every record of a kind in a fixed order."""
    # Events of sessions are joined from two statements, which no row of the table can say.
    if kind is RecordKind.SESSION_EVENT:
        return sessions.all_events(calls)
    text, read = _READ[kind]
    bound = {"inf": INF_US} if kind is RecordKind.CANONICAL else {}
    return (read(record["record"]) for record in calls.stream(text, **bound))
