"""What an edit can do to one unit: every shorter form that it can take, and what each costs.

A form says which texts stand from now on, how many tokens that frees, and how many of the unit's
facts still stand. Which forms are taken is chosen elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ..compiler.text.duplicates import Text, duplicates
from .facts import identifiers
from .forms import (
    FoldContext,
    FoldRoom,
    external,
    fidelity,
    fold,
    kind_of,
    placeholder,
    plain_format,
    same_as,
)
from .scratchpad import media_line, with_media_line
from .state import WindowState
from .units import PartKind, StandingForm, WindowItem, WindowUnit, tokens_in

TOMBSTONE_TOKENS: Final = 50
"""The most that the line of a unit which left takes."""
LEAST_LOSS: Final = "least_loss"
"""The reason of a change that nothing but the choice by loss has."""
_PICTURE_TURNS: Final = 2
"""Turns for which a picture stands: what it shows was said by then."""
_SHINGLE: Final = 5
"""Words of a run by which two results are compared."""
_SIMILARITY: Final = 0.92
_IN_FOLD_TOKENS: Final = 4
"""What a unit takes in a fold beside its lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """One unit in another form."""

    unit: int
    last_unit: int
    """The last of several neighbours that one fold stands for; else the unit itself."""
    turn: int
    form: StandingForm
    texts: Mapping[int, str]
    """What stands from now on: of each result by its number, or of the whole unit by its own."""
    savings: int
    """Tokens it frees."""
    keep: int
    """The keep-score by which it was chosen, 1 to 1000."""
    reason: str
    """A word of `EndReason`, or `least_loss`."""
    fidelity: int
    """Permille of the facts that still stand."""
    fold_level: int = 0
    """Of a fold: 1 for one of messages, one more for one of folds; 0 for all other forms."""


class Occurrences(NamedTuple):
    """Where the words of a window recur, read off it once for all units of an edit."""

    uses: Mapping[str, int]
    """How many standing units name each identifier."""
    repetitions: Mapping[int, WindowItem]
    """The newest result that says what an older one does, by the number of the older one."""
    room: FoldRoom = FoldRoom.AMPLE
    """How much of the window the folds may still take."""


def savings_of(changes: Iterable[UnitChange]) -> int:
    """Tokens that changes free together."""
    total = 0
    for change in changes:
        total += change.savings

    return total


def occurrences(
    state: WindowState, room: FoldRoom = FoldRoom.AMPLE, *, merging: bool = False
) -> Occurrences:
    """Where the words of a window recur; for the merging policy also where they nearly do."""
    uses: Counter[str] = Counter()
    results: list[WindowItem] = []
    for unit in state.units:
        uses.update(unit.identifiers)
        if unit.form is StandingForm.FULL:
            results += unit.results
    newest: dict[str, WindowItem] = {}
    for item in results:
        newest[item.text] = item

    similar = _nearly_repeated(newest.values()) if merging else {}
    repetitions: dict[int, WindowItem] = {}
    for item in results:
        last = newest[item.text]
        repetition = similar.get(last.seq, last)
        if repetition.seq > item.seq:
            repetitions[item.seq] = repetition
    return Occurrences(uses, repetitions, room)


def _nearly_repeated(results: Collection[WindowItem]) -> dict[int, WindowItem]:
    """The results that say nothing which a later one does not, by number.

    Nearly is a containment of 0.92 in runs of five words, where identifiers, numbers and negations
    agree. What is merely alike stands as it is: merging that is work for a model. Checklist C-251.
    """
    # Only texts of equal identifiers are compared, so the many results of a window are few here.
    texts: list[Text] = []
    for item in results:
        texts.append(Text(str(item.seq), item.text, identifiers(item.text), (-item.seq,)))

    by_seq = {str(item.seq): item for item in results}
    repeats = duplicates(texts, words=_SHINGLE, threshold=_SIMILARITY)
    return {int(older): by_seq[newer] for older, newer in repeats.items()}


def shorter_forms(
    state: WindowState, unit: WindowUnit, keep: int, reason: str, recurrences: Occurrences
) -> Iterator[UnitChange]:
    """Every shorter form that a unit can take from the one it stands in."""
    if unit.form is StandingForm.FULL and unit.results:
        for form, texts in _result_forms(unit, recurrences.repetitions).items():
            leaving = [*unit.results]
            if form is StandingForm.EXTERNAL:
                leaving += [item for item in unit.items if item.is_attached]
            tokens = unit.tokens - tokens_in(leaving)
            tokens += sum(map(state.count, texts.values()))
            yield _change(unit, form, texts, keep, reason, tokens)

    if unit.form is StandingForm.FULL and state.turn - unit.turn > _PICTURE_TURNS:
        yield from _described_media(state, unit, keep, reason)

    # The header of a fold is shared by its units, so it is not counted to this one.
    context = FoldContext(set(), set(), recurrences.room)
    body = fold([unit], state.turn, recurrences.uses, context=context).partition("\n")[2]
    tokens = state.count(body) if body else _IN_FOLD_TOKENS
    if tokens < unit.tokens:
        extract = _change(unit, StandingForm.EXTRACT, {unit.number: body}, keep, reason, tokens)
        yield _summary_change(state, unit, extract) or extract

    # What can be folded is folded before it leaves: the fold holds the names by which it is found,
    # and it goes with them only when folds take too much of the window. What something later has
    # overtaken leaves anyway: its names say what no longer holds, or stand there again.
    named = bool(unit.names) and recurrences.room is not FoldRoom.NONE
    if named and reason == LEAST_LOSS:
        return
    if unit.form is StandingForm.EXTRACT or tokens >= unit.tokens:
        yield departure(unit, keep, reason, _IN_FOLD_TOKENS)


def _described_media(
    state: WindowState, unit: WindowUnit, keep: int, reason: str
) -> Iterator[UnitChange]:
    """The change by which pictures and files of a message stand as a line about them."""
    pictures = unit.of_kind(PartKind.MEDIA)

    # Parts beside calls stay: a provider refuses a model's message of which one part is missing.
    if not pictures or unit.calls:
        return

    text = media_line(unit.number, [item.text for item in pictures])
    tokens = unit.tokens - tokens_in(pictures) + state.count(text)
    yield _change(unit, StandingForm.EXTERNAL, {unit.number: text}, keep, reason, tokens)


def _summary_change(state: WindowState, unit: WindowUnit, extract: UnitChange) -> UnitChange | None:
    """The change into the summary that a model made, where that keeps more than the extract."""
    summary = state.summary(unit.number)
    if summary is None or unit.form is not StandingForm.FULL:
        return None
    texts = {unit.number: summary.text}
    change = _change(
        unit, StandingForm.SUMMARY, texts, extract.keep, extract.reason, summary.tokens
    )
    # Its words stand in its own event alone, where an erasure finds them.
    return replace(change, texts={}) if change.fidelity > extract.fidelity else None


def departure(unit: WindowUnit, keep: int, reason: str, tokens: int) -> UnitChange:
    """The change by which a unit leaves, for a line of so many tokens."""
    return _change(unit, StandingForm.TOMBSTONE, {}, keep, reason, tokens)


def _result_forms(
    unit: WindowUnit, repetitions: Mapping[int, WindowItem]
) -> dict[StandingForm, dict[int, str]]:
    """The shorter texts of a unit's results, by form."""
    forms: dict[StandingForm, dict[int, str]] = {
        StandingForm.PRUNED: {},
        StandingForm.EXTERNAL: {},
    }
    for item in unit.results:
        content = item.content
        kind = content.tool_kind or kind_of(content.text, content.name)
        # A short form that is no shorter is none: then the bare placeholder stands.
        short = external(content.text, kind, item.seq, item.tokens, content.name)
        pictures = [part.text for part in unit.attached_to(item) if part.kind is PartKind.MEDIA]
        if pictures:
            words = short if len(short) < len(content.text) else content.text
            short = with_media_line(words, item.seq, pictures)
        elif len(short) >= len(content.text):
            short = placeholder(item.seq, item.tokens, content.name)
        forms[StandingForm.PRUNED][item.seq] = plain_format(content.text)
        forms[StandingForm.EXTERNAL][item.seq] = short

    pointers = _pointers(unit, repetitions)
    if pointers:
        forms[StandingForm.POINTER] = pointers
    return forms


def _pointers(unit: WindowUnit, repetitions: Mapping[int, WindowItem]) -> dict[int, str]:
    """Pointers for the results of a unit, when later ones repeat all of them."""
    last_own = unit.results[-1].seq
    texts: dict[int, str] = {}
    for item in unit.results:
        repetition = repetitions.get(item.seq)
        if repetition is None or repetition.seq <= last_own:
            return {}
        texts[item.seq] = same_as(item.seq, repetition.seq)
    return texts


def _change(
    unit: WindowUnit,
    form: StandingForm,
    texts: Mapping[int, str],
    keep: int,
    reason: str,
    tokens: int,
) -> UnitChange:
    standing = "\n".join(texts.values())

    # Its speech stands beside a shortened result, so that counts as standing, too.
    if form is StandingForm.EXTERNAL:
        standing += "\n".join(item.text for item in unit.items if item not in unit.results)
    lossless = form in (StandingForm.PRUNED, StandingForm.POINTER)
    share = 1000 if lossless else fidelity(unit.facts, standing)
    return UnitChange(
        unit=unit.number,
        last_unit=unit.last_number or unit.number,
        turn=unit.turn,
        form=form,
        texts=texts,
        savings=unit.tokens - tokens,
        keep=keep,
        reason=reason,
        fidelity=share,
    )
