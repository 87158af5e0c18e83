"""Frozen dataclasses that are made as fast as plain ones.

The `__init__` that `dataclass(frozen=True)` writes puts each field past its own lock, one call a
field, so that a long record takes several times as long to make as a plain one; and a read makes
thousands. `quick_init` writes one that lifts the lock once: the new object is of an unlocked
class with the same slots while its fields are set, and of its own class again before anyone
else can see it. Everything else stays what `dataclass` made: fields, defaults, `replace`,
equality, hash, copies, `__post_init__`, and that nothing can be set afterwards.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, Final, TypeVar

T = TypeVar("T")

_LIFT: Final = "_set(self, '__class__', _unlocked)"
_LOCK: Final = "self.__class__ = _made"


def quick_init(made: type[T]) -> type[T]:
    """Give a frozen dataclass with slots an `__init__` that sets its fields without a lock.

    Raises:
        TypeError: For a class without slots of its own, or a field that is made anew each time.
    """
    listed: tuple[Field[Any], ...] = fields(made)  # type: ignore[arg-type]
    slots: tuple[str, ...] = made.__dict__.get("__slots__", ())
    if slots != tuple(f.name for f in listed) or any(not _plain(f) for f in listed):
        raise TypeError(f"{made.__name__}: give it slots=True, plain defaults and no base")
    body = [_LIFT, *(f"self.{f.name} = {f.name}" for f in listed), _LOCK]
    body += ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    names: dict[str, Any] = {
        "_set": object.__setattr__,
        "_unlocked": type(made.__name__, (), {"__slots__": slots}),
        "_made": made,
        "_default": {f.name: f.default for f in listed},
    }
    exec("\n ".join([f"def __init__({_signature(listed)}):", *body]), names)
    init = names["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__annotations__ = made.__init__.__annotations__
    made.__init__ = init  # type: ignore[method-assign]
    return made


def _plain(field: Field[Any]) -> bool:
    return field.init and field.default_factory is MISSING


def _signature(listed: tuple[Field[Any], ...]) -> str:
    """Return the parameters: those by place, then those by name alone."""
    named = [_parameter(f) for f in listed if f.kw_only]
    return ", ".join(
        ["self", *(_parameter(f) for f in listed if not f.kw_only), *(["*", *named] * bool(named))]
    )


def _parameter(field: Field[Any]) -> str:
    stated = field.default is MISSING
    return field.name if stated else f"{field.name}=_default['{field.name}']"
