import doctest
import importlib

import pytest

MODULES = (
    "canonical_text",
    "credentials",
    "detect",
    "escape",
    "header",
    "isolation",
    "rows",
    "views",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"tenure.compiler.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
