"""`/mcp`: the tools of agents on the port of the server, for bearers of a key.

Each request stands for itself, in the newest revision of the protocol and in those that begin
with a handshake. The list of hosts is the server's own, so the one of the protocol's library is
off: its refusals name no setting.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ...schema.errors import Forbidden
from ..calls.table import Permit
from ..client.memory import Memory
from ..mcp.server import build_server
from .bearers import Bearers
from .memories import Memories
from .problems import problem, problem_response, status_of

PATH: Final = "/mcp"
_CALLER: ContextVar[Memory] = ContextVar("tenure_mcp_caller")
_PERMITS: Final = (Permit.READ, Permit.WRITE, Permit.COMPILE)


class McpApp:
    """The ASGI app of the tools."""

    def __init__(self, bearers: Bearers, memories: Memories) -> None:
        self._bearers = bearers
        self._memories = memories
        self._server = build_server(_CALLER.get)
        self._app: ASGIApp = self._server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """What must be entered before the first request, and left after the last."""
        return self._server.session_manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Bind the caller of a request, and hand it to the protocol."""
        request = Request(scope)
        try:
            credential = self._bearers.of_request(request)
            # A tool reads, writes or compiles, and a list of tools is the same for all.
            for permit in _PERMITS:
                credential.require(permit)
        except Forbidden as error:
            body = problem(status_of(error), error.code, str(error))
            response = problem_response(request, body)
            response.headers["www-authenticate"] = "Bearer"
            await response(scope, receive, send)
            return

        mark = _CALLER.set(self._memories.bound(credential.principal))
        try:
            await self._app(scope, receive, send)
        finally:
            _CALLER.reset(mark)
