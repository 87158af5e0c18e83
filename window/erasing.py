"""What an erasure takes out of a window: the words of events, and of whatever was made of them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from .events import ERASURE_MARK, WindowEvent
from .links import without_erased
from .state import WindowState, fold_mark, part_tokens, with_units
from .summaries import UnitSummary
from .units import StandingForm, WindowItem, WindowUnit, emptied_part

_TERMS: Final = ("task", "goal", "system", "tools")
"""The texts of the first event, in their order; acceptance criteria follow."""

_Places = AbstractSet[tuple[int, int]]
"""Texts by the number of their event and their part in it."""


def with_erased_texts(state: WindowState, event: WindowEvent) -> WindowState:
    """The state without the words of erased events, in folds and summaries made of them too."""
    places: set[tuple[int, int]] = set()
    seqs: set[int] = set()
    for seq, part in event.body["places"]:
        places.add((int(seq), int(part)))
        seqs.add(int(seq))

    remaining_summaries: list[UnitSummary] = []
    emptied_summaries: set[int] = set()
    for summary in state.summaries:
        if summary.seq in seqs:
            emptied_summaries.add(summary.unit)
        else:
            remaining_summaries.append(summary)

    units: list[WindowUnit] = []
    for unit in state.units:
        last = unit.last_number or unit.number
        # A fold and a summary say in other words what several events said: they go as a whole.
        made_of_it = unit.form in (StandingForm.EXTRACT, StandingForm.SUMMARY) and (
            unit.number in emptied_summaries or not seqs.isdisjoint(range(unit.number, last + 1))
        )
        units.append(_without_words(state, unit, places, whole=made_of_it))

    notes = tuple(note for note in state.notes if note.seq not in seqs)
    task, goal, system, tools = _terms(state, places)
    return replace(
        with_units(state, units),
        notes=notes,
        links=without_erased(state.links, frozenset(places)),
        summaries=tuple(remaining_summaries),
        task=task,
        goal=goal,
        system=system,
        tools=tools,
    )


def _without_words(
    state: WindowState, unit: WindowUnit, places: _Places, *, whole: bool
) -> WindowUnit:
    """A unit with our mark in the place of each erased text, or of all of them."""
    in_fold = unit.form in (StandingForm.EXTRACT, StandingForm.SUMMARY)
    items: list[WindowItem] = []
    for item in unit.items:
        if whole or (item.seq, item.part) in places:
            text = fold_mark(unit) if in_fold else ERASURE_MARK
            content = emptied_part(item.content, text)
            item = replace(item, content=content, tokens=part_tokens(state, content))
        items.append(item)
    return replace(unit, items=tuple(items))


def _terms(state: WindowState, places: _Places) -> list[str]:
    """What the session was opened with; the first event holds it, in the order of its parts."""
    terms: list[str] = []
    for part, name in enumerate(_TERMS):
        terms.append("" if (1, part) in places else getattr(state, name))
    return terms
