"""Helpers for records: a short `repr`, a frozen dictionary, and tables that come with a package.

A short record prints like any dataclass, with words for members of closed lists and times as ISO
8601. A longer one shortens its long values and ids, leaves out fields that have their defaults, and
ends with `…` if it drops others.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Note:
...     text: str
...     tags: tuple[str, ...] = ()
...     __repr__ = short_repr
>>> Note("short")
Note(text='short', tags=())
>>> Note("long " * 100)
Note(text='long long lon...ong long long ')

Unlike the view of `types.MappingProxyType`, a `FrozenDict` can be pickled, copied and written as
JSON.

>>> import pickle
>>> counts = FrozenDict({"a": 1})
>>> pickle.loads(pickle.dumps(counts)) == counts, {**counts, "b": 2}
(True, {'a': 1, 'b': 2})
"""

from __future__ import annotations

import re
import reprlib
import tomllib
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from pkgutil import get_data
from typing import Any, Final, NoReturn, TypeVar

REPR_LENGTH: Final = 200
"""Characters of a `repr`."""


_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class _Limits(reprlib.Repr):
    """How values inside a record print."""

    def repr1(self, x: Any, level: int) -> str:  # the names are those of the base class
        if isinstance(x, datetime):
            return x.isoformat()
        if isinstance(x, Enum):
            return repr(x.value)
        if isinstance(x, str) and len(x) > self.maxstring and _UUID.fullmatch(x):
            return f"'{x[:8]}…'"
        if is_dataclass(x):
            text = repr(x)
            return text if len(text) <= self.maxother else f"{type(x).__name__}(…)"
        return super().repr1(x, level)


def _limits(text: int, entries: int) -> reprlib.Repr:
    limits = _Limits()
    limits.maxstring = limits.maxother = limits.maxlong = text
    limits.maxlist = limits.maxtuple = limits.maxdict = entries
    limits.maxset = limits.maxfrozenset = entries
    limits.maxlevel = 4
    return limits


_WHOLE_LIMITS: Final = _limits(text=REPR_LENGTH, entries=12)
_BRIEF_LIMITS: Final = _limits(text=32, entries=2)


def short_repr(self: Any) -> str:
    """The text of a record, at most `REPR_LENGTH` characters; to be a class's `__repr__`."""
    candidates = [field for field in fields(self) if field.repr]
    text = _text(self, candidates, _WHOLE_LIMITS)
    if len(text) <= REPR_LENGTH:
        return text

    own_fields = [field for field in candidates if not _is_default(self, field)]
    for count in range(len(own_fields), 0, -1):
        brief = _text(self, own_fields[:count], _BRIEF_LIMITS, cut=count < len(own_fields))
        if len(brief) <= REPR_LENGTH:
            return brief
    return f"{type(self).__name__}(…)"


def _text(
    record: Any, members: list[Field[Any]], limits: reprlib.Repr, *, cut: bool = False
) -> str:
    parts = [f"{field.name}={limits.repr(getattr(record, field.name))}" for field in members]
    return f"{type(record).__qualname__}({', '.join([*parts, '…'] if cut else parts)})"


def _is_default(record: Any, field: Field[Any]) -> bool:
    value = getattr(record, field.name)
    if field.default_factory is not MISSING:
        return bool(value == field.default_factory())
    return field.default is not MISSING and bool(value == field.default)


_NAMES_LENGTH: Final = REPR_LENGTH - 30
"""Characters of names in a `repr`; the others say what they are."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """A dictionary without the calls that change one; `dict(…)` is a copy to change."""

    __slots__ = ()

    def __repr__(self) -> str:
        text = super().__repr__()
        if len(text) <= REPR_LENGTH:
            return text

        # A vocabulary has dozens of entries, of which their names say enough.
        names = ", ".join(map(repr, self))
        if len(names) > _NAMES_LENGTH:
            names = names[:_NAMES_LENGTH].rpartition(", ")[0] + f", … of {len(self)}"
        return f"<entries: {names}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Without it a copy would be filled item by item, which is refused.
        return type(self), (dict(self),)

    def _refuse(self: object, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is part of a value and stays as it is; copy it with dict(…)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


def packaged_table(package: str | None, name: str) -> dict[str, Any]:
    """A TOML file that is installed in a package, as that package names itself."""
    return tomllib.loads((get_data(package or "", name) or b"").decode())
