"""What a fresh process loads on its way: each step brings its own modules and no other's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, sys
import tenure

watched = json.loads(sys.argv[2])
loaded = {}

def note(step):
    loaded[step] = [name for name in watched if name in sys.modules]

memory = tenure.connect(sys.argv[1])
note("connect")
memory.as_of().search("office")
note("search")
memory.write("Sam Rivera", "office", "Chicago")
note("write")
memory.compile("analytical_reporting", "Sam Rivera's office")
note("compile")
print(json.dumps(loaded))
"""

ELSEWHERE = (
    *("PIL", "fastapi", "fsspec", "jinja2", "jsonschema", "mcp", "neo4j", "networkx", "numpy"),
    *("pendulum", "pydantic", "rich", "structlog", "typer", "tenure.service.settings"),
    "tenure.store.operations.change",
)
"""What neither a store nor a compile needs."""
FIRST_STEP = {
    "tempfile": "search",
    "tenure.service.reading.view": "search",
    "tenure.store.sqlite.reader": "search",
    "tenure.resolution.bind": "search",
    "tenure.compiler.safety.credentials": "write",
    "rapidfuzz": "write",
    "tenure.store.commit.commit": "write",
    "tenure.resolution.scorer": "write",
    "tenure.compiler.compile": "compile",
    "toktok": "compile",
}
"""The step that brings a module in."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    store = tmp_path_factory.mktemp("start") / "team.db"
    watched = json.dumps([*ELSEWHERE, *FIRST_STEP])
    command = [sys.executable, "-P", "-c", SCRIPT, str(store), watched]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=Path(store).parent
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("module", ELSEWHERE)
def test_no_step_loads_what_none_of_them_needs(loaded: dict[str, list[str]], module: str) -> None:
    assert [step for step, modules in loaded.items() if module in modules] == []


@pytest.mark.parametrize(("module", "first"), FIRST_STEP.items())
def test_a_module_comes_with_the_step_that_needs_it(
    loaded: dict[str, list[str]], module: str, first: str
) -> None:
    steps = [step for step, modules in loaded.items() if module in modules]

    assert steps[:1] == [first]
