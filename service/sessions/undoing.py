"""Undoing an edit: the originals come back in the place of what stood for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...schema.errors import ContextBudgetExhausted, NotFound
from ...window.events import EventKind, WindowEvent
from ...window.snapshot import unit_record
from ...window.units import StandingForm, WindowUnit, tokens_in
from .core import EventDraft, SessionCore
from .originals import originals_of

_NAMED_EDITS: Final = 5


def undo_draft(core: SessionCore, edit: int) -> EventDraft:
    """The event that puts back what an edit changed: the newest first, while there is room."""
    log = core.log.read()
    event = next((e for e in log if e.seq == edit and e.kind is EventKind.EDITED), None)
    if event is None:
        raise _unknown_edit(log, edit)

    # Where later edits took a unit into a larger fold, that fold is what comes back.
    units: dict[int, WindowUnit] = {}
    for change in event.body["changes"]:
        unit = core.state.unit(int(change["unit"]))
        if unit is not None and unit.form is not StandingForm.FULL:
            units[unit.number] = unit

    # The load is corrected by the provider's count, the tokens of units are not.
    room = (core.state.limit - core.state.tokens) * 1000 // core.state.correction
    originals: list[WindowUnit] = []
    for unit in sorted(units.values(), key=lambda unit: -unit.number):
        numbers = range(unit.number, max(unit.number, unit.last_number) + 1)
        members = originals_of(log, numbers)
        room -= tokens_in(members) - unit.tokens
        # Whole edits are not promised: what fits comes back, the newest first, and the rest stays.
        if room < 0:
            break
        originals += members

    if units and not originals:
        raise ContextBudgetExhausted(
            f"the window has no room for what edit {edit} took out: {-room} tokens are "
            "missing; read it with rehydrate instead",
            code="required_over_budget",
            shortfall=-room,
        )

    return _undo_draft(edit, sorted(originals, key=lambda unit: unit.number))


def _unknown_edit(log: Sequence[WindowEvent], edit: int) -> NotFound:
    """The error of a number that is no edit; the newest ones are named, to take one of them."""
    numbers = [str(event.seq) for event in log if event.kind is EventKind.EDITED][-_NAMED_EDITS:]
    advice = f"its newest edits are {', '.join(numbers)}" if numbers else "it has had none"
    return NotFound(f"event {edit} is no edit of this session; {advice}", code="unknown_edit")


def _undo_draft(edit: int, originals: Sequence[WindowUnit]) -> EventDraft:
    """The event that carries originals back into the window."""
    records: list[dict[str, Any]] = []
    texts: list[str] = []
    for unit in originals:
        record, words = unit_record(unit)
        records.append(record)
        texts += words

    return EventDraft(EventKind.UNDONE, {"edit": edit, "units": records}, tuple(texts))
