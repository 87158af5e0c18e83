"""Commands for stewards: `review`, `entities`, `merge`, `unmerge`, `resolve`, `resolution why`.

`review` without a sub-command opens one case after the other and takes single keys; without a
terminal it lists the queue, so a script never hangs. Every decision states the version it saw.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from ..client.summaries import entity_names, value_names, value_words
from ..visual.text import counted, when
from .desk import Desk, show_page
from .frame import answer, examples, open_memory
from .ids import entity_of, merge_of, review_of
from .show import Columns, Screen

if TYPE_CHECKING:
    from ...schema.answers import EntityView
    from ...schema.entity import EntityCandidate, Resolution, Review
    from ...schema.words import GraphForm, Remembered, ReviewKind, ReviewStatus
    from ..client.memory import Memory
    from ..stewardship.comparing import EntityComparison
    from ..stewardship.entities import EntityPage

app = typer.Typer()
review_app = typer.Typer(help="Decide which names mean one entity.", rich_markup_mode=None)
resolution_app = typer.Typer(help="Measure and refit name matching.", rich_markup_mode=None)
app.add_typer(review_app, name="review", invoke_without_command=True)

ReviewId = Annotated[
    str, typer.Argument(help="A review id, its beginning, or the name that waits.")
]
NameOrId = Annotated[str, typer.Argument(help="A name, an entity id, or its beginning.")]
Reason = Annotated[str, typer.Option(help="Why, for the record.")]


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
    from ...resolution.vetoes import sentence_of
    from ..stewardship.review_page import waterfall

    for line in waterfall(candidate):
        screen.line(f"  {line}")
    for veto in candidate.vetoes:
        screen.line(f"  held back: {sentence_of(veto)}")


_DECISIONS: Final[Mapping[str, str]] = {
    "bind": "this alone would make them one",
    "review": "a person would be asked",
    "new": "they would stay two",
}


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
            names = value_names(memory, page.facts)
            answer(context, page, lambda screen: _show_entity(screen, page, names))
        else:
            listing = memory.entities.list(type, after=after, limit=limit)
            # Pages go by id, a whole list by name, as people look for one.
            rows = listing if after or limit else sorted(listing, key=_name_order)
            answer(context, listing, lambda screen: screen.table(rows, _ENTITIES))


def _name_order(entity: EntityView) -> tuple[str, str]:
    return entity.name.casefold(), entity.entity_id


_ENTITIES: Columns = {
    "name": "name",
    "type": "type",
    "state": "state",
    "aliases": lambda view: [alias for alias in view.aliases if alias != view.name],
    "id": "entity_id",
}


_MORE: Final = "\n  some of it this caller may not see"
"""Under what a steward did of which other roles see more."""


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
    answer(context, union, text + _MORE * union.withheld)


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
    answer(context, split, text + _MORE * split.withheld)


def _name(memory: Memory, entity_id: str) -> str:
    return f"{entity_names(memory, [entity_id])[entity_id]} ({entity_id})"


def _show_entity(screen: Screen, page: EntityPage, names: Mapping[str, str]) -> None:
    subject = page.entity
    screen.line(f"{subject.name} ({subject.type}, {subject.state}) {subject.entity_id}")

    for moment, event in page.history:
        screen.line(f"  {when(moment)}  {event}")
    for slot, state in page.facts.items():
        status = "" if state.status.value == "clean" else f" ({state.status.value})"
        screen.line(f"  {slot}: {value_words(state, names)}{status}")


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
