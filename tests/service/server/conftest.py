"""Servers over the store of the tour, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tenure
from tenure.schema.principal import OWNER
from tenure.service.cli.tour import take_tour
from tenure.tests.service.server.site import Site, site_over


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


def _served_copy(demo_file: Path, folder: Path) -> Iterator[Site]:
    store = folder / "store.db"
    store.write_bytes(demo_file.read_bytes())
    with tenure.connect(str(store), principal=replace(OWNER, tenant="demo")) as memory:
        yield site_over(memory, folder)
