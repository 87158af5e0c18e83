"""Run a server of the pages, `/v1` and `/mcp` on one port, as the settings describe.

The command line names this module by text and calls `run`, `control_file` and `key_ring`.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from ...schema.errors import InvalidInput, Unavailable
from ...schema.principal import Principal
from ...service.backend.caller import backend_of
from ...service.backend.files import needs_extra
from ...service.backend.kept_answers import control_path
from ...service.calls.table import Permit
from ...service.client.opening import caller, connect_by
from ...service.logs import log_to_root
from .config import LOOPBACK, ServerSettings, require_person, require_protection
from .control import ControlFile
from .identity import person_name, principal_json
from .keys import KeyRing

if TYPE_CHECKING:
    from ...service.settings import ServeSettings, Settings

Note = Callable[[str], None]
"""Prints one line for the person who started the server."""


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


def new_code(settings: Settings, note: Note) -> str:
    """A sign-in code for the user of the settings, else for the steward of the server.

    Raises:
        InvalidInput: `bad_principal`; `bad_request` for roles without a user.
    """
    person, record = "", ""
    if settings.caller.user is not None:
        principal = steward_of(settings)
        require_person(principal)
        person, record = person_name(principal.tenant, principal.user), principal_json(principal)
        note(f"it signs in {principal.user} ({', '.join(sorted(principal.roles))})")
    elif settings.caller.roles:
        raise InvalidInput("say who has these roles: state --user", code="bad_request")
    with closing(control_file(settings, settings.server)) as control:
        return control.new_code(settings.tenant, person, record)


def control_file(settings: Settings, server: ServeSettings) -> ControlFile:
    """The control file that the settings name, or the one beside the store."""
    if server.control is not None:
        return ControlFile(server.control)
    return ControlFile(control_path(settings.store))


def key_ring(settings: Settings) -> KeyRing:
    """The keys of programs in the control file that the settings name; close its `control`."""
    return KeyRing(control_file(settings, settings.server))


def run(settings: Settings, server: ServeSettings, *, note: Note, demo_steps: str = "") -> None:
    """Serve until the process ends; `demo_steps` is what a demonstration prints about itself.

    Raises:
        InvalidInput: `insecure_listen`.
        Unavailable: `port_taken`, `extra_missing`.
    """
    is_demo = bool(demo_steps)
    if is_demo and server.host not in LOOPBACK:
        raise InvalidInput("--demo listens on loopback alone", code="insecure_listen")

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
        with ExitStack() as sockets:
            listeners = [sockets.enter_context(listening_socket(server.host, server.port))]
            if server.metrics_port is not None:
                figures = listening_socket("127.0.0.1", server.metrics_port, "--metrics-port")
                listeners.append(sockets.enter_context(figures))
            ports: list[int] = [listener.getsockname()[1] for listener in listeners]
            with closing(connect_by(settings)) as memory:
                _serve(
                    ServerSettings(
                        memory=memory,
                        control=control,
                        steward=steward_of(settings, is_demo=is_demo),
                        host=server.host,
                        port=ports[0],
                        metrics_port=ports[1] if len(ports) > 1 else None,
                        hosts=frozenset(server.hosts),
                        https=server.https,
                        is_demo=is_demo,
                        oidc=server.oidc,
                        calls_per_minute=server.calls_per_minute,
                    ),
                    listeners,
                    note,
                    demo_steps,
                )


def listening_socket(host: str, port: int, flag: str = "--port") -> socket.socket:
    """The socket, taken before a store is opened, so that a busy port costs nothing.

    Raises:
        Unavailable: `port_taken`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise Unavailable(
            f"{host}:{port} cannot be listened on: {error.strerror or error}; "
            f"name another with {flag}",
            code="port_taken",
        ) from error

    # Connections inherit it. asyncio sets it only where a socket was made with its protocol
    # stated, and without it each answer, head and body apart, waits 40 ms for its reader.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _serve(
    settings: ServerSettings,
    listeners: Sequence[socket.socket],
    note: Note,
    demo_steps: str,
) -> None:
    """Answer until the process is told to end; what runs then is answered first."""
    with needs_extra("server"):
        import uvicorn

        from .app import build_app
        from .connections import server_config
        from .metrics import share_heap
    from .sign_in import announce_code

    # Before the app: a library of its own would log to the root by a handler that may raise.
    log_to_root()
    app = build_app(settings)
    backend_of(settings.memory).store.expect_reads(settings.memory.principal.tenant)
    scheme_host = f"[{settings.host}]" if ":" in settings.host else settings.host
    app.state.tenure.announce = note
    note(f"tenure is served at http://{scheme_host}:{settings.port}/ (Ctrl-C ends it)")
    announce_code(app.state.tenure)
    if settings.metrics_port is not None:
        note(f"figures for Prometheus: http://127.0.0.1:{settings.metrics_port}/metrics")
    if settings.is_demo:
        note(demo_steps)
        note(_agent_line(settings))

    share_heap()
    with _unwinding_on_sigterm():
        uvicorn.Server(server_config(app)).run(sockets=list(listeners))


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
    # A member, as an agent of a team is: it decides no review and erases nothing.
    principal = Principal(
        tenant=settings.memory.principal.tenant, user="you", roles=frozenset({"member"})
    )
    permits = (Permit.READ.value, Permit.WRITE.value, Permit.COMPILE.value)
    key = KeyRing(settings.control).create(principal, permits, name="demo")
    address = f"http://127.0.0.1:{settings.port}"
    return f"An agent reaches it at {address}/mcp (tools) and {address}/v1 with the key\n  {key}"
