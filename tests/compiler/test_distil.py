"""Statements are worth what they do for the question and what nobody has said yet."""

from __future__ import annotations

from tenure.compiler.request.parse import parse_request
from tenure.compiler.text.relevance import FULL
from tenure.compiler.text.sentences import novelty, ranked, statement_of, statements
from tenure.compiler.trace.metrics import grade
from tenure.tests.compiler.fake_reader import Bench

ASKED = frozenset({"alpha", "beta"})


def test_worth_is_usefulness_times_novelty() -> None:
    units = ["Alpha beta.", "Alpha gamma.", "Delta.", "Alpha beta zeta."]
    assert ranked(units, ASKED, []) == [(0, FULL), (3, FULL), (1, FULL // 2)]
    said = statements(["Alpha beta."])
    assert ranked(units, ASKED, said) == [(3, 333334), (1, FULL // 4)]
    assert ranked(units, frozenset(), []) == []


def test_another_number_or_sign_is_never_a_repetition() -> None:
    said = statements(["The limit is 5 now.", "The gate opens."])
    assert novelty(statement_of("The limit is 5."), said) == 0
    assert novelty(statement_of("The limit is 7."), said) == FULL
    assert novelty(statement_of("The gate never opens."), said) == FULL
    assert novelty(statement_of("..."), said) == 0


def test_an_excerpt_leaves_out_what_the_envelope_says_already() -> None:
    shared = "The alpha gate opens at dawn."
    filler = "Nothing here helps anyone at all today. " * 12
    whole = f"{shared} Beta."
    long = f"{filler}{shared} The alpha bridge closes at noon. {filler}"
    bench = Bench().rules(duplicate_containment=1.1)
    envelope = bench.compile(query="alpha beta", evidence=[whole, long], budget_tokens=330)
    texts = [b.text for b in envelope.blocks if b.section == "evidence"]
    assert sum(shared in text for text in texts) == 1
    assert any("bridge closes" in text for text in texts)
    (entry,) = envelope.trace.budget["compression"]
    assert entry["grade"] == "partial"


def test_a_short_form_is_graded_by_its_fidelity() -> None:
    lines = " ".join(f"The alpha beta line {i} holds." for i in range(12))
    bench = Bench().rules(fidelity_lossy=0.3, duplicate_containment=1.1)
    texts = [lines, "alpha beta " * 12]
    grades = set[str]()
    for budget in range(250, 420, 10):
        envelope = bench.compile(query="alpha beta", evidence=texts, budget_tokens=budget)
        grades |= {each["grade"] for each in envelope.trace.budget["compression"]}
    assert grades <= {"faithful", "lossy", "partial"}
    assert "lossy" in grades
    context = bench.context(parse_request("code_generation"))
    assert [grade(share, context) for share in (0.9, 0.899, 0.3, 0.299)] == [
        *("faithful", "lossy"),
        *("lossy", "partial"),
    ]
