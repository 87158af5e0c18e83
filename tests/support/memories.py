"""An empty store for a test, also in an environment that reads no `conftest.py`."""

from collections.abc import Iterator

import pytest

from tenure import Memory, connect


@pytest.fixture
def memory() -> Iterator[Memory]:
    """An empty store in memory, opened by its owner."""
    with connect(":memory:") as opened:
        yield opened
