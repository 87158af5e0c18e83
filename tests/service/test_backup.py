"""Copies of an embedded store while it is used, and the list of its tenants."""

import json
import os
import stat
import sys
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tenure
from tenure.faces.cli.main import app
from tenure.schema.principal import OWNER


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        memory.write("Sam Rivera", "office", "Chicago")
    return tmp_path / "team.db"


def test_a_copy_is_a_store_that_answers_as_the_first_one(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert "bytes of default" in run("--store", store, "backup", copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with tenure.connect(str(copy)) as memory:
        assert memory.as_of().value("Sam Rivera", "office") == "Chicago"
        assert memory.doctor() == ()


def test_a_copy_is_taken_while_others_write(store: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    with tenure.connect(str(store)) as memory:

        def write() -> None:
            number = 0
            while not stop.is_set():
                memory.write("Sam Rivera", "office", f"office {number}")
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(3):
                run("--store", store, "backup", tmp_path / f"copy{number}.db")
        finally:
            stop.set()
            writer.join()

    for number in range(3):
        with tenure.connect(str(tmp_path / f"copy{number}.db")) as copy:
            assert copy.doctor() == ()


@pytest.mark.parametrize("words", [(), ("--replace",)])
@pytest.mark.parametrize("command", ["backup", "export"])
@pytest.mark.parametrize("has_target", [True, False])
def test_no_copy_is_written_through_a_link(
    store: Path, tmp_path: Path, command: str, words: tuple[str, ...], has_target: bool
) -> None:
    precious, link = tmp_path / "precious", tmp_path / "link"
    link.symlink_to(precious)
    if has_target:
        precious.write_text("mine", encoding="utf-8")

    output = run("--store", store, command, link, *words, code=1)
    assert "file_exists" in output
    assert link.is_symlink()
    assert precious.exists() is has_target
    assert not has_target or precious.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
@pytest.mark.parametrize("command", ["backup", "export"])
def test_no_copy_takes_the_place_of_a_pipe(store: Path, tmp_path: Path, command: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    run("--store", store, command, tmp_path / "pipe", "--replace", code=1)
    assert (tmp_path / "pipe").is_fifo()


def test_a_copy_is_not_put_back_through_a_link(store: Path, tmp_path: Path) -> None:
    run("--store", store, "backup", tmp_path / "copy.db")
    (tmp_path / "new.db").symlink_to(tmp_path / "elsewhere.db")
    output = run("--store", tmp_path / "new.db", "restore", tmp_path / "copy.db", code=1)
    assert "file_exists" in output
    assert (tmp_path / "new.db").is_symlink()
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_copy_is_put_back_and_overwrites_nothing(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    run("--store", store, "backup", copy)
    assert "there already" in run("--store", store, "backup", copy, code=1)
    run("--store", store, "backup", copy, "--replace")
    assert "there already" in run("--store", store, "restore", copy, code=1)

    run("--store", tmp_path / "new" / "team.db", "restore", copy)
    get = ("--store", tmp_path / "new" / "team.db", "get", "Sam Rivera", "office")
    assert "Chicago" in run(*get)
    folder = tmp_path / "stores"
    folder.mkdir()
    run("--store", folder, "restore", copy)
    assert "Chicago" in run("--store", folder, "get", "Sam Rivera", "office")


def test_what_is_no_store_is_refused(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_text("no store")
    assert "no store of tenure" in run("--store", tmp_path / "x.db", "restore", other, code=1)
    assert "no file" in run("--store", tmp_path / "x.db", "restore", tmp_path / "y", code=1)
    assert "--tenant" in run(
        "--store", tmp_path / "x.db", "--tenant", "acme", "restore", store, code=1
    )
    assert "tenure export" in run("--store", "neo4j://localhost:1", "backup", other, code=1)
    assert "cannot be written" in run("--store", store, "backup", tmp_path / "a" / "b", code=3)


def test_tenants_are_listed_with_size_and_last_write(tmp_path: Path) -> None:
    folder = tmp_path / "stores"
    folder.mkdir()
    with tenure.connect(str(folder), principal=replace(OWNER, tenant="acme")) as acme:
        acme.write("Sam", "office", "Rome")
        acme.bind(replace(OWNER, tenant="beta")).doctor()
    (folder / "foreign.db").write_text("something else")

    listing = json.loads(run("--json", "--store", folder, "tenants"))
    assert sorted(entry["tenant"] for entry in listing) == ["acme", "beta"]
    assert all(entry["bytes"] > 0 for entry in listing)
    by_tenant = {entry["tenant"]: entry for entry in listing}
    assert by_tenant["beta"]["last_write"] is None
    assert datetime.fromisoformat(by_tenant["acme"]["last_write"]).tzinfo is not None
    assert "none" in run("--store", folder, "tenants")
