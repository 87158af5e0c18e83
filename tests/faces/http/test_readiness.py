"""Readiness: a store that does not agree with itself is not ready, until it does again."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import tenure
from tenure.faces.http.readiness import Readiness


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def examined(readiness: Readiness) -> str:
    """What it says once the doctor has spoken."""
    readiness.word()
    readiness.settle()
    return readiness.word()


@contextmanager
def ready_store(path: Path) -> Iterator[tuple[Readiness, Clock]]:
    """What is said of a sound store, asked once."""
    clock = Clock()
    with tenure.connect(str(path)) as memory:
        memory.write("Sam Rivera", "office", "Oslo")
        readiness = Readiness(memory, "default", clock)
        assert examined(readiness) == "ready"
        yield readiness, clock


def alter(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def test_a_damaged_store_is_not_ready_and_recovers(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    with ready_store(path) as (readiness, clock):
        alter(path, "DROP TRIGGER counter_rises")
        alter(path, "UPDATE counter SET next_vid = next_vid - 1")
        assert examined(readiness) == "ready"  # what was found an hour ago still counts
        clock.now_s += 3_601
        assert examined(readiness) == "store_damaged"

        alter(path, "UPDATE counter SET next_vid = next_vid + 1")
        assert examined(readiness) == "store_damaged"
        clock.now_s += 61
        assert examined(readiness) == "ready"


def test_a_store_that_comes_back_is_ready_again(tmp_path: Path) -> None:
    with ready_store(tmp_path / "team.db") as (readiness, clock):
        alter(tmp_path / "team.db", "PRAGMA user_version = 999")
        assert readiness.word() == "ready"  # asked at most every ten seconds
        clock.now_s += 11
        assert readiness.word() == "store_unreachable"


def test_a_store_whose_file_is_moved_away_is_not_ready_until_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    with ready_store(path) as (readiness, clock):
        path.rename(tmp_path / "elsewhere.db")
        clock.now_s += 11
        time.sleep(1.1)  # a reader looks at its file once a second
        assert readiness.word() == "store_unreachable"
        assert not path.exists()  # nobody made an empty one in its place

        (tmp_path / "elsewhere.db").rename(path)
        clock.now_s += 11
        assert readiness.word() == "ready"
