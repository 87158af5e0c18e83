"""`step`: the state of a window after one more event.

One function a kind of event. An event was checked before it was appended, so nothing is refused
here, and a log folds to the same state on every machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final, NamedTuple

from ..compiler.tokens.counting import MaximumCounter, counter_for
from ..schema.values import canonical_json
from .events import ERASURE_MARK, EventKind, Note, NoteCategory, SubtaskStatus, WindowEvent
from .ledger import (
    LedgerEntry,
    LedgerSpan,
    counted,
    unit_names,
    with_cut,
    with_units,
    without_events,
)
from .links import standing_links, with_judged_claims, with_new_links, without_erased
from .report import EVICTION_TURNS, READINGS, next_mean
from .state import KEYS_KEPT, BoundCorrection, WindowState, part_tokens
from .summaries import standing_summaries, with_new_summary
from .units import (
    RECALL_INPUT,
    RECALL_TEXT,
    RECALL_TOOL,
    MessagePart,
    PartKind,
    StandingForm,
    WindowItem,
    WindowUnit,
    emptied_part,
    item_from,
    pointer,
    tokens_in,
    unit_from,
)

_WIDE_FLOOR: Final = 500
"""Permille to which reports may lower the count of an unknown model: its margin is 1.91."""
_TERMS: Final = ("task", "goal", "system", "tools")
"""The texts of the first event, in their order; acceptance criteria follow."""

_Places = AbstractSet[tuple[int, int]]
"""Texts by the number of their event and their part in it."""
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
        policy=canonical_json(body.get("tunables", {})),
        correction=_correction(str(body["model"])),
        root=str(body.get("root", "")),
        task=task,
        goal=goal,
        system=system,
        tools=tools,
        acceptance=tuple(acceptance),
    )
    return _with_fixed_tokens(start)


def _correction(model: str) -> BoundCorrection:
    """Nothing reported yet. The bound of a model that no row knows is so wide that it may fall."""
    is_wide = isinstance(counter_for(model), MaximumCounter)
    return BoundCorrection(floor=_WIDE_FLOOR if is_wide else 1000)


def _with_fixed_tokens(state: WindowState) -> WindowState:
    texts = [state.system, state.tools, state.task, state.goal, *state.acceptance]
    if state.tools:
        # The tool that reads originals goes with the others.
        texts.append(f"{RECALL_TOOL} {RECALL_TEXT} {RECALL_INPUT}")
    total = sum(map(state.count, filter(None, texts)))
    return replace(state, fixed_tokens=total + sum(note.tokens for note in state.notes))


def _on_turn_start(state: WindowState, event: WindowEvent) -> WindowState:
    turn = state.turn + 1
    unit = WindowUnit(event.seq, turn, state.step, _items(event))

    # A pin with an end lapses by turns, the only clock that a replay shares.
    pins = tuple(pin for pin in state.pins if pin[1] is None or pin[1] >= turn)
    return replace(state, units=(*state.units, unit), turn=turn, in_turn=True, pins=pins)


def _on_step(state: WindowState, event: WindowEvent) -> WindowState:
    number = state.step + 1
    unit = WindowUnit(event.seq, state.turn, number, _items(event))
    successor = _with_report(replace(state, units=(*state.units, unit)), event)
    # What is in the window before the answer is what was sent for it.
    sent = state.own_tokens if state.sent_tokens else 0
    return replace(successor, step=number, sent_tokens=sent)


def _with_report(state: WindowState, event: WindowEvent) -> WindowState:
    """The state after what a provider reported of a request that we had counted."""
    report = event.body.get("usage")
    if report is None:
        return state
    correction = state.correction.reported(int(report["own"]), int(report["input"]))
    return replace(state, correction=correction)


def _on_result(state: WindowState, event: WindowEvent) -> WindowState:
    items = _items(event)
    # What came with a result above the cap, or with one that was set apart, waits in the log.
    if "apart" in event.body:
        items = items[:1]

    # The newest open call with this id: real logs use an id twice, and the older one was answered.
    call_id = items[0].content.call_id
    unit = _waiting_unit(state, call_id)
    return state.with_unit(replace(unit, items=(*unit.items, *items)))


def _waiting_unit(state: WindowState, call_id: str) -> WindowUnit:
    return next(unit for unit in reversed(state.units) if call_id in unit.open_calls)


def _on_turn_end(state: WindowState, event: WindowEvent) -> WindowState:
    # The load at the end of a turn, not its steps, is what the velocity goes by: a turn may take
    # one step or twenty, and what counts is how many turns are left.
    growth = state.tokens - (state.loads[-1] if state.loads else 0)
    health = event.body.get("health")
    readings = (*state.readings, tuple(health)) if health else state.readings
    return replace(
        _with_report(state, event),
        in_turn=False,
        loads=(*state.loads, state.tokens)[-READINGS:],
        eviction_marks=(*state.eviction_marks, state.evictions)[-EVICTION_TURNS - 1 :],
        mean_growth=next_mean(state.mean_growth, growth),
        readings=readings[-READINGS:],
    )


def _on_abandoned(state: WindowState, event: WindowEvent) -> WindowState:
    call_id = str(event.body["call_id"])
    unit = _waiting_unit(state, call_id)
    return state.with_unit(replace(unit, given_up=unit.given_up | {call_id}))


class EditedUnits(NamedTuple):
    """What an edit makes of the units."""

    standing: list[WindowUnit]
    left: list[WindowUnit]
    lost_names: list[LedgerEntry]
    """The names that shorter forms leave out."""
    original: int
    """Tokens of the changed units before."""


ShortTexts = Mapping[int, tuple[str, int]]
"""The short texts of results with their tokens, by the number of their event."""


def edited_units(
    state: WindowState, forms: Mapping[int, StandingForm], texts: ShortTexts
) -> EditedUnits:
    """The units after those of some numbers took other forms."""
    outcome = EditedUnits([], [], [], 0)
    original = 0
    for unit in state.units:
        form = forms.get(unit.number)
        if form is None and not state.is_summarised(unit.number, forms):
            outcome.standing.append(unit)
            continue

        original += unit.tokens
        if form is StandingForm.LEDGER:
            outcome.left.append(unit)
        elif form is StandingForm.SUMMARY:
            outcome.standing.append(_summary_unit(state, unit))
        elif form is StandingForm.SHORT:
            short = short_unit(state, unit, texts)
            kept_words = {word for word, _, _ in short.names}
            outcome.lost_names.extend(
                name for name in unit_names(unit) if name.text not in kept_words
            )
            outcome.standing.append(short)
    return outcome._replace(original=original)


def _on_edited(state: WindowState, event: WindowEvent) -> WindowState:
    lines = event.body["changes"]
    forms = {int(line["unit"]): StandingForm(line["form"]) for line in lines}
    seqs = itertools.chain.from_iterable(map(itemgetter("results"), lines))
    # Counted when the edit was made: a log is folded without a tokenizer, and without its library.
    counted_texts = zip(event.texts, event.body["tokens"], strict=True)
    outcome = edited_units(state, forms, dict(zip(seqs, counted_texts, strict=True)))

    ledger_body = event.body["ledger"]
    words = standing_words(outcome.standing)
    ledger = with_units(state.ledger, outcome.left, words, outcome.lost_names)
    ledger = with_cut(ledger, tuple(map(tuple, ledger_body["cut"])))
    spans = tuple(itertools.starmap(LedgerSpan, ledger_body["spans"]))
    ledger = replace(ledger, spans=spans, tokens=ledger_body["tokens"])
    successor = replace(state, units=tuple(outcome.standing), ledger=ledger)

    savings = state.own_tokens - successor.own_tokens
    return replace(
        successor,
        links=standing_links(state.links, successor.units, ledger),
        summaries=standing_summaries(state.summaries, successor.units),
        edits=state.edits + 1,
        evictions=state.evictions + len(lines),
        original_tokens=state.original_tokens + outcome.original,
        standing_tokens=state.standing_tokens + max(0, outcome.original - savings),
        windows=state.windows + (event.body["reason"] == "rollover"),
        fidelity=sum(int(line["fidelity"]) for line in lines) // max(1, len(lines)),
    )


def standing_words(units: Sequence[WindowUnit]) -> frozenset[str]:
    """The names that units in the window repeat, so that a ledger need not."""
    words: set[str] = set()
    for unit in units:
        words.update(word for word, _, _ in unit.names)
    return frozenset(words)


def _summary_unit(state: WindowState, unit: WindowUnit) -> WindowUnit:
    """The unit that replaces all those that its summary was made of."""
    summary = state.summary(unit.number)
    if summary is None:
        # An erasure took its words; an address is left.
        text, last = f"{ERASURE_MARK} Original: {pointer(unit.number)}", unit.number
        tokens = state.count(text)
    else:
        text, last, tokens = summary.block, summary.last, summary.tokens
    members = [u for u in state.units if unit.number <= u.number <= last]
    return replace(
        unit,
        items=(_note(unit, text, tokens),),
        form=StandingForm.SUMMARY,
        full_tokens=tokens_in(members),
        last_number=last,
    )


def short_unit(state: WindowState, unit: WindowUnit, texts: ShortTexts) -> WindowUnit:
    """A unit with shorter results, and lines in place of pictures."""
    items: list[WindowItem] = []
    described: set[int] = set()
    for item in unit.items:
        text, tokens = texts.get(item.seq, ("", 0))
        if item.seq not in texts or item.kind not in (PartKind.RESULT, PartKind.MEDIA):
            items.append(item)
            continue
        if text == ERASURE_MARK:
            tokens = state.count(text)
        if item.kind is PartKind.RESULT:
            content = replace(item.content, text=text)
            items.append(replace(item, content=content, tokens=tokens))
        elif not item.is_attached and item.seq not in described:
            # One line replaces all pictures of a message; those of a result go into its text.
            described.add(item.seq)
            items.append(_note(unit, text, tokens))
    full = unit.full_tokens or unit.tokens
    return replace(unit, items=tuple(items), form=StandingForm.SHORT, full_tokens=full)


def _note(unit: WindowUnit, text: str, tokens: int) -> WindowItem:
    content = MessagePart(kind=PartKind.NOTE, text=text)
    return WindowItem(seq=unit.number, part=0, content=content, tokens=tokens)


def _on_undone(state: WindowState, event: WindowEvent) -> WindowState:
    """Put units back as they were before an edit; the event carries them."""
    texts = iter(event.texts)
    originals = [unit_from(record, texts) for record in event.body["units"]]
    spans = [range(unit.number, max(unit.number, unit.last_number) + 1) for unit in originals]
    # Behind a summary several originals are hidden, so what overlaps one of them goes.
    remaining: list[WindowUnit] = []
    for unit in state.units:
        last = max(unit.number, unit.last_number)
        overlaps = any(span.start <= last and unit.number < span.stop for span in spans)
        if not overlaps:
            remaining.append(unit)
    units = sorted([*remaining, *originals], key=lambda unit: unit.number)

    seqs: set[int] = set()
    for unit in originals:
        seqs.update(item.seq for item in unit.items)
    ledger = without_events(state.ledger, seqs, state.count)
    return replace(state, units=tuple(units), ledger=ledger)


def _on_forgotten(state: WindowState, event: WindowEvent) -> WindowState:
    number = int(event.body["unit"])
    units = tuple(unit for unit in state.units if unit.number != number)
    return replace(state, units=units)


def _on_pinned(state: WindowState, event: WindowEvent) -> WindowState:
    number = int(event.body["unit"])
    pins = tuple(pin for pin in state.pins if pin[0] != number)
    pin = ((number, event.body["until"]),) if event.body["on"] else ()
    return replace(state, pins=(*pins, *pin))


def _on_noted(state: WindowState, event: WindowEvent) -> WindowState:
    status = event.body.get("status")
    note = Note(
        seq=event.seq,
        category=NoteCategory(event.body["category"]),
        text=event.texts[0],
        status=SubtaskStatus(status) if status else None,
        tokens=state.count(event.texts[0]),
    )
    dropped = set(event.body.get("drops", ()))
    notes = [standing for standing in state.notes if standing.seq not in dropped]
    # A piece of the task that gets another status keeps its place.
    for position, standing in enumerate(notes):
        if status and (standing.category, standing.text) == (note.category, note.text):
            notes[position] = note
            break
    else:
        notes.append(note)
    return _with_fixed_tokens(replace(state, notes=tuple(notes)))


def _on_notes_dropped(state: WindowState, event: WindowEvent) -> WindowState:
    dropped = set(event.body["notes"])
    notes = tuple(note for note in state.notes if note.seq not in dropped)
    return _with_fixed_tokens(replace(state, notes=notes))


def _on_terms_change(state: WindowState, event: WindowEvent) -> WindowState:
    """Another model, window, system text or tools, from the next request on."""
    body = event.body
    texts = iter(event.texts)
    terms: dict[str, Any] = {name: next(texts) for name in body["terms"]}
    successor = replace(state, **terms, window=int(body["window"]), limit=int(body["limit"]))
    if body["model"] != state.model:
        successor = _recounted(replace(successor, model=str(body["model"])))
    return _with_fixed_tokens(successor)


def _recounted(state: WindowState) -> WindowState:
    """The state of another model, which counts otherwise: everything is counted again."""
    units: list[WindowUnit] = []
    for unit in state.units:
        items: list[WindowItem] = []
        for item in unit.items:
            items.append(replace(item, tokens=part_tokens(state, item.content)))
        units.append(replace(unit, items=tuple(items)))

    notes = tuple(replace(note, tokens=state.count(note.text)) for note in state.notes)
    summaries = tuple(
        replace(summary, tokens=state.count(summary.block)) for summary in state.summaries
    )
    return replace(
        state,
        units=tuple(units),
        notes=notes,
        summaries=summaries,
        ledger=counted(state.ledger, state.count),
        correction=_correction(state.model),
        sent_tokens=0,
    )


def _on_policy_change(state: WindowState, event: WindowEvent) -> WindowState:
    tunables = canonical_json(event.body.get("tunables", {}))
    return replace(state, policy_digest=str(event.body["policy"]), policy=tunables)


def _on_memory_read(state: WindowState, event: WindowEvent) -> WindowState:
    read = replace(state, memory_tokens=int(event.body["tokens"]))
    return replace(read, sent_tokens=read.own_tokens)


def _on_linked_claims(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, links=with_new_links(state.links, event))


def _on_judged_claims(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, links=with_judged_claims(state.links, event))


def _on_summary(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, summaries=with_new_summary(state.summaries, event))


def _on_checkpoint(state: WindowState, event: WindowEvent) -> WindowState:
    claim = str(event.body.get("object", state.checkpoint_object))
    return replace(state, checkpoint=event.seq, checkpoint_object=claim)


def _on_erased_texts(state: WindowState, event: WindowEvent) -> WindowState:
    """The state without the words of erased events, also in the ledger and in summaries."""
    places: set[tuple[int, int]] = set()
    seqs: set[int] = set()
    for seq, part in event.body["places"]:
        places.add((int(seq), int(part)))
        seqs.add(int(seq))

    units: list[WindowUnit] = []
    for unit in state.units:
        units.append(_without_words(state, unit, places, seqs))
    terms: dict[str, Any] = {name: "" for part, name in enumerate(_TERMS) if (1, part) in places}
    summaries = tuple(summary for summary in state.summaries if summary.seq not in seqs)
    notes = tuple(note for note in state.notes if note.seq not in seqs)
    return replace(
        state,
        units=tuple(units),
        ledger=without_events(state.ledger, seqs, state.count),
        notes=notes,
        links=without_erased(state.links, frozenset(places)),
        summaries=summaries,
        **terms,
    )


def _without_words(
    state: WindowState, unit: WindowUnit, places: _Places, seqs: AbstractSet[int]
) -> WindowUnit:
    """A unit with our mark in place of each erased text.

    A summary says in other words what several events said, and an excerpt repeats a result: both
    go as a whole.
    """
    is_summary = unit.form is StandingForm.SUMMARY
    last = max(unit.number, unit.last_number)
    made_of_it = is_summary and any(unit.number <= seq <= last for seq in seqs)
    summary = state.summary(unit.number) if is_summary else None
    made_of_it = made_of_it or (summary is not None and summary.seq in seqs)

    items: list[WindowItem] = []
    for item in unit.items:
        shortened = unit.form is StandingForm.SHORT and item.seq in seqs
        if made_of_it or shortened or (item.seq, item.part) in places:
            text = (
                f"{ERASURE_MARK} Original: {pointer(unit.number)}" if is_summary else ERASURE_MARK
            )
            content = emptied_part(item.content, text)
            item = replace(item, content=content, tokens=part_tokens(state, content))
        items.append(item)
    return replace(unit, items=tuple(items))


def _on_closed(state: WindowState, event: WindowEvent) -> WindowState:
    return replace(state, closed=True, erased=bool(event.body.get("erased")))


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
    EventKind.FORGOTTEN: _on_forgotten,
    EventKind.NOTES_DROPPED: _on_notes_dropped,
    EventKind.TERMS_CHANGED: _on_terms_change,
    EventKind.POLICY_CHANGED: _on_policy_change,
    EventKind.MEMORY_READ: _on_memory_read,
    EventKind.CLAIMS_LINKED: _on_linked_claims,
    EventKind.CLAIMS_JUDGED: _on_judged_claims,
    EventKind.SUMMARISED: _on_summary,
    EventKind.CHECKPOINTED: _on_checkpoint,
    # A refusal that states how many tokens the request had is a report, too.
    EventKind.RECOUNTED: _with_report,
    EventKind.TEXTS_ERASED: _on_erased_texts,
    EventKind.CLOSED: _on_closed,
}
