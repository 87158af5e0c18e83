"""Whole claims of a connection, as a writer needs them and a page of a case shows them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from ...schema.claim import Assertion
from . import codec
from .sql import core as sql
from .sql import text as text_sql


def objects_of(db: sqlite3.Connection, entity_ids: Sequence[str]) -> tuple[str, ...]:
    """Every object that is about one of these, points at it or mentions it, none erased."""
    bound = {"ids": codec.list_json(dict.fromkeys(entity_ids))}
    return tuple(line[0] for line in db.execute(sql.OBJECTS_OF, bound))


def objects_with(db: sqlite3.Connection, words: Sequence[str]) -> tuple[str, ...]:
    """Objects that hold all of these terms, none erased, sorted."""
    query = " AND ".join(f'"{word}"' for word in words)
    return tuple(line[0] for line in db.execute(text_sql.OBJECTS_WITH, (query,)))


def assertions(db: sqlite3.Connection, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
    """Whole claims by object id, with today's permissions; erased ones left out."""
    bound = (codec.list_json(dict.fromkeys(object_ids)),)
    return {line[1]: codec.assertion(line) for line in db.execute(sql.ASSERTIONS, bound)}
