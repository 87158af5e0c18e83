"""Servers over the store of the tour, for the tests of this folder."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

import tenure
from tenure.faces.cli.demo import take_tour
from tenure.schema.principal import OWNER
from tenure.tests.faces.http.served import RunningServer, client, serving
from tenure.tests.faces.http.site import Site, site_over


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the tour, made once."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    take_tour(str(path), tenant="demo")
    return path


@pytest.fixture(scope="module")
def site(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over the store of the tour; shared by the tests of a module that only read."""
    yield from _served_copy(demo_file, tmp_path_factory.mktemp("site"))


@pytest.fixture
def own_site(demo_file: Path, tmp_path: Path) -> Iterator[Site]:
    """A server over a copy of the tour's store, for a test that writes."""
    yield from _served_copy(demo_file, tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server over a folder: a file a tenant, so that two tenants live side by side."""
    folder = tmp_path_factory.mktemp("server")
    with tenure.connect(f"{folder}/stores/") as memory, serving(memory, folder) as server:
        yield server


@pytest.fixture
def owner(server: RunningServer) -> Iterator[httpx2.Client]:
    """A client with the key of the owner."""
    with client(server, server.owner_key()) as http:
        yield http


def _served_copy(demo_file: Path, folder: Path) -> Iterator[Site]:
    store = folder / "store.db"
    store.write_bytes(demo_file.read_bytes())
    with tenure.connect(str(store), principal=replace(OWNER, tenant="demo")) as memory:
        yield site_over(memory, folder)
