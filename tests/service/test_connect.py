"""What `connect` takes for a store: a path in either form, whatever it leads to."""

import asyncio
import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import InvalidInput, Unavailable, aconnect, connect
from tenure.faces.cli.main import app
from tenure.service.client.opening import place_of
from tenure.service.settings import CacheSettings, load
from tenure.store.search.caches import DEFAULT_BOUNDS, CacheBounds
from tenure.tests.support.refusals import refused


def test_a_path_opens_the_same_store_as_its_text(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with connect(path) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")
    with connect(str(path)) as memory:
        assert memory.as_of().value("Sam Rivera", "office") == "Austin"


def test_the_path_of_a_folder_holds_a_file_a_tenant(tmp_path: Path) -> None:
    with connect(tmp_path) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")
    assert [file.name for file in tmp_path.glob("*.db")] == ["tenant-default.db"]


def test_the_async_twin_takes_a_path_too(tmp_path: Path) -> None:
    async def office() -> object:
        async with aconnect(tmp_path / "memory.db") as memory:
            await memory.write(subject="Sam Rivera", slot="office", value="Austin")
            return await (await memory.as_of()).value("Sam Rivera", "office")

    assert asyncio.run(office()) == "Austin"


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "bytes for a path": ({"url": b"m.db"}, "bad_settings"),
    "nothing for a path": ({"url": None}, "bad_settings"),
    "a name for a caller": ({"principal": "ann"}, "bad_principal"),
    "a number for bounds": ({"caches": 5}, "bad_settings"),
    "a list for a file": ({"answers": ["a"]}, "bad_settings"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_another_type_is_refused_by_code(name: str) -> None:
    options, code = OPTIONS[name]
    with refused(InvalidInput, code):
        connect(**{"url": ":memory:", **options})


def test_a_path_that_no_system_takes_is_refused() -> None:
    with refused(Unavailable, "store_unreachable") as caught:
        connect("x" * 5_000)
    assert len(str(caught.value)) < 200


def test_only_a_principal_is_a_caller() -> None:
    with connect(":memory:") as memory, refused(InvalidInput, "bad_principal"):
        memory.bind("ann")  # type: ignore[arg-type]


# ---- How much a power failure may take is chosen, told, and refused where it cannot be kept.

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
    with refused(InvalidInput, "bad_settings", match=words):
        connect(url, durability=durability)


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


# ---- What each cache may take is set in one place, kept, and told to whoever operates a store.

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
