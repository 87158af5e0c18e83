"""A store in a file of its own, with the tenant of the builders."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tenure.store.sqlite import SqliteStore
from tenure.tests.store.builders import TENANT


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "memory.db")) as opened:
        opened.ensure(TENANT)
        yield opened
