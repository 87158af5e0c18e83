"""When a window is edited, how deep, and what a roll-over is."""

from dataclasses import replace

import pytest

from tenure.schema.window_policy import WindowPolicy, Zones
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.editing import due_reason, target_tokens
from tenure.window.events import EditReason
from tenure.window.report import read_pressure
from tenure.window.summaries import UnitSummary, litmus, summary_fault, summary_spans


def filled_to(permille: int, *, user_last: bool = True) -> Conversation:
    talk = Conversation(20_000)
    number = 0
    while read_pressure(talk.state, talk.policy).utilisation < permille:
        talk.user(f"question {number} " + "well then " * 20)
        talk.model("answer " + "well then " * 20)
        number += 1
    if user_last:
        talk.user("and now?")
    return talk


@pytest.mark.parametrize(
    ("permille", "reason"),
    [(600, None), (800, None), (851, EditReason.PRESSURE), (955, EditReason.ROLLOVER)],
)
def test_an_edit_begins_near_the_limit_and_a_roll_over_at_its_end(
    permille: int, reason: EditReason | None
) -> None:
    talk = filled_to(permille)
    assert due_reason(talk.state, talk.policy, read_pressure(talk.state, talk.policy)) is reason


def test_between_turns_an_edit_comes_earlier_where_the_next_turn_may_not_fit() -> None:
    talk = Conversation(20_000)
    for number in range(3):
        talk.user(f"question {number} " + "well then " * 2_760)
        talk.model("answer")
    assert due_reason(talk.state, talk.policy, read_pressure(talk.state, talk.policy)) is None
    talk.user("and now?")
    reading = read_pressure(talk.state, talk.policy)
    assert 720 <= reading.utilisation < 850
    assert due_reason(talk.state, talk.policy, reading) is EditReason.PRESSURE


def test_an_edit_goes_down_to_the_target_at_once() -> None:
    talk = filled_to(860)
    assert talk.tidy() is not None
    assert talk.state.tokens <= target_tokens(talk.state, talk.policy) + 20_000 // 10
    assert talk.tidy() is None


def test_zones_of_ones_own_say_when_an_edit_begins_and_ends() -> None:
    talk = filled_to(500)
    policy = WindowPolicy(zones=Zones(edit=450, target=200))
    reading = read_pressure(talk.state, policy)
    assert due_reason(talk.state, policy, reading) is EditReason.PRESSURE
    assert target_tokens(talk.state, policy) == 4_000


# --- summaries


def span_of(talk: Conversation) -> UnitSummary:
    units = talk.state.units
    return UnitSummary(
        first=units[0].number, last=units[-1].number, turn=1, seq=99, text="", tokens=0
    )


def test_neighbours_that_are_long_together_are_asked_for_once() -> None:
    talk = Conversation(100_000)
    for number in range(6):
        talk.exchange(number, "well then " * 90)
    spans = summary_spans(talk.state.units, set())
    assert len(spans) > 2
    assert all(sum(unit.tokens for unit in span) >= 400 for span in spans)
    asked = {unit.number for span in spans for unit in span}
    assert summary_spans(talk.state.units, asked) == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("```code```", "not_plain"),
        ("Open: flight HAT0421. " + "word " * 900, "too_long"),
        ("Open: a flight. Decided: never refund.", "unfaithful"),
        (
            "Open: Book flight HAT0421 on 2024-05-06 for Rivera, It has 3 seats to Rome, not more.",
            "loses_decision",
        ),
        (
            "Open: Book flight HAT0421 on 2024-05-06, It has 3 seats to Rome. Decided: Rivera "
            "must never refund the fare, not at all.",
            "",
        ),
    ],
)
def test_a_summary_is_asked_for_facts_names_and_decisions(text: str, fault: str) -> None:
    talk = Conversation(100_000)
    talk.user("Book flight HAT0421 on 2024-05-06 to Rome. " + "well then " * 60)
    talk.model("Rivera must never refund the fare. It has 3 seats. " + "well then " * 60)
    summary = replace(span_of(talk), text=text)
    assert summary_fault(talk.state.units, summary, talk.state.count) == fault
    if not fault:
        assert litmus(talk.state.units, text).decisions == 1000
