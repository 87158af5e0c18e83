"""Commands for stewards: `entities`, `review`, `merge`, `unmerge`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_frame import examples, opened
from .cli_read import show_entities
from .cli_show import answer, table

if TYPE_CHECKING:
    from rich.console import Console

    from ..schema.entity import Review
    from ..schema.operation import ReviewReceipt

app = typer.Typer()
review = typer.Typer(help="Cases that a person must decide.", no_args_is_help=True)
app.add_typer(review, name="review")

_Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a review.")]
_Version = Annotated[
    int | None, typer.Option(help="Refuse when the case has changed since this version.")
]


@app.command(epilog=examples(["tenure entities", "tenure entities 'Sam Rivera'"]))
def entities(
    context: typer.Context,
    entity: Annotated[str | None, typer.Argument(help="A name or an id; all without it.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Only of this type.")] = None,
) -> None:
    """List the entities of the tenant, or show one."""
    with opened(context) as memory:
        found = memory.entities.list(kind) if entity is None else (memory.entities.get(entity),)
        answer(context, found, lambda out: show_entities(out, found))


@app.command(epilog=examples(["tenure merge 'Bob Lee' 'Robert Lee' --reason 'same staff number'"]))
def merge(
    context: typer.Context,
    a: Annotated[str, typer.Argument(help="A name or an entity id.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    reason: Annotated[str, typer.Option(help="Why they are one.")],
) -> None:
    """Make two entities one; nothing is rewritten, and unmerge takes it back."""
    with opened(context) as memory:
        done = memory.entities.merge(a, b, reason=reason)

        def show(out: Console) -> None:
            out.print(f"one entity: {done.canonical_id}")
            out.print(f"  merge {done.merge_id}, {len(done.members)} members")
            out.print(f"  {len(done.replanned_slots)} slots were planned anew")
            for action in done.actions:
                out.print(f"  opened action {action}")

        answer(context, done, show)


@app.command(epilog=examples(["tenure unmerge 5f0c… --reason 'two people after all'"]))
def unmerge(
    context: typer.Context,
    merge_id: Annotated[str, typer.Argument(metavar="MERGE", help="The id of a merge.")],
    reason: Annotated[str, typer.Option(help="Why they are two.")],
) -> None:
    """Take a merge back: each side has what it would have had alone."""
    with opened(context) as memory:
        done = memory.entities.unmerge(merge_id, reason=reason)
        answer(
            context,
            done,
            lambda out: out.print("apart: " + "; ".join(", ".join(part) for part in done.parts)),
        )


@review.command("list", epilog=examples(["tenure review list", "tenure review list --status all"]))
def list_reviews(
    context: typer.Context,
    status: Annotated[
        str, typer.Option(help="open, accepted, rejected, unsure, undone or all.")
    ] = "open",
) -> None:
    """List the cases, oldest first."""
    with opened(context) as memory:
        found = memory.reviews.list(status)
        answer(context, found, lambda out: _show_reviews(out, found))


def _show_reviews(out: Console, found: Sequence[Review]) -> None:
    rows = [
        (
            r.review_id,
            r.mention,
            r.type,
            ", ".join(f"{c.name} {c.score:.2f}" for c in r.candidates),
            r.reason,
            r.state.value,
        )
        for r in found
    ]
    table(out, ("review", "mention", "type", "is it", "because", "state"), rows)
    if not rows:
        out.print("no case is waiting")


@review.command("show", epilog=examples(["tenure review show 91bb…"]))
def show_review(context: typer.Context, review_id: _Id) -> None:
    """Show a case with its evidence side by side."""
    with opened(context) as memory:
        found = memory.reviews.get(review_id)
        answer(context, found, lambda out: _show_evidence(out, found))


def _show_evidence(out: Console, found: Review) -> None:
    out.print(f"{found.mention} ({found.type}), {found.state.value}, version {found.version}")
    out.print(f"  said in object {found.object_id}; now entity {found.entity_id}")
    for candidate in found.candidates:
        out.print(f"\n{candidate.name}: {candidate.score:.2f} by {candidate.source.value}")
        out.print(f"  entity {candidate.entity}")
        rows = [
            (f"  {f.name}", f"{f.score:.2f}", f"{f.weight:+.2f}", f.detail)
            for f in candidate.features
        ]
        table(out, ("  evidence", "score", "weight", "detail"), rows)
        for veto in candidate.vetoes:
            out.print(f"  veto: {veto}")


@review.command(
    "accept", epilog=examples(["tenure review accept 91bb… --entity 3001… --remember scope"])
)
def accept(
    context: typer.Context,
    review_id: _Id,
    entity: Annotated[str | None, typer.Option(help="Which candidate. [the best one]")] = None,
    remember: Annotated[
        str, typer.Option(help="Where the mention names it from now on: scope, all or no.")
    ] = "scope",
    version: _Version = None,
) -> None:
    """Decide that it is a candidate; the two become one."""
    with opened(context) as memory:
        done = memory.reviews.accept(review_id, entity=entity, remember=remember, version=version)
        answer(context, done, lambda out: _show_decision(out, done))


@review.command("reject", epilog=examples(["tenure review reject 91bb…"]))
def reject(context: typer.Context, review_id: _Id, version: _Version = None) -> None:
    """Decide that it is none of the candidates."""
    with opened(context) as memory:
        done = memory.reviews.reject(review_id, version=version)
        answer(context, done, lambda out: _show_decision(out, done))


@review.command("unsure", epilog=examples(["tenure review unsure 91bb…"]))
def unsure(context: typer.Context, review_id: _Id, version: _Version = None) -> None:
    """Record that nobody can tell yet."""
    with opened(context) as memory:
        done = memory.reviews.unsure(review_id, version=version)
        answer(context, done, lambda out: _show_decision(out, done))


@review.command("undo", epilog=examples(["tenure review undo 91bb…"]))
def undo(context: typer.Context, review_id: _Id, version: _Version = None) -> None:
    """Take the last decision back; the case waits again."""
    with opened(context) as memory:
        done = memory.reviews.undo(review_id, version=version)
        answer(context, done, lambda out: _show_decision(out, done))


def _show_decision(out: Console, done: ReviewReceipt) -> None:
    out.print(f"{done.review.mention}: {done.review.state.value}, version {done.review.version}")
    out.print(f"  known as entity {done.canonical_id}")
    if done.merge is not None:
        out.print(f"  merge {done.merge.merge_id}")
