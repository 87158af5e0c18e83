"""Who takes how much of a window: six components, their usual shares, and how long it lasts.

Components only warn, at four fifths of their share; what blocks is the limit of the window alone,
because a request is refused as a whole and never by one of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..schema.window_policy import WindowPolicy
from ..schema.window_shares import BudgetShares
from .health import AlertLevel
from .pressure import Pressure
from .state import WindowState
from .units import StandingForm, WindowUnit, numbers_of, tokens_in


class WindowComponent(StrEnum):
    """What takes tokens of a window, beside the reserve for the answer."""

    SYSTEM_PROMPT = "system_prompt"
    TOOL_DEFINITIONS = "tool_definitions"
    MESSAGE_HISTORY = "message_history"
    TOOL_RESULTS = "tool_results"
    MEMORY_INJECTION = "memory_injection"


_SOFT: Final = 800
"""Permille of its share from which a component warns."""
_BURN_TURNS: Final = 5
_CRITICAL_TURNS: Final = 3
_WARNING_TURNS: Final = 10
_NEW_WINDOW: Final = 4
"""The part of the history's budget that whole turns take at the start of a new window."""
_LEAST_RESULT: Final = 500
"""Tokens of a result that stand in full however little room is left."""


@dataclass(frozen=True, slots=True)
class ComponentUse:
    """What one component takes."""

    component: WindowComponent
    tokens: int
    share: int
    """Tokens that it usually takes at most."""
    warns: bool
    burn: int = 0
    """Tokens that it grew by a turn, over the last five turns."""


def component_uses(state: WindowState, shares: BudgetShares) -> tuple[ComponentUse, ...]:
    """What each component takes of a window now, beside its usual share."""
    results, history = _loads(state.units)
    young_units = [unit for unit in state.units if unit.turn > state.turn - _BURN_TURNS]
    young_results, young_history = _loads(young_units)
    turns = max(1, min(_BURN_TURNS, state.turn))
    burns = {
        WindowComponent.MESSAGE_HISTORY: young_history // turns,
        WindowComponent.TOOL_RESULTS: young_results // turns,
    }
    tools = state.count(state.tools) if state.tools else 0
    tokens = {
        WindowComponent.SYSTEM_PROMPT: state.fixed_tokens - tools,
        WindowComponent.TOOL_DEFINITIONS: tools,
        WindowComponent.MESSAGE_HISTORY: history,
        WindowComponent.TOOL_RESULTS: results,
        WindowComponent.MEMORY_INJECTION: state.memory_tokens,
    }

    uses: list[ComponentUse] = []
    for component, load in tokens.items():
        share = shares.tokens(component.value, state.limit)
        warns = load * 1000 >= _SOFT * share
        # The other components are stated once: they do not grow from turn to turn.
        uses.append(ComponentUse(component, load, share, warns, burns.get(component, 0)))
    return tuple(uses)


def _loads(units: Iterable[WindowUnit]) -> tuple[int, int]:
    """Tokens of results, and of everything else that stands in units."""
    results = history = 0
    for unit in units:
        share = tokens_in(unit.results)
        results += share
        history += unit.tokens - share
    return results, history


def urgency_of(turns: int | None) -> AlertLevel | None:
    """How urgent it is that a window will be full in so many turns; None where it is not."""
    if turns is None or turns >= _WARNING_TURNS:
        return None
    return AlertLevel.CRITICAL if turns < _CRITICAL_TURNS else AlertLevel.WARNING


def full_turns(budget: int, mean_turn: int) -> int:
    """k*: how many of the newest turns of a mean size a budget holds in full.

    >>> full_turns(81_000, 600)
    135
    """
    return budget // max(1, mean_turn)


def history_budget(state: WindowState, policy: WindowPolicy) -> int:
    """Tokens that an edit leaves to the history: its target without what is stated once."""
    target = policy.zones_of(state.window).target * state.limit // 1000
    return max(0, target - state.fixed_tokens - state.memory_tokens)


def full_zone(state: WindowState, policy: WindowPolicy) -> frozenset[int]:
    """The units of the newest turns with which a new window begins in full.

    These are k* turns of the mean size by a quarter of the history's budget, because a new window
    begins at half of the target and shares that with the folds of older turns; fewer, where the
    newest turns are larger than most. Checklist C-171.
    """
    budget = history_budget(state, policy) // _NEW_WINDOW
    sizes: dict[int, int] = {}
    for unit in state.units:
        if unit.form is StandingForm.FULL:
            sizes[unit.turn] = sizes.get(unit.turn, 0) + unit.tokens
    mean = sum(sizes.values()) // max(1, len(sizes))

    turns: set[int] = set()
    for turn in sorted(sizes, reverse=True)[: full_turns(budget, mean)]:
        budget -= sizes[turn]
        if budget < 0:
            break
        turns.add(turn)
    return frozenset(numbers_of(unit for unit in state.units if unit.turn in turns))


def result_threshold(state: WindowState, cap: int) -> int:
    """Tokens above which a result stands in its short form from the start.

    It follows what is left of the window: half of the free room at most, a quarter of L in an
    empty one, and never less than a short result takes.
    """
    room = max(0, state.limit - state.tokens)
    return min(cap, state.limit // 4, max(_LEAST_RESULT, room // 2))


def exhaustion_turns(reading: Pressure) -> int | None:
    """Turns until the window is full at the present velocity; None while nothing grows."""
    if reading.velocity <= 0:
        return None
    return max(0, reading.limit - reading.tokens) // reading.velocity
