"""Times at the edge: what is refused is told in words, and what waits is stamped late."""

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tenure import Memory, Receipt, connect, day
from tenure.schema.errors import InvalidInput
from tenure.service.backend.caller import instant
from tenure.tests.support.refusals import refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yesterday", ""),
        ("", ""),
        ("2026-01-01T00:00:00+99:00", ""),
        ("2026-13-01T00:00:00Z", " (month "),
    ],
)
def test_a_text_that_is_no_time_is_refused_without_the_words_of_python(
    text: str, reason: str
) -> None:
    with refused(InvalidInput, "bad_time") as caught:
        instant(text, field="valid_from")
    message = str(caught.value)
    assert message.startswith(f"valid_from {text!r} is no ISO 8601 time{reason or ';'}")
    assert message.endswith("; write it like 2026-06-06 or 2026-06-06T12:00:00Z")
    assert "isoformat" not in message


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("valid_from", "2026-06-01", "2026-06-01T00:00:00Z"),
        ("valid_from", "2026-06", "2026-06-01T00:00:00Z"),
        ("valid", "2026", "2026-01-01T00:00:00Z"),
        ("valid_until", "2026-06-30", "2026-07-01T00:00:00Z"),
        ("valid_until", "2024-02", "2024-03-01T00:00:00Z"),
        ("valid_until", "2024", "2025-01-01T00:00:00Z"),
        ("valid_until", "2025", "2026-01-01T00:00:00Z"),
        ("tx", "2026-06-01", "2026-06-01T23:59:59.999999Z"),
        ("tx2", "2026-12", "2026-12-31T23:59:59.999999Z"),
        ("recorded_at", "2026-06-01", "2026-06-01T00:00:00Z"),
        ("valid_until", "9999", "infinity"),
    ],
)
def test_a_date_a_month_and_a_year_count_in_utc(field: str, text: str, expected: str) -> None:
    assert instant(text, field=field) == instant(expected, field=field)
    if len(text) == len("2026-06-01"):
        assert instant(date.fromisoformat(text), field=field) == instant(text, field=field)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("valid_from", "2026-02-30"),
        ("valid_from", "2026-13"),
        ("valid", "0000"),
        ("recorded_at", "2026-06"),
        ("recorded_at", "2026"),
    ],
)
def test_a_date_that_does_not_exist_is_refused(field: str, text: str) -> None:
    with refused(InvalidInput, "bad_time") as caught:
        instant(text, field=field)
    assert text in str(caught.value)


def test_a_fact_may_start_and_end_on_plain_dates(memory: Memory) -> None:
    memory.write("Sam Rivera", "office", "Chicago", valid_from="2025-01", valid_until="2025-06-30")
    offices = [
        memory.as_of(valid).value("Sam Rivera", "office")
        for valid in ("2024-12-31", "2025-01-01", "2025-06-30", "2025-07-01")
    ]
    assert offices == [None, "Chicago", "Chicago", None]
    # The end counts through 2020, so it is where 2021 begins, and not "equal to valid_from".
    with refused(InvalidInput, "empty_interval", match="valid_until is not after valid_from"):
        memory.write("Sam Rivera", "office", "Rome", valid_from="2021", valid_until="2020")


def test_a_write_that_waited_is_stamped_when_its_turn_comes(tmp_path: Path) -> None:
    moments = [datetime(2026, 6, 1, 9, 0, tzinfo=UTC)]
    store = tmp_path / "team.db"
    with connect(str(store), clock=lambda: moments[-1]) as memory:
        memory.write("Sam Rivera", "office", "Chicago")
        receipts: list[Receipt] = []

        def write() -> None:
            receipts.append(memory.write("Sam Rivera", "office", "Boston"))

        writer = threading.Thread(target=write)
        with closing(sqlite3.connect(store, isolation_level=None)) as other_process:
            other_process.execute("BEGIN IMMEDIATE")
            writer.start()
            writer.join(timeout=0.3)
            assert writer.is_alive()

            # What is read at 9:05 must not change when the write of 9:00 goes in at last.
            moments.append(datetime(2026, 6, 1, 9, 10, tzinfo=UTC))
            other_process.execute("ROLLBACK")
            writer.join()

        at_five = memory.as_of(tx="2026-06-01T09:05:00Z")
        assert at_five.value("Sam Rivera", "office") == "Chicago"
        assert receipts[0].tx >= moments[-1]


@pytest.mark.parametrize(
    ("when", "zone", "start", "end"),
    [
        # the clock goes forward at midnight: the day begins an hour later
        (
            "2018-11-04",
            "America/Sao_Paulo",
            "2018-11-04T01:00:00-02:00",
            "2018-11-05T00:00:00-02:00",
        ),
        # midnight comes twice: the day begins with the first
        ("2026-11-01", "America/Havana", "2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00"),
        ("2026-10-25", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ],
)
def test_a_day_is_from_its_first_moment_to_that_of_the_next(
    when: str, zone: str, start: str, end: str
) -> None:
    assert [moment.isoformat() for moment in day(when, zone)] == [start, end]


@pytest.mark.parametrize(
    ("when", "zone"),
    [
        ("2026-02-30", "UTC"),
        ("2026-02-03", "Mars/Base"),
        ("2026-02-03", "../UTC"),
        ("9999-12-31", "UTC"),
    ],
)
def test_a_day_that_is_none_is_refused(when: str, zone: str) -> None:
    with refused(InvalidInput, "bad_time"):
        day(when, zone)
