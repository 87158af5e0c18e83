"""What a number of a policy may be: finite and not below 0, and a share no more than the whole.

A number beyond that decides nothing that its name says: a floor of -3 lets in what no floor
would, and a recap of -5 tokens cuts a goal to nothing. It is refused when the policy is made, and
never waits for the compile that first reads it. Checklist C-318.
"""

from __future__ import annotations

from dataclasses import fields
from math import inf, isfinite
from typing import TYPE_CHECKING, Final, cast

from .errors import InvalidInput

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SHARES: Final = frozenset(
    "activation_cosine lexical_weight bm25_b relevance_floor memory_floor authority_weight "
    "freshness_weight relevance_weight graph_weight tier_cuts reserve_share "
    "rerank_weight mmr_relevance talk_lift subject_lift wish_relevance area_relevance "
    "freshness_floor rescue_affinity rescue_weights fidelity_pass fidelity_lossy media_share "
    "media_fidelity audit_share".split()
)
"""Numbers that are parts of a whole."""

_COUNTS: Final = frozenset(
    "max_batch max_text_chars shingle_words recap_tokens candidates section_items "
    "max_candidates max_cluster common_family_name".split()
)
"""Numbers of which 0 would leave nothing to do."""

_LEVELS: Final = 4


def check_bounds(group: DataclassInstance) -> None:
    """Refuse a group of a policy with a number that nothing could keep.

    Raises:
        InvalidInput: `bad_policy`, naming it.
    """
    for item in fields(group):
        numbers = _numbers(getattr(group, item.name))
        floor, ceiling = _bounds_of(item.name)
        if not all(floor <= number <= ceiling and isfinite(number) for number in numbers):
            limits = f"of at least {floor}" if ceiling == inf else f"from {floor} to {ceiling:g}"
            raise InvalidInput(f"{item.name} is a finite number {limits}", code="bad_policy")


def check_falling(name: str, numbers: tuple[float, ...]) -> None:
    """Refuse bounds of which a later one is above one before it.

    Raises:
        InvalidInput: `bad_policy`.
    """
    if list(numbers) != sorted(numbers, reverse=True):
        raise InvalidInput(f"{name} must fall: {numbers}", code="bad_policy")


def _bounds_of(name: str) -> tuple[int, float]:
    if name == "weakest_level":
        return 0, _LEVELS
    return int(name in _COUNTS), 1 if name in _SHARES else inf


def _numbers(value: object) -> tuple[float, ...]:
    """The numbers of a field; none of a switch, a word or a table."""
    members = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    numbers: list[float] = []
    for member in members:
        if isinstance(member, bool) or not isinstance(member, int | float):
            return ()
        numbers.append(member)
    return tuple(numbers)
