"""Folds: neighbours that are shortened, or leave, under one address, and folds of folds.

A line of its own for each unit would cost more than what it stands for. Folds grow in number with
the talk, so once they fill their share of the window, neighbouring folds become one of the next
level, no longer than each of them was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from ..schema.window_policy import WindowPolicy
from .changes import TOMBSTONE_TOKENS, Occurrences, UnitChange
from .facts import identifiers, names_line, names_of_fold
from .forms import FoldContext, FoldRoom, fidelity, fold, fold_header, without_header
from .state import WindowState
from .units import StandingForm, WindowUnit, facts_in, numbers_of, tokens_in

_FOLDING: Final = frozenset({StandingForm.EXTRACT, StandingForm.TOMBSTONE})
_LARGEST_FOLD: Final = 500
"""Tokens of one fold about: it leaves as a whole, so it stays small."""
_FULL_FOLD: Final = 350
"""Tokens from which a fold takes in nothing more, and keeps its bytes."""
_SCARCE_FROM: Final = 0.9
"""Part of their share from which folds are cut, before any of them is merged or leaves."""
_BRANCHING: Final = 4
"""Neighbouring folds of one level that become one of the next: fewer of each stay open."""
_FOLD_CHARACTERS: Final = 3 * _LARGEST_FOLD
"""Characters of the largest fold at first; cut until its tokens fit."""
_SHORT_UNIT: Final = 80
_YOUNG_TURNS: Final = 5
"""Short messages of the last turns stay whole between two folds."""


class FoldOfFolds(NamedTuple):
    """Neighbouring folds that become one of the next level."""

    members: tuple[WindowUnit, ...]
    """Everything that stands between the first and the last fold, both included."""
    change: UnitChange


def folds_of_folds(
    state: WindowState, recurrences: Occurrences, keep: AbstractSet[int]
) -> tuple[FoldOfFolds, ...]:
    """The folds of folds that are due: none before folds fill their share of the window.

    Of n folds of s tokens then stand at most (M - 1) log_M n, with M = 4: what stands for a talk
    takes O(s log n) tokens, where folds side by side take O(s n). Each level keeps the names that
    are used most. Checklist C-173.
    """
    if recurrences.room is not FoldRoom.NONE:
        return ()

    within_reach = numbers_of(reachable(state)) - keep
    merges: list[FoldOfFolds] = []
    highest = max((unit.fold_level for unit in state.units), default=0)
    for level in range(1, highest + 1):
        for members in _full_runs(state, level, within_reach):
            within_reach -= numbers_of(members)
            text = _text_of_folds(state, members, recurrences.uses)
            savings = tokens_in(members) - state.count(text)
            merges.append(FoldOfFolds(tuple(members), _merge_change(members, level, text, savings)))
    return tuple(merges)


def _full_runs(
    state: WindowState, level: int, within_reach: AbstractSet[int]
) -> list[list[WindowUnit]]:
    """Runs of neighbours that hold as many folds of a level as make one of the next."""
    runs: list[list[WindowUnit]] = []
    run: list[WindowUnit] = []
    count = 0
    for unit in state.units:
        is_fold = unit.form is StandingForm.EXTRACT and unit.number in within_reach
        if is_fold and unit.fold_level == level:
            run.append(unit)
            count += 1
        # What stands between two folds goes with them: lower folds, what is short, what has left.
        elif run and _goes_along(state, unit, level, within_reach):
            run.append(unit)
        else:
            run, count = [], 0

        if count == _BRANCHING:
            runs.append(run)
            run, count = [], 0
    return runs


def _goes_along(
    state: WindowState, unit: WindowUnit, level: int, within_reach: AbstractSet[int]
) -> bool:
    if unit.form is StandingForm.EXTRACT:
        return unit.fold_level < level and unit.number in within_reach
    return _may_join(state, unit, within_reach)


def _text_of_folds(
    state: WindowState, members: Sequence[WindowUnit], uses: Mapping[str, int]
) -> str:
    """What stands for folds: the names in them, the most used, in no more room than one fold."""
    names: dict[str, None] = {}
    result_names: dict[str, None] = {}
    for unit in members:
        names |= dict.fromkeys(unit.names)
        result_names |= dict.fromkeys(identifiers(without_header(unit)))
    # What people and calls named comes first; of the room that is left what only results named.
    result_only_names = [name for name in result_names if name not in names]

    characters = _FOLD_CHARACTERS
    while True:
        selection = _most_used([*names], uses, characters)
        room = characters - sum(len(name) + 1 for name in selection)
        lines = [fold_header(members)]
        result_selection = _most_used(result_only_names, uses, room)
        if result_selection:
            lines.append(json.dumps(" ".join(result_selection), ensure_ascii=False))
        if selection:
            lines.append(names_line(selection))

        # Counts grow with length but not evenly, so the length is searched.
        text = "\n".join(lines)
        if state.count(text) <= _LARGEST_FOLD:
            return text
        characters = characters * 3 // 4


def _most_used(names: Sequence[str], uses: Mapping[str, int], characters: int) -> list[str]:
    """The names that most units use, of equals the newest, in their order; so many characters."""
    selection: set[str] = set()
    newest_first = list(reversed(names))
    by_use = sorted(newest_first, key=lambda name: -uses.get(name, 0))
    for name in by_use:
        if len(name) < characters:
            selection.add(name)
            characters -= len(name) + 1
    return [name for name in names if name in selection]


def _merge_change(members: Sequence[WindowUnit], level: int, text: str, savings: int) -> UnitChange:
    first, last = members[0], members[-1]
    return UnitChange(
        unit=first.number,
        last_unit=last.last_number or last.number,
        turn=first.turn,
        form=StandingForm.EXTRACT,
        texts={first.number: text},
        savings=savings,
        keep=1,
        reason="frontier",
        fidelity=fidelity(facts_in(members), text),
        fold_level=level + 1,
    )


def with_folds(
    state: WindowState,
    changes: Sequence[UnitChange],
    recurrences: Occurrences,
    frontier: Sequence[FoldOfFolds] = (),
    keep: AbstractSet[int] = frozenset(),
) -> tuple[UnitChange, ...]:
    """The changes with neighbours that are shortened, or leave, under one address each.

    A line of its own for each unit would cost more than what it stands for. So a fold takes in what
    stands between two of its units when it is short, folds of earlier edits that are not full
    yet, and the lines of units that left before. `frontier` are the folds of folds of this edit,
    `keep` are units that stay as they are.
    """
    by_unit = {change.unit: change for change in changes}
    merge_numbers = members_of(frontier)
    within_reach = numbers_of(reachable(state)) - merge_numbers - keep

    successors: list[UnitChange] = []
    runs = list(_runs(state, by_unit, within_reach, merge_numbers))
    context = _fold_context(state, by_unit, runs, frontier, recurrences.room)
    for run in runs:
        members = [unit for unit in run if not _leaves(unit, by_unit)]
        text = fold(members, state.turn, recurrences.uses, run, context) if members else ""
        successors.append(_fold_change(state, run, text, by_unit))

    # What changes in its own place stands beside the folds, and so do the folds of folds.
    for change in changes:
        if change.form not in _FOLDING:
            successors.append(change)
    for merge in frontier:
        successors.append(merge.change)
    return tuple(sorted(successors, key=lambda change: change.unit))


def members_of(frontier: Iterable[FoldOfFolds]) -> set[int]:
    """The numbers of all units that folds of folds take in."""
    numbers: set[int] = set()
    for merge in frontier:
        numbers |= numbers_of(merge.members)

    return numbers


def _fold_context(
    state: WindowState,
    by_unit: Mapping[int, UnitChange],
    runs: Iterable[Sequence[WindowUnit]],
    frontier: Iterable[FoldOfFolds],
    room: FoldRoom,
) -> FoldContext:
    """What stands outside of all folds that an edit makes."""
    members = members_of(frontier)
    for run in runs:
        members |= numbers_of(run)

    context = FoldContext(set(), set(), room)
    for merge in frontier:
        lines = merge.change.texts[merge.change.unit].split("\n")[1:]
        context.names.update(names_of_fold(lines))
    for unit in state.units:
        if unit.number in members:
            continue
        context.names.update(unit.names)
        # Of a result in a shorter form nobody knows yet what still stands.
        if unit.number not in by_unit:
            context.identifiers.update(unit.identifiers)
    return context


def _runs(
    state: WindowState,
    by_unit: Mapping[int, UnitChange],
    within_reach: AbstractSet[int],
    merge_numbers: AbstractSet[int],
) -> Iterator[list[WindowUnit]]:
    """Neighbouring units that will share a fold, each run with a unit that changes."""
    run: list[WindowUnit] = []
    size = 0
    for unit in state.units:
        change = by_unit.get(unit.number)
        folding = change is not None and change.form in _FOLDING
        room = 0 if change is None else unit.tokens - change.savings
        mergeable = folding or (change is None and _may_join(state, unit, within_reach))
        mergeable = mergeable and unit.number not in merge_numbers
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
    places: list[int] = []
    for place, unit in enumerate(run):
        if unit.number in by_unit:
            places.append(place)
    if not places:
        return

    # Unchanged folds at the ends join, because that saves a header; unchanged messages stay whole.
    first, last = places[0], places[-1]
    while first > 0 and run[first - 1].form in _FOLDING:
        first -= 1
    while last + 1 < len(run) and run[last + 1].form in _FOLDING:
        last += 1
    yield list(run[first : last + 1])


def _may_join(state: WindowState, unit: WindowUnit, within_reach: AbstractSet[int]) -> bool:
    if unit.form is StandingForm.TOMBSTONE:
        return True
    if unit.number not in within_reach:
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
    changes: list[UnitChange] = []
    level = 1
    for unit in run:
        level = max(level, unit.fold_level)
        if unit.number in by_unit:
            changes.append(by_unit[unit.number])
    return UnitChange(
        unit=first.number,
        last_unit=last.last_number or last.number,
        turn=first.turn,
        form=StandingForm.EXTRACT if text else StandingForm.TOMBSTONE,
        texts={first.number: text} if text else {},
        savings=tokens_in(run) - (state.count(text) if text else TOMBSTONE_TOKENS),
        keep=max(change.keep for change in changes),
        reason=changes[0].reason,
        fidelity=fidelity(facts_in(run), text),
        fold_level=level if text else 0,
    )


def fold_room(state: WindowState, policy: WindowPolicy) -> FoldRoom:
    """How much of the target the folds may still take."""
    target = policy.zones_of(state.window).target * state.limit // 1000
    size = tokens_in(unit for unit in state.units if unit.form in _FOLDING)
    share = size * 1000 // max(1, target)
    if share >= policy.fold_share:
        return FoldRoom.NONE
    return FoldRoom.SCARCE if share >= policy.fold_share * _SCARCE_FROM else FoldRoom.AMPLE


def reachable_units(state: WindowState) -> tuple[WindowUnit, ...]:
    """The units that an edit may change."""
    return tuple(reachable(state))


def reachable(state: WindowState) -> Iterator[WindowUnit]:
    """The same, one by one: often the first is all that is asked for."""
    newest_user = newest_step = 0
    for unit in reversed(state.units):
        if unit.is_user:
            newest_user = unit.number
            break
        # A step before the newest message of the user is over.
        if unit.calls and not newest_step:
            newest_step = unit.number

    for unit in state.units:
        if unit.number in (newest_user, newest_step) or unit.number in state.pins:
            continue
        if not unit.open_calls and unit.form is not StandingForm.TOMBSTONE:
            yield unit
