"""Budget by component, health, alerts and the checkpoint of a task."""

from __future__ import annotations

from dataclasses import replace

from tenure.schema.window_shares import BudgetShares
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.budget import WindowComponent, component_uses, exhaustion_turns
from tenure.window.checkpoint import task_checkpoint
from tenure.window.editing import everything_that_can_go
from tenure.window.events import EventKind
from tenure.window.health import (
    AlertLevel,
    HealthReading,
    WindowTrend,
    health_reading,
    window_alerts,
    window_trend,
)
from tenure.window.pressure import read_pressure

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
    talk.edit(everything_that_can_go(talk.state))
    after = health_reading(talk.state, read_pressure(talk.state, talk.policy))
    assert after.compression > 5_000
    assert after.evictions_per_turn > 1_000
    assert after.fidelity < 1_000


def test_an_alert_waits_for_the_third_reading_in_a_row() -> None:
    full = replace(WELL, utilisation=950)
    assert window_alerts([full, full]) == ()
    assert window_alerts([full, WELL, full, full]) == ()
    (alert,) = window_alerts([full, full, full])
    assert (alert.metric, alert.level, alert.value) == ("utilisation", AlertLevel.CRITICAL, 950)


def test_lower_bounds_are_watched_too() -> None:
    poor = replace(WELL, fidelity=500, tool_bloat=300, evictions_per_turn=3_000, utilisation=700)
    levels = {alert.metric: alert.level for alert in window_alerts([poor] * 3)}
    assert levels == {
        "utilisation": AlertLevel.INFO,
        "evictions_per_turn": AlertLevel.WARNING,
        "tool_bloat": AlertLevel.WARNING,
        "fidelity": AlertLevel.WARNING,
    }


def test_a_trend_needs_more_than_a_tenth() -> None:
    assert window_trend([]) is WindowTrend.STABLE
    assert window_trend([1_000, 1_050]) is WindowTrend.STABLE
    assert window_trend([1_000, 2_000]) is WindowTrend.RISING
    assert window_trend([2_000, 1_000]) is WindowTrend.FALLING


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
    talk.edit(everything_that_can_go(talk.state))
    talk.call("c9", "pay")

    checkpoint = task_checkpoint(talk.state)
    assert checkpoint.version == talk.state.seq + 1
    assert checkpoint.goal == "Rebook the flight before Friday"
    page = checkpoint.to_markdown()
    for line in ("- ticket sent", "- card refused", "- open call c9", "- tools used: pay"):
        assert line in page
    assert "Originals: window://" in page
    assert set(checkpoint.to_json()) > {"goal", "decisions", "learnings", "reasoning_omitted"}


def test_an_empty_checkpoint_says_that_no_goal_was_stated() -> None:
    page = task_checkpoint(Conversation().state).to_markdown()
    assert "(none stated)" in page
    assert "Decisions" not in page
    assert "tools used" not in page
