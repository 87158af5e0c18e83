"""A judge is asked about both contexts, with questions that the log chose."""

import pytest

from tenure.schema.window_policy import WindowPolicy
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.report import (
    QUESTIONS,
    AlertLevel,
    JudgedFidelity,
    VerbatimJudge,
    fidelity_questions,
    judged_fidelity,
)


def talk_of(turns: int) -> Conversation:
    talk = Conversation(limit=100_000, policy=WindowPolicy(ledger_share=0))
    for number in range(turns):
        talk.exchange(number, f"reservation RES{number:04d} is confirmed")
    return talk


def test_a_whole_window_answers_everything_and_an_empty_one_little() -> None:
    talk = talk_of(30)
    history = talk.state
    assert judged_fidelity(history, talk.state, VerbatimJudge()).share == 1000

    talk.edit(talk.everything())
    judged = judged_fidelity(history, talk.state, VerbatimJudge())
    assert judged.questions >= 25
    assert judged.agreements <= 3
    assert judged.alert is AlertLevel.WARNING


def test_questions_are_spread_over_the_whole_conversation() -> None:
    questions = fidelity_questions(talk_of(100).state)
    assert 30 <= len(questions) <= QUESTIONS
    numbers = [int(question[-5:-1]) for question in questions]
    assert numbers[0] < 5
    assert numbers[-1] > 90


class Forgetful:
    """A judge that answers nothing."""

    def answer(self, question: str, context: str) -> str:
        return ""


def test_what_the_conversation_never_answered_is_not_held_against_the_window() -> None:
    state = talk_of(3).state
    assert judged_fidelity(state, state, Forgetful()) == JudgedFidelity(0, 0)


@pytest.mark.parametrize(
    ("kept", "alert"),
    [(74, AlertLevel.WARNING), (75, AlertLevel.INFO), (84, AlertLevel.INFO), (85, None)],
)
def test_alerts_by_share(kept: int, alert: object) -> None:
    assert JudgedFidelity(100, kept).alert is alert
    assert JudgedFidelity(0, 0).alert is None
