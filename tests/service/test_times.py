"""Times at the edge: what is refused is told in words, and what waits is stamped late."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenure import Receipt, connect
from tenure.schema.errors import InvalidInput
from tenure.service.backend.caller import instant


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yesterday", ""),
        ("", ""),
        ("2026-01-01T00:00:00+99:00", ""),
        ("2026-02-30", " (day "),
        ("2026-13-01T00:00:00Z", " (month "),
    ],
)
def test_a_text_that_is_no_time_is_refused_without_the_words_of_python(
    text: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        instant(text, field="valid_from")
    assert caught.value.code == "bad_time"
    message = str(caught.value)
    assert message.startswith(f"valid_from {text!r} is no ISO 8601 time{reason or ';'}")
    assert message.endswith("; write it like 2026-06-06T12:00:00Z")
    assert "isoformat" not in message


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
