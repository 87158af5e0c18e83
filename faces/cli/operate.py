"""Commands for operators: `sweep`, `erase`, `reclassify`, `migrate`, transfers and settings.

`export` and `import`, `backup` and `restore` move a tenant as a file; `tenants` lists them.
`config` shows the settings in force and where each came from.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...schema.errors import InvalidInput, Unavailable
from ...schema.principal import EVERYONE_TAG
from ...service.backend.caller import backend_of
from ...service.client.answer import entity_names, opening_of
from ...service.client.opening import copy_in, copy_out, place_of, require_store, tenants_of
from ...service.visual.text import counted, json_text, sentence, when
from .commands import CallAnswer, Display, call_command, command
from .frame import (
    Columns,
    Screen,
    answer,
    confirm,
    entity_of,
    frame_of,
    note,
    object_of,
    open_memory,
)
from .main import ProgressMeter, meter

if TYPE_CHECKING:
    from ...schema.answers import ErasedEnvelope, ErasureReceipt, SweepReceipt
    from ...service.client.connect import Place
    from ...service.client.memory import Memory
    from ...service.client.opening import TenantFile
    from ...service.settings import Setting
    from ...service.stewardship.transfer import RestoreProgress

app = typer.Typer()


_TENANTS: Columns = {
    "tenant": itemgetter("tenant"),
    "bytes": itemgetter("bytes"),
    "last write": lambda entry: when(entry["last_write"], missing="none"),
    "file": itemgetter("path"),
}

config = typer.Typer(help="The settings in force.", no_args_is_help=True)


@command(app, "tenure sweep --dry-run", "tenure sweep")
def sweep(context: typer.Context, *, dry_run: bool = False, limit: int = 500) -> None:
    """Retire decayed objects by their retirement rules.

    Options:
        dry_run: Show what is due; change nothing.
        limit: Objects a transaction.
    """
    from ...service.stewardship.operations import Steward

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


@command(
    app,
    "tenure erase 0190e3a2-7c1f-7000-8000-000000000001 --reason 'request 17'",
    "tenure erase --entity 'Sam Rivera' --reason 'case 17' --yes",
)
def erase(
    context: typer.Context,
    object_id: str | None = None,
    *,
    entity: str | None = None,
    reason: str = "",
    yes: bool = False,
    dry_run: bool = False,
) -> None:
    """Erase an object, or everything about an entity. It cannot be undone.

    It sees and counts private data of a user only with --user.

    Options:
        object_id ([ID]): The id of an object, or its beginning.
        entity: An entity, with everything about it, instead of an object.
        reason: Why; it stays in the tombstone.
        yes: Do not ask.
        dry_run: Show what would be erased, and erase nothing.
    """
    if bool(object_id) == bool(entity):
        raise InvalidInput("name an ID or an --entity, one of them", code="missing_subject")
    with open_memory(context) as memory:
        target = object_id and object_of(memory, object_id)
        subject = entity and entity_of(memory, entity)
        preview = _preview(memory, target, subject)
        if dry_run:
            answer(context, preview, lambda screen: _show_preview(screen, preview))
            return
        # The words and not the id alone: nobody knows by an id what is about to be gone.
        title = "" if yes else _title(memory, target, subject)
        size = f"{counted(len(preview), 'object')} that you see"
        confirm(context, f"Erase {title} for ever ({size})?", reason, yes=yes)
        receipt = memory.erase(target, entity=subject, reason=reason)
    answer(context, receipt, lambda screen: _show_erasure(screen, receipt))


def _preview(memory: Memory, object_id: str | None, entity: str | None) -> list[dict[str, Any]]:
    """The objects that an erasure empties, as far as the caller sees them."""
    if object_id is not None:
        return [{"object_id": object_id, "text": opening_of(memory, object_id)}]

    from ...service.reading.audit import Auditor

    auditor = Auditor(backend_of(memory), memory.principal, memory.as_of())
    history, _ = auditor.dossier(memory.entities.get(entity or "").entity.entity_id)
    ids = dict.fromkeys(row.object_id for rows in history.values() for row in rows)
    return [{"object_id": each, "text": opening_of(memory, each)} for each in ids]


def _show_preview(screen: Screen, preview: list[dict[str, Any]]) -> None:
    for row in preview:
        screen.line(f"  would go: {row['object_id']}  {row['text']}")
    screen.line(f"{counted(len(preview), 'object')}; nothing was erased")


def _title(memory: Memory, object_id: str | None, entity: str | None) -> str:
    """What an erasure is about to empty, by its id and its words."""
    if object_id is None:
        names = entity_names(memory, [entity])
        return f"all about {names.get(entity or '', entity)}"
    words = opening_of(memory, object_id)
    return f"{object_id} ({words})" if words else object_id


def _recipient(envelope: ErasedEnvelope) -> str:
    """An emptied envelope with who had received it."""
    names = ("user", "session", "project")
    parts = [f"{name} {getattr(envelope, name)}" for name in names if getattr(envelope, name)]
    return ", ".join([envelope.envelope_id, *parts])


def _show_erasure(screen: Screen, receipt: ErasureReceipt) -> None:
    screen.line(f"erased on {when(receipt.tx)} by {receipt.actor}: {receipt.reason}")

    for role, ids in (
        ("object", receipt.object_ids),
        ("entity", receipt.entity_ids),
        ("still says the same, or names it, on its own behalf", receipt.independent),
        ("was derived from it and is flagged stale", receipt.stale),
        ("artifact erased with it", receipt.artifacts),
        ("artifact it was taken from, which stays", receipt.originals),
        ("envelope emptied", tuple(map(_recipient, receipt.recipients))),
        ("texts emptied in, or one name for a person to look at in", receipt.sessions),
    ):
        for object_id in ids:
            screen.line(f"  {role}: {object_id}")


@call_command(
    app,
    "reclassify",
    "tenure reclassify 0190e3a2-7c1f-7000-8000-000000000001 --as confidential",
    "tenure reclassify 0190e3a2-7c1f-7000-8000-000000000001 --allow-role auditor",
)
def reclassify(page: CallAnswer) -> Display:
    """Change who may see an object. Other permissions stay.

    The change applies to all times at once.
    """
    target, access = page.arguments["object_id"], page.value.permissions
    words = opening_of(page.memory, target)
    denial = f", not for {', '.join(access.deny)}" if access.deny else ""
    public = "everybody of that clearance"
    readers = ", ".join(public if tag == EVERYONE_TAG else tag for tag in access.allow)
    title = f"{words} ({target})" if words else target
    return f"{title}: {access.classification.value}, for {readers}{denial}"


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


@command(app, "tenure migrate --dry-run", "tenure --store team.db migrate --json")
def migrate(context: typer.Context, *, dry_run: bool = False) -> None:
    """Update the schema of the store.

    On every server of the map. Opening a store does the same for an older schema; this does it
    before anybody opens it, and remakes constraints and indices that were dropped. It can be
    stopped and run again.


    Options:
        dry_run: Say what would be done; change nothing.
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


@command(app, "tenure export team.jsonl.gz", "tenure export - --without-keys")
def export(
    context: typer.Context, file: str, *, without_keys: bool = False, replace: bool = False
) -> None:
    """Export the tenant into a file that only its owner may read.

    Options:
        file: Where to; .gz packs it, - is standard output.
        without_keys: Leave the tenant's secret keys out.
        replace: Replace a file of this name.
    """
    with open_memory(context) as memory, meter("records") as gauge:
        report = memory.transfer.export(
            file, keys=not without_keys, replace=replace, watch=gauge.tell
        )
    # Standard output is the export itself: nothing else may stand in it.
    if file == "-":
        note(f"{report.records:,} records")
        return
    keys = "with the tenant's secret keys: keep it safe" if report.keys else "without keys"
    answer(context, report, f"{file}: {report.records:,} records, {keys}")


@command(
    app,
    "tenure --store new.db import team.jsonl.gz",
    "tenure import team.jsonl.gz --resume",
    "tenure import --abort",
    name="import",
)
def import_file(
    context: typer.Context,
    file: str = "",
    *,
    resume: bool = False,
    accept_future: bool = False,
    abort: bool = False,
) -> None:
    """Import an export into an empty tenant.

    It is written in groups. The tenant cannot be read until the last one is stored.


    Options:
        file: An export; .gz too, - is standard input.
        resume: Continue an interrupted import.
        accept_future: Take an export that ends after the clock.
        abort: Undo an interrupted import.
    """
    if abort == bool(file) or (abort and resume):
        raise InvalidInput(
            "name the file of an export, or say --abort alone to take an import back",
            code="bad_settings",
        )

    with open_memory(context, create=not abort) as memory:
        if abort:
            memory.transfer.abort()
            answer(context, {"aborted": True}, "the import was taken back; the tenant is empty")
            return

        with _telling(file), meter("lines checked") as gauge:
            report = memory.transfer.import_file(
                file, resume=resume, accept_future=accept_future, watch=_watch(gauge)
            )
    answer(context, report, f"{report.records:,} records imported into tenant {report.tenant}")


def _watch(gauge: ProgressMeter) -> Callable[[RestoreProgress], None]:
    """Tell how far an import is: the lines checked before it writes, then the records."""

    def tell(progress: RestoreProgress) -> None:
        if progress.total:
            gauge.noun = "records"
            gauge.tell(progress.records_written, progress.total)
        else:
            gauge.tell(progress.lines_checked)

    return tell


@contextmanager
def _telling(file: str) -> Generator[None]:
    """Say how to go on when the store gives up in the middle."""
    try:
        yield
    except (Unavailable, KeyboardInterrupt) as error:
        # Nothing was written of a file that could not be read, and there is nothing to go on with.
        if getattr(error, "code", "") != "file_unreadable":
            note(f"what was written stays; go on with: tenure import {file} --resume")
        raise


@command(app, "tenure --store team.db backup team-backup.db")
def backup(context: typer.Context, file: Path, *, replace: bool = False) -> None:
    """Copy an embedded store, also while it is in use.

    The copy is checked, and is a complete store. It holds the tenant's keys: keep it safe.
    Copy the originals next to the store separately.


    Options:
        file: Where to.
        replace: Replace a file of this name.
    """
    copied_file = copy_out(frame_of(context).settings().settings, file, replace=replace)
    answer(
        context, _entry(copied_file), f"{file}: {copied_file.bytes:,} bytes of {copied_file.tenant}"
    )


@command(app, "tenure --store team.db restore team-backup.db")
def restore(context: typer.Context, file: Path) -> None:
    """Restore a copy to the place of the store. A store is never overwritten.

    Options:
        file: A copy that `tenure backup` made.
    """
    copied_file = copy_in(frame_of(context).settings().settings, file)
    answer(
        context, _entry(copied_file), f"{copied_file.path}: {copied_file.bytes:,} bytes restored"
    )


@command(app, "tenure --store stores/ tenants")
def tenants(context: typer.Context) -> None:
    """List the tenants of a store, with size and last write."""
    entries = list(map(_entry, tenants_of(frame_of(context).settings().settings)))
    answer(context, entries, _TENANTS)


def _entry(file: TenantFile) -> dict[str, Any]:
    """A file of a tenant as JSON shows it: its times read like those of every other answer."""
    from ...schema.values import moment

    return {
        "tenant": file.tenant,
        "path": file.path,
        "bytes": file.bytes,
        "last_write": moment(file.last_us) if file.last_us > 0 else None,
    }


app.add_typer(config, name="config")


@command(
    config, "tenure config show", "TENURE_POLICY__WRITE__MAX_BATCH=500 tenure config show --origin"
)
def show(context: typer.Context, *, origin: bool = False, with_defaults: bool = False) -> None:
    """Show the settings in force.

    Defaults < tenure.toml < TENURE_… variables < flags.

    Options:
        origin: Show where each came from.
        with_defaults (--all): Also the defaults of the policy pack.
    """
    columns: Columns = {"setting": "key", "value": _as_typed}
    if origin:
        columns = {**columns, "origin": "origin"}

    settings: list[Setting] = []
    entries: list[dict[str, Any]] = []
    for setting in frame_of(context).settings().listed():
        is_default = setting.origin == "default" and setting.key.startswith("policy.")
        # The pack has hundreds of them, among which those that somebody stated would drown.
        if is_default and not with_defaults:
            continue

        settings.append(setting)
        entry = {"key": setting.key, "value": setting.value}
        entries.append(entry | ({"origin": setting.origin} if origin else {}))

    answer(context, entries, lambda screen: screen.table(settings, columns))


def _as_typed(setting: Setting) -> str:
    """A value as a person would state it: a port has no comma."""
    if setting.value in (None, (), [], ""):
        return "-"
    return json_text(setting.value, indent=None).strip('"')
