"""Every store behind the public client: one more entry here runs the whole suite on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tenure import Memory, connect


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Return a function that opens a memory over a fresh store."""
    with ExitStack() as stack:
        count = iter(range(1_000_000))

        def open_one(**options: Any) -> Memory:
            return stack.enter_context(connect(str(tmp_path / f"{next(count)}.db"), **options))

        yield open_one
