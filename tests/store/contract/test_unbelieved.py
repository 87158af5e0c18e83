"""What one transaction states and takes back stands in history and log, at one moment."""

from __future__ import annotations

import pytest

from tenure import Write
from tenure.tests.store.builders import Open


@pytest.mark.parametrize(("slot", "value"), [("pricing_tier", "gold"), ("email", "a@b.example")])
def test_a_batch_that_asserts_and_retracts_leaves_both_in_history_and_log(
    open_memory: Open, slot: str, value: str
) -> None:
    memory = open_memory()
    fact = {"subject": "Kiln Tools", "slot": slot, "value": value, "valid_from": "2026-02-01"}
    memory.write("Kiln Tools", "email", "office@kiln.example")
    stated, retracted = memory.write_many([Write(**fact), Write(**fact, op="retract")])

    (row,) = (
        row for row in memory.history("Kiln Tools", slot) if row.object_id == stated.object_id
    )
    assert (row.value, row.reason) == (value, "retracted")
    assert row.tx_start == row.tx_end == stated.tx
    (entry, *_) = memory.log()
    assert len(entry.sentences) == 2
    assert entry.sentences[1] == f"took back {entry.sentences[0]}"
    assert value in entry.sentences[0]
    assert memory.as_of().value("Kiln Tools", slot) in (None, "office@kiln.example")
    assert memory.explain(retracted.object_id).object.object_id == stated.object_id


def test_a_confirmation_is_no_withdrawal(open_memory: Open) -> None:
    memory = open_memory()
    fact = Write(subject="Kiln Tools", slot="pricing_tier", value="gold", valid_from="2026-02-01")
    memory.write_many([fact, fact])
    assert len(memory.history("Kiln Tools", "pricing_tier")) == 1
