"""Who talks while others do is answered as one who is alone: their turns are not in the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tenure import Memory, Principal, connect

START = datetime(2026, 6, 1, tzinfo=UTC)
ANSWER = "By the old quay, behind the yellow crane."
TALK = [
    *[f"Small talk number {number} of the day." for number in range(12)],
    "Where does the ferry to Velmora leave?",
    *[f"Give me second number {number}." for number in range(9)],
    ANSWER,
    *[f"Further words {number} of no weight." for number in range(40)],
]


def bound(owner: Memory, user: str) -> Memory:
    return owner.bind(Principal(user=user, roles=frozenset({"member"})))


@pytest.mark.parametrize("others", [0, 1, 9, 29])
def test_what_stands_a_few_turns_on_is_found_among_the_turns_of_others(others: int) -> None:
    with connect(":memory:", clock=lambda: START + timedelta(days=1)) as owner:
        ann, strangers = bound(owner, "ann"), [bound(owner, f"u{n}") for n in range(others)]
        for minute, text in enumerate(TALK):
            at = START + timedelta(minutes=minute)
            ann.observe(text, at=at, source_origin="chat://ann")
            for number, stranger in enumerate(strangers):
                stranger.observe(
                    f"Noise {minute} of {number}.", at=at, source_origin=f"chat://{number}"
                )

        envelope = ann.compile("conversation", "the ferry to Velmora", budget_tokens=500)
        assert ANSWER in envelope.text
        assert "Noise" not in envelope.text
        assert ann.replay(envelope).text == envelope.text
