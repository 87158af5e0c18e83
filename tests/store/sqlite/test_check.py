"""The doctor: each broken invariant is found and named, and a healthy file has none."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tenure.schema.interval import INF_US
from tenure.store.sqlite import SqliteStore
from tenure.store.timeline.overlaps import overlapping
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


@pytest.mark.parametrize(
    ("injury", "said"),
    [
        (f"UPDATE version SET tx_end = {INF_US} WHERE vid = 1", "two clean heads decide"),
        (f"UPDATE version SET tx_end = {INF_US} WHERE vid = 1", "two rows overlap on both axes"),
        ("UPDATE version SET valid_until = valid_from WHERE vid = 2", "empty or reversed"),
        ("UPDATE version SET head = 1 WHERE status = 'quarantined'", "quarantined row decides"),
        ("UPDATE version SET slot_id = 99 WHERE vid = 1", "points at a missing row"),
        ("UPDATE version SET slot_id = 2 WHERE slot_id = 1", "in another slot than its claim"),
        ("UPDATE version SET deny = 1 WHERE vid = 1", "marked as a denial"),
        ("UPDATE version SET tx_start = 11 WHERE vid = 1", "stands in no event"),
        ("UPDATE version SET tx_start = 10 WHERE tx_start = 20", "before its claim was written"),
        ("UPDATE claim SET tx = 11 WHERE object_id = 'a'", "a claim's stamp"),
        ("UPDATE counter SET next_vid = 2", "not below the next one"),
        ("UPDATE counter SET vec_seq = 1", "above the counter"),
        ("UPDATE counter SET seq = 50", "the counters say"),
        ("UPDATE counter SET last_us = 91", "the counters say"),
        ("DELETE FROM tx_event WHERE seq = 3", "has a gap"),
        ("UPDATE tx_event SET actor = 'eve' WHERE seq = 2", "audit chain breaks at event 2"),
        ("UPDATE tx_event SET object_ids = '[]' WHERE seq = 1", "audit chain breaks at event 1"),
        ("UPDATE definition SET number = 5", "definitions have a gap"),
        ("DELETE FROM object_permit WHERE claim_id = 1", "has no permissions"),
        ("UPDATE slot SET scope_id = 'user=x' WHERE slot_id = 1", "different scopes"),
        ("DELETE FROM tombstone", "no tombstone says why"),
        (
            "INSERT INTO content SELECT claim_id, '', '', '', '', '', NULL, NULL, '' FROM claim"
            " WHERE object_id = 'e'",
            "an erased object still has text",
        ),
        (
            "UPDATE version SET tx_end = 253402300799999999 WHERE claim_id ="
            " (SELECT claim_id FROM claim WHERE object_id = 'e')",
            "an erased claim has an open row",
        ),
        ("UPDATE entity SET state = 'erased' WHERE entity_id = 'e2'", "still has a name"),
        ("DELETE FROM live", "a live mark is missing"),
        ("DELETE FROM live", "the index text_live does not hold"),
        ("DELETE FROM text_all WHERE rowid = 1", "the index text_all does not hold"),
        ("UPDATE block_count SET postings = 9 WHERE k = 'x'", "count of blocking keys"),
        ("INSERT INTO norm (norm) VALUES ('ghost')", "names no alias"),
        ("UPDATE canonical SET canonical_id = 'e1'", "disagree with the judgements"),
        ("DELETE FROM canonical", "disagree with the judgements"),
        ("INSERT INTO canonical VALUES ('ghost', 'e2')", "belongs to no entity"),
        (
            "UPDATE content SET value_key = 's:Rome', value_json = '\"Rone\"'",
            "a value is not the one",
        ),
        ("UPDATE content SET value_key = 'n:1', value_json = '2'", "a value is not the one"),
        ("UPDATE content SET value_key = 't:1', value_json = '\"x\"'", "a value is not the one"),
        (
            "UPDATE content SET text = 'Rone' WHERE claim_id = "
            "(SELECT claim_id FROM claim WHERE object_id = 'f')",
            "a value is not the one",
        ),
        ("UPDATE alias SET surface = 'Eve' WHERE entity_id = 'e1'", "was taught: e1"),
        ("UPDATE alias SET norm = 'eve' WHERE entity_id = 'e1'", "was taught: e1"),
        ("UPDATE alias SET surface = 'Eve', norm = 'eve'", "names no alias"),
        ("UPDATE tombstone SET tx = 91", "stamp of a tombstone"),
        ("UPDATE edge SET dst_id = 99 WHERE edge_id = 1", "points at a missing row"),
        ("DELETE FROM entity WHERE entity_id = 'e1'", "points at a missing row"),
        ("UPDATE version SET status = 'fifth' WHERE vid = 1", "the file is damaged"),
    ],
)
def test_a_broken_invariant_is_named(path: Path, injury: str, said: str) -> None:
    found = injure(path, injury)
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
