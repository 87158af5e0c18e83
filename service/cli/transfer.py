"""`tenure export` and `tenure import`: a tenant as a file, lossless on both axes."""

from __future__ import annotations

from typing import Annotated

import typer

from .frame import answer, examples, note, open_memory

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
    """Write everything of the tenant into a file that only its owner may read."""
    with open_memory(context) as memory:
        report = memory.export(file, keys=not without_keys, replace=replace)
    if file == "-":
        note(f"{report.records:,} records")
        return
    keys = "with the tenant's secret keys: keep it safe" if report.keys else "without keys"
    answer(context, report, f"{file}: {report.records:,} records, {keys}")


@app.command(
    "import", epilog=examples("tenure --store new.db import team.jsonl.gz", "tenure import - < t")
)
def import_file(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="An export; .gz too, - is standard input.")],
) -> None:
    """Restore an export into an empty tenant, or not at all."""
    with open_memory(context, create=True) as memory:
        report = memory.restore(file)
    answer(context, report, f"{report.records:,} records restored into tenant {report.tenant}")
