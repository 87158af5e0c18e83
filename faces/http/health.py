"""Whether the server lives, and whether it may be sent requests."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from .headed_route import HeadedRoute
from .readiness import READY
from .state import state_of

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
