"""A quick `__init__` differs from that of `dataclasses` in nothing but its time."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from tenure.schema.claim import Row, Version
from tenure.schema.context_object import ContextObject
from tenure.schema.interval import Interval
from tenure.schema.quick_init import quick_init
from tenure.schema.write import Draft, Receipt, Write


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: int = 3
    tags: list[str] = field(default_factory=list[str])
    note: str = "none"


@quick_init
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    size: int = 3
    tags: list[str] = field(default_factory=list[str])
    note: str = "none"


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    name: str
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a name is missing")
        object.__setattr__(self, "words", tuple(self.words))


def answer(call: Callable[[], Any]) -> Any:
    """What a call returns by field, or the type and words of its error."""
    try:
        record = call()
    except TypeError as error:
        return str(error).replace("Plain", "Quick")
    return [getattr(record, item.name) for item in fields(record)]


@pytest.mark.parametrize(
    ("positional", "named"),
    [
        (("a",), {}),
        (("a", 4, ["x"], "y"), {}),
        ((), {"name": "a", "note": "y"}),
        (("a",), {"tags": ["x"], "size": 0}),
        ((), {}),
        (("a",), {"name": "b"}),
        (("a",), {"color": "red"}),
        (("a", 1, [], "y", 5), {}),
    ],
)
def test_it_takes_and_refuses_the_same_arguments(
    positional: tuple[Any, ...], named: dict[str, Any]
) -> None:
    expected = answer(lambda: Plain(*positional, **named))
    assert answer(lambda: Quick(*positional, **named)) == expected


def test_a_factory_makes_a_value_for_each_record() -> None:
    first, second = Quick("a"), Quick("a")
    first.tags.append("x")
    assert second.tags == []


def test_what_checks_and_normalises_a_record_still_does() -> None:
    words: Any = ["x"]
    assert Checked(name="a", words=words).words == ("x",)
    with pytest.raises(ValueError, match="a name is missing"):
        Checked(name="")


def test_a_record_stays_frozen_and_can_be_copied_and_pickled() -> None:
    record = Quick("a", tags=["x"])
    with pytest.raises(FrozenInstanceError):
        record.size = 4  # type: ignore[misc]
    assert copy.copy(record) == copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert replace(record, size=9) == Quick("a", 9, ["x"])


@pytest.mark.parametrize("cls", [Row, Version, Interval, Draft, Receipt, Write, ContextObject])
def test_the_signature_is_that_of_the_fields(cls: Any) -> None:
    parameters = inspect.signature(cls).parameters
    assert list(parameters) == [item.name for item in fields(cls)]
    assert [p.annotation for p in parameters.values()] == [item.type for item in fields(cls)]
    assert cls.__init__.__qualname__ == f"{cls.__name__}.__init__"
    assert cls.__init__.__module__ == cls.__module__


def test_a_field_that_is_set_later_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Late:
        name: str
        length: int = field(init=False)

    with pytest.raises(TypeError, match=r"Late\.length is no parameter of __init__"):
        quick_init(Late)
