"""The driver: ten stages, one envelope, the same bytes."""

import copy
import pickle
import random
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.fitting.assemble import seal_of
from tenure.compiler.format.grammar import CONTAINMENT_SENTENCE, parse_envelope, verify_envelope
from tenure.compiler.ir.records import Gap
from tenure.schema.compile_terms import GapCode, OverflowPolicy, SectionName, wire_key
from tenure.schema.errors import ContextBudgetExhausted, Forbidden, InvalidInput
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench, digest
from tenure.tests.support.refusals import refused
from tenure.tests.support.sampling import examples

WORDS = "vault deploy nightly steering report chicago latency cluster cache memory graph".split()


def full_bench() -> Bench:
    bench = Bench(principal=Principal(user="ann", projects=frozenset({"nova"})))
    world = bench.world
    world.person("Sam Rivera")
    world.add("office", subject="Sam Rivera", slot="office", value="Chicago")
    world.add("title", subject="Sam Rivera", slot="title", value="director")
    world.add("style", subject="Ann", slot="response_style", value="concise", scope={"user": "ann"})
    world.add("rule", text="Never print secrets.", object_type="policy_rule", level=1)
    world.add("core", text="Be truthful.", object_type="policy_rule", level=0)
    world.add(
        "api",
        subject="Nova",
        type="project",
        slot="api_style",
        value="REST",
        scope={"project": "nova"},
    )
    for i in range(12):
        words = " ".join(random.Random(i).choices(WORDS, k=30))
        world.add(
            f"p{i}",
            text=f"Passage {i}. {words}.",
            level=4,
            origin=f"doc://d/{i}",
            object_type="retrieved_passage",
            why="handbook",
        )
    return bench


REQUEST: dict[str, Any] = {
    "query": "Where is Sam Rivera's office, and the nightly deploy report?",
    "goal": "Plan the visit",
    "step": "find the office",
    "acceptance": ["names the city"],
    "constraints": ["Answer in English"],
    "tools": [{"name": "search", "description": "Find text", "input_schema": {"type": "object"}}],
    "history": ["Hello", {"role": "assistant", "text": "Hi"}],
    "evidence": ["Chicago has a lake.", {"text": "The deploy is nightly.", "origin": "doc://x/1"}],
    "skills": [{"name": "maps", "text": "Say which map you used."}],
    "progress": ["looked up the name"],
    "errors": ["The last search timed out."],
}


def test_the_envelope_reads_back_as_its_blocks_and_its_boundaries_hold() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    assert parse_envelope(envelope.text) == envelope.blocks
    assert envelope.digest == digest(envelope.text) == envelope.manifest.digest
    ids = {o.anchor: o.object_id for o in envelope.trace.compiled_objects}
    from tenure.compiler.request.parse import parse_request

    seal = seal_of(bench.context(parse_request("code_generation", **REQUEST)))
    assert verify_envelope(envelope.text, seal, ids=ids) == ()


def test_sections_stand_in_the_one_wire_order() -> None:
    envelope = full_bench().compile(**REQUEST)
    names = [SectionName(use.name) for use in envelope.sections]
    assert names == sorted(names, key=wire_key)
    assert names[0] is SectionName.SYSTEM_POLICY or names[0] is SectionName.TOOLS
    assert [n.value for n in names[-3:]] == ["acceptance", "user_request", "goal_recap"]
    assert CONTAINMENT_SENTENCE in envelope.text


def test_every_object_stands_where_the_table_says() -> None:
    bench = full_bench()
    found = bench.compiled(bench.compile(**REQUEST))
    assert found["core"] == "system_policy"
    assert found["rule"] == "tenant_policy"
    assert found["style"] == "guidance"
    assert found["office"] == "turn_memory"
    assert "title" not in found  # the question asks the office alone
    assert {found[name] for name in found if name.startswith("p")} == {"evidence"}


def test_facts_of_one_entity_share_a_row_with_anchors() -> None:
    envelope = full_bench().compile(query="Tell me about Sam Rivera")
    rows = [b.text for b in envelope.blocks if b.section == "turn_memory"]
    anchors = {o.object_id: o.anchor for o in envelope.trace.compiled_objects}
    assert len(rows) == 1
    assert rows[0].startswith("Sam Rivera | ")
    assert " | office = Chicago [" in f" | {rows[0]}"
    assert all(f"[{anchors[i]}]" in rows[0] for i in anchors if anchors[i] in rows[0])


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_set_like_inputs_changes_no_byte(seed: int) -> None:
    first = full_bench().compile(**REQUEST)
    rng, bench = random.Random(seed), full_bench()
    rng.shuffle(bench.world.rows)
    shuffled = {
        **REQUEST,
        **{name: rng.sample(REQUEST[name], len(REQUEST[name])) for name in ("evidence", "tools")},
    }
    again = bench.compile(**shuffled)
    assert again.text == first.text
    assert again.envelope_id == first.envelope_id


def test_cached_zones_do_not_look_at_the_query_or_the_turn() -> None:
    bench = full_bench()
    one = bench.compile(**REQUEST)
    other = bench.compile(
        **{**REQUEST, "query": "latency of the cache", "evidence": [], "errors": []}
    )

    def prefix(envelope: Any) -> str:
        stable = ("static", "scope", "session", "history")
        return "".join(s.text for s in envelope.plan.segments if s.stability.value in stable)

    assert prefix(one) == prefix(other) != ""
    assert one.text.startswith(prefix(one))
    assert (
        one.trace.cache_metadata["prompt_cache_key"]
        == (other.trace.cache_metadata["prompt_cache_key"])
    )


def test_appending_a_turn_keeps_the_bytes_before_it() -> None:
    bench = full_bench()
    before = bench.compile(query="office", history=["Hello", "Where?"])
    after = bench.compile(query="office", history=["Hello", "Where?", "And when?"])
    end = before.text.index("=== RELATED MEMORY")
    assert after.text.startswith(before.text[:end])


@given(
    budget=st.integers(min_value=1, max_value=3_000),
    turns=st.integers(min_value=0, max_value=12),
    texts=st.lists(st.text(max_size=300), max_size=6),
    overflow=st.sampled_from(sorted(OverflowPolicy)),
    model=st.sampled_from(["generic", "claude-opus-4-8"]),
)
@settings(max_examples=examples(60))
def test_the_budget_is_never_exceeded(
    budget: int, turns: int, texts: list[str], overflow: OverflowPolicy, model: str
) -> None:
    bench = full_bench().rules(overflow=overflow)
    history = [f"turn {i} " + " ".join(WORDS[: i % 9]) for i in range(turns)]
    envelope = None
    with suppress(ContextBudgetExhausted):
        envelope = bench.compile(
            query="office of Sam Rivera and deploy",
            budget_tokens=budget,
            history=history,
            evidence=texts,
            model=model,
        )
    if envelope is None:
        return
    assert envelope.tokens_upper <= budget
    assert parse_envelope(envelope.text) == envelope.blocks


def crowded(seed: int, overflow: OverflowPolicy) -> tuple[Bench, dict[str, Any]]:
    """Return a bench with more of the turn's objects than a small budget holds."""
    chance = random.Random(seed)
    bench = Bench(principal=Principal(user="ann")).rules(overflow=overflow)

    def words(most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(2, most)))

    for i in range(chance.randint(2, 12)):
        own = " ".join(f"only{i}of{k}" for k in range(6))  # no two passages are near copies
        bench.world.add(f"p{i}", text=f"Passage {i}. {words(80)} {own}.", level=4, origin=f"doc://d/{i}",
                        object_type="retrieved_passage", why="handbook")  # fmt: skip
    for i in range(chance.randint(0, 8)):
        bench.world.add(f"f{i}", subject=f"Person {i % 3}", slot=chance.choice(["office", "title"]),
                        value=f"{words(8)} {i}")  # fmt: skip
    history = [words(30) for _ in range(chance.choice((0, 4)))]
    return bench, {"query": f"{words(4)} Person 1", "history": history}


def leading(envelope: Envelope, stored: Collection[str]) -> list[str]:
    """Return the critical stored objects by rank, up to the first that is not there as a whole."""
    trace = envelope.trace
    shortened = {change.object_id for change in trace.conversions}
    there = [
        (-o.score, o.object_id, o.object_id not in shortened)
        for o in trace.compiled_objects
        if o.priority_tier == "critical" and o.object_id in stored
    ]
    missing = [
        (-(o.score or 0), o.object_id, False)
        for o in trace.omitted_objects
        if o.priority_tier == "critical" and o.object_id in stored
    ]
    ranked = sorted(there + missing)
    return [object_id for _, object_id, _ in takewhile(lambda each: each[2], ranked)]


@given(
    seed=st.integers(0, 10_000),
    budget=st.integers(200, 1_800),
    more=st.integers(1, 600),
    overflow=st.sampled_from(sorted(OverflowPolicy)),
)
@settings(max_examples=examples(150))
def test_more_budget_never_fails_nor_loses_a_leading_critical_object(
    seed: int, budget: int, more: int, overflow: OverflowPolicy
) -> None:
    bench, request = crowded(seed, overflow)
    try:
        before = bench.compile(**request, budget_tokens=budget)
    except ContextBudgetExhausted:
        return
    after = bench.compile(**request, budget_tokens=budget + more)
    kept = leading(before, bench.world.names)
    assert leading(after, bench.world.names)[: len(kept)] == kept
    required = {o.object_id for o in before.trace.compiled_objects if o.section == "user_request"}
    assert required <= {o.object_id for o in after.trace.compiled_objects}


def test_required_content_only_fails_loud() -> None:
    with refused(ContextBudgetExhausted, "required_over_budget") as caught:
        full_bench().compile(query="x", goal="word " * 500, budget_tokens=300)
    shortfall = int(str(caught.value.data["shortfall"]))
    full_bench().compile(query="x", goal="word " * 500, budget_tokens=300 + shortfall)


def test_fail_loud_leaves_nothing_out() -> None:
    bench = full_bench().rules(overflow=OverflowPolicy.FAIL_LOUD)
    with refused(ContextBudgetExhausted, "ladder_exhausted"):
        bench.compile(**{**REQUEST, "budget_tokens": 1000})
    careful = full_bench().rules(safety_critical=True)
    with pytest.raises(InvalidInput, match="only stated"):
        careful.compile(**REQUEST)


def test_deferred_retrieval_is_a_gap() -> None:
    bench = full_bench().rules(overflow=OverflowPolicy.DEFER_RETRIEVAL)
    envelope = bench.compile(query="nightly deploy report", budget_tokens=700)
    assert "retrieval_deferred" in {o.reason for o in envelope.trace.omitted_objects}
    assert "retrieval_pending" in {gap.code.value for gap in envelope.gaps}


def test_pages_show_every_relevant_object_once() -> None:
    bench = full_bench().rules(overflow=OverflowPolicy.PAGINATE)
    page: Envelope | None = bench.compile(query="nightly deploy report", budget_tokens=700)
    seen: list[str] = []
    pages = 0
    while page is not None:
        pages += 1
        seen += [n for n, s in bench.compiled(page).items() if s == "evidence"]
        assert page.tokens_upper <= 700
        page = page.next
    assert pages > 1
    assert len(seen) == len(set(seen))
    whole = bench.compiled(bench.compile(query="nightly deploy report", budget_tokens=9_000))
    assert set(seen) == {n for n, s in whole.items() if s == "evidence"}


def test_pages_end_even_when_an_item_fits_on_none() -> None:
    bench = full_bench().rules(overflow=OverflowPolicy.PAGINATE)
    texts = ["deploy " * 3_000, *(f"deploy report {i} " + "word " * 60 for i in range(5))]
    page = bench.compile(query="deploy report", evidence=texts, budget_tokens=900)
    pages = [page]
    while (following := pages[-1].next) is not None:
        pages.append(following)
        assert len(pages) < 20
    assert "guidance" in {use.name for use in pages[-1].sections}
    reasons = [o.reason for o in pages[-1].trace.omitted_objects]
    assert "item_larger_than_section" in reasons
    assert "next_page" not in reasons


def test_a_pickled_envelope_keeps_its_trace_its_quality_and_its_pages() -> None:
    bench = full_bench().rules(overflow=OverflowPolicy.PAGINATE)
    page = bench.compile(query="nightly deploy report", budget_tokens=700).with_words(
        lambda envelope: {"secret": "words of what stayed out"}
    )
    stored = pickle.dumps(page)
    assert b"words of what stayed out" not in stored

    twin, count = pickle.loads(stored), 0
    original: Envelope | None = page
    while original is not None:
        assert (twin, twin.trace, twin.quality) == (original, original.trace, original.quality)
        original, twin = original.next, twin.next
        count += 1
    assert count > 1
    assert twin is None
    assert copy.copy(page) is page is copy.deepcopy(page)


def test_a_step_without_acceptance_is_a_gap() -> None:
    envelope = full_bench().compile(query="office", step="look")
    assert [gap.code.value for gap in envelope.gaps] == ["acceptance_missing"]
    assert envelope.manifest.valid is False
    assert full_bench().compile(query="office").manifest.valid is True


def test_unknown_and_ambiguous_entities_are_gaps() -> None:
    bench = full_bench()
    twin = "11111111-1111-4111-8111-111111111111"
    sam = next(e for e in bench.world.entities.values() if e.name == "Sam Rivera")
    bench.world.entities[twin] = replace(sam, entity_id=twin)
    envelope = bench.compile(query="hello", entities=["Nobody", "Sam Rivera"])
    assert {(g.code.value, g.subject) for g in envelope.gaps} == {
        ("unknown_entity", "Nobody"),
        ("ambiguous_entity", "Sam Rivera"),
    }
    assert envelope.trace.metrics["entity_resolution_conflicts"] == 1


def test_a_project_that_is_not_ours_is_refused() -> None:
    with refused(Forbidden, "scope_not_yours"):
        full_bench().compile(query="x", project="atlas")


def test_an_unknown_task_type_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'code_generation'"):
        full_bench().compile("code_generatoin", query="x")


def test_hard_constraints_are_checked_on_the_output() -> None:
    envelope = full_bench().compile(
        query="x",
        constraints=[
            {"text": "JSON", "enforcement": "schema", "spec": {"type": "object"}},
            "be kind",
        ],
    )
    assert envelope.check("{}").passed
    assert not envelope.check("[]").passed
    assert len(envelope.check("{}").unchecked_ids) == 3


def test_an_asked_slot_without_a_value_is_a_gap() -> None:
    bench = full_bench()
    sam = next(e for e in bench.world.entities.values() if e.name == "Sam Rivera").entity_id
    asked = bench.compile(query="office, manager and budget?", entities=["Sam Rivera"])
    # the office is known, and only projects have a budget
    assert asked.gaps == (Gap(GapCode.NO_VALUE, sam, "manager"),)
    assert bench.compile(query="hello", entities=["Sam Rivera"]).gaps == ()


def test_what_is_withheld_is_not_said_to_be_unknown() -> None:
    bench = full_bench()
    bench.world.add("boss", subject="Sam Rivera", slot="manager", value="Zoe", visible=False)
    assert bench.compile(query="manager?", entities=["Sam Rivera"]).gaps == ()
