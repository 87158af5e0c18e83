"""Histories: groups of one stamp each share transactions, and say the same as one by one."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.schema.errors import NotFound
from tenure.schema.values import canonical_json, micros
from tenure.service.backend.backend import event_id
from tenure.service.client.memory import Memory
from tenure.service.writing import ingest as history

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ["Sam Rivera", "Samuel Rivera", "Ana Ortiz", "S. Rivera", "Anna Ortiz", "Orchid Foods"]
TENANT = "default"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with tenure.connect(str(tmp_path / "m.db")) as memory:
        yield memory


def at(number: int) -> str:
    return (START + timedelta(days=number)).isoformat()


def office(number: int, value: str, **more: Any) -> dict[str, Any]:
    """An event of a day of its own."""
    return {
        "recorded_at": at(number),
        "subject": "Sam Rivera",
        "slot": "office",
        "value": value,
        **more,
    }


def id_of(event: dict[str, Any]) -> str:
    """The object id of an event that has its stamp to itself."""
    recorded_us = micros(datetime.fromisoformat(event["recorded_at"]))
    return event_id(TENANT, recorded_us, 0, canonical_json(event))


@pytest.fixture
def transaction_count(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Tells how many write transactions of the store have begun."""
    calls: list[str] = []
    store = memory._backend.store
    transact = store.transact

    def counted(tenant: str, work: Any) -> Any:
        calls.append(tenant)
        return transact(tenant, work)

    monkeypatch.setattr(store, "transact", counted)
    return lambda: len(calls)


def test_many_stamps_share_a_transaction_and_each_keeps_its_own(
    memory: Memory, transaction_count: Callable[[], int]
) -> None:
    report = memory.replay_import(office(day, f"room {day}") for day in range(50))
    assert (report.events, report.transactions, transaction_count()) == (50, 50, 1)
    assert memory.as_of(at(20), at(20)).value("Sam Rivera", "office") == "room 20"
    assert memory.as_of(at(20), at(40)).value("Sam Rivera", "office") == "room 20"


def test_a_transaction_has_as_many_lines_as_fit(
    memory: Memory, transaction_count: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "LINES_AT_ONCE", 3)
    groups = [2, 1, 1, 5, 1]  # two groups fill the first, and one has more than fit
    events: list[dict[str, Any]] = []
    for day, size in enumerate(groups):
        events += [office(day, f"{day}", subject=f"Person {person}") for person in range(size)]

    memory.replay_import(events)
    assert transaction_count() == 4


def test_what_stands_before_a_refused_group_is_stored(memory: Memory) -> None:
    lost = {"recorded_at": at(2), "op": "retract", "object_id": id_of(office(9, "nobody's"))}
    events = [office(0, "Austin"), office(1, "Chicago"), lost, office(3, "Boston")]
    with pytest.raises(NotFound, match="line 3"):
        memory.replay_import(events)

    assert {row.value for row in memory.history("Sam Rivera", "office")} == {"Austin", "Chicago"}
    del events[2]
    report = memory.replay_import(events)
    assert (report.events, report.transactions, report.skipped_groups) == (1, 1, 2)


def test_what_stands_behind_a_refused_group_is_stored_where_it_goes_on(
    memory: Memory, tmp_path: Path
) -> None:
    lost = {"recorded_at": at(1), "op": "retract", "object_id": id_of(office(9, "nobody's"))}
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join(map(json.dumps, [office(0, "Austin"), lost, office(2, "Boston")])))
    report = memory.ingest(path, replay=True, keep_going=True)
    assert (report.events, [line.line for line in report.rejected]) == (2, [2])
    assert memory.as_of().value("Sam Rivera", "office") == "Boston"


def test_a_group_finds_what_an_earlier_one_of_the_same_file_has_made(
    memory: Memory, transaction_count: Callable[[], int]
) -> None:
    first = office(0, "Austin")
    taken_back = {"recorded_at": at(2), "op": "retract", "object_id": id_of(first)}
    report = memory.replay_import([first, office(1, "Reno", slot="title"), taken_back])
    assert report.outcomes == {"accepted": 3}
    # It waits for what it refers to, so that this one is read and not foretold.
    assert transaction_count() == 2
    assert memory.as_of(tx=at(1)).value("Sam Rivera", "office") == "Austin"
    assert memory.as_of(tx=at(2)).value("Sam Rivera", "office") is None


def test_a_definition_holds_for_nothing_before_its_group(memory: Memory) -> None:
    badge = {"define": "slot", "name": "badge_colour", "description": "the colour of the badge"}
    green = office(1, "green", slot="badge_colour")
    report = memory.replay_import([office(0, "Austin"), badge, green])
    assert (report.events, report.definitions) == (2, 1)
    assert memory.as_of(tx=at(0)).value("Sam Rivera", "office") == "Austin"


def about(target: dict[str, Any], day: int, rng: random.Random) -> dict[str, Any]:
    """An event that takes another one back, or derives a belief from it."""
    if rng.random() < 0.5:
        return {"recorded_at": at(day), "op": "retract", "object_id": id_of(target)}
    return office(
        day,
        f"from {target['value']}",
        slot="title",
        object_type="inferred_belief",
        derived_from=[id_of(target)],
    )


def random_history(rng: random.Random) -> list[dict[str, Any]]:
    """Events of names that resemble each other, some of a stamp, some taken back or built on."""
    events: list[dict[str, Any]] = []
    targets: list[dict[str, Any]] = []
    for day in range(40):
        size = rng.choice([1, 1, 1, 2, 3])
        if targets and rng.random() < 0.3:
            events.append(about(targets.pop(rng.randrange(len(targets))), day, rng))
            continue

        group = [
            office(
                day,
                f"{rng.choice('abc')}",
                subject={"name": rng.choice(NAMES), "type": "person"},
                slot=rng.choice(["office", "title", "home"]),
                source_origin=rng.choice(["crm://one", "mail://two"]),
                **({"valid_from": at(rng.randrange(60))} if rng.random() < 0.5 else {}),
            )
            for _ in range(size)
        ]
        events += group
        if size == 1:
            targets += group
    return events


@pytest.mark.parametrize("seed", range(6))
def test_groups_that_share_a_transaction_leave_what_they_leave_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    events = random_history(random.Random(seed))
    exports: list[str] = []
    for lines_at_once in (1, 7, 1_000):
        monkeypatch.setattr(history, "LINES_AT_ONCE", lines_at_once)
        with tenure.connect(str(tmp_path / f"{lines_at_once}.db")) as memory:
            memory.replay_import(events)
            path = tmp_path / f"{lines_at_once}.jsonl"
            memory.export(path, keys=False)
            exports.append(path.read_text(encoding="utf-8"))

    assert exports[1].splitlines() == exports[0].splitlines()
    assert exports[2].splitlines() == exports[0].splitlines()


def test_events_are_imported_without_the_rules_that_read_talk(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(json.dumps(office(0, "Austin")))
    script = (
        "import sys, tenure\n"
        f"with tenure.connect({str(tmp_path / 'm.db')!r}) as memory:\n"
        f"    memory.ingest({str(path)!r}, replay=True)\n"
        "print([name for name in sys.modules if name.startswith('tenure.service.extraction.rule')])"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", script], check=True, capture_output=True, text=True
    )
    assert run.stdout.strip() == "[]"
