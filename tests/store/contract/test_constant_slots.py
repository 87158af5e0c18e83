"""A slot that cannot change: any second value is a conflict, until a correction. On every store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory
from tenure.tests.store.builders import Open

OLGA = {"name": "Olga Brandt", "type": "person", "external_ids": {"badge": "K-17"}}


def birthday(memory: Memory) -> Any:
    return memory.as_of().slot("Olga Brandt", "birthday")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        ({"valid_from": "2001-01-01T00:00:00Z"}, {"valid_from": "2020-01-01T00:00:00Z"}),
        ({"valid_from": "2020-01-01T00:00:00Z"}, {"valid_from": "-infinity"}),
        ({"source_origin": "record://a/1"}, {"source_origin": "record://b/2"}),
        ({"source_authority": 0.9}, {"source_authority": 0.2}),
    ],
    ids=["plain", "rising", "open", "two sources", "trust"],
)
def test_a_second_value_is_disputed(
    open_memory: Open, first: dict[str, Any], second: dict[str, Any]
) -> None:
    for order in ((first, second), (second, first)):
        memory = open_memory()
        for value, fields in zip(("1979-03-09", "1981-07-21"), order, strict=True):
            memory.write(OLGA, "birthday", value, **fields)
        assert birthday(memory).status == "disputed"
        assert len(memory.actions()) == 1


def test_a_restatement_is_confirmed_and_a_correction_settles(open_memory: Open) -> None:
    memory = open_memory()
    memory.write(OLGA, "birthday", "1979-03-09")
    assert memory.write(OLGA, "birthday", "1979-03-09").outcome == "confirmed"
    memory.write(OLGA, "birthday", "1981-07-21")
    memory.write(OLGA, "birthday", "1981-07-21", op="correct")
    assert birthday(memory).value == "1981-07-21"
    assert memory.actions() == ()


def test_a_stronger_level_still_decides(open_memory: Open) -> None:
    memory = open_memory()
    memory.write(OLGA, "birthday", "1979-03-09", authority_level=3)
    memory.write(OLGA, "birthday", "1981-07-21", authority_level=1)
    assert birthday(memory).value == "1981-07-21"


def test_what_is_said_twice_otherwise_is_asked_about(open_memory: Open) -> None:
    memory = open_memory()
    for day in ("9 March 1979", "21 July 1981"):
        memory.observe(f"My birthday is {day}.", speaker="Olga Brandt")
    assert birthday(memory).status == "disputed"
    assert len(memory.actions()) == 1


def test_a_table_and_a_replay_dispute_as_a_write_does(open_memory: Open, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    events = [
        {"recorded_at": (now - timedelta(days=2 - n)).isoformat(), "subject": OLGA,
         "slot": "birthday", "value": value}
        for n, value in enumerate(("1979-03-09", "1981-07-21"))
    ]  # fmt: skip
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    memory = open_memory()
    memory.ingest(path, replay=True)
    assert birthday(memory).status == "disputed"


def test_a_tenant_may_declare_a_slot_constant(open_memory: Open) -> None:
    memory = open_memory()
    memory.vocabulary.define_slot("blood_group", description="the blood group", constant=True)
    for value in ("A", "B"):
        memory.write(OLGA, "blood_group", value)
    assert memory.as_of().slot("Olga Brandt", "blood_group").status == "disputed"
    assert memory.vocabulary.slots()["blood_group"].constant
