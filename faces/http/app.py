"""The app of a server: guard, problems, health, pages, `/v1`, and `/mcp` with its extra.

Everything is reached through one port. FastAPI's own documentation pages are off: they load
scripts of other sites.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles

from ...schema.errors import TenureError
from ...service.backend.caller import backend_of
from . import envelope_page, page_documents, page_entities, page_reviews, pages, sign_in
from .api import build_api
from .bearers import Bearers, OidcVerifier
from .config import ServerSettings
from .guard import Guard
from .keys import KeyRing
from .metrics import CacheFigures, CountedRoute, LiteralRoutes, Meter
from .pages import FOLDER
from .problems import (
    drop,
    refuse,
    refuse_malformed,
    refuse_missing,
    refuse_unexpected,
    refuse_unserved,
)
from .readiness import READY
from .state import HeadedRoute, ServerState, state_of
from .transfers import Transfers

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)


@router.get("/healthz")
async def alive() -> JSONResponse:
    """Say that the process answers; by no thread, as all of them may be at work."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
def ready(request: Request) -> JSONResponse:
    """Say whether the store answers a read and agreed with itself when it was last examined."""
    word = state_of(request).readiness.word()
    return JSONResponse({"status": word}, status_code=200 if word == READY else 503)


class Programs:
    """The routes for bearers of a key, over the state of one app."""

    def __init__(self, state: ServerState) -> None:
        oidc = state.settings.oidc
        verifier = None if oidc is None else OidcVerifier(oidc, state.settings.oidc_keys)
        bearers = Bearers(KeyRing(state.settings.control), verifier, state.pace)
        state.id_tokens = verifier

        calls = build_api(state, bearers).routes()
        transfers = Transfers(bearers, state.settings.memory, state.heavy_calls).routes()
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


def build_app(settings: ServerSettings) -> FastAPI:
    """The app over an open store; closing the store stays with whoever opened it."""
    state = ServerState(settings)
    backend = backend_of(settings.memory)
    # The settings may name another file than the one beside the store.
    backend.control_path = settings.control.path
    state.figures.registry.register(CacheFigures(backend))
    programs = Programs(state)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with programs.running():
            yield
        await run_in_threadpool(state.readiness.settle)
        # Requests that run are answered by now; what they put off is kept too.
        await run_in_threadpool(settings.memory.flush)

    app = FastAPI(
        title="tenure", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    app.state.tenure = state
    app.add_middleware(Guard, settings=settings)
    port = settings.metrics_port
    app.add_middleware(Meter, figures=state.figures, backend=backend, port=port)

    app.add_exception_handler(TenureError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_malformed)
    app.add_exception_handler(HTTPException, refuse_unserved)
    app.add_exception_handler(ClientDisconnect, drop)
    app.add_exception_handler(ModuleNotFoundError, refuse_missing)
    app.add_exception_handler(Exception, refuse_unexpected)

    app.include_router(router)
    for module in (sign_in, pages, page_documents, page_entities, page_reviews, envelope_page):
        app.include_router(module.router)
    # Before the pages: a program asks a hundred times as often as a person.
    app.router.routes[:0] = programs.routes
    app.mount("/static", StaticFiles(directory=FOLDER / "static"))
    return app
