"""What a test expects to be refused, and under which code."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tenure.schema.errors import TenureError


@contextmanager
def refuses(error: type[TenureError], code: str) -> Generator[pytest.ExceptionInfo[TenureError]]:
    """Pass where the block raises such an error with such a code."""
    with pytest.raises(error) as caught:
        yield caught
    assert caught.value.code == code
