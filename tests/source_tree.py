"""The package as files: what the guards of layout, imports and documentation read."""

import ast
import functools
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

FOLDERS = ("schema", "resolution", "store", "compiler", "window", "service", "faces")
"""Lowest first: a folder may import itself and what stands before it."""


@dataclass(frozen=True, slots=True)
class Module:
    """One source file of the package."""

    name: str
    """Dotted, as users import it: `tenure.schema.interval`."""
    path: Path

    @property
    def folder(self) -> str:
        """The name of the top folder; empty for the root face."""
        return self.name.partition(".")[2].partition(".")[0]

    @property
    def package(self) -> str:
        """What a single leading dot means inside this file."""
        is_package = self.path.name == "__init__.py"
        return self.name if is_package else self.name.rpartition(".")[0]

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.path)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree: the guards ask one walk of it many questions."""
        return _walked(self.path)

    def place(self, line: int) -> str:
        """Name a line of the file as an editor opens it."""
        return f"{self.path.relative_to(ROOT).as_posix()}:{line}"


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@functools.cache
def _walked(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_parsed(path)))


@functools.cache
def modules() -> tuple[Module, ...]:
    """Return every module of the package, by name."""
    paths = [ROOT / "__init__.py"]
    for folder in FOLDERS:
        paths += (ROOT / folder).rglob("*.py")
    return tuple(sorted((Module(_dotted(path), path) for path in paths), key=lambda m: m.name))


@functools.cache
def data_table(name: str) -> dict[str, Any]:
    """A table of `tests/data`, read."""
    return tomllib.loads((ROOT / "tests/data" / name).read_text(encoding="utf-8"))


@functools.cache
def pyproject() -> dict[str, Any]:
    """Return `pyproject.toml` as parsed."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def imports(nodes: Iterable[ast.AST], package: str) -> Iterator[tuple[str, str, int]]:
    """Yield (local name, full dotted name, line) of each import anywhere in the file."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name, node.lineno
                if not alias.asname:
                    top = alias.name.partition(".")[0]
                    yield top, top, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            for alias in node.names:
                yield alias.asname or alias.name, f"{base}.{alias.name}", node.lineno


def _absolute(node: ast.ImportFrom, package: str) -> str:
    module = [node.module] if node.module else []
    if not node.level:
        return ".".join(module)
    parents = package.split(".")
    return ".".join([*parents[: len(parents) - node.level + 1], *module])


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("tenure", *(part for part in parts if part != "__init__")))
