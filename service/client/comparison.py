"""Two records side by side: which slots agree, which differ, and which only one of them has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from ...schema.answers import SlotState
from ...schema.values import canonical_json
from ...schema.vocabulary import SlotStatus
from ..reading.masking import MASK
from ..reading.view import View
from ..stewardship.review_page import ReviewPage
from ..visual.text import when
from .memory import Memory
from .summaries import value_names, value_words

_SILENT_STATUSES: Final = frozenset({SlotStatus.UNKNOWN, SlotStatus.ERASED})
COLUMNS = 3
"""Candidates that stand beside a mention."""


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """One slot of one record."""

    sign: str
    """`=` agrees with the mention, `!` differs, `+` only here, `?` one of them is not told; empty
    where nothing stands."""
    words: str
    source: str
    since: str


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One slot of the mention and of its candidates."""

    slot: str
    mention: ComparedCell
    candidates: tuple[ComparedCell, ...]


def compared_slots(
    memory: Memory, record: ReviewPage, view: View | None = None
) -> tuple[ComparedRow, ...]:
    """The slots of a case, now or at a view, those first in which somebody differs."""
    view = view or memory.as_of()
    own_facts = view.facts(record.entity.entity_id)
    candidate_facts = [view.facts(candidate.entity_id) for candidate in record.candidates[:COLUMNS]]
    slots = sorted({*own_facts, *(name for facts in candidate_facts for name in facts)})

    names = value_names(memory, own_facts, *candidate_facts)

    rows: list[ComparedRow] = []
    for slot in slots:
        own_state = own_facts.get(slot)
        cells = [_cell(facts.get(slot), own_state, names) for facts in candidate_facts]
        rows.append(ComparedRow(slot, _cell(own_state, None, names), tuple(cells)))
    # What speaks against a merge is read first.
    return tuple(sorted(rows, key=lambda row: (_order(row), row.slot)))


def _order(row: ComparedRow) -> int:
    signs = [cell.sign for cell in row.candidates]
    return 0 if "!" in signs else 1 if "=" in signs else 2


def _cell(
    state: SlotState | None, mention: SlotState | None, names: Mapping[str, str]
) -> ComparedCell:
    if state is None:
        return ComparedCell("", "", "", "")

    words = value_words(state, names) or _status_words(state)
    source = state.candidates[0].source_origin if state.candidates else ""
    since = when(state.valid_from, missing="always") if state.candidates else ""
    return ComparedCell(_sign(state, mention), words, source, since)


def _sign(state: SlotState, mention: SlotState | None) -> str:
    """How a slot stands to that of the mention; never colour alone: it must be read in print."""
    if mention is None:
        return "+"
    # Of two that are hidden nobody is told that they are one, nor that they are not.
    if not (_is_told(state) and _is_told(mention)):
        return "?"
    return "=" if _sayings(state) == _sayings(mention) else "!"


def _is_told(state: SlotState) -> bool:
    return state.status not in _SILENT_STATUSES and MASK not in map(
        attrgetter("value"), state.candidates
    )


def _sayings(state: SlotState) -> tuple[SlotStatus, list[str]]:
    """What a slot says: its values, or those that contest it."""
    values = state.values or map(attrgetter("value"), state.candidates)
    return state.status, sorted(map(canonical_json, values))


def _status_words(state: SlotState) -> str:
    return "withheld" if state.reason == "withheld" else state.status.value
