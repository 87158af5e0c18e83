"""How long statements may take: one that streams is as slow as its reader."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import neo4j

from tenure.store.neo4j.calls import CallLimits, Reads, ServerLink


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
