"""Query plans: every read uses the index it was written for, at a size where it matters."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.schema.interval import Interval
from tenure.schema.principal import Scope
from tenure.store.port.store import Ask, Point, SlotRead
from tenure.store.sqlite import SqliteStore, register_sql, sql
from tenure.tests.store.builders import ALL, TENANT, Say, commit

SCANS_ON_PURPOSE = {
    "ALL_CLAIMS", "ALL_EDGES", "ALL_ROWS", "ALL_VECTORS", "EVENTS", "FLAGS", "PERMISSION_CHANGES",
    "DEFINITION_BODIES", "KEYS", "TENANT", "COUNTERS", "COUNTERS_TO_WRITE",
    "COUNT_DEFINITIONS", "NEWEST",
    "SLOT_IDS", "ERASED_SINCE", "DECAYING", "MATCHES",
    "LIVE_OBJECTS", "SET_COUNTERS", "RAISE_VECTORS", "RAISE_ERASURES", "CLEAR_KEYS",
    "OPENINGS_OF",
}  # fmt: skip
"""Statements that read a whole table because that is what they are for, or one row of it."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("plans") / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    commit(
        store,
        [
            Say(
                object_id=f"o{n}",
                subject=f"e{n}",
                slot="manager",
                value_entity=f"e{n + 1}",
                key=f"k{n}",
                scope=Scope(user=f"u{n % 50}"),
            )
            for n in range(300)
        ],
    )
    with store.writing(TENANT) as tx:
        tx.lock()
        tx._db.execute("ANALYZE")
    store.close()
    opened = sqlite3.connect(path)
    yield opened
    opened.close()


def plan(db: sqlite3.Connection, statement: str) -> list[str]:
    names = set(re.findall(r":([a-z]+)", statement))
    places = 1 if "?1" in statement else statement.count("?")
    bound: object = dict.fromkeys(names, "[]") if names else ["[]"] * places
    return [line[3] for line in db.execute(f"EXPLAIN QUERY PLAN {statement}", bound)]


def everything() -> Iterator[tuple[str, str]]:
    for name, value in vars(sql).items():
        if name.isupper() and not name.startswith("_"):
            for found in value.values() if isinstance(value, dict) else [value]:
                for each in [found] if isinstance(found, str) else found:
                    yield name, each


@pytest.mark.parametrize(("name", "statement"), list(everything()), ids=lambda v: str(v)[:24])
def test_no_read_scans_a_table(db: sqlite3.Connection, name: str, statement: str) -> None:
    scans = [
        step
        for step in plan(db, statement)
        if step.startswith("SCAN")
        and not re.match(r"SCAN (\w+ VIRTUAL TABLE|CONSTANT|\(subquery)", step)
        and not re.match(r"SCAN (j|s|t|a|b|d|n|q|m|json_each|ends|found|f|down|start)\b", step)
    ]
    assert not scans or name in SCANS_ON_PURPOSE, scans


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (sql.WINDOW_OPEN, "version_open"),
        (sql.WINDOW_VALID, "version_by_valid"),
        (sql.RANGE_OPEN, "version_open"),
        (sql.RANGE, "version_by_valid"),
    ],
)
def test_point_reads_never_leave_their_index(
    db: sqlite3.Connection, statement: str, index: str
) -> None:
    steps = plan(db, statement)
    assert any(f"USING COVERING INDEX {index} (slot_id=?" in step for step in steps), steps
    assert not any("TEMP B-TREE" in step for step in steps)


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (sql.OPENINGS, "version_began (tx_start>? AND tx_start<?)"),
        (sql.CLOSINGS, "version_ended (tx_end>? AND tx_end<?)"),
        (sql.OPEN_DENIALS, "version_open (slot_id=? AND valid_until>?)"),
        (sql.OPEN_HIDDEN, "version_open (slot_id=? AND valid_until>?)"),
        (sql.OPEN_DENIALS, "version_open_rest (slot_id=? AND deny=? AND valid_until>?)"),
        (sql.NEIGHBOURS[True][0], "version_open (slot_id=?"),
        (sql.NEIGHBOURS[False][0], "version_by_valid (slot_id=?"),
        (sql.NEIGHBOURS[False][2], "claim_by_value (value_entity_id=?)"),
        (sql.STANDING, "claim_standing (object_type=? AND scope_id=?)"),
        (sql.STANDING_SUBJECTS[False], "version_by_valid (slot_id=?"),
        (sql.STANDING_SUBJECTS[True], "version_open (slot_id=?"),
        (
            sql.STANDING_SUBJECTS[True],
            "COVERING INDEX claim_standing_subject (scope_id=? AND slot=? AND subject_id>?)",
        ),
        (
            sql.STANDING_NAMES,
            "COVERING INDEX claim_standing_subject (scope_id=? AND slot=? AND subject_id>?)",
        ),
        (sql.DECAYING, "claim_decays"),
        (sql.NEWEST_TEXT_SLOT_IDS, "claim_text_about (subject_id=?)"),
        (sql.NEWEST_FOREIGN_SLOT_IDS, "claim_text_about (subject_id=?)"),
        (sql.NEWEST_VIDS[True], "version_open_rest (slot_id=?)"),
        (sql.NEWEST_VIDS[True], "version_open (slot_id=? AND valid_until>?"),
        (sql.WINDOW_TX, "COVERING INDEX claim_by_slot (slot_id=? AND tx<?)"),
        (sql.WINDOW_TX, "version_by_claim (claim_id=? AND tx_end>?)"),
        (sql.NEWEST_VIDS[False], "claim_by_slot (slot_id=?)"),
        (sql.NEWEST_VIDS[False], "version_by_valid (slot_id=?"),
        (sql.SLOT_IDS_OF_PAIR, "COVERING INDEX slot_of_subject (subject_id=? AND slot=?)"),
        (sql.OF_VID, "COVERING INDEX edge_confirms (dst_id=? AND tx<?)"),
        (sql.SLOT_IDS_OF_PAIRS, "slot_of_subject (subject_id=? AND slot=?)"),
        (register_sql.ALIASES_BY_NORM, "alias_by_norm (norm=? AND scope_id=? AND tx_start<?)"),
        (register_sql.VISIBLE_ALIASES, "alias_by_norm (norm=? AND scope_id=? AND tx_start<?)"),
        (register_sql.JUDGEMENTS_OF, "judgement_by_left (left_id=? AND tx_start<?)"),
        (register_sql.FIND["receipt", "object_id"], "autoindex_receipt_1 (object_id=?)"),
        (register_sql.FIND["receipt", "idempotency_key"], "autoindex_receipt_2 (idempotency_key"),
        (register_sql.FIND["action", "object_id"], "action_by_object (object_id=? AND tx_end>?)"),
        (register_sql.FIND["review", "entity_id"], "review_by_entity (entity_id=?)"),
        (register_sql.FIND["slot", "subject_id"], "slot_of_subject (subject_id=?)"),
        (register_sql.FIND["tx_event", "tx"], "tx_event_1 (tx=?)"),
        (register_sql.VECTORS, "INTEGER PRIMARY KEY (rowid>?)"),
        (register_sql.WAITING, "SEARCH w USING COVERING INDEX waiting_by_actor (actor=?)"),
        (register_sql.EMPTY_RECORDS[3], "SEARCH review USING INDEX review_by_object (object_id=?)"),
        (register_sql.EMPTY_RECORDS[4], "SEARCH alias USING INDEX alias_closed (object_id=?)"),
        (register_sql.EMPTY_RECORDS[2], "SEARCH manifest USING INTEGER PRIMARY KEY (rowid=?)"),
        (register_sql.EMPTY_NAMINGS[0], "SEARCH judgement USING INDEX judgement_by_left"),
        (register_sql.EMPTY_NAMINGS[0], "SEARCH judgement USING INDEX judgement_by_right"),
        (register_sql.LESSONS_OF, "SEARCH i USING INDEX identifier_by_entity (entity_id=?)"),
        (register_sql.LESSONS_OF, "SEARCH a USING INDEX alias_by_entity (entity_id=?)"),
    ],
)
def test_a_read_uses_the_index_it_was_written_for(
    db: sqlite3.Connection, statement: str, index: str
) -> None:
    steps = plan(db, statement)
    assert any(index in step for step in steps), steps


def test_no_plan_builds_an_index_of_its_own(db: sqlite3.Connection) -> None:
    for name, statement in everything():
        assert not any("AUTOMATIC" in step for step in plan(db, statement)), name
        if name != "DEPENDANTS":  # there it is over the few objects that were asked for
            assert not any("BLOOM" in step for step in plan(db, statement)), name


def test_the_doctor_s_statements_are_valid(db: sqlite3.Connection) -> None:
    for statement in register_sql.MUST_BE_EMPTY.values():
        assert plan(db, statement)


def test_a_deep_slot_is_written_without_reading_its_past(store: SqliteStore) -> None:
    for n in range(120):
        commit(store, [Say(object_id=f"o{n}", value=str(n), start=n)])
    with store.writing(TENANT) as tx:
        tx.lock()
        key = Say(object_id="x").slot_key
        (rows,) = tx.open_rows([SlotRead((key,), Interval(500, 501), False)])
        (full,) = tx.open_rows([SlotRead((key,), Interval(500, 501), True)])
    assert len(rows) == 1
    assert len(full) == 120


def test_a_point_read_takes_few_statements_whatever_the_depth(store: SqliteStore) -> None:
    for n in range(400):
        commit(store, [Say(object_id=f"o{n}", value=str(n), start=n)])
    ask = Ask(subjects=("e1",), slots=("office",))
    with store.reading(TENANT) as reader:
        for point in (Point(399, 400), Point(10_000, 400), Point(300, 350), Point(5, 300)):
            ran: list[str] = []
            reader._db.set_trace_callback(ran.append)
            found = reader.versions(ask, sight=ALL, point=point)
            reader._db.set_trace_callback(None)
            assert len(found.versions) == 1
            assert len(ran) <= 9, ran


def test_the_slots_of_a_subject_are_found_without_a_look_at_its_texts(
    db: sqlite3.Connection,
) -> None:
    steps = plan(db, sql.SLOT_IDS_OF_SUBJECTS_ALONE)
    assert any("slot_of_subject (subject_id=? AND slot>?)" in step for step in steps), steps
