"""Files and functions stay short enough to read, and no module is named after nothing."""

import ast
from collections.abc import Iterable

import pytest

from tenure.tests.source_tree import modules

MAX_MODULE_LINES = 800
MAX_FUNCTION_LINES = 90
NAMES_OF_NOTHING = frozenset(
    word + end for word in ("common", "helper", "manager", "misc", "util") for end in ("", "s")
)


def long_functions(nodes: Iterable[ast.AST]) -> dict[int, str]:
    """Return the functions above the bar by their line; the docstring counts."""
    return {
        node.lineno: f"{node.name} ({lines} lines)"
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    }


def names_of_nothing(name: str) -> set[str]:
    return {part for part in name.split(".") if part.strip("_") in NAMES_OF_NOTHING}


def test_every_module_is_short_enough_to_read() -> None:
    lengths = {module.place(1): len(module.source.splitlines()) for module in modules()}
    assert {place: length for place, length in lengths.items() if length > MAX_MODULE_LINES} == {}


def test_every_function_is_short_enough_to_read() -> None:
    found = [
        (m.place(line), text) for m in modules() for line, text in long_functions(m.nodes).items()
    ]
    assert found == []


def test_a_long_function_is_seen() -> None:
    at_the_bar = "async def f():\n" + "    pass\n" * (MAX_FUNCTION_LINES - 1)
    above_it = at_the_bar + "    pass\n"
    assert long_functions(ast.walk(ast.parse(at_the_bar))) == {}
    assert long_functions(ast.walk(ast.parse(above_it))) == {1: "f (91 lines)"}


def test_every_module_is_named_after_what_it_does() -> None:
    assert [module.place(1) for module in modules() if names_of_nothing(module.name)] == []


@pytest.mark.parametrize("name", ["tenure.store.utils", "tenure.store._helper", "tenure.misc.x"])
def test_a_name_of_nothing_is_seen(name: str) -> None:
    assert names_of_nothing(name)
