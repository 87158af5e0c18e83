"""The review queue and its cases: who, why asked, what then; and decisions that can be undone."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.entity import Review
from ...schema.errors import Conflict
from ...schema.values import stamp_time
from ..client.comparison import compared_slots
from ..client.memory import Memory
from ..client.summaries import entity_names
from .headed_route import HeadedRoute
from .identity import check_form, memory_of
from .pages import address, page
from .second_look_page import waiting_looks
from .state import state_of
from .waterfall import waterfall_of

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

Decision = Literal["accept", "reject", "unsure", "undo"]

_OUTCOMES = {
    "accept": "read as one from now on",
    "reject": "kept apart from now on",
    "unsure": "put aside as unsure",
    "undo": "open again, as before the decision",
}
_ROWS = 200
"""Cases of a page; the order among thousands tells nothing."""
_BULK = 5
"""Cases alike that are shown before they are decided together."""


class SecondLooks(NamedTuple):
    """The drawn share of what was decided without a person, for a person to say again."""

    cases: tuple[Review, ...]
    """Those that wait."""
    decided: int
    agreement: float | None
    """Share of the decided ones in which the person said the same; None before any."""


@router.get("/reviews")
def queue(
    request: Request,
    last: Annotated[str, Query(max_length=64)] = "",
    outcome: Annotated[str, Query(max_length=10)] = "",
) -> HTMLResponse:
    """Show the cases by what they block, and the last decision with its way back."""
    memory = memory_of(request)
    cases = state_of(request).queue_orders.read(memory)
    suggestions = memory.reviews.list(kind="possible_same_as")
    return page(
        request,
        "reviews.jinja",
        cases=cases[:_ROWS],
        behind_count=len(cases[_ROWS:]),
        suggestions=suggestions[:_ROWS],
        suggestion_count=len(suggestions),
        stamp_time=stamp_time,
        second_looks=_second_looks(memory),
        progress=memory.reviews.progress(),
        median_s=state_of(request).decision_times.median_s(memory.principal.tenant),
        looks=waiting_looks(request, memory),
        look_figures=state_of(request).looks.figures(memory.principal.tenant),
        decision=_decision(memory, last, outcome),
    )


@router.get("/reviews/{review_id}")
def case(
    request: Request,
    review_id: UUID,
    last: Annotated[str, Query(max_length=64)] = "",
    outcome: Annotated[str, Query(max_length=10)] = "",
) -> HTMLResponse:
    """Show one case: the mention in its text, the candidates side by side, and what follows."""
    memory = memory_of(request)
    record = memory.reviews.get(str(review_id))
    previous_id, next_id = state_of(request).queue_orders.neighbours(memory, str(review_id))
    alike = _alike(memory, record.review)

    return page(
        request,
        "review.jinja",
        record=record,
        review=record.review,
        rows=compared_slots(memory, record),
        names=entity_names(memory, [candidate.entity for candidate in record.review.candidates]),
        chart=waterfall_of(record),
        next_id=next_id,
        previous_id=previous_id,
        alike=alike,
        shown_ms=state_of(request).decision_times.now_ms(),
        decision=_decision(memory, last, outcome),
    )


@router.get("/reviews/{review_id}/prompts")
def prompts(
    request: Request, review_id: UUID, entity: Annotated[str, Query(max_length=64)] = ""
) -> HTMLResponse:
    """Show what agents would have read: the last prompts about both sides that would differ."""
    reviews = memory_of(request).reviews
    preview, refusal = None, ""
    try:
        preview = reviews.preview(str(review_id), entity=entity or None)
    except Conflict as conflict:
        refusal = str(conflict)
    return page(request, "prompts.jinja", review_id=review_id, preview=preview, refusal=refusal)


@router.post("/reviews/{review_id}/{decision}")
def decide(
    request: Request,
    review_id: UUID,
    decision: Decision,
    version: Annotated[int, Form()],
    entity: Annotated[str, Form(max_length=64)] = "",
    form_token: Annotated[str, Form()] = "",
    shown_ms: Annotated[int, Form(ge=0, lt=2**53)] = 0,
) -> Response:
    """Decide a case at the version that was shown, and lead to the next one.

    Raises:
        Conflict: `stale_version`, when somebody else was faster.
        Forbidden: `own_submission`, `second_steward`.
    """
    memory = memory_of(request)
    reviews = memory.reviews
    check_form(request, form_token)

    name = str(review_id)
    if decision == "accept":
        reviews.accept(name, entity=entity or None, version=version)
    elif decision == "reject":
        reviews.reject(name, version=version)
    elif decision == "unsure":
        reviews.unsure(name, version=version)
    else:
        reviews.undo(name, version=version)

    state = state_of(request)
    if decision == "undo":
        state.queue_orders.put_back(memory, name)
        target = name
    else:
        state.decision_times.add(memory.principal.tenant, shown_ms)
        target = state.queue_orders.take_out(memory, name)
    path = f"/reviews/{target}" if target else "/reviews"
    return RedirectResponse(address(path, last=name, outcome=decision), status_code=303)


@router.post("/reviews/{review_id}/alike/{decision}")
def decide_alike(
    request: Request,
    review_id: UUID,
    decision: Literal["accept", "reject"],
    form_token: Annotated[str, Form()] = "",
    versions: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Decide the cases alike that the page showed, each at the version that was shown."""
    memory = memory_of(request)
    check_form(request, form_token)
    shown_versions = set(versions or ())
    cases = _alike(memory, memory.reviews.get(str(review_id)).review)
    chosen_cases = [case for case in cases if f"{case.review_id}:{case.version}" in shown_versions]

    memory.reviews.decide_all(chosen_cases, decision, reason="decided together")
    return RedirectResponse(address("/reviews", last=str(review_id)), status_code=303)


def _second_looks(memory: Memory) -> SecondLooks:
    right, wrong = (
        len(memory.reviews.list(state, kind="audit")) for state in ("accepted", "rejected")
    )
    agreement = right / (right + wrong) if right + wrong else None
    return SecondLooks(memory.reviews.list(kind="audit"), right + wrong, agreement)


def _alike(memory: Memory, review: Review) -> list[Review]:
    """The further cases about the same words in the same scope, at most five."""
    cases = memory.reviews.matching(mention=review.mention, scope=review.scope_id)
    return [case for case in cases if case.review_id != review.review_id][:_BULK]


def _decision(memory: Memory, review_id: str, outcome: str) -> dict[str, object] | None:
    """The last decision as a sentence, with the case as it stands now for the way back."""
    if not review_id or outcome not in _OUTCOMES:
        return None
    review = memory.reviews.get(review_id).review
    is_decided = review.state.value in ("accepted", "rejected", "unsure")
    words = f"{review.mention}: {_OUTCOMES[outcome]}."
    return {"review": review, "words": words, "can_undo": is_decided and outcome != "undo"}
