"""The page of an entity, its time planes, and undoing its merges."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.answers import SlotState
from ..client.memory import Memory
from ..client.summaries import entity_names, value_names, value_words
from .headed_route import HeadedRoute
from .identity import check_form, memory_of
from .pages import address, page

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

_SLOT = r"^[a-z][a-z0-9_]*$"


@router.get("/entities/{entity_id}")
def entity(request: Request, entity_id: UUID, notice: str = "") -> Response:
    """Show an entity: facts, names, merges that can be undone, neighbours and log."""
    memory = memory_of(request)
    record = memory.entities.get(str(entity_id))
    if record.entity.redirected_from is not None:
        return RedirectResponse(f"/entities/{record.entity.entity_id}", status_code=303)

    # Closed judgements were taken back already.
    merges = [j for j in record.judgements if j.merge_id and j.until is None]
    ids = {j.left for j in record.judgements} | {j.right for j in record.judgements}
    return page(
        request,
        "entity.jinja",
        record=record,
        entity=record.entity,
        facts=_facts(memory, record.facts),
        merges=merges,
        names=entity_names(memory, sorted(ids)),
        log=memory.log(entity=str(entity_id), limit=20),
        notice=notice,
    )


@router.post("/merges/{merge_id}/undo")
def undo_merge(
    request: Request,
    merge_id: str,
    entity_id: Annotated[UUID, Form()],
    form_token: Annotated[str, Form()] = "",
) -> Response:
    """Take a merge back."""
    memory = memory_of(request)
    check_form(request, form_token)
    memory.entities.unmerge(merge_id, reason="undone on its page")
    target = address(f"/entities/{entity_id}", notice="The merge was taken back.")
    return RedirectResponse(target, status_code=303)


@router.get("/entities/{entity_id}/plane/{slot}")
def plane(
    request: Request,
    entity_id: UUID,
    slot: str,
    valid: Annotated[str, Query(max_length=40)] = "",
    tx: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:
    """Show everything that was ever believed of a slot, with the asked point and its answer."""
    memory = memory_of(request)
    picture = memory.as_of(instant_text(valid), instant_text(tx)).plane(str(entity_id), slot)
    edges = picture.valid_edges()
    known_edges = tuple(band.known_from for band in picture.bands)

    return page(
        request,
        "plane.jinja",
        entity_id=entity_id,
        plane=picture,
        table=tuple(reversed(picture.rectangles())),
        valid_text=_form_text(picture.valid),
        known_text=_form_text(picture.known),
        steps={
            "earlier": _before(edges, picture.valid),
            "later": _after(edges, picture.valid),
            "known_earlier": _before(known_edges, picture.known),
            "known_later": _after(known_edges, picture.known),
        },
        valid_iso=_iso(picture.valid),
        known_iso=_iso(picture.known),
    )


def instant_text(text: str) -> str | None:
    """A time of a form as the memory takes it; None where the field was left empty.

    >>> instant_text("2026-03-01"), instant_text("2026-03-01T12:30"), instant_text("")
    ('2026-03-01T00:00:00Z', '2026-03-01T12:30:00Z', None)
    """
    text = text.strip()
    if not text:
        return None
    if len(text) == len("2026-03-01"):
        return f"{text}T00:00:00Z"
    if len(text) == len("2026-03-01T12:30"):
        return f"{text}:00Z"
    return text


def _facts(
    memory: Memory, facts: Mapping[str, SlotState]
) -> tuple[tuple[str, SlotState, str], ...]:
    """The facts by slot with their values in words, entities by name."""
    names = value_names(memory, facts)
    return tuple([(slot, state, value_words(state, names)) for slot, state in facts.items()])


def _before(edges: tuple[datetime, ...], moment: datetime) -> str:
    """The last edge before a moment."""
    return _iso(max((edge for edge in edges if edge < moment), default=None))


def _after(edges: tuple[datetime, ...], moment: datetime) -> str:
    return _iso(min((edge for edge in edges if edge > moment), default=None))


def _iso(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat().replace("+00:00", "Z")


def _form_text(moment: datetime) -> str:
    """A moment as a field for a date and a time shows it; rounded up to the minute.

    Rounded down it would ask for a moment before the edge that is shown.
    """
    minute = moment.astimezone(UTC).replace(second=0, microsecond=0)
    if minute != moment:
        minute += timedelta(minutes=1)
    return minute.strftime("%Y-%m-%dT%H:%M")
