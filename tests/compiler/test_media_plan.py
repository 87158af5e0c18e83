"""Media in a compile: counted, replaced, made smaller, and always named in text and trace."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.compiler.counting import counter_for
from tenure.compiler.media_plan import MediaPlan, media_text, plan_media
from tenure.compiler.request import Media, MediaKind, StandIn
from tenure.compiler.request_parsing import parse_request
from tenure.schema.errors import ContextBudgetExhausted, InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.tests.compiler.fake_reader import Bench

RULES = DEFAULT.compile
PICTURE: dict[str, Any] = {"kind": "image", "uri": "a.png", "width": 1120, "height": 1120}
ROWS = [{"city": f"City {i}", "temperature": i, "note": "clear sky"} for i in range(200)]


def planned(*given: dict[str, Any], budget: int = 8_000) -> MediaPlan:
    media = parse_request("code_generation", evidence=list(given)).media
    return plan_media(media, counter_for("generic"), RULES, budget=budget)


def test_an_original_is_sent_and_counted_beside_the_text() -> None:
    plan = planned(PICTURE)
    assert plan.tokens == 1600
    assert plan.texts == ("[image 1120x1120 a.png]",)
    assert plan.split() == {"text": 0, "image": 1600, "audio": 0, "video": 0, "structured": 0}
    assert plan.shown[0].to_dict() == {
        "uri": "a.png", "modality": "image", "sent_as": "original", "tokens": 1600,
    }  # fmt: skip


def test_a_cheaper_faithful_stand_in_replaces_it_and_links_to_it() -> None:
    read = {"text": "Invoice 17, total 40 EUR", "method": "ocr", "confidence": 0.97}
    plan = planned({**PICTURE, "stand_ins": [read]})
    (shown,) = plan.shown
    assert plan.tokens == 0
    assert shown.saved_tokens == 1600 - shown.item.tokens
    assert shown.reference == (
        "a.png#ocr1 (text) extracted from a.png (image) via ocr, confidence 0.970"
    )
    assert plan.texts[0].endswith(f"[{shown.reference}]\nInvoice 17, total 40 EUR")


@pytest.mark.parametrize(
    "stand_in",
    [
        {"text": "a cat", "method": "caption"},
        {"text": "a cat", "method": "ocr", "utility": 0.5},
        {"text": "a cat", "method": "guess"},
        {"text": "word " * 2_000, "method": "ocr"},
    ],
    ids=["a caption keeps too little", "stated too low", "unknown method", "dearer"],
)
def test_what_is_dearer_or_keeps_too_little_replaces_nothing(stand_in: dict[str, Any]) -> None:
    assert planned({**PICTURE, "stand_ins": [stand_in]}).tokens == 1600


def test_the_worth_of_the_original_scales_what_a_stand_in_must_keep() -> None:
    caption = {"text": "a cat", "method": "caption", "utility": 0.5}
    assert planned({**PICTURE, "utility": 0.5, "stand_ins": [caption]}).tokens == 0


def test_a_transcript_replaces_a_recording() -> None:
    speech = {"kind": "audio", "uri": "a.wav", "seconds": 60}
    said = {"text": "We meet on Monday.", "method": "transcript"}
    assert planned(speech).tokens == 2400
    assert planned({**speech, "stand_ins": [said]}).tokens == 0


def test_pictures_that_take_too_much_are_planned_smaller() -> None:
    plan = planned({**PICTURE, "width": 2800, "height": 2800}, PICTURE)
    assert plan.tokens <= 0.6 * 8_000
    sizes = [each.size for each in plan.shown]
    assert all(size is not None and size[0] == size[1] >= 224 for size in sizes)
    assert "x" in plan.texts[0]
    assert plan.shown[1].to_dict()["sent_as"] == "downsampled"
    assert all(each.saved_tokens > 0 for each in plan.shown)


@pytest.mark.parametrize(
    "given",
    [{"kind": "audio", "uri": "a.wav", "seconds": 600}, {"kind": "image", "uri": "a.png"}],
)
def test_what_cannot_be_made_smaller_says_what_is_missing(given: dict[str, Any]) -> None:
    with pytest.raises(ContextBudgetExhausted, match="stand_ins") as caught:
        planned(given, budget=100)
    assert caught.value.data["shortfall"] != 0


def test_a_picture_is_never_planned_below_the_least_edge() -> None:
    with pytest.raises(ContextBudgetExhausted):
        planned(PICTURE, budget=50)
    wide = planned({**PICTURE, "width": 5_000, "height": 500}, budget=4_000)
    assert wide.shown[0].size is not None


def test_a_table_is_written_in_the_cheapest_sure_form() -> None:
    plan = planned({"kind": "structured", "records": ROWS[:3], "uri": "t.csv"})
    (shown,) = plan.shown
    assert plan.tokens == 0
    assert shown.form == "minified_json"
    assert shown.saved_tokens > 0
    assert '"city":"City 2"' in plan.texts[0]
    assert plan.split()["structured"] == shown.item.tokens


def test_a_large_table_is_sampled_and_says_so() -> None:
    plan = planned({"kind": "structured", "records": ROWS, "columns": ["temperature", "city"]},
                   budget=1_000)  # fmt: skip
    (shown,) = plan.shown
    assert shown.item.tokens <= 600
    assert "1 of 3 columns left out" in plan.texts[0]
    assert "of 200 rows, evenly spaced" in plan.texts[0]
    assert '"note"' not in plan.texts[0]


def test_a_row_that_alone_takes_too_much_stays() -> None:
    plan = planned({"kind": "structured", "records": [{"a": "word " * 900}, {"a": 1}]}, budget=200)
    assert "sample of 1 of 2" in plan.texts[0]


def test_a_compile_shows_media_as_data_and_traces_them() -> None:
    read = {"text": "alpha invoice total", "method": "ocr"}
    bench = Bench()
    envelope = bench.compile(
        query="alpha invoice",
        evidence=[
            {**PICTURE, "stand_ins": [read]},
            {**PICTURE, "uri": "b.png", "width": 9_000, "height": 9_000},
            {"kind": "structured", "records": ROWS[:2]},
            "alpha text",
        ],
    )
    listed = {each.get("uri", ""): each for each in envelope.trace.budget["media"]}
    assert {u: e["sent_as"] for u, e in listed.items()} == {
        "": "original", "a.png": "ocr", "b.png": "downsampled",
    }  # fmt: skip
    kinds = {(c.conversion.value, c.detail) for c in envelope.trace.conversions}
    assert kinds == {("externalized", "ocr"), ("truncated", "downsampled")}
    assert all(b.kind.value == "data" for b in envelope.blocks if "[image" in b.text)
    assert envelope.trace.budget["budget_tokens"] == 8_000 - listed["b.png"]["tokens"]
    split = envelope.trace.budget["modalities"]
    assert split["image"] == listed["b.png"]["tokens"]
    assert split["text"] > 0 < split["structured"]
    assert envelope.manifest.artifact_uris == ("a.png", "b.png")
    setting = bench.setting(parse_request("code_generation"))
    assert setting.media == MediaPlan()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kind": "image"}, "where the original is"),
        ({"kind": "structured", "records": {"a": 1}}, "a list of objects"),
        ({"kind": "structured", "records": [1]}, "a list of objects"),
        ({**PICTURE, "stand_ins": [{"text": "a", "utility": 2}]}, "from 0 to 1"),
        ({"kind": "structured", "records": [{}] * 5_001}, "more than 5000"),
    ],
)
def test_malformed_media_are_refused_by_name(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        planned(given)


def test_a_request_with_media_survives_its_json() -> None:
    from tenure.compiler.request_parsing import request_from_json

    request = parse_request(
        "code_generation",
        evidence=[
            {**PICTURE, "stand_ins": [{"text": "x"}]},
            {"kind": "structured", "records": ROWS[:1], "columns": ["city"]},
        ],
    )
    assert request_from_json(request.to_json()) == request
    assert request.media[1].stand_ins == (StandIn(text="x"),)
    table = Media(kind=MediaKind.STRUCTURED, records="[]")
    assert media_text(table) == "[structured]"
