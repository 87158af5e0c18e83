"""What a person takes back, over every store: the same claims go, and no others."""

from dataclasses import replace

import pytest

from tenure import Memory


@pytest.mark.parametrize(
    ("turns", "slot", "values"),
    [
        (("I'm allergic to nuts and bees.", "Forget that I'm allergic to nuts."), "allergy", 1),
        (("I'm allergic to nuts.", "Scratch that."), "allergy", 0),
        (("I'm allergic to nuts.", "Nice weather.", "Scratch that."), "allergy", 1),
        (("I hate cilantro.", "I take back what I said about cilantro."), "dislikes", 0),
        (("I live in Ulm.", "I never lived in Ulm."), "home", 0),
        (("My dog is called Bello.", "That's not right, my dog is called Balu."), "pet", 1),
        (("I work at Acme.", "I no longer work at Acme.", "I'm back at Acme."), "employer", 1),
        (("I'm back at Acme.",), "employer", 0),
    ],
)
def test_what_is_taken_back_goes(
    memory: Memory, turns: tuple[str, ...], slot: str, values: int
) -> None:
    ann = memory.bind(replace(memory.principal, user="ann"))
    bob = memory.bind(replace(memory.principal, user="bob"))
    for turn in turns:
        ann.observe([{"role": "user", "content": turn}])
    for turn in ("Scratch that.", f"Forget that {turns[0]}"):
        bob.observe([{"role": "user", "content": turn}])

    person = {"name": "ann", "type": "person", "external_ids": {"user": "ann"}}
    assert len(ann.as_of().slot(person, slot).values) == values


@pytest.mark.parametrize(
    "word", ["Forget that I'm allergic to nuts.", "I'm no longer allergic to nuts."]
)
def test_a_turn_with_a_part_taken_back_stays_in_the_history(memory: Memory, word: str) -> None:
    ann = memory.bind(replace(memory.principal, user="ann"))
    turn = "I live in Ulm and I'm allergic to nuts."
    (said, *_) = ann.observe([{"role": "user", "content": turn}])
    ask = {"task": "conversation", "query": "Which allergies do I have?"}
    first = ann.compile(**ask)
    assert turn in first.text

    ann.observe([{"role": "user", "content": word}])
    now = ann.compile(**ask)
    # No rule removes the words of a turn; no row of facts says what is over.
    assert turn in now.text and word in now.text
    facts = [block.text for block in now.blocks if block.section == "turn_memory"]
    assert "nuts" not in "\n".join(facts)
    assert ann.replay(now.manifest).text == now.text

    assert turn in ann.compile(**ask, tx=said.tx).text
    assert ann.replay(first.manifest).text == first.text
    assert turn in [hit.object.content for hit in ann.as_of().search("allergic nuts").hits]


@pytest.mark.parametrize(
    "word", ["Forget that I'm allergic to nuts.", "I'm no longer allergic to nuts."]
)
def test_by_default_a_turn_is_shown_with_the_words_that_take_it_back(
    memory: Memory, word: str
) -> None:
    ann = memory.bind(replace(memory.principal, user="ann"))
    turn = "I live in Ulm and I'm allergic to nuts."
    for content in (turn, word):
        ann.observe([{"role": "user", "content": content}])
    text = ann.compile("conversation", "Which allergies do I have?").text
    assert 0 < text.find(turn) < text.find(word)
    assert "Not known: ann allergy." in text
