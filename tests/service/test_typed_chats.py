"""From a chat as it is typed to what the model reads of it."""

from __future__ import annotations

import pytest

import tenure
from tenure.schema.principal import Principal

CHAT = (
    ("2026-01-05", "hey! i'm Nadia, i live in Tbilisi and work as a translator"),
    ("2026-01-05", "we got a puppy, her name is Biscuit"),
    ("2026-01-06", "I've been at Osprey Legal since 2018. my boss Ragnhild is nice"),
    ("2026-01-07", "I'm vegan btw, so no cheese please"),
    ("2026-03-02", "big news, we moved to Batumi last week"),
    ("2026-03-02", "I quit Osprey Legal, finally"),
    ("2026-03-09", "started a new job at Halden Freight on monday! my new boss is called Yusuf"),
    ("2026-03-10", "had to put our dog Biscuit down last week :("),
    ("2026-03-11", "Not vegan anymore, just vegetarian now"),
    ("2026-03-12", "I've gone off sushi completely"),
)


@pytest.mark.parametrize("budget", [500, 2_000])
@pytest.mark.parametrize(
    ("question", "answer", "former"),
    [
        ("What's my name?", "Nadia", ""),
        ("What do I do for a living?", "translator", ""),
        ("Where do I work?", "Halden Freight", "Osprey"),
        ("Who's my boss?", "Yusuf", "Ragnhild"),
        ("Find me a dentist nearby", "Batumi", "Tbilisi"),
        ("Plan a dinner", "vegetarian", "vegan btw"),
        ("Is Biscuit still alive?", "put our dog Biscuit down", "got a puppy"),
        ("Do I still work at Osprey Legal?", "quit Osprey Legal", ""),
        ("Do I like sushi?", "gone off sushi", ""),
    ],
)
def test_the_answer_is_shown_and_what_is_over_is_not(
    question: str, answer: str, former: str, budget: int
) -> None:
    with tenure.connect(":memory:") as store:
        memory = store.bind(Principal(tenant="default", user="ann"))
        for day, text in CHAT:
            memory.observe([{"role": "user", "content": text}], at=f"{day}T10:00:00Z")
        envelope = memory.compile("assistant", question, budget_tokens=budget)

    assert answer in envelope.text
    # No rule removes what was said: it stays among the words of its day, and in no row of facts.
    told = [block.text for block in envelope.blocks if block.section != "evidence"]
    assert not former or former not in "\n".join(told)
