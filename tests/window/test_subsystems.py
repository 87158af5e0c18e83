"""Six parts may be replaced: each keeps its protocol, is called, and is named in the identity."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tenure import InvalidInput
from tenure.schema.window_policy import WindowPolicy
from tenure.schema.window_shares import BudgetShares
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.budget import ComponentUse, component_uses
from tenure.window.changes import Occurrences, UnitChange, departure
from tenure.window.checkpoint import TaskCheckpoint, task_checkpoint
from tenure.window.editing import EditPlan, due_edit, planned_edit
from tenure.window.events import EditReason
from tenure.window.health import HealthReading, health_reading
from tenure.window.pressure import Pressure, pressure, read_pressure
from tenure.window.state import WindowState
from tenure.window.subsystems import (
    BUILT_IN,
    BudgetSubsystem,
    CompressionSubsystem,
    CrossWindowSubsystem,
    EvictionSubsystem,
    HealthSubsystem,
    PressureSubsystem,
    Subsystems,
)
from tenure.window.units import StandingForm, WindowUnit

POLICY = WindowPolicy()


@dataclass(frozen=True)
class Part:
    """What all replacements have."""

    name: str = "mine"
    version: str = "3"


class Calm(Part):
    """A window that is never full."""

    def read(self, state: WindowState, policy: WindowPolicy) -> Pressure:
        return pressure(0, state.limit, (), 0, policy.zones_of(state.window))


class OneShare(Part):
    """Only the first component."""

    def uses(self, state: WindowState, policy: WindowPolicy) -> tuple[ComponentUse, ...]:
        return component_uses(state, policy.budget)[:1]


class NewestFirst(Part):
    """The newest units leave before all others, by scores beyond the range."""

    def scores(
        self, state: WindowState, policy: WindowPolicy, focus: str, stale: Container[int]
    ) -> Mapping[int, int]:
        return {unit.number: 5_000 - 100 * unit.number for unit in state.units}


class Departures(Part):
    """Whatever is shortened leaves as a whole."""

    def forms(
        self,
        state: WindowState,
        unit: WindowUnit,
        keep: int,
        reason: str,
        recurrences: Occurrences,
    ) -> Iterator[UnitChange]:
        yield departure(unit, keep, reason, 4)


class Elsewhere(Departures):
    """It answers for the unit behind the one that it is asked about."""

    def forms(self, *arguments: Any) -> Iterator[UnitChange]:
        for change in super().forms(*arguments):
            yield replace(change, unit=change.unit + 1)


class GoalAlone(Part):
    """Nothing but the goal goes on."""

    def checkpoint(self, state: WindowState) -> TaskCheckpoint:
        return replace(task_checkpoint(state), goal="my own goal")


class Faithless(Part):
    """No fact ever stands."""

    def measure(self, state: WindowState, reading: Pressure) -> HealthReading:
        return replace(health_reading(state, reading), fidelity=0)


REPLACEMENTS: dict[str, Any] = {
    "pressure": Calm(),
    "budget": OneShare(),
    "eviction": NewestFirst(),
    "compression": Departures(),
    "cross_window": GoalAlone(),
    "health": Faithless(),
}


def full() -> Conversation:
    """A talk that an edit is due in."""
    talk = Conversation()
    while read_pressure(talk.state, talk.policy).utilisation < 700:
        turn = talk.state.turn
        talk.user(
            f"Please look at ticket TK-{turn:04d} of customer C{turn:05d}. " + "It waits. " * 30
        )
        talk.model(f"Ticket TK-{turn:04d} is open since day {turn}. " + "Noted so far. " * 30)
    return talk


def check_pressure(part: PressureSubsystem) -> None:
    reading = part.read(full().state, POLICY)
    assert reading.limit > 0
    assert reading.status.value


def check_budget(part: BudgetSubsystem) -> None:
    uses = part.uses(full().state, POLICY)
    assert uses
    assert all(use.tokens >= 0 for use in uses)


def check_eviction(part: EvictionSubsystem) -> None:
    state = full().state
    scores = part.scores(state, POLICY, "", ())
    assert scores.keys() == {unit.number for unit in state.units}


def check_compression(part: CompressionSubsystem) -> None:
    state = full().state
    unit = state.units[0]
    changes = list(part.forms(state, unit, 500, "least_loss", Occurrences({}, {})))
    assert changes
    assert {change.unit for change in changes} == {unit.number}
    assert all(change.form is not StandingForm.FULL for change in changes)


def check_cross_window(part: CrossWindowSubsystem) -> None:
    checkpoint = part.checkpoint(full().state)
    assert checkpoint.to_json()["goal"] == checkpoint.goal
    assert checkpoint.goal in checkpoint.to_markdown()


def check_health(part: HealthSubsystem) -> None:
    state = full().state
    reading = part.measure(state, read_pressure(state, POLICY))
    assert 0 <= reading.fidelity <= 1000


@pytest.mark.parametrize("own", [True, False], ids=["tenure", "mine"])
@pytest.mark.parametrize(
    ("role", "check"),
    [
        ("pressure", check_pressure),
        ("budget", check_budget),
        ("eviction", check_eviction),
        ("compression", check_compression),
        ("cross_window", check_cross_window),
        ("health", check_health),
    ],
)
def test_every_part_conforms_to_its_protocol(role: str, check: Any, own: bool) -> None:
    check(getattr(BUILT_IN, role) if own else REPLACEMENTS[role])


def test_a_part_of_ones_own_is_named_in_the_identity() -> None:
    identities = {
        Subsystems(**{role: part}).identity(POLICY) for role, part in REPLACEMENTS.items()
    }
    assert len(identities) == 6
    assert BUILT_IN.identity(POLICY) == POLICY.digest
    assert POLICY.digest not in identities

    assert Subsystems(health=Faithless()).replacements == {"health": ["mine", "3"]}
    newer = Subsystems(health=Faithless(version="4"))
    assert newer.identity(POLICY) not in identities


@pytest.mark.parametrize("role", REPLACEMENTS)
def test_a_part_without_its_protocol_is_refused(role: str) -> None:
    with pytest.raises(InvalidInput, match=role) as refusal:
        Subsystems(**{role: Part()})
    assert refusal.value.code == "bad_subsystem"

    unnamed = type(REPLACEMENTS[role])(version="")
    with pytest.raises(InvalidInput, match="a name and a version"):
        Subsystems(**{role: unnamed})


def numbers(plan: EditPlan | None) -> list[int]:
    assert plan is not None
    return [change.unit for change in plan.changes]


def test_a_calm_reading_makes_no_edit() -> None:
    talk = full()
    assert due_edit(talk.state, POLICY) is not None
    assert due_edit(talk.state, POLICY, Subsystems(pressure=Calm())) is None


def test_the_lowest_scores_of_ones_own_leave_first() -> None:
    state = full().state
    usual = planned_edit(state, POLICY, EditReason.COMPACT)
    newest = planned_edit(
        state, POLICY, EditReason.COMPACT, subsystems=Subsystems(eviction=NewestFirst())
    )
    assert min(numbers(newest)) > min(numbers(usual))
    assert newest is not None
    assert all(1 <= change.keep <= 1000 for change in newest.changes)


def test_forms_of_ones_own_are_what_stands() -> None:
    state = full().state
    plan = planned_edit(
        state, POLICY, EditReason.COMPACT, subsystems=Subsystems(compression=Departures())
    )
    assert plan is not None
    assert {change.form for change in plan.changes} == {StandingForm.TOMBSTONE}

    with pytest.raises(InvalidInput, match="answered for unit"):
        planned_edit(
            state, POLICY, EditReason.COMPACT, subsystems=Subsystems(compression=Elsewhere())
        )


def test_the_share_of_a_profile_is_the_budget_of_tenure() -> None:
    state = full().state
    assert BUILT_IN.budget.uses(state, POLICY) == component_uses(state, BudgetShares())
