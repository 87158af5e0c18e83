"""`tenure session …`: looked into and tidied, and nothing begun by a misspelt name."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import connect
from tenure.faces.cli.main import app

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command line over a store with one session of eight turns."""
    monkeypatch.chdir(tmp_path)
    for name in ("TENURE_STORE", "TENURE_TENANT", "TENURE_CONFIG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    with connect("memory.db") as memory:
        session = memory.session("trip-1", window=9_000, goal="Rebook")
        for number in range(8):
            session.on_turn_start(f"question {number}")
            function = {"name": "look", "arguments": json.dumps({"n": number})}
            session.on_step({"tool_calls": [{"id": f"c{number}", "function": function}]})
            session.on_tool_result(f"c{number}", {"id": f"REF{number}X", "text": "word " * 500})
            session.on_turn_end(f"answer {number}")

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, list(words))
        assert result.exit_code == code, (result.output, result.exception)
        return result.output

    return run


def told(run: Run, *words: str) -> Any:
    return json.loads(run("--json", "session", *words))


def test_sessions_are_listed_and_shown(run: Run) -> None:
    (line,) = told(run, "list")
    assert (line["session"], line["seq"]) == ("trip-1", 41)
    assert datetime.fromisoformat(line["recorded_at"]).tzinfo is not None
    assert "trip-1" in run("session", "list")
    units = told(run, "show", "trip-1")
    assert units[0]["number"] == 2
    table = run("session", "show", "trip-1")
    assert "question 0" in table
    assert max(map(len, table.splitlines())) <= 80
    assert "window://2" in table.splitlines()[1]
    assert "[Turn" not in table
    assert "there is no session" in run("session", "show", "trip-2", code=1)
    assert len(told(run, "list")) == 1


def test_every_tunable_is_printed_with_its_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text("page_tokens = 123\n[zones]\ntarget = 300\n")
    rows = {row["name"]: row for row in told(run, "config", "w.toml")}
    assert rows["page_tokens"]["value"] == 123
    assert rows["zones.target"]["default"] == 600
    assert "no other order kept more" in run("session", "config")
    (tmp_path / "w.toml").write_text("page_token = 123")
    assert "page_tokens" in run("session", "config", "w.toml", code=1)


def test_a_session_is_erased_once_it_was_said_twice(run: Run) -> None:
    run("session", "checkpoint", "trip-1")
    erase = ("session", "erase", "trip-1")
    assert "missing_reason" in run(*erase, "--yes", code=1)
    assert "unknown_session" in run("session", "erase", "trip-2", "--reason", "x", "--yes", code=1)
    # Nobody confirms here, and another user's session of that name is another one.
    question = run(*erase, "--reason", "case 17", code=1)
    assert "Erase all 42 events of session trip-1 for ever?" in question
    assert "unknown_session" in run("--user", "ann", *erase, "--reason", "x", "--yes", code=1)
    assert "question 0" in run("session", "show", "trip-1")

    erasure = told(run, "erase", "trip-1", "--reason", "case 17", "--yes")
    assert erasure["session"] == "trip-1"
    assert len(erasure["object_ids"]) == 1
    assert "question 0" not in run("session", "show", "trip-1")
    assert run(*erase, "--reason", "case 17", "--yes").count("checkpoint") == 0
    assert "privilege_required" in run(
        "--role", "steward", *erase, "--reason", "case 17", "--yes", code=1
    )
