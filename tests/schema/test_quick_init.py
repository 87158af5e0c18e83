"""A record with a quick `__init__` is in all things the frozen dataclass it was."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from tenure.schema.quick_init import quick_init


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    one: int
    two: str = "b"


@quick_init
@dataclass(frozen=True, slots=True, order=True)
class Span:
    start: int
    end: int = 9

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError("reversed")


def test_fields_defaults_and_names_are_those_that_were_declared() -> None:
    assert Named(one=1) == Named(one=1, two="b") != Named(one=2)
    assert Span(3) == Span(3, 9) == Span(start=3, end=9) < Span(4)
    assert hash(Span(3)) == hash(Span(3, 9))
    assert repr(Named(one=1)) == "Named(one=1, two='b')"
    assert str(inspect.signature(Span)) == "(start: 'int', end: 'int' = 9) -> None"


def test_what_is_missing_or_unknown_is_refused() -> None:
    with pytest.raises(TypeError, match="missing"):
        Named()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected"):
        Span(1, x=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="positional"):
        Named(1)  # type: ignore[misc]  # pyright: ignore[reportCallIssue]


def test_nothing_can_be_set_afterwards() -> None:
    span = Span(1)
    assert type(span) is Span
    with pytest.raises(FrozenInstanceError):
        span.start = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        del span.start  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_check_of_its_own_still_runs() -> None:
    with pytest.raises(ValueError, match="reversed"):
        Span(5, 1)
    with pytest.raises(ValueError, match="reversed"):
        replace(Span(5), end=1)


def test_copies_are_equal_and_locked() -> None:
    span = Span(1, 2)
    for twin in (copy.copy(span), copy.deepcopy(span), pickle.loads(pickle.dumps(span))):
        assert (twin, type(twin)) == (span, Span)
    assert replace(span, end=4) == Span(1, 4)


def test_what_it_cannot_make_is_refused_when_the_class_is_made() -> None:
    @dataclass(frozen=True)
    class Slotless:
        one: int

    @dataclass(frozen=True, slots=True)
    class Fresh:
        one: list[int] = field(default_factory=list[int])

    for unfit in (Slotless, Fresh):
        with pytest.raises(TypeError, match="slots=True"):
            quick_init(unfit)
