"""The stub of the async twin, made from the sources of the client: every method, awaited.

`python -P tests/async_stub.py` writes `service/client/async_memory.pyi` anew after the client
has changed; `tests/service/test_async_memory.py` fails until it was.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "service" / "client" / "async_memory.pyi"

PARTS = {
    "Memory": "service/client/memory.py",
    "View": "service/reading/view.py",
    "Envelopes": "service/reading/envelopes.py",
    "Artifacts": "service/artifacts/artifacts.py",
    "Documents": "service/documents/documents.py",
    "Words": "service/writing/vocabulary.py",
    "Actions": "service/stewardship/actions.py",
    "Entities": "service/stewardship/entities.py",
    "Matching": "service/stewardship/matching.py",
    "Reviews": "service/stewardship/reviews.py",
    "Transfer": "service/stewardship/transfer.py",
    "Sessions": "service/sessions/sessions.py",
    "Session": "service/sessions/session.py",
}
"""The classes of the client that do work, with their modules."""

BASES = {
    "Memory": ("Upkeep", "service/client/memory.py"),
}
"""Classes that one of these extends, in a module of their own."""

OWN = frozenset({"bind", "close", "opened"})
"""Methods that the twin has on its own."""

HEAD = '''\
"""Every method of the client, awaited. Made by `tests/async_stub.py`; do not edit."""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Self
'''

TAIL = """

class AsyncMemory:
    def __init__(
        self, opening: Callable[[], Awaitable[Memory]], *, shared: bool = False
    ) -> None: ...
    async def opened(self) -> Memory: ...
    async def __aenter__(self) -> Self: ...
    def __await__(self) -> Generator[Any, None, Self]: ...
    def bind(self, principal: Principal) -> AsyncMemory: ...
    async def __aexit__(self, *exc: object) -> None: ...
    async def close(self) -> None: ...
"""


def stub() -> str:
    """The text of the stub."""
    trees = {name: ast.parse((ROOT / path).read_text()) for name, path in PARTS.items()}
    for base, path in BASES.values():
        trees[base] = ast.parse((ROOT / path).read_text())
    parts = [_part(name, trees) for name in PARTS if name != "Memory"]
    memory = TAIL + "".join(_all_methods("Memory", trees))
    bodies = "class AsyncPart: ...\n\n" + "\n\n".join(parts) + memory + "\n\n" + _aconnect()
    used = {node.id for node in ast.walk(ast.parse(bodies)) if isinstance(node, ast.Name)}
    return _formatted(HEAD + "\n".join(sorted(_imports(trees, used))) + "\n\n" + bodies)


def _part(name: str, trees: dict[str, ast.Module]) -> str:
    return "".join([f"class Async{name}(AsyncPart):\n", *_all_methods(name, trees)])


def _all_methods(name: str, trees: dict[str, ast.Module]) -> Iterator[str]:
    """The methods of a class, behind those of the class that it extends."""
    if name in BASES:
        base, _ = BASES[name]
        yield from _methods(base, trees[base])
    yield from _methods(name, trees[name])


def _methods(name: str, tree: ast.Module) -> Iterator[str]:
    (body,) = (n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    for node in body:
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            target, annotation = ast.unparse(node.target), ast.unparse(node.annotation)
            yield f"    @property\n    def {target}(self) -> {annotation}: ...\n"
        if not isinstance(node, ast.FunctionDef) or (name == "Memory" and node.name in OWN):
            continue
        if node.name.startswith("_") and node.name != "__call__":
            continue
        returns = ast.unparse(node.returns) if node.returns else "object"
        returns = f"Async{returns}" if returns in PARTS else returns
        is_property = any(ast.unparse(d) == "property" for d in node.decorator_list)
        if is_property and (name != "Memory" or returns.startswith("Async")):
            yield f"    @property\n    def {node.name}(self) -> {returns}: ...\n"
        else:
            yield f"    async def {node.name}({ast.unparse(node.args)}) -> {returns}: ...\n"


def _aconnect() -> str:
    """`aconnect` with the parameters of `connect`."""
    tree = ast.parse((ROOT / "service/client/connect.py").read_text())
    (connect,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "connect")
    return f"def aconnect({ast.unparse(connect.args)}) -> AsyncMemory: ...\n"


def _imports(trees: dict[str, ast.Module], used: set[str]) -> Iterator[str]:
    """An import of every name that the stub uses, from where its module has it."""
    paths = {**PARTS, **dict(BASES.values())}
    modules = {paths[name]: tree for name, tree in trees.items()}
    path = "service/client/connect.py"
    modules[path] = ast.parse((ROOT / path).read_text())
    for path, tree in modules.items():
        package = ["tenure", *Path(path).parts[:-1]]
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                if alias.name in used:
                    yield f"from {_relative(module)} import {alias.name}"
        for node in tree.body:
            own = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
            own = node.name if isinstance(node, ast.ClassDef) else own
            if own in used:
                module = "tenure." + path.removesuffix(".py").replace("/", ".")
                yield f"from {_relative(module)} import {own}"


def _relative(module: str) -> str:
    """The name of a module as `service/client/` imports it."""
    if module.startswith("tenure.service.client."):
        return "." + module.removeprefix("tenure.service.client.")
    if module.startswith("tenure.service."):
        return ".." + module.removeprefix("tenure.service.")
    return "..." + module.removeprefix("tenure.") if module.startswith("tenure.") else module


def _formatted(text: str) -> str:
    for command in (
        ["check", "--select", "I", "--fix", "--quiet", "--stdin-filename", str(STUB), "-"],
        ["format", "--quiet", "--stdin-filename", str(STUB), "-"],
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "ruff", *command],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
        text = done.stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub())
