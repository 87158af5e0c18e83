"""`step`: the state of a window after one more event.

One function a kind of event. An event was checked before it was appended, so nothing is refused
here, and a log folds to the same state on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from .events import ERASURE_MARK, EventKind, Note, NoteCategory, WindowEvent
from .pressure import READINGS, next_mean
from .snapshot import item_from, unit_from
from .state import KEYS_KEPT, WindowState, fold_mark, part_tokens, tombstone_text
from .units import (
    LEVELS,
    MessagePart,
    PartKind,
    StandingForm,
    WindowItem,
    WindowUnit,
)

_TERMS: Final = ("task", "goal", "system", "tools")
"""The texts of the first event, in their order; acceptance criteria follow."""
_Fold = Callable[[WindowState, WindowEvent], WindowState]


def step(state: WindowState, event: WindowEvent) -> WindowState:
    """The state after one more event.

    An event that the log holds was checked before it was appended, so nothing is refused here.
    """
    keys = state.keys
    if "key" in event.body:
        keys = (*keys, (event.body["key"], event.body["fingerprint"], event.seq))[-KEYS_KEPT:]
    return replace(_FOLDS[event.kind](state, event), seq=event.seq, keys=keys)


def _on_opened(state: WindowState, event: WindowEvent) -> WindowState:
    body = event.body
    terms = ["" if text == ERASURE_MARK else text for text in event.texts]
    task, goal, system, tools, *acceptance = terms

    start = replace(
        state,
        model=str(body["model"]),
        window=int(body["window"]),
        limit=int(body["limit"]),
        policy_digest=str(body["policy"]),
        root=str(body.get("root", "")),
        task=task,
        goal=goal,
        system=system,
        tools=tools,
        acceptance=tuple(acceptance),
    )
    return replace(start, fixed_tokens=_fixed_tokens(start))


def _fixed_tokens(state: WindowState) -> int:
    texts = [state.system, state.tools, state.task, state.goal, *state.acceptance]
    return sum(state.count(text) for text in texts if text)


def _on_turn_start(state: WindowState, event: WindowEvent) -> WindowState:
    turn = state.turn + 1
    unit = WindowUnit(event.seq, turn, state.step, _items(event))

    # A pin with an end lapses by turns, the only clock that a replay shares.
    pins: dict[int, int | None] = {}
    for number, until in state.pins.items():
        if until is None or until >= turn:
            pins[number] = until

    return replace(state, turn=turn, in_turn=True, units=(*state.units, unit), pins=pins)


def _on_step(state: WindowState, event: WindowEvent) -> WindowState:
    number = state.step + 1
    unit = WindowUnit(event.seq, state.turn, number, _items(event))
    return replace(state, step=number, units=(*state.units, unit))


def _on_result(state: WindowState, event: WindowEvent) -> WindowState:
    (item,) = _items(event)

    # The newest open call with this id: real logs use an id twice, and the older one was answered.
    call_id = item.content.call_id
    number = next(u.number for u in reversed(state.units) if call_id in u.open_calls)

    unit = state.standing(number)
    return _with_unit(state, replace(unit, items=(*unit.items, item)))


def _on_turn_end(state: WindowState, event: WindowEvent) -> WindowState:
    # The load at the end of a turn, not its steps, is what the velocity goes by: a turn may take
    # one step or twenty, and what counts is how many turns are left.
    growth = state.tokens - (state.loads[-1] if state.loads else 0)
    return replace(
        state,
        in_turn=False,
        loads=(*state.loads, state.tokens)[1 - READINGS :],
        mean_growth=next_mean(state.mean_growth, growth),
        correction=int(event.body.get("correction", state.correction)),
    )


def _on_abandoned(state: WindowState, event: WindowEvent) -> WindowState:
    call_id = str(event.body["call_id"])
    number = next(u.number for u in reversed(state.units) if call_id in u.open_calls)
    unit = state.standing(number)
    return _with_unit(state, replace(unit, given_up=unit.given_up | {call_id}))


def _on_edited(state: WindowState, event: WindowEvent) -> WindowState:
    texts = iter(event.texts)
    before = sum(unit.tokens for unit in state.units)
    count = len(event.body["changes"])
    original = 0

    # Changes are applied in the order of the window, so their texts are taken off one iterator.
    for change in event.body["changes"]:
        span = range(int(change["unit"]), int(change["last"]) + 1)
        members = [unit for unit in state.units if unit.number in span]
        short_texts = {int(seq): next(texts) for seq in change["of"]}
        original += sum(unit.tokens for unit in members)
        short = _in_form(state, members, StandingForm(change["form"]), short_texts)
        state = _with_unit(state, short)
        state = replace(state, units=_remaining_units(state.units, members[1:]))

    state = replace(state, units=_with_one_tombstone_a_run(state))
    after = sum(unit.tokens for unit in state.units)
    rolled = event.body["reason"] == "rollover"
    fidelities = [int(change["fidelity"]) for change in event.body["changes"]]
    return replace(
        state,
        edits=state.edits + 1,
        evictions=state.evictions + count,
        last_edit_step=state.step,
        original_tokens=state.original_tokens + original,
        standing_tokens=state.standing_tokens + max(0, original - (before - after)),
        windows=state.windows + rolled,
        fidelity=sum(fidelities) // max(1, len(fidelities)),
    )


def _remaining_units(
    units: Sequence[WindowUnit], leaving: Sequence[WindowUnit]
) -> tuple[WindowUnit, ...]:
    numbers = {unit.number for unit in leaving}
    return tuple(unit for unit in units if unit.number not in numbers)


def _in_form(
    state: WindowState, members: Sequence[WindowUnit], form: StandingForm, texts: Mapping[int, str]
) -> WindowUnit:
    """Units in a shorter form; `texts` are those of results by number, or the one of a fold."""
    unit, last = members[0], members[-1]
    full = sum(member.full_tokens or member.tokens for member in members)
    if form in (StandingForm.TOMBSTONE, StandingForm.EXTRACT):
        short = replace(
            unit,
            items=(),
            form=form,
            full_tokens=full,
            last_number=last.last_number or last.number,
            last_turn=last.last_turn or last.turn,
        )
        left_behind: list[WindowItem] = []
        for text in texts.values():
            # An erasure empties the fold's text in the log; its address is made again.
            if text == ERASURE_MARK:
                text = fold_mark(short)
            left_behind.append(_note(state, unit, text))
        return replace(short, items=tuple(left_behind))

    items: list[WindowItem] = []
    for item in unit.items:
        if item.kind is PartKind.RESULT and item.seq in texts:
            text = texts[item.seq]
            content = replace(item.content, text=text)
            item = replace(item, content=content, tokens=state.count(text))
        items.append(item)
    return replace(unit, items=tuple(items), form=form, full_tokens=full)


def _note(state: WindowState, unit: WindowUnit, text: str) -> WindowItem:
    content = MessagePart(kind=PartKind.NOTE, text=text)
    return WindowItem(
        seq=unit.number,
        part=0,
        content=content,
        tokens=state.count(text),
        level=LEVELS[PartKind.NOTE],
    )


def _with_one_tombstone_a_run(state: WindowState) -> tuple[WindowUnit, ...]:
    """The units with neighbouring tombstones as one: each costs a line of its own otherwise."""
    units: list[WindowUnit] = []
    for unit in state.units:
        previous = units[-1] if units else None
        if (
            previous is not None
            and previous.form is StandingForm.TOMBSTONE
            and unit.form is StandingForm.TOMBSTONE
        ):
            units[-1] = replace(
                previous,
                last_number=unit.last_number or unit.number,
                last_turn=unit.last_turn or unit.turn,
                full_tokens=previous.full_tokens + unit.full_tokens,
            )
        else:
            units.append(unit)

    marked_units: list[WindowUnit] = []
    for unit in units:
        if unit.form is StandingForm.TOMBSTONE:
            unit = replace(unit, items=(_note(state, unit, tombstone_text(unit)),))
        marked_units.append(unit)
    return tuple(marked_units)


def _on_undone(state: WindowState, event: WindowEvent) -> WindowState:
    """Put originals back in the place of what an edit left; the event carries them."""
    texts = iter(event.texts)
    originals = [unit_from(record, texts) for record in event.body["units"]]

    numbers = {unit.number for unit in originals}
    remaining_units: list[WindowUnit] = []
    for unit in state.units:
        last = unit.last_number or unit.number
        if not any(unit.number <= number <= last for number in numbers):
            remaining_units.append(unit)
    units = sorted([*remaining_units, *originals], key=lambda unit: unit.number)
    return replace(state, units=tuple(units))


def _on_pinned(state: WindowState, event: WindowEvent) -> WindowState:
    pins = dict(state.pins)
    number = int(event.body["unit"])
    if event.body["on"]:
        pins[number] = event.body["until"]
    else:
        pins.pop(number, None)
    return replace(state, pins=pins)


def _on_noted(state: WindowState, event: WindowEvent) -> WindowState:
    note = Note(event.seq, NoteCategory(event.body["category"]), event.texts[0])
    successor = replace(state, notes=(*state.notes, note))
    return replace(successor, fixed_tokens=successor.fixed_tokens + successor.count(note.text))


def _on_model_change(state: WindowState, event: WindowEvent) -> WindowState:
    body = event.body
    successor = replace(
        state, model=str(body["model"]), window=int(body["window"]), limit=int(body["limit"])
    )

    # Another model counts otherwise: everything that stands is counted again.
    units: list[WindowUnit] = []
    for unit in state.units:
        items = [replace(item, tokens=part_tokens(successor, item.content)) for item in unit.items]
        units.append(replace(unit, items=tuple(items)))
    fixed_total = _fixed_tokens(successor) + sum(successor.count(note.text) for note in state.notes)
    return replace(successor, units=tuple(units), correction=1000, fixed_tokens=fixed_total)


def _on_memory_read(state: WindowState, event: WindowEvent) -> WindowState:
    read = replace(state, memory_tokens=int(event.body["tokens"]))
    return replace(read, sent_tokens=read.tokens)


def _on_recount(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, correction=int(event.body["correction"]))


def _on_checkpoint(state: WindowState, event: WindowEvent) -> WindowState:
    claim = str(event.body.get("object", state.checkpoint_object))
    return replace(state, checkpoint=event.seq, checkpoint_object=claim)


def _on_erasure(state: WindowState, event: WindowEvent) -> WindowState:
    """Take the words of erased events out of what stands, folds made of them included."""
    places = {(int(seq), int(part)) for seq, part in event.body["places"]}
    seqs = {seq for seq, _ in places}
    units: list[WindowUnit] = []
    for unit in state.units:
        last = unit.last_number or unit.number
        in_fold = unit.form is StandingForm.EXTRACT
        hit = in_fold and any(unit.number <= seq <= last for seq in seqs)

        items: list[WindowItem] = []
        for item in unit.items:
            if hit or (item.seq, item.part) in places:
                text = fold_mark(unit) if in_fold else ERASURE_MARK
                text = "{}" if item.kind is PartKind.CALL else text
                content = replace(item.content, text=text)
                item = replace(item, content=content, tokens=part_tokens(state, content))
            items.append(item)
        units.append(replace(unit, items=tuple(items)))

    notes = tuple(note for note in state.notes if note.seq not in seqs)
    terms = [getattr(state, name) for name in _TERMS]
    for part in range(len(terms)):
        if (1, part) in places:
            terms[part] = ""
    task, goal, system, tools = terms
    return replace(
        state,
        units=tuple(units),
        notes=notes,
        task=task,
        goal=goal,
        system=system,
        tools=tools,
    )


def _on_closed(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, closed=True)


def _with_unit(state: WindowState, unit: WindowUnit) -> WindowState:
    """The state with a unit in the place of the one of its number."""
    units = list(state.units)
    # Read from the end: what changes is nearly always one of the newest.
    numbers = (standing.number for standing in reversed(units))
    position = next(place for place, number in enumerate(numbers, start=1) if number == unit.number)
    units[-position] = unit
    return replace(state, units=tuple(units))


def _items(event: WindowEvent) -> tuple[WindowItem, ...]:
    # Behind the texts of the parts an event may keep originals that stand in no window.
    lines = zip(event.body["parts"], event.texts, strict=False)
    return tuple(item_from(event.seq, line, text, part) for part, (line, text) in enumerate(lines))


_FOLDS: Final[Mapping[EventKind, _Fold]] = {
    EventKind.OPENED: _on_opened,
    EventKind.TURN_STARTED: _on_turn_start,
    EventKind.STEP_MADE: _on_step,
    EventKind.RESULT_CAME: _on_result,
    EventKind.TURN_ENDED: _on_turn_end,
    EventKind.CALL_ABANDONED: _on_abandoned,
    EventKind.EDITED: _on_edited,
    EventKind.UNDONE: _on_undone,
    EventKind.PINNED: _on_pinned,
    EventKind.NOTED: _on_noted,
    EventKind.MODEL_CHANGED: _on_model_change,
    EventKind.MEMORY_READ: _on_memory_read,
    EventKind.CHECKPOINTED: _on_checkpoint,
    EventKind.RECOUNTED: _on_recount,
    EventKind.TEXTS_ERASED: _on_erasure,
    EventKind.CLOSED: _on_closed,
}
