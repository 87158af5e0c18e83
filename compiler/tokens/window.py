"""The tokens a compile may use: `B = min(budget_tokens, W - R - framing)`.

W is the model's window and R the reserve for its answer. With W known R is the largest of 4,096,
what the caller states and 10 % of W; below a window of 16K the 4,096 would eat it, and only the
share and the stated value count. With W unknown (`generic`) R is what is stated, else nothing,
and is taken off `budget_tokens`. `framing` covers what the provider adds around the messages. The
counting margin is no part of B: it lives in the counter's upper bound alone.

>>> from tenure.compiler.tokens.capabilities import capability
>>> compile_budget(8000, None, capability("generic")).tokens
8000
>>> compile_budget(500_000, None, capability("claude-haiku-4-5")).tokens
179744

Checklist C-115, C-117, C-124, C-138, C-196.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...schema.errors import ContextBudgetExhausted, InvalidInput
from .capabilities import Capability


@dataclass(frozen=True, slots=True)
class ReservePolicy:
    """How much of the window is kept for the answer and for the provider's framing."""

    least_tokens: int = 4096
    """Smallest reserve; an answer cut short is worse than a shorter prompt."""
    share_permille: int = 100
    """Share of the window, when that is more."""
    small_window: int = 16_384
    """Below this window the smallest reserve does not apply."""
    framing_tokens: int = 256
    """What a provider adds around roles and tools; taken only where the window is known."""


DEFAULT_RESERVE = ReservePolicy()


@dataclass(frozen=True, slots=True)
class Budget:
    """The arithmetic of one compile, for the allocator and for the trace."""

    tokens: int
    """B: the compiled text's upper bound stays at or below it."""
    reserve_tokens: int
    """R: kept for the answer."""
    framing_tokens: int
    """Kept for the provider's own tokens."""
    window: int | None
    """W; None when unknown."""
    asked_tokens: int
    """The budget that was asked for."""


def compile_budget(
    budget_tokens: int,
    reserve_tokens: int | None,
    capability: Capability,
    policy: ReservePolicy = DEFAULT_RESERVE,
) -> Budget:
    """Return B and its parts, all in the unit of the model's counter.

    Args:
        budget_tokens: The most the compiled text may take, at least 0.
        reserve_tokens: The caller's longest answer; None when not stated.
        capability: The model's row.
        policy: Smallest reserve, share and framing.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when the reserve leaves less than nothing.
        InvalidInput: `bad_budget`, for a number that is not whole or below 0.
    """
    for name, value in (("budget_tokens", budget_tokens), ("reserve_tokens", reserve_tokens or 0)):
        if type(value) is not int or value < 0:
            raise InvalidInput(
                f"{name} must be a whole number of at least 0, not {value!r}", code="bad_budget"
            )

    # Where the window is unknown the caller's number is all there is: nothing is taken for it.
    window = capability.window
    reserve = _reserve(window, reserve_tokens or 0, policy)
    framing = 0 if window is None else policy.framing_tokens
    tokens = (
        budget_tokens - reserve
        if window is None
        else min(budget_tokens, window - reserve - framing)
    )
    if tokens < 0:
        raise _budget_error(
            f"a reserve of {reserve} tokens leaves nothing to compile into", -tokens
        )

    return Budget(tokens, reserve, framing, window, budget_tokens)


def elastic_tokens(tokens: int, *sizes: int) -> int:
    """What fixed parts leave of a budget to divide: media of the text, rules of the rest.

    >>> elastic_tokens(8000, 1200, 300)
    6500

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when they leave less than nothing.
    """
    remainder = tokens - sum(sizes)
    if remainder < 0:
        raise _budget_error(f"the fixed parts need {sum(sizes)} of {tokens} tokens", -remainder)
    return remainder


def _reserve(window: int | None, answer_tokens: int, policy: ReservePolicy) -> int:
    if window is None:
        return answer_tokens

    # Small windows would be eaten up by the smallest reserve; there the share alone counts.
    share = -(-window * policy.share_permille // 1000)
    floor = policy.least_tokens if window >= policy.small_window else 0
    return max(floor, answer_tokens, share)


def _budget_error(reason: str, shortfall: int) -> ContextBudgetExhausted:
    return ContextBudgetExhausted(
        f"{reason}: {shortfall} tokens are missing; raise the budget or lower the reserve",
        code="required_over_budget",
        shortfall=shortfall,
    )
