"""The app of a server: guard, problems, pages, and what other rooms mount.

Everything is reached through one port. FastAPI's own documentation pages are off: they load
scripts of other sites.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles

from ...schema.errors import TenureError
from ...service.backend.caller import backend_of
from . import envelope_page, health, page_documents, page_entities, page_reviews, pages, sign_in
from .config import ServerSettings
from .guard import Guard
from .memories import Memories
from .metrics import CacheFigures, Meter
from .pages import FOLDER
from .problems import (
    drop,
    refuse,
    refuse_malformed,
    refuse_missing,
    refuse_unexpected,
    refuse_unserved,
)
from .programs import Programs
from .state import ServerState


def build_app(settings: ServerSettings) -> FastAPI:
    """The app over an open store; closing the store stays with whoever opened it."""
    state = ServerState(settings, Memories(settings.memory))
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
        await run_in_threadpool(state.memories.flush)

    app = FastAPI(
        title="tenure", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    app.state.tenure = state
    app.add_middleware(Guard, settings=settings)
    port = settings.metrics_port
    app.add_middleware(Meter, figures=state.figures, memories=state.memories, port=port)

    app.add_exception_handler(TenureError, refuse)
    app.add_exception_handler(RequestValidationError, refuse_malformed)
    app.add_exception_handler(HTTPException, refuse_unserved)
    app.add_exception_handler(ClientDisconnect, drop)
    app.add_exception_handler(ModuleNotFoundError, refuse_missing)
    app.add_exception_handler(Exception, refuse_unexpected)

    for module in (
        health,
        sign_in,
        pages,
        page_documents,
        page_entities,
        page_reviews,
        envelope_page,
    ):
        app.include_router(module.router)
    # Before the pages: a program asks a hundred times as often as a person.
    app.router.routes[:0] = programs.routes
    app.mount("/static", StaticFiles(directory=FOLDER / "static"))
    return app
