"""A session that is run by parts of the caller's own."""

from dataclasses import dataclass, replace

import pytest

from tenure import InvalidInput, Memory, connect
from tenure.schema.window_policy import WindowPolicy
from tenure.window.checkpoint import TaskCheckpoint, task_checkpoint
from tenure.window.events import EventKind
from tenure.window.report import (
    ComponentUse,
    HealthReading,
    Pressure,
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
    with connect(":memory:") as memory, pytest.raises(InvalidInput) as refusal:
        begun(memory, Subsystems(pressure=object()))  # type: ignore[arg-type]
    assert refusal.value.code == "bad_subsystem"
