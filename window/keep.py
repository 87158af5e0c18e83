"""The keep-score of units, and the order in which they leave.

One table holds the policies. Each is a function of the same signals, in permille: recency by
half-lives without a reference, closeness to what is worked on, the worth of the source, how often
later units use its identifiers, and whether others repeat it. The default goes by age alone: on
recorded runs no other order kept more of what was needed next.

Under every policy some units leave first: what the store has overtaken, then calls that were made
again, then acknowledgements; and some leave last: decisions, corrections and wishes. Checklist
C-151.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import isqrt
from typing import Final

from ..schema.layers import DecayKind, Fading, half_life_of
from ..schema.terms import content_terms
from ..schema.window_policy import EvictionPolicy, WindowPolicy
from .links import spent_units
from .state import WindowState
from .units import PartKind, StandingForm, WindowUnit

_SOURCE: Final = {
    PartKind.USER: 1000,
    PartKind.ASSISTANT: 600,
    PartKind.RESULT: 400,
    PartKind.NOTE: 300,
    PartKind.THINKING: 100,
}
_LIFETIMES: Final = {
    PartKind.RESULT: 8,
    PartKind.NOTE: 20,
    PartKind.ASSISTANT: 30,
    PartKind.THINKING: 2,
}
"""Turns after which a kind of part is old, for the policy by type; 50 for the others."""
_LIFETIME: Final = 50
_FIFO_HALF_LIFE: Final = 10.0
_MERGE_FROM: Final = 850
"""Permille of repeated terms from which the merging policy lets a unit go."""
_CURVES: Final = {kind: Fading(kind) for kind in DecayKind}


@dataclass(frozen=True, slots=True)
class Signals:
    """What the policies weigh, of one unit; shares in permille."""

    age: int
    """Turns since it came."""
    idle: int
    """Turns since an identifier of it was last used."""
    recency: int
    semantic: int
    source: int
    reuse: int
    duplication: int
    """Share of its terms that later units hold too."""
    tokens: int
    lifetime: int
    """Turns that its kind usually stays useful."""
    density: int = 0
    """Distinct terms a token: what a text says for its length."""
    decides: bool = False
    corrects: bool = False

    @property
    def uniqueness(self) -> int:
        """Share of its terms that no later unit holds."""
        return 1000 - self.duplication

    @property
    def worth(self) -> int:
        """What a decision and a correction add, each half."""
        return 500 * (self.decides + self.corrects)


_Score = Callable[[Signals], int]


@lru_cache(maxsize=4_096)
def _fading(age: int, half_life: float, curve: DecayKind = DecayKind.HALF_LIFE) -> int:
    return round(1000 * _CURVES[curve].strength(age / half_life))


def _mean_score(**weights: int) -> _Score:
    """The mean of signals by their weights."""
    total = sum(weights.values())
    return lambda signals: sum(getattr(signals, name) * w for name, w in weights.items()) // total


def _semantic_merge(signals: Signals) -> int:
    repeats = signals.duplication >= _MERGE_FROM
    return 0 if repeats else signals.recency


SCORES: Final[Mapping[EvictionPolicy, _Score]] = {
    EvictionPolicy.FIFO: lambda signals: _fading(signals.age, _FIFO_HALF_LIFE),
    EvictionPolicy.LRU: lambda signals: signals.recency,
    # An explicit pin, the fifth signal of this policy, keeps a unit out of reach altogether.
    EvictionPolicy.PRIORITY: _mean_score(recency=300, semantic=250, source=200, reuse=150),
    EvictionPolicy.SEMANTIC_MERGE: _semantic_merge,
    EvictionPolicy.TYPE_BASED: lambda signals: max(
        0, 1000 - 1000 * signals.age // signals.lifetime
    ),
    EvictionPolicy.HYBRID: _mean_score(
        recency=300, semantic=250, source=200, reuse=150, uniqueness=100
    ),
    # Alone among the policies it weighs the size too: (1 - relevance) x tokens leaves first.
    EvictionPolicy.RELEVANCE_COST: lambda signals: (
        1000 - min(1000, (1000 - signals.semantic) * signals.tokens // 2_000)
    ),
    EvictionPolicy.TURN_FACTORS: _mean_score(density=200, semantic=250, recency=250, worth=300),
}
"""The score of each policy, 0 to 1000."""


def keep_scores(
    state: WindowState, policy: WindowPolicy, focus: str, stale: Container[int]
) -> dict[int, int]:
    """The keep-score of every unit in the window by number, 1 to 1000.

    `focus` is what to stay close to, with the task and the last user message; a unit that shares a
    term with it counts as used now. `stale` are the numbers of units that something has overtaken.
    """
    score = SCORES[policy.eviction]
    # For the default no text needs to be looked at.
    is_by_age = policy.eviction is EvictionPolicy.FIFO
    signals = {} if is_by_age else _signals(state, policy, focus)
    scores: dict[int, int] = {}
    for unit in state.units:
        number = unit.number
        age = state.turn - unit.turn
        worth = _fading(age, _FIFO_HALF_LIFE) if is_by_age else score(signals[number])
        scores[number] = 1 if number in stale else max(1, min(1000, worth))
    return scores


class _Group(IntEnum):
    """In which group a unit leaves, whatever its score."""

    SPENT = 0
    """The store has overtaken what it states."""
    STALE = 1
    """A call made again."""
    ACKNOWLEDGEMENT = 2
    ORDINARY = 3
    FOCUS = 4
    """It is about what the caller asked to stay close to."""


def leaving_order(
    state: WindowState, scores: Mapping[int, int], stale: Container[int], focus: str
) -> list[WindowUnit]:
    """All units in the order in which they leave; of equal scores the older one first."""
    spent = spent_units(state.links)
    terms = content_terms(focus)
    ranks: dict[int, tuple[int, int]] = {}
    for unit in state.units:
        group, score = _Group.ORDINARY, scores.get(unit.number, 1000)
        if unit.number in spent:
            group = _Group.SPENT
        elif terms and terms & unit.terms:
            group = _Group.FOCUS
        elif unit.number in stale:
            group = _Group.STALE
        elif unit.acts.acknowledges:
            group = _Group.ACKNOWLEDGEMENT
        elif unit.is_user and unit.acts.is_weighty:
            # As if it were half as old. With a group of its own it would never leave.
            score = isqrt(1000 * score)
        ranks[unit.number] = (group, score)
    return sorted(state.units, key=lambda unit: (*ranks[unit.number], unit.number))


def _signals(state: WindowState, policy: WindowPolicy, focus: str) -> dict[int, Signals]:
    rates = {PartKind.RESULT: policy.result_rate, PartKind.USER: policy.speech_rate}
    half_lives = {kind: half_life_of(rate) for kind, rate in rates.items() if rate > 0}
    newest = next((unit.text for unit in reversed(state.units) if unit.is_user), "")
    focus_terms = content_terms(" ".join([state.task, state.goal, focus, newest]))

    # Walked from the newest to the oldest: what later units hold is known when a unit is met.
    later_terms: set[str] = set()
    last_use: dict[str, int] = {}
    uses: Counter[str] = Counter()
    signals: dict[int, Signals] = {}
    for unit in reversed(state.units):
        unit_terms = unit.terms
        names = unit.identifiers
        last_turn, reuse = unit.turn, 0
        for name in names:
            last_turn = max(last_turn, last_use.get(name, unit.turn))
            reuse = max(reuse, uses[name])
        kind = PartKind.RESULT if unit.results else unit.items[0].kind

        # Terms that later units hold too can be read there; this unit alone loses little.
        repeats = len(unit_terms & later_terms)
        idle = state.turn - last_turn
        signals[unit.number] = Signals(
            age=state.turn - unit.turn,
            idle=idle,
            recency=_fading(idle, half_lives.get(kind, policy.half_life_turns), policy.fading),
            semantic=_share(len(unit_terms & focus_terms), min(len(focus_terms), len(unit_terms))),
            source=_SOURCE.get(kind, 500),
            reuse=min(1000, 250 * reuse),
            duplication=_share(repeats, len(unit_terms)),
            tokens=unit.tokens,
            lifetime=_LIFETIMES.get(kind, _LIFETIME),
            density=min(1000, _share(len(unit_terms), unit.tokens)),
            decides=unit.acts.decides,
            corrects=unit.acts.corrects,
        )

        later_terms.update(unit_terms)
        for name in names:
            last_use.setdefault(name, unit.turn)
            uses[name] += 1
    return signals


def stale_units(units: Sequence[WindowUnit]) -> dict[int, str]:
    """The units whose results the log itself has overtaken, with the reason.

    A call made again with the same arguments supersedes its earlier result; when the earlier one
    was an error, the error is invalidated. Nothing is guessed from the words.
    """
    newest: dict[tuple[str, str], int] = {}
    reasons: dict[int, str] = {}
    for unit in reversed(units):
        if unit.form is not StandingForm.FULL or not unit.calls or unit.open_calls:
            continue

        keys: list[tuple[str, str]] = []
        for call in unit.calls:
            keys.append((call.content.name, json.dumps(json.loads(call.text), sort_keys=True)))
        # Only where every call of the unit was made again: a unit is kept or leaves whole.
        if all(key in newest for key in keys):
            failed = any(item.content.is_error for item in unit.results)
            reasons[unit.number] = "error_invalidated" if failed else "superseded"
        for key in keys:
            newest.setdefault(key, unit.number)
    return reasons


def _share(part: int, total: int) -> int:
    return part * 1000 // total if total else 0
