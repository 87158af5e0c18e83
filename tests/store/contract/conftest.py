"""Every store behind the public client: one more entry here runs the whole suite on it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tenure import Memory, connect

from tenure.schema.principal import OWNER
from tenure.tests.neo4j_fixtures import wipe

STORES = ["sqlite", pytest.param("neo4j", marks=pytest.mark.integration)]


@pytest.fixture(params=STORES)
def open_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Return a function that opens a memory over a fresh store."""
    with ExitStack() as stack:
        count = iter(range(1_000_000))

        def in_file(**options: Any) -> Memory:
            return stack.enter_context(connect(str(tmp_path / f"{next(count)}.db"), **options))

        def on_server(**options: Any) -> Memory:
            """A tenant that nobody else has is as good as a server that nobody else has."""
            tenant = f"test-{secrets.token_hex(8)}"
            server = request.getfixturevalue("neo4j_server")
            stack.callback(wipe, request.getfixturevalue("neo4j_driver"), tenant)
            options["principal"] = replace(options.get("principal", OWNER), tenant=tenant)
            return stack.enter_context(connect(server.uri, auth=server.auth, **options))

        yield in_file if request.param == "sqlite" else on_server
