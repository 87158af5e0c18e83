"""Quality metrics, differences and ablation of envelopes."""

from dataclasses import replace

import pytest

from tenure.compiler.compile import compile_snapshot
from tenure.compiler.envelope.compare import ablate, diff_envelopes
from tenure.compiler.explain.diagnosis import LOW_PRECISION, Cause, Part
from tenure.compiler.request.parse import parse_request
from tenure.compiler.text.relevance import COSINE_FULL
from tenure.compiler.trace.metrics import stands
from tenure.schema.compile_terms import ValidationStatus
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import QUALITY_METRICS
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench, NearIndex, uid
from tenure.tests.compiler.test_compile import REQUEST, full_bench
from tenure.tests.support.refusals import refused


def test_every_metric_has_a_target_and_lies_between_zero_and_one() -> None:
    found = full_bench().compile(**REQUEST).quality
    assert list(found.metrics) == list(QUALITY_METRICS)
    assert all(0 <= value <= 1 for value in found.metrics.values())
    assert found.metrics["provenance_coverage"] == 1.0
    assert found.metrics["compression_fidelity"] == 1.0


def test_untrusted_text_raises_the_injection_surface() -> None:
    bench = Bench()
    bare = bench.compile(query="x").quality
    full = bench.compile(query="x", evidence=["alpha " * 400]).quality
    assert bare.metrics["injection_surface"] == 0.0
    assert 0.1 < full.metrics["injection_surface"] <= 0.2


def test_an_envelope_that_is_mostly_untrusted_text_alerts_by_default() -> None:
    envelope = Bench().compile(query="x", evidence=["alpha " * 400])
    assert envelope.quality.targets["injection_surface"].ceiling == 0.1
    assert "injection_surface" in envelope.quality.alerts
    assert envelope.trace.alerts == envelope.quality.alerts
    assert envelope.trace.validation_status is ValidationStatus.WARNINGS

    few = Bench().compile(query="x", evidence=["alpha"])
    assert "injection_surface" not in few.quality.alerts


def test_a_stronger_isolation_leaves_less_surface_and_no_alert() -> None:
    marked = Bench().rules(datamark_kinds=("web",))
    evidence = {"text": "alpha " * 400, "origin": "web://example.org/alpha"}
    assert "injection_surface" in Bench().compile(query="x", evidence=[evidence]).quality.alerts
    assert "injection_surface" not in marked.compile(query="x", evidence=[evidence]).quality.alerts


def test_every_alert_is_a_warning_of_the_envelope() -> None:
    notes = ["The report of room 3 is blue."]
    envelope = Bench().compile(query="Which harbour tariff has Lisbon?", evidence=notes)
    assert "signal_density" in envelope.trace.alerts
    assert not envelope.quality.failed
    assert not envelope.gaps
    assert envelope.trace.validation_status is ValidationStatus.WARNINGS


def test_notes_about_something_else_alert_and_one_right_line_does_not() -> None:
    bench = Bench()
    for number in range(20):
        bench.world.add(
            f"note {number}", text=f"The report of room {number} is blue",
            object_type="retrieved_passage",
        )  # fmt: skip
    query = "Which report names the harbour tariff of Lisbon?"
    noise = bench.compile(query=query)
    assert noise.quality.metrics["signal_density"] == 0.0
    assert "signal_density" in noise.quality.alerts
    assert noise.trace.metrics["context_precision"] < LOW_PRECISION
    assert Cause.BURIED in {suspicion.cause for suspicion in noise.diagnosis}

    right = Bench().compile(query=query, evidence=["The harbour tariff of Lisbon is in report 7."])
    assert right.quality.metrics["signal_density"] == 1.0
    assert "signal_density" not in right.quality.alerts
    assert right.trace.metrics["context_precision"] > LOW_PRECISION


def test_where_the_question_brought_nothing_in_there_is_no_noise() -> None:
    envelope = Bench().compile(query="Which harbour tariff has Lisbon?")
    assert envelope.quality.metrics["signal_density"] == 1.0
    assert envelope.trace.metrics["context_precision"] == 1.0
    assert "signal_density" not in envelope.quality.alerts


def test_the_policy_says_what_alerts() -> None:
    evidence = ["alpha " * 400]
    lenient = Bench().rules(quality_ceilings=(("injection_surface", 0.5),))
    assert "injection_surface" not in lenient.compile(query="x", evidence=evidence).quality.alerts
    strict = Bench().rules(quality_ceilings=(("injection_surface", 0.02),))
    found = strict.compile(query="x", evidence=evidence)
    assert "injection_surface" in found.quality.alerts
    assert found.quality.failed
    reasons = [suspicion.why for suspicion in found.diagnosis]
    assert any("outside 0 to 0.02" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("text", "density"), [("The harbour lies.", 0.0), ("Harbour tariff.", 1.0)]
)
def test_a_text_bears_on_a_question_from_two_of_five_terms(text: str, density: float) -> None:
    envelope = Bench().compile(query="Lisbon harbour tariff ship night", evidence=[text])
    assert envelope.quality.metrics["signal_density"] == density


def test_guidance_counts_among_the_constraints() -> None:
    guided = Bench().compile(query="x", skills=["Write short sentences and no jargon at all."])
    assert guided.quality.metrics["constraint_density"] > 0
    assert Bench().compile(query="x").quality.metrics["constraint_density"] == 0


def test_what_stands_beside_a_text_counts_as_said_with_it() -> None:
    bench = Bench()
    turn = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}
    bench.world.add("asked", text="What is the harbour tariff of Lisbon?", **turn)
    bench.world.add("answered", text="Forty.", **turn)
    beside = bench.compile(query="harbour tariff of Lisbon")
    assert beside.quality.metrics["signal_density"] == 1.0
    for number in range(20):
        bench.world.add(f"later {number}", text=f"Nothing {number}", **turn)
    after = bench.compile(query="harbour tariff of Lisbon")
    assert 0.0 < after.quality.metrics["signal_density"] < 1.0


def test_a_near_vector_bears_on_the_question_without_a_word() -> None:
    bench = Bench(encoder_id="toy")
    bench.index = NearIndex(bench.world, {"far word": (COSINE_FULL * 3 // 5, 0)})
    bench.world.add("far word", text="beta", object_type="retrieved_passage")
    found = bench.compile(query="alpha", query_vector=[1.0])
    assert found.quality.metrics["signal_density"] == 1.0
    assert found.trace.metrics["context_precision"] == 0.6


def test_repeated_text_raises_the_duplication_rate() -> None:
    text = "one two three four five six seven eight nine ten"
    bench = Bench()
    once = bench.compile(query="x", history=[text]).quality
    twice = bench.compile(query="x", history=[text, text]).quality
    assert once.metrics["duplication_rate"] == 0.0
    assert twice.metrics["duplication_rate"] > 0.3
    assert "duplication_rate" in twice.alerts


def test_aged_objects_raise_the_staleness_index_and_fail_when_safety_matters() -> None:
    bench = Bench()
    bench.world.add("old", text="alpha fact", decay=(10, 0.01), tx=NOW - 30 * DAY)
    found = bench.compile(query="alpha fact").quality
    assert found.metrics["staleness_index"] == 0.875
    assert "staleness_index" in found.alerts
    assert found.failed


def test_a_safety_critical_policy_refuses_what_misses_a_mandatory_target() -> None:
    bench = Bench().rules(safety_critical=True)
    bench.world.add("old", text="alpha fact", decay=(10, 0.01), tx=NOW - 30 * DAY)
    with refused(InvalidInput, "quality_rejected") as caught:
        bench.compile(query="alpha fact")
    assert caught.value.data["metrics"] == {"staleness_index": 0.875}
    assert "staleness_index" in Bench(world=bench.world).compile(query="alpha fact").quality.alerts
    assert bench.compile(query="beta").quality.failed is False


def test_shortened_texts_lower_the_fidelity() -> None:
    text = "The alpha number is 7. " + " ".join(f"Item {i} costs {i}1 dollars." for i in range(60))
    found = Bench().compile(query="alpha number", evidence=[text], budget_tokens=330).quality
    assert found.metrics["compression_fidelity"] < 0.5


def test_a_diff_names_what_changed() -> None:
    bench = full_bench()
    before = bench.compile(**REQUEST)
    bench.world.add("later", text="The nightly deploy report and office of Sam Rivera moved.")
    after = bench.compile(**{**REQUEST, "goal": "Plan another visit", "errors": []})
    found = diff_envelopes(before, after)
    assert uid("later") in found.added
    assert len(found.removed) == 2
    assert found.token_delta == after.tokens - before.tokens
    assert dict(found.section_deltas)["errors"] < 0
    assert found.first_change is not None
    assert before.text[: found.first_change] == after.text[: found.first_change]
    assert found.utilisation[0] == round(before.tokens_upper / 8000, 4)


def test_an_envelope_does_not_differ_from_itself() -> None:
    envelope = full_bench().compile(**REQUEST)
    found = diff_envelopes(envelope, envelope)
    assert (found.added, found.removed, found.modified, found.first_change) == ((), (), (), None)
    assert found.unchanged == len(envelope.trace.compiled_objects)


def test_a_changed_value_is_modified() -> None:
    bench = Bench()
    bench.world.add("fact", text="alpha is one")
    before = bench.compile(query="alpha")
    bench.world.rows.clear()
    bench.world.add("fact", text="alpha is two")
    assert diff_envelopes(before, bench.compile(query="alpha")).modified == (uid("fact"),)


def test_ablation_leaves_out_objects_and_sections() -> None:
    bench = full_bench()
    request = parse_request("code_generation", **REQUEST)

    def words(without: frozenset[str]) -> float:
        context = replace(bench.context(request), ablation=without)
        envelope = compile_snapshot(bench.snapshot(context), context)
        return float(sum(len(block.text) for block in envelope.blocks))

    report = ablate([uid("office"), "evidence"], words, pairs=True)
    assert report.utility == words(frozenset())
    assert ablate(["evidence"], words).pairs == ()
    assert dict(report.single)["evidence"] > dict(report.single)[uid("office")] > 0
    assert report.pairs[0][2] == pytest.approx(0, abs=40)


def test_ablation_ranks_what_helps_and_tells_synergy_from_redundancy() -> None:
    held = {"a": "key", "b": "lock", "c": "echo", "d": "echo"}

    def worth(without: frozenset[str]) -> float:
        left = {value for name, value in held.items() if name not in without}
        return 2.0 * ({"key", "lock"} <= left) + 1.0 * ("echo" in left)

    report = ablate(list(held), worth, pairs=True)
    assert report.ranked == (("a", 2.0), ("b", 2.0), ("c", 0.0), ("d", 0.0))
    # without either the door stays shut; an echo is lost only when both are gone
    assert report.synergies == (("a", "b", 2.0),)
    assert report.redundancies == (("c", "d", 1.0),)
    assert report.pairs[0] == ("a", "b", -2.0)


def test_utilisation_is_the_share_of_the_budget_that_the_text_takes() -> None:
    bench = Bench()
    little = bench.compile(query="x", budget_tokens=4_000)
    assert little.quality.metrics["budget_utilisation"] == round(little.tokens_upper / 4_000, 4)
    pages = [f"alpha page {n}: " + f"city{n} street{n} house{n}. " * 40 for n in range(60)]
    full = bench.compile(query="alpha page", evidence=pages, budget_tokens=4_000)
    assert full.quality.metrics["budget_utilisation"] >= 0.85
    assert full.quality.metrics["budget_utilisation"] <= 1


def test_room_that_is_left_is_a_miss_only_where_something_had_no_room() -> None:
    bench = Bench()
    little = bench.compile(query="x", budget_tokens=4_000)
    assert "budget_utilisation" not in little.quality.alerts
    page = "alpha " + " ".join(f"word{n}" for n in range(400))
    left = bench.compile(query="alpha", evidence=[page], budget_tokens=900)
    assert [o.reason for o in left.trace.omitted_objects] == ["over_budget"]
    assert left.quality.metrics["budget_utilisation"] < 0.85
    assert "budget_utilisation" in left.quality.alerts
    (why,) = (s for s in left.diagnosis if s.why.startswith("budget_utilisation"))
    assert (why.cause, why.part) == (Cause.MISSING, Part.COMPILATION)
    assert [stands("budget_utilisation", e.quality) for e in (little, left)] == [
        "all fits",
        "outside",
    ]


def test_provenance_is_whole_because_anonymous_text_stays_out() -> None:
    nameless = {"text": "alpha from nowhere", "origin": ""}
    envelope = Bench().compile(query="alpha", evidence=[nameless, "alpha from somewhere"])
    assert "from nowhere" not in envelope.text
    assert [o.reason for o in envelope.trace.omitted_objects] == ["provenance_missing"]
    assert envelope.quality.metrics["provenance_coverage"] == 1.0
