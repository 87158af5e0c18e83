"""Evict, compress or delegate; what an edit came to; and advice that waits."""

import pytest

from tenure.schema.window_policy import BudgetShares, Zones
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.editing import EditWish
from tenure.window.report import (
    AlertLevel,
    NoticeKind,
    WindowAxis,
    WindowComponent,
    axis_of,
    component_uses,
    compression_result,
    full_turns,
    notice_lines,
    pressure,
    tuning_advice,
    turn_work,
    urgency_of,
)
from tenure.window.units import StandingForm, tokens_in


def filled(limit: int = 10_000, turns: int = 20) -> Conversation:
    talk = Conversation(limit=limit)
    for number in range(turns):
        talk.exchange(number, f"reservation RES{number:04d} is confirmed. " * 50)
    return talk


def test_the_work_of_one_turn_is_what_is_delegated() -> None:
    talk = Conversation(limit=400_000)
    talk.exchange(1, "word " * 60_000)
    assert axis_of(talk.state, ()) is WindowAxis.DELEGATE

    # A listener is told once by how much.
    reading = pressure(70_000, 400_000, (), 0, Zones())
    (notice,) = notice_lines(None, talk.state, None, reading, ())
    assert notice[0] is NoticeKind.DELEGATION_ADVISED
    assert f"takes {turn_work(talk.state)} tokens" in notice[1]

    # The next turn begins with nothing done, however full the window is.
    talk.user("and now?")
    assert turn_work(talk.state) == 0
    assert axis_of(talk.state, ()) is WindowAxis.NONE


def test_advice_waits_for_ten_sessions() -> None:
    talk = filled(limit=10_000, turns=30)
    uses = component_uses(talk.state, BudgetShares())
    assert tuning_advice(uses, talk.state, 9) == ()
    advice = tuning_advice(uses, talk.state, 10)
    assert any("result_tokens" in line for line in advice)
    assert "reserve_tokens" in advice[0]  # this window keeps nothing for the answer

    roomy = Conversation(limit=10_000, window=20_000).state
    assert tuning_advice(component_uses(roomy, BudgetShares()), roomy, 10) == ()


def test_components_burn_what_the_last_turns_brought() -> None:
    talk = Conversation(limit=100_000)
    talk.exchange(1, "word " * 5_000)
    for _ in range(6):
        talk.user("and now?")
        talk.model("word " * 100)
    burns = {use.component: use.burn for use in component_uses(talk.state, BudgetShares())}
    assert burns[WindowComponent.TOOL_RESULTS] == 0
    assert 100 <= burns[WindowComponent.MESSAGE_HISTORY] <= 200
    assert burns[WindowComponent.SYSTEM_PROMPT] == 0

    # One result of the last five turns is a fifth of it a turn.
    talk.exchange(9, "word " * 500)
    uses = {use.component: use for use in component_uses(talk.state, BudgetShares())}
    burn, brought = uses[WindowComponent.TOOL_RESULTS].burn, talk.state.units[-2].results
    assert burn == tokens_in(brought) // 5


@pytest.mark.parametrize(
    ("turns", "level"),
    [
        (None, None),
        (0, AlertLevel.CRITICAL),
        (2, AlertLevel.CRITICAL),
        (3, AlertLevel.WARNING),
        (9, AlertLevel.WARNING),
        (10, None),
    ],
)
def test_urgency_rises_below_ten_and_three_turns(turns: int | None, level: object) -> None:
    assert urgency_of(turns) is level


def test_a_budget_of_81000_holds_135_turns_of_600() -> None:
    assert full_turns(81_000, 600) == 135
    assert full_turns(599, 600) == 0
    assert full_turns(10, 0) == 10


def test_what_an_edit_came_to_adds_up() -> None:
    talk = filled()
    before = talk.state
    plan = talk.plan(before.tokens // 2)
    assert plan is not None
    forms = {change.form for change in plan.changes}
    assert axis_of(before, plan.changes) is (
        WindowAxis.COMPRESS if StandingForm.SHORT in forms else WindowAxis.EVICT
    )
    result = compression_result(before, plan.changes)
    assert result is not None
    changed = {change.unit for change in plan.changes}
    assert result.original == tokens_in(u for u in before.units if u.number in changed)
    assert result.original - result.compressed == plan.savings
    assert result.original > result.compressed
    assert result.fidelity > 500
    assert compression_result(before, ()) is None


def test_finished_work_leaves_from_a_turn_on() -> None:
    talk = filled(100_000, 8)
    talk.edit(talk.plan(0, EditWish(since=3)))
    assert all(unit.turn < 3 for unit in talk.state.units[:-4])
    assert "RES0005" in talk.state.text
