"""What a person takes back is gone: that claim, and no other."""

from datetime import timedelta

import pytest

from tenure.service.extraction.engine import RuleExtractor
from tenure.tests.service.daily_talk import START, Talk
from tenure.tests.source_tree import data_table


@pytest.mark.parametrize(
    ("sentence", "claim"),
    data_table("withdrawals.toml")["taken_back"],
)
def test_a_sentence_takes_back_what_it_names(sentence: str, claim: list[str]) -> None:
    (taken,) = RuleExtractor().extract(sentence, at=START)

    assert [taken.op, taken.slot, taken.value] == claim
    assert taken.if_known


@pytest.mark.parametrize(
    "sentence",
    data_table("withdrawals.toml")["nothing"],
)
def test_what_is_reported_asked_or_played_takes_nothing_back(sentence: str) -> None:
    assert RuleExtractor().extract(sentence, at=START) == ()


@pytest.mark.parametrize(
    "sentence",
    ["Don't forget that I'm allergic to walnuts.", "Vergiss nicht, dass ich in Ulm wohne."],
)
def test_a_reminder_states(sentence: str) -> None:
    (claim,) = RuleExtractor().extract(sentence, at=START)
    assert claim.op == "assert"


@pytest.mark.parametrize(
    "sentence",
    ["I'm not allergic to Bees after all.", "Ich bin doch nicht gegen Bees allergisch."],
)
def test_what_is_denied_after_all_never_was_and_is_not(sentence: str) -> None:
    claims = RuleExtractor().extract(sentence, at=START)
    assert [(claim.op, claim.value) for claim in claims] == [("retract", "Bees"), ("deny", "Bees")]


def test_only_that_claim_goes_and_the_history_keeps_it(talk: Talk) -> None:
    talk.say("I'm allergic to walnuts and bees.")
    known = talk.now
    talk.say("Forget that I'm allergic to walnuts, that was wrong.")

    assert talk.values("allergy") == ["bees"]
    assert talk.values("allergy", valid=START + timedelta(hours=1)) == ["bees"]
    assert sorted(talk.values("allergy", tx=known - timedelta(hours=1))) == ["bees", "walnuts"]


def test_what_is_taken_back_is_no_fact(talk: Talk) -> None:
    talk.say("I'm allergic to walnuts.", "I'm allergic to bees.", "I live in Ulm.")
    talk.say("Forget that I'm allergic to walnuts, that was wrong.", "I never lived in Ulm.")

    question = "Which allergies do I have, and where do I live?"
    context = talk.context(question)
    facts = talk.facts(question)
    assert "bees" in facts
    assert "walnuts" not in facts
    assert "Ulm" not in facts
    # No rule removes what was said, and what takes it back is shown with it.
    assert "Forget that I'm allergic to walnuts" in context


@pytest.mark.parametrize(
    "word",
    [
        "Forget that I'm allergic to walnuts, that was wrong.",
        "I'm no longer allergic to walnuts.",
        "Vergiss, was ich über walnuts gesagt habe.",
    ],
)
def test_of_a_turn_that_said_two_things_the_one_taken_back_is_no_fact(
    talk: Talk, word: str
) -> None:
    turn = "I live in Bonn and I'm allergic to walnuts."
    talk.say(turn)
    assert turn in talk.context("Which allergies do I have?")
    talk.say(word)

    question = "Where do I live, and which allergies do I have?"
    assert word in talk.context(question)
    facts = talk.facts(question)
    assert "walnuts" not in facts
    assert "home = Bonn" in facts


def test_a_turn_stands_when_one_of_its_claims_only_gave_way(talk: Talk) -> None:
    talk.say("I live in Bonn and I'm allergic to walnuts.", "I moved to Ulm.")
    assert "I'm allergic to walnuts." in talk.context("Which allergies do I have?")


@pytest.mark.parametrize(
    ("turns", "question", "answer"),
    [
        (["I drive a Volvo.", "I sold the Volvo."], "Which car do I drive?", "sold"),
        (["My partner is Clara.", "Clara and I broke up."], "Who is my partner?", "broke up"),
        (["I work at Acme.", "I no longer work at Acme."], "Where do I work?", "no longer"),
    ],
)
def test_who_asks_for_what_is_over_is_told_so(
    talk: Talk, turns: list[str], question: str, answer: str
) -> None:
    talk.say(*turns)
    assert answer in talk.context(question)
    ended = turns[0].rstrip(".").rpartition(" ")[2]
    assert ended not in talk.facts(question)


def test_what_is_over_is_not_told_beside_what_holds(talk: Talk) -> None:
    talk.say("I work at Acme.", "I no longer work at Acme.", "I work at Globex.")
    facts = talk.facts("Where do I work?")
    assert "Globex" in facts
    assert "Acme" not in facts


def test_what_was_over_may_never_have_been(talk: Talk) -> None:
    talk.say("I work at Acme.", "I no longer work at Acme.", "I never worked at Acme.")
    assert talk.values("employer", valid=START + timedelta(hours=1)) == []


def test_nobody_takes_back_for_somebody_else(talk: Talk) -> None:
    talk.say("I'm allergic to walnuts.")
    talk.say("Forget that I'm allergic to walnuts.", "Scratch that.", user="bob")
    assert talk.values("allergy") == ["walnuts"]


def test_what_was_never_said_is_told_and_changes_nothing(talk: Talk) -> None:
    talk.say("I'm allergic to bees.")
    (receipt,) = talk.say("Forget that I'm allergic to walnuts.")

    assert "nothing known to take back by" in receipt.detail
    assert talk.values("allergy") == ["bees"]


def test_what_was_said_last_is_taken_back_by_its_last_sentence(talk: Talk) -> None:
    talk.say("I live in Ulm. I'm allergic to walnuts.")
    talk.say("Noted!", role="assistant")
    talk.say("Scratch that.")

    assert talk.values("allergy") == []
    assert talk.values("home") == ["Ulm"]


@pytest.mark.parametrize("turn", ["Nice weather.", "I like jazz. Book me a table for seven."])
def test_a_turn_between_leaves_what_was_said_before(talk: Talk, turn: str) -> None:
    talk.say("I'm allergic to walnuts.", turn)
    (receipt,) = talk.say("Scratch that.")

    assert talk.values("allergy") == ["walnuts"]
    assert "nothing known" in receipt.detail


def test_that_is_not_so_may_mean_the_answer(talk: Talk) -> None:
    talk.say("I have a cat called Minka.")
    talk.say("Do you still live in Ulm?", role="assistant")
    talk.say("That's not true anymore.")
    assert talk.values("pet") == ["Minka"]

    talk.say("I'm allergic to walnuts.", "That's not true anymore.")
    assert talk.values("allergy") == []
    assert talk.values("allergy", valid=talk.now - timedelta(hours=36)) == ["walnuts"]


@pytest.mark.parametrize(
    ("turns", "slot", "values"),
    [pytest.param(*row, id=shows) for shows, *row in data_table("withdrawals.toml")["stories"]],
)
def test_after_the_last_turn_only_what_is_not_taken_back_holds(
    talk: Talk, turns: list[str], slot: str, values: list[str]
) -> None:
    *before, last = turns
    talk.say(*before)
    # What goes was there.
    assert values or not before or talk.values(slot)
    talk.say(last)
    assert talk.values(slot) == values


def test_who_takes_back_one_of_two_things_is_told_so(talk: Talk) -> None:
    talk.say("I drive a Volvo.", "I drive a Skoda.")
    text = talk.memory().observe([{"role": "user", "content": "My car was stolen."}])[0]
    assert text.detail.endswith("not exactly one is known that it can mean")


def test_of_somebody_else_only_what_is_said_of_him_goes(talk: Talk) -> None:
    talk.say("My sister Ruth works at Acme.", "Forget that my sister Ruth works at Acme.")
    assert talk.values("sibling") == ["Ruth"]
    assert talk.memory().as_of().slot("Ruth", "employer").values == ()


def test_what_was_said_in_the_same_text_is_not_said_at_all() -> None:
    extractor = RuleExtractor()
    assert extractor.extract("I'm allergic to walnuts. Scratch that.", at=START) == ()

    (home,) = extractor.extract("I live in Ulm. Nice weather. Scratch that.", at=START)
    assert home.slot == "home"


def test_most_sentences_take_nothing_back() -> None:
    assert [claim.op for claim in RuleExtractor().extract("I live in Ulm.", at=START)] == ["assert"]
    assert RuleExtractor().extract("You are right.", at=START) == ()
