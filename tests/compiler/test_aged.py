"""What has decayed or was demoted stays out, unless the request asks for it by name (C-031)."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.tests.compiler.fake_reader import Bench, uid

AGED: list[dict[str, Any]] = [{"decay": (1.0, 0.9)}, {"demoted": True}]


def filled(row: dict[str, Any]) -> Bench:
    bench = Bench()
    row = {"subject": "Sam Rivera", "slot": "office", "value": "Rome", **row}
    bench.world.add("office", **row)
    return bench


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_age_keeps_out_what_the_request_does_not_ask_for_by_name(row: dict[str, Any]) -> None:
    bench = filled(row)
    envelope = bench.compile(query="a report about Sam Rivera")
    assert "office" not in bench.compiled(envelope)
    assert bench.omitted(envelope)["office"][0] in ("decayed_below_threshold", "retired")


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_a_slot_that_is_asked_for_by_name_is_answered_however_old(row: dict[str, Any]) -> None:
    bench = filled(row)
    envelope = bench.compile(query="Which office has Sam Rivera?")
    assert bench.compiled(envelope) == {"office": "turn_memory"}
    assert envelope.gaps == ()


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_a_pinned_object_stands_however_old(row: dict[str, Any]) -> None:
    bench = filled(row)
    envelope = bench.compile(query="x", pinned=[uid("office")])
    assert bench.compiled(envelope) == {"office": "pinned_knowledge"}


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_of_two_scopes_the_nearer_answers_though_it_has_aged(row: dict[str, Any]) -> None:
    bench = filled({**row, "scope": {"user": "ann"}})
    bench.world.add("shared", subject="Sam Rivera", slot="office", value="Oslo")
    envelope = bench.compile(query="Which office has Sam Rivera?")
    assert "office" in bench.compiled(envelope)


def test_the_slot_of_another_entity_is_not_asked_for() -> None:
    bench = filled(AGED[0])
    bench.world.add("tall", subject="Lee Chan", slot="specialty", value="maps")
    envelope = bench.compile(query="Which office has Lee Chan?")
    assert "office" not in bench.compiled(envelope)
