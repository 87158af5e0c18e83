"""Every store behind the public client: one more entry here runs the whole suite on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, connect
from tenure.store.port import Store
from tenure.store.sqlite import SqliteStore
from tenure.tests.store.builders import TENANT

STORES: dict[str, Callable[[Path], Store]] = {"sqlite": SqliteStore}
"""Makers of an empty store over a fresh folder, by name; one more entry runs the port's suite."""

StoreFactory = Callable[[], Store]


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Return a function that opens a memory over a fresh store, of many tenants if asked."""
    with ExitStack() as stack:
        count = iter(range(1_000_000))

        def open_one(*, tenants: bool = False, **options: Any) -> Memory:
            path = tmp_path / f"{next(count)}{'' if tenants else '.db'}"
            url = f"{path}/" if tenants else str(path)
            return stack.enter_context(connect(url, **options))

        yield open_one


@pytest.fixture(params=sorted(STORES))
def store_factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFactory]:
    """Return a function that makes stores which share no tenant; all are closed at the end."""
    with ExitStack() as stack:
        count = iter(range(1_000_000))

        def make() -> Store:
            folder = tmp_path / f"store{next(count)}"
            folder.mkdir()
            made = STORES[request.param](folder)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def store(store_factory: StoreFactory) -> Store:
    """Return an empty store with the tenant of the builders."""
    made = store_factory()
    made.ensure(TENANT)
    return made
