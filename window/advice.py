"""Evict, compress or delegate: along which axis a window is kept small, and what a session learns.

The decision table has one row an axis, the most harmful first. Delegation is only advised: whether
work can go to another agent is for whoever runs the agents to say. Advice on shares waits for ten
sessions, because a budget that is tuned on one run is tuned on its accidents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .budget import ComponentUse, WindowComponent
from .changes import UnitChange, savings_of
from .state import WindowState
from .units import StandingForm, tokens_in

DELEGATE_FROM: Final = 50_000
"""Tokens of one turn's work from which a window of its own is the cheaper place for it."""
SESSIONS_FOR_ADVICE: Final = 10
_COMPRESSED_FORMS: Final = frozenset({StandingForm.EXTRACT, StandingForm.SUMMARY})
_LEAST_RESERVE: Final = 4_096


class WindowAxis(StrEnum):
    """What keeps a window small."""

    NONE = "none"
    """There is nothing to do."""
    EVICT = "evict"
    """Results stand shortened, or units leave, under their addresses."""
    COMPRESS = "compress"
    """Units stand as folds or summaries."""
    DELEGATE = "delegate"
    """The work of this turn would fit better into a window of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """What one edit came to, over all units that it changed."""

    strategy: StandingForm
    """The form that freed most."""
    original: int
    """Tokens of the changed units before."""
    compressed: int
    """Tokens of what stands for them."""
    fidelity: int
    """Permille of their facts that still stand, weighed by what each change freed."""
    calls: int
    """Calls of a model whose answers were used; all other forms need none."""

    @property
    def saved_share(self) -> int:
        """Permille of the original that was freed."""
        return 1000 * (self.original - self.compressed) // max(1, self.original)

    @property
    def factor(self) -> int:
        """How many times shorter it stands, times a thousand."""
        return 1000 * self.original // max(1, self.compressed)


def axis_of(state: WindowState, changes: Iterable[UnitChange]) -> WindowAxis:
    """The axis of a decision, by the table: first the work that belongs elsewhere."""
    if turn_work(state) > DELEGATE_FROM:
        return WindowAxis.DELEGATE

    forms = {change.form for change in changes}
    if forms & _COMPRESSED_FORMS:
        return WindowAxis.COMPRESS
    return WindowAxis.EVICT if forms else WindowAxis.NONE


def turn_work(state: WindowState) -> int:
    """Tokens of the calls and results of the turn that runs."""
    tokens = 0
    for unit in reversed(state.units):
        if unit.turn < state.turn:
            break
        if unit.calls:
            tokens += unit.full_tokens or unit.tokens
    return tokens


def compression_result(
    before: WindowState, changes: Sequence[UnitChange]
) -> CompressionResult | None:
    """What an edit came to; None for one that changed nothing."""
    if not changes:
        return None

    # A long session has thousands of units and an edit hundreds of changes: each is walked once.
    changed_numbers: set[int] = set()
    for change in changes:
        changed_numbers.update(range(change.unit, change.last_unit + 1))
    original = tokens_in(unit for unit in before.units if unit.number in changed_numbers)
    savings = savings_of(changes)

    # A change that frees nothing counts too: the weights must not sum to nothing.
    total_weight = 0
    total_fidelity = 0
    forms: list[StandingForm] = []
    for change in changes:
        forms.append(change.form)
        weight = max(1, change.savings)
        total_weight += weight
        total_fidelity += change.fidelity * weight

    return CompressionResult(
        strategy=max(changes, key=lambda change: change.savings).form,
        original=original,
        compressed=max(0, original - savings),
        fidelity=total_fidelity // total_weight,
        calls=forms.count(StandingForm.SUMMARY),
    )


def tuning_advice(
    uses: Iterable[ComponentUse], state: WindowState, sessions: int
) -> tuple[str, ...]:
    """What to change in the policy by what this session shows; nothing before ten sessions."""
    if sessions < SESSIONS_FOR_ADVICE:
        return ()

    advice: list[str] = []
    if state.window - state.limit < _LEAST_RESERVE:
        advice.append("reserve 4096 tokens for the answer at least: reserve_tokens=4096")
    for use in uses:
        if use.warns and use.component in _ADVICE:
            advice.append(_ADVICE[use.component])
    return tuple(advice)


_ADVICE: Final = {
    WindowComponent.TOOL_RESULTS: "results fill their share: give them 15 to 20 per cent "
    "(profile code_review), or lower result_cap",
    WindowComponent.TOOL_DEFINITIONS: "tools fill their share: offer fewer of them to one agent",
    WindowComponent.MESSAGE_HISTORY: "talk fills its share: give it 70 per cent (profile support), "
    "or conclude finished work",
    WindowComponent.MEMORY_INJECTION: "what the store brings fills its share: lower memory_share, "
    "or take the profile research",
    WindowComponent.SYSTEM_PROMPT: "the instructions fill their share: shorten them",
}
"""What helps where a component stands at four fifths of its share."""
