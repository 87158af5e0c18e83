"""How much a power failure may take is chosen, told, and refused where it cannot be kept."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import connect
from tenure.faces.cli.main import app
from tenure.schema.errors import InvalidInput

SYNCHRONOUS = {"full": 2, "normal": 1}


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_the_file_is_synchronised_as_chosen(tmp_path: Path, durability: Any) -> None:
    path = str(tmp_path / "memory.db")
    with connect(path, durability=durability) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")

        def level(tx: Any) -> int:
            return int(tx._db.execute("PRAGMA synchronous").fetchone()[0])

        assert memory._backend.store.transact("default", level) == SYNCHRONOUS[durability]

    with connect(path) as again:
        assert again.as_of().value("Sam Rivera", "office") == "Austin"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize(
    ("url", "durability", "words"),
    [("memory.db", "none", "full or normal"), ("bolt://localhost:1", "normal", "embedded store")],
)
def test_what_a_store_cannot_keep_is_refused(url: str, durability: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        connect(url, durability=durability)
    assert refusal.value.code == "bad_settings"


@pytest.mark.parametrize(
    ("durability", "words"), [("full", "when they are acknowledged"), ("normal", "power failure")]
)
def test_doctor_says_what_a_power_failure_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENURE_DURABILITY", durability)
    run = CliRunner().invoke
    assert run(app, ["write", "Sam Rivera", "office", "Austin"]).exit_code == 0
    (tmp_path / "memory.db").chmod(0o600)
    assert words in run(app, ["doctor"]).stdout
    assert json.loads(run(app, ["doctor", "--json"]).stdout)["durability"] == durability
