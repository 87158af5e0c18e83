"""Every store behind the port and the client: one more entry here runs the whole suite on it."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, connect
from tenure.schema.principal import OWNER
from tenure.store.neo4j.store import open_store
from tenure.store.port.store import Store
from tenure.store.sqlite import SqliteStore
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.store.apart import ApartStore
from tenure.tests.store.builders import TENANT, Open, StoreFactory
from tenure.tests.support.sampling import is_due

FOLDER = Path(__file__).parent
PARTS: dict[str, Callable[[bool, bool], bool]] = {
    "whole": lambda is_port, is_due: True,
    "oldest": lambda is_port, is_due: is_port or is_due,
    "newest": lambda is_port, is_due: is_port and is_due,
}
"""Which tests a server runs: all of the port, and the quarter of the rest that is due today, or
of a newer server the quarter of the port."""
STORES = ["sqlite", pytest.param("neo4j", marks=pytest.mark.integration)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this server need not run."""
    is_wanted = PARTS[config.getoption("--contract")]
    left_out = [
        item
        for item in items
        if item.path.parent == FOLDER
        and item.get_closest_marker("integration")
        and not is_wanted(item.path.name.startswith("test_port_"), is_due(item.name))
    ]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


@pytest.fixture(params=STORES)
def open_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Return a function that opens a memory over a fresh store, of many tenants if asked."""
    with ExitStack() as stack:
        count = iter(range(1_000_000))

        def in_file(*, tenants: bool = False, **options: Any) -> Memory:
            path = tmp_path / f"{next(count)}{'' if tenants else '.db'}"
            return stack.enter_context(connect(f"{path}/" if tenants else str(path), **options))

        def on_server(*, tenants: bool = False, **options: Any) -> Memory:
            """A tenant that nobody else has is as good as a server that nobody else has."""
            tenant = f"test-{secrets.token_hex(8)}"
            server = request.getfixturevalue("neo4j_server")
            stack.callback(wipe, request.getfixturevalue("neo4j_driver"), tenant)
            options["principal"] = replace(options.get("principal", OWNER), tenant=tenant)
            return stack.enter_context(connect(server.uri, auth=server.auth, **options))

        yield in_file if request.param == "sqlite" else on_server


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    return open_memory()


@pytest.fixture(params=STORES)
def store_factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFactory]:
    """Return a function that makes stores which share no tenant; all are closed at the end."""
    with ExitStack() as stack:
        yield factory_of(request, tmp_path, stack)


@pytest.fixture(scope="module", params=STORES)
def factory_for_reads(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StoreFactory]:
    """Return the like of `store_factory` for stores that the tests of a module only read."""
    with ExitStack() as stack:
        yield factory_of(request, tmp_path_factory.mktemp("stores"), stack)


def factory_of(request: pytest.FixtureRequest, folder: Path, stack: ExitStack) -> StoreFactory:
    """Return what makes stores of the kind that the request names; the stack closes them."""
    count = iter(range(1_000_000))

    def in_folder() -> Store:
        place = folder / f"store{next(count)}"
        place.mkdir()
        store = SqliteStore(place)
        stack.callback(store.close)
        return store

    def on_server() -> Store:
        server = request.getfixturevalue("neo4j_server")
        driver = request.getfixturevalue("neo4j_driver")
        opened = open_store(server.uri, auth=server.auth, settings=strict_settings())
        store = ApartStore(opened, partial(wipe, driver))
        stack.callback(store.wipe)
        stack.callback(store.close)
        return store

    return in_folder if request.param == "sqlite" else on_server


@pytest.fixture
def store(store_factory: StoreFactory) -> Store:
    """Return an empty store with the tenant of the builders."""
    made = store_factory()
    made.ensure(TENANT)
    return made
