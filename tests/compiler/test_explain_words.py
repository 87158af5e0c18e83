"""Every gap has words for people."""

from __future__ import annotations

import pytest

from tenure.compiler.explain.report import gap_words
from tenure.schema.compile_terms import GapCode


@pytest.mark.parametrize("code", list(GapCode))
def test_every_gap_is_told_in_words(code: GapCode) -> None:
    assert gap_words(code.value) != code.value.replace("_", " ")
