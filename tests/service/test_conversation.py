"""Fifty turns of one conversation: which bytes stay, and what each provider's cache makes of it."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from tenure import Memory
from tenure.bench.bench_cache import tokens_read
from tenure.compiler.envelope.envelope import Envelope
from tenure.schema.compile_terms import Conversion, Stability
from tenure.tests.conversation import office, turns

FIXED = (Stability.STATIC, Stability.SCOPE, Stability.SESSION)


Talk = Callable[[str, int], Sequence[Envelope]]


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    opened = office()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def talk(memory: Memory) -> Talk:
    """The envelopes of a conversation by model and budget, compiled once for all tests."""
    return cache(lambda model, budget: tuple(turns(memory, model, budget_tokens=budget)))


def folded(envelope: Envelope) -> bool:
    """Tell whether the history is no longer whole."""
    left_out = {o.reason for o in envelope.trace.omitted_objects if o.reason in BUDGET}
    changes = {change.conversion for change in envelope.trace.conversions}
    return bool(changes - {Conversion.TABLE_ROW}) or bool(left_out)


BUDGET = frozenset({"over_budget", "section_dropped", "section_cap"})


@pytest.mark.parametrize("budget", [40_000, 15_000])
def test_zones_one_to_three_never_change_and_zone_four_only_grows(talk: Talk, budget: int) -> None:
    fixed: set[str] = set()
    keys: set[str] = set()
    history, folds = "", 0
    for envelope in talk("claude-opus-4-8", budget):
        fixed.add(envelope.plan.text_of(*FIXED))
        keys.add(envelope.plan.cache_key)
        assert envelope.text.startswith(envelope.plan.text_of(*FIXED))
        said = envelope.plan.text_of(Stability.HISTORY)
        folds += folded(envelope)
        assert folds or said.startswith(history)
        history = said
    assert len(fixed) == len(keys) == 1
    assert (folds > 0) == (budget == 15_000)


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-4-8", 0.75),
        ("claude-haiku-4-5", 0.6),
        ("gpt-5", 0.75),
        ("gpt-5.6", 0.75),
        ("gemini-2.5-pro", 0.75),
        ("gemini-3-pro", 0.6),
    ],
)
def test_most_of_a_request_is_read_from_the_providers_cache(
    talk: Talk, model: str, least: float
) -> None:
    before: Envelope | None = None
    read = sent = 0
    for envelope in talk(model, 40_000):
        if before is not None:
            expected = tokens_read(before.plan, envelope.plan)
            assert expected <= before.trace.cache_metadata["expected_cached_tokens"]
            read += expected
            sent += envelope.plan.counter.lower_bound(envelope.text)
        before = envelope
    assert read / sent >= least


def kept(request: dict[str, Any]) -> list[str]:
    """Return the parts of a request that a provider keeps for the next turn, in its order."""
    if "config" in request:
        fixed = [request["config"], request["_dynamic_instructions"]]
        return [json.dumps(part) for part in (*fixed, *request["contents"][:-1])]
    said = [(m["role"], m["content"]) for m in request["messages"]]
    if not isinstance(said[0][1], list):
        return [json.dumps(part) for part in (request["tools"], *said[:-1])]
    parts = [*request["tools"], *request.get("system", ())]
    parts += [{"role": role, **part} for role, content in said for part in content]
    last = max(place for place, part in enumerate(parts) if MARKS & part.keys())
    bare = ({k: v for k, v in part.items() if k not in MARKS} for part in parts[: last + 1])
    return [json.dumps(part) for part in bare]


MARKS = {"cache_control", "prompt_cache_breakpoint"}


@pytest.mark.parametrize(
    ("model", "target"),
    [
        ("claude-opus-4-8", "anthropic"),
        ("gpt-5", "openai"),
        ("gpt-5.6", "openai"),
        ("gemini-2.5-pro", "adk"),
    ],
)
def test_what_a_provider_keeps_opens_its_next_request_byte_for_byte(
    talk: Talk, model: str, target: Any
) -> None:
    before: list[str] = []
    for number, envelope in enumerate(talk(model, 40_000)):
        now = kept(envelope.render(target))
        assert now[: len(before)] == before, number
        assert len(now) >= len(before) + 2 * (number > 0)
        before = now


def test_time_that_passes_changes_no_cached_byte(memory: Memory) -> None:
    now, later = (
        memory.compile("analytical_reporting", "what is new?", valid=valid, goal="Report")
        for valid in ("2026-12-01T08:00:00Z", "2026-12-01T09:30:00Z")
    )
    assert now.plan.text_of(*FIXED) == later.plan.text_of(*FIXED)
    assert "2026-12" not in now.text
