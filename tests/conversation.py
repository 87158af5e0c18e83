"""A conversation over a real memory, one compile a turn: what a cache lives on."""

import random
from collections.abc import Iterator
from typing import Any, Final

from tenure import Memory, connect
from tenure.compiler.envelope.envelope import Envelope

TOPICS: Final = ("the Chicago office", "the nightly deploy", "the travel budget", "Nova's status",
                 "the incident review", "Sam Rivera's schedule", "the vault migration")  # fmt: skip
TOOLS: Final = [
    {
        "name": name,
        "description": f"{name} something in the workspace and return what was found",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    for name in ("search", "calendar", "mail")
]


def office() -> Memory:
    """Return a memory with rules of the house, a user's preferences and facts."""
    memory = connect(":memory:")
    for number in range(120):
        memory.write(
            content=f"Rule {number}: state the source of figure {number} and never guess it.",
            object_type="policy_rule",
            why_it_matters="every answer",
            authority_level=number % 2,
        )
    for number in range(40):
        memory.write(subject=f"Person {number}", slot="office", value=f"Chicago {number}")
        memory.write(
            content=f"Notes on {TOPICS[number % len(TOPICS)]}, page {number}: all went to plan.",
            source_origin=f"doc://notes/{number}",
            object_type="retrieved_passage",
            why_it_matters=f"background on {TOPICS[number % len(TOPICS)]}",
        )
    return memory


def turns(memory: Memory, model: str, count: int = 50, **given: Any) -> Iterator[Envelope]:
    """Yield the envelope of each turn; question and answer then join the history."""
    chance = random.Random(3)
    history: list[dict[str, str]] = []
    for number in range(count):
        asked = f"Turn {number}: what is new with {chance.choice(TOPICS)}?"
        request: dict[str, Any] = {
            "task": "analytical_reporting",
            "query": asked,
            "goal": "Keep the office informed. " + "Answer with figures and sources. " * 12,
            "constraints": ["Answer in English", "Never print a password"],
            "tools": TOOLS,
            "history": list(history),
            "evidence": [f"Update {number}: {chance.choice(TOPICS)} moved by {number} points."],
            "budget_tokens": 40_000,
            "model": model,
        }
        yield memory.compile(**{**request, **given})
        history += [
            {"role": "user", "text": asked},
            {"role": "assistant", "text": f"Answer {number}. " + "It moved as planned. " * 4},
        ]
