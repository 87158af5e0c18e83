"""When a window is edited, and what the edit does.

Between edits a window only grows, so the provider's cached prefix holds. An edit rebuilds what
stands behind its first change, so it is made when a limit demands it, or when the freed tokens
save more over the next steps than the rebuilt suffix costs. It then goes down to the target at
once. Which units change, and into which form, is the cheapest choice by keep-score times loss.

Out of reach are pins, units with an open call, the newest model message with its results, and the
newest user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ..compiler.tokens.capabilities import capability
from ..schema.window_policy import WindowPolicy
from .changes import (
    TOMBSTONE_TOKENS,
    Occurrences,
    UnitChange,
    departure,
    occurrences,
)
from .choice import UnitAction, choose
from .events import EditReason
from .forms import FoldContext, FoldRoom, fidelity, fold
from .keep import stale_units
from .links import overtaken_units, spent_units
from .pressure import Pressure, Zone
from .state import WindowState
from .subsystems import BUILT_IN, Subsystems, unit_forms, unit_scores
from .units import LOSS, StandingForm, WindowUnit

_STEPS_WITHOUT_DATA: Final = 10
_FEWEST_CELLS: Final = 512
"""Cells of the knapsack's grid at least, so that small windows are cut finely."""
_FOLDING: Final = frozenset({StandingForm.EXTRACT, StandingForm.TOMBSTONE})
_LARGEST_FOLD: Final = 500
"""Tokens of one fold about: it leaves as a whole, so it stays small."""
_FULL_FOLD: Final = 350
"""Tokens from which a fold takes in nothing more, and keeps its bytes."""
_SCARCE_FROM: Final = 0.6
"""Part of their share from which folds are cut, before any of them leaves."""
_SHORT_UNIT: Final = 80
_YOUNG_TURNS: Final = 5
"""Short messages of the last turns stay whole between two folds."""
_LADDER: Final = tuple(StandingForm)


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What an edit will do."""

    reason: EditReason
    changes: tuple[UnitChange, ...]

    @property
    def savings(self) -> int:
        """Tokens that all changes free."""
        return sum(change.savings for change in self.changes)

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
    oldest = next(_reachable(state), state.units[-1])
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
    return sum(unit.tokens for unit in state.units if unit.number > number)


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
    # A new window starts with room, or the next one would follow at once.
    deepening = 2 if reason is EditReason.ROLLOVER else 1
    need = _tokens_to_free(state, policy, deepening)
    if need <= 0:
        return None

    stale = stale_units(state.units) | overtaken_units(state.links)
    scores = unit_scores(subsystems.eviction, state, policy, wish.focus, stale)
    reachable = [unit for unit in reachable_units(state) if unit.number not in wish.keep]

    # The table of the choice grows with units times tokens, so only the least worth a token enter.
    first_numbers = spent_units(state.links)
    by_worth = sorted(
        reachable,
        key=lambda unit: (
            unit.number not in first_numbers,
            scores[unit.number] * 1000 // unit.tokens,
        ),
    )
    candidates = sorted(by_worth[: policy.candidates], key=lambda unit: unit.number)

    recurrences = occurrences(state, _fold_room(state, policy))
    options: list[list[UnitChange]] = []
    for unit in candidates:
        cause = stale.get(unit.number, "least_loss")
        forms = subsystems.compression.forms(state, unit, scores[unit.number], cause, recurrences)
        options.append(unit_forms(unit, forms))

    plan = _cheapest(options, need, policy, reason)
    if plan is None:
        return None

    changes = _with_spent_units(state, plan.changes, options)
    return replace(plan, changes=_with_folds(state, changes, recurrences))


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


def _with_folds(
    state: WindowState, changes: Sequence[UnitChange], recurrences: Occurrences
) -> tuple[UnitChange, ...]:
    """The changes with neighbours that are shortened, or leave, under one address each.

    A line of its own for each unit would cost more than what it stands for. So a fold takes in what
    stands between two of its units when it is short, folds of earlier edits that are not full
    yet, and the lines of units that left before.
    """
    by_unit = {change.unit: change for change in changes}
    reachable = {unit.number for unit in reachable_units(state)}

    folds: list[UnitChange] = []
    runs = list(_runs(state, by_unit, reachable))
    context = _fold_context(state, by_unit, runs, recurrences.room)
    for run in runs:
        members = [unit for unit in run if not _leaves(unit, by_unit)]
        text = fold(members, state.turn, recurrences.uses, run, context) if members else ""
        folds.append(_fold_change(state, run, text, by_unit))

    in_place = [change for change in changes if change.form not in _FOLDING]
    return tuple(sorted([*in_place, *folds], key=lambda change: change.unit))


def _fold_context(
    state: WindowState,
    by_unit: Mapping[int, UnitChange],
    runs: Iterable[Sequence[WindowUnit]],
    room: FoldRoom,
) -> FoldContext:
    """What stands outside of all folds that an edit makes."""
    members: set[int] = set()
    for run in runs:
        members.update(unit.number for unit in run)

    context = FoldContext(set(), set(), room)
    for unit in state.units:
        if unit.number in members:
            continue
        context.names.update(unit.names)
        # Of a result in a shorter form nobody knows yet what still stands.
        if unit.number not in by_unit:
            context.identifiers.update(unit.identifiers)
    return context


def _runs(
    state: WindowState, by_unit: Mapping[int, UnitChange], reachable: AbstractSet[int]
) -> Iterator[list[WindowUnit]]:
    """Neighbouring units that will share a fold, each run with a unit that changes."""
    run: list[WindowUnit] = []
    size = 0
    for unit in state.units:
        change = by_unit.get(unit.number)
        folding = change is not None and change.form in _FOLDING
        room = 0 if change is None else unit.tokens - change.savings
        mergeable = folding or (change is None and _may_join(state, unit, reachable))
        length = room if folding else unit.tokens

        if not mergeable or size + length > _LARGEST_FOLD:
            yield from _worth_folding(run, by_unit)
            run, size = [], 0
        if mergeable:
            run.append(unit)
            size += length
    yield from _worth_folding(run, by_unit)


def _worth_folding(
    run: Sequence[WindowUnit], by_unit: Mapping[int, UnitChange]
) -> Iterator[list[WindowUnit]]:
    """A run without its unchanged ends, if anything of it changes."""
    changing = [place for place, unit in enumerate(run) if unit.number in by_unit]
    if not changing:
        return

    # Unchanged folds at the ends join, because that saves a header; unchanged messages stay whole.
    first, last = changing[0], changing[-1]
    while first > 0 and run[first - 1].form in _FOLDING:
        first -= 1
    while last + 1 < len(run) and run[last + 1].form in _FOLDING:
        last += 1
    yield list(run[first : last + 1])


def _may_join(state: WindowState, unit: WindowUnit, reachable: AbstractSet[int]) -> bool:
    if unit.form is StandingForm.TOMBSTONE:
        return True
    if unit.number not in reachable:
        return False
    if unit.form is StandingForm.EXTRACT:
        return unit.tokens < _FULL_FOLD
    return unit.tokens <= _SHORT_UNIT and state.turn - unit.turn > _YOUNG_TURNS


def _leaves(unit: WindowUnit, by_unit: Mapping[int, UnitChange]) -> bool:
    change = by_unit.get(unit.number)
    if change is None:
        return unit.form is StandingForm.TOMBSTONE
    return change.form is StandingForm.TOMBSTONE


def _fold_change(
    state: WindowState, run: Sequence[WindowUnit], text: str, by_unit: Mapping[int, UnitChange]
) -> UnitChange:
    first, last = run[0], run[-1]
    changes = [by_unit[unit.number] for unit in run if unit.number in by_unit]
    before = sum(unit.tokens for unit in run)
    facts_before = frozenset[str]().union(*(unit.facts for unit in run))
    return UnitChange(
        unit=first.number,
        last_unit=last.last_number or last.number,
        turn=first.turn,
        form=StandingForm.EXTRACT if text else StandingForm.TOMBSTONE,
        texts={first.number: text} if text else {},
        savings=before - (state.count(text) if text else TOMBSTONE_TOKENS),
        keep=max(change.keep for change in changes),
        reason=changes[0].reason,
        fidelity=fidelity(facts_before, text),
    )


def _fold_room(state: WindowState, policy: WindowPolicy) -> FoldRoom:
    """How much of the target the folds may still take."""
    target = policy.zones_of(state.window).target * state.limit // 1000
    size = sum(unit.tokens for unit in state.units if unit.form in _FOLDING)
    share = size * 1000 // max(1, target)
    if share >= policy.fold_share:
        return FoldRoom.NONE
    return FoldRoom.SCARCE if share >= policy.fold_share * _SCARCE_FROM else FoldRoom.AMPLE


def _cheapest(
    options: Sequence[Sequence[UnitChange]], need: int, policy: WindowPolicy, reason: EditReason
) -> EditPlan | None:
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
    choices = choose(actions, need, grid)
    if not choices:
        return None

    plan_changes = tuple(options[position][key] for position, key in choices)
    return EditPlan(reason, plan_changes)


def everything_that_can_go(state: WindowState) -> EditPlan | None:
    """The last resort: every unit within reach leaves, and a line stands for it."""
    changes: list[UnitChange] = []
    for unit in reachable_units(state):
        changes.append(departure(unit, 1, "overflow", TOMBSTONE_TOKENS))
    return EditPlan(EditReason.OVERFLOW, tuple(changes)) if changes else None


def concluding_edit(state: WindowState, since: int) -> EditPlan | None:
    """The edit that folds finished work, from a turn on; None where nothing of it can be folded.

    What was concluded is kept elsewhere, so the folds hold no prose: what people and calls named,
    and the address of the originals.
    """
    changes: list[UnitChange] = []
    for unit in reachable_units(state):
        if unit.turn >= since and unit.form is not StandingForm.EXTRACT:
            change = departure(unit, 1, "concluded", TOMBSTONE_TOKENS)
            changes.append(replace(change, form=StandingForm.EXTRACT))
    if not changes:
        return None

    recurrences = occurrences(state, FoldRoom.SCARCE)
    folds = _with_folds(state, changes, recurrences)
    return EditPlan(EditReason.CONCLUSION, folds)


def reachable_units(state: WindowState) -> tuple[WindowUnit, ...]:
    """The units that an edit may change."""
    return tuple(_reachable(state))


def _reachable(state: WindowState) -> Iterator[WindowUnit]:
    newest_user = next((unit.number for unit in reversed(state.units) if unit.is_user), 0)
    newest_step = next((unit.number for unit in reversed(state.units) if unit.calls), 0)
    running = newest_step if newest_step > newest_user else 0

    for unit in state.units:
        if unit.number in (newest_user, running) or unit.number in state.pins:
            continue
        if not unit.open_calls and unit.form is not StandingForm.TOMBSTONE:
            yield unit


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
