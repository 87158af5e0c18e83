"""What stands behind several times the budget competes for none of it."""

from __future__ import annotations

import pytest

from tenure.tests.compiler.fake_reader import Bench

TALK = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}


def test_what_stands_behind_several_times_the_budget_makes_no_piece_and_no_entry() -> None:
    bench = Bench()
    for number in range(300):
        text = f"the budget of item {number} " + "and so on " * 20
        bench.world.add(f"turn {number}", text=text, **TALK)
    bench.rules(text_candidates=300)
    envelope = bench.compile(query="budget", budget_tokens=1_000)
    reasons = [reason for reason, _ in bench.omitted(envelope).values()]
    assert reasons.count("section_cap") > 100
    assert envelope.trace.budget["used_tokens"] > 900


@pytest.mark.parametrize("words", [1, 40])
def test_a_larger_budget_shows_all_that_a_smaller_one_shows(words: int) -> None:
    bench = Bench()
    for number in range(200):
        text = f"the budget of item {number} " + "word " * (number % 7) * words
        bench.world.add(f"turn {number}", text=text, **TALK)
    bench.rules(text_candidates=200)
    before: set[str] = set()
    for budget in (500, 1_000, 2_000, 4_000, 8_000):
        envelope = bench.compile(query="budget", budget_tokens=budget)
        shown = {name for name in bench.compiled(envelope) if name.startswith("turn")}
        assert before <= shown
        before = shown
    assert len(before) > 50


def test_what_covers_an_acceptance_item_competes_however_little_it_is_worth() -> None:
    bench = Bench()
    for number in range(200):
        bench.world.add(f"turn {number}", text=f"the budget of item {number}", **TALK)
    bench.rules(text_candidates=200)
    omega = {"text": "omega page", "origin": "doc://3", "covers": ["has omega"]}
    envelope = bench.compile(
        query="budget", budget_tokens=600, acceptance=["has omega"], evidence=[omega]
    )
    assert "omega page" in envelope.text
