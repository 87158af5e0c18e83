"""Bringing a database to this code's schema, and the doctor of the server store.

Concurrent `IF NOT EXISTS` commands of two processes can still meet; the loser's error means
that the other has made the same thing, and is passed over. The number of each version is
written when its indices are online, so an interrupted migration goes on where it stopped. A
database with a newer schema is refused, and so is one that lacks a constraint or an index of
its own version: without a unique key writers would quietly make twins.

The doctor yields one sentence for each invariant that does not hold. Times are checked by
values: over all rows of a slot, on both axes, at most one clean value decides an instant, and
the rows of a claim never overlap. The audit chain is recomputed from its first event, and what is
derived is compared with what it derives from. It changes nothing; under concurrent writes run it
again before you believe it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, LiteralString

import neo4j
from neo4j import exceptions as driver_errors

from ...schema.errors import Unavailable
from ...schema.interval import INF_US, MIN_US
from ...schema.terms import stemmed_again
from ..port.receipts import (
    EXAMPLES,
    GENESIS,
    examples,
    identity_faults,
    log_faults,
    name_problems,
    value_problems,
)
from ..port.records import Migration, RecordKind, chain_faults
from ..timeline.overlaps import OVERLAPS, overlap_faults
from . import codec, sessions
from .calls import Pauses, Reads, ServerLink, retryable
from .connect import our_errors
from .cypher import core, register, schema

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
        _bring(session, link, version)
        missing = [] if version < schema.SCHEMA_VERSION else _missing(session, link, version)

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
        if not dry_run:
            _make(session, link, missing)
            _bring(session, link, version)
            # What an older process wrote while a newer one brought the database up to date.
            if version >= schema.GRAPH_SINCE:
                _move_graph(session, link, schema.SCHEMA_VERSION)

    newer = schema.MIGRATIONS[_steps_made(version) :]
    commands = (*missing, *(command for part in newer for command in part))
    steps = tuple(command.partition(" IF NOT EXISTS")[0] for command in commands)
    return Migration(version, schema.SCHEMA_VERSION, steps)


def findings(calls: Reads) -> tuple[str, ...]:
    """A sentence for each constraint or index that is missing or not usable."""
    states = {str(r["name"]): str(r["state"]) for r in calls.rows(schema.INDEX_STATES)}
    names = sorted(name_of(command) for part in schema.MIGRATIONS for command in part)
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
    records = list(session.run(link.dialect + schema.READ_VERSION))
    version = int(records[0]["number"]) if records else 0
    if version > schema.SCHEMA_VERSION:
        raise Unavailable(
            f"{link.target.uri!r} was written by a newer tenure (schema {version}, this one"
            f" knows {schema.SCHEMA_VERSION}); upgrade tenure",
            code="newer_schema",
            schema=version,
        )
    if 0 < version < schema.FIRST_VERSION:
        raise Unavailable(
            f"{link.target.uri!r} was written by a development version of tenure (schema "
            f"{version}); export it with that version (tenure export) and import the export into a "
            "new database",
            code="older_schema",
            schema=version,
        )

    return version


def _steps_made(version: int) -> int:
    return max(version - schema.FIRST_VERSION + 1, 0)


def _bring(session: neo4j.Session, link: ServerLink, version: int) -> None:
    for number in range(max(version + 1, schema.FIRST_VERSION), schema.SCHEMA_VERSION + 1):
        _make(session, link, schema.MIGRATIONS[number - schema.FIRST_VERSION])
        # The number is written after the data, so an interrupted migration goes on there.
        if number == schema.GRAPH_SINCE and version:
            _move_graph(session, link, number)
            continue
        if number == schema.TERMS_SINCE and version:
            _stem_again(link)
        session.run(link.dialect + schema.SET_VERSION, number=number).consume()


def _missing(session: neo4j.Session, link: ServerLink, version: int) -> list[LiteralString]:
    """The commands of the database's own version whose work is not there."""
    if not version:
        return []

    # A uniqueness constraint has an index of its own name, so one list shows both.
    present = {record["name"] for record in session.run(link.dialect + schema.INDEX_STATES)}
    missing: list[LiteralString] = []
    for part in schema.MIGRATIONS[: _steps_made(version)]:
        for command in part:
            if name_of(command) not in present:
                missing.append(command)

    return missing


def _make(session: neo4j.Session, link: ServerLink, commands: Sequence[LiteralString]) -> None:
    for command in commands:
        _create_at_last(session, link, command)
    if commands:
        session.run(link.dialect + schema.AWAIT_INDEXES).consume()


def _move_graph(session: neo4j.Session, link: ServerLink, number: int) -> None:
    """Bring the facts of an older version to this graph; safe to repeat and to interrupt.

    One process moves at a time, and a process that opened the database before neither reads nor
    writes meanwhile.
    """
    with (
        link.session(neo4j.WRITE_ACCESS) as holder,
        holder.begin_transaction(timeout=0) as turn,
    ):
        (version,) = turn.run(link.dialect + schema.LOCK_VERSION)
        # Only before the first move: what held a tenant of this version would never free it.
        if version["number"] < schema.GRAPH_SINCE:
            session.run(link.dialect + schema.HOLD_TENANTS).consume()
        for text in schema.MOVES:
            session.run(link.dialect + text, inf=INF_US).consume()
        for command in schema.OLD_INDICES:
            session.run(link.dialect + command).consume()
        session.run(link.dialect + schema.FREE_TENANTS).consume()
        turn.run(link.dialect + schema.SET_VERSION, number=number).consume()
        turn.commit()


def _stem_again(link: ServerLink) -> None:
    """Bring the search terms of older claims to today's; safe to repeat and to interrupt."""
    with link.session(neo4j.WRITE_ACCESS) as reading, link.session(neo4j.WRITE_ACCESS) as writing:
        rows: list[dict[str, str]] = []
        for record in reading.run(link.dialect + schema.STORED_TERMS):
            terms = stemmed_again(record["terms"])
            if terms != record["terms"]:
                rows.append({"place": record["place"], "terms": terms})
            if len(rows) == _ROWS_AT_ONCE:
                writing.run(link.dialect + schema.SET_TERMS, rows=rows).consume()
                rows = []
        writing.run(link.dialect + schema.SET_TERMS, rows=rows).consume()


_ROWS_AT_ONCE: Final = 5_000


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


_PAIR: Final = itemgetter("raw_id", "canonical_id")


def _records(calls: Reads, text: LiteralString) -> Iterator[Mapping[str, Any]]:
    return (record["record"] for record in calls.stream(text, inf=INF_US))


def violations(calls: Reads) -> Iterator[str]:
    """Yield one sentence for each broken invariant."""
    yield from findings(calls)

    for sentence, text in schema.MUST_BE_EMPTY.items():
        bound = {"inf": INF_US, "min": MIN_US, "shown": EXAMPLES}
        yield from examples(sentence, calls.column(text, **bound))

    for text, sentence in zip((schema.CLEAN_HEADS, schema.ROWS_OF_CLAIMS), OVERLAPS, strict=True):
        spans = (record.values() for record in calls.stream(text, inf=INF_US))
        yield from overlap_faults(spans, sentence)
    (clock,) = calls.column(core.CLOCK)
    event_records = _records(calls, register.EXPORTS[RecordKind.EVENT])
    events = ((codec.event(record), bytes(record["digest"])) for record in event_records)
    digest = bytes(clock["digest"] or GENESIS)
    yield from log_faults(events, (clock["seq"], clock["last_us"]), digest)
    key = bytes(calls.rows(core.KEYS)[0]["secret"])
    yield from chain_faults(key, sessions.all_events(calls))
    judgements = map(codec.judgement, _records(calls, schema.OPEN_JUDGEMENTS))
    pairs = map(_PAIR, _records(calls, register.EXPORTS[RecordKind.CANONICAL]))
    yield from identity_faults(judgements, pairs)
    yield from value_problems(record.values() for record in calls.stream(schema.STORED_VALUES))
    yield from name_problems(record.values() for record in calls.stream(schema.STORED_NAMES))
