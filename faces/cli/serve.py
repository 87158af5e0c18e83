"""`tenure serve`, `tenure keys` and `tenure mcp`: the ways into a store for programs.

`serve` runs the pages and the HTTP calls on one port. `keys` are the credentials of programs that
reach the server. `mcp` offers the memory as tools of an agent and connects a client to it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from ...schema.errors import InvalidInput
from ...service.client.opening import caller, require_store
from ...service.visual.text import by_field
from .commands import command, group_options
from .frame import (
    FLAGS,
    HTTP,
    MCP,
    Columns,
    answer,
    examples,
    frame_of,
    load_face,
    note,
    open_memory,
    unique_id,
)
from .main import read_text

if TYPE_CHECKING:
    from ...service.settings import Settings
    from .frame import Screen

app = typer.Typer()
serve = typer.Typer(invoke_without_command=True, epilog=examples("tenure serve --demo"))
app.add_typer(serve, name="serve")

DEMO_TENANT: Final = "demo"

_DEMO_STEPS: Final = """
Three things to try:
  1. Reviews: a text states a fact about one of two Daniel Okafors. Which one?
  2. Orchid Foods, pricing_tier: what was believed on 1 March, and what is known today.
  3. Envelopes: the text that Mira's agent was given, and what stayed out of it, in words.
"""

keys = typer.Typer(help="API keys of programs.", no_args_is_help=True)

_DAY_S = 86_400

mcp = typer.Typer(
    invoke_without_command=True,
    epilog=examples("tenure --store team.db mcp", "tenure mcp install claude-code"),
)


@group_options(serve)
def options(
    context: typer.Context,
    *,
    host: str | None = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0: any free one. [default: 8765]")
    ] = None,
    allow_host: list[str] | None = None,
    https: bool = False,
    control: Path | None = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="A port for Prometheus metrics.")
    ] = None,
    demo: bool = False,
    new: bool = False,
) -> None:
    """Serve the pages on one port of this machine. Ctrl-C ends it.

    It prints a code that signs the browser in as the tenant's steward, or with the roles that
    --role names. Beyond loopback it listens only with https, and keys or an OIDC issuer.

    Options:
        host: The address to listen on. [default: 127.0.0.1]
        allow_host (NAME): A host name that clients may use; repeat it.
        https: A proxy in front has https.
        control (FILE): The file of its keys and sessions.
        demo: Serve a demo store, deleted at the end.
        new: Create an empty store if there is none.
    """
    if control is not None:
        frame = frame_of(context)
        context.find_root().obj = replace(
            frame, flags={**frame.flags, "server.control": str(control)}
        )
    if context.invoked_subcommand is not None:
        return

    settings = frame_of(context).settings().settings
    flags = {
        "host": host,
        "port": port,
        "hosts": tuple(allow_host) if allow_host else None,
        "https": https or None,
        "metrics_port": metrics_port,
    }
    # A flag that was not given must not undo what a file or the environment states.
    stated_flags = {name: value for name, value in flags.items() if value is not None}
    server = settings.server.model_copy(update=stated_flags)
    if not demo:
        require_store(settings.store, settings.tenant, create=new)
        load_face(HTTP, "server").run(settings, server, note=note)
        return

    if frame_of(context).flags.get("store") is not None:
        raise InvalidInput(
            "--demo serves a store of its own; leave --store out", code="bad_request"
        )
    with _demo_settings(settings) as demo_settings:
        control_file = str(Path(demo_settings.store).with_name("control.db"))
        demo_server = server.model_copy(update={"control": control_file})
        load_face(HTTP, "server").run(demo_settings, demo_server, note=note, demo_steps=_DEMO_STEPS)


@command(serve, "tenure serve code", "tenure --user bob serve code")
def code(context: typer.Context) -> None:
    """Print a new sign-in code for the user of --user.

    An older code of the same person ends. The user gets the roles that --role names, here and in
    sessions that are open; a steward's without it.
    """
    settings = frame_of(context).settings().settings
    print(load_face(HTTP, "server").new_code(settings, note))


@contextmanager
def _demo_settings(settings: Settings) -> Generator[Settings]:
    """A store made of the shipped log, removed when the server ends."""
    from .demo import read_handbook, take_tour

    with tempfile.TemporaryDirectory(prefix="tenure-demo-") as folder:
        store = str(Path(folder) / "demo.db")
        take_tour(store, tenant=DEMO_TENANT)
        read_handbook(store, tenant=DEMO_TENANT)
        # Without the map of servers, which could claim the demonstration's tenant.
        yield settings.model_copy(update={"store": store, "tenant": DEMO_TENANT, "cells": {}})


app.add_typer(keys, name="keys")


@contextmanager
def _ring(context: typer.Context) -> Generator[Any]:
    ring = load_face(HTTP, "server").key_ring(frame_of(context).settings().settings)
    with closing(ring.control):
        yield ring


@command(
    keys,
    "tenure --user ann --role member keys create --allow memory:read",
    "tenure --role service keys create --allow token:issue --days 90",
)
def create(
    context: typer.Context, *, allow: list[str], name: str = "", days: float | None = None
) -> None:
    """Make a key for the caller of the options; it is shown once.

    Options:
        allow (PERMIT): Such as memory:read; repeat it.
        name: A name for the list.
        days: Its lifetime in days.
    """
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


@command(keys, "tenure keys list", name="list")
def list_keys(context: typer.Context) -> None:
    """List the keys of the tenant, without their secrets."""
    tenant = frame_of(context).settings().settings.tenant
    with _ring(context) as ring:
        records = ring.records(tenant)
    entries = list(map(_entry, records))
    advice = "there is no key; make one with: tenure keys create --allow memory:read"
    answer(context, entries, lambda screen: screen.table(records, _COLUMNS, placeholder=advice))


def _entry(key: Any) -> dict[str, Any]:
    """A key as JSON shows it: its times read like those of every other answer."""
    entry = by_field(key)
    for time in ("made", "ends"):
        entry[time] = _moment(entry.pop(f"{time}_s"))
    return entry


@command(keys, "tenure keys rotate 4f0c2a9b1d7e --overlap-hours 48")
def rotate(context: typer.Context, key_id: str, *, overlap_hours: float = 24) -> None:
    """Give a key a new secret; shown once.

    Options:
        key_id (ID): The id of a key, or its beginning: four digits on.
        overlap_hours: How long the old one still works.
    """
    with _ring(context) as ring:
        text = ring.rotate(_key_of(context, ring, key_id), overlap_seconds=overlap_hours * 3600)
    answer(context, {"key": text}, text)


@command(keys, "tenure keys revoke 4f0c2a9b1d7e")
def revoke(context: typer.Context, key_id: str) -> None:
    """Revoke a key and all its tokens at once.

    Options:
        key_id (ID): The id of a key, or its beginning: four digits on.
    """
    with _ring(context) as ring:
        full_id = _key_of(context, ring, key_id)
        ring.revoke(full_id)
    answer(context, {"revoked": full_id}, f"{full_id} opens nothing any more")


def _key_of(context: typer.Context, ring: Any, text: str) -> str:
    """The key of the tenant that an id or its beginning means; the id of any other as it is."""
    tenant = frame_of(context).settings().settings.tenant
    # The control file may serve several tenants, and a beginning must not reach into another.
    names = {key.key_id: key.name for key in ring.records(tenant)}
    return unique_id(text, names, names)


app.add_typer(mcp, name="mcp")


@mcp.callback()
def mcp_options(context: typer.Context) -> None:
    """Serve the memory to an agent over MCP, on standard streams.

    The caller comes from the settings; no tool takes a user or a tenant.
    """
    if context.invoked_subcommand is not None:
        return

    face = load_face(MCP, "mcp")
    with open_memory(context, create=True) as memory:
        face.serve(memory)


@command(mcp, "tenure --store team.db mcp install claude-code --yes")
def install(
    context: typer.Context, client: str, *, folder: Path = Path(), yes: bool = False
) -> None:
    """Connect a client of this project: server entry and hooks.

    Options:
        client: claude-code, codex or vscode.
        folder: The project.
        yes: Write it, instead of showing it.
    """
    changes = load_face("tenure.faces.mcp.hook", "mcp").install_changes(
        client, folder, _stated_options(context)
    )
    if yes:
        for change in changes:
            change.write()
    answer(context, changes, _change_list(changes, written=yes))


def _change_list(changes: tuple[Any, ...], *, written: bool) -> Callable[[Screen], None]:
    def show(screen: Screen) -> None:
        for change in changes:
            verb = "wrote" if written else "would make" if change.is_new else "would change"
            screen.line(f"{verb} {change.path}")
            if not written:
                screen.line(change.text)
        if not written:
            screen.line("nothing is written yet; add --yes")

    return show


def _stated_options(context: typer.Context) -> list[str]:
    """The options before the command, for the client to repeat; a path of a store is absolute."""
    # The client starts the server in a folder of its own, where a relative path is another store.
    names = {key: flag for flag, key in FLAGS.items()}
    words: list[str] = []
    settings = frame_of(context).settings().settings
    flags = {"store": settings.store, **frame_of(context).flags}
    for key, value in flags.items():
        if value is None or key not in names:
            continue
        values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
        for text in map(str, values):
            is_path = key == "store" and "://" not in text and text != ":memory:"
            words += [
                f"--{names[key]}",
                str(Path(text).expanduser().resolve()) if is_path else text,
            ]
    return words


@command(mcp, 'echo \'{"prompt": "Where does Sam work?"}\' | tenure mcp hook')
def hook(context: typer.Context) -> None:
    """Answer a client's hook: compile for its prompt, then store it."""
    hooks = load_face("tenure.faces.mcp.hook", "mcp")
    with open_memory(context, create=True) as memory:
        print(hooks.answer_turn(memory, read_text("-")))
