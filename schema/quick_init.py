"""A quicker `__init__` for frozen records of which one call makes many.

What `dataclasses` writes for a frozen class sets every field by `object.__setattr__`, which looks
its slot up by name each time; where a read or a write makes hundreds of records, most of Python's
own time went there. Here the slots' own descriptors are called. All else stays: the signature, the
defaults, `__post_init__`, and that nobody changes a record later. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from types import FunctionType
from typing import Any, TypeVar, cast

T = TypeVar("T")


def quick_init(cls: type[T]) -> type[T]:
    """Let a frozen dataclass with slots fill them through their descriptors.

    >>> from dataclasses import dataclass
    >>> @quick_init
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1)
    Point(x=1, y=0)

    Raises:
        TypeError: A field is none of the parameters of `__init__`.
    """
    init = cast("FunctionType", cls.__init__)
    code = init.__code__
    positional = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = {**_last_defaults(positional, init.__defaults__), **(init.__kwdefaults__ or {})}

    parts: dict[str, Any] = {}
    lines: list[str] = []
    for item in fields(cast("Any", cls)):
        name = item.name
        if not item.init:
            raise TypeError(f"{cls.__name__}.{name} is no parameter of __init__")

        parts[f"put_{name}"] = getattr(cls, name).__set__
        value = name
        if item.default_factory is not MISSING:
            # The default of such a parameter is a mark, in whose place the factory makes one.
            parts[f"make_{name}"], parts[f"mark_{name}"] = item.default_factory, defaults[name]
            value = f"make_{name}() if {name} is mark_{name} else {name}"
        lines.append(f"put_{name}(self, {value})")

    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    quick = _function([*positional, *(["*", *keywords] if keywords else [])], lines, parts)
    quick.__defaults__, quick.__kwdefaults__ = init.__defaults__, init.__kwdefaults__
    quick.__annotations__, quick.__qualname__ = init.__annotations__, init.__qualname__
    quick.__module__ = cls.__module__
    cls.__init__ = quick  # type: ignore[method-assign]

    return cls


def _last_defaults(parameters: Sequence[str], values: Sequence[Any] | None) -> dict[str, Any]:
    """The defaults of the last parameters, by name."""
    values = values or ()
    return dict(zip(parameters[len(parameters) - len(values) :], values, strict=True))


def _function(
    parameters: Sequence[str], lines: Sequence[str], parts: Mapping[str, Any]
) -> FunctionType:
    """The `__init__` of these parameters and lines, which know the parts by their names."""
    body = "\n        ".join(lines)
    source = f"""
def make({", ".join(parts)}):
    def __init__({", ".join(parameters)}):
        {body}
    return __init__
"""
    names: dict[str, Any] = {}
    exec(source, {}, names)  # as `dataclasses` itself does; no text of a caller is in it
    return cast("FunctionType", names["make"](**parts))
