"""Other words for the words of a question lead to the talk that uses them, and to nothing else."""

from __future__ import annotations

import pytest

from tenure.compiler.text.related_words import related_words
from tenure.schema.terms import content_terms, terms
from tenure.tests.compiler.fake_reader import Bench

TURN = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}
PAGE = {"object_type": "retrieved_passage", "layer": "corpus", "origin": "doc://a"}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did she go?", "went"),
        ("What did she study?", "studied"),
        ("What was studied?", "study"),
        ("Two mice?", "2 mouse"),
        ("What is her career?", "job"),
        ("Who is her husband?", "partner"),
        ("Wie heißt seine Frau?", "Ehefrau"),
    ],
)
def test_people_answer_in_other_words_than_they_ask(question: str, answer: str) -> None:
    assert set(terms(answer)) <= related_words(content_terms(question)).keys()


def test_what_a_question_says_itself_is_not_related_to_it() -> None:
    assert "job" not in related_words(frozenset({"job", "career"}))
    assert not related_words(frozenset({"toy", "zeta"}))


def test_talk_in_other_words_answers_where_no_word_is_shared() -> None:
    bench = Bench()
    bench.world.add("turn", text="I quit my job at the bank", **TURN)
    bench.world.add("page", text="A job at the bank pays well", **PAGE)
    shown = bench.compiled(bench.compile(query="Which career was it?"))
    assert set(shown) == {"turn"}


def test_a_turn_in_other_words_leads_those_that_share_none() -> None:
    bench = Bench()
    for number in range(60):
        bench.world.add(f"turn {number}", text=f"well, hm, that is zeta {number}", **TURN)
    bench.world.add("answer", text="I quit my job at the bank, zeta", **TURN)
    for number in range(60, 120):
        bench.world.add(f"turn {number}", text=f"well, hm, that is zeta {number}", **TURN)

    shown = bench.compiled(bench.compile(query="Which career, zeta?", budget_tokens=300))
    assert "answer" in shown
    assert len(shown) < 60
