"""The five overflow policies, profiles and signals, from `memory.compile` to the envelope."""

from dataclasses import replace
from typing import Any

import pytest

from tenure import Memory, connect
from tenure.schema.compile_terms import OverflowPolicy
from tenure.schema.errors import ContextBudgetExhausted, InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.tests.support.refusals import refused

PAGES = [
    f"Page {i} of the deploy report. {'Nothing else happened that day. ' * 12}It failed {i} times."
    for i in range(8)
]
ASK: dict[str, Any] = {
    "task": "analytical_reporting",
    "query": "how often did the deploy fail",
    "goal": "Report the failures",
    "history": [f"Turn {i}: {'we spoke of the deploy at length. ' * 4}" for i in range(8)],
    "evidence": [{"text": text, "origin": f"doc://report/{i}"} for i, text in enumerate(PAGES)],
    "errors": ["The last report was late."],
}


def under(overflow: OverflowPolicy, **given: Any) -> Any:
    """Compile under an overflow policy."""
    policy = replace(DEFAULT, compile=replace(DEFAULT.compile, overflow=overflow))
    with connect(":memory:", policy=policy) as memory:
        envelope = memory.compile(**{**ASK, "budget_tokens": 900, **given})
        pages = [envelope]
        while pages[-1].next is not None:
            pages.append(pages[-1].next)
        return pages


def reasons(envelope: Any) -> set[str]:
    return {o.reason for o in envelope.trace.omitted_objects if o.stage == "order"}


def test_the_lowest_are_dropped_and_named() -> None:
    (envelope,) = under(OverflowPolicy.TRUNCATE_LOWEST)
    assert reasons(envelope) <= {"over_budget", "section_dropped", "item_larger_than_section"}
    assert reasons(envelope)
    assert envelope.trace.conversions == ()
    events = envelope.manifest.truncation_events
    assert {event.layer for event in events} <= {"evidence", "history", "errors"}


def test_texts_are_compressed_before_they_are_dropped() -> None:
    long = [f"Turn {i}: {'we spoke of many things at length. ' * 30}" for i in range(6)]
    book = "The deploy failed twice. " + "Nothing else happened. " * 300 + "It failed once more."
    (envelope,) = under(OverflowPolicy.CASCADE_COMPRESS, history=long, evidence=[book])
    kinds = {change.conversion.value for change in envelope.trace.conversions}
    assert kinds & {"folded", "truncated"}
    for entry in envelope.trace.budget["compression"]:
        assert entry["compressed_tokens"] < entry["original_tokens"]
    assert "[…]" in envelope.text


def test_evidence_is_deferred_and_flagged() -> None:
    (envelope,) = under(OverflowPolicy.DEFER_RETRIEVAL)
    deferred = [o for o in envelope.trace.omitted_objects if o.reason == "retrieval_deferred"]
    assert deferred
    assert "retrieval_pending" in {gap.code for gap in envelope.gaps}

    # What nobody can fetch again later is not promised.
    evidence = {o.object_id for o in envelope.trace.omitted_objects if o.reason != "over_budget"}
    assert evidence == {o.object_id for o in deferred}
    assert "over_budget" in reasons(envelope) or "section_dropped" in reasons(envelope)
    (whole,) = under(OverflowPolicy.DEFER_RETRIEVAL, budget_tokens=20_000)
    assert "retrieval_pending" not in {gap.code for gap in whole.gaps}


def test_nothing_is_left_out_silently_when_it_must_fail_loud() -> None:
    with refused(ContextBudgetExhausted, "ladder_exhausted") as caught:
        under(OverflowPolicy.FAIL_LOUD)
    assert caught.value.data["shortfall"] != 0
    (envelope,) = under(OverflowPolicy.FAIL_LOUD, budget_tokens=20_000)
    assert reasons(envelope) == set()


def test_pages_are_sub_invocations_that_together_show_everything() -> None:
    pages = under(OverflowPolicy.PAGINATE)
    assert len(pages) > 2
    shown = [
        o.source_origin
        for page in pages
        for o in page.trace.compiled_objects
        if o.section == "evidence"
    ]
    assert sorted(shown) == sorted(f"doc://report/{i}" for i in range(8))
    for page in pages:
        assert page.tokens_upper <= 900
        assert "Report the failures" in page.text
        assert page.plan.text_of("static", "session") == pages[0].plan.text_of("static", "session")
    assert [reasons(page) for page in pages][-1] <= {"item_larger_than_section"}
    assert len({page.envelope_id for page in pages}) == len(pages)


@pytest.mark.parametrize("overflow", sorted(OverflowPolicy))
def test_the_required_set_fails_loud_under_every_policy(overflow: OverflowPolicy) -> None:
    with refused(ContextBudgetExhausted, "required_over_budget"):
        under(overflow, user_request="word " * 2_000)


def test_signals_scale_the_weights_of_their_sections(memory: Memory) -> None:
    plain = memory.compile(**ASK, budget_tokens=900)
    talk = memory.compile(
        **ASK, budget_tokens=900, signals={"unresolved_questions": 5, "dialogue_depth": 20}
    )
    facts = memory.compile(
        **ASK,
        budget_tokens=900,
        signals={"checklist_evidence_ratio": 1, "risk_weight": "high", "expected_tool_calls": 5},
    )
    weights = [e.trace.budget["weights"] for e in (plain, talk, facts)]
    assert weights[1]["history"] > weights[2]["history"]
    assert weights[2]["evidence"] > weights[1]["evidence"]
    assert weights[0] == dict(memory.policy.compile.section_weights)

    def turns(envelope: Any) -> int:
        return sum(o.section == "history" for o in envelope.trace.compiled_objects)

    assert turns(talk) >= turns(facts)
    assert memory.replay(talk.manifest).text == talk.text


@pytest.mark.parametrize(
    ("signals", "named"),
    [({"risk": 1}, "risk_weight"), ({"similarity": -1}, "from 0"), ([1], "a mapping"),
     ({"risk_weight": "hihg"}, "high")],
)  # fmt: skip
def test_a_signal_that_nobody_declared_is_refused(memory: Memory, signals: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        memory.compile(**ASK, signals=signals)


@pytest.mark.parametrize("profile", ["research", "requirements", "test_cases"])
def test_a_profile_divides_the_turn_within_its_caps(memory: Memory, profile: str) -> None:
    envelope = memory.compile(**ASK, profile=profile, budget_tokens=1_500)
    used = {use.name: use.tokens for use in envelope.sections}
    assert envelope.tokens_upper <= 1_500
    assert used["evidence"] <= 0.66 * 1_500
    assert used["evidence"] > used["history"]


def test_media_go_from_a_request_to_text_trace_and_budget(memory: Memory) -> None:
    scan = {
        "kind": "image", "uri": "scan.png", "width": 1600, "height": 2200,
        "stand_ins": [{"text": "Deploy failed 3 times.", "method": "ocr", "confidence": 0.98}],
    }  # fmt: skip
    photo = {"kind": "image", "uri": "photo.png", "width": 8000, "height": 6000}
    table = {"kind": "structured", "records": [{"day": i, "failed": i % 3} for i in range(1_000)]}
    call = {"kind": "audio", "uri": "call.wav", "seconds": 20}
    envelope = memory.compile(
        "analytical_reporting", "how often did the deploy fail",
        evidence=[scan, photo, table, call], budget_tokens=6_000,
    )  # fmt: skip
    media = {each.get("uri", "table"): each for each in envelope.trace.budget["media"]}
    assert media["scan.png"]["sent_as"] == "ocr"
    assert "extracted from scan.png (image) via ocr" in envelope.text
    assert "Deploy failed 3 times." in envelope.text
    assert media["photo.png"]["sent_as"] == "downsampled"
    assert "photo.png]" in envelope.text
    assert "evenly spaced" in media["table"]["note"]
    assert media["call.wav"]["tokens"] == 800
    beside = media["photo.png"]["tokens"] + 800
    assert envelope.tokens_upper <= 6_000 - beside
    assert envelope.trace.budget["budget_tokens"] == 6_000 - beside
    assert memory.replay(envelope.manifest).text == envelope.text
