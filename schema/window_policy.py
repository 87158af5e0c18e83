"""Every number by which a window is run, in one frozen value.

Shares are per cent or permille of L, the tokens that a request may take: the window of the model
without the reserve for its answer. Zones are scaled by the size of the window, because a small one
is filled by a single tool result and a large one leaves room to act late.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, cast, get_type_hints

from .decay import DecayKind
from .errors import InvalidInput, unknown
from .short_repr import short_repr
from .values import canonical_json
from .vocabulary import parse
from .window_shares import PROFILES, BudgetProfile, BudgetShares


class EvictionPolicy(StrEnum):
    """By which score units leave first; each is a row of `keep.SCORES`."""

    FIFO = "fifo"
    LRU = "lru"
    PRIORITY = "priority"
    SEMANTIC_MERGE = "semantic_merge"
    TYPE_BASED = "type_based"
    HYBRID = "hybrid"
    RELEVANCE_COST = "relevance_cost"
    TURN_FACTORS = "turn_factors"


def _because(reason: str) -> Mapping[str, str]:
    """The reason of a default, which `tenure session config` prints beside it."""
    return {"reason": reason}


@dataclass(frozen=True, slots=True)
class Zones:
    """Where the pressure zones start, in permille of L, and what an edit goes down to."""

    __repr__ = short_repr

    yellow: int = field(
        default=500,
        metadata=_because("from here an edit is made where it pays by the model's prices"),
    )
    orange: int = field(
        default=750,
        metadata=_because("from here an edit is demanded; the next result may be large"),
    )
    red: int = field(default=900, metadata=_because("above it a turn of usual size may not fit"))
    target: int = field(
        default=600, metadata=_because("one deep edit rebuilds the cached prefix once")
    )
    rollover: int = field(
        default=950, metadata=_because("a fuller window has no room for a turn and its edit")
    )


SMALL_ZONES: Final = Zones(yellow=400, orange=650, target=500)
LARGE_ZONES: Final = Zones(yellow=600, orange=800)
_SMALL_WINDOW: Final = 32_768
_LARGE_WINDOW: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPolicy:
    """The tunables of a session's window; the reason of each default stands beside it."""

    __repr__ = short_repr

    eviction: EvictionPolicy = field(
        default=EvictionPolicy.HYBRID,
        metadata=_because("which units leave first; it weighs age, use, source and repetition"),
    )
    zones: Zones | None = field(
        default=None, metadata=_because("without zones of one's own those of the window's size")
    )
    cooldown_steps: int = field(
        default=5,
        metadata=_because(
            "model calls between two edits that no limit demands: each rebuilds a cached prefix"
        ),
    )
    clear_at_least: int = field(
        default=1_024,
        metadata=_because("the fewest tokens worth an edit; never less than a twentieth of L"),
    )
    grid_tokens: int = field(
        default=64,
        metadata=_because(
            "freed tokens are counted in these, rounded down, so that a target is met for sure"
        ),
    )
    candidates: int = field(
        default=256,
        metadata=_because(
            "units that an edit considers, of the lowest keep-score a token: more take longer"
        ),
    )
    fold_share: int = field(
        default=800,
        metadata=_because(
            "permille of the target that folds may take before one leaves with the names in it"
        ),
    )
    expected_steps: int = field(
        default=20,
        metadata=_because(
            "the most steps ahead over which an edit may pay for itself; nobody knows the end"
        ),
    )
    result_cap: int = field(
        default=3_000,
        metadata=_because(
            "tokens above which a tool result stands in its short form from the start"
        ),
    )
    max_result_bytes: int = field(
        default=64 * 1024 * 1024,
        metadata=_because("a larger result belongs among the artifacts, with its address here"),
    )
    summary_from: int = field(
        default=400,
        metadata=_because("tokens from which a unit is worth a summary by a model, where one is"),
    )
    page_tokens: int = field(
        default=4_000, metadata=_because("the most that one rehydration brings")
    )
    half_life_turns: float = field(
        default=10.0, metadata=_because("turns without a reference after which a unit counts half")
    )
    fading: DecayKind = field(
        default=DecayKind.HALF_LIFE,
        metadata=_because("a unit fades evenly; a step or a sigmoid keeps it whole, then drops it"),
    )
    result_rate: float = field(
        default=0.0,
        metadata=_because("fading of results a turn, e.g. 0.3; at 0 they fade by half_life_turns"),
    )
    speech_rate: float = field(
        default=0.0,
        metadata=_because("the same of what users said, e.g. 0.05: corrections outlast results"),
    )
    memory_share: int = field(
        default=200, metadata=_because("permille of L for what the store brings beside the history")
    )
    profile: BudgetProfile = field(
        default=BudgetProfile.DEFAULT,
        metadata=_because("from which shares of a window its components warn; it blocks nothing"),
    )
    shares: BudgetShares | None = field(
        default=None, metadata=_because("without shares of one's own those of the profile")
    )

    def __post_init__(self) -> None:
        put = object.__setattr__  # a word counts as its member
        put(self, "eviction", parse(EvictionPolicy, self.eviction))
        put(self, "profile", parse(BudgetProfile, self.profile))
        put(self, "fading", parse(DecayKind, self.fading))
        for tunable in fields(self):
            number = getattr(self, tunable.name)
            if type(tunable.default) is int and (type(number) is not int or number < 0):
                raise InvalidInput(
                    f"{tunable.name} of a window policy is a number of at least 0, not {number!r}",
                    code="bad_policy",
                )
        for name in ("clear_at_least", "grid_tokens", "candidates", "page_tokens", "result_cap"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} of a window policy is at least 1", code="bad_policy")
        if not 0 <= self.memory_share <= 500 or not self.half_life_turns > 0:
            raise InvalidInput(
                "memory_share is 0 to 500 permille, half_life_turns above 0", code="bad_policy"
            )
        if not (0 <= self.result_rate <= 10 and 0 <= self.speech_rate <= 10):
            raise InvalidInput("result_rate and speech_rate are 0 to 10 a turn", code="bad_policy")
        zones = self.zones
        if type(zones) is Zones and not (
            0 < zones.target < zones.orange < zones.red <= zones.rollover <= 1000
            and 0 < zones.yellow <= zones.orange
        ):
            raise InvalidInput(
                "zones must rise: target < orange < red <= rollover <= 1000, and yellow <= orange; "
                f"they are {zones.target}, {zones.orange}, {zones.red}, {zones.rollover} and "
                f"{zones.yellow}",
                code="bad_policy",
            )

    @property
    def digest(self) -> str:
        """The SHA-256 of all values: it names the policy in the log of a session."""
        return _digest(self)

    def to_plain(self) -> dict[str, Any]:
        """The values by name, as the log of a session keeps them; `policy_from` reads them back."""
        return asdict(self)

    @property
    def budget(self) -> BudgetShares:
        """The shares that count: one's own, else those of the profile."""
        return PROFILES[self.profile] if self.shares is None else self.shares

    def zones_of(self, window: int) -> Zones:
        """The zones of a window of so many tokens."""
        if self.zones is not None:
            return self.zones
        if window <= _SMALL_WINDOW:
            return SMALL_ZONES
        return LARGE_ZONES if window >= _LARGE_WINDOW else Zones()


@lru_cache(maxsize=64)
def _digest(policy: WindowPolicy) -> str:
    return hashlib.sha256(canonical_json(policy.to_plain()).encode()).hexdigest()


DEFAULT_WINDOW: Final = WindowPolicy()


_Group = WindowPolicy | Zones | BudgetShares


@dataclass(frozen=True, slots=True)
class Tunable:
    """One number of a policy, as it is printed."""

    name: str
    value: Any
    default: Any
    reason: str


def tunables(policy: WindowPolicy) -> tuple[Tunable, ...]:
    """Every tunable of a policy with its value, its default and the reason for that."""
    rows = [*_tunables_of(policy, "")]
    if policy.zones is not None:
        rows += _tunables_of(policy.zones, "zones.")
    if policy.shares is not None:
        rows += _tunables_of(policy.shares, "shares.")
    return tuple(rows)


def _tunables_of(group: _Group, prefix: str) -> list[Tunable]:
    rows: list[Tunable] = []
    for item in fields(group):
        value = getattr(group, item.name)
        rows.append(Tunable(prefix + item.name, value, item.default, item.metadata["reason"]))
    return rows


def policy_from(values: Mapping[str, Any]) -> WindowPolicy:
    """The policy of plain values, as a file states them; what they leave out keeps its default.

    Raises:
        InvalidInput: `unknown_vocabulary` with the nearest name; `bad_policy`, for a value of
            another type or out of range.
    """
    members = _members(WindowPolicy, values, "tunable of a window")
    for name, (kind, unit) in _TABLES.items():
        table = values.get(name)
        if table is None:
            continue
        if not isinstance(table, Mapping):
            raise InvalidInput(f"{name} are a table of {unit} by name", code="bad_policy")
        members[name] = kind(**_members(kind, cast("Mapping[str, Any]", table), name))
    return WindowPolicy(**members)


_TABLES: Final[Mapping[str, tuple[type[Zones | BudgetShares], str]]] = {
    "zones": (Zones, "permille"),
    "shares": (BudgetShares, "per cent"),
}
"""Tunables that are groups of their own."""


def _members(kind: type[_Group], values: Mapping[str, Any], group: str) -> dict[str, Any]:
    hints = get_type_hints(kind)
    members: dict[str, Any] = {}
    for name, value in values.items():
        if name not in hints:
            raise unknown(group, str(name), hints)
        if hints[name] in (EvictionPolicy, BudgetProfile, DecayKind):
            members[name] = parse(hints[name], value)
        elif name not in _TABLES:
            members[name] = _number(name, value, hints[name])
    return members


def _number(name: str, value: object, kind: type) -> object:
    # Whole numbers are floats as well; `yes`, which YAML reads as a truth, is no number.
    kinds = (int, float) if kind is float else (int,)
    if type(value) not in kinds:
        raise InvalidInput(
            f"{name} of a window policy is a number, not {value!r}", code="bad_policy"
        )
    return value
