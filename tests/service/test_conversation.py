"""Fifty turns of one conversation: which bytes stay, and what each provider's cache makes of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure import Memory
from tenure.compiler.cache_plan import tokens_read
from tenure.compiler.envelope import Envelope
from tenure.schema.compile_terms import Stability
from tenure.tests.conversation import office, turns

FIXED = (Stability.STATIC, Stability.SCOPE, Stability.SESSION)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    opened = office()
    yield opened
    opened.close()


def folded(envelope: Envelope) -> bool:
    """Tell whether the history is no longer whole."""
    left_out = {o.reason for o in envelope.trace.omitted_objects if o.reason in BUDGET}
    return bool(envelope.trace.conversions) or bool(left_out)


BUDGET = frozenset({"over_budget", "section_dropped", "section_cap"})


@pytest.mark.parametrize("budget", [40_000, 18_000])
def test_zones_one_to_three_never_change_and_zone_four_only_grows(
    memory: Memory, budget: int
) -> None:
    fixed: set[str] = set()
    keys: set[str] = set()
    history, folds = "", 0
    for envelope in turns(memory, "claude-opus-4-8", budget_tokens=budget):
        fixed.add(envelope.plan.text_of(*FIXED))
        keys.add(envelope.plan.cache_key)
        assert envelope.text.startswith(envelope.plan.text_of(*FIXED))
        said = envelope.plan.text_of(Stability.HISTORY)
        folds += folded(envelope)
        assert folds or said.startswith(history)
        history = said
    assert len(fixed) == len(keys) == 1
    assert (folds > 0) == (budget == 18_000)


@pytest.mark.parametrize(
    ("model", "least"),
    [("claude-opus-4-8", 0.75), ("gpt-5", 0.75), ("gpt-5.6", 0.75), ("gemini-3-pro", 0.40)],
)
def test_most_of_a_request_is_read_from_the_providers_cache(
    memory: Memory, model: str, least: float
) -> None:
    before: Envelope | None = None
    read = sent = 0
    for envelope in turns(memory, model, count=20):
        if before is not None:
            expected = tokens_read(before.plan, envelope.plan)
            assert expected <= before.trace.cache_metadata["expected_cached_tokens"]
            read += expected
            sent += envelope.plan.counter.lower_bound(envelope.text)
        before = envelope
    assert read / sent >= least


def test_time_that_passes_changes_no_cached_byte(memory: Memory) -> None:
    now, later = (
        memory.compile("analytical_reporting", "what is new?", valid=valid, goal="Report")
        for valid in ("2026-12-01T08:00:00Z", "2026-12-01T09:30:00Z")
    )
    assert now.plan.text_of(*FIXED) == later.plan.text_of(*FIXED)
    assert "2026-12" not in now.text
