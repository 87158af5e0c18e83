"""Two servers as cells: tenants on each, and one that moves while the others go on writing."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import Cell, Envelope, Memory, Target, connect
from tenure.faces.cli.main import app
from tenure.schema.errors import InvalidInput, NotFound
from tenure.schema.principal import OWNER
from tenure.schema.values import moment
from tenure.service.client.opening import place_of
from tenure.service.settings import load
from tenure.store.neo4j.store import open_store
from tenure.store.port.records import cell_map
from tenure.store.port.tables import RECEIPTS
from tenure.tests.neo4j_process import LocalServer
from tenure.tests.store.tenancy import exported
from tenure.tests.support.refusals import refused

ASKED = {
    "task": "data_extraction",
    "query": "Where is the office of Sam Rivera?",
    "valid": "2024-06-01T00:00:00Z",
}
TOML = """
store = "{west}"
tenant = "acme"

[cells.east]
store = "{east}"
tenants = ["globex", "initech"]
"""


@pytest.fixture(scope="module")
def pair(
    local_neo4j: Callable[[Mapping[str, str]], LocalServer],
) -> Iterator[tuple[LocalServer, LocalServer]]:
    """Two servers with nothing in common."""
    with ExitStack() as undo:
        servers = [local_neo4j({}), local_neo4j({})]
        for server in servers:
            undo.callback(server.close)
            server.start()
        yield servers[0], servers[1]


def target(server: LocalServer) -> Target:
    return Target(uri=server.uri, auth=server.auth)


def tell(memory: Memory, number: int) -> Any:
    return memory.write(
        subject={"name": "Sam Rivera", "type": "person"},
        slot="office",
        value=f"city {number}",
        valid_from=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=number),
    )


def tenants_on(server: LocalServer, names: tuple[str, ...]) -> list[str]:
    """Return which of these tenants a server holds."""
    store = open_store(server.uri, auth=server.auth)
    held = []
    for name in names:
        try:
            with store.reading(name):
                held.append(name)
        except NotFound:
            pass
    store.close()
    return held


def values_at(memory: Memory, envelope: Envelope) -> list[tuple[Any, ...]]:
    """The office by time as it was believed at an envelope; use since then is no part of it."""
    view = memory.as_of(tx=moment(envelope.manifest.tx_us))
    segments = view.timeline("Sam Rivera", "office")
    return [(piece.valid_from, piece.valid_until, piece.state.value) for piece in segments]


@pytest.mark.integration
def test_a_tenant_moves_to_another_cell_while_the_others_go_on_writing(
    pair: tuple[LocalServer, LocalServer], tmp_path: Path
) -> None:
    west, east = pair
    names = ("acme", "globex", "initech")
    places = {"acme": target(west), "globex": target(east), "initech": target(west)}
    memory = connect(west.uri, principal=replace(OWNER, tenant="acme"), cells=places.__getitem__)
    by = {name: memory.bind(replace(OWNER, tenant=name)) for name in names}
    for name in names:
        for number in range(5):
            tell(by[name], number)
    assert tenants_on(west, names) == ["acme", "initech"]
    assert tenants_on(east, names) == ["globex"]

    stop, written = threading.Event(), dict.fromkeys(names, 0)

    def write_on(name: str) -> None:
        number = 5
        while not stop.wait(0.2):  # the servers share two cores with whoever moves the tenant
            tell(by[name], number)
            written[name] += 1
            number += 1

    with ExitStack() as ended:
        pool = ended.enter_context(ThreadPoolExecutor(2))
        ended.callback(stop.set)
        writers = [pool.submit(write_on, name) for name in ("acme", "globex")]
        mover = by["initech"]
        envelope = mover.compile(**ASKED)
        mover.flush()  # the use that the compile made of a fact shows in the fact's page
        past = values_at(mover, envelope)
        file = tmp_path / "initech.jsonl"
        memory._backend.settle()
        before = exported(memory._backend.store, "initech")
        mover.export(file)
        there = connect(east.uri, auth=east.auth, principal=replace(OWNER, tenant="initech"))
        there.import_file(file)
        there.close()
        places["initech"] = target(east)  # from here on the map sends it to the other server
        assert exported(memory._backend.store, "initech") == before
        assert mover.compile(**ASKED).digest == envelope.digest
        assert mover.replay(envelope.manifest).digest == envelope.digest
        assert values_at(mover, envelope) == past
        receipt = tell(mover, 27)
    for writer in writers:
        writer.result(60)
    assert min(written["acme"], written["globex"]) > 0
    assert tenants_on(east, names) == ["globex", "initech"]
    for name in ("acme", "globex"):
        assert len(by[name].history("Sam Rivera", "office")) >= 5
        with memory._backend.store.reading(name) as reader:
            assert reader.clock().seq == 5 + written[name]
        assert by[name].doctor() == ()
    old = open_store(west.uri, auth=west.auth)
    with old.reading("initech") as reader:
        assert reader.find(RECEIPTS, "object_id", [receipt.object_id]) == ()
    old.close()
    assert mover.doctor() == ()
    memory.close()


@pytest.mark.integration
def test_the_settings_file_maps_tenants_to_cells(
    pair: tuple[LocalServer, LocalServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    west, east = pair
    monkeypatch.chdir(tmp_path)
    Path("tenure.toml").write_text(TOML.format(west=west.uri, east=east.uri))

    def tenure(*words: str) -> Any:
        result = CliRunner().invoke(app, ["--json", "--config", "tenure.toml", *words])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    done = tenure("migrate")
    assert [one["store"].partition(",")[0] for one in done] == [west.uri, east.uri]
    for name in ("fabrikam", "globex"):
        tenure("--tenant", name, "write", "Ann Lee", "office", f"{name} house")
    for server, name in ((west, "fabrikam"), (east, "globex")):
        asked = ("--tenant", name, "get", "Ann Lee", "office")
        assert tenure(*asked)["value"] == f"{name} house"
        # a stated server is that server: no cell is asked
        assert tenure("--store", server.uri, *asked)["value"] == f"{name} house"
    assert tenants_on(east, ("fabrikam", "globex")) == ["globex"]


def cells_of(env: dict[str, str], flags: dict[str, object] | None = None) -> tuple[Cell, ...]:
    cells = place_of(load(flags, env=env).settings).cells
    assert not callable(cells)
    return tuple(cells)


def test_a_cell_can_be_told_by_variables_and_has_a_password_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {
        "TENURE_STORE": "bolt://west",
        "TENURE_DATABASE": "tenure",
        "TENURE_CELLS__EAST__STORE": "bolt://east",
        "TENURE_CELLS__EAST__TENANTS": "globex, initech",
        "TENURE_CELLS__EAST__AUTH__PASSWORD": "hush-hush",
    }
    (cell,) = cells_of(env)
    assert cell.tenants == {"globex", "initech"}
    assert (cell.target.uri, cell.target.database) == ("bolt://east", "tenure")
    assert cell.target.auth == ("neo4j", "hush-hush")
    assert "hush" not in repr(cell) + repr(load(env=env).listed())
    assert cells_of(env, {"store": "bolt://other"}) == ()


@pytest.mark.parametrize(
    "env",
    [
        {"TENURE_CELLS__EAST__STORE": "bolt://east"},
        {"TENURE_CELLS__EAST__TENANTS": "globex"},
        {"TENURE_CELLS__EAST__STOR": "x"},
        {"TENURE_CELLS__EAST": "x"},
    ],
)
def test_half_a_cell_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with refused(InvalidInput, "bad_settings"):
        load(env=env)


def test_a_tenant_stands_in_one_cell_only() -> None:
    here, there = Target(uri="bolt://a"), Target(uri="bolt://b")
    cells = [Cell(target=one, tenants=frozenset({"acme"})) for one in (here, there)]
    with refused(InvalidInput, "bad_settings", match="'acme' stands in two cells"):
        cell_map(cells, here)
    assert cell_map(cells[1:], here)("acme") is there
    assert cell_map(cells[1:], here)("globex") is here
