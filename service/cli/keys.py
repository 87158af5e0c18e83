"""`tenure keys`: credentials of programs that reach a server of this store."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...schema.errors import Unavailable
from ..visual.text import by_field
from .frame import answer, caller, examples, frame_of
from .ids import unique_id
from .serve import control_file
from .show import Columns

if TYPE_CHECKING:
    from ..server.keys import KeyRecord, KeyRing

app = typer.Typer()
keys = typer.Typer(help="Keys of programs.", no_args_is_help=True)
app.add_typer(keys, name="keys")

KeyId = Annotated[
    str, typer.Argument(metavar="ID", help="The id of a key, or its beginning: four digits on.")
]
_DAY_S = 86_400


@contextmanager
def _ring(context: typer.Context) -> Generator[KeyRing]:
    try:
        from ..server.keys import KeyRing
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{error.name} is not installed; keys open a server: pip install 'tenure[server]'",
            code="extra_missing",
        ) from error

    settings = frame_of(context).settings().settings
    with closing(control_file(settings, settings.server)) as control:
        yield KeyRing(control)


@keys.command(
    epilog=examples(
        "tenure --user ann --role member keys create --allow memory:read",
        "tenure --role service keys create --allow token:issue --days 90",
    )
)
def create(
    context: typer.Context,
    allow: Annotated[
        list[str], typer.Option(metavar="PERMIT", help="Such as memory:read; repeat it.")
    ],
    name: Annotated[str, typer.Option(help="For the list.")] = "",
    days: Annotated[float | None, typer.Option(min=0, help="How long it opens.")] = None,
) -> None:
    """Make a key for the caller of the options; it is shown once."""
    settings = frame_of(context).settings().settings
    # An owner's level is that of the platform, which no program should have by default.
    if settings.caller.authority_level is None:
        weaker = settings.caller.model_copy(update={"authority_level": 2})
        settings = settings.model_copy(update={"caller": weaker})

    seconds = None if days is None else days * _DAY_S
    with _ring(context) as ring:
        text = ring.create(caller(settings), allow, name=name, seconds=seconds)
    answer(context, {"key": text}, text)


_COLUMNS: Columns = {
    "id": "key_id",
    "name": "name",
    "user": "user",
    "roles": "roles",
    "allows": "permits",
    "made": lambda key: _moment(key.made_s),
    "ends": lambda key: _moment(key.ends_s) or "never",
}


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(int(seconds), UTC)


def _entry(key: KeyRecord) -> dict[str, Any]:
    """A key as JSON shows it: its times read like those of every other answer."""
    entry = by_field(key)
    for time in ("made", "ends"):
        entry[time] = _moment(entry.pop(f"{time}_s"))
    return entry


@keys.command("list", epilog=examples("tenure keys list"))
def list_keys(context: typer.Context) -> None:
    """List the keys of the tenant, without their secrets."""
    tenant = frame_of(context).settings().settings.tenant
    with _ring(context) as ring:
        records: tuple[KeyRecord, ...] = ring.records(tenant)
    entries = list(map(_entry, records))
    advice = "there is no key; make one with: tenure keys create --allow memory:read"
    answer(context, entries, lambda screen: screen.table(records, _COLUMNS, placeholder=advice))


@keys.command(epilog=examples("tenure keys rotate 4f0c2a9b1d7e --overlap-hours 48"))
def rotate(
    context: typer.Context,
    key_id: KeyId,
    overlap_hours: Annotated[
        float, typer.Option(min=0, help="How long the old one still opens.")
    ] = 24,
) -> None:
    """Give a key a new secret; shown once."""
    with _ring(context) as ring:
        text = ring.rotate(_key_of(context, ring, key_id), overlap_seconds=overlap_hours * 3600)
    answer(context, {"key": text}, text)


@keys.command(epilog=examples("tenure keys revoke 4f0c2a9b1d7e"))
def revoke(context: typer.Context, key_id: KeyId) -> None:
    """End a key and all tokens of it, at once."""
    with _ring(context) as ring:
        full_id = _key_of(context, ring, key_id)
        ring.revoke(full_id)
    answer(context, {"revoked": full_id}, f"{full_id} opens nothing any more")


def _key_of(context: typer.Context, ring: KeyRing, text: str) -> str:
    """The key of the tenant that an id or its beginning means; the id of any other as it is."""
    tenant = frame_of(context).settings().settings.tenant
    # The control file may serve several tenants, and a beginning must not reach into another.
    names = {key.key_id: key.name for key in ring.records(tenant)}
    return unique_id(text, names, names)
