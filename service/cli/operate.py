"""Commands for those who may change what is kept: `sweep`, `erase`, `reclassify`, `migrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .frame import examples, frame_of, opened, place_of, require_store
from .show import answer, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.operation import ErasureReceipt, SweepReceipt
    from .migrating import Migrated

app = typer.Typer()

_Roles = list[str] | None


@app.command(epilog=examples(["tenure sweep --dry-run", "tenure sweep"]))
def sweep(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option(help="Say what is due; change nothing.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Objects a transaction.")] = 500,
) -> None:
    """Retire what has decayed below its threshold, as its retirement rule says."""
    with opened(context) as memory:
        receipt = memory.sweep(dry_run=dry_run, limit=limit)
        answer(context, receipt, lambda out: _show_sweep(out, receipt, dry_run=dry_run))


def _show_sweep(out: Console, receipt: SweepReceipt, *, dry_run: bool) -> None:
    done = (
        ("archived", receipt.archived),
        ("demoted to the archive", receipt.demoted),
        ("waiting for a confirmation", receipt.asked),
        ("erased", receipt.erased),
        ("waiting for an approval", receipt.approvals),
    )
    for what, ids in done:
        for one in ids:
            out.print(f"{'would be ' if dry_run else ''}{what}: {one}")
    if not any(ids for _, ids in done):
        out.print("nothing is due")
    if receipt.remaining:
        out.print("more are due; sweep again")


@app.command(
    epilog=examples(
        [
            "tenure erase 0190e3a2-7c1f-7000-8000-000000000001 --reason 'request 17'",
            "tenure erase --entity 'Sam Rivera' --reason 'right to be forgotten, case 17' --yes",
        ]
    )
)
def erase(
    context: typer.Context,
    object_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="An object.")] = None,
    entity: Annotated[
        str | None, typer.Option(help="Instead: an entity, with all that is said about it.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it stays in the tombstone.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Empty an object, or everything about an entity. It cannot be undone."""
    if not yes:
        typer.confirm(f"Erase {object_id or entity} for ever?", abort=True, err=True)
    with opened(context) as memory:
        receipt = memory.erase(object_id, entity=entity, reason=reason)
        answer(context, receipt, lambda out: _show_erasure(out, receipt))


def _show_erasure(out: Console, receipt: ErasureReceipt) -> None:
    out.print(f"erased on {when(receipt.tx)} by {receipt.actor}: {receipt.reason}")
    for what, ids in (
        ("object", receipt.object_ids),
        ("entity", receipt.entity_ids),
        ("still says the same on its own behalf", receipt.independent),
        ("was derived from it and is flagged stale", receipt.stale),
        ("artifact erased with it", receipt.artifacts),
        ("artifact it was taken from, which stays", receipt.originals),
    ):
        for one in ids:
            out.print(f"  {what}: {one}")


@app.command(
    epilog=examples(
        [
            "tenure reclassify 0190e3a2-7c1f-7000-8000-000000000001 --as confidential",
            "tenure reclassify 0190e3a2-7c1f-7000-8000-000000000001 --allow-role auditor",
        ]
    )
)
def reclassify(
    context: typer.Context,
    object_id: Annotated[str, typer.Argument(metavar="ID", help="An object.")],
    classification: Annotated[
        str | None, typer.Option("--as", help="public … highly_restricted.")
    ] = None,
    allow_role: Annotated[
        _Roles, typer.Option(metavar="ROLE", help="Only these may see it; repeat it.")
    ] = None,
    deny_role: Annotated[
        _Roles, typer.Option(metavar="ROLE", help="These may not; repeat it.")
    ] = None,
) -> None:
    """Change who may see an object, at all times at once; what is not stated stays."""
    with opened(context) as memory:
        receipt = memory.reclassify(
            object_id,
            security_classification=classification,
            allow_roles=allow_role,
            deny_roles=deny_role,
        )
        held = receipt.permissions
        answer(
            context,
            receipt,
            lambda out: out.print(
                f"{object_id}: {held.classification.value}, for {', '.join(held.allow)}"
                + (f", not for {', '.join(held.deny)}" if held.deny else "")
            ),
        )


@app.command(epilog=examples(["tenure migrate --dry-run", "tenure --store team.db migrate --json"]))
def migrate(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False,
) -> None:
    """Bring the store's schema up to date, on every server of the map, and mend what is missing.

    Opening a store does the same for an older schema; this does it before anybody opens it, and
    remakes constraints and indices that were dropped. It can be stopped and run again.
    """
    from .migrating import migrate as run

    settings = frame_of(context).loaded().settings
    require_store(settings.store)
    done = run(place_of(settings), settings.tenant, dry_run=dry_run)
    answer(context, done, lambda out: _show_migrated(out, done, dry_run=dry_run))


def _show_migrated(out: Console, done: tuple[Migrated, ...], *, dry_run: bool) -> None:
    for each in done:
        if not each.steps:
            out.print(f"{each.store}: already current (schema {each.after})")
            continue
        told = "would go" if dry_run else "went"
        out.print(f"{each.store}: {told} from schema {each.before} to {each.after}")
        for step in each.steps:
            out.print(f"  {step}")
