"""What a question is about: areas by slots, tastes by their values, limits before all else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.compiler.ir.context import Topic
from tenure.compiler.text.areas import areas_of, areas_of_taste
from tenure.schema.claim import Version
from tenure.schema.slots import Slot
from tenure.schema.vocabulary import SlotKind
from tenure.tests.compiler.fake_reader import Bench

SLOTS = {
    "allergy": Slot(name="allergy", description="what they are allergic to"),
    "home": Slot(name="home", description="where the person lives"),
    "dislikes": Slot(name="dislikes", description="what they dislike", kind=SlotKind.PREFERENCE),
    "likes": Slot(name="likes", description="what they like", kind=SlotKind.PREFERENCE),
}


def topic_of(query: str) -> Topic:
    return Topic(query, SLOTS)


def fact(slot: str, value: str) -> Version:
    bench = Bench()
    bench.vocabulary = replace(bench.vocabulary, slots={**bench.vocabulary.slots, **SLOTS})
    bench.world.add("f", subject="Ann", slot=slot, value=value, vocabulary=bench.vocabulary)
    return bench.world.rows[0]


@pytest.mark.parametrize(
    ("query", "slot", "value", "is_vital"),
    [
        ("What shall I cook?", "allergy", "walnuts", True),
        ("What shall I cook?", "dislikes", "mushrooms", True),
        ("What shall I cook?", "dislikes", "horror films", False),
        ("What shall I cook?", "likes", "mushrooms", False),
        ("What shall I cook?", "home", "Oslo", False),
        ("Where do I live?", "home", "Oslo", True),
        ("Which film shall I watch?", "dislikes", "horror films", True),
        ("Which film shall I watch?", "allergy", "walnuts", False),
        ("Who won?", "dislikes", "mushrooms", False),
        ("Does it suit me?", "allergy", "walnuts", True),
        ("Was koche ich heute?", "dislikes", "Rosenkohl", True),
    ],
)
def test_what_a_question_must_not_be_answered_without(
    query: str, slot: str, value: str, is_vital: bool
) -> None:
    assert topic_of(query).is_asked_or_limited_by(fact(slot, value)) is is_vital


def test_a_taste_is_of_what_it_is_a_taste_for() -> None:
    assert areas_of_taste("mushrooms") == {"food"}
    assert areas_of("mushrooms") == frozenset()
    assert topic_of("What shall I cook?").has_taste_of(fact("likes", "garlic"))
    assert not topic_of("What shall I cook?").has_taste_of(fact("home", "Oslo"))


@pytest.mark.parametrize("question", ["Was gibt es zum Abendessen?", "Welchen Nachtisch?"])
def test_german_questions_have_areas(question: str) -> None:
    assert areas_of(question) == {"food"}
