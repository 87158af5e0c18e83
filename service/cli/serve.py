"""`tenure serve`: the pages and everything else that is reached over HTTP, on one port."""

from __future__ import annotations

import signal
import socket
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...schema.errors import InvalidInput, Unavailable
from .frame import caller, connect_by, examples, frame_of, note, require_store

if TYPE_CHECKING:
    from ...schema.principal import Principal
    from ..server.config import ServerSettings
    from ..server.control import ControlFile
    from ..settings import ServeSettings, Settings

app = typer.Typer()
serve = typer.Typer(invoke_without_command=True, epilog=examples("tenure serve --demo"))
app.add_typer(serve, name="serve")

DEMO_TENANT: Final = "demo"
_DRAIN_SECONDS: Final = 20
"""How long requests that run may take to end, once the process is told to."""


@serve.callback()
def options(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on. [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0: any free one. [default: 8765]")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that clients may ask under; repeat it."),
    ] = None,
    https: Annotated[bool, typer.Option("--https", help="A proxy before it speaks https.")] = False,
    control: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file of its keys and sessions.")
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Tell Prometheus figures there.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a store for looking around, gone at the end.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="Begin an empty store where there is none.")
    ] = False,
) -> None:
    """Serve the pages on one port of this machine. Ctrl-C ends it.

    It prints a code that signs the browser in as the tenant's steward, or with the roles that
    --role names. Beyond loopback it listens only with https, and keys or an OIDC issuer.
    """
    if context.invoked_subcommand is not None:
        return

    settings = frame_of(context).settings().settings
    flags = {
        "host": host,
        "port": port,
        "hosts": tuple(allow_host) if allow_host else None,
        "https": https or None,
        "control": None if control is None else str(control),
        "metrics_port": metrics_port,
    }
    # A flag that was not given must not undo what a file or the environment states.
    stated_flags = {name: value for name, value in flags.items() if value is not None}
    server = settings.server.model_copy(update=stated_flags)
    if not demo:
        require_store(settings.store, settings.tenant, create=new)
        _run(settings, server, is_demo=False)
        return

    if frame_of(context).flags.get("store") is not None:
        raise InvalidInput(
            "--demo serves a store of its own; leave --store out", code="bad_request"
        )
    with _demo_settings(settings) as demo_settings:
        control_file = str(Path(demo_settings.store).with_name("control.db"))
        _run(demo_settings, server.model_copy(update={"control": control_file}), is_demo=True)


@serve.command(epilog=examples("tenure serve code"))
def code(context: typer.Context) -> None:
    """Print a new sign-in code for a server. An older one ends."""
    settings = frame_of(context).settings().settings
    with closing(control_file(settings, settings.server)) as control:
        print(control.new_code(settings.tenant))


def steward_of(settings: Settings, *, is_demo: bool = False) -> Principal:
    """Whom the code signs in: the tenant's steward, or a caller with the roles that were named.

    In the demonstration it is an administrator too, so that everything can be tried.
    """
    if settings.caller.roles:
        return caller(settings)

    roles = {"steward", "auditor", "admin"} if is_demo else {"steward", "auditor"}
    asker = settings.caller.model_copy(
        update={"roles": tuple(sorted(roles)), "user": settings.caller.user or "steward"}
    )
    principal = caller(settings.model_copy(update={"caller": asker}))
    # A steward decides about what is confidential too, unless its clearance was stated.
    if settings.caller.clearance is None:
        principal = replace(principal, clearance="highly_restricted")  # type: ignore[arg-type]
    return principal


def control_file(settings: Settings, server: ServeSettings) -> ControlFile:
    """The control file that the settings name, or the one beside the store."""
    from ..server.control import ControlFile

    if server.control is not None:
        return ControlFile(server.control)
    if "://" in settings.store or settings.store == ":memory:":
        return ControlFile("tenure-server.control")
    return ControlFile(settings.store.rstrip("/") + ".control")


@contextmanager
def _demo_settings(settings: Settings) -> Generator[Settings]:
    """A store made of the shipped log, removed when the server ends."""
    from .tour import take_tour

    with tempfile.TemporaryDirectory(prefix="tenure-demo-") as folder:
        store = str(Path(folder) / "demo.db")
        take_tour(store, tenant=DEMO_TENANT)
        # Without the map of servers, which could claim the demonstration's tenant.
        yield settings.model_copy(update={"store": store, "tenant": DEMO_TENANT, "cells": {}})


def _run(settings: Settings, server: ServeSettings, *, is_demo: bool) -> None:
    from ..server.config import LOOPBACK, ServerSettings, require_protection

    if is_demo and server.host not in LOOPBACK:
        raise InvalidInput("--demo listens on loopback alone", code="open_port")

    # Protection comes before the port, and the port before the store: what is refused has opened
    # nothing that others could reach, and migrated nothing.
    with closing(control_file(settings, server)) as control:
        require_protection(
            server.host,
            control,
            https=server.https,
            published_on_loopback=server.published_on_loopback,
            has_issuer=server.oidc is not None,
        )
        with closing(listening_socket(server.host, server.port)) as listener:
            port: int = listener.getsockname()[1]
            with closing(connect_by(settings)) as memory:
                _serve(
                    ServerSettings(
                        memory=memory,
                        control=control,
                        steward=steward_of(settings, is_demo=is_demo),
                        host=server.host,
                        port=port,
                        hosts=frozenset(server.hosts),
                        https=server.https,
                        is_demo=is_demo,
                        oidc=server.oidc,
                        calls_per_minute=server.calls_per_minute,
                    ),
                    listener,
                    server.metrics_port,
                )


def listening_socket(host: str, port: int) -> socket.socket:
    """The socket, taken before a store is opened, so that a busy port costs nothing.

    Raises:
        Unavailable: `port_taken`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise Unavailable(
            f"{host}:{port} cannot be listened on: {error.strerror or error}; name another with "
            "--port",
            code="port_taken",
        ) from error

    # Connections inherit it. asyncio sets it only where a socket was made with its protocol
    # stated, and without it each answer, head and body apart, waits 40 ms for its reader.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _serve(settings: ServerSettings, listener: socket.socket, metrics_port: int | None) -> None:
    """Answer until the process is told to end; what runs then is answered first."""
    try:
        import uvicorn

        from ..server.app import build_app
        from ..server.heap import share_heap
        from ..server.metrics import told_on
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{error.name} is not installed; run: pip install 'tenure[server]'",
            code="extra_missing",
        ) from error
    from ..server.sign_in import announce_code

    app = build_app(settings)
    scheme_host = f"[{settings.host}]" if ":" in settings.host else settings.host
    app.state.tenure.announce = note
    note(f"tenure is served at http://{scheme_host}:{settings.port}/ (Ctrl-C ends it)")
    announce_code(app.state.tenure)
    if settings.is_demo:
        note(_DEMO_STEPS)
        note(_agent_line(settings))

    share_heap()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # No page speaks it, and a library that another package brings along would answer for us.
        ws="none",
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    with told_on(metrics_port, app.state.tenure.figures) as told_port:
        if told_port:
            note(f"figures for Prometheus: http://127.0.0.1:{told_port}/metrics")
        with _unwinding_on_sigterm():
            uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _unwinding_on_sigterm() -> Generator[None]:
    """Let SIGTERM end the process as an exception does.

    The server sends itself the signal again once the last request is answered. Its own way to end a
    process would leave the store unclosed, and the folder of a demonstration on the disk.
    """

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    handler = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def _agent_line(settings: ServerSettings) -> str:
    """How an agent reaches the demonstration: its address, and a key that ends with it."""
    from ...schema.principal import Principal
    from ..calls.table import Permit
    from ..server.keys import KeyRing

    # A member, as an agent of a team is: it decides no review and erases nothing.
    principal = Principal(tenant=DEMO_TENANT, user="you", roles=frozenset({"member"}))
    permits = (Permit.READ.value, Permit.WRITE.value, Permit.COMPILE.value)
    key = KeyRing(settings.control).create(principal, permits, name="demo")
    address = f"http://127.0.0.1:{settings.port}"
    return f"An agent reaches it at {address}/mcp (tools) and {address}/v1 with the key\n  {key}"


_DEMO_STEPS: Final = """
Three things to try:
  1. Reviews: somebody said a thing about one of two Daniel Okafors. Which one?
  2. Orchid Foods, pricing_tier: what was believed on 1 March, and what is known today.
  3. Envelopes: the text that Mira's agent was given, and what stayed out of it, in words.
"""
