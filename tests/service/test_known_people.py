"""What is said of somebody by the bare name counts once the speaker told who that is."""

from dataclasses import replace

import pytest

from tenure import Memory

TOLD = ("My friend Raj is visiting.", "unser Hund Bello ist krank", "my brother tom moved to leeds")


def slots_of(memory: Memory, name: str, *turns: str) -> dict[str, tuple[object, ...]]:
    """What a caller told of somebody, by slot."""
    for turn in turns:
        memory.observe([{"role": "user", "content": turn}])
    view = memory.as_of()
    slots = ("diet", "allergy", "likes", "dislikes", "home")
    return {slot: values for slot in slots if (values := view.slot(name, slot).values)}


def caller(memory: Memory, user: str) -> Memory:
    return memory.bind(replace(memory.principal, user=user))


@pytest.mark.parametrize(
    ("turn", "name", "slot", "value"),
    [
        ("Raj is vegetarian", "Raj", "diet", "vegetarian"),
        ("Raj is vegan now", "Raj", "diet", "vegan"),
        ("Bello has a chicken allergy.", "Bello", "allergy", "chicken"),
        ("Raj mag keine Pilze.", "Raj", "dislikes", "Pilze"),
        ("My friend Ida is here. Ida is vegan.", "Ida", "diet", "vegan"),
    ],
)
def test_what_is_said_of_who_was_told_of_is_his(
    memory: Memory, turn: str, name: str, slot: str, value: str
) -> None:
    assert slots_of(caller(memory, "ann"), name, *TOLD, turn) == {slot: (value,)}


@pytest.mark.parametrize(
    ("turn", "name"),
    [
        ("Mira is vegetarian", "Mira"),
        ("Acme loves data", "Acme"),
        ("leeds hates cilantro", "leeds"),
        ("Raj is vegetarian, I think", "Raj"),
        ("Is Raj vegetarian?", "Raj"),
    ],
)
def test_of_a_name_that_nobody_told_of_no_claim_is_made(
    memory: Memory, turn: str, name: str
) -> None:
    assert slots_of(caller(memory, "ann"), name, "I work at Acme.", *TOLD, turn) == {}


def test_whom_another_user_told_of_is_not_known(memory: Memory) -> None:
    slots_of(caller(memory, "ann"), "Raj", *TOLD)
    assert slots_of(caller(memory, "bob"), "Raj", "Raj is vegetarian") == {}


def test_what_is_said_of_who_has_facts_is_his(memory: Memory) -> None:
    turns = ("my coworker Mei is allergic to nuts", "Mei is vegan")
    slots = slots_of(caller(memory, "ann"), "Mei", *turns)
    assert slots == {"allergy": ("nuts",), "diet": ("vegan",)}


@pytest.mark.parametrize(
    "turn",
    [
        "Raj is allergic to work",
        "Raj loves us",
        "Raj moved to Plan B",
        "Raj can't eat right now",
        "Raj hates it when I'm late",
        "Raj is a dog person",
    ],
)
def test_what_only_sounds_like_a_fact_is_none(memory: Memory, turn: str) -> None:
    assert slots_of(caller(memory, "ann"), "Raj", *TOLD, turn) == {}
