"""The trace has every field of the sources' example, and so has the manifest (C-104 to C-113)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tenure.compiler.trace.manifest import manifest_from_json
from tenure.schema.compile_terms import CacheHitStatus, CompiledAs
from tenure.schema.errors import InvalidInput
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench
from tenure.tests.compiler.test_compile import REQUEST, full_bench
from tenure.tests.source_tree import ROOT

DATA = ROOT / "tests" / "data"
TRACE: dict[str, Any] = json.loads((DATA / "source-trace.json").read_text(encoding="utf-8"))
MANIFEST: dict[str, Any] = json.loads((DATA / "source-manifest.json").read_text(encoding="utf-8"))


def fields(held: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every field; those of a list's items are one."""
    if isinstance(held, dict):
        for name, value in held.items():
            yield f"{path}.{name}"
            yield from fields(value, f"{path}.{name}")
    elif isinstance(held, list):
        for item in held:
            yield from fields(item, f"{path}[]")


def plain_trace() -> dict[str, Any]:
    """Return the trace of a compile that has objects of every list."""
    bench = Bench(principal=Principal(user="ann", projects=frozenset({"nova"}), session="s1"))
    world = bench.world
    world.add("tie", subject="Sam", slot="office", value="Rome", status="disputed",
              reason="unresolved_tie")  # fmt: skip
    world.add("past", subject="Sam", slot="title", value="clerk", valid=(0, NOW - DAY))
    world.add("api", subject="Nova", type="project", slot="api_style", value="REST",
              scope={"project": "nova"})  # fmt: skip
    world.add("rule", text="Never print secrets.", object_type="policy_rule", level=1)
    envelope = bench.compile(query="office and title of Sam", entities=["Sam"])
    return envelope.trace.to_dict({"compilation_latency_ms": 1.5})


def test_every_field_of_the_sources_trace_is_there_and_of_its_kind() -> None:
    ours = plain_trace()
    assert set(fields(TRACE)) - set(fields(ours)) == set()
    for name, value in TRACE.items():
        kinds = (type(value), type(None)) if name.endswith("_id") else (type(value),)
        assert isinstance(ours[name], kinds), name
    metadata = ours["state_compilation_metadata"]
    for name, value in TRACE["state_compilation_metadata"].items():
        assert isinstance(metadata[name], type(value)), name
    numbers = ours["observability_metrics"]
    assert all(isinstance(numbers[name], int | float) for name in TRACE["observability_metrics"])


def test_the_words_of_the_sources_trace_are_words_of_ours() -> None:
    metadata = TRACE["state_compilation_metadata"]
    assert TRACE["cache_hit_status"] in set(CacheHitStatus)
    assert {each["compiled_as"] for each in metadata["compiled_objects"]} <= set(CompiledAs)
    ours = plain_trace()["state_compilation_metadata"]
    gone = next(o for o in ours["omitted_objects"] if o["reason"] == "expired_valid_time")
    assert gone["valid_until"].endswith("Z")
    tied = ours["quarantined_objects"][0]
    assert (tied["reason"], tied["contradiction_status"]) == (
        metadata["quarantined_objects"][0]["reason"],
        metadata["quarantined_objects"][0]["contradiction_status"],
    )


def test_the_trace_is_plain_json() -> None:
    ours = plain_trace()
    assert json.loads(json.dumps(ours)) == ours


def test_the_shadow_price_stands_in_the_trace_when_tokens_are_scarce() -> None:
    bench = full_bench()
    assert bench.compile(**REQUEST).trace.to_dict()["budget"]["shadow_price"] == 0
    scarce = bench.compile(**{**REQUEST, "budget_tokens": 900}).trace.to_dict()
    assert 0 < scarce["budget"]["shadow_price"] < 1
    evidence = scarce["budget"]["sections"]["evidence"]
    assert evidence["allocated"] > 0 < evidence["used"]


def test_each_section_tells_its_phase_and_how_long_it_may_be_kept() -> None:
    sections = full_bench().compile(**REQUEST).trace.budget["sections"]
    told = {name: (row["phase"], row["cache"]) for name, row in sections.items()}
    assert told["system_policy"] == ("system", "stable")
    assert told["guidance"] == ("user_context", "session")
    assert told["history"] == ("history", "session")
    assert told["user_request"] == ("runtime", "dynamic")


def test_every_field_of_the_sources_manifest_is_there_and_of_its_kind() -> None:
    bench = full_bench()
    picture = {"kind": "image", "uri": "artifact://tasks/42/a.png", "width": 9, "height": 9}
    envelope = bench.compile(query="nightly deploy report", budget_tokens=700, evidence=[picture])
    ours = envelope.manifest.to_dict()
    for name, value in MANIFEST.items():
        if name not in ("window", "checksum"):
            assert isinstance(ours[name], type(value)), name
    assert set(ours["truncation_events"][0]) == set(MANIFEST["truncation_events"][0])
    assert ours["truncation_events"][0]["dropped_ids"]
    assert all(isinstance(tokens, int) for tokens in ours["layer_budgets"].values())
    assert ours["checksum"] == envelope.digest
    assert manifest_from_json(envelope.manifest.to_json()) == envelope.manifest


@pytest.mark.parametrize(
    ("cached", "status"), [(0, "NONE"), (1, "PARTIAL_HIT"), (10**6, "FULL_HIT"), (None, "UNKNOWN")]
)
def test_what_the_provider_reports_settles_the_cache_status(
    cached: int | None, status: str
) -> None:
    bench = Bench()
    turns = [{"role": "user", "text": f"word {n} " * 900} for n in range(3)]
    envelope = bench.compile(query="x", history=turns, model="claude-opus-5", budget_tokens=60_000)
    expected = envelope.trace.cache_metadata["expected_cached_tokens"]
    assert expected > 1_000
    told = envelope if cached is None else envelope.reported(cached_tokens=cached, retries=2)
    plain = told.trace.to_dict()
    assert plain["cache_hit_status"] == status
    assert plain["downstream_retries_triggered"] == (0 if cached is None else 2)
    assert told.trace.cached_tokens_read == (cached or 0)
    assert (told.digest, told.envelope_id) == (envelope.digest, envelope.envelope_id)
    exact = envelope.reported(cached_tokens=expected).trace
    assert exact.cache_hit_status is CacheHitStatus.FULL_HIT
    with pytest.raises(InvalidInput, match="at least 0"):
        envelope.reported(cached_tokens=-1)


def test_recall_counts_the_value_that_was_asked_for_and_is_missing() -> None:
    bench = Bench()
    bench.world.person("Sam")
    bench.world.add("title", slot="title", text="Sam title: engineer", value="engineer",
                    subject="Sam")  # fmt: skip
    both = bench.compile(query="the title and the office of Sam").trace.metrics
    assert both["context_recall"] == 0.5
    one = bench.compile(query="What is the title of Sam?").trace.metrics
    assert one["context_recall"] == 1.0
    missing = bench.compile(query="Where is the office of Sam?").trace.metrics
    assert missing["context_recall"] == 0.0


def test_the_core_metrics_are_worked_out_as_defined() -> None:
    bench = Bench()
    bench.world.add("old", text="alpha faded", decay=(1, 0.5), confirmed=NOW - 9 * DAY)
    bench.world.person("Sam", pending=True)
    envelope = bench.compile(
        query="alpha gamma for Sam", acceptance=["alpha stated", "omega stated"],
        evidence=["alpha gamma", "alpha delta epsilon zeta eta theta"], step="look",
    )  # fmt: skip
    metrics = envelope.trace.metrics
    shown = [o for o in envelope.trace.compiled_objects if o.section == "evidence"]
    assert len(shown) == 2
    assert 0 < metrics["context_precision"] < 1  # the second text is longer and less relevant
    assert metrics["state_decay_evictions"] == 1
    assert metrics["entity_resolution_conflicts"] == 1
    named = 1  # Sam, of whom nothing is said
    assert metrics["context_recall"] == round(1 / (2 + named), 4)
    alone = bench.compile(query="alpha gamma", evidence=["alpha gamma"]).trace.metrics
    assert alone["context_precision"] == 1.0
    assert alone["context_recall"] == 1.0


def test_the_trace_says_what_the_tokens_are_for() -> None:
    bench = Bench()
    said = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}
    for number in range(30):
        bench.world.add(f"turn {number}", text=f"the budget of week {number}\nis fixed", **said)
    bench.world.add("fact", subject="Sam", slot="office", value="the budget room")
    envelope = bench.compile(query="budget")
    tokens = envelope.trace.budget["tokens"]
    assert sum(tokens.values()) == envelope.tokens
    assert all(share > 0 for share in tokens.values())
    assert tokens["text"] > tokens["reference"] > tokens["frame"] / 4

    empty = bench.compile(query="xyzzy").trace.budget["tokens"]
    assert empty["frame"] > empty["text"]
    assert sum(empty.values()) <= 90
