"""The doctor of the embedded store: one sentence for each invariant that does not hold.

It reads one snapshot and changes nothing. Times are checked by values: over all rows of a
slot, on both axes, at most one clean value decides an instant, and the rows of a claim never
overlap. The audit chain is recomputed from its first event, and what is derived (text
indices, live marks, canonical ids, counts) is compared with what it derives from.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from ..port.receipts import (
    EXAMPLES,
    examples,
    identity_faults,
    log_faults,
    name_problems,
    value_problems,
)
from ..port.records import chain_faults
from ..timeline.overlaps import OVERLAPS, overlap_faults
from . import apply, codec, register_sql, sql

_LONGEST: Final = 32_768
"""Bytes of a term that FTS5 keeps."""


def problems_of(db: sqlite3.Connection) -> Iterator[str]:
    """Yield one sentence for each broken invariant of a snapshot."""
    yield from _file(db)
    for sentence, statement in register_sql.MUST_BE_EMPTY.items():
        # A broken invariant may hold for every row: a few of them are enough to look at.
        lines = db.execute(f"{statement} LIMIT {EXAMPLES}")
        yield from examples(sentence, codec.first_column(lines))

    statements = register_sql.CLEAN_HEADS, register_sql.ROWS_OF_CLAIMS
    for statement, sentence in zip(statements, OVERLAPS, strict=True):
        yield from overlap_faults(db.execute(statement), sentence)
    seq, last_us, *_ = db.execute(sql.COUNTERS).fetchone()
    events = ((codec.event(line), line[5]) for line in db.execute(sql.EVENTS))
    yield from log_faults(events, (seq, last_us))
    yield from chain_faults(db.execute(sql.KEYS).fetchone()[0], apply.all_session_events(db))
    judgements = map(codec.judgement, db.execute(register_sql.OPEN_JUDGEMENTS))
    yield from identity_faults(judgements, db.execute(register_sql.EXPORTS["canonical"]))
    yield from _texts(db)
    yield from value_problems(db.execute(register_sql.STORED_VALUES))
    yield from name_problems(db.execute(register_sql.STORED_NAMES))


def _file(db: sqlite3.Connection) -> Iterator[str]:
    for (line,) in db.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"the file is damaged: {line}"

    for table, _, parent, _ in db.execute("PRAGMA foreign_key_check"):
        yield f"a row of {table} points at a missing row of {parent}"


def _texts(db: sqlite3.Connection) -> Iterator[str]:
    """Compare each text index with the terms it should hold, by an order-free checksum."""
    # An index lists its terms by term and the claims theirs by claim: sorting millions of pairs to
    # compare them would need the memory that a checksum does not.
    for index, statement in register_sql.INDEXED_COLUMNS.items():
        vocabulary = f"vocabulary_{index}"
        db.execute(
            f"CREATE VIRTUAL TABLE temp.{vocabulary} USING fts5vocab(main, {index}, instance)"
        )
        checksum_held = _checksum(
            db.execute(f"SELECT doc, CAST(term AS BLOB) FROM temp.{vocabulary}")
        )
        checksum_meant = _checksum(_terms(db.execute(statement)))
        db.execute(f"DROP TABLE temp.{vocabulary}")
        if checksum_held != checksum_meant:
            yield f"the index {index} does not hold the terms of its claims"


def _terms(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, bytes]]:
    for number, words in rows:
        for term in {word.encode()[:_LONGEST] for word in words.split()}:
            yield number, term


def _checksum(pairs: Iterable[tuple[int, bytes]]) -> tuple[int, int]:
    count = total = 0
    for number, term in pairs:
        count += 1
        total ^= zlib.crc32(term, number & 0xFFFFFFFF)
    return count, total
