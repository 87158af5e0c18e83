"""Long work that is told to end: what is stored is said, and how to go on."""

import json
import os
import re
import signal
import sqlite3
import threading
import time
from pathlib import Path

import pytest

import tenure
from tenure.faces.cli.main import TerminatedError, app, ending_between_steps, ending_by_sigterm

LINES = 2_500


def end_when_stored(store: Path, count: int) -> threading.Thread:
    """Send this process SIGTERM once a store has so many transactions."""

    def watch() -> None:
        for _ in range(3_000):
            time.sleep(0.01)
            if not store.exists():
                continue
            connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
            try:
                (stored,) = connection.execute("SELECT count(*) FROM tx_event").fetchone()
            except sqlite3.Error:
                continue
            finally:
                connection.close()
            if stored >= count:
                os.kill(os.getpid(), signal.SIGTERM)
                return

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_an_import_that_is_told_to_end_says_what_is_stored_and_is_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, events = tmp_path / "memory.db", tmp_path / "my events.jsonl"
    lines = [
        json.dumps({"subject": f"Person {n % 499}", "slot": "skill", "value": f"v{n}"})
        for n in range(LINES)
    ]
    events.write_text("\n".join(lines))

    watcher = end_when_stored(store, 1_000)
    with pytest.raises(SystemExit) as ended:
        app(["--store", str(store), "ingest", str(events)])
    watcher.join()
    assert ended.value.code == 143
    told = capsys.readouterr().err
    assert "what was committed stays, and nothing is half-written" in told

    stored = int(re.findall(r"stored up to line ([\d,]+)", told)[0].replace(",", ""))
    assert 0 < stored < LINES
    # Whole and quoted, whatever the width: it is there to be copied.
    assert f"  tail -n +{stored + 1} '{events}' | tenure ingest -\n" in told
    rest = tmp_path / "rest.jsonl"
    rest.write_text("\n".join(lines[stored:]))
    with pytest.raises(SystemExit) as loaded:
        app(["--store", str(store), "ingest", str(rest)])
    assert loaded.value.code == 0
    with tenure.connect(str(store)) as memory:
        assert len(memory.log(limit=LINES + 1)) == LINES
        assert memory.doctor() == ()


def test_work_that_is_told_to_end_ends_between_two_steps() -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(TerminatedError), ending_between_steps() as step_end:
        step_end.pass_by()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)
        assert step_end.is_due
        step_end.pass_by()
    assert step_end.is_reached

    # Said twice, it ends where it stands.
    with pytest.raises(TerminatedError), ending_between_steps() as step_end:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0)
    assert not step_end.is_reached
    assert signal.getsignal(signal.SIGTERM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_step_that_does_not_end_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.faces.cli.main._STEP_S", 0.01)
    with pytest.raises(TerminatedError), ending_between_steps() as step_end:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    assert not step_end.is_reached


def test_a_thread_leaves_signals_to_the_main_one() -> None:
    handler = signal.getsignal(signal.SIGTERM)
    handlers: list[object] = []

    def work() -> None:
        with ending_by_sigterm(), ending_between_steps() as step_end:
            step_end.pass_by()
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [handler]


def test_other_long_work_ends_where_it_stands() -> None:
    with pytest.raises(TerminatedError), ending_by_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
