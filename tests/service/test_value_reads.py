"""A value alone is read with less than a whole answer, and means the same entity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Memory, connect
from tenure.schema.entity import EntityRef, Identifier
from tenure.store.sqlite.identity import SqliteRegister


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(str(tmp_path / "tenant.db")) as memory:
        yield memory


def test_a_value_by_name_or_id_reads_no_identifiers(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    sam = EntityRef(name="Sam Rivera", type="person", external_ids={"crm": "7"})
    entity = str(memory.write(sam, "office", "Rome").entity)
    reads: list[int] = []
    real = SqliteRegister._identifiers_of

    def identifiers_of(
        register: SqliteRegister, bound: dict[str, object], tx_us: int
    ) -> tuple[Identifier, ...]:
        reads.append(tx_us)
        return real(register, bound, tx_us)

    monkeypatch.setattr(SqliteRegister, "_identifiers_of", identifiers_of)
    view = memory.as_of()
    assert [view.value(who, "office") for who in (entity, "Sam Rivera")] == ["Rome", "Rome"]
    assert reads == []

    assert view.value({"name": "S. R.", "external_ids": {"crm": "7"}}, "office") == "Rome"
    assert len(reads) == 1


def test_a_value_is_one_of_all_the_ids_of_a_merged_entity(memory: Memory) -> None:
    ann = str(memory.write("Ann Lee", "office", "Rome").entity)
    other = str(memory.write("Annette Leigh", "title", "CFO").entity)
    before = memory.as_of(tx=memory.as_of().tx)
    memory.entities.merge(other, ann, reason="one person under two names")

    for who in (ann, other, "Ann Lee", "Annette Leigh"):
        assert memory.as_of().value(who, "office") == "Rome"
        assert memory.as_of().value(who, "title") == "CFO"
    assert before.value(other, "office") is None
