"""The wheel of this checkout, installed once with each extra, for all walks."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tenure.tests.wheel import installed_wheel

Install = Callable[[str], Path]
"""Returns the Python of an environment with the wheel and an extra, or no extra."""


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    return cache(lambda extra: installed_wheel(tmp_path_factory.mktemp("wheel"), extra))
