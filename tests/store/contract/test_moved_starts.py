"""A correction that states the value which holds, with a later start, moves its start."""

from __future__ import annotations

import pytest

from tenure import Write
from tenure.tests.store.builders import Open

FEBRUARY, MARCH, APRIL, MAY = (f"2026-0{month}-01T00:00:00Z" for month in (2, 3, 4, 5))


@pytest.mark.parametrize(
    ("slot", "value"),
    [("office", "Turin"), ("manager", "Ivo Kraan"), ("skill", "welding"), ("status", "open")],
)
def test_the_value_no_longer_holds_before_its_later_start(
    open_memory: Open, slot: str, value: str
) -> None:
    memory = open_memory()
    subject = "Orchard" if slot == "status" else "Vera Stolz"
    memory.write(subject, slot, value, valid_from=FEBRUARY)
    known = memory.as_of().value(subject, slot)
    moved = memory.write(subject, slot, value, valid_from=APRIL, op="correct")
    assert moved.outcome == "accepted"
    assert memory.as_of(valid=MARCH).value(subject, slot) is None
    assert memory.as_of(valid=MAY).value(subject, slot) == known
    (row,) = (row for row in memory.history(subject, slot) if row.object_id == moved.object_id)
    assert row.valid_from is not None
    assert row.valid_from.isoformat() == "2026-04-01T00:00:00+00:00"


def test_a_moved_start_leaves_other_values_and_later_changes_alone(open_memory: Open) -> None:
    memory = open_memory()
    memory.write("Vera Stolz", "skill", "welding", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "skill", "brazing", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "skill", "welding", valid_from=APRIL, op="correct")
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "skill") == "brazing"
    assert set(memory.as_of(valid=MAY).value("Vera Stolz", "skill")) == {"welding", "brazing"}


def test_what_a_value_had_taken_the_place_of_holds_again_until_its_later_start(
    open_memory: Open,
) -> None:
    memory = open_memory()
    memory.write("Vera Stolz", "office", "Ghent", valid_from="2025-01-01T00:00:00Z")
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "office", "Turin", valid_from=APRIL, op="correct")
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Ghent"
    assert memory.as_of(valid=MAY).value("Vera Stolz", "office") == "Turin"


@pytest.mark.parametrize("start", [None, FEBRUARY, "2026-01-01T00:00:00Z"])
def test_a_correction_without_a_later_start_takes_nothing_back(
    open_memory: Open, start: str | None
) -> None:
    memory = open_memory()
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "office", "Turin", valid_from=start, op="correct")
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Turin"


def test_a_start_moves_in_a_batch_in_a_preview_and_once_for_a_retry(open_memory: Open) -> None:
    memory = open_memory()
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    move = Write(
        subject="Vera Stolz", slot="office", value="Turin", valid_from=APRIL, op="correct",
        idempotency_key="move-1",
    )  # fmt: skip
    assert memory.write_many([move], dry_run=True)[0].outcome == "accepted"
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Turin"
    phone = Write(subject="Vera Stolz", slot="phone", value="1")
    receipts = memory.write_many([phone, move])
    assert [receipt.outcome for receipt in receipts] == ["accepted", "accepted"]
    assert memory.write_many([move])[0].object_id == receipts[1].object_id
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") is None


def test_a_text_that_says_actually_moves_no_start(open_memory: Open) -> None:
    memory = open_memory()
    memory.observe("I live in Turin.", speaker="Vera Stolz", at=FEBRUARY)
    memory.observe("Actually, I live in Turin.", speaker="Vera Stolz", at=APRIL)
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "home") == "Turin"


def test_a_weaker_writer_moves_no_start(open_memory: Open) -> None:
    memory = open_memory()
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    memory.write(
        "Vera Stolz", "office", "Turin", valid_from=APRIL, op="correct", authority_level=3,
        source_origin="agent://a",
    )  # fmt: skip
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Turin"
