"""`tenure import` of a process that is killed in the middle: resumed, refused, taken back."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenure import connect
from tenure.faces.cli import main as progress
from tenure.faces.cli import operate as command
from tenure.faces.cli.main import app
from tenure.store.transfer.restore import RestoreProgress

KILLED = """
import os, signal, sys
from tenure import connect
from tenure.store.transfer import restore

restore.GROUP_RECORDS = 20

def die(progress):
    if progress.records_written >= 60:
        os.kill(os.getpid(), signal.SIGKILL)

connect(sys.argv[1]).transfer.import_file(sys.argv[2], watch=die)
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """The export of a store with some history."""
    path = tmp_path / "team.jsonl"
    with connect(str(tmp_path / "old.db")) as memory:
        for number in range(12):
            memory.write("Sam Rivera", "office", f"Room {number}")
        memory.export(path)
    return path


@pytest.fixture
def half(export: Path) -> Path:
    """A store whose import was killed."""
    store = export.with_name("new.db")
    process = [sys.executable, "-P", "-c", KILLED, str(store), str(export)]
    assert subprocess.run(process, check=False).returncode == -signal.SIGKILL
    return store


def tenure(store: Path, *words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["--store", str(store), *words])
    assert result.exit_code == code, result.output
    return result.stdout + result.stderr


def test_an_import_that_was_killed_goes_on_and_doubles_nothing(half: Path, export: Path) -> None:
    refusal = tenure(half, "import", str(export), code=1)
    assert "60 of" in refusal
    assert "--resume" in refusal
    assert "[in_progress]" in tenure(half, "search", "office", code=1)

    assert "imported" in tenure(half, "import", str(export), "--resume")
    copy = export.with_name("copy.jsonl")
    tenure(half, "export", str(copy))
    assert copy.read_text() == export.read_text()


def test_an_import_that_was_killed_can_be_taken_back(half: Path, export: Path) -> None:
    assert "empty" in tenure(half, "import", "--abort")
    assert "[no_import]" in tenure(half, "import", "--abort", code=1)
    assert "imported" in tenure(half, "import", str(export))
    tenure(half, "doctor")


@pytest.mark.parametrize("words", [(), ("--abort", "team.jsonl"), ("--abort", "--resume")])
def test_an_import_needs_a_file_or_an_abort(half: Path, words: tuple[str, ...]) -> None:
    assert "[bad_settings]" in tenure(half, "import", *words, code=1)


def test_a_long_import_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_LOG_EACH_S", 0.0)
    watch = command._watch(progress.ProgressMeter("lines checked", begin_s=0.0))
    watch(RestoreProgress(10_000, 0, 0))
    watch(RestoreProgress(50_000, 2_000, 50_000))
    checked, written = capsys.readouterr().err.splitlines()
    assert checked.startswith("10,000 lines checked, ")
    assert "  2,000 of 50,000 records, " in written
