"""Six parts may be replaced: each keeps its protocol, is called, and is named in the identity."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tenure import InvalidInput
from tenure.schema.window_policy import BudgetShares, WindowPolicy
from tenure.tests.support.refusals import refused
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.checkpoint import TaskCheckpoint, task_checkpoint
from tenure.window.editing import due_reason, planned_edit
from tenure.window.events import EditReason
from tenure.window.ledger import EditPlan
from tenure.window.report import (
    ComponentUse,
    HealthReading,
    Pressure,
    component_uses,
    health_reading,
    pressure,
    read_pressure,
)
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
from tenure.window.units import StandingForm, WindowItem

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
        return {unit.number: 1_000 - 10 * unit.number for unit in state.units}


class FirstWord(Part):
    """Of an old result one word is left."""

    def short(self, item: WindowItem, most: int, count: Callable[[str], int]) -> str:
        return item.text.split()[0]


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
    "compression": FirstWord(),
    "cross_window": GoalAlone(),
    "health": Faithless(),
}


def full() -> Conversation:
    """A talk that an edit is due in."""
    talk = Conversation(20_000)
    while read_pressure(talk.state, talk.policy).utilisation < 860:
        turn = talk.state.turn
        talk.user(
            f"Please look at ticket TK-{turn:04d} of customer C{turn:05d}. " + "It waits. " * 30
        )
        talk.call(f"c{turn}", id=turn)
        talk.result(f"c{turn}", f"ROW-{turn:05d} is open\n" * 90)
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
    item = next(unit.results[0] for unit in full().state.units if unit.results)
    count = full().state.count
    assert count(part.short(item, 40, count)) <= count(item.text)


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
    with refused(InvalidInput, "bad_subsystem", match=role):
        Subsystems(**{role: Part()})

    unnamed = type(REPLACEMENTS[role])(version="")
    with pytest.raises(InvalidInput, match="a name and a version"):
        Subsystems(**{role: unnamed})


def planned(state: WindowState, subsystems: Subsystems = BUILT_IN) -> EditPlan:
    goal = state.tokens * 3 // 4
    plan = planned_edit(state, POLICY, EditReason.COMPACT, goal, subsystems=subsystems)
    assert plan is not None
    return plan


def test_a_calm_reading_makes_no_edit() -> None:
    state = full().state
    assert due_reason(state, POLICY, read_pressure(state, POLICY)) is not None
    assert due_reason(state, POLICY, Calm().read(state, POLICY)) is None


def test_the_lowest_scores_of_ones_own_leave_first() -> None:
    talk = Conversation()
    for number in range(20):
        talk.user(f"question {number} " + "well then " * 60)
    state = talk.state
    leaving = [c.unit for c in planned(state).changes if c.form is StandingForm.LEDGER]
    own = planned(state, Subsystems(eviction=NewestFirst()))
    newest = [c.unit for c in own.changes if c.form is StandingForm.LEDGER]
    assert min(newest) > max(leaving)
    assert all(1 <= change.keep <= 1000 for change in own.changes)


def test_a_short_form_of_ones_own_is_what_a_request_shows() -> None:
    talk = full()
    talk.edit(planned(talk.state, Subsystems(compression=FirstWord())))
    short = [unit for unit in talk.state.units if unit.form is StandingForm.SHORT]
    assert short
    assert all(len(unit.results[0].text.split()) == 1 for unit in short)


def test_the_share_of_a_profile_is_the_budget_of_tenure() -> None:
    state = full().state
    assert BUILT_IN.budget.uses(state, POLICY) == component_uses(state, BudgetShares())
