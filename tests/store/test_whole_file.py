"""A file is seen whole or not at all, whoever else writes it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from tenure.store.transfer.whole_file import whole_file


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
