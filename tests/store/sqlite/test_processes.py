"""Several processes write one file, and a process dies in the middle: nothing half is kept."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenure.store.port.store import RecordKind, TxEvent
from tenure.store.sqlite import SqliteStore
from tenure.tests.store.builders import TENANT

WRITER = """
import sys
from tenure.store.sqlite import SqliteStore
from tenure.tests.store.builders import TENANT, Say, commit
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = SqliteStore(path)
store.ensure(TENANT)
for number in range(count):
    object_id = f"{name}-{number}"
    commit(store, [Say(object_id=object_id, value=object_id, start=number)])
    print(object_id, flush=True)
store.close()
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def objects(store: SqliteStore) -> set[str]:
    with store.reading(TENANT) as reader:
        events = [e for e in reader.records(RecordKind.EVENT) if isinstance(e, TxEvent)]
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    return {object_id for e in events for object_id in e.object_ids}


def test_processes_write_one_slot_of_one_file_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    running = [writer(path, f"p{n}", 25) for n in range(3)]
    for each in running:
        out, err = each.communicate(timeout=120)
        assert each.returncode == 0, err
        assert len(out.split()) == 25
    store = SqliteStore(path)
    store.ensure(TENANT)
    assert objects(store) == {f"p{n}-{i}" for n in range(3) for i in range(25)}
    assert store.check(TENANT) == ()
    store.close()


@pytest.mark.parametrize("delay_s", [0.0, 0.03, 0.1])
def test_a_killed_writer_loses_no_acknowledged_write(tmp_path: Path, delay_s: float) -> None:
    path = tmp_path / "memory.db"
    victim = writer(path, "v", 100_000)
    assert victim.stdout is not None
    told = [victim.stdout.readline().strip() for _ in range(5)]
    time.sleep(delay_s)
    victim.send_signal(signal.SIGKILL)
    told += victim.stdout.read().split()  # communicate would miss what is buffered already
    victim.communicate(timeout=60)
    store = SqliteStore(path)
    store.ensure(TENANT)
    kept = objects(store)
    assert set(told) <= kept
    assert len(kept) <= len(told) + 1  # one may have been committed and not yet told
    assert store.check(TENANT) == ()
    store.close()


@pytest.mark.parametrize("delay_s", [0.0, 0.002, 0.01])
def test_a_creation_that_was_killed_is_taken_up(tmp_path: Path, delay_s: float) -> None:
    path = tmp_path / "memory.db"
    victim = writer(path, "v", 1)
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(delay_s)
    victim.send_signal(signal.SIGKILL)
    victim.communicate(timeout=60)
    store = SqliteStore(path)
    store.ensure(TENANT)
    assert store.check(TENANT) == ()
    store.close()


def test_a_file_is_changed_by_one_process_and_read_by_another(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    other = writer(path, "p", 3)
    _, err = other.communicate(timeout=60)
    assert other.returncode == 0, err
    assert objects(store) == {"p-0", "p-1", "p-2"}
    store.close()
