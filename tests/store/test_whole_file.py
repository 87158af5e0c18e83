"""A file is seen whole or not at all, whoever else writes it."""

import os
import stat
import tempfile
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tenure.store.transfer import whole_file as whole_file_module
from tenure.store.transfer.whole_file import whole_file, whole_files


def test_nothing_is_seen_before_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "team.jsonl"
    with whole_file(path) as file:
        file.write(b"one\n")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["team.jsonl"]


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "team.jsonl"
    path.write_text("old")
    with pytest.raises(KeyError), whole_file(path) as file:
        file.write(b"half of")
        raise KeyError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["team.jsonl"]


def test_writers_of_one_name_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "shared"

    def write(letter: bytes) -> None:
        for _ in range(5):
            with whole_file(path) as file:
                for _ in range(50):
                    file.write(letter * 100)

    threads = [Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = path.read_bytes()
    assert held == held[:1] * 5_000
    assert os.listdir(tmp_path) == ["shared"]


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "no" / "file"):
        pass


def test_a_file_is_closed_before_it_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What Windows asks for, which moves no file that is open; read there, run here.
    handles: list[int] = []
    make, move = tempfile.mkstemp, os.replace

    def noted(**where: Any) -> tuple[int, str]:
        handle, name = make(**where)
        handles.append(handle)
        return handle, name

    def checked(source: str, target: Path) -> None:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handles[-1])
        move(source, target)

    monkeypatch.setattr(tempfile, "mkstemp", noted)
    monkeypatch.setattr(os, "replace", checked)
    with whole_file(tmp_path / "a.txt") as file:
        file.write(b"whole")
    assert (tmp_path / "a.txt").read_bytes() == b"whole"


def test_a_folder_is_opened_as_a_file_on_posix_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.store.transfer.whole_file._IS_POSIX", False)
    opening = os.open

    def refusing(path: str, *how: int) -> int:
        assert not os.path.isdir(path)
        return opening(path, *how)

    monkeypatch.setattr(os, "open", refusing)
    with whole_file(tmp_path / "a.txt") as file:
        file.write(b"whole")
    assert (tmp_path / "a.txt").read_bytes() == b"whole"


def test_several_files_cost_a_sync_each_and_one_for_the_names_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of").mkdir()
    steps = steps_on(tmp_path, monkeypatch)
    contents = {tmp_path / "of/link": b"", tmp_path / "data": b"whole", tmp_path / "grant": b"{}"}
    whole_files(contents)

    # The names of one folder last before anything appears in the next.
    assert steps == ["sync part", "sync part", "link", "sync of", "data", "grant", "sync ."]
    assert {path: path.read_bytes() for path in contents} == contents


def test_of_several_files_none_appears_before_the_bytes_of_all_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        if os.fstat(handle).st_size == len("second"):
            raise OSError("no space left")

    monkeypatch.setattr("tenure.store.transfer.whole_file._to_disk", full)
    with pytest.raises(OSError, match="no space"):
        whole_files({tmp_path / "a": b"first!!", tmp_path / "b": b"second"})
    assert os.listdir(tmp_path) == []


def steps_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches the disk, and what appears, in order."""
    steps: list[str] = []
    folders = {path.stat().st_ino: path.relative_to(folder) for path in (folder, folder / "of")}
    sync, move = whole_file_module._to_disk, os.replace

    def noted_sync(handle: int) -> None:
        steps.append(f"sync {folders.get(os.fstat(handle).st_ino, 'part')}")
        sync(handle)

    def noted_move(part: Path, target: Path) -> None:
        steps.append(target.name)
        move(part, target)

    monkeypatch.setattr(whole_file_module, "_to_disk", noted_sync)
    monkeypatch.setattr(os, "replace", noted_move)
    return steps
