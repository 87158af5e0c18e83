"""The keep-score of units: the lower, the sooner a unit leaves.

One table holds the policies. Each is a function of the same five signals, in permille: recency by
half-lives without a reference, closeness to what is worked on, the worth of the source, how often
later units use its identifiers, and whether others repeat it. One policy weighs what words do in
their place: how dense they are, whether they decide or correct.

Under every policy the order of omission is the same. What is only written differently, and what
stands elsewhere word for word, loses nothing and goes first; then acknowledgements, of which a
tenth counts; then stale units (a call made again, an error put right), of which a quarter counts;
then finished work, by age; and last of all how people said they want it. Checklist C-151.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ..schema.decay import DecayKind, Fading, half_life_of
from ..schema.terms import content_terms
from ..schema.window_policy import EvictionPolicy, WindowPolicy
from .links import overtaken_units
from .state import WindowState
from .units import PartKind, StandingForm, WindowUnit

_WEIGHTS: Final = (300, 250, 200, 150, 100)
"""Recency, semantic closeness, source, reuse, uniqueness; they add up to 1000."""
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
_STALE_SHARE: Final = 4
_ACKNOWLEDGEMENT_SHARE: Final = 10
_PREFERENCE_WORTH: Final = 950
"""Of a preference at least: nothing that comes later says it again."""
_TURN_FACTORS: Final = (200, 250, 250, 150, 150)
"""Density, closeness, recency, decision, correction; they add up to 1000."""
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


_Score = Callable[[Signals], int]


def _hybrid(signals: Signals) -> int:
    recency, semantic, source, reuse, uniqueness = _WEIGHTS
    total = recency * signals.recency + semantic * signals.semantic + source * signals.source
    return (total + reuse * signals.reuse + uniqueness * (1000 - signals.duplication)) // 1000


def _fifo(signals: Signals) -> int:
    return _fading(signals.age, _FIFO_HALF_LIFE)


def _priority(signals: Signals) -> int:
    # An explicit pin, the fifth signal of this policy, keeps a unit out of reach altogether.
    recency, semantic, source, reuse, _ = _WEIGHTS
    total = recency * signals.recency + semantic * signals.semantic + source * signals.source
    return (total + reuse * signals.reuse) // (recency + semantic + source + reuse)


def _semantic_merge(signals: Signals) -> int:
    repeats = signals.duplication >= _MERGE_FROM
    return 0 if repeats else signals.recency


def _type_based(signals: Signals) -> int:
    return max(0, 1000 - 1000 * signals.age // signals.lifetime)


def _relevance_cost(signals: Signals) -> int:
    # Alone among the policies it weighs the size too: (1 - relevance) x tokens leaves first.
    return 1000 - min(1000, (1000 - signals.semantic) * signals.tokens // 2_000)


def _turn_factors(signals: Signals) -> int:
    density, semantic, recency, decision, correction = _TURN_FACTORS
    total = density * signals.density + semantic * signals.semantic + recency * signals.recency
    return (total + 1000 * (decision * signals.decides + correction * signals.corrects)) // 1000


SCORES: Final[Mapping[EvictionPolicy, _Score]] = {
    EvictionPolicy.FIFO: _fifo,
    EvictionPolicy.LRU: lambda signals: signals.recency,
    EvictionPolicy.PRIORITY: _priority,
    EvictionPolicy.SEMANTIC_MERGE: _semantic_merge,
    EvictionPolicy.TYPE_BASED: _type_based,
    EvictionPolicy.HYBRID: _hybrid,
    EvictionPolicy.RELEVANCE_COST: _relevance_cost,
    EvictionPolicy.TURN_FACTORS: _turn_factors,
}
"""The score of each policy, 0 to 1000."""


def keep_scores(
    state: WindowState, policy: WindowPolicy, focus: str, stale: Container[int]
) -> dict[int, int]:
    """The keep-score of every standing unit by number, 1 to 1000.

    `focus` is what to stay close to beside the task and the last user message; `stale` are the
    numbers of units that something later has overtaken.
    """
    score = SCORES[policy.eviction]
    # What the store has overtaken leaves before all others; a call made again is a guess of ours.
    overtaken_numbers = overtaken_units(state.links)

    signals_of = _signals(state, policy, focus)
    scores: dict[int, int] = {}
    for unit in state.units:
        number = unit.number
        worth = score(signals_of[number])
        if number in overtaken_numbers:
            worth = 0
        elif number in stale:
            worth //= _STALE_SHARE
        elif unit.acts.acknowledges:
            worth //= _ACKNOWLEDGEMENT_SHARE
        elif unit.acts.prefers:
            worth = max(worth, _PREFERENCE_WORTH)
        # Never 0: an action on a worthless unit must still cost more than none at all.
        scores[number] = max(1, worth)
    return scores


def _signals(state: WindowState, policy: WindowPolicy, focus: str) -> dict[int, Signals]:
    half_lives = _half_lives(policy)
    # What is worked on now: the task, what the caller stresses, and the newest user message.
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
        kind = _leading_kind(unit)

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


def _half_lives(policy: WindowPolicy) -> dict[PartKind, float]:
    """Half-lives in turns of the kinds of part that have a rate of their own."""
    half_lives: dict[PartKind, float] = {}
    for kind, rate in (
        (PartKind.RESULT, policy.result_rate),
        (PartKind.USER, policy.speech_rate),
    ):
        if rate > 0:
            half_lives[kind] = half_life_of(rate)
    return half_lives


def _leading_kind(unit: WindowUnit) -> PartKind:
    if unit.results:
        return PartKind.RESULT
    return unit.items[0].kind


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

        keys = [(call.content.name, _canonical(call.text)) for call in unit.calls]
        # Only where every call of the unit was made again: a unit is kept or leaves whole.
        if all(key in newest for key in keys):
            failed = any(item.content.is_error for item in unit.results)
            reasons[unit.number] = "error_invalidated" if failed else "superseded"
        for key in keys:
            newest.setdefault(key, unit.number)
    return reasons


def _canonical(arguments: str) -> str:
    return json.dumps(json.loads(arguments), sort_keys=True)


@lru_cache(maxsize=4_096)
def _fading(age: int, half_life: float, curve: DecayKind = DecayKind.HALF_LIFE) -> int:
    return round(1000 * _CURVES[curve].strength(age / half_life))


def _share(part: int, total: int) -> int:
    return part * 1000 // total if total else 0
