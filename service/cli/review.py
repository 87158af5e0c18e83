"""Commands for stewards: `review`, `entities`, `merge`, `unmerge`, `resolution evaluate`.

`review` without a sub-command opens one case after the other and takes single keys; without a
terminal it lists the queue, so a script never hangs. Every decision states the version it saw.
Sources: API "Command line"; resolution 9 and 11.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...schema.errors import InvalidInput, NotFound
from .desk import Desk, show_page
from .frame import examples, opened
from .show import answer, table, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...resolution.evaluate import Interval95, Report, SetReport
    from ...schema.entity import Review
    from ..client.memory import Memory
    from ..stewardship.entities import EntityPage

app = typer.Typer()
review_app = typer.Typer(help="Decide which names mean one entity.", rich_markup_mode=None)
resolution_app = typer.Typer(help="Measure and refit name matching.", rich_markup_mode=None)
app.add_typer(review_app, name="review", invoke_without_command=True)
app.add_typer(resolution_app, name="resolution")

ReviewId = Annotated[str, typer.Argument(help="A review id, from `tenure review list`.")]
Named = Annotated[str, typer.Argument(help="A name or an entity id.")]
Reason = Annotated[str, typer.Option(help="Why, for the record.")]


@review_app.callback(epilog=examples(["tenure review", "tenure review list --kind all"]))
def review(context: typer.Context) -> None:
    """Decide cases one by one by single keys; without a terminal, list them."""
    if context.invoked_subcommand is None:
        with opened(context) as memory:
            if sys.stdin.isatty() and sys.stdout.isatty():
                from rich.console import Console
                from rich.prompt import Prompt

                out = Console()
                Desk(memory, out, lambda text: Prompt.ask(text, console=out)).run()
            else:
                _list(context, memory, "open", "blocking")


@review_app.command("list")
def list_cases(
    context: typer.Context,
    status: Annotated[str, typer.Option(help="open, unsure, accepted, rejected, all")] = "open",
    kind: Annotated[str, typer.Option(help="blocking, possible_same_as, audit, all")] = "blocking",
) -> None:
    """List cases, the most pressing first."""
    with opened(context) as memory:
        _list(context, memory, status, kind)


@review_app.command()
def show(context: typer.Context, review_id: ReviewId) -> None:
    """Show a case with its evidence and what accepting it would do."""
    with opened(context) as memory:
        page = memory.reviews.get(review_id)
        answer(context, page, lambda out: show_page(out, page))


@review_app.command()
def accept(
    context: typer.Context,
    review_id: ReviewId,
    remember: Annotated[str, typer.Option(help="scope, all or no")] = "scope",
    entity: Annotated[str | None, typer.Option(help="Another entity than the best one.")] = None,
    reason: Reason = "",
) -> None:
    """Say that the name means the candidate."""
    with opened(context) as memory:
        done = memory.reviews.accept(review_id, remember=remember, entity=entity, reason=reason)
        answer(context, done, lambda out: out.print(f"one entity: {done.canonical_id}"))


@review_app.command()
def reject(context: typer.Context, review_id: ReviewId, reason: Reason = "") -> None:
    """Say that the name means none of the candidates; namesakes are split."""
    with opened(context) as memory:
        done = memory.reviews.reject(review_id, reason=reason)
        answer(context, done, lambda out: out.print(f"an entity of its own: {done.canonical_id}"))


@review_app.command()
def unsure(context: typer.Context, review_id: ReviewId, reason: Reason = "") -> None:
    """Record that you looked and could not say."""
    with opened(context) as memory:
        done = memory.reviews.unsure(review_id, reason=reason)
        answer(context, done, lambda out: out.print("noted as unsure"))


@review_app.command()
def undo(context: typer.Context, review_id: ReviewId, reason: Reason = "") -> None:
    """Take the last decision of a case back, however long ago."""
    with opened(context) as memory:
        done = memory.reviews.undo(review_id, reason=reason)
        answer(context, done, lambda out: out.print("undone; the case waits again"))


@resolution_app.command()
def doubtful(context: typer.Context) -> None:
    """List automatic binds that today's model would not make; nothing changes."""
    with opened(context) as memory:
        found = memory.reviews.below()
        rows = [(b.merge_id, *b.names, f"{b.now:.3f}", ", ".join(b.vetoes)) for b in found]
        answer(
            context, found, lambda out: table(out, ("merge", "name", "name", "now", "why"), rows)
        )


@review_app.command(epilog=examples(["tenure review groups --by source"]))
def groups(
    context: typer.Context,
    by: Annotated[str, typer.Option(help="mention, source, scope, type or reason")] = "mention",
) -> None:
    """Count what waits by name, source, scope, type or reason, the largest group first."""
    with opened(context) as memory:
        found = memory.reviews.groups(by)
        rows = [(str(g.cases), g.value, g.oldest, ", ".join(g.mentions)) for g in found]
        answer(context, found, lambda out: table(out, ("cases", by, "oldest", "names"), rows))


@review_app.command(
    epilog=examples(
        [
            "tenure review bulk reject --source import://crm",
            "tenure review bulk accept --mention 'S. Rivera' --yes",
        ]
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
    """Decide every case of a filter alike, at most 100; shows them first, decides with --yes."""
    with opened(context) as memory:
        found = memory.reviews.matching(mention=mention, scope=scope, type=type, source=source)
        if not yes:
            answer(context, found, lambda out: _show_bulk(out, found, decision))
            return
        done = memory.reviews.decide_all(found, decision, reason=reason)
        answer(context, done, lambda out: out.print(f"{decision}: {len(done)} cases"))


def _show_bulk(out: Console, found: Sequence[Review], decision: str) -> None:
    _show_cases(out, found)
    out.print(f"{len(found)} cases; --yes decides them: {decision}")


@app.command(
    epilog=examples(["tenure entities 'Sam Rivera'", "tenure entities --export team.graphml"])
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
    """List the entities whose names you may see, show one with its history, or draw the graph."""
    with opened(context) as memory:
        if export is not None:
            form = "json" if export.suffix == ".json" else "graphml"
            memory.entities.export(export, format=form)
            answer(context, {"file": str(export)}, lambda out: out.print(f"wrote {export}"))
            return
        if entity is not None:
            page = memory.entities.get(entity)
            answer(context, page, lambda out: _show_entity(out, page))
            return
        found = memory.entities.list(type, after=after, limit=limit)
        rows = [(e.entity_id, e.name, e.type, e.state, ", ".join(e.aliases)) for e in found]
        answer(
            context,
            found,
            lambda out: table(out, ("id", "name", "type", "state", "aliases"), rows),
        )


@app.command()
def merge(context: typer.Context, a: Named, b: Named, reason: Reason = "") -> None:
    """Make two entities one; `unmerge` takes it back."""
    with opened(context) as memory:
        view = memory.as_of()
        ids = [view.entity(one).entity_id for one in (a, b)]
        done = memory.entities.merge(ids[0], ids[1], reason=reason)
        answer(
            context, done, lambda out: out.print(f"{done.canonical_id} survives; {done.merge_id}")
        )


@app.command()
def unmerge(context: typer.Context, merge_id: str, reason: Reason = "") -> None:
    """Take a merge back; what was written since stays with its own side."""
    with opened(context) as memory:
        done = memory.entities.unmerge(merge_id, reason=reason)
        answer(context, done, lambda out: out.print(f"{len(done.parts)} entities"))


@resolution_app.command()
def evaluate(
    context: typer.Context,
    file: Path,
    assume_same_scope: Annotated[
        bool, typer.Option(help="Lift person_without_context, and nothing else.")
    ] = False,
    refit: Annotated[
        Path | None, typer.Option(help="Refit Platt's two numbers and write the model here.")
    ] = None,
) -> None:
    """Measure name matching on labelled pairs (CSV as in the alias data).

    Raises:
        NotFound: `unknown_file`.
        InvalidInput: `bad_file` when a column is missing.
    """
    from ...resolution.evaluate import evaluate as measured
    from ...resolution.evaluate import pairs_from_rows, refit_platt
    from ...resolution.model import default_model, model_to_json

    if not file.exists():
        raise NotFound(f"there is no file {file}", code="unknown_file")
    with file.open(encoding="utf-8", newline="") as lines:
        try:
            pairs = pairs_from_rows(csv.DictReader(lines))
        except KeyError as missing:
            raise InvalidInput(
                f"{file} has no column {missing}; it needs pair_id, kind, name1, name2, "
                "is_match, cluster1, cluster2",
                code="bad_file",
            ) from missing
    report = measured(pairs, assume_same_scope=assume_same_scope)
    answer(context, report, lambda out: show_report(out, report))
    if refit is not None:
        done = refit_platt(pairs, default_model())
        if done.model is None:
            raise InvalidInput(f"no new model: {done.refused}", code="refit_refused")
        refit.write_text(model_to_json(done.model), encoding="utf-8")


def _show_entity(out: Console, page: EntityPage) -> None:
    one = page.entity
    out.print(f"{one.name} ({one.type}, {one.state}) {one.entity_id}", markup=False)
    for at, what in page.history:
        out.print(f"  {when(at)}  {what}", markup=False)
    for slot, state in page.facts.items():
        out.print(
            f"  {slot}: {state.status.value} {', '.join(map(str, state.values))}", markup=False
        )


def _list(context: typer.Context, memory: Memory, status: str, kind: str) -> None:
    found = memory.reviews.list(status, kind=kind)
    answer(context, found, lambda out: _show_cases(out, found))


def _show_cases(out: Console, found: Sequence[Review]) -> None:
    rows = [
        (c.review_id, c.mention, c.type, c.reason, c.candidates[0].name if c.candidates else "",
         f"{c.candidates[0].score:.3f}" if c.candidates else "", c.state.value)
        for c in found
    ]  # fmt: skip
    table(out, ("review", "name", "type", "reason", "best candidate", "score", "state"), rows)


def show_report(out: Console, report: Report) -> None:
    """Print the report: per set, reliability, thresholds."""
    out.print(f"model {report.model_version}; calibration error {report.calibration_error:.3f}")
    heads = ("set", "pairs", "bound", "right", "precision", "95 % interval", "recall", "review")
    table(out, heads, [_set_row(row) for row in (report.pooled, *report.sets)])
    bins = [
        (f"{b.low:.2f}-{b.high:.2f}", str(b.truth.n), _share(b.truth)) for b in report.reliability
    ]
    table(out, ("score", "pairs", "true"), bins)
    cuts = [
        (f"{c.threshold:.2f}", _share(c.precision), f"{c.recall:.3f}") for c in report.thresholds
    ]
    table(out, ("threshold", "precision", "recall"), cuts)


def _set_row(row: SetReport) -> tuple[str, ...]:
    name = row.name if row.proven else f"{row.name} (not proven: n < 300)"
    held = row.bind
    return (
        name,
        str(row.pairs),
        str(held.n),
        str(held.right),
        f"{held.share:.4f}",
        f"{held.low:.4f}-{held.high:.4f}",
        f"{row.recall:.3f}",
        f"{row.review_share:.3f}",
    )


def _share(found: Interval95) -> str:
    return f"{found.share:.3f} ({found.right}/{found.n})"
