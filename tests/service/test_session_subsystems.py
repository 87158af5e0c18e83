"""A session that is run by parts of the caller's own."""

from dataclasses import dataclass, replace

import pytest

from tenure import InvalidInput, Memory, connect
from tenure.schema.window_policy import WindowPolicy
from tenure.tests.support.refusals import refused
from tenure.window.checkpoint import TaskCheckpoint, task_checkpoint
from tenure.window.events import EventKind
from tenure.window.report import (
    ComponentUse,
    HealthReading,
    NoticeKind,
    Pressure,
    WindowNotice,
    component_uses,
    health_reading,
    read_pressure,
)
from tenure.window.state import WindowState
from tenure.window.subsystems import Subsystems


@dataclass(frozen=True)
class Own:
    """Each method of four protocols, told apart from tenure's own by its answer."""

    name: str = "mine"
    version: str = "1"

    def read(self, state: WindowState, policy: WindowPolicy) -> Pressure:
        return replace(read_pressure(state, policy), velocity=77)

    def uses(self, state: WindowState, policy: WindowPolicy) -> tuple[ComponentUse, ...]:
        return component_uses(state, policy.budget)[:1]

    def checkpoint(self, state: WindowState) -> TaskCheckpoint:
        return replace(task_checkpoint(state), learnings=("from a part of my own",))

    def measure(self, state: WindowState, reading: Pressure) -> HealthReading:
        return replace(health_reading(state, reading), fidelity=reading.velocity)


def begun(memory: Memory, subsystems: Subsystems | None = None):
    return memory.session(
        "trip", model="generic", window=16_000, subsystems=subsystems, resume=True
    )


def test_every_part_is_asked_in_the_place_of_tenures(memory: Memory) -> None:
    part = Own()
    subsystems = Subsystems(pressure=part, budget=part, cross_window=part, health=part)
    session = begun(memory, subsystems)
    assert session.on_turn_start("a flight to Rome").reading.velocity == 77

    report = session.report()
    assert len(report.components) == 1
    assert report.health.fidelity == 77
    assert session.checkpoint().learnings == ("from a part of my own",)
    session.on_turn_end("booked", milestone="booked")
    assert "part of my own" in session.events()[-1].texts[0]

    fork = session.fork("trip-2")
    assert fork.report().health.fidelity == 77


def test_the_log_and_the_envelope_name_the_parts(memory: Memory) -> None:
    session = begun(memory, Subsystems(health=Own()))
    opened = session.events()[0].body
    assert opened["parts"] == {"health": ["mine", "1"]}

    session.on_turn_start("a flight to Rome")
    own = session.compile().envelope.manifest
    usual = begun(memory)
    assert opened["policy"] in own.request
    assert usual.compile().envelope.manifest.envelope_id != own.envelope_id

    # Other parts than before take effect with the next edit, and the log says so.
    usual.on_turn_end("It is booked for Monday, reservation RX4711. " * 40)
    usual.on_turn_start("thanks")
    usual.compact()
    kinds = [event.kind for event in usual.events()]
    assert (EventKind.POLICY_CHANGED in kinds) == (EventKind.EDITED in kinds)


def test_what_is_no_part_is_refused() -> None:
    with connect(":memory:") as memory, refused(InvalidInput, "bad_subsystem"):
        begun(memory, Subsystems(pressure=object()))  # type: ignore[arg-type]


# ---- Whoever listens to a session hears of each thing once, after it is durable.


def words(size: int, turn: int = 0) -> str:
    return " ".join(f"detail{turn}x{number}" for number in range(size))


def talk(memory: Memory, notices: list[WindowNotice], sizes: list[int]) -> None:
    session = memory.session("trip", window=12_000)
    session.listen(notices.append)
    for turn, size in enumerate(sizes):
        session.on_turn_start(words(size, turn))
        session.on_turn_end("done")


def test_a_listener_hears_of_zones_spikes_and_edits_once_each(memory: Memory) -> None:
    notices: list[WindowNotice] = []
    talk(memory, notices, [20, 20, 20, 400, 20, 20, 700, 700, 700])
    kinds = [notice.kind for notice in notices]
    assert kinds.count(NoticeKind.SPIKE) == 2
    assert NoticeKind.EDITED in kinds
    zones = [notice for notice in notices if notice.kind is NoticeKind.ZONE_CHANGED]
    assert zones[0].text == "zone changed from green to yellow"
    assert zones[0].zone.value == "yellow"
    assert {notice.session for notice in notices} == {"session=trip"}
    assert [notice.seq for notice in notices] == sorted(notice.seq for notice in notices)


def test_an_alert_is_told_when_it_begins(memory: Memory) -> None:
    notices: list[WindowNotice] = []
    session = memory.session("full", window=12_000, tools=[{"name": f"t{n}"} for n in range(320)])
    session.listen(notices.append)
    for _ in range(6):
        session.on_turn_start("go on")
        decision = session.on_turn_end("done")
    assert decision.alerts
    alerts = [notice for notice in notices if notice.kind is NoticeKind.ALERT]
    assert len(alerts) == len(decision.alerts)
    assert decision.alerts[0].metric in alerts[0].text


def test_what_a_listener_hears_is_durable_and_what_it_raises_loses_nothing(memory: Memory) -> None:
    session = memory.session("trip", window=12_000)

    def upset(notice: WindowNotice) -> None:
        assert memory.session("trip").state.seq == notice.seq
        raise OSError("the pager is down")

    session.listen(upset)
    with pytest.raises(OSError, match="pager"):
        session.on_turn_start(words(1_400))
    assert session.state.in_turn
    assert memory.session("trip").state == session.state
    session.listen(None)
    session.on_turn_end("done")


def test_forks_and_children_are_heard_by_their_own_names(memory: Memory) -> None:
    notices: list[WindowNotice] = []
    session = memory.session("trip", window=12_000)
    session.listen(notices.append)
    for heir in (session.fork("other"), session.delegate("hotel", "find one")):
        heir.on_turn_start(words(1_400))
    assert {notice.session for notice in notices} == {"session=other", "session=hotel"}


def test_what_cannot_be_called_is_no_listener(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="listener"):
        memory.session("trip", window=12_000).listen("pager")  # type: ignore[arg-type]
