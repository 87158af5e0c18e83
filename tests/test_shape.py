"""Files and functions stay short enough to read, and no module is named after nothing."""

from __future__ import annotations

import ast

import pytest

from tenure.tests.source_tree import Module, modules

MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
NAMES_OF_NOTHING = frozenset(
    word + end for word in ("common", "helper", "manager", "misc", "util") for end in ("", "s")
)


def long_functions(tree: ast.AST) -> list[str]:
    """Return the functions above the bar; the docstring counts."""
    return [
        f"{node.name} ({lines} lines)"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]


def names_of_nothing(name: str) -> set[str]:
    return {part for part in name.split(".") if part.strip("_") in NAMES_OF_NOTHING}


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_a_module_is_short_enough_to_read(module: Module) -> None:
    assert len(module.source.splitlines()) <= MAX_MODULE_LINES


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_every_function_is_short_enough_to_read(module: Module) -> None:
    assert long_functions(module.tree) == []


def test_a_long_function_is_seen() -> None:
    at_the_bar = "async def f():\n" + "    pass\n" * (MAX_FUNCTION_LINES - 1)
    assert long_functions(ast.parse(at_the_bar)) == []
    assert long_functions(ast.parse(at_the_bar + "    pass\n")) == ["f (61 lines)"]


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_a_module_is_named_after_what_it_does(module: Module) -> None:
    assert names_of_nothing(module.name) == set()


@pytest.mark.parametrize("name", ["tenure.store.utils", "tenure.store._helper", "tenure.misc.x"])
def test_a_name_of_nothing_is_seen(name: str) -> None:
    assert names_of_nothing(name)
