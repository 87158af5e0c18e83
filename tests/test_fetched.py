"""A fetched folder is whole or absent, also with two starters and a broken download."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tenure.tests.fetched import FetchFailed, cache_root, fetched_folder, run_fetcher


def _is_whole(folder: Path) -> bool:
    return (folder / "whole").is_file()


def _write_whole(folder: Path) -> None:
    (folder / "whole").write_text("yes")


def test_the_cache_lies_in_the_home_folder_or_where_xdg_says() -> None:
    assert cache_root({"XDG_CACHE_HOME": "/somewhere"}) == Path("/somewhere/tenure")
    assert cache_root({}) == Path.home() / ".cache" / "tenure"


def test_a_folder_is_filled_once(tmp_path: Path) -> None:
    fills: list[Path] = []

    def fill(folder: Path) -> None:
        fills.append(folder)
        _write_whole(folder)

    first = fetched_folder("jars", fill, _is_whole, root=tmp_path)
    assert fetched_folder("jars", fill, _is_whole, root=tmp_path) == first == tmp_path / "jars"
    assert len(fills) == 1
    assert fills[0] != first


def test_a_second_attempt_follows_a_failed_one(tmp_path: Path) -> None:
    attempts: list[Path] = []

    def fill(folder: Path) -> None:
        attempts.append(folder)
        if len(attempts) == 1:
            raise FetchFailed("the line went dead")
        _write_whole(folder)

    assert _is_whole(fetched_folder("jars", fill, _is_whole, root=tmp_path))
    assert len(attempts) == 2


def test_two_failures_name_both_reasons_and_leave_nothing(tmp_path: Path) -> None:
    reasons = iter(["no route", "no such version"])

    def fill(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise FetchFailed(next(reasons))

    with pytest.raises(FetchFailed, match="no route; again: no such version"):
        fetched_folder("jars", fill, _is_whole, root=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["jars.lock"]


def test_what_is_not_whole_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "half").write_text("half")
    folder = fetched_folder("jars", _write_whole, _is_whole, root=tmp_path)
    assert [path.name for path in folder.iterdir()] == ["whole"]


def test_a_fetch_that_leaves_something_incomplete_fails(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="not whole"):
        fetched_folder("jars", lambda folder: None, _is_whole, root=tmp_path)


def test_concurrent_starters_fetch_once(tmp_path: Path) -> None:
    fills: list[Path] = []

    def fill(folder: Path) -> None:
        fills.append(folder)
        time.sleep(0.3)
        _write_whole(folder)

    def start() -> None:
        fetched_folder("jars", fill, _is_whole, root=tmp_path)

    starters = [threading.Thread(target=start) for _ in range(3)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert len(fills) == 1


def test_a_fetcher_that_fails_shows_its_output(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match=r"sh ended with 3: no such artifact"):
        run_fetcher(["sh", "-c", "echo no such artifact; exit 3"], cwd=tmp_path, timeout_s=10)


def test_a_fetcher_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    command = ["sh", "-c", "(sleep 1; touch survived) & sleep 30"]
    with pytest.raises(FetchFailed, match=r"did not end within 0\.3 s"):
        run_fetcher(command, cwd=tmp_path, timeout_s=0.3)
    time.sleep(1.2)
    assert not (tmp_path / "survived").exists()
