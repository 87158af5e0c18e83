"""Media in a compile: counted, replaced, made smaller, and always named in text and trace."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from tenure.compiler.fitting.shorten import table_in
from tenure.compiler.media.plan import MediaEntry, MediaPlan, media_text, plan_media
from tenure.compiler.media.reduction import nearest_rows
from tenure.compiler.request.parse import parse_request
from tenure.compiler.request.request import Media, MediaKind, RowFilter, RowTest, StandIn
from tenure.compiler.tokens.capabilities import GENERIC
from tenure.compiler.tokens.counting import counter_for
from tenure.compiler.tokens.modality import Modality
from tenure.schema.compile_terms import OverflowPolicy
from tenure.schema.errors import ContextBudgetExhausted, InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.schema.terms import content_terms
from tenure.tests.compiler.fake_reader import Bench, texts_of
from tenure.tests.support.refusals import refused

RULES = DEFAULT.compile
PICTURE: dict[str, Any] = {"kind": "image", "uri": "a.png", "width": 1120, "height": 1120}
ROWS = [{"city": f"City {i}", "temperature": i, "note": "clear sky"} for i in range(200)]


def planned(
    *given: dict[str, Any],
    budget: int = 8_000,
    asked: str = "",
    takes: tuple[Modality, ...] = GENERIC.media,
    **rules: Any,
) -> MediaPlan:
    media = parse_request("code_generation", evidence=list(given)).media
    stated, terms = replace(RULES, **rules), content_terms(asked)
    counter = counter_for("generic")
    return plan_media(media, counter, stated, budget=budget, query_terms=terms, modalities=takes)


def test_an_original_is_sent_and_counted_beside_the_text() -> None:
    plan = planned(PICTURE)
    assert plan.tokens == 1600
    assert plan.texts == ("[image 1120x1120 a.png]",)
    assert plan.split() == {"text": 0, "image": 1600, "audio": 0, "video": 0, "structured": 0}
    assert plan.entries[0].to_dict() == {
        "uri": "a.png", "modality": "image", "sent_as": "original", "tokens": 1600,
    }  # fmt: skip


def test_a_cheaper_faithful_stand_in_replaces_it_and_links_to_it() -> None:
    read = {"text": "Invoice 17, total 40 EUR", "method": "ocr", "confidence": 0.97}
    plan = planned({**PICTURE, "stand_ins": [read]})
    (shown,) = plan.entries
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
    sizes = [each.size for each in plan.entries]
    assert all(size is not None and size[0] == size[1] >= 224 for size in sizes)
    assert "x" in plan.texts[0]
    assert plan.entries[1].to_dict()["sent_as"] == "downsampled"
    assert all(each.saved_tokens > 0 for each in plan.entries)


CALL: dict[str, Any] = {"kind": "audio", "uri": "a.wav", "seconds": 600}


@pytest.mark.parametrize("given", [CALL, {"kind": "image", "uri": "a.png"}], ids=["sound", "size"])
def test_what_cannot_be_made_smaller_is_named_and_kept_reachable(given: dict[str, Any]) -> None:
    (shown,) = planned(given, budget=100).entries
    assert shown.withheld
    assert shown.attachment_tokens == 0
    assert given["uri"] in shown.text
    assert "[not sent: it takes" in shown.text
    assert shown.to_dict()["sent_as"] == "pointer"


@pytest.mark.parametrize(
    "loud", [{"overflow": OverflowPolicy.FAIL_LOUD}, {"safety_critical": True}]
)
def test_a_policy_that_leaves_nothing_out_fails_loud(loud: dict[str, Any]) -> None:
    with pytest.raises(ContextBudgetExhausted, match="stand_ins") as caught:
        planned(CALL, budget=100, **loud)
    assert caught.value.data["shortfall"] == 24_000


def test_what_the_model_does_not_take_gives_way_whatever_the_budget_is() -> None:
    deaf = {"takes": (Modality.IMAGE,)}
    plan = planned(CALL, PICTURE, budget=90_000, **deaf)
    assert [each.item.method for each in plan.entries] == ["pointer", "original"]
    assert plan.entries[0].note == "the model takes no audio"
    assert "[not sent: the model takes no audio; ask for it by its address]" in plan.texts[0]
    longer = {**CALL, "seconds": 1, "stand_ins": [{"text": "word " * 90, "method": "transcript"}]}
    (told,) = planned(longer, budget=8_000, **deaf).entries  # a dearer text is better than nothing
    assert (told.item.method, told.saved_tokens) == ("transcript", 0)
    assert planned(longer, budget=100, **deaf).entries[0].withheld
    for loud in ({"overflow": OverflowPolicy.FAIL_LOUD}, {"safety_critical": True}):
        with refused(InvalidInput, "bad_media", match=r"does not take a\.wav"):
            planned(CALL, PICTURE, budget=90_000, **deaf, **loud)


def test_a_picture_is_never_planned_below_the_least_edge() -> None:
    assert planned(PICTURE, budget=50).entries[0].withheld
    wide = planned({**PICTURE, "width": 5_000, "height": 500}, budget=4_000)
    assert wide.entries[0].size is not None
    assert min(wide.entries[0].size) >= 224


def test_a_weak_stand_in_is_better_than_a_name_alone() -> None:
    weak = [{"text": "a dog", "method": "caption"}, {"text": "a cat", "utility": 0.7}]
    (shown,) = planned({**PICTURE, "stand_ins": weak}, budget=60).entries
    assert shown.item.method == "ocr"
    assert shown.text.endswith("a cat")
    assert shown.saved_tokens == 1600 - shown.item.tokens


def test_a_picture_is_cropped_to_what_the_task_needs() -> None:
    boxes = [[100, 100, 240, 156], [156, 128, 380, 240]]
    (shown,) = planned({**PICTURE, "regions": boxes}).entries
    assert shown.region == (100, 100, 380, 240)
    assert shown.attachment_tokens == 10 * 5
    assert shown.parts == ("a.png#xywh=100,100,280,140",)
    assert "[shown: the part 280x140 at 100,100]" in shown.text
    assert shown.to_dict()["sent_as"] == "cropped"
    (unknown,) = planned({"kind": "image", "uri": "b.png", "regions": [(0, 0, 28, 28)]}).entries
    assert unknown.attachment_tokens == 1


@pytest.mark.parametrize("box", [[0, 0, 1120, 1120], [2000, 0, 2100, 90]], ids=["all", "outside"])
def test_a_crop_that_saves_nothing_is_none(box: list[int]) -> None:
    assert planned({**PICTURE, "regions": [box]}).entries[0].item.method == "original"


def test_a_crop_that_is_still_too_large_is_resized_too() -> None:
    big = {**PICTURE, "width": 4000, "height": 4000, "regions": [[0, 0, 2800, 2800]]}
    (shown,) = planned(big, budget=2_000).entries
    assert shown.region == (0, 0, 2800, 2800)
    assert shown.size is not None
    assert shown.attachment_tokens <= 1_200
    assert (
        shown.saved_tokens
        == planned({**big, "regions": []}, budget=90_000).tokens - shown.attachment_tokens
    )
    assert f"[resized to {shown.size[0]}x{shown.size[1]}]" in shown.text


SAID = [
    {"start": 0, "end": 20, "text": "Welcome, everybody."},
    {"start": 20, "end": 50, "text": "The deploy failed on Monday."},
    {"start": 50, "end": 90.5, "text": "Lunch was good."},
]


def test_a_recording_keeps_the_segments_that_bear_on_the_request() -> None:
    call = {**CALL, "seconds": 100, "segments": SAID, "beyond_text": 1}
    assert planned(call, budget=10_000).entries[0].item.method == "original"
    (shown,) = planned(call, budget=2_500, asked="why did the deploy fail").entries
    assert [each.start for each in shown.segments] == [20]
    assert shown.attachment_tokens == 1_200
    assert shown.parts == ("a.wav#t=20,50",)
    assert "[sent: 1 of 3 segments: 20-50s]" in shown.text
    (stated,) = planned(
        {**call, "segments": [*SAID[:2], {**SAID[2], "utility": 1}]}, budget=2_800
    ).entries
    assert stated.segments


def test_segments_that_carry_their_words_are_a_transcript() -> None:
    (shown,) = planned({**CALL, "seconds": 100, "segments": SAID}).entries
    assert shown.item.method == "transcript"
    assert "[20-50s] The deploy failed on Monday." in shown.text
    mute = [{**each, "text": ""} for each in SAID]
    assert planned({**CALL, "seconds": 100, "segments": mute}).tokens == 4_000
    own = {"text": "all of it", "method": "transcript"}
    (brought,) = planned({**CALL, "segments": SAID, "stand_ins": [own]}).entries
    assert brought.text.endswith("all of it")


def test_a_transcript_that_is_too_long_keeps_what_bears_on_the_request() -> None:
    said = [{"start": n, "end": n + 1, "text": f"we talk about topic {n} at length"}
            for n in range(400)]  # fmt: skip
    call = {**CALL, "segments": [*said, {"start": 400, "end": 401, "text": "the deploy failed"}]}
    (shown,) = planned(call, budget=500, asked="deploy").entries
    assert shown.item.method == "transcript"
    assert "the deploy failed" in shown.text
    assert "of 401 segments]" in shown.text
    assert shown.item.tokens <= 300
    assert planned({**call, "segments": said[:1]}, budget=2).entries[0].withheld


def test_a_film_gets_smaller_frames_and_then_fewer() -> None:
    film = {"kind": "video", "uri": "a.mp4", "seconds": 20, "width": 1120, "height": 1120}
    assert planned(film, budget=90_000).tokens == 20 * 1600 + 800
    (smaller,) = planned(film, budget=20_000).entries
    assert smaller.item.method == "downsampled"
    assert smaller.size is not None
    assert smaller.frames == 0
    assert smaller.attachment_tokens <= 12_000
    (fewer,) = planned(film, budget=2_500).entries
    assert (fewer.item.method, fewer.size) == ("fewer_frames", (224, 224))
    assert f"{fewer.frames} of 20 frames, evenly spaced" in fewer.text
    assert fewer.attachment_tokens <= 1_500
    (unsized,) = planned({**film, "width": 0, "height": 0}, budget=9_000).entries
    assert (unsized.size, unsized.frames) == (None, 3)
    assert planned(film, budget=1_300).entries[0].withheld  # its sound alone takes 800 of 780
    cut = {**film, "segments": [{"start": 0, "end": 2}, {"start": 5, "end": 6}]}
    assert planned(cut, budget=6_000).entries[0].parts == ("a.mp4#t=0,2",)


def test_what_is_worth_more_gets_more_of_a_budget_that_is_too_small() -> None:
    useful = {**PICTURE, "uri": "b.png", "description": "the deploy log"}
    other = {**PICTURE, "uri": "c.png", "description": "a cat"}
    shown = {
        e.media.uri: e for e in planned(useful, other, budget=2_000, asked="deploy log").entries
    }
    assert shown["b.png"].attachment_tokens > 2 * shown["c.png"].attachment_tokens
    stated = [{**useful, "utility": 0.2}, {**other, "utility": 1}]
    shown = {e.media.uri: e for e in planned(*stated, budget=2_000).entries}
    assert shown["b.png"].attachment_tokens < shown["c.png"].attachment_tokens


def test_sound_that_its_transcript_can_give_is_worth_least() -> None:
    long = {"text": "word " * 3_000, "method": "transcript"}
    told = {**CALL, "uri": "b.wav", "seconds": 60, "stand_ins": [long]}
    shown = {e.media.uri: e for e in planned({**CALL, "seconds": 60}, told, budget=5_000).entries}
    assert shown["a.wav"].attachment_tokens == 2_400
    assert shown["b.wav"].withheld


def test_what_a_task_needs_beyond_text_keeps_the_original() -> None:
    read = {"text": "Invoice 17", "method": "ocr"}
    assert planned({**PICTURE, "stand_ins": [read], "beyond_text": 0.5}).tokens == 1600


def test_a_table_is_written_in_the_cheapest_sure_form() -> None:
    plan = planned({"kind": "structured", "records": ROWS[:3], "uri": "t.csv"})
    (shown,) = plan.entries
    assert plan.tokens == 0
    assert shown.form == "minified_json"
    assert shown.saved_tokens > 0
    assert '"city":"City 2"' in plan.texts[0]
    assert plan.split()["structured"] == shown.item.tokens


def test_a_policy_that_trusts_the_model_gets_the_cheaper_forms() -> None:
    table = {"kind": "structured", "records": ROWS[:40]}
    plans = [planned(table, structured_accuracy=word) for word in ("high", "moderate")]
    plans.append(planned(table, structured_accuracy="model_dependent"))
    shown = [plan.entries[0] for plan in plans]
    assert [each.form for each in shown] == ["minified_json", "csv", "compact"]
    tokens = [each.item.tokens for each in shown]
    assert tokens == sorted(tokens, reverse=True)
    assert tokens[2] < tokens[0] // 2
    assert plans[2].texts[0].splitlines()[1:3] == ["city|note=clear sky|temperature", "City 0|0"]


def test_a_large_table_is_sampled_and_says_so() -> None:
    plan = planned({"kind": "structured", "records": ROWS, "columns": ["temperature", "city"]},
                   budget=1_000)  # fmt: skip
    (shown,) = plan.entries
    assert shown.item.tokens <= 600
    assert "1 of 3 columns left out" in plan.texts[0]
    assert "of 200 rows, evenly spaced" in plan.texts[0]
    assert '"note"' not in plan.texts[0]


def test_where_no_row_fits_the_columns_stand_alone() -> None:
    rows = [{"a": "word " * 900, "n": 1}, {"a": 1, "n": 2}]
    plan = planned({"kind": "structured", "records": rows}, budget=400)
    assert "none of 2 rows shown; columns: a, n" in plan.texts[0]
    assert "[all 2 rows add up to]" in plan.texts[0]
    single = planned({"kind": "structured", "records": [{"a": "clear sky"} for _ in range(99)]},
                     {"kind": "structured", "records": rows}, budget=600)  # fmt: skip
    assert all("rows" in text for text in single.texts)
    tiny = planned({"kind": "structured", "records": rows, "uri": "t.csv"}, budget=100)
    assert tiny.texts[0] == "[structured t.csv]\n[none of 2 rows shown; columns: a, n]"


def table(budget: int = 1_000, asked: str = "", **given: Any) -> MediaEntry:
    stated = {"kind": "structured", "records": ROWS, **given}
    (shown,) = planned(stated, budget=budget, asked=asked).entries
    return shown


def test_a_sample_stands_beside_what_all_rows_add_up_to() -> None:
    shown = table()
    assert "[all 200 rows add up to]" in shown.text
    whole = {"column": "temperature", "count": 200, "sum": 19900, "min": 0, "max": 199}
    assert json.dumps({**whole, "mean": 99.5}, separators=(",", ":")) in shown.text
    assert shown.item.tokens <= 600


def test_aggregates_go_by_group_where_that_fits() -> None:
    rows = [{"city": f"City {n % 3}", "n": n, "m": -n} for n in range(300)]
    shown = table(records=rows, aggregates=["n"], group_by="city")
    assert '{"city":"City 1","column":"n","count":100,"sum":14950' in shown.text
    assert '"column":"m"' not in shown.text
    many = [{**row, "city": f"City {row['n']}"} for row in rows]
    whole = table(records=many, aggregates=["n"], group_by="city")
    assert '{"column":"n","count":300' in whole.text
    words = table(records=[{"a": "clear sky"} for _ in range(900)])
    assert "add up to" not in words.text


def test_rows_that_speak_of_the_request_come_first() -> None:
    rows = [*ROWS, {"city": "Zagreb", "temperature": 3, "note": "a storm"}]
    shown = table(records=rows, asked="storm in Zagreb")
    assert "Zagreb" in shown.text
    assert "nearest to the request first" in shown.note


@pytest.mark.parametrize(
    ("test", "value", "left"),
    [
        ("equals", 7, 1), ("equals", "7", 1), ("not_equals", 7, 9), ("at_least", 7, 3),
        ("at_most", "7", 8), ("contains", "7", 1), ("at_least", "x", 0), ("equals", "x", 0),
    ],
)  # fmt: skip
def test_rows_pass_the_tests_that_the_caller_states(test: str, value: object, left: int) -> None:
    rows = [{"n": n, "s": "abc", "q": None} for n in range(10)]
    where = [{"column": "n", "test": test, "value": value}]
    shown = table(records=rows, where=where)
    assert shown.note == f"{left} of 10 rows"


def test_cells_that_are_no_numbers_compare_as_text() -> None:
    rows = [{"day": f"2026-01-{n:02}", "ok": n > 3} for n in range(1, 10)]
    after = {"column": "day", "test": "at_least", "value": "2026-01-08"}
    assert "2 of 9 rows" in table(records=rows, where=[after]).note
    until = {"column": "day", "test": "at_most", "value": "2026-01-02"}
    assert "2 of 9 rows" in table(records=rows, where=[until]).note
    both = [{"column": "ok", "value": True}, {**after, "value": "2026-01-09"}]
    assert "1 of 9 rows" in table(records=rows, where=both).note
    missing = {"column": "none", "test": "at_most", "value": "a"}
    assert "0 of 9 rows" in table(records=rows, where=[missing]).note
    odd = RowFilter(column="day", test=RowTest.CONTAINS, value="no JSON")
    assert "0 of 9 rows" in table(records=rows, where=[odd]).note


@pytest.mark.parametrize("test", ["at_least", "at_most"])
def test_a_word_is_neither_more_nor_less_than_a_number(test: str) -> None:
    """A price of "n/a" was at least 5, because letters stand behind digits."""
    rows = [{"price": "n/a"}, {"price": ""}, {"price": "5"}, {"price": 5}, {"price": None}]
    where = [{"column": "price", "test": test, "value": 5}]
    assert table(records=rows, where=where).note == "2 of 5 rows"


def test_a_table_too_large_goes_into_the_text_whole_or_says_what_is_missing() -> None:
    bench = Bench()
    rows = [{"city": f"City {n}", "temperature": n} for n in range(2_000)]
    evidence = [{"kind": "structured", "uri": "t.csv", "records": rows, "description": "weather"}]
    envelope = bench.compile(query="weather in the city", evidence=evidence, budget_tokens=2_000)
    (block,) = (b for b in envelope.blocks if "t.csv" in b.text)
    assert "of 2000 rows" in block.text
    assert block.text.endswith("]")  # the JSON stands whole: nothing cut it again
    assert [c.conversion.value for c in envelope.trace.conversions] == ["truncated"]
    assert envelope.manifest.artifact_uris == ("t.csv",)


def test_what_was_not_sent_is_a_gap_of_the_envelope() -> None:
    envelope = Bench().compile(query="the call", evidence=[CALL], budget_tokens=2_000)
    assert [(g.code.value, g.subject) for g in envelope.gaps] == [("retrieval_pending", "a.wav")]
    assert [(c.conversion.value, c.detail) for c in envelope.trace.conversions] == [
        ("externalized", "pointer")
    ]
    assert "a.wav]" in envelope.text


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
    context = bench.context(parse_request("code_generation"))
    assert context.media == MediaPlan()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kind": "image"}, "where the original is"),
        ({"kind": "structured", "records": {"a": 1}}, "a list of objects"),
        ({"kind": "structured", "records": [1]}, "a list of objects"),
        ({**PICTURE, "stand_ins": [{"text": "a", "utility": 2}]}, "from 0 to 1"),
        ({"kind": "structured", "records": [{}] * 5_001}, "more than 5000"),
        ({**PICTURE, "regions": [[1, 2, 3]]}, "left, top, right, bottom"),
        ({**PICTURE, "regions": [1, 2, 3, 4]}, "left, top, right, bottom"),
        ({**PICTURE, "regions": [[5, 0, 5, 9]]}, "left, top, right, bottom"),
        ({**CALL, "segments": [{"start": 5, "end": 5}]}, "before it ends"),
        ({**CALL, "segments": [{"start": 5, "end": 601}]}, "inside the recording"),
        ({"kind": "structured", "where": [{"column": "a", "test": "like"}]}, "equals"),
    ],
)
def test_malformed_media_are_refused_by_name(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        planned(given)


def test_a_request_with_media_survives_its_json() -> None:
    from tenure.compiler.request.parse import request_from_json

    request = parse_request(
        "code_generation",
        evidence=[
            {**PICTURE, "stand_ins": [{"text": "x"}], "regions": [(0, 0, 9, 9)]},
            {**CALL, "segments": SAID, "beyond_text": 0.5},
            {
                "kind": "structured",
                "records": ROWS[:1],
                "columns": ["city"],
                "where": [{"column": "city", "test": "contains", "value": "17"}],
                "aggregates": ["temperature"],
                "group_by": "city",
            },
        ],
    )
    assert request_from_json(request.to_json()) == request
    assert (StandIn(text="x"),) in [each.stand_ins for each in request.media]
    table = Media(kind=MediaKind.STRUCTURED, records="[]")
    assert media_text(table) == "[structured]"


NOT_TABLES = ["no list", "[1, 2]", '[{"a":1}]', '[{"a":1},{"a":', '[{"a":1},2]',
              '[{"a":"\\u0069"},{"a":2}]', "[x] {"]  # fmt: skip


@pytest.mark.parametrize("text", NOT_TABLES)
def test_what_ends_in_no_list_of_records_holds_no_table(text: str) -> None:
    assert table_in(text) is None


def test_a_list_may_stand_behind_words_and_other_brackets() -> None:
    assert table_in('[1] seen: [{"a": 1}, {"a": 2}]') == ("[1] seen: ", ({"a": 1}, {"a": 2}))


def test_records_that_do_not_fit_even_as_columns_stay_out() -> None:
    rows = [{f"column {i} of many {'words ' * 300}": "alpha"} for i in range(60)]
    envelope = Bench().compile(
        query="alpha report", evidence=[f"alpha: {json.dumps(rows)}"], budget_tokens=320
    )
    assert [o.reason for o in envelope.trace.omitted_objects] == ["over_budget"]


def test_records_that_fit_once_they_are_written_tightly_lose_nothing() -> None:
    rows = [{"alpha": i, "city": "Rome"} for i in range(20)]
    text = json.dumps(rows, indent=12)
    envelope = Bench().compile(query="alpha", evidence=[text], budget_tokens=430)
    assert json.dumps(rows, separators=(",", ":")) in texts_of(envelope)
    assert [each["fidelity"] for each in envelope.trace.budget["compression"]] == [1.0]


def test_a_list_alone_needs_no_words_before_it() -> None:
    rows = [{"alpha": i, "city": "Rome"} for i in range(60)]
    envelope = Bench().compile(query="alpha", evidence=[json.dumps(rows)], budget_tokens=330)
    assert any(t.startswith("[") and "of 60 rows" in t for t in texts_of(envelope))


def test_a_size_that_the_nearest_rows_fill_leaves_no_room_for_others() -> None:
    rows = [{"n": n} for n in range(6)]
    assert [r["n"] for r in nearest_rows(rows, [0, 1, 0, 1, 0, 0], 2).rows] == [1, 3]
    assert [r["n"] for r in nearest_rows(rows, [0, 1, 0, 1, 0, 0], 4).rows] == [0, 1, 3, 5]
    assert nearest_rows(rows, [0, 1, 0, 1, 0, 0], 6).note == ""


def test_the_same_picture_twice_is_noted_once_each() -> None:
    given = [{**PICTURE, "description": "a"}, {**PICTURE, "description": "a"}]
    envelope = Bench().compile(query="x", evidence=["first", *given], budget_tokens=1_500)
    changed = [c for c in envelope.trace.conversions if c.detail == "downsampled"]
    assert len({c.object_id for c in changed}) == 2


def random_media(chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(["image", "audio", "video", "structured"])
    size = chance.choice([0, 30, 300, 3_000, 9_000])
    given: dict[str, Any] = {"kind": kind, "uri": f"{chance.random()}", "width": size,
                             "height": chance.choice([0, 40, 400, 4_000]),
                             "description": chance.choice(["", "deploy log", "a cat"]),
                             "beyond_text": chance.random()}  # fmt: skip
    if kind in ("audio", "video"):
        given["seconds"] = chance.choice([0, 0.5, 20, 900])
        if given["seconds"] and chance.random() < 0.5:
            half = given["seconds"] / 2
            given["segments"] = [{"start": 0, "end": half, "text": chance.choice(["", "deploy"])},
                                 {"start": half, "end": given["seconds"]}]  # fmt: skip
    if kind == "image" and chance.random() < 0.5:
        given["regions"] = [[10, 10, chance.randint(11, 9_000), chance.randint(11, 9_000)]]
    if kind == "structured":
        given["records"] = [{"n": n, "words": "deploy " * chance.randint(0, 9)}
                            for n in range(chance.choice([0, 1, 5, 300]))]  # fmt: skip
    if chance.random() < 0.3:
        given["stand_ins"] = [{"text": "deploy " * chance.randint(1, 900)}]
    return given


@pytest.mark.parametrize("seed", range(60))
def test_media_never_take_more_than_their_part_and_are_always_named(seed: int) -> None:
    chance = random.Random(seed)
    given = [random_media(chance) for _ in range(chance.randint(1, 7))]
    budget = chance.choice([1, 60, 500, 4_000, 60_000])
    plan = planned(*given, budget=budget, asked="deploy log")
    assert plan.tokens <= round(0.6 * budget)
    assert len(plan.entries) == len(given)
    assert all(each.media.uri in each.text for each in plan.entries)
    tables = sum(e.item.tokens for e in plan.entries if e.form and not e.note.count("none of"))
    assert plan.tokens + tables <= round(0.6 * budget)
    assert planned(*reversed(given), budget=budget, asked="deploy log") == plan
