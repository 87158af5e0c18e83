"""What the allocator is told about a section, and what it answers.

A `Section` states a logarithmic utility `w * (base + alpha * ln(1 + (t - t_min) / beta))`, or
in its place a concave `curve` that was measured on real items (`select.concave_envelope`).
Everything is checked when the value is made, so the solver never meets a malformed section.

>>> Section("memory", w=1, alpha=2, beta=50, t_min=0, t_max=400).t_max
400

Checklist C-118, C-119.

Which items of a section are taken: the face of the selection methods.

`knapsack` for values that add up, `mmr` as a named option. `concave_envelope` turns the trace of
a selection into the measured utility curve of its section, which then replaces the allocator's
hand-set alpha and beta.

>>> concave_envelope([(10, 50), (30, 60), (40, 90)])
((0, 0), (10, 50), (40, 90))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final, cast

from ...schema.errors import InvalidInput, did_you_mean
from ...schema.frozen_dict import FrozenDict
from ...schema.short_repr import short_repr


def concave_envelope(trace: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The smallest concave curve from (0, 0) that no (tokens, value) point lies above.

    Points rise in tokens and in value; what adds tokens without value is left out. Every point
    is a size at which the section really attains that value. Value that costs no token is
    taken off all points: no budget decides about it.
    """
    points = sorted(set(trace))
    free = max((value for tokens, value in points if not tokens), default=0)
    curve: list[tuple[int, int]] = [(0, 0)]

    for tokens, utility in points:
        value = utility - free
        if value <= curve[-1][1] or not tokens:
            continue

        while len(curve) > 1 and _dips(curve[-2], curve[-1], (tokens, value)):
            curve.pop()
        curve.append((tokens, value))

    return tuple(curve)


def slope_at(curve: Sequence[tuple[int, int]], tokens: int) -> float:
    """What one token more than so many adds on a curve; 0 past its end.

    >>> slope_at([(0, 0), (10, 50), (40, 90)], 10)
    1.3333333333333333
    >>> slope_at([(0, 0), (10, 50), (40, 90)], 40)
    0.0
    """
    for (left, low), (right, high) in pairwise(curve):
        if right > tokens:
            return (high - low) / (right - left)

    return 0.0


def _dips(left: tuple[int, int], middle: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether the middle lies on or below the line between its neighbours."""
    rise = (right[1] - left[1]) * (middle[0] - left[0])
    return (middle[1] - left[1]) * (right[0] - left[0]) <= rise


_LARGEST: Final = 1e12  # of any number; beyond it the solver's products could leave the floats


_SIZES: Final = range(10**12 + 1)


_LEAST_BETA: Final = 1e-9


_REQUIRED_FIELDS: Final = 6
"""The first fields of a section, which have no default."""


@dataclass(frozen=True, slots=True)
class Section:
    """One claimant of the token budget.

    Raises:
        InvalidInput: `bad_section`, for a number that is not finite, a weight beyond 0 to 1, limits
            in the wrong order or a curve that is not concave.
    """

    __repr__ = short_repr

    id: str
    """Unique in one call; equal gains go to the smaller id."""
    w: float
    """Weight of the whole section, 0 to 1; 0 keeps the section at its floor (C-118)."""
    alpha: float
    """Scale of the logarithmic utility, at least 0."""
    beta: float
    """Tokens above the floor after which a further token has lost half its worth; above 0."""
    t_min: int
    """Floor in tokens, for a section that is included."""
    t_max: int
    """Cap in tokens, at least `t_min`."""
    cost: float = 0.0
    """Cost of one token, in the unit that `mu` turns into utility; at least 0."""
    base: float = 0.0
    """Utility of reaching the floor, before the weight; it decides over optional sections."""
    required: bool = True
    """Whether the section must be included."""
    curve: tuple[tuple[int, float], ...] = ()
    """Measured (tokens, utility) points of a concave curve; stated, it replaces alpha and beta."""

    def __post_init__(self) -> None:
        for name in ("w", "alpha", "beta", "cost", "base"):
            _check_number(self.id, name, getattr(self, name))
        if self.w > 1:
            raise bad_section(self.id, f"w is a weight of 0 to 1, not {self.w!r}")

        for name in ("t_min", "t_max"):
            _check_tokens(self.id, name, getattr(self, name))

        if self.t_min > self.t_max:
            raise bad_section(self.id, f"t_min {self.t_min} is above t_max {self.t_max}")
        if self.beta < _LEAST_BETA:
            raise bad_section(self.id, f"beta must be at least {_LEAST_BETA}, not {self.beta!r}")

        if self.curve:
            _check_curve(self.id, self.curve)


@dataclass(frozen=True, slots=True)
class Allocation:
    """The best division of the budget; the same sections in any order give the same answer."""

    __repr__ = short_repr

    tokens: Mapping[str, int]
    """Tokens of every section by id, in the order of the ids; 0 for one that is left out."""
    included_ids: tuple[str, ...]
    """Ids of the included sections, sorted."""
    used_tokens: int
    """Sum of all tokens, never above the budget."""
    objective: float
    """Utility less cost of the whole, to 12 significant digits."""
    shadow_price: float
    """Utility of one more token (lambda), to 12 significant digits; 0 when tokens stay unused."""


def allocation(
    tokens: Mapping[str, int], included_ids: Iterable[str], **values: float
) -> Allocation:
    """An allocation with its tokens in the order of their ids."""
    ordered = dict(sorted(tokens.items()))
    return Allocation(
        tokens=FrozenDict(ordered),
        included_ids=tuple(sorted(included_ids)),
        used_tokens=sum(ordered.values()),
        objective=values["objective"],
        shadow_price=values["shadow_price"],
    )


def read_sections(sections: Iterable[Section | Mapping[str, object]]) -> tuple[Section, ...]:
    """The sections by id, reading plain mappings too.

    Raises:
        InvalidInput: `bad_section`, for an unknown or missing field or an id stated twice.
    """
    by_id: list[Section] = []
    for stated in sections:
        by_id.append(stated if isinstance(stated, Section) else _from_mapping(stated))

    # The order of ids decides ties, so that the caller's order never reaches an answer.
    by_id.sort(key=lambda section: section.id)
    for left, right in pairwise(by_id):
        if left.id == right.id:
            raise bad_section(left.id, "the id is stated twice")

    return tuple(by_id)


def significant(number: float) -> float:
    """Round to 12 significant digits, so that no last bit of a float decides anything.

    >>> significant(0.1 + 0.2) == significant(0.3)
    True
    """
    return float(f"{number:.11e}")


def bad_section(section_id: object, reason: str) -> InvalidInput:
    """The error that names the section and what is wrong with it."""
    return InvalidInput(f"section {section_id!r}: {reason}", code="bad_section", section=section_id)


def _from_mapping(raw: Mapping[str, object]) -> Section:
    # In the order of the fields: those without a default, which must be stated, come first.
    known = [field.name for field in fields(Section)]
    name = raw.get("id")
    for key in raw:
        if key not in known:
            raise bad_section(name, f"unknown field {key!r}; {did_you_mean(key, known)}")

    missing: list[str] = []
    for key in known[:_REQUIRED_FIELDS]:
        if key not in raw:
            missing.append(key)
    if missing:
        raise bad_section(name, "missing " + ", ".join(missing))
    if not isinstance(name, str):
        raise bad_section(name, "the id must be a text")

    arguments = dict(raw)
    curve = arguments.get("curve", ())
    if not isinstance(curve, list | tuple):
        raise bad_section(name, "the curve must be a list of (tokens, utility) points")

    arguments["curve"] = tuple(map(tuple, cast("Iterable[Iterable[object]]", curve)))
    return Section(**arguments)  # type: ignore[arg-type]  # the section checks every field itself


def _check_number(section_id: str, name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise bad_section(section_id, f"{name} must be a finite number, not {value!r}")
    if value < 0 and name != "base":
        raise bad_section(section_id, f"{name} must not be negative, got {value!r}")
    if abs(value) > _LARGEST:
        raise bad_section(section_id, f"{name} must be at most {_LARGEST:g}, got {value!r}")


def _check_tokens(section_id: str, name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value not in _SIZES:
        raise bad_section(section_id, f"{name} must be a whole number of tokens, not {value!r}")


def _check_curve(section_id: str, curve: tuple[tuple[int, float], ...]) -> None:
    if curve[0] != (0, 0) or any(len(point) != 2 for point in curve):
        raise bad_section(section_id, "a curve starts at (0, 0) and has pairs for points")

    last = math.inf
    for (left, low), (right, high) in pairwise(curve):
        _check_tokens(section_id, "a size of the curve", right)
        _check_number(section_id, "a utility of the curve", high)
        slope = (high - low) / (right - left) if right > left else math.inf
        if not 0 <= slope <= last or right <= left:
            raise bad_section(section_id, "a curve rises, ever more slowly, with its size")
        last = slope
