"""A tenant as a file: `export` and `import`, `backup` and `restore`; and `tenants`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...schema.errors import InvalidInput, Unavailable
from ..visual.text import when
from .frame import answer, examples, frame_of, note, open_memory, require_store
from .progress import ProgressMeter, meter
from .show import Columns

if TYPE_CHECKING:
    from ...store.sqlite.backup import TenantFile
    from ...store.sqlite.store import SqliteStore
    from ...store.transfer.restore import RestoreProgress

app = typer.Typer()


@app.command(epilog=examples("tenure export team.jsonl.gz", "tenure export - --without-keys"))
def export(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="Where to; .gz packs it, - is standard output.")],
    without_keys: Annotated[
        bool, typer.Option("--without-keys", help="Leave the tenant's secret keys out.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a file of this name.")
    ] = False,
) -> None:
    """Write all of the tenant into a file only its owner may read."""
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


@app.command(
    "import",
    epilog=examples(
        "tenure --store new.db import team.jsonl.gz",
        "tenure import team.jsonl.gz --resume",
        "tenure import --abort",
    ),
)
def import_file(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="An export; .gz too, - is standard input.", show_default=False)
    ] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an import that was interrupted.")
    ] = False,
    abort: Annotated[
        bool, typer.Option("--abort", help="Take back an import that was interrupted.")
    ] = False,
) -> None:
    """Import an export into an empty tenant.

    It is written in groups; until the last one is there, nobody may read it.
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
            report = memory.transfer.import_file(file, resume=resume, watch=_watch(gauge))
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


@app.command(epilog=examples("tenure --store team.db backup team-backup.db"))
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Where to.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a file of this name.")
    ] = False,
) -> None:
    """Copy an embedded store, also while it is used.

    The copy is checked, and a store of its own. It holds the tenant's keys: keep it safe.
    Originals beside the store are files of their own.
    """
    from ...store.sqlite.backup import copy_store

    store, tenant = _embedded_store(context)
    copied_file = copy_store(store.path_of(tenant), file, replace=replace)
    answer(
        context, _entry(copied_file), f"{file}: {copied_file.bytes:,} bytes of {copied_file.tenant}"
    )


@app.command(epilog=examples("tenure --store team.db restore team-backup.db"))
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A copy that `tenure backup` made.")],
) -> None:
    """Put a copy where the store was. A store is never overwritten."""
    from ...store.sqlite.backup import copy_store, tenant_file

    store, tenant = _embedded_store(context, create=True)
    # Before anything is made: under the name of another tenant the copy would not open.
    if file.is_file() and tenant_file(file).tenant != tenant:
        raise InvalidInput(
            f"{file} holds tenant {tenant_file(file).tenant!r}; name it with --tenant",
            code="tenant_mismatch",
        )
    target = store.path_of(tenant)
    target.parent.mkdir(parents=True, exist_ok=True)
    copied_file = copy_store(file, target)
    answer(
        context, _entry(copied_file), f"{copied_file.path}: {copied_file.bytes:,} bytes restored"
    )


@app.command(epilog=examples("tenure --store stores/ tenants"))
def tenants(context: typer.Context) -> None:
    """List the tenants of a store, with size and last write."""
    from ...store.sqlite.backup import tenant_files

    store, _ = _embedded_store(context)
    entries = list(map(_entry, tenant_files(Path(store.url).expanduser())))
    answer(context, entries, _TENANTS)


_TENANTS: Columns = {
    "tenant": itemgetter("tenant"),
    "bytes": itemgetter("bytes"),
    "last write": lambda entry: when(entry["last_write"], missing="none"),
    "file": itemgetter("path"),
}


def _entry(file: TenantFile) -> dict[str, Any]:
    """A file of a tenant as JSON shows it: its times read like those of every other answer."""
    from ...schema.values import moment

    return {
        "tenant": file.tenant,
        "path": file.path,
        "bytes": file.bytes,
        "last_write": moment(file.last_us) if file.last_us > 0 else None,
    }


def _embedded_store(context: typer.Context, *, create: bool = False) -> tuple[SqliteStore, str]:
    """The embedded store of the settings, closed, and the tenant that is meant.

    Raises:
        InvalidInput: `bad_settings`, for a server.
        NotFound: `unknown_store`, unless `create`.
    """
    settings = frame_of(context).settings().settings
    if "://" in settings.store or settings.store == ":memory:":
        raise InvalidInput(
            f"{settings.store} is no file; a server is copied by its own tools, and a tenant of it "
            "by tenure export",
            code="bad_settings",
        )
    if not create and not Path(settings.store).is_dir():
        require_store(settings.store, settings.tenant)

    from ...store.sqlite.store import SqliteStore

    return SqliteStore(settings.store), settings.tenant
