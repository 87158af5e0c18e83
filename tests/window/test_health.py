"""Budget by component, health, alerts and the checkpoint of a task."""

from dataclasses import replace

import pytest

from tenure.schema.window_policy import BudgetShares
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.checkpoint import task_checkpoint
from tenure.window.events import EventKind
from tenure.window.report import (
    EVICTION_TURNS,
    AlertLevel,
    HealthReading,
    WindowComponent,
    WindowTrend,
    component_uses,
    exhaustion_turns,
    health_reading,
    read_pressure,
    window_alerts,
    window_trend,
)

WELL = HealthReading(
    utilisation=400,
    evictions_per_turn=0,
    compression=1000,
    burn_rate=100,
    fidelity=1000,
    tool_bloat=50,
)


def test_components_warn_at_four_fifths_of_their_share() -> None:
    talk = Conversation(limit=10_000, texts=("", "", "rule " * 520, "[]"))
    talk.exchange(1, "word " * 50)
    uses = {use.component: use for use in component_uses(talk.state, BudgetShares())}
    assert sum(use.tokens for use in uses.values()) == talk.state.tokens
    assert 9_995 <= sum(use.share for use in uses.values()) <= 10_000
    assert uses[WindowComponent.SYSTEM_PROMPT].warns
    assert not uses[WindowComponent.MESSAGE_HISTORY].warns
    assert uses[WindowComponent.TOOL_DEFINITIONS].tokens > 0


def test_without_tools_their_component_is_empty() -> None:
    uses = {use.component: use for use in component_uses(Conversation().state, BudgetShares())}
    assert uses[WindowComponent.TOOL_DEFINITIONS].tokens == 0


def test_a_window_that_does_not_grow_is_never_exhausted() -> None:
    talk = Conversation(limit=10_000)
    reading = read_pressure(talk.state, talk.policy)
    assert exhaustion_turns(reading) is None
    assert exhaustion_turns(replace(reading, velocity=100, tokens=9_000)) == 10


def test_health_is_read_off_the_state() -> None:
    talk = Conversation(limit=10_000, texts=("", "", "", "[{}]"))
    for number in range(6):
        talk.exchange(number, "word " * 100)
    talk.user("now")
    before = health_reading(talk.state, read_pressure(talk.state, talk.policy))
    assert (before.compression, before.fidelity, before.evictions_per_turn) == (1000, 1000, 0)
    assert before.tool_bloat > 50
    talk.edit(talk.everything())
    after = health_reading(talk.state, read_pressure(talk.state, talk.policy))
    assert after.compression > 3_000
    assert after.evictions_per_turn > 1_000
    assert 0 < after.fidelity <= 1_000


def test_an_alert_waits_for_the_third_reading_in_a_row() -> None:
    full = replace(WELL, utilisation=950)
    assert window_alerts([full, full]) == ()
    assert window_alerts([full, WELL, full, full]) == ()
    (alert,) = window_alerts([full, full, full])
    assert (alert.metric, alert.level, alert.value) == ("utilisation", AlertLevel.CRITICAL, 950)


@pytest.mark.parametrize(
    ("metric", "mild", "grave"),
    [
        ("utilisation", 600, 900),
        ("evictions_per_turn", 2_000, 5_000),
        ("tool_bloat", 150, 300),
        ("fidelity", 849, 749),
    ],
)
def test_each_metric_has_its_bounds(metric: str, mild: int, grave: int) -> None:
    """Outside its healthy range a metric is told; from the source's alert on it is a warning."""
    within = mild + 1 if mild > grave else mild - 1
    levels: list[list[tuple[str, AlertLevel]]] = []
    for value in (within, mild, grave):
        readings = [replace(WELL, **{metric: value})] * 3
        levels.append([(alert.metric, alert.level) for alert in window_alerts(readings)])

    urgent = AlertLevel.CRITICAL if metric == "utilisation" else AlertLevel.WARNING
    assert levels == [[], [(metric, AlertLevel.INFO)], [(metric, urgent)]]


def test_edits_that_shorten_little_are_an_alert_and_no_edit_is_none() -> None:
    poor = replace(WELL, compression=1_900)
    (alert,) = window_alerts([poor] * 3)
    assert (alert.metric, alert.level) == ("compression", AlertLevel.WARNING)
    assert window_alerts([WELL] * 3) == ()
    assert window_alerts([replace(WELL, compression=2_000)] * 3) == ()


def test_evictions_are_counted_over_the_last_turns_alone() -> None:
    """A mean over a session's life: after 1,000 quiet turns no storm would ever move it."""
    calm = replace(Conversation().state, evictions=100, turn=1_000, in_turn=False)
    reading = read_pressure(calm, Conversation().policy)
    marks = tuple(range(0, 101, 5))
    assert len(marks) == EVICTION_TURNS + 1
    storm = replace(calm, eviction_marks=marks)
    assert health_reading(storm, reading).evictions_per_turn == 5_000
    assert health_reading(replace(storm, in_turn=True), reading).evictions_per_turn < 5_000
    over = replace(calm, eviction_marks=(100,) * (EVICTION_TURNS + 1))
    assert health_reading(over, reading).evictions_per_turn == 0
    assert health_reading(replace(calm, eviction_marks=(100,)), reading).evictions_per_turn > 0


def test_the_end_of_a_turn_marks_the_evictions_so_far() -> None:
    talk = Conversation(limit=10_000)
    for number in range(EVICTION_TURNS + 3):
        talk.exchange(number, "word " * 20)
        talk.put(EventKind.TURN_ENDED, {})
        if number == 5:
            talk.user("now")
            talk.edit(talk.everything())
    assert len(talk.state.eviction_marks) == EVICTION_TURNS + 1
    assert talk.state.eviction_marks[0] == 0 < talk.state.eviction_marks[-1]


def test_a_trend_needs_more_than_a_tenth() -> None:
    assert window_trend([]) == (WindowTrend.STABLE, ())
    assert window_trend([1_000, 1_050]) == (WindowTrend.STABLE, (50,))
    assert window_trend([1_000, 1_100]).direction is WindowTrend.STABLE
    assert window_trend([1_000, 1_101]).direction is WindowTrend.RISING
    assert window_trend([2_000, 1_000]).direction is WindowTrend.FALLING


def test_a_trend_has_the_last_ten_loads_and_their_growths() -> None:
    trend = window_trend([5_000, 5_000, *range(1_000, 2_000, 100)])
    assert trend == (WindowTrend.RISING, (100,) * 9)


def test_a_checkpoint_reads_cold() -> None:
    talk = Conversation(limit=9_000, texts=("help", "Rebook the flight", "", "", "ticket sent"))
    for category, text in (
        ("goal", "before Friday"),
        ("decision", "economy class"),
        ("issue", "card refused"),
        ("todo", "ask for a new card"),
        ("learning", "fees are not refunded"),
    ):
        talk.put(EventKind.NOTED, {"category": category}, (text,))
    for number in range(4):
        talk.exchange(number, "word " * 100)
    talk.user("now")
    talk.edit(talk.everything())
    talk.call("c9", "pay")

    checkpoint = task_checkpoint(talk.state)
    assert checkpoint.version == talk.state.seq + 1
    assert checkpoint.goal == "Rebook the flight before Friday"
    page = checkpoint.to_markdown()
    for line in ("- ticket sent", "- card refused", "- open call c9", "- tools used: pay"):
        assert line in page
    assert "originals window://" in page
    assert set(checkpoint.to_json()) > {"goal", "decisions", "learnings", "reasoning_omitted"}


def test_an_empty_checkpoint_says_that_no_goal_was_stated() -> None:
    page = task_checkpoint(Conversation().state).to_markdown()
    assert "(none stated)" in page
    assert "Decisions" not in page
    assert "tools used" not in page
