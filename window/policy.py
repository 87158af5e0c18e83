"""Every number by which a window is run, in one frozen value.

Shares are per cent or permille of L, the tokens that a request may take: the window of the model
without the reserve for its answer. Zones are scaled by the size of the window, because a small one
is filled by a single tool result and a large one leaves room to act late.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from ..schema.errors import InvalidInput
from ..schema.values import canonical_json


class EvictionPolicy(StrEnum):
    """By which score units leave first; each is a row of `keep.SCORES`."""

    FIFO = "fifo"
    LRU = "lru"
    PRIORITY = "priority"
    SEMANTIC_MERGE = "semantic_merge"
    TYPE_BASED = "type_based"
    HYBRID = "hybrid"
    RELEVANCE_COST = "relevance_cost"


@dataclass(frozen=True, slots=True)
class Zones:
    """Where the pressure zones start, in permille of L, and what an edit goes down to."""

    yellow: int = 500
    orange: int = 750
    red: int = 900
    target: int = 600
    rollover: int = 950


SMALL_ZONES: Final = Zones(yellow=400, orange=650, target=500)
LARGE_ZONES: Final = Zones(yellow=600, orange=800)
_SMALL_WINDOW: Final = 32_768
_LARGE_WINDOW: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPolicy:
    """The tunables of a session's window."""

    eviction: EvictionPolicy = EvictionPolicy.HYBRID
    zones: Zones | None = None
    """Zones of one's own; without them those of the window's size."""
    cooldown_steps: int = 5
    """Model calls between two edits that no limit demands: each edit rebuilds a cached prefix."""
    clear_at_least: int = 1_024
    """The fewest tokens worth an edit; never less than a twentieth of L."""
    grid_tokens: int = 64
    """Unit in which freed tokens are counted, rounded down, so that a target is met for sure."""
    candidates: int = 256
    """Units that an edit considers: those of the lowest keep-score a token."""
    expected_steps: int = 20
    """The most steps ahead over which an edit may pay for itself."""
    result_cap: int = 3_000
    """Tokens of one tool result above which it stands in its short form from the start."""
    result_tokens: int = 500
    """Tokens of a tool result from which a short form is worth having."""
    max_result_bytes: int = 64 * 1024 * 1024
    page_tokens: int = 4_000
    """The most that one rehydration brings."""
    half_life_turns: float = 10.0
    """Turns without a reference after which a unit counts half."""
    memory_share: int = 200
    """Permille of L for what the store brings beside the history."""

    def __post_init__(self) -> None:
        for name in ("clear_at_least", "grid_tokens", "candidates", "page_tokens", "result_cap"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} of a window policy is at least 1", code="bad_policy")
        if not 0 <= self.memory_share <= 500 or self.half_life_turns <= 0:
            raise InvalidInput(
                "memory_share is 0 to 500 permille, half_life_turns above 0", code="bad_policy"
            )
        zones = self.zones
        if zones and not 0 < zones.target < zones.orange < zones.red <= zones.rollover <= 1000:
            raise InvalidInput(
                "zones must rise: target < orange < red <= rollover <= 1000", code="bad_policy"
            )

    @property
    def digest(self) -> str:
        """The SHA-256 of all values: it names the policy in the log of a session."""
        return hashlib.sha256(canonical_json(asdict(self)).encode()).hexdigest()

    def zones_of(self, window: int) -> Zones:
        """The zones of a window of so many tokens."""
        if self.zones is not None:
            return self.zones
        if window <= _SMALL_WINDOW:
            return SMALL_ZONES
        return LARGE_ZONES if window >= _LARGE_WINDOW else Zones()


DEFAULT_WINDOW: Final = WindowPolicy()
