"""The first page: what waits for a person, and the search over what the caller may see."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse

from .identity import memory_of
from .pages import page

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request, q: Annotated[str, Query(max_length=400)] = "") -> HTMLResponse:
    """Show what waits, and what a search brings."""
    memory = memory_of(request)
    hits = memory.as_of().search(q, limit=20).hits if q.strip() else ()
    return page(
        request,
        "home.jinja",
        question=q,
        hits=hits,
        reviews=memory.reviews.list(),
        actions=memory.actions(),
    )
