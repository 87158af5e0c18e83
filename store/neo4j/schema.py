"""Bringing a database to this code's schema, one command after another.

Concurrent `IF NOT EXISTS` commands of two processes can still meet; the loser's error means
that the other has made the same thing, and is passed over. The number of each version is
written when its indices are online, so an interrupted migration goes on where it stopped. A
database with a newer schema is refused, and so is one that lacks a constraint or an index of
its own version: without a unique key writers would quietly make twins. `tenure migrate` mends
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, LiteralString

import neo4j
from neo4j import exceptions as driver_errors

from ...schema.errors import Unavailable
from ...schema.signing import stored_digest
from ..port.store import Migration
from . import codec
from .applying import LARGEST
from .calls import Pauses, Reads, ServerLink, retryable
from .connect import our_errors
from .cypher import schema as cypher

_TWINS = frozenset(
    {
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
    }
)
_CANNOT: Final = "Neo.DatabaseError.Schema.ConstraintCreationFailed"


def prepare(link: ServerLink) -> None:
    """Bring a database to this code's schema, and prove that nothing of it is missing.

    Raises:
        Unavailable: `newer_schema`, `schema_incomplete`.
    """
    with our_errors(link.target), link.session(neo4j.WRITE_ACCESS) as session:
        version = _version(session, link)
        for number in range(version + 1, cypher.SCHEMA_VERSION + 1):
            _make(session, link, cypher.MIGRATIONS[number - 1])
            _set_version(session, link, number)

        missing = [] if version < cypher.SCHEMA_VERSION else _missing(session, link, version)

    if missing:
        names = ", ".join(name_of(command) for command in missing)
        raise Unavailable(
            f"the database {link.target.database!r} of {link.target.uri!r} lacks a constraint or"
            f" an index that tenure relies on ({names}); run: tenure migrate",
            code="schema_incomplete",
            missing=names,
        )


def migrate(link: ServerLink, *, dry_run: bool = False) -> Migration:
    """Bring a database to this code's schema, what is missing of older versions included.

    Raises:
        Unavailable: `newer_schema`; `schema_incomplete` for a constraint that the data break.
    """
    with our_errors(link.target), link.session(neo4j.WRITE_ACCESS) as session:
        version = _version(session, link)
        missing = _missing(session, link, version)
        newer = cypher.MIGRATIONS[version:]
        if not dry_run:
            _make(session, link, missing)
            for number, commands in enumerate(newer, version + 1):
                _make(session, link, commands)
                _set_version(session, link, number)
            # What an older process wrote while a newer one brought the database up to date; of a
            # database older than that, the step to the version has placed all texts by now.
            if version >= cypher.SCOPES_SINCE:
                _place_texts(session, link)
            if version >= cypher.TEACHERS_SINCE:
                session.run(link.dialect + cypher.PLACE_IDENTIFIERS).consume()
            if version >= cypher.TURNS_SINCE:
                session.run(link.dialect + cypher.NUMBER_TURNS).consume()

    commands = (*missing, *(command for part in newer for command in part))
    steps = tuple(command.partition(" IF NOT EXISTS")[0] for command in commands)
    return Migration(version, cypher.SCHEMA_VERSION, steps)


def findings(calls: Reads) -> tuple[str, ...]:
    """A sentence for each constraint or index that is missing or not usable."""
    states = {str(r["name"]): str(r["state"]) for r in calls.rows(cypher.INDEX_STATES)}
    names = sorted(name_of(command) for part in cypher.MIGRATIONS for command in part)
    missing = [name for name in names if name not in states]
    idle = [name for name in names if states.get(name, "ONLINE") != "ONLINE"]
    return (
        *(f"the constraint or index {name} is missing; run: tenure migrate" for name in missing),
        *(f"the index {name} is {states[name].lower()}, not online" for name in idle),
    )


def name_of(command: str) -> str:
    """The name that a schema command gives.

    >>> name_of("CREATE FULLTEXT INDEX ft_live IF NOT EXISTS FOR (n:Live) ON EACH [n.terms]")
    'ft_live'
    """
    words = command.split()
    return words[words.index("IF") - 1]


def _version(session: neo4j.Session, link: ServerLink) -> int:
    records = list(session.run(link.dialect + cypher.READ_VERSION))
    version = int(records[0]["number"]) if records else 0
    if version > cypher.SCHEMA_VERSION:
        raise Unavailable(
            f"{link.target.uri!r} was written by a newer tenure (schema {version}, this one"
            f" knows {cypher.SCHEMA_VERSION}); upgrade tenure",
            code="newer_schema",
            schema=version,
        )

    return version


def _missing(session: neo4j.Session, link: ServerLink, version: int) -> list[LiteralString]:
    """The commands of the database's own version whose work is not there."""
    if not version:
        return []

    # A uniqueness constraint has an index of its own name, so one list shows both.
    present = {record["name"] for record in session.run(link.dialect + cypher.INDEX_STATES)}
    missing: list[LiteralString] = []
    for part in cypher.MIGRATIONS[:version]:
        for command in part:
            if name_of(command) not in present:
                missing.append(command)

    return missing


def _make(session: neo4j.Session, link: ServerLink, commands: Sequence[LiteralString]) -> None:
    for command in commands:
        _create_at_last(session, link, command)
    if commands:
        session.run(link.dialect + cypher.AWAIT_INDEXES).consume()


def _set_version(session: neo4j.Session, link: ServerLink, number: int) -> None:
    # Each fill commits by itself, some thousand nodes at a time, so an interrupted migration
    # goes on where it stopped: the number is written after them.
    for statement in cypher.FILLS.get(number, ()):
        session.run(link.dialect + statement).consume()
    if number in _CODE_FILLS:
        _CODE_FILLS[number](session, link)
    session.run(link.dialect + cypher.SET_VERSION, number=number).consume()


def _digest_keys(session: neo4j.Session, link: ServerLink) -> None:
    """Make digests of the keys that older versions kept as stated; safe to repeat."""
    rows: list[dict[str, str]] = []
    for record in list(session.run(link.dialect + cypher.STATED_KEYS)):
        key = str(record["key"])
        digest = stored_digest(bytes(record["secret"]), record["actor"], key)
        if digest != key:
            row = {"tenant": record["tenant"], "object_id": record["object_id"], "digest": digest}
            rows.append(row)

    for start in range(0, len(rows), LARGEST):
        part = rows[start : start + LARGEST]
        session.run(link.dialect + cypher.PUT_DIGESTS, rows=part).consume()


def _place_texts(session: neo4j.Session, link: ServerLink) -> None:
    """Say of the texts of older versions in which scope they stand; safe to repeat."""
    words: dict[str, dict[str, str]] = {}
    for record in list(session.run(link.dialect + cypher.UNPLACED_SCOPES)):
        tenant, scope_id = str(record["tenant"]), str(record["scope_id"])
        words.setdefault(tenant, {})[scope_id] = codec.place_words(tenant, scope_id)
    if words:
        session.run(link.dialect + cypher.PUT_PLACES, words=words).consume()


_CODE_FILLS: Final[Mapping[int, Callable[[neo4j.Session, ServerLink], None]]] = {
    cypher.DIGESTS_SINCE: _digest_keys,
    cypher.SCOPES_SINCE: _place_texts,
}
"""What fills in the data of older versions where Cypher cannot, as `FILLS` does where it can."""


def _create_at_last(session: neo4j.Session, link: ServerLink, command: LiteralString) -> None:
    """Run a command, again where two processes that open a new server wait for each other."""
    pauses = Pauses(link.limits)
    while True:
        try:
            return _create(session, link, command)
        except driver_errors.Neo4jError as error:
            if not retryable(error) or not pauses.wait(error):
                raise


def _create(session: neo4j.Session, link: ServerLink, command: LiteralString) -> None:
    try:
        session.run(link.dialect + command).consume()
    except driver_errors.Neo4jError as error:
        if error.code in _TWINS:
            return
        if error.code != _CANNOT:
            raise
        raise Unavailable(
            f"the constraint {name_of(command)} cannot be made, because the data break it:"
            f" {error.message}; restore an export into a new database",
            code="schema_incomplete",
            missing=name_of(command),
        ) from error
