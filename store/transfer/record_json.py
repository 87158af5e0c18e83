"""Records to plain JSON values and back, read off their type annotations.

Frozen dataclasses become objects with every field, named tuples and tuples arrays, enums
their values, bytes base64. Decoding checks every value against its annotation and refuses
what does not fit, so a record that came back is the record that was written. Only the shapes
that records use are known; nothing is guessed. Pure.
"""

from __future__ import annotations

import base64
import binascii
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

Plain = Any
"""What `json` reads and writes."""


def to_plain(value: object) -> Plain:
    """Return a record as JSON values.

    >>> from ...schema.interval import Interval
    >>> to_plain(Interval(1, 5))
    {'start_us': 1, 'end_us': 5}
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple):
        return [to_plain(item) for item in cast(tuple[object, ...], value)]
    return value


def from_plain(kind: Any, plain: Plain) -> Any:
    """Return the record of a type that JSON values stand for.

    >>> from ...schema.interval import Interval
    >>> from_plain(Interval, {"start_us": 1, "end_us": 5})
    Interval(start_us=1, end_us=5)

    Raises:
        ValueError: The values do not fit the type.
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _choice(kind, plain)
    if origin is tuple:
        return _items(get_args(kind), plain)
    if is_dataclass(kind):
        return kind(**_members(kind, plain))  # type: ignore[operator]
    if hasattr(kind, "_fields"):  # a named tuple
        return kind(*_items(tuple(_hints(kind).values()), plain))
    if issubclass(kind, Enum):
        return kind(plain)
    return _scalar(kind, plain)


@lru_cache(maxsize=128)
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _members(kind: Any, plain: Plain) -> dict[str, Any]:
    hints = _hints(kind)
    names = {item.name for item in fields(kind)}
    given = cast(dict[str, Any], plain) if isinstance(plain, dict) else {}
    if given.keys() != names:
        raise ValueError(f"a {kind.__name__} has exactly the fields {', '.join(sorted(names))}")
    return {name: from_plain(hints[name], given[name]) for name in given}


def _items(kinds: tuple[Any, ...], plain: Plain) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise ValueError(f"{plain!r} is no list")
    items = cast(list[object], plain)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(from_plain(kinds[0], item) for item in items)
    if len(kinds) != len(items):
        raise ValueError(f"{plain!r} has not {len(kinds)} items")
    return tuple(from_plain(kind, item) for kind, item in zip(kinds, items, strict=True))


def _choice(kind: Any, plain: Plain) -> Any:
    """Return an optional value; records know no other unions."""
    (some,) = (option for option in get_args(kind) if option is not types.NoneType)
    return None if plain is None else from_plain(some, plain)


def _scalar(kind: type, plain: Plain) -> Any:
    if kind is bytes and isinstance(plain, str):
        try:
            return base64.b64decode(plain, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{plain!r:.40} is no base64") from error
    if kind is float and isinstance(plain, int) and not isinstance(plain, bool):
        return plain
    if type(plain) is not kind:
        raise ValueError(f"{plain!r:.40} is no {kind.__name__}")
    return plain
