"""Long work shows itself: a bar on a terminal, a line now and then in a log, nothing in a pipe."""

import json
import os
import pty
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tenure.faces.cli.main import ProgressMeter, lines_of, meter
from tenure.tests.faces.cli.test_cli import Run, run

__all__ = ["run"]

EVENTS = 60


def events(count: int = EVENTS) -> Path:
    """A file of events about as many people, in the current folder."""
    rows = [{"subject": f"Person {n}", "slot": "title", "value": "clerk"} for n in range(count)]
    path = Path("events.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def on_a_terminal(*words: str) -> str:
    """What a command shows on a terminal of its own."""
    main, end = pty.openpty()
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tenure", *words],
        stdin=end, stdout=subprocess.DEVNULL, stderr=end, env=environment,
    )  # fmt: skip
    os.close(end)

    shown = b""
    while True:
        try:
            data = os.read(main, 65_536)
        except OSError:  # the other end is closed: the command is done
            break
        if not data:
            break
        shown += data
    os.close(main)
    assert process.wait() == 0, shown
    return shown.decode()


def test_loading_draws_a_bar_with_rate_on_a_terminal(run: Run) -> None:
    path = events()
    shown = on_a_terminal("ingest", str(path))
    assert f"{'█' * 20}  {EVENTS} of {EVENTS} lines, " in shown
    assert "/s" in shown
    assert "\r" in shown


def test_importing_draws_a_bar_on_a_terminal(run: Run) -> None:
    run("ingest", str(events()))
    run("export", "all.jsonl")
    shown = on_a_terminal("--store", "copy.db", "import", "all.jsonl")
    assert f"{'█' * 20}  " in shown
    assert "records" in shown


def test_a_pipe_of_short_work_gets_no_word_of_progress(run: Run) -> None:
    assert run("ingest", str(events(3))).stderr == ""


def test_each_long_work_tells_how_far_it_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, list[tuple[int, int | None]]] = defaultdict(list)

    def tell(self: ProgressMeter, count: int, total: int | None = None) -> None:
        told[self.noun].append((count, total or self.total))

    monkeypatch.setattr(ProgressMeter, "tell", tell)
    monkeypatch.setattr("tenure.service.stewardship.transfer._TELL_EACH", 10)
    run("ingest", str(events()))
    run("export", "all.jsonl")
    run("--store", "copy.db", "import", "all.jsonl")
    run("resolution", "xref")
    for number in range(3):
        run("write", "--content", f"remark {number}", "--why", "x", "--set",
            'decay_rule={"half_life_days": 0.000001, "minimum_threshold": 0.9}')  # fmt: skip
    run("sweep", "--limit", "1")

    assert told["lines"][-1] == (EVENTS, EVENTS)
    records = [count for count, total in told["records"] if total is None]
    assert records[0] == 10
    written, total = told["records"][-1]
    assert written == total
    assert told["entities"][-1] == (EVENTS, EVENTS)
    assert [count for count, _ in told["objects retired"]] == [1, 2]


def test_a_log_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with meter("records", total=1_000) as gauge:
        gauge.begin_s = gauge.last_s = 0.0
        for count in range(0, 1_001, 50):
            gauge.tell(count)
            now[0] += 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "██████████░░░░░░░░░░  500 of 1,000 records, 50/s, 10 s left",
        "████████████████████  1,000 of 1,000 records, 50/s",
    ]


def test_a_terminal_is_drawn_at_most_ten_times_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with meter("records", total=1_000) as gauge:
        gauge.is_terminal, gauge.begin_s, gauge.last_s = True, 0.0, 0.0
        for count in range(1, 1_001):
            gauge.tell(count)
            now[0] += 0.001
    drawings = capsys.readouterr().err
    assert drawings.count("\r") == 10
    assert drawings.endswith("\n")
    assert "1,000 of 1,000 records" in drawings


def test_lines_are_counted_where_that_is_cheap(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" * 700_000)
    assert lines_of(str(path)) == 700_000
    assert lines_of("-") is None
    assert lines_of(str(tmp_path / "b.jsonl")) is None
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(b"\n")
    assert lines_of(str(packed)) is None
