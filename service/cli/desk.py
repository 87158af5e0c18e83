"""The desk: the interactive review, one case and one key at a time, over any terminal.

It prints the case with its evidence, the facts of both sides in rows, what accepting would do and
what is in the way, takes a key, says what it has done and goes on. What blocks somebody comes
first, then the audits, then the suggestions. Every decision states the version it saw, so two
stewards never both decide: a case that changed meanwhile is read again. `z` takes the last
decision back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...schema.entity import AUDIT, SUGGESTION
from ...schema.errors import TenureError
from ...schema.vocabulary import ReviewState
from ..client.comparison import compared_slots
from ..client.summaries import entity_names
from ..visual.text import counted, span, when
from .show import Screen

if TYPE_CHECKING:
    from ...schema.entity import Review
    from ...schema.operation import ReviewReceipt
    from ...schema.words import Remembered, ReviewKind
    from ..client.comparison import ComparedRow
    from ..client.memory import Memory
    from ..stewardship.review_page import Impact, QueueState, ReviewBelief, ReviewPage

KEYS = {
    "y": "same: it is the first candidate (the name is not kept as an alias)",
    "s": "same, and remember the name in this scope",
    "a": "same, and remember the name in every scope",
    "n": "different (x too)",
    "u": "unsure: asked again when there is new evidence",
    "k": "keep for later, and go on to the next case",
    "z": "undo the last decision",
    "h": "history of both entities",
    "o": "open the sources",
    "/": "search another candidate",
    "?": "these keys",
    "q": "quit",
}
_REMEMBER: Mapping[str, Remembered] = {"y": "no", "s": "scope", "a": "all"}
_KINDS: tuple[ReviewKind, ...] = ("blocking", AUDIT, SUGGESTION)
_STALE_CODES = frozenset({"stale_version", "already_decided", "unknown_review"})
"""Refusals of a decision on a page that is no longer true."""
_FACT_ROWS = 12


def show_page(screen: Screen, page: ReviewPage) -> None:
    """Print a case: what is asked, the evidence, and what accepting would do."""
    case = page.review
    screen.line(f"\n{case.mention!r} ({case.type}) in {case.scope_id}: {case.reason}")

    if page.candidates:
        best, score = page.candidates[0], case.candidates[0]
        screen.line(f"is it {best.name!r} ({best.type}, {best.entity_id})?")
        if page.impact:
            screen.line(f"yes: {_direction(page)}")
        screen.line(
            f"p {score.score:.3f}, log-odds {score.log_odds:.2f}; "
            f"bind at {page.bind_at:.2f}, review above {page.review_above:.2f}"
        )

    _show_lines(screen, "held back: ", page.vetoes)
    _show_lines(screen, "", page.waterfall)
    _show_lines(screen, "would tip it: ", page.tips)
    _show_lines(screen, "source: ", page.snippets)

    if case.decided_entity:
        screen.line(f"{case.decided_by} says yes; another steward must agree")
    if page.impact:
        _show_impact(screen, page, page.impact)
    for number, group in enumerate(page.groups, 1):
        screen.line(f"  namesake {number}: {len(group)} claims")


def _direction(page: ReviewPage) -> str:
    """Who becomes whom, in words: which of the two ids and names stays."""
    subject, best = page.entity, page.candidates[0]
    assert page.impact is not None  # there is a candidate
    if page.impact.surviving in subject.members:
        return f"{best.name!r} becomes part of {page.review.mention!r}, whose id stays"
    return f"{page.review.mention!r} becomes part of {best.name!r}, whose id stays"


def show_facts(screen: Screen, rows: Sequence[ComparedRow]) -> None:
    """Print the facts of both sides in rows: `=` equal, `!` other, `+` of one, `?` not told."""
    # Without a candidate there is nothing to lay beside a fact.
    shown_rows = [row for row in rows if row.candidates][:_FACT_ROWS]
    if not shown_rows:
        return

    width = max(len(row.slot) for row in shown_rows)
    words = max(len(row.mention.words) for row in shown_rows)
    for row in shown_rows:
        candidate = row.candidates[0]
        sign = candidate.sign or "+"
        line = f"  {sign} {row.slot:{width}}  {row.mention.words:{words}}  {candidate.words}"
        screen.line(line.rstrip())
    if len(rows) > _FACT_ROWS:
        screen.line(f"  and {len(rows) - _FACT_ROWS} slots more")


def _show_lines(screen: Screen, head: str, lines: tuple[str, ...]) -> None:
    for line in lines:
        screen.line(f"  {head}{line}")


def _beliefs(beliefs: tuple[ReviewBelief, ...]) -> str:
    """What a slot says over time, in a line."""
    parts: list[str] = []
    for belief in beliefs:
        mark = " (disputed)" if belief.disputed else ""
        parts.append(f"{belief.value} {span(belief.valid_from, belief.valid_until)}{mark}")
    return "; ".join(parts) or "nothing"


def _show_impact(screen: Screen, page: ReviewPage, impact: Impact) -> None:
    names = {view.entity_id: view.name for view in (page.entity, *page.candidates)}
    screen.line(
        f"accepting moves {counted(impact.moves, 'object')}, plans "
        f"{counted(len(impact.slots), 'slot')} anew, raises "
        f"{counted(len(impact.conflicts), 'conflict')}; "
        f"{names.get(impact.surviving, impact.surviving)} survives"
    )
    for change in impact.changes:
        screen.line(f"  {change.slot}: {_beliefs(change.before)}")
        screen.line(f"  {' ' * len(change.slot)}  will be {_beliefs(change.after)}")
    _show_lines(screen, "conflict: ", impact.conflicts)
    _show_lines(screen, "in the way: ", impact.standing)
    if impact.common:
        screen.line(f"  neighbours of both: {', '.join(impact.common)}")


def progress_line(state: QueueState) -> str:
    """How far the stewards are, as one line."""
    parts = [f"{state.waiting} left"]
    if state.oldest:
        parts.append(f"oldest {state.oldest}")
    if state.agreement is not None:
        parts.append(f"{state.agreement:.0%} of {state.decided} decided were as proposed")
    return "; ".join(parts)


class Desk:
    """The interactive mode: a case, a key, the next case."""

    def __init__(
        self,
        memory: Memory,
        screen: Screen,
        ask: Callable[[str], str],
        press: Callable[[], str] | None = None,
    ) -> None:
        """Take lines by `ask`, and single keys by `press`, without it the first of a line."""
        self._memory, self._screen, self._ask = memory, screen, ask
        # A dumb terminal gives lines alone, and so do tests.
        self._press = press or (lambda: ask("key").strip()[:1])
        self._decisions: list[str] = []
        self._set_aside: set[str] = set()

    def run(self) -> None:
        """Take keys until the queue is empty or the steward quits."""
        reviews = self._memory.reviews
        while True:
            case = self._next_case()
            if case is None:
                self._screen.line("nothing waits")
                if not self._undoes_the_last():
                    return
                continue

            # Read anew for each case: the decision before may have changed what this one is about.
            page = reviews.get(case.review_id)
            self._screen.line(progress_line(reviews.progress()))
            show_page(self._screen, page)
            show_facts(self._screen, compared_slots(self._memory, page))
            if not self._take_keys(page):
                return

    def _undoes_the_last(self) -> bool:
        """Offer to take the last decision back when the queue is empty."""
        if not self._decisions:
            return False
        self._screen.line("z takes the last decision back; any other key ends")
        if self._press() != "z":
            return False
        self._undo()
        return True

    def _undo(self) -> None:
        receipt = self._memory.reviews.undo(self._decisions.pop())
        self._screen.line(f"undone: {receipt.review.mention!r} waits again")

    def _next_case(self) -> Review | None:
        """The most pressing case that was not set aside; suggestions last."""
        # From the store each time, since other stewards decide cases meanwhile.
        for kind in _KINDS:
            for case in self._memory.reviews.list(kind=kind):
                if case.review_id not in self._set_aside:
                    return case
        return None

    def _take_keys(self, page: ReviewPage) -> bool:
        """Take keys until one decides or goes back; False when the steward quits."""
        while True:
            self._screen.line("y n u a s k z h o / ? q")
            key = self._press()
            if key == "q":
                return False
            try:
                if self._act(key, page):
                    return True
            except TenureError as refusal:
                self._screen.line(f"{refusal} [{refusal.code}]")
                if refusal.code in _STALE_CODES:
                    self._screen.line("somebody was here meanwhile; this is how it stands now")
                    return True

    def _act(self, key: str, page: ReviewPage) -> bool:
        """Do what a key says; True when the case is done with."""
        case, reviews = page.review, self._memory.reviews
        if key in _REMEMBER:
            self._accept(case, _REMEMBER[key])
        elif key in ("n", "x"):
            decision = reviews.reject(case.review_id, version=case.version)
            name = self._entity_name(decision)
            self._tell_decision(f"different: {case.mention!r} is {name}, an entity of its own")
        elif key == "u":
            reviews.unsure(case.review_id, version=case.version)
            self._tell_decision("unsure: it waits for new evidence")
        elif key == "k":
            self._set_aside.add(case.review_id)
            return True
        elif key == "/":
            return self._search(page)
        elif key == "z" and self._decisions:
            self._undo()
            return True
        else:
            self._tell(key, page)
            return False

        self._decisions.append(case.review_id)
        return True

    def _accept(self, case: Review, remember: Remembered, entity: str | None = None) -> None:
        decision = self._memory.reviews.accept(
            case.review_id, remember=remember, version=case.version, entity=entity
        )
        # Under the rule of two stewards the first word waits, and must not be asked for again.
        if decision.review.state is not ReviewState.ACCEPTED:
            self._screen.line("proposed; another steward must agree")
            self._set_aside.add(case.review_id)
        else:
            self._tell_decision(f"same: {case.mention!r} is {self._entity_name(decision)}")

    def _tell_decision(self, words: str) -> None:
        self._screen.line(f"{words}; z takes it back")

    def _entity_name(self, decision: ReviewReceipt) -> str:
        return entity_names(self._memory, [decision.canonical_id])[decision.canonical_id]

    def _search(self, page: ReviewPage) -> bool:
        """Look another candidate up, and take it if a number says so."""
        name = self._ask("which name?")
        candidates = self._memory.entities.resolve(name, page.review.type).candidates
        if not candidates:
            self._screen.line("  nobody of that name")
            return False

        for number, candidate in enumerate(candidates, 1):
            self._screen.line(
                f"  {number}  {candidate.name}  {candidate.score:.3f}  {candidate.entity}"
            )
        choice = self._ask("its number, or Enter for none of them").strip()
        # Anything but a number of the list is a no: nothing is merged by a slip.
        if not choice.isdigit() or not 1 <= int(choice) <= len(candidates):
            return False

        self._accept(page.review, "no", candidates[int(choice) - 1].entity)
        self._decisions.append(page.review.review_id)
        return True

    def _tell(self, key: str, page: ReviewPage) -> None:
        if key == "h":
            for view in (page.entity, *page.candidates):
                for moment, event in self._memory.entities.get(view.entity_id).history:
                    self._screen.line(f"  {when(moment)}  {event}")
        elif key == "o":
            self._show_sources(page)
        else:
            for name, meaning in KEYS.items():
                self._screen.line(f"  {name}  {meaning}")

    def _show_sources(self, page: ReviewPage) -> None:
        """Print what was written under the name, in full."""
        explanation = self._memory.explain(page.review.object_id)
        subject = explanation.object

        self._screen.line(
            f"  {subject.source_origin}, level {subject.authority_level}, {when(subject.tx_start)}"
        )
        self._screen.line(f"  {subject.content}")
        for link in explanation.mentions:
            self._screen.line(f"  mentions {link.surface!r}: {link.entity}")
        _show_lines(self._screen, "", page.snippets)
