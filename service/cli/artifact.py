"""`tenure artifact …`: originals kept beside the facts, addressed by what they hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .files import read_bytes, write_bytes
from .frame import answer, examples, note, open_memory
from .show import Columns

app = typer.Typer()
artifact = typer.Typer(help="Originals kept beside the facts.", no_args_is_help=True)
app.add_typer(artifact, name="artifact")

_Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="artifact://sha256/…")]
_Roles = list[str] | None


@artifact.command(
    "put",
    epilog=examples(
        "tenure artifact put deploy.log --origin tool://ci",
        "psql -c 'select …' | tenure artifact put - --name prices.csv",
    ),
)
def put(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")],
    name: Annotated[str | None, typer.Option(help="What to call it. [default: the file's]")] = None,
    media_type: Annotated[str | None, typer.Option(help="Such as text/csv.")] = None,
    origin: Annotated[str, typer.Option(help="Where it comes from, such as tool://ci.")] = "",
    for_tenant: Annotated[
        bool, typer.Option("--shared", help="For the whole tenant, not for the caller alone.")
    ] = False,
    classification: Annotated[
        str | None, typer.Option("--as", help="public … highly_restricted.")
    ] = None,
    allow_role: Annotated[_Roles, typer.Option(metavar="ROLE", help="Who may read it.")] = None,
    deny_role: Annotated[_Roles, typer.Option(metavar="ROLE", help="Who may not.")] = None,
) -> None:
    """Keep a file, and print its address."""
    data = sys.stdin.buffer.read() if file == "-" else read_bytes(Path(file))
    default_name = "" if file == "-" else Path(file).name

    with open_memory(context, create=True) as memory:
        record = memory.artifacts.put(
            data,
            name=default_name if name is None else name,
            media_type=media_type,
            origin=origin,
            # An empty scope is the whole tenant, and none is the caller's own.
            scope={} if for_tenant else None,
            security_classification=classification,
            allow_roles=tuple(allow_role or ()),
            deny_roles=tuple(deny_role or ()),
        )
    answer(context, record, record.address)


@artifact.command("get", epilog=examples("tenure artifact get artifact://sha256/9f86… --out a"))
def get(
    context: typer.Context,
    address: _Address,
    target: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it here.")
    ] = None,
) -> None:
    """Print an artifact, or write it into a file."""
    with open_memory(context) as memory:
        data = memory.artifacts.get(address)

    if target is not None:
        write_bytes(target, data)
        note(f"wrote {len(data):,} bytes to {target}")
    else:
        # Bytes go past the text layer, which may hold something that was printed before.
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@artifact.command("list", epilog=examples("tenure artifact list"))
def list_artifacts(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
) -> None:
    """List the artifacts that the caller may read, newest first."""
    with open_memory(context) as memory:
        records = memory.artifacts.list(limit)
    placeholder = "no artifact was found"
    answer(
        context, records, lambda screen: screen.table(records, _ARTIFACTS, placeholder=placeholder)
    )


_ARTIFACTS: Columns = {
    "name": "name",
    "bytes": "size",
    "type": "media_type",
    "origin": "origin",
    "kept at": "at",
    "address": "address",
}


@artifact.command(
    "erase", epilog=examples("tenure artifact erase artifact://sha256/9f86… --reason 'case 17'")
)
def erase(
    context: typer.Context,
    address: _Address,
    reason: Annotated[str, typer.Option(help="Why; it stays in the tombstone.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove an artifact, and what was compiled from it. It cannot be undone."""
    if not yes:
        typer.confirm(f"Erase {address} for ever?", abort=True, err=True)
    with open_memory(context) as memory:
        memory.artifacts.erase(address, reason=reason)
    answer(context, {"address": address, "reason": reason}, f"erased {address}")
