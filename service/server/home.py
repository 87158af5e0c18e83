"""The first page: what waits for a person, and the search over what the caller may see."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.answers import EntityView
from ...schema.errors import NotFound, TenureError
from ..client.memory import Memory
from ..client.summaries import entity_names
from .headed_route import HeadedRoute
from .identity import memory_of
from .pages import address, page

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

_HITS = 20
_ENTITIES = 50


@router.get("/")
def home(
    request: Request,
    q: Annotated[str, Query(max_length=400)] = "",
    after: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """Show what waits, and what a search brings: the entity of that name, then facts."""
    memory = memory_of(request)
    is_question = bool(q.strip())
    # Pages of a register of any size: the next one begins after an id, whatever came meanwhile.
    entities = memory.entities.list(after=after, limit=_ENTITIES)

    return page(
        request,
        "home.jinja",
        question=q,
        hits=memory.as_of().search(q, limit=_HITS).hits if is_question else (),
        match=_entity_named(memory, q) if is_question else None,
        entities=entities,
        names=entity_names(memory, [entity.entity_id for entity in entities]),
        next_after=entities[-1].entity_id if len(entities) == _ENTITIES else "",
        reviews=memory.reviews.list(),
        actions=memory.actions(),
        envelopes=memory.envelopes.list(5),
    )


@router.get("/find")
def find(request: Request, name: Annotated[str, Query(max_length=512)]) -> Response:
    """Lead to the page of an entity by its name."""
    memory = memory_of(request)
    entity = memory.as_of().entity(name)
    return RedirectResponse(address(f"/entities/{entity.entity_id}"), status_code=303)


@router.get("/claims/{object_id}")
def claim(request: Request, object_id: UUID) -> HTMLResponse:
    """Show one claim: what it says, where it comes from, what it met, who was given it."""
    memory = memory_of(request)
    explanation = memory.explain(str(object_id))
    names = entity_names(memory, explanation.object.canonical_entity_ids)
    return page(request, "claim.jinja", told=explanation, item=explanation.object, names=names)


@router.get("/health")
def health(request: Request) -> HTMLResponse:
    """Show whether the store agrees with itself, and how the stewards are doing."""
    memory = memory_of(request)
    return page(
        request,
        "health.jinja",
        problems=memory.doctor(),
        progress=memory.reviews.progress(),
        log=memory.log(limit=30),
    )


def _entity_named(memory: Memory, name: str) -> EntityView | None:
    try:
        return memory.as_of().entity(name)
    except NotFound:
        return None
    except TenureError:  # a question may be no name at all
        return None
