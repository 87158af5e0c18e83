"""The doctor: each broken invariant is found and named, and a healthy file has none."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tenure.store.sqlite import SqliteStore
from tenure.store.timeline.overlaps import overlapping
from tenure.tests.source_tree import data_table
from tenure.tests.store.builders import TENANT, Say
from tenure.tests.store.contract.test_port_transfer import lived_in


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT)
    lived_in(store)
    assert store.check(TENANT) == ()
    store.close()
    return tmp_path / "memory.db"


def injure(path: Path, *statements: str) -> tuple[str, ...]:
    """Run statements with every guard off, and return what the doctor says."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for (name,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            db.execute(statement)
    store = SqliteStore(path)
    try:
        return store.check(TENANT)
    finally:
        store.close()


OFFICE = f"(SELECT slot_id FROM slot WHERE slot_key = '{Say(object_id='x').slot_key}')"


@pytest.mark.parametrize(("injury", "said"), data_table("damages.toml")["sqlite"]["rows"])
def test_a_broken_invariant_is_named(path: Path, injury: str, said: str) -> None:
    found = injure(path, injury.replace("OFFICE", OFFICE))
    assert any(said in sentence for sentence in found), found


def test_two_values_of_a_slot_of_many_may_both_be_clean(path: Path) -> None:
    assert injure(path) == ()


def brute(spans: list[tuple[int, int, int, int]]) -> bool:
    return any(
        a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
        for i, a in enumerate(spans)
        for b in spans[:i]
    )


def spans_of(seed: int) -> list[tuple[int, int, int, int]]:
    numbers = [(seed * 7919 + i * 104_729) % 9 for i in range(16)]
    found = []
    for a, b, c, d in zip(*[iter(numbers)] * 4, strict=True):
        found.append((a, a + 1 + b % 4, c, c + 1 + d % 4))
    return found[: 2 + seed % 3]


def test_the_sweep_agrees_with_comparing_every_pair() -> None:
    outcomes = {True: 0, False: 0}
    for seed in range(400):
        spans = spans_of(seed)
        assert overlapping(spans) is brute(spans), spans
        outcomes[brute(spans)] += 1
    assert min(outcomes.values()) > 20
