"""How a window is usually shared out among what stands in it, by kind of work.

Shares are per cent of the window and add up to a hundred. They only warn: what blocks is the limit
of the window alone. The share of the answer gives way to the reserve that a model's answer needs;
the other five are scaled over what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Final

from .errors import InvalidInput
from .frozen_dict import FrozenDict
from .short_repr import short_repr

_PERCENT: Final = 100


class BudgetProfile(StrEnum):
    """Kinds of work with shares of their own; each is a row of `PROFILES`."""

    DEFAULT = "default"
    CODE_REVIEW = "code_review"
    RESEARCH = "research"
    SUPPORT = "support"


@dataclass(frozen=True, slots=True)
class BudgetShares:
    """The usual shares of a window, in per cent."""

    __repr__ = short_repr

    system_prompt: int = field(default=6, metadata={"reason": "instructions of some pages"})
    tool_definitions: int = field(default=4, metadata={"reason": "a dozen tools"})
    message_history: int = field(default=65, metadata={"reason": "what is talked about"})
    tool_results: int = field(default=12, metadata={"reason": "results are shortened when read"})
    memory_injection: int = field(default=8, metadata={"reason": "what the store knows of it"})
    output_reserve: int = field(
        default=5, metadata={"reason": "gives way to the reserve that a model's answer needs"}
    )

    def __post_init__(self) -> None:
        shares = [int(getattr(self, share.name)) for share in fields(self)]
        if min(shares) < 0 or sum(shares) != _PERCENT:
            raise InvalidInput(
                f"the shares of a profile are not negative and add up to 100 per cent, not "
                f"{sum(shares)}",
                code="bad_policy",
            )

    def tokens(self, component: str, limit: int) -> int:
        """What a component usually takes of so many tokens beside the answer."""
        share: int = getattr(self, component)
        return share * limit // (_PERCENT - self.output_reserve)


PROFILES: Final[Mapping[BudgetProfile, BudgetShares]] = FrozenDict(
    {
        BudgetProfile.DEFAULT: BudgetShares(),
        BudgetProfile.CODE_REVIEW: BudgetShares(6, 5, 60, 18, 6, 5),
        BudgetProfile.RESEARCH: BudgetShares(5, 5, 55, 15, 15, 5),
        BudgetProfile.SUPPORT: BudgetShares(8, 3, 70, 8, 6, 5),
    }
)
"""Reviews read files and diffs, research brings in what is known, support talks."""
