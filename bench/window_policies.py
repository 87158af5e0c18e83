"""The policies that `bench_window.py` compares: ours, and what others do, in the same terms.

A baseline edits at its trigger, a part of the limit that the bench chooses. Its edit is an event as
ours is, so every request is counted, checked and asked in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from tenure.bench.summary_script import Saying
from tenure.schema.window_policy import WindowPolicy
from tenure.window.changes import UnitChange
from tenure.window.editing import EditPlan, due_edit
from tenure.window.events import EditReason
from tenure.window.folding import reachable_units
from tenure.window.forms import placeholder
from tenure.window.state import WindowState
from tenure.window.units import PartKind, StandingForm, WindowUnit

Policy = Callable[[WindowState, float], "EditPlan | None"]
Summariser = Callable[[Iterable[Saying]], str]

SUMMARY = "summary"
"""Why a unit changed that a summariser was asked about: its calls are in the cost."""
_CLEARED_TOKENS = 10
"""What stands for a cleared result."""
_KEPT_RESULTS = 3
_KEPT_UNITS = 5
_SPEAKERS = {
    PartKind.USER: "user",
    PartKind.CALL: "call",
    PartKind.RESULT: "tool",
    PartKind.NOTE: "summary",
}


def ours(state: WindowState, scale: float) -> EditPlan | None:
    """The window of tenure, as a session runs it."""
    return due_edit(state, WindowPolicy())


def none(state: WindowState, scale: float) -> EditPlan | None:
    """Nothing is ever taken out."""
    return None


def truncation(state: WindowState, scale: float) -> EditPlan | None:
    """The oldest units leave as soon as the trigger is passed, just enough of them."""
    return _without_oldest(state, state.tokens - scale * state.limit)


def sliding_window(state: WindowState, scale: float) -> EditPlan | None:
    """At the trigger everything but the newest half of it leaves."""
    if state.tokens <= scale * state.limit:
        return None
    return _without_oldest(state, state.tokens - scale * state.limit / 2)


def _without_oldest(state: WindowState, excess: float) -> EditPlan | None:
    changes: list[UnitChange] = []
    for unit in reachable_units(state):
        if excess <= 0:
            break
        changes.append(_changed(unit, StandingForm.TOMBSTONE, {}, unit.tokens))
        excess -= unit.tokens
    return EditPlan(EditReason.PRESSURE, tuple(changes)) if changes else None


def clear_tool_uses(state: WindowState, scale: float) -> EditPlan | None:
    """The provider's rule: at the trigger old tool results are cleared, three are kept.

    Where that is not enough, the oldest units leave: a request over the window is refused.
    """
    if state.tokens <= scale * state.limit:
        return None

    changes: list[UnitChange] = []
    for unit in _whole_results(state)[:-_KEPT_RESULTS]:
        texts = {result.seq: "[cleared]" for result in unit.results}
        before = sum(result.tokens for result in unit.results)
        savings = before - _CLEARED_TOKENS * len(texts)
        changes.append(_changed(unit, StandingForm.EXTERNAL, texts, savings))
    if not changes:
        return truncation(state, scale)
    return EditPlan(EditReason.PRESSURE, tuple(changes))


def _whole_results(state: WindowState) -> list[WindowUnit]:
    units: list[WindowUnit] = []
    for unit in reachable_units(state):
        if unit.results and unit.form is StandingForm.FULL:
            units.append(unit)
    return units


def placeholders(state: WindowState, scale: float) -> EditPlan | None:
    """As the provider's rule, with an address in the place of each result."""
    plan = clear_tool_uses(state, scale)
    if plan is None or plan.changes[0].form is StandingForm.TOMBSTONE:
        return plan

    changes: list[UnitChange] = []
    for change in plan.changes:
        texts = {seq: placeholder(seq, change.savings, "tool") for seq in change.texts}
        unit = state.standing(change.unit)
        changes.append(_changed(unit, StandingForm.EXTERNAL, texts, change.savings))
    return EditPlan(EditReason.PRESSURE, tuple(changes))


ADDRESSING = (ours, placeholders)
"""The policies that say where the original of what left is."""


def summarise_all(summarise: Summariser) -> Policy:
    """One summary of everything before the newest five units.

    It leaves no address. What its summariser was asked for and wrote is in the cost.
    """

    def edit(state: WindowState, scale: float) -> EditPlan | None:
        if state.tokens <= scale * state.limit:
            return None
        units = [unit for unit in reachable_units(state)[:-_KEPT_UNITS] if not unit.open_calls]
        if len(units) < 2:
            return truncation(state, scale)

        first, last = units[0], units[-1]
        text = summarise(_sayings(units))
        savings = sum(unit.tokens for unit in units) - state.count(text)
        change = _changed(first, StandingForm.EXTRACT, {first.number: text}, savings)
        last_number = last.last_number or last.number
        return EditPlan(
            EditReason.PRESSURE, (replace(change, last_unit=last_number, reason=SUMMARY),)
        )

    return edit


def _sayings(units: Iterable[WindowUnit]) -> Iterator[Saying]:
    """Units as a summariser reads them."""
    for unit in units:
        for item in unit.items:
            yield Saying(_SPEAKERS.get(item.kind, "assistant"), item.text)


def summary_tokens(state: WindowState, plan: EditPlan) -> tuple[int, int]:
    """What the call that wrote a summary read, and what it wrote; nothing where none was made."""
    change = plan.changes[0]
    if change.reason != SUMMARY:
        return 0, 0
    span = range(change.unit, change.last_unit + 1)
    read = sum(unit.tokens for unit in state.units if unit.number in span)
    return read, state.count(change.texts[change.unit])


def _changed(
    unit: WindowUnit, form: StandingForm, texts: Mapping[int, str], savings: int
) -> UnitChange:
    return UnitChange(
        unit=unit.number,
        last_unit=unit.last_number or unit.number,
        turn=unit.turn,
        form=form,
        texts=texts,
        savings=savings,
        keep=1,
        reason="baseline",
        fidelity=0,
    )
