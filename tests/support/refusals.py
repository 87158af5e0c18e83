"""A call that must be refused: with an error of one kind and one stable code."""

from typing import TypeVar

import pytest

from tenure.schema.errors import TenureError

Refusal = TypeVar("Refusal", bound=TenureError)


def refused(
    kind: type[Refusal], code: str, *, match: str | None = None
) -> pytest.RaisesExc[Refusal]:
    """Expect an error of a kind with a code, and with words that match.

    >>> with refused(TenureError, "some_code", match="do this"):
    ...     raise TenureError("do this", code="some_code")
    """
    return pytest.raises(kind, match=match, check=lambda error: error.code == code)
