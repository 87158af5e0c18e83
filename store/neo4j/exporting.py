"""Every record of a tenant in the order in which a restore applies it.

Each kind is one statement whose records stream. What is derived (labels, text indices, counts)
is left out: applying the records rebuilds it.

Sources: port, `RecordKind`; settled 6; neo4j 9.
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
from . import codec, register_codec
from .calls import Reads
from .cypher import register

_Held = Mapping[str, Any]


def _block_keys(held: _Held) -> BlockKeys:
    return BlockKeys(held["norm"], tuple((key, kind) for key, kind in held["keys"]))


def _permission(held: _Held) -> PermissionChange:
    changed = codec.permissions(held)
    return PermissionChange(held["object_id"], changed, held["tx"], held["actor"])


def _manifest(held: _Held) -> ManifestRecord:
    return ManifestRecord(
        envelope_id=held["envelope_id"],
        manifest=held["body"],
        object_ids=tuple(held["object_ids"]),
        pack=held["pack"],
    )


def _vector(held: _Held) -> VectorRow:
    return VectorRow(held["object_id"], held["encoder_id"], held["part"], bytes(held["vec16"]))


_READ: Final[Mapping[RecordKind, tuple[LiteralString, Callable[[_Held], object]]]] = {
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
        lambda held: codec.row(held["row"], codec.claim(held["claim"])),
    ),
    RecordKind.EDGE: (
        register.ALL_EDGES,
        lambda held: codec.edge(held["kind"], held["src"], held["dst"], held["edge"]),
    ),
    RecordKind.JUDGEMENT: (register.ALL_JUDGEMENTS, register_codec.judgement),
    RecordKind.REVIEW: (register.ALL_REVIEWS, register_codec.review),
    RecordKind.CANONICAL: (
        register.ALL_CANONICAL,
        lambda held: CanonicalId(held["raw_id"], held["canonical_id"]),
    ),
    RecordKind.ACTION: (register.ALL_ACTIONS, register_codec.action),
    RecordKind.FLAG: (
        register.ALL_FLAGS,
        lambda held: Flag(held["object_id"], held["kind"], held["on"], held["tx"]),
    ),
    RecordKind.PERMISSION: (register.ALL_PERMISSIONS, _permission),
    RecordKind.TOMBSTONE: (register.ALL_TOMBSTONES, codec.tombstone),
    RecordKind.RECEIPT: (register.ALL_RECEIPTS, register_codec.receipt),
    RecordKind.DEFINITION: (register.ALL_DEFINITIONS, lambda held: str(held["body"])),
    RecordKind.PACK: (register.ALL_PACKS, lambda held: str(held["body"])),
    RecordKind.MANIFEST: (register.ALL_MANIFESTS, _manifest),
    RecordKind.VECTOR: (register.ALL_VECTORS, _vector),
    RecordKind.USAGE: (
        register.ALL_USAGE,
        lambda held: Usage(held["object_id"], held["uses"], held["last_us"]),
    ),
}


def records(calls: Reads, kind: RecordKind) -> Iterator[object]:
    """Yield every record of a kind in a fixed order."""
    text, read = _READ[kind]
    bound = {"inf": INF_US} if kind is RecordKind.CANONICAL else {}
    return (read(record["record"]) for record in calls.stream(text, **bound))
