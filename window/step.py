"""`step`: the state of a window after one more event.

One function a kind of event. An event was checked before it was appended, so nothing is refused
here, and a log folds to the same state on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from .erasing import with_erased_texts
from .events import (
    ERASURE_MARK,
    EventKind,
    Note,
    NoteCategory,
    SubtaskStatus,
    WindowEvent,
)
from .links import standing_links, with_judged_claims, with_new_links
from .pressure import EVICTION_TURNS, READINGS, next_mean
from .snapshot import item_from, unit_from
from .state import (
    KEYS_KEPT,
    WindowState,
    fold_mark,
    part_tokens,
    tombstone_text,
    with_changed_unit,
    with_new_unit,
    with_units,
)
from .summaries import UnitSummary, standing_summaries, standing_summary, with_new_summary
from .units import (
    LEVELS,
    MessagePart,
    PartKind,
    StandingForm,
    WindowItem,
    WindowUnit,
    numbers_of,
    tokens_in,
)


class _ShortText(NamedTuple):
    """A text that stands for a result or for units, with its tokens where they were counted."""

    text: str
    tokens: int | None

    def token_count(self, state: WindowState) -> int:
        """Its tokens; an emptied text stands as our mark, which nobody counted."""
        if self.tokens is None or self.text == ERASURE_MARK:
            return state.count(self.text)
        return self.tokens


class _StandingChange(NamedTuple):
    """A change of an edit, as its event states it."""

    form: StandingForm
    last: int
    """The number of the last unit that it stands for."""
    texts: dict[int, _ShortText]
    fold_level: int


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
    return sum(map(state.count, filter(None, texts)))


def _on_turn_start(state: WindowState, event: WindowEvent) -> WindowState:
    turn = state.turn + 1
    unit = WindowUnit(event.seq, turn, state.step, _items(event))

    # A pin with an end lapses by turns, the only clock that a replay shares.
    pins: dict[int, int | None] = {}
    for number, until in state.pins.items():
        if until is None or until >= turn:
            pins[number] = until

    return replace(with_new_unit(state, unit), turn=turn, in_turn=True, pins=pins)


def _on_step(state: WindowState, event: WindowEvent) -> WindowState:
    number = state.step + 1
    unit = WindowUnit(event.seq, state.turn, number, _items(event))
    return replace(
        with_new_unit(state, unit),
        step=number,
        # What stood before the answer is what was sent for it.
        sent_tokens=state.tokens if state.sent_tokens else 0,
        correction=int(event.body.get("correction", state.correction)),
    )


def _on_result(state: WindowState, event: WindowEvent) -> WindowState:
    items = _items(event)
    # What came with a result above the cap, or with one that was set apart, waits in the log.
    if "apart" in event.body:
        items = items[:1]

    # The newest open call with this id: real logs use an id twice, and the older one was answered.
    call_id = items[0].content.call_id
    unit = _waiting_unit(state, call_id)
    return with_changed_unit(state, replace(unit, items=(*unit.items, *items)))


def _waiting_unit(state: WindowState, call_id: str) -> WindowUnit:
    return next(unit for unit in reversed(state.units) if call_id in unit.open_calls)


def _on_turn_end(state: WindowState, event: WindowEvent) -> WindowState:
    # The load at the end of a turn, not its steps, is what the velocity goes by: a turn may take
    # one step or twenty, and what counts is how many turns are left.
    growth = state.tokens - (state.loads[-1] if state.loads else 0)
    return replace(
        state,
        in_turn=False,
        loads=(*state.loads, state.tokens)[1 - READINGS :],
        eviction_marks=(*state.eviction_marks, state.evictions)[-EVICTION_TURNS - 1 :],
        mean_growth=next_mean(state.mean_growth, growth),
        correction=int(event.body.get("correction", state.correction)),
    )


def _on_abandoned(state: WindowState, event: WindowEvent) -> WindowState:
    call_id = str(event.body["call_id"])
    unit = _waiting_unit(state, call_id)
    return with_changed_unit(state, replace(unit, given_up=unit.given_up | {call_id}))


def _on_edited(state: WindowState, event: WindowEvent) -> WindowState:
    changes = _standing_changes(event)
    units: list[WindowUnit] = []
    original = 0
    position = 0
    while position < len(state.units):
        unit = state.units[position]
        change = changes.get(unit.number)
        if change is None:
            units.append(unit)
            position += 1
            continue

        members: list[WindowUnit] = []
        while position < len(state.units) and state.units[position].number <= change.last:
            members.append(state.units[position])
            position += 1
        original += tokens_in(members)
        units.append(_in_form(state, members, change))

    successor = with_units(state, _with_one_tombstone_a_run(state, units))
    links = standing_links(state.links, successor.units)
    summaries = standing_summaries(state.summaries, successor.units)
    savings = state.history_tokens - successor.history_tokens
    rolled = event.body["reason"] == "rollover"

    lines = event.body["changes"]
    total_fidelity = 0
    for line in lines:
        total_fidelity += int(line["fidelity"])
    return replace(
        successor,
        links=links,
        summaries=summaries,
        edits=state.edits + 1,
        evictions=state.evictions + len(lines),
        last_edit_step=state.step,
        original_tokens=state.original_tokens + original,
        standing_tokens=state.standing_tokens + max(0, original - savings),
        windows=state.windows + rolled,
        fidelity=total_fidelity // max(1, len(lines)),
    )


def _standing_changes(event: WindowEvent) -> dict[int, _StandingChange]:
    """What an edit says of each unit, by the number of its first one."""
    # Counted when the edit was made: a log is folded without a tokenizer, and without its library.
    counts = event.body.get("tokens") or [None] * len(event.texts)
    lines = iter(zip(event.texts, counts, strict=True))

    changes: dict[int, _StandingChange] = {}
    for change in event.body["changes"]:
        texts: dict[int, _ShortText] = {}
        for seq in change["of"]:
            text, tokens = next(lines)
            texts[int(seq)] = _ShortText(text, tokens)
        form = StandingForm(change["form"])
        # Only folds of folds state a level.
        level = int(change.get("level", form is StandingForm.EXTRACT))
        changes[int(change["unit"])] = _StandingChange(form, int(change["last"]), texts, level)
    return changes


def _in_form(
    state: WindowState, members: Sequence[WindowUnit], change: _StandingChange
) -> WindowUnit:
    """Units in a shorter form."""
    unit, last = members[0], members[-1]
    form = change.form

    # What it took in full is kept through all forms, so that savings are told of the original.
    full = sum(member.full_tokens or member.tokens for member in members)
    if form in (StandingForm.TOMBSTONE, StandingForm.EXTRACT, StandingForm.SUMMARY):
        short = replace(
            unit,
            items=(),
            form=form,
            full_tokens=full,
            last_number=last.last_number or last.number,
            last_turn=last.last_turn or last.turn,
            fold_level=change.fold_level,
        )
        if form is StandingForm.SUMMARY:
            return replace(short, items=(_summary_note(state, short),))

        left_behind: list[WindowItem] = []
        for line in change.texts.values():
            # An erasure empties the fold's text in the log; its address is made again.
            if line.text == ERASURE_MARK:
                line = _ShortText(fold_mark(short), None)
            left_behind.append(_note(unit, line.text, line.token_count(state)))
        return replace(short, items=tuple(left_behind))

    items: list[WindowItem] = []
    described = False
    for item in unit.items:
        if item.is_attached:
            # The line of its result tells of it from now on, where that stands in a short form.
            if form is not StandingForm.EXTERNAL:
                items.append(item)
            continue
        if item.kind is PartKind.MEDIA and item.seq in change.texts:
            # One line stands for all pictures of a message, at the place of the first.
            line = change.texts[item.seq]
            if not described:
                items.append(_note(unit, line.text, line.token_count(state)))
            described = True
            continue
        if item.kind is PartKind.RESULT and item.seq in change.texts:
            line = change.texts[item.seq]
            content = replace(item.content, text=line.text)
            item = replace(item, content=content, tokens=line.token_count(state))
        items.append(item)
    return replace(unit, items=tuple(items), form=form, full_tokens=full)


def _note(unit: WindowUnit, text: str, tokens: int) -> WindowItem:
    content = MessagePart(kind=PartKind.NOTE, text=text)
    return WindowItem(
        seq=unit.number, part=0, content=content, tokens=tokens, level=LEVELS[PartKind.NOTE]
    )


def _summary_note(state: WindowState, unit: WindowUnit) -> WindowItem:
    """The line of a unit's summary, or its address alone where an erasure took the words."""
    summary = state.summary(unit.number)
    if summary is None:
        text = fold_mark(unit)
        return _note(unit, text, state.count(text))
    return _note(unit, standing_summary(unit, summary.text), summary.tokens)


def _with_one_tombstone_a_run(
    state: WindowState, standing: Sequence[WindowUnit]
) -> list[WindowUnit]:
    """The units with neighbouring tombstones as one: each costs a line of its own otherwise."""
    units: list[WindowUnit] = []
    for unit in standing:
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
        text = tombstone_text(unit) if unit.form is StandingForm.TOMBSTONE else unit.text
        if text != unit.text:
            unit = replace(unit, items=(_note(unit, text, state.count(text)),))
        marked_units.append(unit)
    return marked_units


def _on_undone(state: WindowState, event: WindowEvent) -> WindowState:
    """Put originals back in the place of what an edit left; the event carries them."""
    texts = iter(event.texts)
    originals = [unit_from(record, texts) for record in event.body["units"]]

    numbers = numbers_of(originals)

    # What stands for an original may stand for its neighbours too: a fold leaves as a whole.
    remaining_units: list[WindowUnit] = []
    for unit in state.units:
        last = unit.last_number or unit.number
        if numbers.isdisjoint(range(unit.number, last + 1)):
            remaining_units.append(unit)
    return with_units(state, sorted([*remaining_units, *originals], key=lambda unit: unit.number))


def _on_pinned(state: WindowState, event: WindowEvent) -> WindowState:
    pins = dict(state.pins)
    number = int(event.body["unit"])
    if event.body["on"]:
        pins[number] = event.body["until"]
    else:
        pins.pop(number, None)
    return replace(state, pins=pins)


def _on_noted(state: WindowState, event: WindowEvent) -> WindowState:
    status = event.body.get("status")
    note = Note(
        seq=event.seq,
        category=NoteCategory(event.body["category"]),
        text=event.texts[0],
        status=SubtaskStatus(status) if status else None,
    )
    notes = list(state.notes)

    # A piece of the task that gets another status stays where it was named.
    for position, standing in enumerate(notes):
        if status and (standing.category, standing.text) == (note.category, note.text):
            notes[position] = note
            return replace(state, notes=tuple(notes))

    tokens = state.fixed_tokens + state.count(note.text)
    return replace(state, notes=(*notes, note), fixed_tokens=tokens)


def _on_model_change(state: WindowState, event: WindowEvent) -> WindowState:
    body = event.body
    successor = replace(
        state, model=str(body["model"]), window=int(body["window"]), limit=int(body["limit"])
    )

    # Another model counts otherwise: everything that stands is counted again.
    units: list[WindowUnit] = []
    for unit in state.units:
        items: list[WindowItem] = []
        for item in unit.items:
            items.append(replace(item, tokens=part_tokens(successor, item.content)))
        units.append(replace(unit, items=tuple(items)))

    fixed_total = _fixed_tokens(successor)
    for note in state.notes:
        fixed_total += successor.count(note.text)
    successor = with_units(successor, units)

    summaries: list[UnitSummary] = []
    for summary in state.summaries:
        unit = state.standing(summary.unit)
        tokens = successor.count(standing_summary(unit, summary.text))
        summaries.append(replace(summary, tokens=tokens))
    return replace(successor, correction=1000, fixed_tokens=fixed_total, summaries=tuple(summaries))


def _on_policy_change(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, policy_digest=str(event.body["policy"]))


def _on_memory_read(state: WindowState, event: WindowEvent) -> WindowState:
    read = replace(state, memory_tokens=int(event.body["tokens"]))
    return replace(read, sent_tokens=read.tokens)


def _on_linked_claims(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, links=with_new_links(state.links, event))


def _on_judged_claims(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, links=with_judged_claims(state.links, event))


def _on_summary(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, summaries=with_new_summary(state.summaries, event))


def _on_recount(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, correction=int(event.body["correction"]))


def _on_checkpoint(state: WindowState, event: WindowEvent) -> WindowState:
    claim = str(event.body.get("object", state.checkpoint_object))
    return replace(state, checkpoint=event.seq, checkpoint_object=claim)


def _on_closed(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, closed=True)


def _items(event: WindowEvent) -> tuple[WindowItem, ...]:
    # Behind the texts of the parts an event may keep originals that stand in no window.
    lines = zip(event.body["parts"], event.texts, strict=False)
    items: list[WindowItem] = []
    for part, (line, text) in enumerate(lines):
        items.append(item_from(event.seq, line, text, part))
    return tuple(items)


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
    EventKind.POLICY_CHANGED: _on_policy_change,
    EventKind.MEMORY_READ: _on_memory_read,
    EventKind.CLAIMS_LINKED: _on_linked_claims,
    EventKind.CLAIMS_JUDGED: _on_judged_claims,
    EventKind.SUMMARISED: _on_summary,
    EventKind.CHECKPOINTED: _on_checkpoint,
    EventKind.RECOUNTED: _on_recount,
    EventKind.TEXTS_ERASED: with_erased_texts,
    EventKind.CLOSED: _on_closed,
}
