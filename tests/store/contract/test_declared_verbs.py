"""What a declared verb takes back is said, and a stamp of the future is refused. On every store."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Principal, Write
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused

FIRM = {"name": "Kiln Tools", "type": "organization"}
FEBRUARY, APRIL, JUNE = (f"2026-0{month}-01T00:00:00Z" for month in (2, 4, 6))


def say(memory: Memory, value: str, start: str, **fields: Any) -> Any:
    return memory.write(FIRM, "pricing_tier", value, valid_from=start, **fields)


@pytest.mark.parametrize("value", ["bronze", "gold"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_correction_says_which_later_change_it_took_back(
    memory: Memory, value: str, *, dry_run: bool
) -> None:
    say(memory, "bronze", FEBRUARY)
    later = say(memory, "silver", JUNE)
    receipt = say(memory, value, FEBRUARY, op="correct", dry_run=dry_run)
    assert receipt.outcome == "accepted"
    assert "withdrew" in receipt.warnings
    for part in ("silver", JUNE, later.object_id):
        assert part in receipt.detail
    assert memory.as_of().value("Kiln Tools", "pricing_tier") == ("silver" if dry_run else value)


def test_a_correction_that_changes_nothing_is_confirmed(memory: Memory) -> None:
    say(memory, "bronze", FEBRUARY)
    receipt = say(memory, "bronze", FEBRUARY, op="correct")
    assert (receipt.outcome, "withdrew" in receipt.warnings) == ("confirmed", False)
    bounded = say(memory, "bronze", FEBRUARY, op="correct", valid_until=APRIL)
    assert (bounded.outcome, "withdrew" in bounded.warnings) == ("confirmed", False)


def test_a_correction_of_what_is_in_force_takes_nothing_else_back(memory: Memory) -> None:
    say(memory, "bronze", FEBRUARY)
    receipt = say(memory, "gold", FEBRUARY, op="correct")
    assert (receipt.outcome, "withdrew" in receipt.warnings) == ("accepted", False)
    say(memory, "silver", JUNE)
    before = say(memory, "bronze", FEBRUARY, op="correct", valid_until=APRIL)
    assert "withdrew" not in before.warnings
    assert memory.as_of().value("Kiln Tools", "pricing_tier") == "silver"


def test_the_value_of_a_restricted_fact_is_not_told(memory: Memory) -> None:
    say(memory, "bronze", FEBRUARY)
    say(memory, "silver", JUNE, allow_roles=["finance"])
    caller = memory.bind(Principal(tenant=memory.principal.tenant, user="ann"))
    receipt = say(caller, "bronze", FEBRUARY, op="correct")
    assert "silver" not in receipt.detail


def test_a_batch_and_a_file_list_what_corrections_took_back(memory: Memory, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"subject": FIRM, "slot": "pricing_tier"}
    receipts = memory.write_many([
        Write(**fields, value="bronze", valid_from=FEBRUARY),
        Write(**fields, value="silver", valid_from=JUNE),
        Write(**fields, value="bronze", valid_from=FEBRUARY, op="correct"),
    ])  # fmt: skip
    assert "silver" in receipts[2].detail

    say(memory, "silver", JUNE)
    line = {**fields, "value": "bronze", "valid_from": FEBRUARY, "op": "correct"}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    report = memory.ingest(path)
    assert len(report.withdrew) == 1
    assert "silver" in report.withdrew[0]


def history(tmp_path: Path, *stamps: datetime) -> Path:
    lines: list[str] = []
    for number, stamp in enumerate(stamps):
        event = {
            "recorded_at": stamp.isoformat(), "subject": "Vera Stolz", "slot": "office",
            "value": f"room {number}",
        }  # fmt: skip
        lines.append(json.dumps(event) + "\n")
    path = tmp_path / "history.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(seconds=120), timedelta(days=9000)])
def test_a_replay_stamp_of_the_future_is_refused(
    open_memory: Open, tmp_path: Path, ahead: timedelta
) -> None:
    memory, now = open_memory(), datetime.now(UTC)
    path = history(tmp_path, now - timedelta(days=3), now + ahead)
    with refused(InvalidInput, "tx_in_future", match="line 2"):
        memory.ingest(path, replay=True)
    assert memory.entities.list() == ()
    checked = memory.ingest(path, replay=True, check=True)
    assert [row.code for row in checked.rejected] == ["tx_in_future"]
    report = memory.ingest(path, replay=True, keep_going=True)
    assert (report.events, report.refused) == (1, 1)
    assert memory.write("Vera Stolz", "phone", "1").tx <= datetime.now(UTC)


def test_a_clock_that_is_a_little_ahead_is_taken(memory: Memory, tmp_path: Path) -> None:
    path = history(tmp_path, datetime.now(UTC) + timedelta(seconds=20))
    assert memory.ingest(path, replay=True).events == 1


def test_an_export_that_ends_in_the_future_needs_a_word(open_memory: Open, tmp_path: Path) -> None:
    ahead = datetime.now(UTC) + timedelta(days=30)
    source, path = open_memory(clock=lambda: ahead), tmp_path / "export.jsonl"
    source.write("Vera Stolz", "office", "Turin")
    source.export(path)

    target = open_memory()
    with refused(InvalidInput, "tx_in_future"):
        target.import_file(path)
    assert target.import_file(path, accept_future=True).records
    assert target.as_of().value("Vera Stolz", "office") == "Turin"

    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(path.read_text(encoding="utf-8").replace("Turin", "Ghent"), "utf-8")
    with refused(InvalidInput, "bad_export"):
        open_memory().import_file(damaged, accept_future=True)
