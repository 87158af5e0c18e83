"""Second looks at what stewards decided: the case comes again without the answer it was given.

What a second look says changes nothing in the store: it is compared with the first, and counted.
"""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.entity import Review
from ...schema.errors import NotFound
from ...schema.vocabulary import ReviewState
from ..backend.caller import backend_of
from ..client.comparison import compared_slots
from ..client.memory import Memory
from ..stewardship.second_looks import BlindCases
from .headed_route import HeadedRoute
from .identity import check_form, memory_of
from .pages import page
from .state import state_of
from .waterfall import waterfall_of

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)


def waiting_looks(request: Request, memory: Memory) -> tuple[Review, ...]:
    """The decided cases that this steward may look at again."""
    done_ids = state_of(request).looks.case_ids(memory.principal.tenant)
    return BlindCases(backend_of(memory), memory.principal).sample(done_ids)


@router.get("/reviews/{review_id}/again")
def look(request: Request, review_id: UUID) -> HTMLResponse:
    """Show a decided case as it stood, without what was decided."""
    memory = memory_of(request)
    case = BlindCases(backend_of(memory), memory.principal).undecided(str(review_id))
    return page(
        request,
        "second_look.jinja",
        record=case.record,
        review=case.record.review,
        rows=compared_slots(memory, case.record, case.view),
        # As they were called when the question was asked: a merge gives both sides one name.
        names={entry.entity: entry.name for entry in case.record.review.candidates},
        chart=waterfall_of(case.record),
        version=case.decision.version,
        shown_ms=state_of(request).decision_times.now_ms(),
    )


@router.post("/reviews/{review_id}/again/{answer}")
def answer_again(
    request: Request,
    review_id: UUID,
    answer: Literal["accept", "reject"],
    version: Annotated[int, Form()],
    entity: Annotated[str, Form(max_length=64)] = "",
    form_token: Annotated[str, Form()] = "",
    shown_ms: Annotated[int, Form(ge=0, lt=2**53)] = 0,
) -> Response:
    """Count a second look, and lead to the next one.

    Raises:
        NotFound: `unknown_review`, also where the case was decided anew since it was shown.
    """
    memory = memory_of(request)
    check_form(request, form_token)
    case = BlindCases(backend_of(memory), memory.principal).undecided(str(review_id)).decision
    if case.version != version:
        raise NotFound(
            "the case was decided anew since; go back to the list of reviews",
            code="unknown_review",
        )

    agrees = answer == "reject" and case.state is ReviewState.REJECTED
    if answer == "accept" and case.state is ReviewState.ACCEPTED:
        agrees = entity == case.decided_entity
    is_own = case.decided_by == (memory.principal.user or "service")
    tenant = memory.principal.tenant
    state_of(request).looks.add(tenant, case, is_own=is_own, agrees=agrees, shown_ms=shown_ms)

    waiting = waiting_looks(request, memory)
    path = f"/reviews/{waiting[0].review_id}/again" if waiting else "/reviews"
    return RedirectResponse(path, status_code=303)
