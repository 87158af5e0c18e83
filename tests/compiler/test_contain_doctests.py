import doctest
import importlib

import pytest

MODULES = (
    "safety.canonical_text",
    "safety.credentials",
    "safety.detect",
    "format.escape",
    "format.header",
    "safety.isolation",
    "format.rows",
    "safety.views",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"tenure.compiler.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
