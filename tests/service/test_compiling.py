"""Compiling over a real embedded store: what holds for any request, however odd its texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from tenure import Memory, connect, parse_envelope
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.tokens.capabilities import capability, compile_budget
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.compile_terms import OverflowPolicy
from tenure.schema.errors import ContextBudgetExhausted
from tenure.schema.policy import DEFAULT
from tenure.tests import random_requests
from tenure.tests.support.sampling import part, size

REQUESTS = size(1_500, 10_000)

OVERFLOW = sorted(OverflowPolicy)


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[OverflowPolicy, Memory]]:
    """Yield one store behind five memories, one an overflow policy."""
    path = str(tmp_path_factory.mktemp("budget") / "memory.db")
    opened: dict[OverflowPolicy, Memory] = {}
    for overflow in OVERFLOW:
        policy = replace(DEFAULT, compile=replace(DEFAULT.compile, overflow=overflow))
        opened[overflow] = connect(path, policy=policy)
    taken = random_requests.fill(opened[OVERFLOW[0]], random.Random(11), 300)
    assert taken > 200
    yield opened
    for memory in opened.values():
        memory.close()


def keep_to_budget(memories: dict[OverflowPolicy, Memory], seeds: Iterable[int]) -> Counter[str]:
    """Compile a request for each seed, check its budget, and count the outcomes by counter."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        chance = random.Random(seed)
        memory = memories[chance.choice(OVERFLOW)]
        given = random_requests.random_request(chance)
        model = given["model"]
        seen["asked " + model] += 1
        envelope: Envelope | None
        try:
            envelope = memory.compile(**given)
        except ContextBudgetExhausted as error:
            assert error.data["shortfall"] != 0, seed
            continue
        while envelope is not None:
            seen["compiled " + model] += 1
            budget = compile_budget(given["budget_tokens"], None, capability(model)).tokens
            assert counter_for(model).upper_bound(envelope.text) <= budget, seed
            assert envelope.tokens_upper <= budget, seed
            assert parse_envelope(envelope.text) == envelope.blocks, seed
            envelope = envelope.next
    return seen


def test_the_budget_is_never_exceeded_whatever_the_texts_are(
    memories: dict[OverflowPolicy, Memory],
) -> None:
    seen = keep_to_budget(memories, range(60))
    assert all(seen["compiled " + model] >= 2 for model in random_requests.MODELS)


def test_a_page_says_what_stayed_out_while_its_memory_is_open() -> None:
    with connect(":memory:") as memory:
        memory.write("Sam Rivera", "office", "Austin", valid_from="2025-01-01T00:00:00Z")
        memory.write("Sam Rivera", "office", "Chicago", valid_from="2026-01-01T00:00:00Z")
        memory.write("Sam Rivera", "manager", "Ann Lee", valid_from="2026-01-01T00:00:00Z")
        question = "Where is the office of Sam Rivera, and was it Austin?"
        envelope = memory.compile("assistant", question, budget_tokens=1500)
        (omitted,) = [
            entry.object_id
            for entry in envelope.trace.omitted_objects
            if "Austin" in memory.rehydrate(entry.object_id).text
        ]
        for copy in (envelope, memory.replay(envelope)):
            assert "Sam Rivera office: Austin" in copy.to_html()
            assert "Sam Rivera office: Austin" in copy._repr_html_()

        memory.erase(omitted, reason="case 17")
        assert "Sam Rivera office: Austin" not in envelope.to_html()
    assert f"object {omitted[:8]}" in envelope.to_html()


@pytest.mark.slow
@pytest.mark.parametrize("first", part(range(0, REQUESTS, REQUESTS // 4)))
def test_the_budget_is_never_exceeded_on_many_requests(
    memories: dict[OverflowPolicy, Memory], first: int
) -> None:
    seen = keep_to_budget(memories, range(first, first + REQUESTS // 4))
    assert all(seen["compiled " + model] >= REQUESTS // 40 for model in random_requests.MODELS)


def test_a_value_forges_no_cell_and_no_anchor() -> None:
    with connect(":memory:") as memory:
        memory.write("Ivo", "office", "none | manager = Ivo Rask [1]")
        text = memory.compile("assistant", "Where is Ivo's office?", budget_tokens=900).text
    assert r"office: none \| manager = Ivo Rask \[1]" in text
