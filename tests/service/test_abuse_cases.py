"""The forty abuse cases: what somebody tries, and the tests that show what happens instead.

A case without a test, or with a test that is gone, fails here. The tests stand with what they
test; those without another place stand in `tests/store/contract/test_abuse.py`.
"""

import ast
from functools import cache
from typing import Final

import pytest

from tenure.tests.source_tree import ROOT, data_table

CASES: Final = {
    row["number"]: (row["sentence"], row["tests"]) for row in data_table("abuse-cases.toml")["case"]
}
"""By number: what is tried and what must happen, and the tests that show it."""


@cache
def functions_of(path: str) -> frozenset[str]:
    """The names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_there_are_forty_cases() -> None:
    assert list(CASES) == list(range(1, 41))


@pytest.mark.parametrize("number", CASES)
def test_a_case_has_its_test(number: int) -> None:
    sentence, tests = CASES[number]
    assert ":" in sentence
    assert tests
    for test in tests:
        path, _, name = test.partition("::")
        assert name.startswith("test_")
        assert name in functions_of(path), test
