"""`/mcp`: the tools of agents on the port of the server, for bearers of a key.

Each request stands for itself, in the newest revision of the protocol and in those that begin
with a handshake. The list of hosts is the server's own, so the one of the protocol's library is
off: its refusals name no setting.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Final, cast

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...schema.errors import Forbidden, Unavailable
from ...service.calls.table import Permit
from ...service.client.memory import Memory
from .bearer_watch import BearerWatch
from .bearers import Bearers
from .problems import refuse
from .state import ServerState

PATH: Final = "/mcp"
_CALLER: ContextVar[Memory] = ContextVar("tenure_mcp_caller")
_PERMITS: Final = (Permit.READ, Permit.WRITE, Permit.COMPILE)


class McpApp:
    """The ASGI app of the tools."""

    def __init__(self, bearers: Bearers, state: ServerState) -> None:
        self._bearers = bearers
        self._memory = state.settings.memory
        self._heavy_calls = state.heavy_calls
        # Named by text, as no face imports another.
        self._server: Any = import_module("tenure.faces.mcp.server").build_server(_CALLER.get)
        self._app: ASGIApp = self._server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """What must be entered before the first request, and left after the last."""
        return cast("AbstractAsyncContextManager[None]", self._server.session_manager.run())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Bind the caller of a request, and hand it to the protocol."""
        request = Request(scope)
        try:
            credential = self._bearers.of_request(request)
            # A tool reads, writes or compiles, and a list of tools is the same for all.
            for permit in _PERMITS:
                credential.require(permit)
        except (Forbidden, Unavailable) as error:
            response = refuse(request, error)
            response.headers["www-authenticate"] = "Bearer"
            await response(scope, receive, send)
            return

        mark = _CALLER.set(self._memory.bind(credential.principal))
        try:
            if request.method == "GET":
                watch = BearerWatch(self._bearers, request)
                await _watched_stream(self._app, watch, scope=scope, receive=receive, send=send)
            else:
                # One message, one answer: it is over before a key can end.
                async with self._heavy_calls.place(credential.principal):
                    await self._app(scope, receive, send)
        except Unavailable as error:
            await refuse(request, error)(scope, receive, send)
        finally:
            _CALLER.reset(mark)


async def _watched_stream(
    app: ASGIApp, watch: BearerWatch, *, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve a stream that stays open, until its bearer ends."""
    is_open = False

    async def noting_send(message: Message) -> None:
        nonlocal is_open
        is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
        await send(message)

    stream = asyncio.ensure_future(app(scope, receive, noting_send))
    bearer_end = asyncio.ensure_future(watch.end())
    try:
        await asyncio.wait((stream, bearer_end), return_when=asyncio.FIRST_COMPLETED)
    finally:
        # Whichever is left over, and both where the request itself was given up.
        for task in (stream, bearer_end):
            task.cancel()
        await asyncio.wait((stream, bearer_end))

    if bearer_end.cancelled():
        await stream
    elif is_open:
        event = f"event: problem\ndata: {json.dumps(bearer_end.result())}\n\n"
        await send({"type": "http.response.body", "body": event.encode(), "more_body": False})
