"""Whether the server lives, and whether it may be sent requests."""

from __future__ import annotations

import time
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from ...schema.errors import TenureError
from .state import ServerState, state_of

router = APIRouter(include_in_schema=False)

_FRESH_SECONDS: Final = 10.0


@router.get("/healthz")
def alive() -> JSONResponse:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
def ready(request: Request) -> JSONResponse:
    """Say whether the store answers a read; asked at most every ten seconds."""
    is_ready = _readiness(state_of(request))
    status = "ready" if is_ready else "store_unreachable"
    return JSONResponse({"status": status}, status_code=200 if is_ready else 503)


def _readiness(state: ServerState) -> bool:
    now_s = time.monotonic()
    # Asked by anybody without a key, so that a flood of questions must not become one of reads.
    if state.readiness is None or now_s - state.readiness[0] > _FRESH_SECONDS:
        try:
            state.memories.bound(state.settings.steward).as_of()
            state.readiness = now_s, True
        except TenureError:
            state.readiness = now_s, False
    return state.readiness[1]
