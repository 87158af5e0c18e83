"""The pages of documents: which there are, and one with its versions and passages.

Each version has a date for each clock: from when it holds, and when it was recorded.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ...schema.errors import NotFound
from .identity import memory_of
from .pages import page
from .state import HeadedRoute

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

_Moment = Annotated[str, Query(max_length=64)]


@router.get("/documents")
def documents(request: Request, valid: _Moment = "", tx: _Moment = "") -> HTMLResponse:
    """Show the documents that hold at a time, as the reader may see them."""
    views = memory_of(request).documents.list(valid=valid or None, tx=tx or None)
    return page(request, "documents.jinja", views=views, valid=valid, tx=tx)


@router.get("/documents/{document_id}")
def document(
    request: Request, document_id: UUID, valid: _Moment = "", tx: _Moment = ""
) -> HTMLResponse:
    """Show what a document says at a time, with what is new in that version marked."""
    documents = memory_of(request).documents
    name = str(document_id)
    record = documents.get(name, valid=valid or None, tx=tx or None)
    start = record.view.effective
    versions = documents.versions(name)
    before = [v.effective for v in versions if start and v.effective and v.effective < start]
    added: set[str] = set()
    # As it was believed at `tx`, no version before this one may be known.
    with suppress(NotFound, IndexError):
        last = documents.get(name, valid=before[-1], tx=tx or None)
        added = {p.citation.passage_id for p in record.passages}
        added -= {p.citation.passage_id for p in last.passages}

    return page(
        request,
        "document.jinja",
        record=record,
        versions=versions,
        added=added,
        valid=valid or datetime.now(UTC).date().isoformat(),
        tx=tx,
    )
