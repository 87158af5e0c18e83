"""What each cache may take is set in one place, kept, and told to whoever operates a store."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import connect
from tenure.faces.cli.main import app
from tenure.schema.errors import InvalidInput
from tenure.service.client.opening import place_of
from tenure.service.settings import CacheSettings, load
from tenure.store.search.caches import DEFAULT_BOUNDS, CacheBounds

CACHES = ["claims", "permissions", "lookups", "names", "vectors"]


def test_the_settings_name_every_bound_with_its_default() -> None:
    assert CacheSettings().model_dump() == asdict(DEFAULT_BOUNDS)


def test_file_and_environment_set_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenure.toml").write_text("[caches]\nclaims_mib = 3\nvectors_mib = 5\n")

    settings = load(env={"TENURE_CACHES__CLAIMS_MIB": "7"}).settings

    assert place_of(settings).caches == CacheBounds(claims_mib=7, vectors_mib=5)


@pytest.mark.parametrize("name", [field.name for field in fields(CacheBounds)])
def test_a_bound_below_one_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(InvalidInput, match=rf"caches\.{name}"):
        load(env={f"TENURE_CACHES__{name.upper()}": "0"})
    with pytest.raises(InvalidInput, match=rf"caches\.{name}"):
        CacheBounds(**{name: 0})


def test_connections_get_the_pages_that_the_bounds_name(tmp_path: Path) -> None:
    bounds = CacheBounds(writer_pages_mib=3, reader_pages_mib=4)
    with connect(str(tmp_path / "memory.db"), caches=bounds) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")
        store: Any = memory._backend.store

        def pages(tx: Any) -> int:
            return int(tx._db.execute("PRAGMA cache_size").fetchone()[0])

        assert store.transact("default", pages) == -3 * 1_024
        with store.reading("default") as reader:
            assert reader._db.execute("PRAGMA cache_size").fetchone() == (-4 * 1_024,)


def test_a_process_tells_what_its_caches_take(tmp_path: Path) -> None:
    with connect(str(tmp_path / "memory.db")) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin " * 1_000)
        state = memory.as_of().slot("Sam Rivera", "office")
        assert state.value == ("Austin " * 1_000).strip()
        used = memory._backend.used_bytes()

    assert list(used) == CACHES
    assert used["claims"] > 7_000
    assert used["permissions"] > 0
    assert used["vectors"] == 0


def test_doctor_tells_the_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENURE_CACHES__CLAIMS_MIB", "9")
    run = CliRunner().invoke
    assert run(app, ["write", "Sam Rivera", "office", "Austin"]).exit_code == 0
    (tmp_path / "memory.db").chmod(0o600)

    assert "claims 9, permissions 8" in run(app, ["doctor"]).stdout
    caches = json.loads(run(app, ["doctor", "--json"]).stdout)["caches"]
    assert list(caches) == CACHES
    assert caches["claims"]["bound_bytes"] == 9 << 20
    assert caches["claims"]["used_bytes"] <= 9 << 20
