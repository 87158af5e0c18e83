"""`tenure artifact …`: originals kept beside the facts, addressed by what they hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .files import read_bytes, write_bytes
from .frame import examples, note, opened
from .show import answer, listed, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.artifact import Artifact

app = typer.Typer()
artifact = typer.Typer(help="Originals kept beside the facts.", no_args_is_help=True)
app.add_typer(artifact, name="artifact")

_Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="artifact://sha256/…")]
_Roles = list[str] | None


@artifact.command(
    "put",
    epilog=examples(
        [
            "tenure artifact put deploy.log --origin tool://ci",
            "psql -c 'select …' | tenure artifact put - --name prices.csv",
        ]
    ),
)
def put(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")],
    name: Annotated[str | None, typer.Option(help="What to call it. [default: the file's]")] = None,
    media_type: Annotated[str | None, typer.Option(help="Such as text/csv.")] = None,
    origin: Annotated[str, typer.Option(help="Where it comes from, such as tool://ci.")] = "",
    shared: Annotated[
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
    with opened(context, create=True) as memory:
        kept = memory.artifacts.put(
            data,
            name=name if name is not None else "" if file == "-" else Path(file).name,
            media_type=media_type,
            origin=origin,
            scope={} if shared else None,
            security_classification=classification,
            allow_roles=tuple(allow_role or ()),
            deny_roles=tuple(deny_role or ()),
        )
    answer(context, kept, lambda out: out.print(kept.address))


@artifact.command("get", epilog=examples(["tenure artifact get artifact://sha256/9f86… --out a"]))
def get(
    context: typer.Context,
    address: _Address,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it here.")] = None,
) -> None:
    """Print an artifact, or write it into a file."""
    with opened(context) as memory:
        data = memory.artifacts.get(address)
    if out is not None:
        write_bytes(out, data)
        note(f"wrote {len(data):,} bytes to {out}")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@artifact.command("list", epilog=examples(["tenure artifact list"]))
def list_artifacts(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
) -> None:
    """List the artifacts that the caller may read, newest first."""
    with opened(context) as memory:
        found = memory.artifacts.list(limit)
    answer(context, found, lambda out: _show(out, found))


def _show(out: Console, found: Sequence[Artifact]) -> None:
    rows = [
        (each.address, f"{each.size:,}", each.media_type, each.name, each.origin, when(each.at))
        for each in found
    ]
    heads = "id", "bytes", "type", "name", "origin", "kept at"
    listed(out, heads, rows, none="no artifact was found")


@artifact.command(
    "erase", epilog=examples(["tenure artifact erase artifact://sha256/9f86… --reason 'case 17'"])
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
    with opened(context) as memory:
        memory.artifacts.erase(address, reason=reason)
    held = {"address": address, "reason": reason}
    answer(context, held, lambda out: out.print(f"erased {address}"))
