"""The public face is exactly what `__all__` says, and importing it costs next to nothing."""

import json
import re
import subprocess
import sys
from types import ModuleType

import tenure
from tenure.service.backend.caller import ARGUMENTS
from tenure.tests.source_tree import modules, pyproject
from tenure.tests.support.annotations import READ_BY_THE_CALL

IMPORT_BAR_MS = 150
IMPORT_ROUNDS = 7
HEAVY = frozenset(
    {"PIL", "fastapi", "fsspec", "mcp", "neo4j", "numpy", "onnxruntime"}
    | {"pydantic", "rich", "sentence_transformers", "starlette", "structlog", "torch", "typer"}
    | {"jinja2", "jsonschema", "markupsafe", "referencing", "regex", "uvicorn"}
)
LISTED: tuple[str, ...] = tuple(getattr(tenure, "__all__", ()))
PROBE = """
import json, sys, time
before = set(sys.modules)
start = time.perf_counter_ns()
import tenure
spent = time.perf_counter_ns() - start
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"ms": spent / 1e6, "tops": sorted(tops)}))
"""


def probe() -> tuple[float, frozenset[str]]:
    """Import the package in a process of its own: the milliseconds, and what came along."""
    command = [sys.executable, "-P", "-c", PROBE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    return float(seen["ms"]), frozenset(seen["tops"])


def test_nothing_is_public_that_all_does_not_name() -> None:
    public = {
        name
        for name, value in vars(tenure).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert public <= set(LISTED)


def test_all_names_nothing_twice() -> None:
    assert len(LISTED) == len(set(LISTED))


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    values = {name: getattr(tenure, name) for name in LISTED}
    assert [n for n, v in values.items() if callable(v) and not (v.__doc__ or "").strip()] == []


def test_whatever_a_call_takes_can_be_imported() -> None:
    annotations = " ".join([*ARGUMENTS, *READ_BY_THE_CALL])
    terms = set(re.findall(r"[A-Z]\w+", annotations.replace("Unpack", "")))
    text = "\n".join([module.source for module in modules()])
    classes = set(re.findall(r"^class (\w+)(?!.*TypedDict)", text, flags=re.M))
    # A review comes from a list, a progress is a function, and the usage is that of an SDK.
    assert terms & classes - {"Review", "Progress", "Usage"} <= set(LISTED)


def test_the_package_says_its_version() -> None:
    assert tenure.__version__ == pyproject()["project"]["version"]


def test_importing_the_package_is_quick() -> None:
    # The best of several runs is the cost of the import; the others measure the machine's load.
    best = min(probe()[0] for _ in range(IMPORT_ROUNDS))
    assert best <= IMPORT_BAR_MS, f"import tenure took {best:.0f} ms at best"


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert probe()[1] & HEAVY == frozenset()
