"""Who takes how much of a window: six components, their usual shares, and how long it lasts.

Components only warn, at four fifths of their share; what blocks is the limit of the window alone,
because a request is refused as a whole and never by one of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..schema.window_shares import BudgetShares
from .pressure import Pressure
from .state import WindowState
from .units import PartKind


class WindowComponent(StrEnum):
    """What takes tokens of a window, beside the reserve for the answer."""

    SYSTEM_PROMPT = "system_prompt"
    TOOL_DEFINITIONS = "tool_definitions"
    MESSAGE_HISTORY = "message_history"
    TOOL_RESULTS = "tool_results"
    MEMORY_INJECTION = "memory_injection"


_SOFT: Final = 800
"""Permille of its share from which a component warns."""


@dataclass(frozen=True, slots=True)
class ComponentUse:
    """What one component takes."""

    component: WindowComponent
    tokens: int
    share: int
    """Tokens that it usually takes at most."""
    warns: bool


def component_uses(state: WindowState, shares: BudgetShares) -> tuple[ComponentUse, ...]:
    """What each component takes of a window now, beside its usual share."""
    items = [item for unit in state.units for item in unit.items]
    results = sum(item.tokens for item in items if item.kind is PartKind.RESULT)
    history = sum(item.tokens for item in items) - results
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
        uses.append(ComponentUse(component, load, share, load * 1000 >= _SOFT * share))
    return tuple(uses)


def exhaustion_turns(reading: Pressure) -> int | None:
    """Turns until the window is full at the present velocity; None while nothing grows."""
    if reading.velocity <= 0:
        return None
    return max(0, reading.limit - reading.tokens) // reading.velocity
