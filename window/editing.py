"""When a window is edited, and what the edit does.

Between edits a window only grows, so the provider's cached prefix holds. An edit rebuilds what
stands behind its first change, so it is made when a limit demands it, or when the freed tokens
save more over the next steps than the rebuilt suffix costs. It then goes down to the target at
once. Which units change, and into which form, is the cheapest choice by keep-score times loss.

Out of reach are pins, units with an open call, the newest model message with its results, and the
newest user message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ..compiler.tokens.capabilities import capability
from ..schema.window_policy import EvictionPolicy, WindowPolicy
from .budget import full_zone
from .changes import (
    LEAST_LOSS,
    TOMBSTONE_TOKENS,
    UnitChange,
    departure,
    occurrences,
    savings_of,
)
from .choice import UnitAction, choose
from .events import EditReason
from .folding import fold_room, folds_of_folds, members_of, reachable, with_folds
from .forms import FoldRoom
from .keep import stale_units
from .links import overtaken_units, spent_units
from .pressure import Pressure, Zone
from .state import WindowState
from .subsystems import BUILT_IN, Subsystems, unit_forms, unit_scores
from .units import LOSS, StandingForm, WindowUnit, tokens_in

_STEPS_WITHOUT_DATA: Final = 10
_FEWEST_CELLS: Final = 512
"""Cells of the knapsack's grid at least, so that small windows are cut finely."""
_LADDER: Final = tuple(StandingForm)


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What an edit will do."""

    reason: EditReason
    changes: tuple[UnitChange, ...]

    @property
    def savings(self) -> int:
        """Tokens that all changes free."""
        return savings_of(self.changes)

    @property
    def body(self) -> dict[str, Any]:
        """The body of its event; the texts stand beside it, in the same order."""
        lines: list[dict[str, Any]] = []
        for change in self.changes:
            line = {
                "unit": change.unit,
                "last": change.last_unit,
                "turn": change.turn,
                "form": change.form.value,
                "of": list(change.texts),
                "freed": change.savings,
                "keep": change.keep,
                "why": change.reason,
                "fidelity": change.fidelity,
            }
            if change.fold_level > 1:
                line["level"] = change.fold_level
            lines.append(line)
        return {"reason": self.reason.value, "changes": lines}

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its event."""
        texts: list[str] = []
        for change in self.changes:
            texts += change.texts.values()
        return tuple(texts)


class EditWish(NamedTuple):
    """What whoever asks for an edit says about it."""

    focus: str = ""
    """What to stay close to beside the task and the last user message."""
    keep: AbstractSet[int] = frozenset()
    """Units to leave alone this time, beside the pins."""


NO_WISH: Final = EditWish()


def due_edit(
    state: WindowState, policy: WindowPolicy, subsystems: Subsystems = BUILT_IN
) -> EditPlan | None:
    """The edit that a window needs now, None for none."""
    reading = subsystems.pressure.read(state, policy)
    if reading.rollover:
        return planned_edit(state, policy, EditReason.ROLLOVER, subsystems=subsystems)
    if reading.zone in (Zone.ORANGE, Zone.RED):
        plan = planned_edit(state, policy, EditReason.PRESSURE, subsystems=subsystems)
        return plan if plan and plan.savings >= _smallest_edit(state, policy) else None

    cooling = state.last_edit_step is not None and (
        state.step - state.last_edit_step < policy.cooldown_steps
    )
    # Within a turn the cached prefix is read again in seconds, so a price waits for the next one.
    # It also spares the plan, the dearest part of a hook, after each result of a tool.
    between_turns = bool(state.units) and state.units[-1].is_user
    if reading.zone is Zone.GREEN or cooling or not between_turns:
        return None

    # A plan is the dearest part of a hook, so the price is asked first: of the edit that frees no
    # more than it must and rebuilds all that it can reach. Where that pays, the plan pays, too.
    oldest = next(reachable(state), state.units[-1])
    excess = _tokens_to_free(state, policy)
    if not _pays(state, excess, _suffix(state, oldest.number), reading, policy):
        return None

    plan = planned_edit(state, policy, EditReason.PRICE, subsystems=subsystems)
    pays = plan and _pays(
        state, plan.savings, _suffix(state, plan.changes[0].unit), reading, policy
    )
    return plan if pays else None


def _suffix(state: WindowState, number: int) -> int:
    """Tokens behind a unit: what a provider reads anew when it changes."""
    return tokens_in(unit for unit in state.units if unit.number > number)


def _tokens_to_free(state: WindowState, policy: WindowPolicy, deepening: int = 1) -> int:
    """Tokens of units above the target, or above a part of it."""
    target = policy.zones_of(state.window).target * state.limit // (1000 * deepening)
    # The load is corrected by the provider's count, the tokens of units are not.
    return (state.tokens - target) * 1000 // state.correction


def planned_edit(
    state: WindowState,
    policy: WindowPolicy,
    reason: EditReason,
    *,
    wish: EditWish = NO_WISH,
    subsystems: Subsystems = BUILT_IN,
) -> EditPlan | None:
    """The least harmful edit down to the target, None where nothing can or need be freed.

    Raises:
        InvalidInput: `bad_subsystem`, for forms of another unit than the one that was asked about.
    """
    if _tokens_to_free(state, policy, _deepening(reason)) <= 0:
        return None

    if reason is EditReason.ROLLOVER:
        # The next window begins with the newest turns in full, where the others can make room.
        newest = full_zone(state, policy)
        plan = _plan(state, policy, reason, wish._replace(keep=wish.keep | newest), subsystems)
        if plan and plan.savings >= _tokens_to_free(state, policy, _deepening(reason)):
            return plan
    return _plan(state, policy, reason, wish, subsystems)


def _deepening(reason: EditReason) -> int:
    """Into how many parts the target is cut for a reason; an edit goes down to one of them."""
    # A new window starts with room, or the next one would follow at once.
    return 2 if reason is EditReason.ROLLOVER else 1


def _plan(
    state: WindowState,
    policy: WindowPolicy,
    reason: EditReason,
    wish: EditWish,
    subsystems: Subsystems,
) -> EditPlan | None:
    """The least harmful edit that leaves alone what a wish names."""
    stale = stale_units(state.units) | overtaken_units(state.links)
    scores = unit_scores(subsystems.eviction, state, policy, wish.focus, stale)
    merging = policy.eviction is EvictionPolicy.SEMANTIC_MERGE
    recurrences = occurrences(state, fold_room(state, policy), merging=merging)

    # Folds of folds lose less than folds that leave, so they come before any choice.
    frontier = folds_of_folds(state, recurrences, wish.keep)
    merge_numbers = members_of(frontier)
    need = _tokens_to_free(state, policy, _deepening(reason))
    for merge in frontier:
        need -= merge.change.savings

    units: list[WindowUnit] = []
    for unit in reachable(state):
        if unit.number not in wish.keep and unit.number not in merge_numbers:
            units.append(unit)
    candidates = _candidates(state, units, scores, policy.candidates)

    options: list[list[UnitChange]] = []
    for unit in candidates:
        cause = stale.get(unit.number, LEAST_LOSS)
        forms = subsystems.compression.forms(state, unit, scores[unit.number], cause, recurrences)
        options.append(unit_forms(unit, forms))

    choice = _with_spent_units(state, _cheapest(options, need, policy), options)
    if not choice and not frontier:
        return None
    return EditPlan(reason, with_folds(state, choice, recurrences, frontier, wish.keep))


def _candidates(
    state: WindowState, units: Sequence[WindowUnit], scores: Mapping[int, int], most: int
) -> list[WindowUnit]:
    """The units that an edit considers, oldest first."""
    # The table of the choice grows with units times tokens, so only the least worth a token enter.
    first_numbers = spent_units(state.links)
    by_worth = sorted(
        units,
        key=lambda unit: (
            unit.number not in first_numbers,
            scores[unit.number] * 1000 // unit.tokens,
        ),
    )
    return sorted(by_worth[:most], key=lambda unit: unit.number)


def _with_spent_units(
    state: WindowState, changes: Sequence[UnitChange], options: Sequence[Sequence[UnitChange]]
) -> tuple[UnitChange, ...]:
    """The changes with the units that state nothing which still holds, however little they free."""
    chosen_units = {change.unit for change in changes}
    missing_units = spent_units(state.links) - chosen_units

    additions: list[UnitChange] = []
    for row in options:
        if row and row[0].unit in missing_units:
            additions.append(max(row, key=lambda change: change.savings))
    return tuple(sorted([*changes, *additions], key=lambda change: change.unit))


def _cheapest(
    options: Sequence[Sequence[UnitChange]], need: int, policy: WindowPolicy
) -> tuple[UnitChange, ...]:
    """The changes of least loss that free what is needed, or all that can be freed."""
    actions: list[list[UnitAction]] = []
    for changes in options:
        row: list[UnitAction] = []
        for key, change in enumerate(changes):
            # The ladder breaks ties: of two forms that lose the same, the one easier to take back.
            loss = change.keep * LOSS[change.form] * len(_LADDER) + _LADDER.index(change.form)
            row.append(UnitAction(key, change.savings, loss))
        actions.append(row)

    # A small window frees little at a time; a coarse grid would round most of it down to nothing.
    grid = max(1, min(policy.grid_tokens, need // _FEWEST_CELLS))
    return tuple(options[position][key] for position, key in choose(actions, need, grid))


def everything_that_can_go(state: WindowState) -> EditPlan | None:
    """The last resort: every unit within reach leaves, and a line stands for it."""
    changes: list[UnitChange] = []
    for unit in reachable(state):
        changes.append(departure(unit, 1, "overflow", TOMBSTONE_TOKENS))
    return EditPlan(EditReason.OVERFLOW, tuple(changes)) if changes else None


def concluding_edit(state: WindowState, since: int) -> EditPlan | None:
    """The edit that folds finished work, from a turn on; None where nothing of it can be folded.

    What was concluded is kept elsewhere, so the folds hold no prose: what people and calls named,
    and the address of the originals.
    """
    changes: list[UnitChange] = []
    for unit in reachable(state):
        if unit.turn >= since and unit.form is not StandingForm.EXTRACT:
            change = departure(unit, 1, "concluded", TOMBSTONE_TOKENS)
            changes.append(replace(change, form=StandingForm.EXTRACT))
    if not changes:
        return None

    recurrences = occurrences(state, FoldRoom.SCARCE)
    folds = with_folds(state, changes, recurrences)
    return EditPlan(EditReason.CONCLUSION, folds)


def _smallest_edit(state: WindowState, policy: WindowPolicy) -> int:
    """The fewest tokens worth an edit that no limit demands."""
    return min(max(policy.clear_at_least, state.limit // 20), state.tokens // 2)


def _pays(
    state: WindowState, savings: int, suffix: int, reading: Pressure, policy: WindowPolicy
) -> bool:
    """Whether an edit saves more reads than the rebuilt suffix costs writes."""
    if savings < _smallest_edit(state, policy):
        return False

    row = capability(state.model)
    write, read = row.write_permille[0], row.read_permille

    # Nobody knows how long a session goes on; until red the cached prefix would be read for sure.
    turns = reading.turns_until_red
    steps = min(policy.expected_steps, _STEPS_WITHOUT_DATA if turns is None else max(1, turns))
    return savings * steps * read > suffix * (write - read)
