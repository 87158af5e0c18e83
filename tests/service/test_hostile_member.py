"""Writers that share a store with a hostile one lose nothing, in threads and in processes."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tenure import Memory, connect
from tenure.schema.principal import OWNER
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.service.hostile_writer import person, run

if TYPE_CHECKING:
    import neo4j

    from tenure.tests.neo4j_server import Server

SCRIPT = Path(__file__).with_name("hostile_writer.py")
REFUSALS = {"unstorable_text", "too_large", "idempotency_mismatch", "bad_origin", "out_of_range"}


def stored(memory: Memory, names: list[str]) -> int:
    """How many values of honest writers a store shows."""
    view = memory.as_of()
    return sum(len(view.slot(person(name), "skill").values) for name in names)


def test_threads_lose_nothing_to_a_hostile_one(tmp_path: Path) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        count, refusals = run(memory, "a", threads=4, writes=8)
        assert count == 32
        assert refusals >= REFUSALS
        assert "taken" not in refusals
        assert stored(memory, [f"a-{n}" for n in range(4)]) == 32
        assert memory.doctor() == ()


@pytest.mark.slow
def test_threads_of_four_processes_lose_nothing_to_hostile_ones(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    connect(path).close()
    commands = [[sys.executable, "-P", str(SCRIPT), path, f"p{n}", "16", "40"] for n in range(4)]
    processes = [subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for c in commands]
    answers = [process.communicate(timeout=600)[0] for process in processes]
    assert [answer.split()[0] for answer in answers] == ["640"] * 4
    assert all(code in answer for answer in answers for code in REFUSALS)

    with connect(path) as memory:
        assert stored(memory, [f"p{p}-{n}" for p in range(4) for n in range(16)]) == 2_560
        assert memory.doctor() == ()


@pytest.mark.slow
@pytest.mark.integration
def test_threads_of_four_processes_lose_nothing_on_a_server(
    neo4j_server: Server, neo4j_driver: neo4j.Driver
) -> None:
    tenant = f"test-{secrets.token_hex(8)}"
    principal = replace(OWNER, tenant=tenant)
    environment = {
        **os.environ,
        "HOSTILE_AUTH": "/".join(neo4j_server.auth or ()),
        "HOSTILE_TENANT": tenant,
    }
    try:
        connect(neo4j_server.uri, auth=neo4j_server.auth, principal=principal).close()
        script = [sys.executable, "-P", str(SCRIPT), neo4j_server.uri]
        processes = [
            subprocess.Popen(
                [*script, f"p{n}", "16", "8"], stdout=subprocess.PIPE, text=True, env=environment
            )
            for n in range(4)
        ]
        answers = [process.communicate(timeout=600)[0] for process in processes]
        assert [answer.split()[0] for answer in answers] == ["128"] * 4
        assert all(code in answer for answer in answers for code in REFUSALS)

        with connect(neo4j_server.uri, auth=neo4j_server.auth, principal=principal) as memory:
            assert stored(memory, [f"p{p}-{n}" for p in range(4) for n in range(16)]) == 512
            assert memory.doctor() == ()
    finally:
        wipe(neo4j_driver, tenant)
