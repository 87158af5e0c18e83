"""What a question asks of somebody's facts in words that no slot has."""

from __future__ import annotations

import pytest

from tenure.compiler.text.slot_questions import asks_what_was, slots_asked
from tenure.schema.slots import BUILT_IN_SLOTS
from tenure.tests.compiler.fake_reader import Bench


@pytest.mark.parametrize(
    ("question", "slots"),
    [
        ("Where do I work now?", {"employer"}),
        ("What do I do for a living?", {"title"}),
        ("Who's my boss?", {"manager"}),
        ("What's my wife called?", {"partner"}),
        ("Do I have kids?", {"child"}),
        ("How old am I?", {"birthday"}),
        ("Find a dentist near me", {"home"}),
        ("Any good bakeries nearby?", {"home"}),
        ("What's on my to-do list?", {"todo"}),
        ("Which illnesses do I have?", {"health_condition"}),
        ("What was I diagnosed with?", {"health_condition"}),
        ("What medication do I take?", {"medication"}),
        ("Which car do I have?", {"vehicle"}),
        ("Where can I get my car serviced?", {"vehicle"}),
        ("What conditions do I have to meet?", set()),
        ("Should I drive to work?", set()),
        ("Welche Krankheiten habe ich?", {"health_condition"}),
        ("Welche Medikamente nehme ich?", {"medication"}),
        ("Welches Auto fahre ich?", {"vehicle"}),
        ("Wann fahre ich nach Berlin?", set()),
        ("Was bin ich von Beruf?", {"title"}),
        ("Wo arbeite ich?", {"employer"}),
        ("Wie heißt meine Frau?", {"partner"}),
        ("Wo wohne ich?", {"home"}),
        ("Where does Tom work?", set()),
        ("What is the capital of Peru?", set()),
        ("Who am I supposed to call?", set()),
    ],
)
def test_which_slots_a_question_asks(question: str, slots: set[str]) -> None:
    assert slots_asked(question) == slots


def test_who_asks_about_themselves_asks_for_a_portrait() -> None:
    assert {"full_name", "title", "home"} <= slots_asked("What do you know about me?")
    assert slots_asked("Write a bio of me") <= set(BUILT_IN_SLOTS)


def test_the_facts_of_who_asks_answer_and_those_of_others_do_not() -> None:
    bench = Bench()
    bench.world.person("Ann", user="ann")
    for person in ("Ann", "Bob"):
        for slot, value in (("manager", "Ruth"), ("birthday", "3 May")):
            bench.world.add(f"{person} {slot}", subject=person, type="person", slot=slot,
                            value=value, claim=value)  # fmt: skip

    assert set(bench.compiled(bench.compile(query="Who's my boss?"))) == {"Ann manager"}
    assert bench.compiled(bench.compile(query="Who's the boss?")) == {}


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Do I still have a car?", "vehicle"),
        ("Habe ich noch ein Auto?", "vehicle"),
        ("Which pets do I have?", "pet"),
        ("Habe ich noch einen Hund?", "pet"),
        ("Am I single?", "partner"),
        ("Bin ich noch verheiratet?", "partner"),
        ("Do I still have a job?", "employer"),
    ],
)
def test_whether_somebody_has_a_thing_asks_its_slot(question: str, slot: str) -> None:
    assert slot in slots_asked(question)


@pytest.mark.parametrize(
    ("question", "is_past"),
    [
        ("Where did I work before?", True),
        ("Where did I live before I moved?", True),
        ("Where did Tom use to work?", True),
        ("What was my previous job?", True),
        ("Wo habe ich vorher gewohnt?", True),
        ("Wo habe ich früher gearbeitet?", True),
        ("Where do I work?", False),
        ("Which bank do I use to pay rent?", False),
        ("What do I eat before a run?", False),
        ("Did I pack before the trip?", False),
    ],
)
def test_whether_a_question_asks_what_was(question: str, is_past: bool) -> None:
    assert asks_what_was(question) is is_past
