"""Files that nobody can read: each door names the place, in words of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tenure import InvalidInput, connect
from tenure.bench.replay_transcript import read_transcript
from tenure.faces.cli.main import read_text
from tenure.faces.mcp.hook import install_changes
from tenure.service.sessions.terms import window_policy
from tenure.service.settings import load
from tenure.service.writing.csv_mapping import read_mapping

FOREIGN_WORDS = ("codec", "sys.", "recursion", "(char ", "Errno")
DIGITS = "9" * 5_000
DEEP = "[" * 5_000


def restored(path: Path) -> None:
    with connect(":memory:") as memory:
        memory.import_file(path)


def ingested(path: Path) -> None:
    with connect(":memory:") as memory:
        memory.ingest(path)


def client_files(path: Path) -> None:
    install_changes("codex", path.parents[1], ())


DOORS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "settings": (lambda path: load(env={}, path=path), "tenure.toml", "bad_settings"),
    "policy": (window_policy, "window.toml", "bad_policy"),
    "policy in YAML": (window_policy, "window.yaml", "bad_policy"),
    "mapping": (read_mapping, "people.toml", "bad_mapping"),
    "mapping in JSON": (read_mapping, "people.json", "bad_mapping"),
    "transcript": (read_transcript, "talk.jsonl", "bad_message"),
    "import": (restored, "store.jsonl", "bad_export"),
    "events": (ingested, "events.jsonl", "bad_json"),
    "client": (client_files, ".codex/config.toml", "bad_settings"),
}


def refusal(door: str, folder: Path, content: bytes) -> InvalidInput:
    reader, name, _ = DOORS[door]
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        reader(path)
    assert not [word for word in FOREIGN_WORDS if word in str(caught.value)]
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize("door", DOORS)
def test_a_document_cut_inside_of_a_letter_names_the_byte_and_the_line(
    door: str, tmp_path: Path
) -> None:
    error = refusal(door, tmp_path, '\n"Zoë'.encode()[:-1])
    assert error.code == DOORS[door][2]
    # Of what is read line by line, the byte is one of the line.
    by_line = "line 2" in str(error) and "at byte 4" in str(error)
    assert by_line or "byte 5, on line 2" in str(error)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("content", [DIGITS, DEEP], ids=["digits", "deep"])
def test_a_document_that_python_cannot_read_is_refused_by_code(
    door: str, content: str, tmp_path: Path
) -> None:
    form = "a: {}" if door.endswith("YAML") else '{{"a": {}}}'
    form = "a = {}" if DOORS[door][1].endswith("toml") else form
    error = refusal(door, tmp_path, form.format(content).encode())
    assert error.code in (DOORS[door][2], "out_of_range")


def test_a_policy_in_yaml_with_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    assert refusal("policy in YAML", tmp_path, b"a: 2026-99-99").code == "bad_policy"


def test_a_text_of_another_encoding_names_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes("one\nZoë".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"note\.txt is not UTF-8 text: byte 7, on line 2"):
        read_text(path)


def test_a_table_of_another_encoding_names_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("subject,slot,value\nSam,office,Zoë\n".encode("latin-1"))
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="not utf-8 at byte 33"):
        memory.ingest(path)
    path.write_bytes(
        b"subject,slot,value\n" + b"Sam,office,Rome\n" * 1_000 + b"Sam,office,Zo\xeb\n"
    )
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="at byte 16033"):
        memory.ingest(path)
