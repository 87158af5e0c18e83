"""The page of an entity, its time planes, and undoing its merges.

What is known about a person: everything on one page, a copy to take along, and erasure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.errors import InvalidInput
from ...schema.principal import ERASE
from ...service.backend.caller import backend_of
from ...service.calls.table import Permit
from ...service.client.answer import entity_names, state_reader, value_reader
from ...service.client.memory import Memory
from ...service.reading.audit import Auditor
from ...service.visual.text import json_text
from .identity import HEAVY_PAGE, check_form, memory_of
from .pages import address, page
from .state import HeadedRoute

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
    text = state_reader(record.facts.values())
    return page(
        request,
        "entity.jinja",
        record=record,
        entity=record.entity,
        # The facts by slot with their values in words, entities by name.
        facts=[(slot, state, text(state)) for slot, state in record.facts.items()],
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
    memory = memory_of(request, Permit.DECIDE)
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
    x: Annotated[int | None, Query(ge=0, le=10_000)] = None,
    y: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> Response:
    """Show everything that was ever believed of a slot, with the asked point and its answer.

    A place of the picture leads to the address of the point that it shows.
    """
    memory = memory_of(request)
    picture = memory.as_of(instant_text(valid), instant_text(tx)).plane(str(entity_id), slot)
    if x is not None:
        point = picture.at(x, y)
        target = address(request.url.path, valid=_iso(point.valid), tx=_iso(point.known))
        return RedirectResponse(target, status_code=303)
    edges = picture.valid_edges()
    known_edges = tuple(band.known_from for band in picture.bands)

    return page(
        request,
        "plane.jinja",
        entity_id=entity_id,
        plane=picture,
        table=tuple(reversed((*picture.rectangles(), *picture.lost_claims))),
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
    ('2026-03-01', '2026-03-01T12:30:00Z', None)
    """
    text = text.strip()
    return f"{text}:00Z" if len(text) == len("2026-03-01T12:30") else text or None


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


@router.get("/people/{entity_id}", dependencies=HEAVY_PAGE)
def person(request: Request, entity_id: UUID) -> HTMLResponse:
    """Show what is known about a person, where from, and who was given it."""
    memory = memory_of(request)
    account = account_of(memory, str(entity_id))
    return page(
        request,
        "person.jinja",
        account=account,
        words_of_value=_value_reader(account),
        may_erase=memory.principal.holds(ERASE),
        receipt=None,
    )


@router.get("/people/{entity_id}/export", dependencies=HEAVY_PAGE)
def export(request: Request, entity_id: UUID) -> Response:
    """Give the same as a file that programs read."""
    account = account_of(memory_of(request), str(entity_id))
    # A name goes into a header only in letters that cannot end one.
    name = re.sub(r"[^a-z0-9]+", "-", str(account["entity"].name).lower()).strip("-") or "person"
    headers = {"content-disposition": f'attachment; filename="{name}.json"'}
    return Response(json_text(account), media_type="application/json", headers=headers)


@router.post("/people/{entity_id}/erase", dependencies=HEAVY_PAGE)
def erase(
    request: Request,
    entity_id: UUID,
    reason: Annotated[str, Form(min_length=1, max_length=400)],
    confirm: Annotated[str, Form(max_length=512)] = "",
    form_token: Annotated[str, Form()] = "",
) -> HTMLResponse:
    """Erase a person once the name was typed again, and show the receipt.

    The preview is the page itself: what it shows is what goes.
    """
    memory = memory_of(request, Permit.READ, Permit.ERASE)
    check_form(request, form_token)
    account = account_of(memory, str(entity_id))
    # Typed, not clicked: what goes cannot come back, and two people may have neighbouring pages.
    if confirm.strip() != account["entity"].name:
        problem = "The name that was typed is not the name on this page; nothing was erased."
        return _refused(request, memory, account, problem)

    try:
        receipt = memory.erase(entity=str(entity_id), reason=reason)
    except InvalidInput as refusal:
        return _refused(request, memory, account, f"Nothing was erased: {refusal}.")
    return page(request, "erased.jinja", receipt=receipt)


def _refused(
    request: Request, memory: Memory, account: dict[str, Any], problem: str
) -> HTMLResponse:
    """The page of a person once more, with why nobody was erased."""
    return page(
        request,
        "person.jinja",
        status=422,
        account=account,
        words_of_value=_value_reader(account),
        may_erase=True,
        receipt=None,
        problem=problem,
    )


def _value_reader(account: dict[str, Any]) -> Callable[[Any], str]:
    """How the values of an account read to people."""
    rows = chain.from_iterable(account["history"].values())
    return value_reader(row.value for row in rows)


def account_of(memory: Memory, entity_id: str) -> dict[str, Any]:
    """Everything about an entity that the caller may see: names, facts, history, envelopes."""
    record = memory.entities.get(entity_id)
    auditor = Auditor(backend_of(memory), memory.principal, memory.as_of())
    # Slots that say nothing today are told too: what was believed once is known about somebody.
    history, envelopes = auditor.dossier(record.entity.entity_id)

    return {
        "entity": record.entity,
        "names": record.aliases,
        "facts": record.facts,
        "history": history,
        "envelopes": envelopes,
    }
