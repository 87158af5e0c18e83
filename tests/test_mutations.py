"""The tests of some rows of the checklist prove something: one wrong line turns each of them red.

A mutant is one line of one function. The module is compiled with the line changed, and the code of
the function is put in place of the right one for the length of a test, so that whoever imported the
function runs the mutant, and no file and no module is touched. Before and behind each mutant the
test must be green.
"""

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, NamedTuple

import pytest

from tenure import Memory, connect
from tenure.tests.source_tree import ROOT, data_table


class Mutant(NamedTuple):
    """A feature of a row, broken in one line."""

    row: str
    path: str
    line: str
    """A piece of the line, found once in the file; short, so that a rename leaves it alone."""
    wrong: str
    test: str
    """The test that must turn red, as coverage.md names it."""
    given: Mapping[str, Any] = MappingProxyType({})
    """Arguments of the test, without `memory` and `open_memory`."""


MUTANTS = [Mutant(**row) for row in data_table("mutants.toml")["mutant"]]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.row)
def test_the_test_of_a_row_turns_red_without_its_feature(mutant: Mutant, tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = _test(mutant, tmp_path, stack)
        run()
        with broken(mutant), pytest.raises((Exception, pytest.fail.Exception)):
            run()
        run()


def test_coverage_names_the_tests_that_were_tried() -> None:
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("|")}
    for mutant in MUTANTS:
        assert mutant.test in rows[mutant.row], mutant.row


@contextmanager
def broken(mutant: Mutant) -> Iterator[None]:
    """Run the mutant in place of the right function."""
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    assert source.count(mutant.line) == 1, f"{mutant.row}: the line is not found once"
    number = source[: source.index(mutant.line)].count("\n") + 1
    names = _function_at(ast.parse(source), number)

    wrong = compile(source.replace(mutant.line, mutant.wrong), mutant.path, "exec", optimize=0)
    code = _code_of(wrong, ".".join(names))
    module = importlib.import_module(f"tenure.{mutant.path[:-3].replace('/', '.')}")
    target: Any = module
    for name in names:
        target = getattr(target, name)
    function: FunctionType = target
    right = function.__code__
    # The flags of `from __future__ import annotations` are part of the source, so they agree.
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = right


def _function_at(tree: ast.AST, number: int) -> list[str]:
    """The names that lead to the innermost function at a line."""
    names: list[str] = []
    node: ast.AST | None = tree
    while node is not None:
        inner = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.FunctionDef | ast.ClassDef)
            and child.lineno <= number <= (child.end_lineno or 0)
        ]
        node = inner[0] if inner else None
        if node is not None:
            names.append(inner[0].name)
    return names


def _code_of(module: CodeType, qualname: str) -> CodeType:
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualname:
            return code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    raise AssertionError(f"no function {qualname}")


def _test(mutant: Mutant, tmp_path: Path, stack: ExitStack) -> Callable[[], object]:
    """The test of a mutant with what it takes."""
    path, _, name = mutant.test.partition("::")
    module = importlib.import_module(f"tenure.{path[:-3].replace('/', '.')}")
    test: FunctionType = getattr(module, name)
    count = iter(range(100))

    def open_memory(**options: Any) -> Memory:
        return stack.enter_context(connect(str(tmp_path / f"{next(count)}.db"), **options))

    names = test.__code__.co_varnames[: test.__code__.co_argcount]
    # TOML knows no tuples.
    given = {n: tuple(v) if isinstance(v, list) else v for n, v in mutant.given.items()}
    if "open_memory" in names:
        given["open_memory"] = open_memory
    if "memory" in names and "memory" not in given:
        # A new one for each run, as the fixture has it.
        return lambda: test(memory=open_memory(), **given)
    return lambda: test(**given)
