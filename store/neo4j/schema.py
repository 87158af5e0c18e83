"""Bringing a database to this code's schema, one command after another.

Concurrent `IF NOT EXISTS` commands of two processes can still meet; the loser's error means
that the other has made the same thing, and is passed over. The number of the schema is written
when every index is online. A database with a newer schema is refused.

Source: neo4j 3.
"""

from __future__ import annotations

from typing import LiteralString

import neo4j
from neo4j import exceptions as driver_errors

from ...schema.errors import Unavailable
from . import schema_statements as cypher
from .calls import Link
from .connect import translated

_TWINS = frozenset(
    {
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
    }
)


def migrate(link: Link) -> None:
    """Bring the database to this code's schema.

    Raises:
        Unavailable: `newer_schema`.
    """
    with translated(link.target), link.session(neo4j.WRITE_ACCESS) as session:
        found = list(session.run(link.dialect + cypher.READ_VERSION))
        version = int(found[0]["number"]) if found else 0
        if version > cypher.SCHEMA_VERSION:
            raise Unavailable(
                f"{link.target.uri!r} was written by a newer tenure (schema {version}, this one"
                f" knows {cypher.SCHEMA_VERSION}); upgrade tenure",
                code="newer_schema",
                schema=version,
            )
        if version == cypher.SCHEMA_VERSION:
            return
        for commands in cypher.MIGRATIONS[version:]:
            for command in commands:
                _made(session, link.dialect + command)
        session.run(link.dialect + cypher.AWAIT_INDEXES).consume()
        number = cypher.SCHEMA_VERSION
        session.run(link.dialect + cypher.SET_VERSION, number=number).consume()


def _made(session: neo4j.Session, command: LiteralString) -> None:
    try:
        session.run(command).consume()
    except driver_errors.ClientError as error:
        if error.code not in _TWINS:
            raise
