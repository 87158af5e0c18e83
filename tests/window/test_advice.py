"""Evict, compress or delegate; what an edit came to; and advice that waits."""

from dataclasses import replace

import pytest

from tenure.schema.window_policy import WindowPolicy, Zones
from tenure.schema.window_shares import BudgetShares
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.advice import (
    WindowAxis,
    axis_of,
    compression_result,
    tuning_advice,
    turn_work,
)
from tenure.window.budget import (
    WindowComponent,
    component_uses,
    full_turns,
    result_threshold,
    urgency_of,
)
from tenure.window.editing import concluding_edit, planned_edit
from tenure.window.events import EditReason
from tenure.window.health import AlertLevel
from tenure.window.notices import NoticeKind, notice_lines
from tenure.window.pressure import pressure
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
    (notice,) = notice_lines(talk.state, reading, None, (), WindowAxis.DELEGATE)
    assert notice[0] is NoticeKind.DELEGATION_ADVISED
    assert f"takes {turn_work(talk.state)} tokens" in notice[1]

    # The next turn begins with nothing done, however full the window is.
    talk.user("and now?")
    assert turn_work(talk.state) == 0
    assert axis_of(talk.state, ()) is WindowAxis.NONE


def test_an_edit_compresses_or_evicts() -> None:
    talk = filled()
    plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT)
    assert plan is not None
    forms = {change.form for change in plan.changes}
    axis = axis_of(talk.state, plan.changes)
    assert (axis is WindowAxis.COMPRESS) == bool(forms & {StandingForm.EXTRACT})

    evictions = [change for change in plan.changes if change.form is not StandingForm.EXTRACT]
    if evictions:
        assert axis_of(talk.state, evictions) is WindowAxis.EVICT


def test_what_an_edit_came_to_adds_up() -> None:
    talk = filled()
    before = talk.state
    plan = planned_edit(before, talk.policy, EditReason.COMPACT)
    assert plan is not None
    talk.edit(plan)

    result = compression_result(before, plan.changes)
    assert result is not None
    assert result.original - result.compressed == plan.savings
    assert result.saved_share == 1000 * plan.savings // result.original
    assert result.factor > 1000
    assert result.calls == 0
    assert result.strategy in {change.form for change in plan.changes}
    assert compression_result(before, ()) is None

    # A change that freed much counts for more than one that freed little.
    small, large = (replace(change, savings=10) for change in plan.changes[:2])
    large = replace(large, savings=990, fidelity=500)
    small = replace(small, fidelity=1000)
    weighed = compression_result(before, (small, large))
    assert weighed is not None
    assert weighed.fidelity == (1000 * 10 + 500 * 990) // 1000


def test_advice_waits_for_ten_sessions() -> None:
    talk = filled(limit=10_000, turns=30)
    uses = component_uses(talk.state, BudgetShares())
    assert tuning_advice(uses, talk.state, 9) == ()
    advice = tuning_advice(uses, talk.state, 10)
    assert any("result_cap" in line for line in advice)
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


def test_the_threshold_of_results_follows_what_is_left() -> None:
    cap = WindowPolicy().result_cap
    talk = Conversation(limit=10_000)
    assert result_threshold(talk.state, cap) == 2_500

    talk.user("word " * 7_000)
    left = talk.state.limit - talk.state.tokens
    assert result_threshold(talk.state, cap) == left // 2 < 2_500
    assert result_threshold(Conversation(limit=200_000).state, cap) == cap

    talk.model("word " * 5_000)
    assert result_threshold(talk.state, cap) == 500


def test_finished_work_is_folded_from_a_turn_on() -> None:
    talk = filled()
    plan = concluding_edit(talk.state, 5)
    assert plan is not None
    assert plan.reason is EditReason.CONCLUSION
    assert {change.reason for change in plan.changes} == {"concluded"}
    talk.edit(plan)

    by_form = [unit.form for unit in talk.state.units if unit.turn < 5]
    assert set(by_form) == {StandingForm.FULL}
    folds = [unit for unit in talk.state.units if unit.form is StandingForm.EXTRACT]
    assert folds
    assert folds[0].turn == 5
    assert "window://" in folds[0].text
    # The newest words of a user stay, and what is folded is not folded again.
    assert any(unit.is_user for unit in talk.state.units if unit.turn == talk.state.turn)
    assert concluding_edit(talk.state, 5) is None
