"""A real bitemporal history, loaded by replay, answers as its source did at every moment.

The truth is stated in one sentence: as of (V, K) a slot holds what the last event recorded at
or before K says whose interval covers V; `delete` says nothing. The sample is from
unitedstates/congress-legislators, CC0-1.0.
"""

from __future__ import annotations

import bisect
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import tenure
from tenure.schema.values import micros
from tenure.service.client.memory import Memory
from tenure.tests.support.sampling import size

SAMPLE = Path(__file__).parent.parent / "data" / "events-sample.jsonl"
TWO_PEOPLE = "G000574"
"""One number of the source for two people of unlike names, who are a review."""
NAMESAKES = frozenset({TWO_PEOPLE, "G000556", "R000572", "R000575"})
"""The numbers of Alan Grayson, who has two, and of the two Michael Rogers."""
FULL = "congress/events-2012-2018.jsonl.gz"
PEOPLE = size(12, 1)
FAST, SLOW = 400, size(3_000, 20_000)


def at(text: str) -> int:
    return micros(datetime.fromisoformat(text))


@dataclass(slots=True)
class Truth:
    """The events of each person and slot in the order in which they were recorded."""

    events: dict[tuple[str, str], list[tuple[int, int, int, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """(recorded, from, until, value) by (bioguide, slot); the value of a delete is None."""
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, lines: Iterator[str]) -> Truth:
        truth = cls()
        for line in lines:
            event = json.loads(line)
            if "define" in event:
                continue
            person = event["subject"]["external_ids"]["bioguide"]
            truth.names.setdefault(person, event["subject"]["name"])
            value = None if event["op"] == "delete" else event["value"]
            truth.events[person, event["slot"]].append(
                (
                    at(event["recorded_at"]),
                    at(event["valid_from"]),
                    at(event["valid_until"]),
                    value,
                )
            )
        return truth

    def says(self, person: str, slot: str, valid: int, known: int) -> Any:
        events = self.events[person, slot]
        until = bisect.bisect_right(events, known, key=lambda e: e[0])
        for _, start, end, value in reversed(events[:until]):
            if start <= valid < end:
                return value
        return None


def questions(truth: Truth, count: int, seed: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield (person, slot, V, K): random days, and the edges of what was recorded."""
    rng = random.Random(seed)
    slots = sorted(key for key in truth.events if key[0] != TWO_PEOPLE)
    knowing = sorted({e[0] for events in truth.events.values() for e in events})
    first = at("1950-01-01T00:00:00+00:00")
    for number in range(count):
        person, slot = rng.choice(slots)
        event = rng.choice(truth.events[person, slot])
        if number % 2:
            valid = rng.choice((event[1], event[2])) + rng.choice((-1, 0, 1))
        else:
            valid = first + rng.randrange(75 * 365) * 86_400_000_000
        known = rng.choice(knowing) + rng.choice((-1, 0, 1))
        yield person, slot, valid, known


def check(memory: Memory, truth: Truth, count: int) -> None:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    answered = 0
    for person, slot, valid, known in questions(truth, count, seed=20260101):
        who = {"name": truth.names[person], "external_ids": {"bioguide": person}}
        v, k = epoch + timedelta(microseconds=valid), epoch + timedelta(microseconds=known)
        expected = truth.says(person, slot, valid, known)
        assert memory.as_of(v, k).value(who, slot) == expected, (person, slot, v, k)
        answered += expected is not None
    assert answered > count // 10, "the questions ask for nothing"


def test_the_sample_answers_as_its_source_did(tmp_path: Path) -> None:
    with tenure.connect(str(tmp_path / "c.db")) as memory:
        report = memory.ingest(SAMPLE, replay=True)
        assert (report.events, report.transactions, report.definitions) == (1010, 14, 4)
        check(memory, Truth.of(iter(SAMPLE.read_text().splitlines())), FAST)
        assert memory._backend.store.check("default") == ()


def test_a_replay_that_was_interrupted_is_simply_run_again(tmp_path: Path) -> None:
    lines = SAMPLE.read_text().splitlines(keepends=True)
    groups = sorted({json.loads(line).get("recorded_at", "") for line in lines})
    part = tmp_path / "part.jsonl"
    part.write_text(
        "".join(x for x in lines if json.loads(x).get("recorded_at", "") <= groups[5]),
        encoding="utf-8",
    )
    with tenure.connect(str(tmp_path / "c.db")) as memory:
        first = memory.ingest(part, replay=True)
        again = memory.ingest(SAMPLE, replay=True)
        assert (again.skipped, again.skipped_groups) == (first.events, 5)
        assert first.events + again.events == 1010
        third = memory.ingest(SAMPLE, replay=True)
        assert (third.events, third.skipped, third.skipped_groups) == (0, 1010, 14)
        check(memory, Truth.of(iter(lines)), FAST // 4)


def history_lines(shared_data: Path) -> list[str]:
    """The events of one of twelve people and of all namesakes; at night those of everybody."""

    def is_taken(line: str) -> bool:
        subject = json.loads(line).get("subject")
        person = subject["external_ids"]["bioguide"] if subject else ""
        return not person or person in NAMESAKES or crc32(person.encode()) % PEOPLE == 0

    with gzip.open(shared_data / FULL, "rt", encoding="utf-8") as file:
        return [line for line in file if is_taken(line)]


@pytest.mark.slow
def test_a_long_history_answers_as_its_source_did(shared_data: Path, tmp_path: Path) -> None:
    lines = history_lines(shared_data)
    path = tmp_path / "events.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    with tenure.connect(str(tmp_path / "c.db")) as memory:
        report = memory.ingest(path, replay=True)
        assert report.events + report.definitions == len(lines)
        assert report.transactions > size(30, 127)
        check(memory, Truth.of(iter(lines)), SLOW)
        assert memory._backend.store.check("default") == ()
