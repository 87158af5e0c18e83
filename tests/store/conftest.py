"""An embedded store with one tenant, checked when it is closed."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tenure.tests.store.small_store import SmallStore


@pytest.fixture
def store() -> Iterator[SmallStore]:
    with closing(SmallStore()) as small:
        yield small
