"""Records to plain JSON values and back, read off their type annotations.

Frozen dataclasses become objects with every field, named tuples and tuples arrays, sets sorted
arrays, enums their values, instants microseconds since 1970, bytes base64. Decoding checks every
value against its annotation and refuses what does not fit, so a record that came back is the
record that was written. Only the shapes that records use are known; nothing is guessed. Pure.

It is the one codec of the package: exports, receipts, manifests and policy packs go through it,
and each states next to the call where its stored layout departs from the fields of the record.
"""

from __future__ import annotations

import base64
import binascii
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from .values import field_names, members_of, micros, stamp_time

Plain = Any
"""What `json` reads and writes."""

_SCALARS = frozenset({str, int, float, bool, types.NoneType})


def to_plain(value: object) -> Plain:
    """A record as JSON values.

    >>> from .interval import Interval
    >>> to_plain(Interval(1, 5))
    {'start_us': 1, 'end_us': 5}

    Raises:
        ValueError: A value of a shape that no record has.
    """
    kind: Any = type(value)
    return value if kind in _SCALARS else _converter(kind)(value)


@lru_cache(maxsize=256)
def _converter(kind: type[object]) -> Callable[[Any], Plain]:
    """What makes JSON values of a type that is not plain itself, chosen once a type."""
    if is_dataclass(kind):
        return _plain_record
    if issubclass(kind, tuple):
        return _plain_list
    if issubclass(kind, Enum):
        return attrgetter("value")
    if issubclass(kind, bytes):
        return _base64
    if issubclass(kind, datetime):
        return micros
    if issubclass(kind, frozenset):
        return lambda members: sorted(map(to_plain, members))

    raise ValueError(f"a record holds no {kind.__name__}")


def _plain_record(record: object) -> Plain:
    members: dict[str, Plain] = members_of(record)
    # Most fields are plain values, which need no further call.
    for name, member in members.items():
        kind = cast("type[object]", type(member))
        if kind not in _SCALARS:
            members[name] = _converter(cast("Hashable", kind))(member)
    return members


def _plain_list(items: tuple[object, ...]) -> Plain:
    return [to_plain(item) for item in items]


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def from_plain(kind: Any, plain: Plain) -> Any:
    """The record of a type that JSON values stand for.

    >>> from .interval import Interval
    >>> from_plain(Interval, {"start_us": 1, "end_us": 5})
    Interval(start_us=1, end_us=5)

    Raises:
        ValueError: The values do not fit the type.
    """
    return _decoder(kind)(plain)


@lru_cache(maxsize=512)
def _decoder(kind: Any) -> Callable[[Plain], Any]:
    """What reads values of a type, chosen once a type: a case of a queue has hundreds of them."""
    origin = get_origin(kind)
    # Generic aliases first: none of them is a class that `issubclass` could ask.
    if origin in (Union, types.UnionType):
        return _optional_decoder(kind)
    if origin is tuple:
        return _tuple_decoder(get_args(kind))
    if origin is frozenset:
        members = _tuple_decoder((*get_args(kind), ...))
        return lambda plain: frozenset(members(plain))

    if is_dataclass(kind):
        return partial(_record, kind)
    if hasattr(kind, "_fields"):
        items = _tuple_decoder(tuple(get_type_hints(kind).values()))
        return lambda plain: kind(*items(plain))
    if issubclass(kind, Enum):
        return cast("Callable[[Plain], Any]", kind)

    return partial(_scalar, kind)


@lru_cache(maxsize=128)
def _field_decoders(kind: Any) -> Mapping[str, tuple[Any, Callable[[Plain], Any]]]:
    """The type and the decoder of each field."""
    # Not before a record is met: a type may have members of its own type.
    hints = get_type_hints(kind)
    return {name: (hints[name], _decoder(hints[name])) for name in field_names(kind)}


def _record(kind: Any, plain: Plain) -> Any:
    decoders = _field_decoders(kind)
    members = cast(dict[str, Any], plain) if isinstance(plain, dict) else {}
    if members.keys() != decoders.keys():
        raise ValueError(f"a {kind.__name__} has exactly the fields {', '.join(sorted(decoders))}")

    values: dict[str, Any] = {}
    for name, member in members.items():
        hint, decoder = decoders[name]
        # Most fields are plain values of their own type, which need no further call.
        values[name] = member if type(member) is hint else decoder(member)
    return kind(**values)


def _tuple_decoder(kinds: tuple[Any, ...]) -> Callable[[Plain], tuple[Any, ...]]:
    is_endless = kinds[1:] == (Ellipsis,)
    decoders = [_decoder(kind) for kind in (kinds[:1] if is_endless else kinds)]

    def decode(plain: Plain) -> tuple[Any, ...]:
        if not isinstance(plain, list):
            raise ValueError(f"{plain!r} is no list")
        items = cast(list[object], plain)
        if is_endless:
            return tuple(map(decoders[0], items))
        if len(decoders) != len(items):
            raise ValueError(f"{plain!r} has not {len(decoders)} items")
        return tuple([decoder(item) for decoder, item in zip(decoders, items, strict=True)])

    return decode


def _optional_decoder(kind: Any) -> Callable[[Plain], Any]:
    """What reads an optional value; records know no other unions."""
    (member,) = (option for option in get_args(kind) if option is not types.NoneType)
    decoder = _decoder(member)
    return lambda plain: None if plain is None else decoder(plain)


def _scalar(kind: type, plain: Plain) -> Any:
    if type(plain) is kind:
        return plain

    if kind is bytes and isinstance(plain, str):
        try:
            return base64.b64decode(plain, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{plain!r:.40} is no base64") from error

    # A datetime travels as microseconds, as every instant in a store does.
    if kind is datetime and type(plain) is int:
        return stamp_time(plain)

    # JSON writes the float 1.0 of another program as 1, so a whole number is a float, too.
    if kind is float and isinstance(plain, int) and not isinstance(plain, bool):
        return plain

    raise ValueError(f"{plain!r:.40} is no {kind.__name__}")
