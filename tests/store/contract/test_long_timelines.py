"""A slot that changed often is not read whole for what a compile needs of it, in either store."""

from __future__ import annotations

import pytest

from tenure.store.port.store import Ask, Point, Store
from tenure.tests.store.builders import ALL, TENANT, Say, commit

MOVES = 30


@pytest.mark.parametrize("tx", [MOVES, MOVES - 5])
def test_beside_what_decides_no_more_rows_come_than_were_asked_for(store: Store, tx: int) -> None:
    for move in range(1, MOVES + 1):
        town = Say(object_id=f"m{move}", value=f"town {move}", start=move)
        desk = Say(object_id=f"d{move}", slot="desk", value=str(move), start=move)
        commit(store, [town, desk], tx=move)

    ask = Ask(subjects=("e1",), extras=3, heads=False, at_valid=False)
    with store.reading(TENANT) as reader:
        versions = reader.versions(ask, sight=ALL, point=Point(7, tx)).versions

    by_slot: dict[str, list[bool]] = {}
    for version in versions:
        decides = version.row.look.head and 7 in version.row.interval
        by_slot.setdefault(version.row.claim.slot_key, []).append(decides)
    assert len(by_slot) == 2
    for decisions in by_slot.values():
        assert decisions.count(True) >= 1
        assert decisions.count(False) == 3
