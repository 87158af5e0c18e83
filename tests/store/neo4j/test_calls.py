"""How long statements may take, and how long what was given to them is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import neo4j

from tenure.store.neo4j.calls import CallLimits, Reads, ServerLink, Writes


class RecordingSession:
    """A session that answers nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.queries: list[neo4j.Query] = []

    def run(self, query: neo4j.Query, _: dict[str, Any]) -> list[neo4j.Record]:
        self.queries.append(query)
        return []


def test_a_statement_that_streams_may_take_longer_than_one_that_is_read_at_once() -> None:
    session = RecordingSession()
    link = SimpleNamespace(dialect="CYPHER 5 ", limits=CallLimits(), bodies=None)
    calls = Reads(cast("ServerLink", link), cast("neo4j.Session", session), "acme")
    calls.rows("RETURN 1")
    list(calls.stream("RETURN 2"))
    assert [query.timeout for query in session.queries] == [60.0, 3_600.0]


class RecordingTransaction:
    """A transaction that answers nothing and keeps what it was given, as the driver does."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}
        self.sizes: list[int] = []

    def run(self, _: str, parameters: dict[str, Any]) -> list[neo4j.Record]:
        self.parameters = parameters
        self.sizes.append(len(parameters["given"]))
        return []


def test_what_a_statement_was_given_to_write_is_let_go_when_it_is_answered() -> None:
    transaction, rows = RecordingTransaction(), [1, 2]
    link = SimpleNamespace(dialect="CYPHER 5 ", limits=CallLimits())
    calls = Writes(cast("ServerLink", link), cast("neo4j.Transaction", transaction), "acme")
    calls.rows("RETURN 1", rows=rows)
    assert (transaction.sizes, transaction.parameters["given"], rows) == ([1], {}, [1, 2])
