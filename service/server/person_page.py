"""What is known about a person: everything on one page, a copy to take along, and erasure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ...schema.errors import InvalidInput
from ...schema.principal import ERASE
from ..backend.caller import backend_of
from ..client.memory import Memory
from ..client.summaries import value_reader
from ..reading.audit import Auditor
from ..reading.view import words_of
from ..visual.text import json_text
from .headed_route import HeadedRoute
from .idempotency import AnswerBook, erased_names
from .identity import check_form, memory_of
from .pages import page
from .state import state_of

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)


@router.get("/people/{entity_id}")
def person(request: Request, entity_id: UUID) -> HTMLResponse:
    """Show what is known about a person, where from, and who was given it."""
    memory = memory_of(request)
    account = account_of(memory, str(entity_id))
    return page(
        request,
        "person.jinja",
        account=account,
        words_of_value=_value_reader(memory, account),
        may_erase=memory.principal.holds(ERASE),
        receipt=None,
    )


@router.get("/people/{entity_id}/export")
def export(request: Request, entity_id: UUID) -> Response:
    """Give the same as a file that programs read."""
    account = account_of(memory_of(request), str(entity_id))
    # A name goes into a header only in letters that cannot end one.
    name = re.sub(r"[^a-z0-9]+", "-", str(account["entity"].name).lower()).strip("-") or "person"
    headers = {"content-disposition": f'attachment; filename="{name}.json"'}
    return Response(json_text(account), media_type="application/json", headers=headers)


@router.post("/people/{entity_id}/erase")
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
    memory = memory_of(request)
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
    names = erased_names(
        object_ids=receipt.object_ids,
        entity_ids=receipt.entity_ids,
        artifacts=receipt.artifacts,
        envelopes=receipt.envelopes,
    )
    AnswerBook(state_of(request).settings.control).forget(memory.principal.tenant, names)
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
        words_of_value=_value_reader(memory, account),
        may_erase=True,
        receipt=None,
        problem=problem,
    )


def _value_reader(memory: Memory, account: dict[str, Any]) -> Callable[[str | None, Any], str]:
    """How the values of an account read to people: a manager by name, not by id."""
    pairs: list[tuple[str, Any]] = []
    for slot, rows in account["history"].items():
        pairs += [(slot, row.value) for row in rows]
    return value_reader(memory, pairs)


def account_of(memory: Memory, entity_id: str) -> dict[str, Any]:
    """Everything about an entity that the caller may see: names, facts, history, envelopes."""
    record = memory.entities.get(entity_id)
    auditor = Auditor(backend_of(memory), memory.principal, memory.as_of())
    # Slots that say nothing today are told too: what was believed once is known about somebody.
    dossier = auditor.dossier(record.entity.entity_id, words_of(memory.as_of()).slots)

    return {
        "entity": record.entity,
        "names": record.aliases,
        "facts": record.facts,
        "history": {slot: rows for slot, rows in dossier.history.items() if rows},
        "envelopes": dossier.envelopes,
    }
