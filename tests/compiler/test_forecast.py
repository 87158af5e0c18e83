"""What a compile says beforehand that it will ask is what it asks, if names mean what they seem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tenure import Memory, Principal, connect
from tenure.compiler.gathering.forecast import opening_names
from tenure.compiler.gathering.mentions import compile_names
from tenure.compiler.request.parse import parse_request
from tenure.schema.errors import Forbidden
from tenure.schema.policy import DEFAULT
from tenure.schema.values import micros
from tenure.store.port.records import NEWEST, NextReads
from tenure.store.sqlite.reader import SqliteReader

SAM = Principal(user="sam", projects=frozenset({"atlas"}))
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def forecasts(monkeypatch: pytest.MonkeyPatch) -> list[NextReads]:
    """What readers are told that will be asked."""
    foretold: list[NextReads] = []

    def expect(_: SqliteReader, questions: Callable[[], NextReads | None]) -> None:
        forecast = questions()
        if forecast is not None:
            foretold.append(forecast)

    monkeypatch.setattr(SqliteReader, "expect", expect)
    return foretold


def taught(memory: Memory) -> str:
    """A fact about Ann Lee, and her id."""
    memory.write({"name": "Ann Lee", "type": "person"}, "office", "Lisbon", valid_from="-infinity")
    return memory.as_of().entity("Ann Lee").entity_id


def test_the_candidates_are_those_that_the_opening_foretold(forecasts: list[NextReads]) -> None:
    with connect(":memory:") as owner:
        ann, memory = taught(owner), owner.bind(SAM)
        pinned = owner.as_of(NOON).slot("Ann Lee", "office").object
        assert pinned is not None
        fields: dict[str, Any] = {"query": "Where does Ann Lee sit?", "pinned": [pinned.object_id]}
        memory.compile("conversation", **fields, valid=NOON)

    request = parse_request("conversation", **fields)
    opening = opening_names(request, SAM, DEFAULT, micros(NOON)).reads
    assert opening is not None
    reads, slots = opening.reads, opening.slots
    assert reads.walk is not None
    candidates = forecasts[0]
    assert candidates == replace(
        reads,
        point=reads.point._replace(tx_us=candidates.point.tx_us),
        asks=(replace(slots, subjects=(ann,)), *reads.asks),
        walk=reads.walk._replace(entity_ids=(ann,)),
    )
    assert reads.point.tx_us == NEWEST > candidates.point.tx_us
    identifiers = dict(opening.own_identifiers)
    assert identifiers == {"project": "atlas", "tenant": "default", "user": "sam"}


def test_the_names_are_those_of_a_compile_that_foretells_nothing() -> None:
    request = parse_request("conversation", query="Where does Ann Lee sit?", entities=["Ben Ode"])
    names = opening_names(request, SAM, DEFAULT, micros(NOON))
    assert names._replace(reads=None) == compile_names(request, SAM, DEFAULT.compile)


def test_for_whom_it_is_stands_among_the_names_and_is_walked_around() -> None:
    request = parse_request("conversation", query="Which film?")
    for user, own in (("sam", {"project", "tenant"}), ("Ann Lee", {"project", "tenant", "user"})):
        names = opening_names(request, SAM, DEFAULT, micros(NOON), user)
        assert {user.casefold(), "film"} <= set(names.lookup.norms)
        assert {("user", user), ("user", "sam")} <= set(names.lookup.identifiers)
        assert names.reads is not None
        assert dict(names.reads.own_identifiers).keys() == own


def test_who_names_a_foreign_project_foretells_nothing() -> None:
    request = parse_request("conversation", query="Where does Ann Lee sit?", project="borealis")
    with pytest.raises(Forbidden, match="borealis"):
        opening_names(request, SAM, DEFAULT, micros(NOON))
