"""Commands for stewards: `review`, `entities`, `merge`, `unmerge`, `resolve`, `resolution score`.

`review` without a sub-command opens the interactive desk; without a terminal it lists the queue, so
a script never hangs. The desk prints one case with its evidence, the facts of both sides, and the
effects and obstacles of accepting. It reads a single key, reports what it did and goes on. Blocking
cases come first, then audits, then suggestions. `z` reverses the last decision.

Every decision states the version it saw, so two stewards never both decide; a case that changed in
the meantime is read again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ...schema.entity import AUDIT, SUGGESTION
from ...schema.errors import TenureError
from ...schema.vocabulary import ReviewState
from ...service.client.answer import compared_slots, entity_names, state_reader
from ...service.stewardship.review_page import is_tie
from ...service.visual.text import counted, held_span, when
from .commands import CallAnswer, Display, call_command, command
from .frame import Screen, View, answer, columns, entity_of, examples, open_memory

if TYPE_CHECKING:
    from ...schema.answers import EntityView, ReviewReceipt
    from ...schema.entity import EntityCandidate, Resolution, Review
    from ...schema.slots import GraphForm, Remembered, ReviewKind
    from ...service.client.answer import ComparedRow
    from ...service.client.memory import Memory
    from ...service.stewardship.entities import EntityPage
    from ...service.stewardship.review_page import (
        EntityComparison,
        Impact,
        QueueState,
        ReviewBelief,
        ReviewPage,
    )

KEYS = {
    "y": "same: it is the first candidate (the name is not kept as an alias)",
    "1-9": "it is the candidate of that number",
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

app = typer.Typer()
review_app = typer.Typer(help="Decide which names mean one entity.", rich_markup_mode=None)
resolution_app = typer.Typer(
    help="Find duplicates, and explain name matching.", rich_markup_mode=None
)


_DECISIONS: Final[Mapping[str, str]] = {
    "bind": "this alone would make them one",
    "review": "a person would be asked",
    "new": "they would stay two",
}

_ENTITIES = columns(
    "name type state aliases id=entity_id",
    aliases=lambda view: [alias for alias in view.aliases if alias != view.name],
)

_SOME_WITHHELD: Final = "\n  some of it this caller may not see"
"""Under what a steward did of which other roles see more."""


app.add_typer(review_app, name="review", invoke_without_command=True)


@review_app.callback(epilog=examples("tenure review", "tenure review list --kind all"))
def review(context: typer.Context) -> None:
    """Decide cases by single keys. Without a terminal, list them."""
    if context.invoked_subcommand is not None:
        return
    with open_memory(context) as memory:
        # Keys need a terminal on both sides: a script that waits for one would hang for ever.
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            cases = memory.reviews.list()
            answer(context, cases, _case_table(memory, cases, "open", "blocking"))
            return

        from rich.prompt import Prompt

        screen = Screen.of_process()
        press = None if os.environ.get("TERM") == "dumb" else pressed_key
        Desk(memory, screen, lambda text: Prompt.ask(text, console=screen.console), press).run()


def pressed_key() -> str:
    """One key, without Enter; the end of the input quits."""
    try:
        return typer.getchar()
    except EOFError:
        return "q"


@call_command(review_app, "reviews.list", name="list")
def list_cases(page: CallAnswer) -> Display:
    """List cases, the most urgent first."""
    cases, status, kind = page.value, page.arguments["status"], page.arguments["kind"]
    return _case_table(page.memory, cases, status, kind)


@call_command(review_app, "reviews.get", name="show")
def show(page: CallAnswer) -> Display:
    """Show a case, its evidence, and what accepting would do."""
    return lambda screen: show_page(screen, page.value)


@call_command(review_app, "reviews.open", "tenure review open 'Sam Lee' 'Samuel Lee'", name="open")
def open_pair(page: CallAnswer) -> Display:
    """Open a case that asks stewards whether two entities are one."""
    names = entity_names(page.memory, [page.arguments["a"], page.arguments["b"]]).values()
    question = f"are {' and '.join(map(repr, names))} one?"
    return f"review {page.value.review_id} waits: {question}"


@call_command(review_app, "reviews.accept")
def accept(page: CallAnswer) -> Display:
    """Say that the name means the candidate."""
    return f"one entity: {_name(page.memory, page.value.canonical_id)}"


@call_command(review_app, "reviews.reject")
def reject(page: CallAnswer) -> Display:
    """Say that the name means none of them. A case of two people is split."""
    return f"an entity of its own: {_name(page.memory, page.value.canonical_id)}"


@call_command(review_app, "reviews.unsure")
def unsure(_: CallAnswer) -> Display:
    """Record that you examined the case and could not decide."""
    return "noted as unsure"


@call_command(review_app, "reviews.undo")
def undo(_: CallAnswer) -> Display:
    """Undo the last decision of a case, at any time."""
    return "undone; the case waits again"


@call_command(resolution_app, "resolution.audit")
def audit(_: CallAnswer) -> Display:
    """List automatic binds that today's model would not make."""
    return columns("names now=now:.3f why=vetoes merge=merge_id")


@call_command(resolution_app, "entities.compare", "tenure resolution score 'Sam Lee' 'Samuel Lee'")
def score(page: CallAnswer) -> Display:
    """Show the evidence for and against a merge of two entities."""
    return lambda screen: _show_comparison(screen, page.value)


def _show_comparison(screen: Screen, comparison: EntityComparison) -> None:
    candidate = comparison.candidate
    screen.line(f"{comparison.names[0]!r} and {comparison.names[1]!r} ({comparison.right.type})")
    _show_evidence(screen, candidate)
    screen.line(f"  {candidate.log_odds:+.2f}  total: p {candidate.score:.3f}")

    bands = (
        f"binds from {comparison.bind_at:.2f}, asks a person above {comparison.review_above:.2f}"
    )
    screen.line(f"{_DECISIONS[comparison.decision]}; {bands}")
    for tip in comparison.tips:
        screen.line(f"  would tip it: {tip}")
    if comparison.are_one:
        screen.line(f"they are one entity: {comparison.right.name} ({comparison.right.entity_id})")


def _show_evidence(screen: Screen, candidate: EntityCandidate) -> None:
    from ...service.stewardship.review_page import sentence_of, waterfall

    for line in waterfall(candidate):
        screen.line(f"  {line}")
    for veto in candidate.vetoes:
        screen.line(f"  held back: {sentence_of(veto)}")


@call_command(resolution_app, "entities.get", "tenure resolution explain 'Sam Lee'")
def explain(page: CallAnswer) -> Display:
    """Show every judgement that made an entity."""
    entity, judgements = page.value.entity, page.value.judgements
    if not judgements:
        lonely = f"{entity.name}: no judgement exists, so it is one entity as it was named"
        return judgements, lonely
    return judgements, columns(
        "when=since verdict one other by score until=until|now merge=merge_id",
        one=lambda row: f"{row.left_name} ({row.left[:8]})",
        other=lambda row: f"{row.right_name} ({row.right[:8]})",
        by=lambda row: f"{row.judged_by}, {row.actor}",
        score=lambda row: "" if row.score is None else f"{row.score:.3f}",
    )


@call_command(app, "entities.resolve", "tenure resolve 'S. Rivera' --type person")
def resolve(page: CallAnswer) -> Display:
    """Show which entity a name means, and why. Write nothing."""
    names = entity_names(page.memory, [page.value.entity])
    return lambda screen: _show_resolution(screen, page.arguments["mention"], page.value, names)


def _show_resolution(
    screen: Screen, name: str, resolution: Resolution, names: Mapping[str, str]
) -> None:
    target = names.get(resolution.entity or "", "a new entity")
    screen.line(f"{name!r}: {resolution.decision} ({resolution.reason}), {target}")
    for candidate in resolution.candidates:
        screen.line(f"\n{candidate.name} ({candidate.entity}): p {candidate.score:.3f}")
        _show_evidence(screen, candidate)
        if any(feature.weight for feature in candidate.features):
            screen.line(f"  {candidate.log_odds:+.2f}  total")


@call_command(review_app, "reviews.groups", "tenure review groups --by source")
def groups(page: CallAnswer) -> Display:
    """Count open cases in groups, the largest first."""
    return {
        "cases": "cases",
        page.arguments["by"]: "value",
        "oldest": "oldest",
        "names": "mentions",
    }


@command(
    review_app,
    "tenure review decide-all reject --source import://crm",
    "tenure review decide-all accept --mention 'S. Rivera' --yes",
    name="decide-all",
)
def decide_all(
    context: typer.Context,
    decision: str,
    *,
    mention: str | None = None,
    scope: str | None = None,
    type: str | None = None,
    source: str | None = None,
    yes: bool = False,
    reason: str = "",
) -> None:
    """Decide all cases of a filter in the same way, at most 100.

    Without --yes it only shows them.

    Options:
        decision: accept, reject or unsure
        mention: Only cases of this name.
        scope: Only cases of this scope.
        type: Only names of this type.
        source: Only cases of this origin.
        yes: Decide; without it, only show.
        reason: Why, for the record.
    """
    with open_memory(context) as memory:
        cases = memory.reviews.matching(mention=mention, scope=scope, type=type, source=source)
        # Just the cases that were matched, each at its version: one that came since is not decided.
        if yes:
            decisions = memory.reviews.decide_all(cases, decision, reason=reason)
            answer(context, decisions, f"{decision}: {counted(len(decisions), 'case')}")
            return

    def show(screen: Screen) -> None:
        screen.table(cases, _CASES)
        screen.line(f"{counted(len(cases), 'case')}; decide with --yes: {decision}")

    answer(context, cases, show)


@command(app, "tenure entities 'Sam Rivera'", "tenure entities --export team.graphml")
def entities(
    context: typer.Context,
    entity: str | None = None,
    *,
    type: str | None = None,
    after: str = "",
    limit: int | None = None,
    export: Path | None = None,
) -> None:
    """List entities, show one with its history, or draw the graph.

    Only those whose names you may see.

    Options:
        entity: A name or an id; all without it.
        type: Only of this type.
        after: Only above this id: the last of a page.
        limit: Maximum number; default all.
        export: Write the graph here: GraphML, or JSON for .json.
    """
    with open_memory(context) as memory:
        if export is not None:
            form: GraphForm = "json" if export.suffix == ".json" else "graphml"
            memory.entities.export(export, format=form)
            answer(context, {"file": str(export)}, f"wrote {export}")
        elif entity is not None:
            page = memory.entities.get(entity_of(memory, entity))
            answer(context, page, lambda screen: _show_entity(screen, page))
        else:
            listing = memory.entities.list(type, after=after, limit=limit)
            # Pages go by id, a whole list by name, as people look for one.
            rows: Sequence[EntityView] = listing
            if not after and not limit:
                rows = sorted(listing, key=lambda view: (view.name.casefold(), view.entity_id))
            answer(context, listing, lambda screen: screen.table(rows, _ENTITIES))


@call_command(
    app, "entities.merge", "tenure merge 'Sam Lee' 'Samuel Lee' --reason 'the same badge'"
)
def merge(page: CallAnswer) -> Display:
    """Merge two entities; `unmerge` undoes it."""
    union = page.value
    name = _name(page.memory, union.canonical_id)
    text = f"one entity: {name}; take it back with:\n  tenure unmerge {union.merge_id}"
    if not union.merge_id:
        text = f"they are one entity already: {name}"
    text += "".join(f"\n  {warning}" for warning in union.warnings)
    return text + (_SOME_WITHHELD if union.withheld else "")


@call_command(app, "entities.unmerge")
def unmerge(page: CallAnswer) -> Display:
    """Undo a merge. Later writes stay with their side."""
    names = [_name(page.memory, part[0]) for part in page.value.parts]
    text = "\n  ".join([f"{len(names)} entities again:", *names])
    return text + (_SOME_WITHHELD if page.value.withheld else "")


def _name(memory: Memory, entity_id: str) -> str:
    return f"{entity_names(memory, [entity_id])[entity_id]} ({entity_id})"


def _show_entity(screen: Screen, page: EntityPage) -> None:
    subject = page.entity
    screen.line(f"{subject.name} ({subject.type}, {subject.state}) {subject.entity_id}")

    for moment, event in page.history:
        screen.line(f"  {when(moment)}  {event}")
    text = state_reader(page.facts.values())
    for slot, state in page.facts.items():
        status = "" if state.status.value == "clean" else f" ({state.status.value})"
        screen.line(f"  {slot}: {text(state)}{status}")


def _case_table(memory: Memory, cases: Sequence[Review], status: Any, kind: Any) -> View:
    placeholder = "no case waits"
    if kind == "blocking" and not cases:
        # A pair that a steward opened for another blocks no write, and waits all the same.
        suggestions = memory.reviews.list(status, kind="all")
        if suggestions:
            count = counted(len(suggestions), "case")
            placeholder = f"nothing blocks; {count} more: tenure review list --kind all"

    return lambda screen: screen.table(cases, _CASES, placeholder=placeholder)


_CASES = columns(
    "name=mention type reason best_candidate score state review=review_id",
    best_candidate=lambda case: case.candidates[0].name if case.candidates else "",
    score=lambda case: f"{case.candidates[0].score:.3f}" if case.candidates else "",
)


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
        if len(case.candidates) > 1:
            for number, candidate in enumerate(case.candidates, 1):
                screen.line(
                    f"  {number}  {candidate.name}  {candidate.score:.3f}  {candidate.entity}"
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


def _show_impact(screen: Screen, page: ReviewPage, impact: Impact) -> None:
    names = {view.entity_id: view.name for view in (page.entity, *page.candidates)}
    screen.line(
        f"accepting moves {counted(impact.moves, 'object')}, plans "
        f"{counted(len(impact.slots), 'slot')} again, raises "
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


def _beliefs(beliefs: tuple[ReviewBelief, ...]) -> str:
    """What a slot says over time, in a line."""
    parts: list[str] = []
    for belief in beliefs:
        mark = " (disputed)" if belief.disputed else ""
        parts.append(f"{belief.value} {held_span(belief)}{mark}")
    return "; ".join(parts) or "nothing"


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
            self._screen.line("y n u 1-9 a s k z h o / ? q")
            key = self._press()
            if key == "q":
                return False
            try:
                if self._act(key, page):
                    return True
            except TenureError as refusal:
                self._screen.line(f"{refusal} [{refusal.code}]")
                if refusal.code in _STALE_CODES:
                    self._screen.line("another steward changed it meanwhile; this is its state now")
                    return True

    def _act(self, key: str, page: ReviewPage) -> bool:
        """Do what a key says; True when the case is done with."""
        case, reviews = page.review, self._memory.reviews
        if key in _REMEMBER and is_tie(case):
            self._screen.line("the first candidates are equal: press the number of one")
            return False
        if key in _REMEMBER:
            self._accept(case, _REMEMBER[key])
        elif key.isdigit() and 1 <= int(key) <= len(case.candidates):
            self._accept(case, "no", case.candidates[int(key) - 1].entity)
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
            self._screen.line("  no entity has that name")
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
