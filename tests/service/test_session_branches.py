"""Delegated work, conclusions, taking a task up, and what a report says, on real sessions."""

from collections.abc import Iterator
from typing import Any

import pytest

from tenure import Conflict, InvalidInput, Memory, Principal, connect
from tenure.service.sessions.core import SessionLog
from tenure.service.sessions.session import Session
from tenure.tests.support.refusals import refused
from tenure.window.checkpoint import BootstrapStep
from tenure.window.events import EditReason, EventKind
from tenure.window.report import VerbatimJudge, WindowAxis
from tenure.window.units import StandingForm


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:", principal=Principal(user="ann")) as opened:
        yield opened


@pytest.fixture
def trip(memory: Memory) -> Session:
    session = memory.session("trip", model="generic", window=32_000, task="plan a trip")
    for number in range(5):
        session.on_turn_start(f"What about hotel {number}? It should be calm. " * 10)
        session.on_turn_end(f"Hotel {number} is at RX{number}111, calm and near. " * 20)
    return session


def test_a_child_has_a_clean_window_of_its_budget_and_tells_its_parent_little(
    memory: Memory, trip: Session
) -> None:
    child = trip.delegate("hotel", "find a hotel in Rome", budget_tokens=8_000)
    opened = child.events()[0].body
    assert (opened["parent"], opened["window"]) == ("user=ann,session=trip", 8_000)
    assert child.state.units == ()
    assert child.principal == trip.principal

    child.on_turn_start("Find one near the station.")
    child.note("decision", "Hotel Roma")
    child.on_turn_end("word " * 5_000 + "RX7781")
    told = child.conclusion()
    assert child.state.count(told) <= 2_000
    assert "decided: Hotel Roma" in told
    assert "find a hotel in Rome" in told

    assert trip.checkpoint().subtasks == (("find a hotel in Rome", "in_progress"),)
    with pytest.raises(Conflict, match="is there already"):
        trip.delegate("hotel", "another")
    with pytest.raises(InvalidInput, match="in words"):
        trip.delegate("nothing", " ")
    with pytest.raises(InvalidInput, match="larger window"):
        trip.delegate("large", "word " * 3_000, budget_tokens=4_096)
    # A child of another user is another session, and nobody else's is taken.
    assert {row.session for row in memory.sessions.list()} == {"trip", "hotel"}


def test_finished_work_is_folded_and_its_conclusion_stays(trip: Session) -> None:
    trip.note("todo", "find a hotel", status="in_progress")
    before = trip.state.tokens
    decision = trip.conclude("Hotel 3, RX3111", since=2, task="find a hotel")
    assert decision.axis is WindowAxis.EVICT
    assert decision.compression is not None
    assert decision.compression.original > decision.compression.compressed
    assert decision.reading.tokens < before
    edit = trip.events()[-1]
    assert (edit.kind, edit.body["reason"]) == (EventKind.EDITED, EditReason.CONCLUSION.value)

    standing = trip.state.units
    assert [u.form for u in standing if u.turn == 1] == [StandingForm.FULL, StandingForm.FULL]
    assert "RX1111" in trip.rehydrate("turn:2").text
    checkpoint = trip.checkpoint()
    assert checkpoint.decisions == ("Hotel 3, RX3111",)
    assert checkpoint.subtasks == (("find a hotel", "done"),)
    assert checkpoint.progress == ()

    assert decision.edit is not None
    trip.undo(decision.edit)
    assert all(unit.form is StandingForm.FULL for unit in trip.state.units)
    with pytest.raises(InvalidInput, match="needs words"):
        trip.conclude("", since=1)


def test_a_piece_of_the_task_changes_its_status_in_its_place(memory: Memory, trip: Session) -> None:
    trip.note("todo", "pay")
    trip.note("todo", "fly", status="planned")
    fixed = trip.state.fixed_tokens
    trip.note("todo", "pay", status="done")
    assert trip.state.fixed_tokens == fixed
    assert trip.checkpoint().subtasks == (("pay", "done"), ("fly", "planned"))
    with refused(InvalidInput, "unknown_vocabulary"):
        trip.note("todo", "pay", status="nearly")
    assert memory.session("trip").state.notes == trip.state.notes


def test_a_task_is_taken_up_with_the_world_as_it_is(trip: Session) -> None:
    trip.note("issue", "card refused")
    start = trip.bootstrap({"model": lambda: "gpt-5"})
    assert "model was generic, now gpt-5\n- card refused" in start.text
    assert [entry.step for entry in start.entries if not entry.passed] == [
        BootstrapStep.LOAD if not trip.state.task else BootstrapStep.VERIFY
    ]
    assert trip.bootstrap().passed


def test_a_report_has_a_judge_the_full_turns_and_advice_after_ten_sessions(
    memory: Memory, trip: Session
) -> None:
    report = trip.report()
    assert report.judgement is None
    assert report.full_turns > 5
    assert report.advice == ()
    assert report.urgency is None
    with pytest.raises(InvalidInput, match="judge"):
        trip.report(judge="me")  # type: ignore[arg-type]
    trip.conclude("done", since=1)
    judged = trip.report(judge=VerbatimJudge()).judgement
    assert judged is not None
    assert judged.questions >= 5

    for number in range(9):
        memory.session(f"other {number}", model="generic", window=16_000)
    full = memory.session("full", model="generic", window=16_000, reserve_tokens=1_000)
    full.on_turn_start("word " * 1_000)
    assert any("reserve_tokens" in line for line in full.report().advice)


def test_a_handle_that_is_behind_reads_on_before_it_delegates(
    memory: Memory, trip: Session
) -> None:
    other = memory.session("trip")
    other.note("decision", "Rome")
    child = trip.delegate("hotel", "find a hotel in Rome")
    assert memory.session("hotel").state == child.state
    assert trip.checkpoint().subtasks == (("find a hotel in Rome", "in_progress"),)


@pytest.mark.parametrize("number", [0, -1])
def test_a_fork_begins_with_the_first_event_at_least(
    memory: Memory, trip: Session, number: int
) -> None:
    with refused(InvalidInput, "out_of_range"):
        trip.fork("empty", at=number)

    first = trip.fork("first", at=1)
    first.on_turn_start("Hello")
    assert first.state.task == "plan a trip"


def test_a_conclusion_and_its_fold_are_kept_as_a_whole(
    memory: Memory, trip: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, appends = SessionLog.append, 0

    def counted_append(log: SessionLog, *args: Any) -> None:
        nonlocal appends
        appends += 1
        append(log, *args)

    monkeypatch.setattr(SessionLog, "append", counted_append)
    decision = trip.conclude("Hotel Roma", since=2)
    assert (appends, decision.edit is not None) == (1, True)
    assert memory.session("trip").state == trip.state
