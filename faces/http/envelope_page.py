"""Envelopes: the text that a model got, what stayed out of it in words, and two side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ...service.calls.table import Permit
from ...service.client.answer import gap_lines, opening_words
from ...service.compilation.recompile import RequestTerms, text_lines, tokens_before
from ...service.compilation.shown import (
    budget_bar,
    diff_envelopes,
    entries,
    head_facts,
    omissions,
    question_of,
)
from .identity import HEAVY_PAGE, memory_of
from .pages import page
from .state import HeadedRoute

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

EnvelopeId = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
_LIST = 100
_NO_ROLE = "none"
"""What the form says for a caller without any role."""


@router.get("/envelopes")
def envelopes(
    request: Request, object_id: Annotated[str, Query(max_length=64)] = ""
) -> HTMLResponse:
    """List the envelopes that the caller may open, newest first."""
    envelopes_of_caller = memory_of(request).envelopes.list(_LIST, object_id=object_id or None)
    return page(
        request,
        "envelopes.jinja",
        envelopes=envelopes_of_caller,
        is_cut=len(envelopes_of_caller) == _LIST,
        object_id=object_id,
    )


@router.get("/envelopes/{envelope_id}", dependencies=HEAVY_PAGE)
def envelope(request: Request, envelope_id: EnvelopeId) -> HTMLResponse:
    """Show an envelope: the prompt first, then what stayed out, then the budget."""
    memory = memory_of(request, Permit.READ, Permit.COMPILE)
    # Compiled again, not read from a stored text: a replay refuses what the caller may no longer
    # read.
    replica = memory.replay(envelope_id)
    words = opening_words(memory, replica)
    stored_ids = {entry.object_id for entry in replica.manifest.candidates if entry.vid}
    listing = memory.envelopes.list(_LIST)

    return page(
        request,
        "envelope.jinja",
        envelope=replica,
        trace=replica.trace,
        question=question_of(replica),
        head_facts=head_facts(replica),
        entries=entries(replica),
        words=words,
        stored_ids=stored_ids,
        omissions=omissions(replica, words),
        bar=budget_bar(replica, alone=False),
        gaps=gap_lines(memory, replica),
        others=[record for record in listing if record.envelope_id != envelope_id],
    )


@router.get("/envelopes/{envelope_id}/what-if", dependencies=HEAVY_PAGE)
def what_if(
    request: Request,
    envelope_id: EnvelopeId,
    budget: Annotated[str, Query(pattern="^[0-9]{0,7}$")] = "",
    role: Annotated[str, Query(max_length=64)] = "",
    valid: Annotated[str, Query(max_length=40)] = "",
    tx: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:
    """Show an envelope beside what its request gives under other circumstances."""
    memory = memory_of(request, Permit.COMPILE)
    # What the form leaves empty stays as the stored request has it.
    terms: RequestTerms = {}
    if budget:
        terms["budget_tokens"] = int(budget)
    if role:
        terms["roles"] = [] if role == _NO_ROLE else [role]
    if valid:
        terms["valid"] = valid
    if tx:
        terms["tx"] = tx

    answer = memory.what_if(envelope_id, **terms)
    return page(
        request,
        "what_if.jinja",
        envelope_id=envelope_id,
        answer=answer,
        words=opening_words(memory, memory.replay(envelope_id)),
        asked={"budget": budget, "role": role, "valid": valid, "tx": tx},
    )


@router.get("/compare", dependencies=HEAVY_PAGE)
def compare(
    request: Request,
    a: Annotated[str, Query(pattern="^[0-9a-f]{64}$")],
    b: Annotated[str, Query(pattern="^[0-9a-f]{64}$")],
) -> HTMLResponse:
    """Show two envelopes as a difference of their texts."""
    memory = memory_of(request, Permit.COMPILE)
    first, second = memory.replay(a), memory.replay(b)
    changes = diff_envelopes(first, second)
    return page(
        request,
        "compare.jinja",
        same_tokens=tokens_before(changes, second),
        first=first,
        second=second,
        changes=changes,
        lines=tuple(text_lines(first.text, second.text)),
        words=opening_words(memory, first, second),
    )
