"""Reading JSON values of unknown shape without trusting their types."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

NO_FIELDS: Final[Mapping[str, Any]] = MappingProxyType({})


def fields_of(value: object) -> Mapping[str, Any]:
    """Return the fields of an object, none for any other value.

    >>> dict(fields_of({"a": 1})), dict(fields_of([1]))
    ({'a': 1}, {})
    """
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else NO_FIELDS


def items_of(value: object) -> list[object]:
    """Return the items of a list, none for any other value."""
    return cast("list[object]", value) if isinstance(value, list) else []
