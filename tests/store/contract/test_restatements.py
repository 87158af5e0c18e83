"""A source that states its record again replaces what it said, and nothing else. On every store."""

import json
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Write
from tenure.tests.support.refusals import refused

FIRM = {"name": "Kiln Tools", "type": "organization"}
FEBRUARY, JUNE = "2026-02-01T00:00:00Z", "2026-06-01T00:00:00Z"
CRM = "record://crm/77"


def fields(value: str, start: str = FEBRUARY, **other: Any) -> dict[str, Any]:
    return {
        "subject": FIRM, "slot": "pricing_tier", "value": value, "valid_from": start,
        "source_origin": CRM, "op": "restate", **other,
    }  # fmt: skip


def values(memory: Memory) -> list[Any]:
    return [
        segment.state.value for segment in memory.as_of().timeline("Kiln Tools", "pricing_tier")
    ]


def test_a_later_record_of_one_source_replaces_the_earlier_one(memory: Memory) -> None:
    first = memory.write(**fields("basic"))
    then = memory.as_of()
    second = memory.write(**fields("plus"))
    assert (first.outcome, second.outcome) == ("accepted", "accepted")
    assert second.superseded == (first.object_id,)
    assert values(memory) == ["plus"]
    assert memory.actions() == ()
    assert then.value("Kiln Tools", "pricing_tier") == "basic"
    assert memory.write(**fields("plus")).outcome == "confirmed"


def test_a_real_change_between_two_loads_stays(memory: Memory) -> None:
    memory.write(**fields("basic"))
    memory.write(**fields("gold", JUNE))
    receipt = memory.write(**fields("plus"))
    assert values(memory) == ["plus", "gold"]
    assert "withdrew" not in receipt.warnings


def test_another_source_still_ties(memory: Memory) -> None:
    memory.write(**fields("basic"))
    memory.write(**fields("plus", source_origin="record://erp/5"))
    assert memory.as_of().slot("Kiln Tools", "pricing_tier").status == "disputed"


def test_without_the_word_one_source_ties(memory: Memory) -> None:
    for value in ("basic", "plus"):
        memory.write(**fields(value, op="assert"))
    assert memory.as_of().slot("Kiln Tools", "pricing_tier").status == "disputed"


def test_a_restatement_needs_its_source(memory: Memory) -> None:
    with refused(InvalidInput, "bad_origin"):
        memory.write(FIRM, "pricing_tier", "basic", op="restate")


@pytest.mark.parametrize("files", [1, 2], ids=["one file", "two files"])
def test_files_restate_what_they_said(memory: Memory, tmp_path: Path, files: int) -> None:
    lines: list[str] = []
    for value in ("basic", "plus"):
        line = fields(value)
        del line["op"]
        lines.append(json.dumps(line) + "\n")
    texts = ["".join(lines)] if files == 1 else lines
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text, encoding="utf-8")
        memory.ingest(path, restate=True)
    assert values(memory) == ["plus"]
    # A third load changes nothing that is shown.
    memory.ingest(path, restate=True)
    assert values(memory) == ["plus"]


def test_a_batch_restates_within_itself(memory: Memory) -> None:
    memory.write_many([Write(**fields(value)) for value in ("basic", "plus")])
    assert values(memory) == ["plus"]
