"""Arrows run one way, modules form no cycle, and the pure core reaches no IO."""

import ast
import functools
import graphlib
from collections.abc import Callable, Iterable, Sequence

import pytest

from tenure.tests.source_tree import FOLDERS, Module, imports, modules

IO_MODULES = (
    *("asyncio", "concurrent", "multiprocessing", "queue", "signal", "subprocess", "threading"),
    *("http", "httpx", "httpx2", "requests", "select", "socket", "ssl", "urllib"),
    *("fsspec", "glob", "importlib", "os", "pathlib", "platform", "shutil", "tempfile"),
    *("getpass", "locale", "logging", "opentelemetry", "structlog"),
    *("sched", "time", "zoneinfo"),
    *("numpy.random", "random", "secrets", "uuid.uuid1", "uuid.uuid4"),
    *("neo4j", "sqlite3"),
    *("fastapi", "mcp", "pydantic", "pydantic_settings", "rich", "typer"),
    *("onnxruntime", "sentence_transformers", "torch"),
)
IO_CALLS = (
    *("datetime.date.today", "datetime.datetime.now", "datetime.datetime.today"),
    *("datetime.datetime.utcnow", "io.open"),
    *(f"builtins.{name}" for name in ("__import__", "breakpoint", "input", "open", "print")),
)
# Data shipped inside the package is as fixed as its code; taking an address apart asks nobody.
PURE_CORNERS = ("importlib.resources", "urllib.parse")

ROOMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "store": (
        ("port",),
        ("search", "timeline", "transfer"),
        ("commit", "neo4j", "sqlite"),
        ("operations",),
    ),
    "compiler": (
        ("budget", "safety", "text", "tokens"),
        ("format", "request"),
        ("media",),
        ("ir", "render"),
        ("conversion", "fitting", "ranking"),
        ("gathering", "trace"),
        ("explain",),
        ("envelope",),
        ("stages",),
        ("compile",),
    ),
    "service": (
        ("encoders", "extraction", "logs", "settings", "visual"),
        ("backend",),
        ("reading",),
        ("artifacts", "writing"),
        ("documents",),
        ("compilation",),
        ("sessions", "stewardship"),
        ("client",),
        ("calls",),
    ),
    "faces": (("adapters", "cli", "http", "mcp", "remote"),),
}
"""The floors of a folder, lowest first: a room imports only rooms of the floors below it."""

KNOWN = frozenset(module.name for module in modules())
PURE_FOLDERS = frozenset({"schema", "resolution", "compiler", "window"})


def is_pure(name: str) -> bool:
    """Store adapters and the edge do IO; everything else takes values and returns values."""
    _, folder, *below = [*name.split("."), ""]
    return folder in PURE_FOLDERS or (folder == "store" and below[0] == "timeline")


def within(name: str, tops: Iterable[str]) -> bool:
    return any(name == top or name.startswith(top + ".") for top in tops)


def uses(nodes: Sequence[ast.AST], package: str) -> set[str]:
    """Return the full names that the code imports, reaches through an import, or calls."""
    bound = {local: full for local, full, _ in imports(nodes, package)}
    names = set(bound.values())
    for node in nodes:
        if isinstance(node, ast.Attribute):
            head, _, rest = ast.unparse(node).partition(".")
            names |= {f"{bound[head]}.{rest}"} if head in bound else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names |= set() if node.func.id in bound else {f"builtins.{node.func.id}"}
    return names


def io_of(nodes: Sequence[ast.AST], package: str = "tenure.schema") -> set[str]:
    reached = {name for name in uses(nodes, package) if not within(name, PURE_CORNERS)}
    return {name for name in reached if within(name, (*IO_MODULES, *IO_CALLS))}


@functools.cache
def edges(module: Module) -> dict[str, int]:
    """Return the modules of ours that a module imports, with the line of the last import."""
    found: dict[str, int] = {}
    for _, full, line in imports(module.nodes, module.package):
        known = full
        while known and known not in KNOWN:
            known = known.rpartition(".")[0]
        if known not in ("", module.name):
            found[known] = line
    return found


def wrong_imports(rule: Callable[[str, Iterable[str]], list[str]]) -> list[str]:
    """List every import of the package that a rule refuses, with file and line."""
    return [
        f"{module.place(edges(module)[target])} imports {target}"
        for module in modules()
        for target in rule(module.name, edges(module))
    ]


def rank(name: str) -> int:
    folder = name.partition(".")[2].partition(".")[0]
    return FOLDERS.index(folder) if folder else len(FOLDERS)


def upward(name: str, targets: Iterable[str]) -> list[str]:
    return [target for target in sorted(targets) if rank(target) > rank(name)]


def room_of(name: str) -> tuple[str, str]:
    """Return the folder of a module and its room there, a file or a folder; empty at the top."""
    _, folder, room, *_ = [*name.split("."), "", ""]
    return folder, room


def floor_of(folder: str, room: str) -> int:
    for number, rooms in enumerate(ROOMS[folder]):
        if room in rooms:
            return number
    raise AssertionError(f"{folder}/{room} stands on no floor of ROOMS")


def against_the_floors(name: str, targets: Iterable[str]) -> list[str]:
    """Return the imports that stay on their floor, or go up, inside one folder."""
    folder, room = room_of(name)
    if folder not in ROOMS or not room:
        return []
    rooms = {target: room_of(target) for target in targets}
    return [
        target
        for target, (other_folder, other) in sorted(rooms.items())
        if other_folder == folder
        and other not in ("", room)
        and floor_of(folder, other) >= floor_of(folder, room)
    ]


def named_by_root(nodes: Iterable[ast.AST]) -> list[int]:
    """Return the lines that import the package by its absolute name."""
    return [
        node.lineno
        for node in nodes
        if (isinstance(node, ast.Import) and any(within(a.name, ["tenure"]) for a in node.names))
        or (
            isinstance(node, ast.ImportFrom)
            and not node.level
            and within(node.module or "", ["tenure"])
        )
    ]


def test_no_import_points_upward() -> None:
    assert wrong_imports(upward) == []


def past_the_service(name: str, targets: Iterable[str]) -> list[str]:
    """What a face imports besides the service, the schema and other parts of the faces."""
    if not within(name, ["tenure.faces"]):
        return []
    own = ("tenure.faces", "tenure.service", "tenure.schema")
    return [target for target in sorted(targets) if not within(target, own)]


def test_a_face_imports_the_service_and_the_schema_alone() -> None:
    assert wrong_imports(past_the_service) == []
    assert past_the_service("tenure.faces.cli.read", ["tenure.store.port.store"])


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("tenure.schema.interval", "tenure.resolution.scoring"),
        ("tenure.store.port.store", "tenure.compiler.stages.rank"),
        ("tenure.service.client.memory", "tenure"),
    ],
)
def test_an_upward_import_is_seen(name: str, target: str) -> None:
    assert upward(name, [target]) == [target]
    assert upward(target, [name]) == []


def test_inside_a_folder_arrows_go_down() -> None:
    assert wrong_imports(against_the_floors) == []


def test_an_arrow_against_the_floors_is_seen() -> None:
    fitting, stage = "tenure.compiler.fitting.fit", "tenure.compiler.stages.rank"
    assert against_the_floors(fitting, [stage]) == [stage]
    assert against_the_floors(stage, [fitting]) == []
    beside = "tenure.compiler.gathering.gather"
    assert against_the_floors(fitting, [beside]) == [beside]


def test_every_room_has_a_floor_and_every_floor_is_lived_on() -> None:
    for folder, floors in ROOMS.items():
        rooms = {room_of(module.name)[1] for module in modules() if module.folder == folder}
        assert rooms - {""} == {room for floor in floors for room in floor}


def test_no_stage_imports_another() -> None:
    stages = {module.name for module in modules() if module.package == "tenure.compiler.stages"}
    assert stages
    assert (
        wrong_imports(lambda name, targets: sorted(stages & {*targets}) if name in stages else [])
        == []
    )


def test_modules_form_no_cycle() -> None:
    graph = {module.name: edges(module).keys() for module in modules()}
    graphlib.TopologicalSorter(graph).prepare()


def test_a_pure_module_reaches_no_io() -> None:
    reached = {m.place(1): io_of(m.nodes, m.package) for m in modules() if is_pure(m.name)}
    assert {place: names for place, names in reached.items() if names} == {}


def test_only_the_planning_part_of_the_store_is_pure() -> None:
    names = ["tenure", "tenure.schema", "tenure.service.client.memory"]
    names += ["tenure.store", "tenure.store.timeline.reconcile", "tenure.store.sqlite"]
    assert [name for name in names if is_pure(name)] == [
        "tenure.schema",
        "tenure.store.timeline.reconcile",
    ]


@pytest.mark.parametrize(
    ("source", "reached"),
    [
        ("import os.path", "os.path"),
        ("from random import Random", "random.Random"),
        ("from uuid import uuid4 as fresh", "uuid.uuid4"),
        ("import uuid\nuuid.uuid1()", "uuid.uuid1"),
        ("from datetime import datetime as dt\ndt.now()", "datetime.datetime.now"),
        ("import datetime\ndatetime.date.today()", "datetime.date.today"),
        ("import numpy as np\nnp.random.rand()", "numpy.random.rand"),
        ("from urllib.request import urlopen", "urllib.request.urlopen"),
        ("def f():\n    import threading", "threading"),
        ("open('facts')", "builtins.open"),
    ],
)
def test_io_in_a_pure_module_is_seen(source: str, reached: str) -> None:
    assert reached in io_of(list(ast.walk(ast.parse(source))))


@pytest.mark.parametrize(
    "source",
    [
        "from uuid import UUID, uuid5",
        "import datetime\ndatetime.datetime.fromtimestamp(0)",
        "from importlib.resources import files",
        "from urllib.parse import urlsplit",
        "from .time import Clock",
        "def f(window, input): return window.open(input)",
    ],
)
def test_pure_code_is_left_alone(source: str) -> None:
    assert io_of(list(ast.walk(ast.parse(source)))) == set()


def test_only_the_root_face_imports_the_package_by_name() -> None:
    # A relative face would load the whole package twice where the folder has another name.
    root, *others = modules()
    assert [n.lineno for n in root.nodes if isinstance(n, ast.ImportFrom) and n.level] == []
    assert [m.place(line) for m in others for line in named_by_root(m.nodes)] == []


def test_an_import_by_name_is_seen() -> None:
    source = "import tenure.schema\nfrom tenure import connect\nfrom .tenure import x"
    assert named_by_root(ast.walk(ast.parse(source))) == [1, 2]
