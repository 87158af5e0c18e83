"""Commands for stewards: `review`, `entities`, `merge`, `unmerge`, `resolve`, `resolution why`.

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
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from ...schema.entity import AUDIT, SUGGESTION
from ...schema.errors import TenureError
from ...schema.vocabulary import ReviewState
from ...service.client.answer import compared_slots, entity_names, state_reader
from ...service.stewardship.review_page import is_tie
from ...service.visual.text import counted, held_span, when
from .frame import Columns, Screen, answer, entity_of, examples, merge_of, open_memory, review_of

if TYPE_CHECKING:
    from ...schema.answers import EntityView, ReviewReceipt
    from ...schema.entity import EntityCandidate, Resolution, Review
    from ...schema.slots import GraphForm, Remembered, ReviewKind, ReviewStatus
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
resolution_app = typer.Typer(help="Measure and refit name matching.", rich_markup_mode=None)

ReviewId = Annotated[
    str, typer.Argument(help="A review id, its beginning, or the name that waits.")
]
NameOrId = Annotated[str, typer.Argument(help="A name, an entity id, or its beginning.")]
Reason = Annotated[str, typer.Option(help="Why, for the record.")]

_DECISIONS: Final[Mapping[str, str]] = {
    "bind": "this alone would make them one",
    "review": "a person would be asked",
    "new": "they would stay two",
}

_ENTITIES: Columns = {
    "name": "name",
    "type": "type",
    "state": "state",
    "aliases": lambda view: [alias for alias in view.aliases if alias != view.name],
    "id": "entity_id",
}

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
            _list(context, memory, "open", "blocking")
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


@review_app.command("list")
def list_cases(
    context: typer.Context,
    status: Annotated[str, typer.Option(help="open, unsure, accepted, rejected, all")] = "open",
    kind: Annotated[str, typer.Option(help="blocking, possible_same_as, audit, all")] = "blocking",
) -> None:
    """List cases, the most pressing first."""
    with open_memory(context) as memory:
        _list(context, memory, status, kind)


@review_app.command()
def show(context: typer.Context, review_id: ReviewId) -> None:
    """Show a case, its evidence, and what accepting would do."""
    with open_memory(context) as memory:
        page = memory.reviews.get(review_of(memory, review_id))
        answer(context, page, lambda screen: show_page(screen, page))


@review_app.command("open", epilog=examples("tenure review open 'Sam Lee' 'Samuel Lee'"))
def open_pair(context: typer.Context, a: NameOrId, b: NameOrId, reason: Reason = "") -> None:
    """Ask whether two entities are one: stewards decide it."""
    with open_memory(context) as memory:
        view = memory.as_of()
        left, right = view.entity(entity_of(memory, a)), view.entity(entity_of(memory, b))
        case = memory.reviews.open(left.entity_id, right.entity_id, reason=reason)
        question = f"are {left.name!r} and {right.name!r} one?"
        answer(context, case, f"review {case.review_id} waits: {question}")


@review_app.command()
def accept(
    context: typer.Context,
    review_id: ReviewId,
    remember: Annotated[str, typer.Option(help="scope, all or no")] = "scope",
    entity: Annotated[
        str | None, typer.Option(help="Another entity than the best one: its name, or its id.")
    ] = None,
    reason: Reason = "",
) -> None:
    """Say that the name means the candidate."""
    with open_memory(context) as memory:
        scope = cast("Remembered", remember)  # the call names the words that it takes
        if entity is not None:
            entity = memory.as_of().entity(entity_of(memory, entity)).entity_id
        decision = memory.reviews.accept(
            review_of(memory, review_id), remember=scope, entity=entity, reason=reason
        )
        answer(context, decision, f"one entity: {_name(memory, decision.canonical_id)}")


@review_app.command()
def reject(context: typer.Context, review_id: ReviewId, reason: Reason = "") -> None:
    """Say that the name means none of them. Namesakes are split."""
    with open_memory(context) as memory:
        decision = memory.reviews.reject(review_of(memory, review_id), reason=reason)
        answer(context, decision, f"an entity of its own: {_name(memory, decision.canonical_id)}")


@review_app.command()
def unsure(context: typer.Context, review_id: ReviewId, reason: Reason = "") -> None:
    """Record that you looked and could not say."""
    with open_memory(context) as memory:
        answer(
            context,
            memory.reviews.unsure(review_of(memory, review_id), reason=reason),
            "noted as unsure",
        )


@review_app.command()
def undo(context: typer.Context, review_id: ReviewId, reason: Reason = "") -> None:
    """Take the last decision of a case back, however long ago."""
    with open_memory(context) as memory:
        decision = memory.reviews.undo(review_of(memory, review_id), reason=reason)
        answer(context, decision, "undone; the case waits again")


_DOUBTFUL: Columns = {
    "names": "names",
    "now": lambda bind: f"{bind.now:.3f}",
    "why": "vetoes",
    "merge": "merge_id",
}


@resolution_app.command()
def doubtful(context: typer.Context) -> None:
    """List automatic binds that today's model would not make."""
    with open_memory(context) as memory:
        answer(context, memory.resolution.doubtful(), _DOUBTFUL)


@resolution_app.command(epilog=examples("tenure resolution why 'Sam Lee' 'Samuel Lee'"))
def why(context: typer.Context, a: NameOrId, b: NameOrId) -> None:
    """Show why two entities would be one, or two, by evidence."""
    with open_memory(context) as memory:
        comparison = memory.entities.compare(entity_of(memory, a), entity_of(memory, b))
        answer(context, comparison, lambda screen: _show_comparison(screen, comparison))


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


@resolution_app.command(epilog=examples("tenure resolution how 'Sam Lee'"))
def how(context: typer.Context, entity: NameOrId) -> None:
    """Show how an entity became what it is, judgement by judgement."""
    with open_memory(context) as memory:
        page = memory.entities.get(entity_of(memory, entity))
        columns: Columns = {
            "when": "since",
            "verdict": "verdict",
            "one": lambda row: f"{row.left_name} ({row.left[:8]})",
            "other": lambda row: f"{row.right_name} ({row.right[:8]})",
            "by": lambda row: f"{row.judged_by}, {row.actor}",
            "score": lambda row: "" if row.score is None else f"{row.score:.3f}",
            "until": lambda row: when(row.until, missing="now"),
            "merge": "merge_id",
        }
        lonely = f"{page.entity.name}: nobody has judged it, so it is one entity as it was named"
        answer(context, page.judgements, columns if page.judgements else lonely)


@app.command(epilog=examples("tenure resolve 'S. Rivera' --type person"))
def resolve(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name, as somebody might write it.")],
    type: Annotated[str | None, typer.Option(help="Of what it is the name.")] = None,
) -> None:
    """Show whom a name would mean, and why. Nothing is written."""
    with open_memory(context) as memory:
        resolution = memory.entities.resolve(name, type)
        names = entity_names(memory, [resolution.entity])
        answer(
            context, resolution, lambda screen: _show_resolution(screen, name, resolution, names)
        )


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


@review_app.command(epilog=examples("tenure review groups --by source"))
def groups(
    context: typer.Context,
    dimension: Annotated[
        str, typer.Option("--by", help="mention, source, scope, type or reason")
    ] = "mention",
) -> None:
    """Count what waits in groups, the largest first."""
    with open_memory(context) as memory:
        columns = {"cases": "cases", dimension: "value", "oldest": "oldest", "names": "mentions"}
        answer(context, memory.reviews.groups(dimension), columns)


@review_app.command(
    epilog=examples(
        "tenure review bulk reject --source import://crm",
        "tenure review bulk accept --mention 'S. Rivera' --yes",
    )
)
def bulk(
    context: typer.Context,
    decision: Annotated[str, typer.Argument(help="accept, reject or unsure")],
    mention: Annotated[str | None, typer.Option(help="Only cases of this name.")] = None,
    scope: Annotated[str | None, typer.Option(help="Only cases of this scope.")] = None,
    type: Annotated[str | None, typer.Option(help="Only names of this type.")] = None,
    source: Annotated[str | None, typer.Option(help="Only cases of this origin.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Decide; without it, only show.")] = False,
    reason: Reason = "",
) -> None:
    """Decide all cases of a filter alike, at most 100.

    It shows them first, and decides with --yes.
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


@app.command(
    epilog=examples("tenure entities 'Sam Rivera'", "tenure entities --export team.graphml")
)
def entities(
    context: typer.Context,
    entity: Annotated[str | None, typer.Argument(help="A name or an id; all without it.")] = None,
    type: Annotated[str | None, typer.Option(help="Only of this type.")] = None,
    after: Annotated[str, typer.Option(help="Only above this id: the last of a page.")] = "",
    limit: Annotated[int | None, typer.Option(help="At most so many; all without it.")] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the graph here: GraphML, or JSON for .json.")
    ] = None,
) -> None:
    """List entities, show one with its history, or draw the graph.

    Only those whose names you may see.
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
            rows = listing if after or limit else sorted(listing, key=_name_order)
            answer(context, listing, lambda screen: screen.table(rows, _ENTITIES))


def _name_order(entity: EntityView) -> tuple[str, str]:
    return entity.name.casefold(), entity.entity_id


@app.command(epilog=examples("tenure merge 'Sam Lee' 'Samuel Lee' --reason 'the same badge'"))
def merge(context: typer.Context, a: NameOrId, b: NameOrId, reason: Reason = "") -> None:
    """Make two entities one; `unmerge` takes it back."""
    with open_memory(context) as memory:
        view = memory.as_of()
        # By id from here on: a merge may change what a name means.
        left, right = view.entity(entity_of(memory, a)), view.entity(entity_of(memory, b))

        union = memory.entities.merge(left.entity_id, right.entity_id, reason=reason)
        name = _name(memory, union.canonical_id)
    text = f"one entity: {name}; take it back with:\n  tenure unmerge {union.merge_id}"
    if not union.merge_id:
        text = f"they are one entity already: {name}"
    text += "".join(f"\n  {warning}" for warning in union.warnings)
    answer(context, union, text + _SOME_WITHHELD * union.withheld)


@app.command()
def unmerge(
    context: typer.Context,
    merge_id: Annotated[
        str, typer.Argument(help="The id that `tenure merge` printed, or its beginning.")
    ],
    reason: Reason = "",
) -> None:
    """Take a merge back. What was written since stays with its side."""
    with open_memory(context) as memory:
        split = memory.entities.unmerge(merge_of(memory, merge_id), reason=reason)
        names = [_name(memory, part[0]) for part in split.parts]
    text = "\n  ".join([f"{len(names)} entities again:", *names])
    answer(context, split, text + _SOME_WITHHELD * split.withheld)


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


def _list(context: typer.Context, memory: Memory, status: str, kind: str) -> None:
    stated_status = cast("ReviewStatus", status)
    cases = memory.reviews.list(stated_status, kind=cast("ReviewKind", kind))
    placeholder = "no case waits"
    if kind == "blocking" and not cases:
        # A pair that a steward opened for another blocks no write, and waits all the same.
        suggestions = memory.reviews.list(stated_status, kind="all")
        if suggestions:
            count = counted(len(suggestions), "case")
            placeholder = f"nothing blocks; {count} beside it: tenure review list --kind all"

    answer(context, cases, lambda screen: screen.table(cases, _CASES, placeholder=placeholder))


def _best_name(case: Review) -> str:
    return case.candidates[0].name if case.candidates else ""


def _best_score(case: Review) -> str:
    return f"{case.candidates[0].score:.3f}" if case.candidates else ""


_CASES: Columns = {
    "name": "mention",
    "type": "type",
    "reason": "reason",
    "best candidate": _best_name,
    "score": _best_score,
    "state": "state",
    "review": "review_id",
}


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
                    self._screen.line("somebody was here meanwhile; this is how it stands now")
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
