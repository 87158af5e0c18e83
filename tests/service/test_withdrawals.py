"""What a person takes back is gone: that claim, and no other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tenure.service.extraction.claims import ANY_SLOT, LAST_HEARD, LAST_SAID
from tenure.service.extraction.rules import RuleExtractor
from tenure.service.extraction.withdrawal import withdrawal_of
from tenure.tests.service.daily_talk import START, Talk


@pytest.fixture
def talk() -> Any:
    """An empty store to talk to."""
    talk = Talk()
    with talk.store:
        yield talk


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Forget that I'm allergic to walnuts, that was wrong.", ("retract", "allergy", "walnuts")),
        ("Please delete that I live in Ulm.", ("retract", "home", "Ulm")),
        ("Forget I said I'm allergic to nuts.", ("retract", "allergy", "nuts")),
        ("I said I speak Italian, that was a joke.", ("retract", "language", "Italian")),
        ("It's not true that I live in Ulm.", ("retract", "home", "Ulm")),
        ("It's no longer true that I live in Ulm.", ("deny", "home", "Ulm")),
        ("I was wrong when I said I live in Ulm.", ("retract", "home", "Ulm")),
        ("I take back that I live in Ulm.", ("retract", "home", "Ulm")),
        ("I never said I'm allergic to cats.", ("retract", "allergy", "cats")),
        ("Actually I never lived in Ulm", ("retract", "home", "Ulm")),
        ("I have never worked at Acme.", ("retract", "employer", "Acme")),
        ("I was never a vegetarian.", ("retract", "diet", "vegetarian")),
        ("I'm not a vegetarian.", ("deny", "diet", "vegetarian")),
        ("Forget what I said about cilantro.", ("retract", ANY_SLOT, "cilantro")),
        ("Scratch that.", ("retract", ANY_SLOT, LAST_SAID)),
        ("That's not true anymore.", ("deny", ANY_SLOT, LAST_HEARD)),
        ("That was wrong.", ("retract", ANY_SLOT, LAST_HEARD)),
        ("Vergiss, dass ich gegen Walnüsse allergisch bin", ("retract", "allergy", "Walnüsse")),
        ("Vergiss bitte, dass mein Hund Bello heißt.", ("retract", "pet", "Bello")),
        ("Es stimmt nicht mehr, dass ich in Ulm wohne.", ("deny", "home", "Ulm")),
        ("Ich habe nie in Ulm gewohnt.", ("retract", "home", "Ulm")),
        ("Ich bin doch nicht gegen Nüsse allergisch.", ("retract", "allergy", "Nüsse")),
        ("Vergiss, was ich über Walnüsse gesagt habe.", ("retract", ANY_SLOT, "Walnüsse")),
        ("Das nehme ich zurück.", ("retract", ANY_SLOT, LAST_SAID)),
        ("Das stimmt nicht mehr.", ("deny", ANY_SLOT, LAST_HEARD)),
    ],
)
def test_a_sentence_takes_back_what_it_names(sentence: str, claim: tuple[str, str, str]) -> None:
    (taken,) = RuleExtractor().extract(sentence, at=START)

    assert (taken.op, taken.slot, taken.value) == claim
    assert taken.if_known


@pytest.mark.parametrize(
    "sentence",
    [
        "She told me to forget that I'm allergic to walnuts.",
        "My doctor said: forget that you're allergic.",
        '"Forget that I live in Ulm" is what she said.',
        "Forget that I'm allergic to walnuts, she said.",
        "Did I say I'm allergic to walnuts?",
        "Can you forget that I'm allergic to walnuts?",
        "Forget that I'm a vegetarian for a moment.",
        "If I said forget that I live in Ulm, what would happen?",
        "Forget it.",
        "It was a mistake.",
        "That was a mistake.",
        "That's wrong.",
        "Delete my account.",
        "Drop my parents at the station.",
        "Sie sagt, vergiss, dass ich in Ulm wohne.",
        "Vergiss mal kurz, dass ich in Ulm wohne.",
    ],
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


def test_what_is_denied_after_all_never_was_and_is_not() -> None:
    claims = RuleExtractor().extract("I'm not allergic to bees after all.", at=START)
    assert [(claim.op, claim.value) for claim in claims] == [("retract", "bees"), ("deny", "bees")]


def test_only_that_claim_goes_and_the_history_keeps_it(talk: Talk) -> None:
    talk.say("I'm allergic to walnuts and bees.")
    known = talk.now
    talk.say("Forget that I'm allergic to walnuts, that was wrong.")

    assert talk.values("allergy") == ["bees"]
    assert talk.values("allergy", valid=START + timedelta(hours=1)) == ["bees"]
    assert sorted(talk.values("allergy", tx=known - timedelta(hours=1))) == ["bees", "walnuts"]


def test_what_is_taken_back_is_not_shown(talk: Talk) -> None:
    talk.say("I'm allergic to walnuts.", "I'm allergic to bees.", "I live in Ulm.")
    talk.say("Forget that I'm allergic to walnuts, that was wrong.", "I never lived in Ulm.")

    context = talk.context("Which allergies do I have, and where do I live?")
    assert "bees" in context
    assert "I'm allergic to walnuts." not in context
    assert "allergy: walnuts" not in context
    assert "home: Ulm" not in context


@pytest.mark.parametrize(
    "word",
    [
        "Forget that I'm allergic to walnuts, that was wrong.",
        "I'm no longer allergic to walnuts.",
        "Vergiss, was ich über walnuts gesagt habe.",
    ],
)
def test_a_turn_that_said_two_things_is_not_shown_once_one_is_taken_back(
    talk: Talk, word: str
) -> None:
    turn = "I live in Bonn and I'm allergic to walnuts."
    talk.say(turn)
    assert turn in talk.context("Which allergies do I have?")
    talk.say(word)

    context = talk.context("Where do I live, and which allergies do I have?")
    assert turn not in context
    assert "home: Bonn" in context


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
    context = talk.context(question)
    assert answer in context
    assert turns[0] not in context


def test_what_is_over_is_not_told_beside_what_holds(talk: Talk) -> None:
    talk.say("I work at Acme.", "I no longer work at Acme.", "I work at Globex.")
    assert "Acme" not in talk.context("Where do I work?")


def test_what_never_was_gives_way_to_what_stood_before(talk: Talk) -> None:
    talk.say("I live in Bonn.", "I live in Ulm.", "Actually I never lived in Ulm")
    assert talk.values("home") == ["Bonn"]


def test_what_was_over_may_never_have_been(talk: Talk) -> None:
    talk.say("I work at Acme.", "I no longer work at Acme.", "I never worked at Acme.")
    assert talk.values("employer", valid=START + timedelta(hours=1)) == []


def test_the_very_words_are_meant_before_others_that_hold_them(talk: Talk) -> None:
    talk.say("I'm allergic to nuts.", "I'm allergic to pine nuts.")
    talk.say("Forget that I'm allergic to nuts.")
    assert talk.values("allergy") == ["pine nuts"]


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


def test_a_correction_replaces_what_was_said_of_the_same(talk: Talk) -> None:
    talk.say("My dog is called Bello.", "That's not right, my dog is called Balu.")
    assert talk.values("pet") == ["Balu"]

    talk.say("I'm allergic to nuts.", "Sorry, I was wrong, I live in Leeds.")
    assert talk.values("allergy") == ["nuts"]


@pytest.mark.parametrize("end", ["Minka died yesterday.", "We had to give Minka away."])
def test_a_pet_that_is_gone_is_known_by_its_name(talk: Talk, end: str) -> None:
    talk.say("We have a cat called Minka.", "We have a cat called Felix.", end)
    assert talk.values("pet") == ["Felix"]


UNNAMED_ENDS = (
    ("vehicle", "I drive a Volvo.", "I sold my car."),
    ("vehicle", "Ich fahre einen Golf.", "ich habe mein Auto verkauft, 900 Euro gab es noch"),
    ("pet", "We have a cat called Minka.", "We had to give the cat away."),
    ("pet", "Mein Hund heißt Balu.", "Wir mussten den Hund abgeben."),
    ("employer", "I work at Acme.", "I quit my job"),
    ("employer", "Ich arbeite bei Siemens.", "Ich habe meinen Job aufgegeben."),
    ("team", "I'm on the Search team.", "I'm not a member any more"),
    ("partner", "My wife is Ruth.", "My wife and I split up."),
    ("partner", "Meine Frau heißt Clara.", "Meine Frau und ich haben uns getrennt."),
)


@pytest.mark.parametrize(("slot", "fact", "end"), UNNAMED_ENDS)
def test_a_thing_that_is_not_named_is_the_only_one(
    talk: Talk, slot: str, fact: str, end: str
) -> None:
    talk.say(fact)
    assert len(talk.values(slot)) == 1
    talk.say(end)
    assert talk.values(slot) == []


def test_of_two_things_nobody_knows_which_is_gone(talk: Talk) -> None:
    talk.say("I drive a Volvo.", "I drive a Skoda.", "I sold my car.")
    assert talk.values("vehicle") == ["Volvo", "Skoda"]
    text = talk.memory().observe([{"role": "user", "content": "My car was stolen."}])[0]
    assert text.detail.endswith("not exactly one is known that it can mean")


@pytest.mark.parametrize(
    ("fact", "end"),
    [
        ("We have a cat called Minka.", "Our dog died."),
        ("My motorbike is a Honda.", "I sold my car."),
        ("I drive a Volvo.", "I sold my car in 2019."),
        ("I drive a Volvo.", "I sold my car keys."),
        ("My dog is called Rex.", "My dog died when I was six."),
        ("I drive a Volvo.", "If I sold my car, I would cycle."),
    ],
)
def test_what_is_of_another_kind_or_time_is_not_meant(talk: Talk, fact: str, end: str) -> None:
    talk.say(fact)
    (slot,) = [slot for slot in ("pet", "vehicle") if talk.values(slot)]
    talk.say(end)
    assert len(talk.values(slot)) == 1


def test_of_two_kinds_the_named_one_is_gone(talk: Talk) -> None:
    talk.say("We have a cat called Minka.", "My dog is called Rex.", "My dog died last night.")
    assert talk.values("pet") == ["Minka"]


@pytest.mark.parametrize(
    ("slot", "fact", "change", "values"),
    [
        ("pet", "My dog is called Rex.", "Rex died last week.", []),
        ("vehicle", "I drive a Volvo.", "I sold the Volvo last month.", []),
        ("employer", "I work at Acme.", "I left Acme last week.", []),
        ("home", "I live in Ulm.", "I moved to Leeds last week.", ["Leeds"]),
        ("home", "Ich wohne in Ulm.", "Ich bin letzte Woche nach Kempten gezogen.", ["Kempten"]),
        # What was told with its day, and what began long after, is not what changed.
        ("home", "I moved to Ulm on January 2.", "I moved to Leeds in December.", ["Ulm"]),
        ("home", "I live in Ulm.", "I moved to Leeds in 2019.", ["Ulm"]),
    ],
)
def test_a_change_that_is_told_late_is_the_newest_word(
    talk: Talk, slot: str, fact: str, change: str, values: list[str]
) -> None:
    talk.say(fact, change)
    assert talk.values(slot) == values


def test_a_thing_is_taken_back_in_whatever_slot_it_stands(talk: Talk) -> None:
    talk.say("I hate cilantro.", "I live in Ulm.", "I take back what I said about cilantro.")
    assert talk.values("dislikes") == []

    talk.say("Forget what I said about my trip to Ulm.")
    assert talk.values("home") == ["Ulm"]


def test_of_somebody_else_only_what_is_said_of_him_goes(talk: Talk) -> None:
    talk.say("My sister Ruth works at Acme.", "Forget that my sister Ruth works at Acme.")
    assert talk.values("sibling") == ["Ruth"]
    assert talk.memory().as_of().slot("Ruth", "employer").values == ()


def test_who_is_back_was_there(talk: Talk) -> None:
    talk.say("I'm back at Acme.")
    assert talk.values("employer") == []

    talk.say("I work at Acme.", "I no longer work at Acme.", "I'm back at Acme.")
    assert talk.values("employer") == ["Acme"]


def test_what_was_said_in_the_same_text_is_not_said_at_all() -> None:
    extractor = RuleExtractor()
    assert extractor.extract("I'm allergic to walnuts. Scratch that.", at=START) == ()

    (home,) = extractor.extract("I live in Ulm. Nice weather. Scratch that.", at=START)
    assert home.slot == "home"


def test_most_sentences_take_nothing_back() -> None:
    assert withdrawal_of("I live in Ulm.") is None
    assert withdrawal_of("You are right.") is None
