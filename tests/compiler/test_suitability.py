"""Whether a question asks if something suits somebody, and what it brings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.compiler.text.areas import asks_whether_it_suits, is_limit
from tenure.schema.slots import Slot
from tenure.tests.compiler.fake_reader import Bench

ENGLISH = (
    "Does it suit me?",
    "Would that suit Ann?",
    "Will the new menu suit us?",
    "Which of these suits me best?",
    "What would suit my sister?",
    "Does this restaurant suit my needs?",
    "Does the hotel suit her?",
    "Is it suitable for me?",
    "Is this dish okay for me?",
    "Is the pad thai safe for Ann?",
    "Is it safe for my daughter?",
    "Are these good for us?",
    "Would it be a good choice for me?",
    "Is that something for me?",
    "Can I eat this?",
    "Could I try these?",
    "Should we order it?",
    "Would I like it?",
    "Will she enjoy the book?",
    "What should I avoid?",
    "Does it match my taste?",
    "Would that work for me?",
    "Does milk agree with me?",
    "Is it my kind of thing?",
    "Tell me whether it suits me",
    "Here is the menu of the new place. Does it suit me?",
)
GERMAN = (
    "Passt das zu mir?",
    "Passt mir das?",
    "Passt das Restaurant zu Anna?",
    "Welches davon passt zu mir?",
    "Ist das etwas für mich?",
    "Ist das Gericht für mich geeignet?",
    "Wäre das eine gute Wahl für mich?",
    "Eignet sich das für uns?",
    "Ist der Kuchen okay für mich?",
    "Vertrage ich das?",
    "Darf ich das essen?",
    "Kann ich davon probieren?",
    "Schmeckt mir das?",
    "Würde mir der Film gefallen?",
    "Ist das mein Fall?",
    "Was sollte ich meiden?",
)
OTHER = (
    "Is my suit ready?",
    "What colour was the suit my brother wore?",
    "Where did I buy the blue suit?",
    "Does the suit fit the dress code?",
    "What does the suit her mother bought cost?",
    "Did they file a suit against us?",
    "Did the law suit Ann filed go anywhere?",
    "Follow suit with the others?",
    "Which suite passes the tests?",
    "That suits me, thanks.",
    "Does Tuesday suit me?",
    "Would 3 pm suit Ann?",
    "Which time suits us?",
    "Can I have this in a PDF?",
    "Can I take this to the office?",
    "Would Ann like to join?",
    "Who is the right person for the job?",
    "Is the office for Ann upstairs?",
    "Passt mir Dienstag?",
    "Passt dir der Termin?",
    "Ist der Anzug fertig?",
    "Was ist passiert?",
    "Wie lautet mein Passwort?",
    "Ist das Büro für Anna fertig?",
    "Does it suit me, " + "given what I said of the trip, " * 12 + "or not?",
)


@pytest.mark.parametrize("question", [*ENGLISH, *GERMAN])
def test_who_asks_whether_something_suits_is_understood(question: str) -> None:
    assert asks_whether_it_suits(question)


@pytest.mark.parametrize("question", OTHER)
def test_a_suit_an_hour_and_a_long_text_are_another_matter(question: str) -> None:
    assert not asks_whether_it_suits(question)


def test_what_somebody_does_not_eat_or_stand_is_a_limit() -> None:
    assert is_limit("allergy\nwhat they are allergic to")
    assert is_limit("avoids\nwhat they do not eat or drink")
    assert is_limit("diet\nthe diet the person keeps")
    assert is_limit("health_condition\na lasting illness or condition they have")
    assert is_limit("medication\na medication they take")
    assert not is_limit("home\nwhere the person lives")


def limits(query: str) -> set[str]:
    """What a question of Ann brings of what is known of her and of Bob."""
    bench = Bench()
    slots: dict[str, Slot] = {}
    for name, description in (
        ("allergy", "what they are allergic to"),
        ("diet", "the diet they keep"),
        ("home", "where they live"),
    ):
        slots[name] = Slot(name=name, description=description)
    bench.vocabulary = replace(bench.vocabulary, slots={**bench.vocabulary.slots, **slots})
    bench.world.person("Ann", user="ann")
    for person in ("Ann", "Bob"):
        for name, value in (("allergy", "shellfish"), ("diet", "vegan"), ("home", "Oslo")):
            stated = {"subject": person, "slot": name, "value": value}
            bench.world.add(f"{person} {name}", vocabulary=bench.vocabulary, **stated)
    return set(bench.compiled(bench.compile(query=query)))


def test_a_question_of_suitability_brings_the_limits_of_the_caller_and_nothing_else() -> None:
    assert limits("Does it suit me?") == {"Ann allergy", "Ann diet"}
    assert limits("Passt das zu mir?") == {"Ann allergy", "Ann diet"}
    assert limits("Is my suit ready?") == set()
