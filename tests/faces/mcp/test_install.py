"""Connecting clients: what is shown, what is written, and the hook that they run."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import Conflict, InvalidInput, Memory, Principal
from tenure.faces.cli.main import app
from tenure.faces.mcp.hook import CLIENTS, answer_turn, install_changes

RUNNER = CliRunner()


def invoke(*words: str, **options: Any) -> Any:
    result = RUNNER.invoke(app, list(words), **options)
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize("client", CLIENTS)
def test_the_change_is_shown_before_it_is_written(client: str, tmp_path: Path) -> None:
    store = str(tmp_path / "team.db")
    words = ("--store", store, "mcp", "install", client, "--folder", str(tmp_path))
    preview = invoke(*words)
    assert preview.exit_code == 0
    assert "nothing is written yet" in preview.stdout
    assert list(tmp_path.iterdir()) == []

    assert invoke(*words, "--yes").exit_code == 0
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) == 2
    assert all(store in text for text in texts)
    assert any("mcp hook" in text for text in texts)

    # Once more changes nothing.
    repeat = install_changes(client, tmp_path, ["--store", store])
    assert all(change.path.read_text() == change.text for change in repeat)


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_written_through_a_link(client: str, tmp_path: Path) -> None:
    for change in install_changes(client, tmp_path, []):
        change.path.parent.mkdir(parents=True, exist_ok=True)
        change.path.symlink_to(tmp_path / "outside")
        with pytest.raises(Conflict, match="is a link"):
            change.write()
        change.path.unlink()
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_written_starts_from_any_folder_and_any_path(client: str, tmp_path: Path) -> None:
    folder = tmp_path / "a project"
    folder.mkdir()
    store = f"{folder}/../team store.db"
    words = ("--store", store, "mcp", "install", client, "--folder", str(folder), "--yes")
    assert invoke(*words).exit_code == 0
    texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    for text in texts:
        assert sys.executable in text
        assert "/../" not in text
        assert str(tmp_path / "team store.db") in text


def test_what_a_file_holds_stays(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    settings.write_text(json.dumps({"model": "x", "hooks": {"UserPromptSubmit": [hook]}}))
    config = tmp_path / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "y"\n')

    for client in CLIENTS:
        for change in install_changes(client, tmp_path, ()):
            change.write()
    tree = json.loads(settings.read_text())
    assert tree["model"] == "x"
    assert tree["hooks"]["UserPromptSubmit"][0] == hook
    assert len(tree["hooks"]["UserPromptSubmit"]) == 2
    tables = tomllib.loads(config.read_text())
    assert tables["model"] == "y"
    assert tables["mcp_servers"]["tenure"] == {
        "command": sys.executable,
        "args": ["-P", "-m", "tenure", "mcp"],
    }


@pytest.mark.parametrize(
    ("client", "path", "text"),
    [
        ("claude-code", ".mcp.json", "{"),
        ("claude-code", ".mcp.json", "[]"),
        ("codex", ".codex/config.toml", "= 1"),
        ("codex", ".codex/config.toml", '[mcp_servers.tenure]\ncommand = "other"\n'),
    ],
)
def test_a_file_that_is_broken_is_left_alone(
    client: str, path: str, text: str, tmp_path: Path
) -> None:
    target = tmp_path / path
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    with pytest.raises(InvalidInput, match="cannot be changed"):
        install_changes(client, tmp_path, ())
    assert target.read_text() == text


def test_an_unknown_client_is_refused(tmp_path: Path) -> None:
    result = invoke("mcp", "install", "cursr", "--folder", str(tmp_path))
    assert result.exit_code == 1
    assert "claude-code" in result.output


def test_the_hook_compiles_before_it_keeps_the_turn(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "team.db"), "--user", "Sam Rivera", "--role", "member")
    first = invoke(*store, "mcp", "hook", input='{"prompt": "I moved to the Chicago office."}')
    assert json.loads(first.stdout) == {}  # nothing was known before it
    second = invoke(*store, "mcp", "hook", input='{"prompt": "Where is Sam Rivera?"}')
    context = json.loads(second.stdout)["hookSpecificOutput"]
    assert context["hookEventName"] == "UserPromptSubmit"
    text = context["additionalContext"]
    assert "Chicago" in text
    assert text.count("Where is Sam Rivera?") == 1


def test_a_hook_never_holds_a_turn_up(memory: Memory) -> None:
    assert json.loads(answer_turn(memory, '{"prompt": " "}')) == {}
    secret = "my key is sk-ant-api03-" + "a1B2" * 24
    outcome = json.loads(answer_turn(memory, json.dumps({"prompt": secret})))
    assert outcome
    weak = memory.bind(Principal(user="ann", authority_level=4))
    assert json.loads(answer_turn(weak, '{"prompt": "Hello there."}')) == {}
    with pytest.raises(InvalidInput, match="one JSON object"):
        answer_turn(memory, "no turn")
