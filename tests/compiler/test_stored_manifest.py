"""The stored form of a manifest: by reference, small, and the same manifest when it is read."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from tenure.compiler.trace.manifest import (
    Manifest,
    RecordedRow,
    TruncationEvent,
    manifest_from_json,
    stored_manifest,
)
from tenure.schema.errors import InvalidInput
from tenure.tests.compiler.test_compile import REQUEST, full_bench
from tenure.tests.support.refusals import refused

IDS = [str(UUID(int=(7 << 76) + (2 << 62) + number * 0x1D0A57E11B3F)) for number in range(160)]


def manifest(**fields: Any) -> Manifest:
    return replace(full_bench().compile(**REQUEST).manifest, **fields)


def test_160_facts_are_named_in_less_than_16_kilobytes() -> None:
    rows = [RecordedRow(name, 100_000 + place, 25, 1, 956_267) for place, name in enumerate(IDS)]
    stored = manifest(candidates=tuple(rows), compiled=tuple(IDS))
    assert len(stored.to_stored()) <= 7_500
    assert manifest_from_json(stored.to_stored()) == stored
    assert len(stored.to_json()) > 16_000


@pytest.mark.parametrize("name", [IDS[3], IDS[3].upper(), "o17", "~o17", "~~", "~" + IDS[3]])
def test_an_id_comes_back_letter_by_letter(name: str) -> None:
    rows = (
        RecordedRow("other", 1, 2, 3, 4),
        RecordedRow(name, 5, 6, 7, 8, None, -9, "", None, "r"),
    )
    stored = manifest(candidates=rows, compiled=(name, "of no candidate"))
    assert manifest_from_json(stored.to_stored()) == stored


def test_digests_ids_and_any_words_come_back_letter_by_letter() -> None:
    words = "\x00 \x01 \ud800 ~ " + IDS[0] + " é " + "ab" * 32 + " " + IDS[1].upper() + "F" * 64
    stored = manifest(request=json.dumps({"query": words}), model=words)
    assert stored_manifest(stored.to_stored()) == stored


def test_a_session_s_request_is_kept_in_a_fraction_of_its_json() -> None:
    stored = manifest(candidates=(), compiled=(), truncation_events=())
    assert len(stored.to_stored()) * 3 < len(stored.to_json())
    changed = replace(stored, envelope_id="0" * 64)
    assert stored_manifest(changed.to_stored()).envelope_id == "0" * 64


def test_a_packed_manifest_that_was_cut_is_refused() -> None:
    text = manifest().to_stored()
    for broken in (text[:-90], text[:40], "~", text + " ", "~" + text[9:]):
        with refused(InvalidInput, "bad_manifest"):
            manifest_from_json(broken)


def test_what_a_limit_left_out_comes_back() -> None:
    events = (TruncationEvent("facts", "limit", ("other", "of no candidate")),)
    rows = (RecordedRow("other", 1, 2, 3, 4, 5, None, "hidden"),)
    stored = manifest(candidates=rows, truncation_events=events)
    assert manifest_from_json(stored.to_stored()) == stored


@pytest.mark.parametrize("place", [-1, 160, 1.5, None])
def test_a_place_of_no_candidate_is_refused(place: object) -> None:
    rows = tuple(RecordedRow(name, 1, 2, 3, 4) for name in IDS)
    document = json.loads(manifest(candidates=rows).to_json())
    document |= {"candidates": [list(row) for row in rows], "compiled": [place]}
    with refused(InvalidInput, "bad_manifest"):
        manifest_from_json(json.dumps(document))
