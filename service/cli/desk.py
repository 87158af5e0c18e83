"""The desk: the interactive review, one case and one key at a time, over any terminal.

It prints the case with its evidence, what accepting would do and what is in the way, takes a
key and goes on. Every decision states the version it saw, so two stewards never both decide;
`z` takes the last one back. Sources: resolution 9; API "Command line".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...schema.errors import TenureError
from ...schema.vocabulary import ReviewState
from .show import when

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.entity import Review
    from ..client.memory import Memory
    from ..stewardship.review_page import QueueState, ReviewPage

KEYS = {
    "y": "same: it is the first candidate (the name is not kept as an alias)",
    "s": "same, and remember the name in this scope",
    "a": "same, and remember the name in every scope",
    "n": "different (x too)",
    "u": "unsure: asked again when there is new evidence",
    "z": "undo the last decision",
    "h": "history of both entities",
    "o": "open the sources",
    "/": "search another candidate",
    "?": "these keys",
    "q": "quit",
}
_REMEMBER = {"y": "no", "s": "scope", "a": "all"}


def show_page(out: Console, page: ReviewPage) -> None:
    """Print a case: what is asked, the evidence, and what accepting would do."""
    case = page.review
    best = page.candidates[0] if page.candidates else None
    out.print(f"\n{case.mention!r} ({case.type}) in {case.scope_id}: {case.reason}", markup=False)
    if best:
        score = case.candidates[0].score
        out.print(f"is it {best.name!r} ({best.type}, {best.entity_id})?", markup=False)
        out.print(f"p {score:.3f}, log-odds {case.candidates[0].log_odds:.2f}; "
                  f"bind at {page.bind_at:.2f}, review above {page.review_above:.2f}",
                  markup=False)  # fmt: skip
    for line in (*(f"held back: {veto}" for veto in page.vetoes), *page.waterfall):
        out.print(f"  {line}", markup=False)
    for tip in page.tips:
        out.print(f"  would tip it: {tip}", markup=False)
    for text in page.snippets:
        out.print(f"  source: {text}", markup=False)
    if case.decided_entity:
        out.print(f"{case.decided_by} says yes; another steward must agree", markup=False)
    if page.impact:
        out.print(
            f"accepting moves {page.impact.moves} objects, plans {len(page.impact.slots)} slots "
            f"anew, raises {len(page.impact.conflicts)} conflicts; "
            f"{page.impact.surviving} survives",
            markup=False,
        )
        for conflict in page.impact.conflicts:
            out.print(f"  conflict: {conflict}", markup=False)
        for standing in page.impact.standing:
            out.print(f"  in the way: {standing}", markup=False)
        if page.impact.common:
            out.print(f"  neighbours of both: {', '.join(page.impact.common)}", markup=False)
    for number, group in enumerate(page.groups, 1):
        out.print(f"  story {number}: {len(group)} claims", markup=False)


def progress_line(state: QueueState) -> str:
    """Return how far the stewards are, as one line."""
    parts = [f"{state.waiting} left", f"oldest {state.oldest}" if state.oldest else ""]
    if state.agreement is not None:
        parts.append(f"{state.agreement:.0%} of {state.decided} decided were as proposed")
    return "; ".join(part for part in parts if part)


class Desk:
    """The interactive mode: a case, a key, the next case."""

    def __init__(self, memory: Memory, out: Console, ask: Callable[[str], str]) -> None:
        self._memory, self._out, self._ask = memory, out, ask
        self._decided: list[str] = []
        self._passed: set[str] = set()

    def run(self) -> None:
        """Take keys until the queue is empty or the steward quits."""
        while True:
            waiting = [c for c in self._memory.reviews.list() if c.review_id not in self._passed]
            if not waiting:
                self._out.print("nothing waits")
                return
            page = self._memory.reviews.get(waiting[0].review_id)
            self._out.print(progress_line(self._memory.reviews.progress()), markup=False)
            show_page(self._out, page)
            if not self._answer(page):
                return

    def _answer(self, page: ReviewPage) -> bool:
        """Take keys until one decides, goes back or quits; return whether to go on."""
        while True:
            key = self._ask("y n u a s z h o / ? q").strip()[:1]
            if key == "q":
                return False
            try:
                if self._act(key, page):
                    return True
            except TenureError as refused:
                self._out.print(f"{refused} [{refused.code}]", markup=False)

    def _act(self, key: str, page: ReviewPage) -> bool:
        case, reviews = page.review, self._memory.reviews
        if key in _REMEMBER:
            self._accept(case, _REMEMBER[key])
        elif key == "/":
            return self._search(page)
        elif key in ("n", "x"):
            reviews.reject(case.review_id, version=case.version)
        elif key == "u":
            reviews.unsure(case.review_id, version=case.version)
        elif key == "z" and self._decided:
            reviews.undo(self._decided.pop())
            return True
        else:
            self._tell(key, page)
            return False
        self._decided.append(case.review_id)
        return True

    def _accept(self, case: Review, remember: str, entity: str | None = None) -> None:
        done = self._memory.reviews.accept(
            case.review_id, remember=remember, version=case.version, entity=entity
        )
        if done.review.state is not ReviewState.ACCEPTED:
            self._out.print("proposed; another steward must agree")
            self._passed.add(case.review_id)

    def _search(self, page: ReviewPage) -> bool:
        """Look another candidate up, and take it if a number says so."""
        found = self._memory.entities.resolve(self._ask("which name?"), page.review.type).candidates
        for number, one in enumerate(found, 1):
            self._out.print(f"  {number}  {one.name}  {one.score:.3f}  {one.entity}", markup=False)
        if not found:
            self._out.print("  nobody of that name")
            return False
        said = self._ask("its number, or Enter for none of them").strip()
        if not said.isdigit() or not 1 <= int(said) <= len(found):
            return False
        self._accept(page.review, "no", found[int(said) - 1].entity)
        self._decided.append(page.review.review_id)
        return True

    def _tell(self, key: str, page: ReviewPage) -> None:
        if key == "h":
            for one in (page.entity, *page.candidates):
                for at, what in self._memory.entities.get(one.entity_id).history:
                    self._out.print(f"  {when(at)}  {what}", markup=False)
        elif key == "o":
            self._sources(page)
        else:
            for name, what in KEYS.items():
                self._out.print(f"  {name}  {what}", markup=False)

    def _sources(self, page: ReviewPage) -> None:
        """Print what was written under the name, in full."""
        told = self._memory.explain(page.review.object_id)
        one = told.object
        self._out.print(f"  {one.source_origin}, level {one.authority_level}, {when(one.tx_start)}")
        self._out.print(f"  {one.content}", markup=False)
        for link in told.mentions:
            self._out.print(f"  mentions {link.surface!r}: {link.entity}", markup=False)
        for text in page.snippets:
            self._out.print(f"  {text}", markup=False)
