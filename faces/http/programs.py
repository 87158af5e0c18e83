"""What programs and agents reach: `/v1`, and `/mcp` where its extra is installed."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

from starlette.routing import BaseRoute

from .api import build_api
from .bearers import Bearers, OidcVerifier
from .keys import KeyRing
from .metrics import CountedRoute, LiteralRoutes
from .state import ServerState
from .transfers import Transfers


class Programs:
    """The routes for bearers of a key, over the state of one app."""

    def __init__(self, state: ServerState) -> None:
        oidc = state.settings.oidc
        verifier = None if oidc is None else OidcVerifier(oidc, state.settings.oidc_keys)
        bearers = Bearers(KeyRing(state.settings.control), verifier, state.pace)
        state.id_tokens = verifier

        calls = build_api(state, bearers).routes()
        transfers = Transfers(bearers, state.memories, state.heavy_calls).routes()
        self.routes: list[BaseRoute] = [LiteralRoutes([*calls, *transfers])]
        self._running: AbstractAsyncContextManager[None] = nullcontext()
        try:
            from .mcp_app import PATH, McpApp
        except ModuleNotFoundError as error:
            # Without its extra the server has no tools; any other missing module is a fault.
            if error.name is None or not error.name.startswith("mcp"):
                raise
        else:
            tools = McpApp(bearers, state)
            self.routes.append(CountedRoute(PATH, tools))
            self._running = tools.running()

    def running(self) -> AbstractAsyncContextManager[None]:
        """What must be entered before the first request, and left after the last."""
        return self._running
