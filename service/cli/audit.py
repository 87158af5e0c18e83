"""Commands for auditors and operators: `history`, `diff`, `explain`, `actions`, `doctor`."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .frame import FINDINGS, examples, frame_of, opened
from .read import Entity, SlotName
from .show import answer, span, table, value_text, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.answers import Action, Explanation, HistoryRow, Link
    from ..client.memory import Memory

app = typer.Typer()


@app.command(epilog=examples(["tenure history 'Sam Rivera' office"]))
def history(context: typer.Context, entity: Entity, slot: SlotName) -> None:
    """Show every version of a slot on both axes, oldest knowledge first."""
    with opened(context) as memory:
        rows = memory.history(entity, slot)
        answer(context, rows, lambda out: _show_rows(out, rows))


def _show_rows(out: Console, rows: Sequence[HistoryRow]) -> None:
    heads = ("known from", "known until", "holds", "value", "op", "status", "reason", "object")
    table(
        out,
        heads,
        [
            (
                when(r.tx_start),
                when(r.tx_end, missing="now"),
                span(r.valid_from, r.valid_until),
                "erased" if r.erased else value_text(r.value),
                r.op,
                r.status,
                r.reason,
                r.object_id,
            )
            for r in rows
        ],
    )


@app.command(
    epilog=examples(
        [
            "tenure diff 2026-01-01T00:00:00Z 2026-06-30T00:00:00Z",
            "tenure diff -- -infinity 2026-06-30T00:00:00Z",
        ]
    )
)
def diff(
    context: typer.Context,
    tx1: Annotated[str, typer.Argument(help="After this moment of knowledge,")],
    tx2: Annotated[str, typer.Argument(help="up to and with this one.")],
    entity: Annotated[str | None, typer.Option(help="Only about this entity.")] = None,
) -> None:
    """Show how belief changed between two moments of knowledge."""
    with opened(context) as memory:
        changes = memory.diff(tx1, tx2, entity)
        rows = [
            (
                when(c.tx),
                {"opened": "+", "closed": "-"}[c.kind],
                c.slot or "(text)",
                value_text(c.value),
                span(c.valid_from, c.valid_until),
                c.status,
                c.entity,
                c.object_id,
            )
            for c in changes
        ]
        heads = ("known from", "", "slot", "value", "holds", "status", "entity", "object")
        answer(context, changes, lambda out: table(out, heads, rows))


@app.command(epilog=examples(["tenure explain 0190e3a2-7c1f-7000-8000-000000000001"]))
def explain(
    context: typer.Context,
    object_id: Annotated[str, typer.Argument(metavar="ID", help="The id of an object.")],
) -> None:
    """Show where an object comes from, what it met, and what was compiled from it."""
    with opened(context) as memory:
        found = memory.explain(object_id)
        answer(context, found, lambda out: _show_explanation(out, found))


def _show_explanation(out: Console, found: Explanation) -> None:
    held = found.object
    out.print(held.content)
    out.print(
        f"  {held.object_type.value} from {held.source_origin} ({held.source_kind}), level "
        f"{int(held.authority_level)}, trust {held.source_authority:.2f}, "
        f"confidence {held.confidence_score:.2f}"
    )
    out.print(f"  why it matters: {held.why_it_matters}")
    out.print(f"  {held.security_classification.value}, {held.state_layer.value} layer")
    _show_rows(out, found.rows)
    for head, links in (
        ("it took the place of", found.superseded),
        ("its place was taken by", found.superseded_by),
        ("it conflicts with", found.conflicts),
        ("the same was said by", found.confirmations),
        ("it was derived from", found.sources),
        ("derived from it", found.derived),
    ):
        _show_links(out, head, links)
    for envelope in found.envelopes:
        out.print(f"compiled into envelope {envelope}")


def _show_links(out: Console, head: str, links: Sequence[Link]) -> None:
    if not links:
        return
    out.print(f"{head}:")
    rows = [
        (f"  {one.object_id}", span(one.valid_from, one.valid_until), one.relation, one.reason,
         when(one.tx))
        for one in links
    ]  # fmt: skip
    table(out, ("  object", "on", "relation", "because", "known from"), rows)


actions = typer.Typer(help="The resolver queue: what waits for a decision.", no_args_is_help=True)
app.add_typer(actions, name="actions")


@actions.command(
    "list", epilog=examples(["tenure actions list", "tenure actions list --status all"])
)
def list_actions(
    context: typer.Context,
    status: Annotated[str, typer.Option(help="open, closed or all.")] = "open",
) -> None:
    """List ties to settle, confirmations that are due, and texts set apart."""
    with opened(context) as memory:
        found = memory.actions(status)
        answer(context, found, lambda out: _show_actions(out, found))


@actions.command(
    "resolve",
    epilog=examples(
        [
            "tenure actions resolve a3f1… --winner 0190e3a2-7c1f-7000-8000-000000000001",
            "tenure actions resolve a3f1… --value Chicago",
            "tenure actions resolve a3f1… --accept",
        ]
    ),
)
def resolve_action(
    context: typer.Context,
    action_id: Annotated[str, typer.Argument(metavar="ID", help="The id of an action.")],
    winner: Annotated[str | None, typer.Option(help="Of a tie: the object that is right.")] = None,
    value: Annotated[str | None, typer.Option(help="Of a tie: what is right instead.")] = None,
    accept: Annotated[
        bool | None, typer.Option("--accept/--reject", help="Of any other action.")
    ] = None,
) -> None:
    """Settle an action; a tie is settled by a correction at the caller's level."""
    with opened(context) as memory:
        receipt = memory.actions.resolve(action_id, winner=winner, value=value, accept=accept)
        outcome = str(receipt.outcome)
        answer(context, receipt, lambda out: out.print(f"{action_id}: {outcome}"))


def _show_actions(out: Console, found: Sequence[Action]) -> None:
    rows = [
        (
            a.action_id,
            a.kind.value,
            a.slot,
            ", ".join(a.members) or a.object_id,
            span(a.valid_from, a.valid_until),
            f"{a.outcome} by {a.closed_by}" if a.closed else "open",
        )
        for a in found
    ]
    table(out, ("id", "what", "slot", "objects", "on", "state"), rows)
    if not rows:
        out.print("nothing waits for a decision")


@app.command(epilog=examples(["tenure doctor", "tenure --store team.db doctor --json"]))
def doctor(context: typer.Context) -> None:
    """Check the store: its invariants, its clock and its permissions; exits with 4 on findings."""
    with opened(context) as memory:
        found = [{"check": check, "finding": text} for check, text in _findings(memory)]
        settings = frame_of(context).loaded().settings
        held = {
            "store": memory.backend.store.url,
            "tenant": settings.tenant,
            "checked": list(_CHECKED),
            "findings": found,
        }

        def show(out: Console) -> None:
            out.print(f"{held['store']}, tenant {held['tenant']}")
            for name, text in _CHECKED.items():
                bad = [f["finding"] for f in found if f["check"] == name]
                out.print(f"  {'FOUND' if bad else 'ok   '}  {text}")
                for sentence in bad:
                    out.print(f"         {sentence}")

        answer(context, held, show)
    if found:
        raise typer.Exit(FINDINGS)


_CHECKED = {
    "invariants": "what is stored agrees with itself: rows, clocks, chain, indices",
    "clock": "the last stamp does not lie in the future of this machine",
    "permissions": "nobody but its owner may read the file",
}


def _findings(memory: Memory) -> Iterator[tuple[str, str]]:
    tenant, backend = memory.principal.tenant, memory.backend
    for sentence in memory.doctor():
        yield "invariants", sentence
    with backend.store.reading(tenant) as reader:
        ahead = (reader.clock().last_us - time.time_ns() // 1_000) / 1_000_000
    if ahead > memory.policy.write.skew_limit_s:
        yield (
            "clock",
            f"the last stamp is {ahead:,.0f} s ahead of this machine's clock; new writes are "
            "stamped after it. Set the clock, or check what was replayed",
        )
    path = Path(backend.store.url)
    if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield "permissions", f"others may open {path}; run: chmod go= {path}"
