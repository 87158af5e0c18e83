"""Summaries over the makers' own SDKs: good ones are taken, errors and empty answers make none."""

import re
from collections.abc import Iterator

import pytest

from tenure import Memory, connect
from tenure.schema.errors import InvalidInput, Unavailable
from tenure.schema.window_policy import WindowPolicy, Zones
from tenure.service.extraction.providers import PROVIDERS
from tenure.service.sessions.session import Session
from tenure.tests.service.model_server import ModelServer, model_server
from tenure.tests.support.refusals import refused
from tenure.window.events import EventKind
from tenure.window.units import StandingForm

ZONES = Zones(yellow=20, orange=900, red=950, target=100, edit=980, rollover=990)
POLICY = WindowPolicy(zones=ZONES)
"""Always yellow: the window changes when it is asked to."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        running.summary = summary_of
        yield running


@pytest.fixture
def session() -> Iterator[Session]:
    with connect(":memory:") as memory:
        yield filled(memory)


def filled(memory: Memory) -> Session:
    session = memory.session("s1", window=60_000, policy=POLICY)
    for number in range(20):
        session.on_turn_start(f"question {number}")
        session.on_turn_end(f"Flight HAT{number:03}X goes to Rome. " + "well then " * 60)
    session.on_turn_start("and now?")
    return session


def summary_of(prompt: str) -> str:
    flights = re.findall(r"HAT\d+X", prompt)
    return "".join(f"{flight} is the Flight to Rome. " for flight in flights)


def model(kind: str, name: str, server: ModelServer) -> str:
    path = "/v1" if kind == "openai" else ""
    return f"{kind}:{name}@{server.url}{path}"


@pytest.mark.parametrize("kind", PROVIDERS)
def test_summaries_of_a_named_model_stand_after_the_next_edit(
    kind: str, session: Session, server: ModelServer
) -> None:
    pytest.importorskip(kind)
    report = session.summarise(model(kind, "good", server), most=4)
    assert len(report.accepted) == 4
    assert report.refused == {}
    session.compact()
    standing = [unit for unit in session.state.units if unit.form is StandingForm.SUMMARY]
    assert standing
    assert all("is the Flight to Rome" in unit.text for unit in standing)

    # The prompt alone goes out: no tools, no history, no instruction of the agent.
    request = server.requests[0]
    assert "tools" not in request
    assert [message["role"] for message in request["messages"]] == ["user"]


@pytest.mark.parametrize("kind", PROVIDERS)
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("broken", "unavailable"),
        ("page", "unavailable"),
        ("odd", "unavailable"),
        ("refused", "unavailable"),
        ("cut", "unavailable"),
        ("calls", "unavailable"),
        ("empty", "empty"),
    ],
)
def test_no_summary_is_made_from_an_error_or_an_empty_answer(
    kind: str, name: str, fault: str, session: Session, server: ModelServer
) -> None:
    pytest.importorskip(kind)
    before = session.state.units
    report = session.summarise(model(kind, name, server), most=2)
    assert report.accepted == ()
    assert report.refused == {fault: 2}
    assert session.state.summaries == ()
    assert session.state.units == before

    events = [event for event in session.events() if event.kind is EventKind.SUMMARISED]
    assert [event.body["fault"] for event in events] == [fault, fault]
    assert all(event.texts == () for event in events)
    session.compact()
    assert all(unit.form is not StandingForm.SUMMARY for unit in session.state.units)


def test_a_server_that_fails_for_a_moment_is_asked_again(
    session: Session, server: ModelServer
) -> None:
    pytest.importorskip("openai")
    server.failures = 1
    report = session.summarise(model("openai", "good", server), most=1)
    assert len(report.accepted) == 1
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", ["", "rules", "openai", "openai:", "gemini:x", "openai:x@y"])
def test_a_name_of_no_model_is_refused(name: str, session: Session) -> None:
    with refused(InvalidInput, "bad_extractor"):
        session.summarise(name)


def test_a_model_without_its_key_is_refused_before_anything_is_asked(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with refused(Unavailable, "extractor_unavailable"):
        session.summarise("anthropic:claude-haiku-4-5")
    assert [event for event in session.events() if event.kind is EventKind.SUMMARISED] == []
