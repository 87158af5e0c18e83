"""A dictionary that nobody changes, for values that are handed out.

Unlike the view of `types.MappingProxyType` it can be pickled and copied, and JSON takes it as the
object that it is.

>>> import pickle
>>> counts = FrozenDict({"a": 1})
>>> pickle.loads(pickle.dumps(counts)) == counts, {**counts, "b": 2}
(True, {'a': 1, 'b': 2})
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeVar

from .short_repr import REPR_LENGTH

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
