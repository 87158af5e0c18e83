"""Commands for those who may change what is kept: `sweep`, `erase`, `reclassify`, `migrate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ...schema.errors import InvalidInput
from ...schema.principal import EVERYONE_TAG
from ..backend.caller import backend_of
from ..client.summaries import entity_names, opening_of
from ..visual.text import sentence, when
from .audit import ObjectId
from .frame import answer, examples, frame_of, open_memory, place_of, require_store
from .ids import entity_of, object_of
from .progress import meter
from .show import Screen

if TYPE_CHECKING:
    from ...schema.operation import ErasureReceipt, SweepReceipt
    from ..client.connect import Place
    from ..client.memory import Memory

app = typer.Typer()

_Roles = list[str] | None


@app.command(epilog=examples("tenure sweep --dry-run", "tenure sweep"))
def sweep(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option(help="Say what is due; change nothing.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Objects a transaction.")] = 500,
) -> None:
    """Retire what has decayed, as its retirement rule says."""
    from ..stewardship.operations import Steward

    with open_memory(context) as memory, meter("objects retired") as gauge:
        steward = Steward(backend_of(memory), memory.principal)
        receipt = steward.sweep(
            dry_run=dry_run, limit=limit, watch=lambda total: gauge.tell(total.touched)
        )
    answer(context, receipt, lambda screen: _show_sweep(screen, receipt, dry_run=dry_run))


def _show_sweep(screen: Screen, receipt: SweepReceipt, *, dry_run: bool) -> None:
    groups = (
        ("archived", receipt.archived),
        ("demoted to the archive", receipt.demoted),
        ("waiting for a confirmation", receipt.asked),
        ("erased", receipt.erased),
        ("waiting for an approval", receipt.approvals),
    )
    for state, ids in groups:
        for object_id in ids:
            screen.line(sentence("would be" if dry_run else "", f"{state}: {object_id}"))

    if not any(ids for _, ids in groups):
        screen.line("nothing is due")
    if receipt.remaining:
        screen.line("more are due; sweep again")


@app.command(
    epilog=examples(
        "tenure erase 0190e3a2-7c1f-7000-8000-000000000001 --reason 'request 17'",
        "tenure erase --entity 'Sam Rivera' --reason 'case 17' --yes",
    )
)
def erase(
    context: typer.Context,
    object_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The id of an object, or its beginning.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(help="Instead: an entity, with all that is said about it.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it stays in the tombstone.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Empty an object, or everything about an entity. It cannot be undone."""
    if bool(object_id) == bool(entity):
        raise InvalidInput("name an ID or an --entity, one of them", code="missing_subject")
    if not reason.strip():
        raise InvalidInput("say with --reason why; its tombstone tells", code="missing_reason")

    with open_memory(context) as memory:
        target = object_id and object_of(memory, object_id)
        subject = entity and entity_of(memory, entity)
        # The words and not the id alone: nobody knows by an id what is about to be gone.
        if not yes:
            typer.confirm(
                f"Erase {_title(memory, target, subject)} for ever?", abort=True, err=True
            )
        receipt = memory.erase(target, entity=subject, reason=reason)
    answer(context, receipt, lambda screen: _show_erasure(screen, receipt))


def _title(memory: Memory, object_id: str | None, entity: str | None) -> str:
    """What an erasure is about to empty, by its id and its words."""
    if object_id is None:
        names = entity_names(memory, [entity])
        return f"all about {names.get(entity or '', entity)}"
    words = opening_of(memory, object_id)
    return f"{object_id} ({words})" if words else object_id


def _show_erasure(screen: Screen, receipt: ErasureReceipt) -> None:
    screen.line(f"erased on {when(receipt.tx)} by {receipt.actor}: {receipt.reason}")

    for role, ids in (
        ("object", receipt.object_ids),
        ("entity", receipt.entity_ids),
        ("still says the same, or names it, on its own behalf", receipt.independent),
        ("was derived from it and is flagged stale", receipt.stale),
        ("artifact erased with it", receipt.artifacts),
        ("artifact it was taken from, which stays", receipt.originals),
        ("envelope emptied", receipt.envelopes),
        ("texts emptied in, or one name for a person to look at in", receipt.sessions),
    ):
        for object_id in ids:
            screen.line(f"  {role}: {object_id}")


@app.command(
    epilog=examples(
        "tenure reclassify 0190e3a2-7c1f-7000-8000-000000000001 --as confidential",
        "tenure reclassify 0190e3a2-7c1f-7000-8000-000000000001 --allow-role auditor",
    )
)
def reclassify(
    context: typer.Context,
    object_id: ObjectId,
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
    """Change who may see an object. What is not stated stays.

    It changes for all times at once.
    """
    with open_memory(context) as memory:
        target = object_of(memory, object_id)
        receipt = memory.reclassify(
            target,
            security_classification=classification,
            allow_roles=allow_role,
            deny_roles=deny_role,
        )
        words = opening_of(memory, target)
    access = receipt.permissions
    denial = f", not for {', '.join(access.deny)}" if access.deny else ""
    public = "everybody of that clearance"
    readers = ", ".join(public if tag == EVERYONE_TAG else tag for tag in access.allow)
    title = f"{words} ({target})" if words else target
    classes = f"{access.classification.value}, for {readers}"
    answer(context, receipt, f"{title}: {classes}{denial}")


@dataclass(frozen=True, slots=True)
class StoreMigration:
    """What became of the schema of one store."""

    store: str
    """The file, or the address and database of a server."""
    before: int
    """The number of the schema that was found; 0 for none."""
    after: int
    steps: tuple[str, ...]
    """What was made, or would be; empty where the schema is current."""
    dry_run: bool


@app.command(epilog=examples("tenure migrate --dry-run", "tenure --store team.db migrate --json"))
def migrate(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False,
) -> None:
    """Bring the schema of the store up to date.

    On every server of the map. Opening a store does the same for an older schema; this does it
    before anybody opens it, and remakes constraints and indices that were dropped. It can be
    stopped and run again.
    """
    settings = frame_of(context).settings().settings
    require_store(settings.store, settings.tenant)

    place = place_of(settings)
    # Opening it the usual way would migrate before anything was said.
    store = place.open(prepare=False)
    try:
        migrations: list[StoreMigration] = []
        for name, tenant in _stores(place, settings.tenant):
            migrations.append(
                StoreMigration(name, *store.migrate(tenant, dry_run=dry_run), dry_run)
            )
    finally:
        store.close()

    answer(context, migrations, lambda screen: _show_migrations(screen, migrations))


def _stores(place: Place, tenant: str) -> Iterator[tuple[str, str]]:
    """Yield each store by name, with a tenant that lives there.

    Tenants of one database share its schema, so one stands for all of a cell; in an embedded
    store each has a file, and a schema, of its own.
    """
    cells = () if callable(place.cells) else place.cells

    # No tenant has an empty name, so it means the server that no cell claims.
    yield place.url, "" if cells else tenant
    for cell in cells:
        yield f"{cell.target.uri}, database {cell.target.database}", min(cell.tenants)


def _show_migrations(screen: Screen, migrations: Sequence[StoreMigration]) -> None:
    for migration in migrations:
        if not migration.steps:
            screen.line(f"{migration.store}: already current (schema {migration.after})")
            continue

        verb = "would go" if migration.dry_run else "went"
        screen.line(
            f"{migration.store}: {verb} from schema {migration.before} to {migration.after}"
        )
        for step in migration.steps:
            screen.line(f"  {step}")
