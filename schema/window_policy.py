"""Every number by which a window is run, in one frozen value.

Shares are per cent or permille of L, the tokens that a request may take: the window of the model
without the reserve for its answer. Zones are scaled by the size of the window, because a small one
is filled by a single tool result and a large one leaves room to act late. The shares of components
only warn: what blocks is the limit of the window alone. `AGENT_POLICIES` is where to start for five
kinds of agent; what to change after that is read from the records of edits, after some real runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from functools import lru_cache
from math import inf
from typing import Any, Final, cast, get_type_hints

from .errors import InvalidInput, unknown
from .layers import DecayKind
from .records import FrozenDict, short_repr
from .values import canonical_json
from .vocabulary import parse

_SMALL_WINDOW: Final = 32_768
_LARGE_WINDOW: Final = 200_000
_LEDGER_SHARES: Final = (200, 250)
"""In a usual and in a small window."""
_RESULT_TOKENS: Final = (300, 600)
"""Of an old result, in a usual and in a large window."""

_PERCENT: Final = 100

_BOUNDS: Final = (
    ("newest_units", 1, 1_000),
    ("result_tokens", 32, 1_000_000),
    ("ledger_share", 0, 500),
    ("notes_share", 0, 500),
    ("memory_share", 0, 500),
    ("page_tokens", 1, 1_000_000),
)
"""The least and the most of each whole number."""


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
    """The reason of a default, which `tenure session config` prints next to it."""
    return {"reason": reason}


@dataclass(frozen=True, slots=True)
class Zones:
    """Where the pressure zones start, in permille of L, and what an edit goes down to."""

    __repr__ = short_repr

    yellow: int = field(default=500, metadata=_because("half of the room is used"))
    orange: int = field(default=750, metadata=_because("the next large result leads to an edit"))
    edit: int = field(
        default=850, metadata=_because("later than this a result of usual size may not fit")
    )
    red: int = field(default=900, metadata=_because("above it a turn of usual size may not fit"))
    target: int = field(
        default=600, metadata=_because("one deep edit rebuilds the cached prefix once")
    )
    rollover: int = field(
        default=950, metadata=_because("a fuller window has no room for a turn and its edit")
    )


SMALL_ZONES: Final = Zones(yellow=400, orange=650)
LARGE_ZONES: Final = Zones(yellow=600, orange=800)


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
        """What a component usually takes of so many tokens in addition to the answer."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPolicy:
    """The tunables of a session's window; the reason of each default stands next to it."""

    __repr__ = short_repr

    eviction: EvictionPolicy = field(
        default=EvictionPolicy.FIFO,
        metadata=_because("on recorded runs no other order kept more of what was needed next"),
    )
    zones: Zones | None = field(
        default=None, metadata=_because("without zones of one's own those of the window's size")
    )
    newest_units: int = field(
        default=4, metadata=_because("messages with their results that an edit leaves whole")
    )
    result_tokens: int | None = field(
        default=None,
        metadata=_because("of an old result; without a number 300, and 600 from 200K on"),
    )
    ledger_share: int | None = field(
        default=None,
        metadata=_because("permille of L for names of what left; else 200, and 250 up to 32K"),
    )
    notes_share: int = field(
        default=100, metadata=_because("permille of L for notes, which are in every request")
    )
    page_tokens: int = field(
        default=4_000, metadata=_because("the most that one rehydration brings; at most L / 5")
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
        for name, least, most in _BOUNDS:
            number = getattr(self, name)
            if number is None and name in ("result_tokens", "ledger_share"):
                continue
            if type(number) is not int or not least <= number <= most:
                raise InvalidInput(
                    f"{name} of a window policy is a number from {least} to {most}, not {number!r}",
                    code="bad_policy",
                )
        if not 0 < self.half_life_turns < inf:
            raise InvalidInput(
                "half_life_turns of a window policy is a number above 0 that ends",
                code="bad_policy",
            )
        if not (0 <= self.result_rate <= 10 and 0 <= self.speech_rate <= 10):
            raise InvalidInput("result_rate and speech_rate are 0 to 10 a turn", code="bad_policy")
        zones = self.zones
        if type(zones) is Zones and not (
            0 < zones.target < zones.edit <= zones.rollover <= 1000
            and 0 < zones.yellow <= zones.orange < zones.red <= zones.rollover
        ):
            raise InvalidInput(
                "zones must rise: yellow <= orange < red <= rollover <= 1000, and "
                f"target < edit <= rollover; they are {zones.yellow}, {zones.orange}, {zones.red}, "
                f"{zones.rollover}, {zones.target} and {zones.edit}",
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

    def result_tokens_of(self, window: int) -> int:
        """Tokens of an old result in a window of so many tokens."""
        if self.result_tokens is not None:
            return self.result_tokens
        return _RESULT_TOKENS[window >= _LARGE_WINDOW]

    def ledger_share_of(self, window: int) -> int:
        """Permille of L for the ledger of a window of so many tokens."""
        if self.ledger_share is not None:
            return self.ledger_share
        return _LEDGER_SHARES[window <= _SMALL_WINDOW]

    def page_tokens_of(self, limit: int) -> int:
        """Tokens of a page of originals where a request may take so many."""
        return max(1, min(self.page_tokens, limit // 5))


@lru_cache(maxsize=64)
def _digest(policy: WindowPolicy) -> str:
    return hashlib.sha256(canonical_json(policy.to_plain()).encode()).hexdigest()


DEFAULT_WINDOW: Final = WindowPolicy()


class AgentProfile(StrEnum):
    """What an agent mostly does."""

    CHAT = "chat"
    """Simple questions and answers."""
    EXPLORATION = "exploration"
    """Long loops of calls, most of which lead nowhere."""
    MIXED = "mixed"
    """Content of very different weight."""
    REPETITIVE = "repetitive"
    """The same outputs, again and again."""
    CRITICAL = "critical"
    """Production, where a wrong eviction is dear."""


AGENT_POLICIES: Final[Mapping[AgentProfile, WindowPolicy]] = FrozenDict(
    {
        AgentProfile.CHAT: WindowPolicy(
            eviction=EvictionPolicy.FIFO, profile=BudgetProfile.SUPPORT
        ),
        AgentProfile.EXPLORATION: WindowPolicy(
            eviction=EvictionPolicy.TYPE_BASED, profile=BudgetProfile.RESEARCH, result_rate=0.3
        ),
        AgentProfile.MIXED: WindowPolicy(eviction=EvictionPolicy.PRIORITY),
        AgentProfile.REPETITIVE: WindowPolicy(
            eviction=EvictionPolicy.SEMANTIC_MERGE, profile=BudgetProfile.CODE_REVIEW
        ),
        AgentProfile.CRITICAL: WindowPolicy(eviction=EvictionPolicy.HYBRID),
    }
)
"""The policy to begin with; `tenure session config --profile` prints it."""

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
_REMOVED: Final = {
    "clear_at_least": "an edit goes down to zones.target at once",
    "grid_tokens": "an edit goes down to zones.target at once",
    "candidates": "every unit is considered",
    "fold_share": "use ledger_share",
    "expected_steps": "an edit begins at zones.edit, whatever it costs",
    "cooldown_steps": "an edit begins at zones.edit, whatever it costs",
    "summary_from": "neighbouring messages are summarised together",
    "result_cap": "a result is shown whole up to a quarter of the window; use result_tokens",
    "max_result_bytes": "it is 64 MB",
}
"""Tunables of earlier builds, and what to do in their place."""


def _members(kind: type[_Group], values: Mapping[str, Any], group: str) -> dict[str, Any]:
    hints = get_type_hints(kind)
    members: dict[str, Any] = {}
    for name, value in values.items():
        if name in _REMOVED:
            raise InvalidInput(
                f"{name} is no tunable any more: {_REMOVED[name]}", code="bad_policy"
            )
        if name not in hints:
            raise unknown(group, str(name), hints)
        if hints[name] in (EvictionPolicy, BudgetProfile, DecayKind):
            members[name] = parse(hints[name], value)
        elif name not in _TABLES:
            members[name] = _number(name, value, hints[name])
    return members


def _number(name: str, value: object, kind: Any) -> object:
    # Whole numbers are floats as well; `yes`, which YAML reads as a truth, is no number.
    kinds = (int, float) if kind is float else (int,)
    is_absent = value is None and kind == int | None
    if type(value) not in kinds and not is_absent:
        raise InvalidInput(
            f"{name} of a window policy is a number, not {value!r}", code="bad_policy"
        )
    return value
