"""When a window is outcome, and what the edit does.

Between edits a window only grows, so the provider's cached prefix holds. An edit begins near the
limit and goes down to the target at once. Old results become excerpts, then units leave into the
ledger, in the order of the policy, until the target is reached; the newest units stay whole. Never
touched are pins, units with an open call, the newest user message and pages that the model has
just asked for. On recorded runs the ledger keeps what later turns ask for, the excerpts some of
it, and a cleverer choice of units nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from operator import attrgetter
from typing import Final, NamedTuple

from ..compiler.text.duplicates import Text, duplicates
from ..schema.window_policy import EvictionPolicy, WindowPolicy
from .checkpoint import media_line, with_media_line
from .events import EditReason
from .forms import same_as
from .keep import leaving_order, stale_units
from .ledger import EditPlan, UnitChange, counted, fitting_cut, joined_spans, with_cut, with_units
from .links import spent_units
from .report import Pressure
from .state import WindowState
from .step import edited_units, short_unit, standing_words
from .subsystems import BUILT_IN, Subsystems, unit_scores
from .units import PartKind, StandingForm, WindowItem, WindowUnit, tokens_in
from .words import facts, identifiers

LEAST_LOSS: Final = "least_loss"
"""The reason of a change that only the order of leaving has."""
_BETWEEN_TURNS: Final = 720
"""Permille of the limit from which a turn's start edits, if a turn of usual size may not fit."""
_PICTURE_TURNS: Final = 2
"""Turns for which a picture stays: what it shows was said by then."""
_PAGE_STEPS: Final = 2
"""Steps after its own for which a page of originals stays whole."""
_NEWEST_AT_LEAST: Final = 2
_NEWEST_SHARE: Final = 667
"""Permille of the target that the newest units may fill: the rest is the ledger's."""
_NUMBER: Final = attrgetter("number")
_FACTS: Final = attrgetter("facts")
_SHINGLE: Final = 5
"""Words of a run by which two results are compared."""
_SIMILARITY: Final = 0.92


class EditWish(NamedTuple):
    """What the caller of an edit asks for."""

    focus: str = ""
    """What to stay close to, with the task and the last user message."""
    keep: AbstractSet[int] = frozenset()
    """Units to leave alone this time, with the pins."""
    since: int = 0
    """Let all units of this turn and later ones leave, because their work is concluded."""
    desperate: bool = False
    """Also the newest units: everything that may leave does, until the request fits."""


NO_WISH: Final = EditWish()


def due_reason(state: WindowState, policy: WindowPolicy, reading: Pressure) -> EditReason | None:
    """Why a window needs an edit now, None where it needs none."""
    zones = policy.zones_of(state.window)
    if reading.utilisation >= zones.rollover:
        return EditReason.ROLLOVER
    between_turns = bool(state.units) and state.units[-1].is_user
    is_tight = (
        reading.utilisation >= _BETWEEN_TURNS and state.tokens + reading.velocity > state.limit
    )
    if reading.utilisation >= zones.edit or (between_turns and is_tight):
        return EditReason.PRESSURE
    return None


def target_tokens(state: WindowState, policy: WindowPolicy) -> int:
    """The bound that an edit goes down to."""
    return policy.zones_of(state.window).target * state.limit // 1000


def planned_edit(
    state: WindowState,
    policy: WindowPolicy,
    reason: EditReason,
    goal: int,
    *,
    wish: EditWish = NO_WISH,
    subsystems: Subsystems = BUILT_IN,
) -> EditPlan | None:
    """The edit down to a bound of so many tokens, None where nothing can or need be savings.

    Raises:
        InvalidInput: `bad_subsystem`, for a score or a form that is none.
    """
    if state.tokens <= goal and not wish.since:
        return None
    target = state.correction.own(goal)
    plan, savings = _Edit(state, policy, wish, subsystems, target).plan(reason)
    # What leaves grows the ledger, so an edit may miss its target; it is made deeper once.
    excess = state.own_tokens - target - savings
    if plan and excess > state.correction.own(state.limit) // 10 and not wish.since:
        plan, _ = _Edit(state, policy, wish, subsystems, max(0, target - excess)).plan(reason)
    return plan


class _Edit:
    """One edit in the making."""

    def __init__(
        self,
        state: WindowState,
        policy: WindowPolicy,
        wish: EditWish,
        subsystems: Subsystems,
        target: int,
    ) -> None:
        self.state, self.policy, self.wish, self.subsystems = state, policy, wish, subsystems
        self.target = target
        self.load = state.own_tokens
        self.reasons = stale_units(state.units) | spent_units(state.links)
        self.scores = unit_scores(subsystems.eviction, state, policy, wish.focus, self.reasons)
        self.order = leaving_order(state, self.scores, self.reasons, wish.focus)
        self.reach = set(map(_NUMBER, reachable_units(state, policy))) - wish.keep
        self.tokens = {unit.number: unit.tokens for unit in state.units}
        """Of each unit in its new form."""
        self.forms: dict[int, StandingForm] = {}
        self.texts: dict[int, dict[int, tuple[str, int]]] = {}
        """The short texts with their tokens, by unit and event."""

    def plan(self, reason: EditReason) -> tuple[EditPlan | None, int]:
        """The edit, None where nothing changes, and the tokens that it frees."""
        if self.wish.since:
            concluded_units = {u.number for u in self.state.units if u.turn >= self.wish.since}
            self._leave(self.reach & concluded_units)
        else:
            # What is overtaken leaves before anything that still holds is shortened.
            self._leave(self.reach & self.reasons.keys())
            self._shorten(self.reach)
            self._leave(self.reach)
        if self.wish.desperate and self.load > self.target:
            self._give_way()
        return self._planned(reason) if self.forms else (None, 0)

    def _give_way(self) -> None:
        """Shorten what the model has seen of the newest units, then let them leave."""
        reach = set(map(_NUMBER, reachable_units(self.state, self.policy, newest=0)))
        newest = {max((u.number for u in self.state.units if u.calls), default=0)}
        self._shorten(reach - newest - self.wish.keep)
        self._shorten(reach & newest - self.wish.keep)
        self._leave(reach - newest - self.wish.keep)
        self._leave(reach & newest)

    def _shorten(self, reach: AbstractSet[int]) -> None:
        """Replace results by excerpts and old pictures by lines, the oldest first."""
        repetitions = _repetitions(self.state, self.policy)
        for unit in self.state.units:
            if self.load <= self.target:
                return
            is_whole = unit.form is StandingForm.FULL and unit.number not in self.forms
            if unit.number not in reach or not is_whole or unit.is_page:
                continue
            texts = self._short_texts(unit, repetitions)
            short = short_unit(self.state, unit, texts)
            if texts and short.tokens < unit.tokens:
                self._change(unit.number, StandingForm.SHORT, short.tokens)
                self.texts[unit.number] = texts

    def _short_texts(
        self, unit: WindowUnit, repetitions: Mapping[int, WindowItem]
    ) -> dict[int, tuple[str, int]]:
        """The shorter texts of a unit with their tokens, by the number of their event."""
        count, most = self.state.count, self.policy.result_tokens_of(self.state.window)
        texts: dict[int, tuple[str, int]] = {}
        for item in unit.results:
            pictures = [p.text for p in unit.attached_to(item) if p.kind is PartKind.MEDIA]
            repetition = repetitions.get(item.seq)
            if repetition is not None and repetition.seq > unit.results[-1].seq:
                text = same_as(item.seq, repetition.seq)
            else:
                text = self.subsystems.compression.short(item, most, count)
            if pictures:
                text = with_media_line(text, item.seq, pictures)
            tokens = count(text)
            if text != item.text and (pictures or tokens < item.tokens):
                texts[item.seq] = text, tokens

        # Pictures among calls stay: a provider refuses a model's message that misses a part.
        own = [p for p in unit.of_kind(PartKind.MEDIA) if not p.is_attached]
        if own and not unit.calls and self.state.turn - unit.turn > _PICTURE_TURNS:
            line = media_line(unit.number, [item.text for item in own])
            texts[unit.number] = line, count(line)
        return texts

    def _leave(self, reach: AbstractSet[int]) -> None:
        """Let units leave in their order until the target is reached; a summary replaces its span.

        Work that is concluded leaves whatever the load.
        """
        for unit in self.order:
            number = unit.number
            if self.load <= self.target and not self.wish.since:
                return
            has_left = self.forms.get(number) in (StandingForm.LEDGER, StandingForm.SUMMARY)
            if number not in reach or has_left or self.state.is_summarised(number, self.forms):
                continue
            if not self._take_summary(unit):
                self._change(number, StandingForm.LEDGER, 0)
                self.texts.pop(number, None)

    def _change(self, number: int, form: StandingForm, tokens: int) -> None:
        self.load += tokens - self.tokens[number]
        self.tokens[number] = tokens
        self.forms[number] = form

    def _take_summary(self, unit: WindowUnit) -> bool:
        """Replace the units of a summary by it, if all of them are in full and may leave."""
        summary = self.state.summary(unit.number)
        if summary is None or unit.form is not StandingForm.FULL or self.wish.desperate:
            return False
        span = [u for u in self.state.units if summary.first <= u.number <= summary.last]
        if any(u.number not in self.reach or self.forms.get(u.number) for u in span):
            return False
        self.load -= tokens_in(span) - unit.tokens
        self._change(unit.number, StandingForm.SUMMARY, summary.tokens)
        return True

    def _planned(self, reason: EditReason) -> tuple[EditPlan, int]:
        state, policy = self.state, self.policy
        numbers = sorted(self.forms)
        texts: dict[int, tuple[str, int]] = {}
        for number in numbers:
            texts |= self.texts.get(number, {})
        outcome = edited_units(state, self.forms, texts)

        share = policy.ledger_share_of(state.window)
        room = share * state.correction.own(state.limit) // 1000
        words = standing_words(outcome.standing)
        ledger = with_units(state.ledger, outcome.left, words, outcome.lost_names)
        page = policy.page_tokens_of(state.limit)
        ledger = replace(ledger, spans=joined_spans(ledger.spans, outcome.left, page, room))
        cut = fitting_cut(ledger, room, state.count)
        ledger = counted(with_cut(ledger, cut), state.count)

        # Facts are compared as whole words, once for all: a window has a hundred thousand of them.
        shown_facts = facts(ledger.text).union(*map(_FACTS, outcome.standing))
        by_number = {unit.number: unit for unit in state.units}
        changes = tuple(self._line(by_number[number], shown_facts) for number in numbers)
        shorts = tuple(texts.values())
        plan = EditPlan(reason, changes, cut, ledger.spans, ledger.tokens, shorts)
        return plan, state.own_tokens - self.load - (ledger.tokens - state.ledger.tokens)

    def _line(self, before: WindowUnit, shown_facts: AbstractSet[str]) -> UnitChange:
        """What the edit says of a unit, where a request shows these facts behind it."""
        number = before.number
        kept_facts = len(before.facts & shown_facts)
        reason = "concluded" if self.wish.since else self.reasons.get(number, LEAST_LOSS)
        return UnitChange(
            unit=number,
            turn=before.turn,
            form=self.forms[number],
            results=tuple(self.texts.get(number, ())),
            savings=before.tokens - self.tokens[number],
            keep=self.scores.get(number, 1000),
            reason=reason,
            fidelity=1000 * kept_facts // len(before.facts) if before.facts else 1000,
        )


def _repetitions(state: WindowState, policy: WindowPolicy) -> dict[int, WindowItem]:
    """The newest result that says what an older one does, by the number of the older one."""
    results: list[WindowItem] = []
    for unit in state.units:
        if unit.form is StandingForm.FULL and not unit.is_page:
            results += [item for item in unit.results if item.text.strip()]
    newest = {item.text: item for item in results}
    merging = policy.eviction is EvictionPolicy.SEMANTIC_MERGE
    similar = _nearly_repeated([*newest.values()]) if merging else {}

    repetitions: dict[int, WindowItem] = {}
    for item in results:
        last = newest[item.text]
        repetition = similar.get(last.seq, last)
        if repetition.seq > item.seq:
            repetitions[item.seq] = repetition
    return repetitions


def _nearly_repeated(results: Sequence[WindowItem]) -> dict[int, WindowItem]:
    """The results that say nothing which a later one does not, by number.

    Nearly is a containment of 0.92 in runs of five words, where identifiers, numbers and negations
    agree. Merging what is merely alike is work for a model. Checklist C-251.
    """
    texts: list[Text] = []
    for item in results:
        texts.append(Text(str(item.seq), item.text, identifiers(item.text), (-item.seq,)))
    by_seq = {str(item.seq): item for item in results}
    repeats = duplicates(texts, words=_SHINGLE, threshold=_SIMILARITY)
    return {int(older): by_seq[newer] for older, newer in repeats.items()}


def reachable_units(
    state: WindowState, policy: WindowPolicy, *, newest: int | None = None
) -> Iterator[WindowUnit]:
    """The units that an edit may change: none of the newest, no pin, no open call."""
    newest_numbers = _newest_numbers(
        state, policy, policy.newest_units if newest is None else newest
    )
    newest_user = next((unit.number for unit in reversed(state.units) if unit.is_user), 0)
    for unit in state.units:
        # A page that was just asked for must be read before it goes.
        is_fresh = unit.is_page and state.step - unit.step <= _PAGE_STEPS and newest != 0
        is_kept = unit.number in newest_numbers or unit.number == newest_user or is_fresh
        if not is_kept and not unit.open_calls and unit.number not in state.pinned:
            yield unit


def _newest_numbers(state: WindowState, policy: WindowPolicy, most: int) -> set[int]:
    """The newest units that stay whole: fewer where they alone fill what an edit goes down to."""
    room = target_tokens(state, policy) * _NEWEST_SHARE // 1000
    numbers: set[int] = set()
    for unit in reversed(state.units[max(0, len(state.units) - most) :]):
        room -= unit.tokens
        if room < 0 and len(numbers) >= _NEWEST_AT_LEAST:
            break
        numbers.add(unit.number)
    return numbers
