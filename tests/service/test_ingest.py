"""Import files: what is taken, what is refused with its line, and that nothing is half-written."""

import gzip
import io
import json
import random
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.schema.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    TenureError,
    Unavailable,
)
from tenure.schema.principal import Principal
from tenure.schema.values import canonical_json, micros
from tenure.service.backend.backend import event_id
from tenure.service.client.memory import Memory
from tenure.service.writing import ingest as history
from tenure.service.writing.lines import Line, Reading, read
from tenure.service.writing.refusals import rejects_path
from tenure.tests.support.refusals import refused

MAY, JUNE, JULY = (f"2026-{month}-01T00:00:00Z" for month in ("05", "06", "07"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with tenure.connect(str(tmp_path / "m.db")) as memory:
        yield memory


def event(value: str = "Austin", **more: Any) -> dict[str, Any]:
    return {"subject": "Sam Rivera", "slot": "office", "value": value, "valid_from": MAY, **more}


def file(folder: Path, *lines: dict[str, Any] | str, name: str = "events.jsonl") -> Path:
    path = folder / name
    texts = [x if isinstance(x, str) else json.dumps(x) for x in lines]
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def empty(memory: Memory) -> bool:
    with memory._backend.store.reading("default") as reader:
        return reader.clock().seq == 0 and not reader.definitions()


def test_each_line_of_a_plain_import_is_a_write_of_its_own(memory: Memory, tmp_path: Path) -> None:
    moved = {k: v for k, v in event("Chicago").items() if k != "valid_from"}
    stayed = {k: v for k, v in event("Austin").items() if k != "valid_from"}
    report = memory.ingest(file(tmp_path, stayed, "", moved))
    # In one transaction with one stamp the two values would tie.
    assert (report.events, report.transactions) == (2, 1)
    assert memory.as_of().value("Sam Rivera", "office") == "Chicago"
    first, last = {row.tx_start for row in memory.history("Sam Rivera", "office")}
    assert first != last


def test_a_definition_holds_from_its_place_on(memory: Memory, tmp_path: Path) -> None:
    define = {"define": "slot", "name": "badge_colour", "description": "the colour of the badge"}
    badge = {"subject": "Sam Rivera", "slot": "badge_colour", "value": "green"}
    with pytest.raises(InvalidInput, match="line 1: unknown slot 'badge_colour'"):
        memory.ingest(file(tmp_path, badge, define))
    assert empty(memory)
    report = memory.ingest(file(tmp_path, define, badge))
    assert (report.definitions, report.events) == (1, 1)
    assert memory.as_of().value("Sam Rivera", "badge_colour") == "green"


def test_a_packed_file_and_standard_input_are_read(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "events.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(event()).encode()))
    assert memory.ingest(packed).events == 1
    typed = io.TextIOWrapper(io.BytesIO(json.dumps(event("Chicago", valid_from=JUNE)).encode()))
    monkeypatch.setattr("sys.stdin", typed)
    assert memory.ingest("-").events == 1
    assert memory.as_of().value("Sam Rivera", "office") == "Chicago"


BAD: list[tuple[str, dict[str, Any] | str, str]] = [
    ("bad_json", "{not json", "no JSON"),
    ("bad_json", "[1, 2]", "one JSON object"),
    ("bad_json", '{"slot": "office", "slot": "team"}', "a key occurs twice: slot"),
    ("bad_json", '{"subject": "Sam", "slot": "office", "value": NaN}', "NaN"),
    ("bad_json", "[" * 100_000, "deeply"),
    ("unknown_field", event(valid_form=JUNE), "did you mean 'valid_from'"),
    ("unknown_field", event(recorded_at=JUNE), "--replay"),
    ("bad_field", event(applicable_task_types="email"), "a list of texts"),
    ("bad_field", event(planned="yes"), "true or false"),
    ("bad_field", event(authority_level="2"), "a number"),
    ("bad_field", event(subject={"name": "Sam", "aliases": "Sammy"}), "subject must be"),
    ("bad_field", event(subject=7), "subject must be"),
    ("bad_field", event(scope="tenant"), "an object"),
    ("bad_field", event(content=["a"]), "a text"),
    ("bad_entity", event(subject={"name": "Sam", "kind": "person"}), "an entity has"),
    ("unknown_vocabulary", event() | {"slot": "ofice"}, "did you mean 'office'"),
    ("unknown_vocabulary", event(op="asert"), "did you mean 'assert'"),
    ("unknown_vocabulary", event(sensitivity=["secret"]), "unknown"),
    ("naive_datetime", event(valid_until="2026-06-01T00:00:00"), "no time zone"),
    ("bad_time", event(valid_until="2026-06-31"), "no date of the calendar"),
    ("bad_time", event(valid_until="June"), "ISO 8601"),
    ("sub_microsecond", event(valid_until="2026-06-01T00:00:00.123456789Z"), "finer"),
    ("empty_interval", event(valid_until=MAY), "empty"),
    ("inverted_interval", event(valid_until="2026-01-01T00:00:00Z"), "reversed"),
    ("too_large", event(content="x" * 200_001), "characters"),
    ("unknown_vocabulary", {"define": "colour", "name": "red"}, "colour"),
    ("bad_definition", {"define": "slot", "name": "badge"}, "description"),
    ("bad_definition", {"define": "slot", "name": "badge", "descr": "x"}, "descr"),
]


@pytest.mark.parametrize(("code", "line", "says"), BAD, ids=lambda v: str(v)[:32])
def test_a_wrong_line_stops_the_import_and_nothing_is_written(
    memory: Memory, tmp_path: Path, code: str, line: dict[str, Any] | str, says: str
) -> None:
    define = {"define": "slot", "name": "badge_colour", "description": "the colour of the badge"}
    with refused(TenureError, code) as caught:
        memory.ingest(file(tmp_path, define, event(), "", line, event("Chicago")))
    assert str(caught.value).startswith("line 4: ")
    assert says in str(caught.value)
    assert caught.value.data["line"] == 4
    assert empty(memory)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (event(subject="\u200b"), "bad_name"),
        (event(subject="x" * 301), "bad_name"),
        (event(slot="manager", value="x" * 301), "bad_name"),
        (event(slot="manager", value="N/A"), "bad_name"),
        (event(subject={"name": "unknown", "type": "person"}), "bad_name"),
        ({"observe": "I live in Rome.", "speaker": 5}, "bad_field"),
        ({"observe": "I live in Rome.", "speaker": ""}, "value_type_mismatch"),
        ({"observe": "I live in Rome.", "speaker": "\ud800"}, "unstorable_text"),
        ({"observe": "I live in Rome.", "speaker": {"name": "Ann", "nick": "A"}}, "bad_entity"),
        ({"observe": "I live in \0.", "speaker": "Ann"}, "unstorable_text"),
        ({"observe": "I live in \ud800."}, "unstorable_text"),
        ({"observe": "I live in Rome.", "applicable_task_types": ["\ud800"]}, "unstorable_text"),
        ({"observe": "I live in Rome.", "speaker": "Ann", "source_origin": "chat"}, "bad_origin"),
        ({"observe": "I live in Rome.", "decay_rule": 7}, "bad_field"),
    ],
)
def test_what_no_store_could_take_is_told_before_anything_is_written(
    memory: Memory, tmp_path: Path, line: dict[str, Any], code: str
) -> None:
    path = file(tmp_path, event(), line)
    report = memory.ingest(path, check=True)
    assert [(refusal.line, refusal.code) for refusal in report.rejected] == [(2, code)]

    with pytest.raises(InvalidInput, match="line 2: ") as refusal:
        memory.ingest(path)
    assert (refusal.value.code, empty(memory)) == (code, True)

    report = memory.ingest(path, keep_going=True)
    assert (report.events, [refusal.code for refusal in report.rejected]) == (1, [code])


def test_a_line_that_is_no_utf8_is_told_by_its_number(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(json.dumps(event()).encode() + b'\n{"subject": "S\xe4m"}\n')
    with pytest.raises(InvalidInput, match="line 2: the line is not UTF-8 at byte 15"):
        memory.ingest(path)
    assert empty(memory)


def test_what_only_the_store_can_refuse_undoes_its_transaction(
    memory: Memory, tmp_path: Path
) -> None:
    two = [event(idempotency_key="k"), event("Chicago", idempotency_key="k")]
    with refused(Conflict, "idempotency_mismatch", match="line 2: this idempotency key"):
        memory.ingest(file(tmp_path, *two))
    assert empty(memory)


def test_lines_beyond_a_transaction_stand_in_the_next_one(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.service.writing.ingest.LINES_AT_ONCE", 20)
    lines = [event(f"Room {number}") for number in range(21)]
    seen: list[tuple[int, int]] = []
    report = memory.ingest(file(tmp_path, *lines), progress=lambda *now: seen.append(now))
    assert (report.events, report.transactions) == (21, 2)
    assert seen == [(20, 20), (21, 21)]
    assert report.rate > 0


def test_refused_lines_are_collected_with_their_reasons(memory: Memory, tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [
        event(),
        "{broken",
        event(op="asert"),
        event("Boston", idempotency_key="k", valid_from=JUNE),
        event("Chicago", idempotency_key="k", valid_from=JULY),
        event(content="the key is AKIAQX7ZP3LMN4RTVW2K"),
        {"define": "slot", "name": "badge"},
    ]
    report = memory.ingest(file(tmp_path, *lines), keep_going=True)
    assert report.events == 2
    assert [(r.line, r.code) for r in report.rejected] == [
        (2, "bad_json"),
        (3, "unknown_vocabulary"),
        (5, "idempotency_mismatch"),
        (6, "secret_in_content"),
        (7, "bad_definition"),
    ]
    path = tmp_path / "events.rejects.jsonl"
    assert report.rejects_file == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    held = [json.loads(line) for line in path.read_text().splitlines()]
    assert held[0]["text"] == "{broken"
    assert "AKIA" not in path.read_text()


def test_a_clean_import_leaves_no_rejects_file(memory: Memory, tmp_path: Path) -> None:
    assert memory.ingest(file(tmp_path, event()), keep_going=True).rejects_file is None
    assert not (tmp_path / "events.rejects.jsonl").exists()


@pytest.mark.parametrize(
    ("path", "rejects"),
    [("a/b.jsonl", "a/b"), ("b.jsonl.gz", "b"), ("b.txt", "b.txt"), ("-", "stdin")],
)
def test_the_rejects_file_stands_beside_its_source(path: str, rejects: str) -> None:
    assert rejects_path(path).as_posix() == f"{rejects}.rejects.jsonl"


def test_a_file_that_cannot_be_read_says_why(memory: Memory, tmp_path: Path) -> None:
    with refused(NotFound, "unknown_file", match="there is no file"):
        memory.ingest(tmp_path / "none.jsonl")
    with refused(Unavailable, "file_unreadable"):
        memory.ingest(tmp_path)
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(b"{}\n" * 1000)[:-20])
    with refused(InvalidInput, "bad_file"):
        memory.ingest(torn)
    torn.write_bytes(b"{}\n")
    with refused(InvalidInput, "bad_file"):
        memory.ingest(torn)


# ---- replay


def recorded(tx: str, value: str, **more: Any) -> dict[str, Any]:
    return event(value, recorded_at=tx, **more)


def test_lines_with_one_recording_time_are_one_write(memory: Memory, tmp_path: Path) -> None:
    sam = {"subject": {"name": "Sam Rivera", "type": "person", "external_ids": {"hr": "7"}}}
    lines = [
        recorded(MAY, "Austin", **sam),
        recorded(JUNE, "Chicago", valid_from=JUNE, **sam),
        recorded(JUNE, "Boston", valid_from=JUNE, **sam),
    ]
    report = memory.ingest(file(tmp_path, *lines), replay=True)
    assert (report.events, report.transactions) == (3, 2)
    assert memory.as_of(JUNE, MAY).value("Sam Rivera", "office") == "Austin"
    assert memory.as_of(JUNE, JUNE).slot("Sam Rivera", "office").status == "disputed"


def test_a_replay_runs_forward_only(memory: Memory, tmp_path: Path) -> None:
    lines = [recorded(JUNE, "Austin"), recorded(MAY, "Chicago")]
    with refused(InvalidInput, "tx_backwards", match=r"line 2: .*sort the file"):
        memory.ingest(file(tmp_path, *lines), replay=True)
    assert empty(memory)
    memory.ingest(file(tmp_path, lines[0]), replay=True)
    with refused(InvalidInput, "tx_backwards", match="line 1: "):
        memory.ingest(file(tmp_path, lines[1]), replay=True)


@pytest.mark.parametrize(
    ("stated", "code"),
    [(None, "bad_field"), (5, "bad_field"), ("infinity", "bad_time"), ("May", "bad_time")],
)
def test_every_line_of_a_replay_says_when_it_was_recorded(
    memory: Memory, tmp_path: Path, stated: Any, code: str
) -> None:
    with refused(InvalidInput, code):
        memory.ingest(file(tmp_path, event(recorded_at=stated)), replay=True)


def test_a_replay_needs_the_privilege(memory: Memory, tmp_path: Path) -> None:
    caller = memory.bind(Principal(user="sam"))
    with refused(Forbidden, "privilege_required"):
        caller.ingest(file(tmp_path, recorded(MAY, "Austin")), replay=True)
    define = {"define": "slot", "name": "badge_colour", "description": "the colour of the badge"}
    with pytest.raises(Forbidden, match="line 1: "):
        caller.ingest(file(tmp_path, define))
    assert caller.ingest(file(tmp_path, event())).events == 1


def test_a_replay_goes_on_without_its_wrong_lines(memory: Memory, tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [
        recorded(MAY, "Austin"),
        recorded(MAY, "Boston", op="asert"),
        recorded(JUNE, "Chicago", valid_from=JUNE),
        recorded(MAY, "Denver"),
    ]
    path = file(tmp_path, *lines)
    report = memory.ingest(path, replay=True, keep_going=True)
    assert [(r.line, r.code) for r in report.rejected] == [
        (2, "unknown_vocabulary"),
        (4, "tx_backwards"),
    ]
    assert memory.as_of().value("Sam Rivera", "office") == "Chicago"
    again = memory.ingest(path, replay=True, keep_going=True)
    assert (again.events, again.skipped, len(again.rejected)) == (0, 2, 2)


def test_events_in_memory_are_a_history_too(memory: Memory) -> None:
    events = [
        {"define": "slot", "name": "badge_colour", "description": "the colour of the badge"},
        recorded(MAY, "green") | {"slot": "badge_colour"},
        recorded(JUNE, "red", valid_from=JUNE) | {"slot": "badge_colour"},
    ]
    report = memory.replay_import(iter(events))
    assert (report.events, report.definitions) == (2, 1)
    assert memory.as_of(JULY).value("Sam Rivera", "badge_colour") == "red"
    with pytest.raises(InvalidInput, match="event 1 is no JSON"):
        memory.replay_import([{"value": object()}])


def test_names_alone_decide_when_identifiers_are_left_out() -> None:
    subject = {"name": "Mike Rogers", "external_ids": {"bioguide": "R000575"}}
    line = Line(1, json.dumps(event(subject=subject)))
    found = read(line, Reading(ignore_external_ids=True))
    assert found.write.subject == {"name": "Mike Rogers"}  # type: ignore[union-attr]


# ---- Histories: groups of one stamp each share transactions, and say the same as one by one.

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ["Sam Rivera", "Samuel Rivera", "Ana Ortiz", "S. Rivera", "Anna Ortiz", "Orchid Foods"]
TENANT = "default"


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
