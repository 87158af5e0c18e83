"""Requests: what a caller may pass, and what is refused by name."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tenure.compiler.request.parse import parse_request, request_from_json
from tenure.compiler.request.request import (
    CompileRequest,
    Constraint,
    Evidence,
    Media,
    Tool,
    Turn,
    quantise,
)
from tenure.schema.errors import InvalidInput
from tenure.schema.interval import INF_US, MIN_US
from tenure.tests.support.refusals import refused

ID = "00000000-0000-4000-8000-000000000001"


def test_plain_texts_become_typed_items() -> None:
    request = parse_request(
        "code_generation",
        query="q",
        constraints="be short",
        history=["hi", {"role": "assistant", "text": "yes"}],
        evidence=[
            {"text": "t", "origin": "doc://a", "covers": ["x"]},
            {"kind": "image", "uri": "file://a.png", "width": 2, "height": 3, "seconds": 1},
        ],
        tools=["search", Tool(name="sum")],
        pinned=[ID, "a text"],
        acceptance=[Constraint(text="done")],
        skills={"name": "maps", "text": "draw"},
    )
    assert request.constraints == (Constraint(text="be short"),)
    assert [t.role.value for t in request.history] == ["user", "assistant"]
    assert request.evidence == (Evidence(text="t", origin="doc://a", covers=("x",)),)
    assert [m.uri for m in request.media] == ["file://a.png"]
    assert [t.name for t in request.tools] == ["search", "sum"]
    assert request.pinned_ids == (ID,)
    assert [p.text for p in request.pinned] == ["a text"]
    assert request.wish == "q"


def test_a_request_survives_its_canonical_json() -> None:
    request = parse_request(
        "code_generation",
        query="q",
        query_vector=[0.6, 0.8],
        tools=["t"],
        history=["h"],
        evidence=["e", {"kind": "audio", "uri": "a"}],
        entities=["b", "a"],
        pinned=[ID],
        constraints=[{"text": "c", "enforcement": "pattern", "spec": {"required": ["x"]}}],
        valid="2026-01-01T00:00:00Z",
        reserve_tokens=5,
        project="nova",
    )
    again = request_from_json(request.to_json())
    assert again == request
    assert again.to_json() == request.to_json()


@pytest.mark.parametrize(
    ("raw", "instant"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        (datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0),
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        ("infinity", INF_US),
        ("-infinity", MIN_US),
        (7, 7),
        (None, None),
    ],
)
def test_times_are_read_to_the_microsecond(raw: Any, instant: int | None) -> None:
    assert parse_request("t", valid=raw).valid_us == instant
    assert parse_request("t", tx=raw).tx_us == instant


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        ({"querry": "x"}, "bad_request", "did you mean 'query'"),
        ({"query": 7}, "bad_request", "query: give a text"),
        ({"evidence": ["a\ud800"]}, "bad_request", "lone surrogate at character 1"),
        ({"query": "x" * 1_000_001}, "too_large", "ingest it as a document"),
        ({"history": ["x"] * 5_001}, "too_large", "more than 5000"),
        ({"history": [7]}, "bad_request", "history[0]"),
        ({"history": [{"txt": "x"}]}, "bad_request", "did you mean 'text'"),
        ({"history": [{"role": "assistant"}]}, "bad_request", "history[0]: state its text"),
        ({"tools": [{"description": "x"}]}, "bad_request", "tools[0]: state its name"),
        ({"history": [{"role": "boss", "text": "x"}]}, "unknown_vocabulary", "boss"),
        ({"evidence": [{"kind": "smell", "uri": "x"}]}, "unknown_vocabulary", "smell"),
        ({"tools": [{"name": "t", "input_schema": "{"}]}, "bad_request", "it is no JSON"),
        ({"tools": [{"name": "t", "input_schema": {1, 2}}]}, "bad_request", "it is no JSON"),
        ({"tools": [{"name": "t", "authority_level": 9}]}, "unknown_vocabulary", "9"),
        ({"constraints": [{"text": "x", "hard": "yes"}]}, "bad_request", "true or false"),
        ({"constraints": [{"text": "x", "enforcement": "hope"}]}, "unknown_vocabulary", "hope"),
        ({"evidence": [{"text": "x", "source_authority": 2}]}, "bad_request", "0 to 1"),
        ({"evidence": [{"text": "x", "source_authority": "a"}]}, "bad_request", "at least 0"),
        ({"evidence": [{"kind": "image", "uri": "x", "width": -1}]}, "bad_request", "width"),
        ({"evidence": [{"kind": "image", "uri": "x", "seconds": -1}]}, "bad_request", "seconds"),
        ({"budget_tokens": 0}, "bad_request", "at least 1"),
        ({"budget_tokens": True}, "bad_request", "whole number"),
        ({"valid": "2026-01-01T00:00:00"}, "naive_datetime", "no time zone"),
        ({"valid": "soon"}, "bad_request", "no ISO 8601 instant"),
        ({"valid": INF_US + 1}, "bad_request", "years 1 to 9999"),
        ({"query_vector": [0.0, 0.0]}, "bad_request", "not all zero"),
        ({"query_vector": []}, "bad_request", "finite numbers"),
        ({"query_vector": ["a"]}, "bad_request", "give numbers"),
        ({"query_vector": [9_999, 1]}, "bad_request", "lie in"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(given: Any, code: str, named: str) -> None:
    with refused(InvalidInput, code) as caught:
        parse_request("code_generation", **given)
    assert named in str(caught.value)


def test_evidence_may_state_its_trust() -> None:
    request = parse_request("t", evidence=[{"text": "x", "source_authority": 0.5, "lineage": "a"}])
    assert request.evidence[0].source_authority == 0.5
    assert request.evidence[0].lineage == ("a",)
    assert parse_request("t", evidence=[{"text": "x", "source_authority": None}]).evidence


def test_whole_numbers_are_taken_as_a_quantised_vector() -> None:
    assert parse_request("t", query_vector=[2400, 3200]).query_vector == (2400, 3200)
    assert quantise([3.0, 4.0]) == (2400, 3200)


def test_set_like_inputs_are_sorted_and_sequences_are_not() -> None:
    one = CompileRequest(
        task="t", entities=("b", "a", "a"), history=(Turn(text="2"), Turn(text="1"))
    )
    assert one.entities == ("a", "b")
    assert [t.text for t in one.history] == ["2", "1"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"task": 1}', "null"])
def test_a_text_that_is_no_request_is_refused(text: str) -> None:
    with refused(InvalidInput, "bad_manifest"):
        request_from_json(text)


def test_media_are_shown_by_kind_size_and_address() -> None:
    from tenure.compiler.media.plan import media_text
    from tenure.compiler.request.request import MediaKind

    image = Media(kind=MediaKind.IMAGE, uri="a.png", width=4, height=5, description="a cat")
    assert media_text(image) == "[image 4x5 a.png]\na cat"
    assert media_text(Media(kind=MediaKind.AUDIO, uri="a", seconds=2.5)) == "[audio 2.5s a]"
