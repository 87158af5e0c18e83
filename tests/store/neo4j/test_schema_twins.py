"""Two processes that make the schema of a new server at once; no server is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from neo4j import exceptions as driver_errors

from tenure.schema.errors import Unavailable
from tenure.store.neo4j import checking as schema
from tenure.store.neo4j.calls import CallLimits, ServerLink
from tenure.store.port.records import Target


class Answer(list[Any]):
    """What a statement returns: nothing."""

    def consume(self) -> None:
        """Nothing is left of it."""


class ContestedLink:
    """A server whose first schema commands end in a deadlock."""

    dialect = ""
    target = Target(uri="bolt://127.0.0.1:1")

    def __init__(self, deadlocks: int, retry_s: float) -> None:
        self.limits = CallLimits(retry_s=retry_s)
        self.deadlocks = deadlocks
        self.made: list[str] = []

    @contextmanager
    def session(self, _access: str) -> Iterator[ContestedLink]:
        yield self

    def run(self, text: str, **_bound: Any) -> Answer:
        if text.startswith("CREATE") and self.deadlocks:
            self.deadlocks -= 1
            raise driver_errors.TransientError("deadlock detected")
        self.made.append(text)
        return Answer()


def test_a_deadlock_between_two_that_open_a_new_server_is_tried_again() -> None:
    link = ContestedLink(deadlocks=2, retry_s=30.0)
    schema.prepare(cast("ServerLink", link))
    commands = [text for text in link.made if text.startswith("CREATE")]
    names = {schema.name_of(command) for command in commands}
    assert len(names) == len(commands) > 10


def test_a_deadlock_that_does_not_end_is_told() -> None:
    link = ContestedLink(deadlocks=10**6, retry_s=0.0)
    with pytest.raises(Unavailable, match="try again later"):
        schema.prepare(cast("ServerLink", link))
