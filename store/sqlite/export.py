"""Every record of a file in the order in which a restore applies it.

Each kind is one statement that streams, so an export of any size needs the memory of one
record. What is derived (text indices, live marks, counts of blocking keys) is left out:
applying the records rebuilds it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

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
from .codec import Line
from .sql import core as sql
from .sql import register
from .sql import rows as row_sql


def _block_keys(db: sqlite3.Connection) -> Iterator[BlockKeys]:
    for norm, lines in groupby(db.execute(register.BLOCK_KEYS), key=lambda line: str(line[0])):
        yield BlockKeys(norm, tuple((line[1], line[2]) for line in lines))


def _manifests(db: sqlite3.Connection) -> Iterator[ManifestRecord]:
    for number, envelope_id, manifest, pack in db.execute(register.ALL_MANIFESTS):
        object_ids = codec.first_column(db.execute(register.COMPILED_IDS, (number,)))
        yield ManifestRecord(
            envelope_id=envelope_id, manifest=manifest, object_ids=tuple(object_ids), pack=pack
        )


def _permission(line: Line) -> PermissionChange:
    return PermissionChange(line[0], codec.permissions(line[1:4]), line[4], line[5])


def _plain(statement: str, decode: Callable[[Line], object]) -> Callable[..., Iterator[object]]:
    def read(db: sqlite3.Connection) -> Iterator[object]:
        return map(decode, db.execute(statement))

    return read


_READ: Final[dict[RecordKind, Callable[[sqlite3.Connection], Iterator[object]]]] = {
    RecordKind.EVENT: _plain(sql.EVENTS, codec.event),
    RecordKind.ENTITY: _plain(register.ALL_ENTITIES, register_codec.entity),
    RecordKind.ALIAS: _plain(register.ALL_ALIASES, register_codec.alias),
    RecordKind.IDENTIFIER: _plain(register.ALL_IDENTIFIERS, register_codec.identifier),
    RecordKind.BLOCK_KEYS: _block_keys,
    RecordKind.SLOT: _plain(sql.ALL_SLOTS, codec.slot),
    RecordKind.CLAIM: _plain(sql.ALL_CLAIMS, codec.assertion),
    RecordKind.MENTION: _plain(sql.ALL_MENTIONS, codec.mention),
    RecordKind.ROW: _plain(row_sql.ALL_ROWS, codec.row),
    RecordKind.EDGE: _plain(sql.ALL_EDGES, codec.edge),
    RecordKind.JUDGEMENT: _plain(register.ALL_JUDGEMENTS, register_codec.judgement),
    RecordKind.REVIEW: _plain(register.ALL_REVIEWS, register_codec.review),
    RecordKind.CANONICAL: _plain(
        register.ALL_CANONICAL, lambda line: CanonicalId(line[0], line[1])
    ),
    RecordKind.ACTION: _plain(register.ACTIONS_EVER, register_codec.action),
    RecordKind.FLAG: _plain(sql.FLAGS, lambda line: Flag(line[0], line[1], bool(line[2]), line[3])),
    RecordKind.PERMISSION: _plain(sql.PERMISSION_CHANGES, _permission),
    RecordKind.TOMBSTONE: _plain(sql.TOMBSTONES, codec.tombstone),
    RecordKind.RECEIPT: _plain(register.ALL_RECEIPTS, register_codec.receipt),
    RecordKind.DEFINITION: _plain(sql.DEFINITION_BODIES, lambda line: str(line[0])),
    RecordKind.PACK: _plain(register.ALL_PACKS, lambda line: str(line[0])),
    RecordKind.MANIFEST: _manifests,
    RecordKind.VECTOR: _plain(register.ALL_VECTORS, lambda line: VectorRow(*line)),
    RecordKind.USAGE: _plain(register.ALL_USAGE, lambda line: Usage(*line)),
    RecordKind.SESSION_EVENT: sessions.all_events,
}


def records(db: sqlite3.Connection, kind: RecordKind) -> Iterator[object]:
    """Yield every record of a kind in a fixed order."""
    return _READ[kind](db)
