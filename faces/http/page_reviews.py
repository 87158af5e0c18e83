"""The review queue and its cases: who, why asked, what then; and decisions that can be undone.

The queue of actions: ties, quarantined texts, directives of agents, due confirmations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.answers import Action
from ...schema.entity import Review
from ...schema.errors import Conflict
from ...schema.slots import ReviewStatus
from ...schema.values import stamp_time
from ...schema.vocabulary import ReviewState
from ...service.calls.table import Permit
from ...service.client.answer import (
    COLUMNS,
    ActionCard,
    ComparedRow,
    action_cards,
    action_words,
    compared_slots,
    entity_names,
)
from ...service.client.memory import Memory
from ...service.stewardship.review_page import ReviewPage, is_tie
from .identity import HEAVY_PAGE, check_form, memory_of
from .pages import address, page
from .problems import wants_page
from .state import HeadedRoute, state_of

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

Decision = Literal["accept", "reject", "unsure", "undo"]

_OUTCOMES = {
    "accept": "read as one from now on",
    "reject": "kept apart from now on",
    "unsure": "put aside as unsure",
    "undo": "open again, as before the decision",
}
_STATES: Final[Mapping[ReviewStatus, str]] = {
    "accepted": "read as one",
    "rejected": "kept apart",
    "unsure": "put aside as unsure",
}
_REASONS: Final = {
    "ambiguous": "two or more bear the name",
    "namesakes": "two or more bear the name",
    "scored": "likely, but not certain",
    "pending": "another case of the name waits",
}
"""Why a case was opened, in words; other reasons are words themselves."""
_DIFFERENCES = 2
"""Facts that tell a candidate from the others in the decision bar."""
_ROWS = 200
"""Cases of a page; the order among thousands tells nothing."""
_BULK = 5
"""Cases alike that are shown before they are decided together."""


@router.get("/reviews", dependencies=HEAVY_PAGE)
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
        reasons=_REASONS,
        **_second_looks(memory),
        progress=memory.reviews.progress(),
        decision=_decision(request, memory, last, outcome),
    )


@router.get("/decided", dependencies=HEAVY_PAGE)
def decided(request: Request) -> HTMLResponse:
    """Show the decided cases, the newest decision first, each with its undo."""
    memory = memory_of(request)
    cases: list[Review] = []
    for state in _STATES:
        cases += memory.reviews.list(state, kind="all")
    cases.sort(key=lambda case: case.decided_tx or 0, reverse=True)
    outcomes = [(case, _outcome(memory, case)) for case in cases[:_ROWS]]
    return page(request, "decided.jinja", cases=outcomes, total=len(cases), stamp_time=stamp_time)


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

    rows = compared_slots(memory, record)
    return page(
        request,
        "review.jinja",
        record=record,
        review=record.review,
        rows=rows,
        names=entity_names(memory, [candidate.entity for candidate in record.review.candidates]),
        choices=_choices(memory, record, rows),
        next_id=next_id,
        previous_id=previous_id,
        alike=alike,
        decision=_decision(request, memory, last, outcome),
    )


@router.post("/reviews/{review_id}/{decision}")
def decide(
    request: Request,
    review_id: UUID,
    decision: Decision,
    version: Annotated[int, Form()],
    entity: Annotated[str, Form(max_length=64)] = "",
    form_token: Annotated[str, Form()] = "",
) -> Response:
    """Decide a case at the version that was shown, and lead to the next one.

    Raises:
        Forbidden: `own_submission`, `second_approval_required`.
    """
    memory = memory_of(request, Permit.READ, Permit.DECIDE)
    reviews = memory.reviews
    check_form(request, form_token)

    name = str(review_id)
    try:
        if decision == "accept":
            reviews.accept(name, entity=entity or None, version=version)
        else:
            calls = {"reject": reviews.reject, "unsure": reviews.unsure, "undo": reviews.undo}
            calls[decision](name, version=version)
    except Conflict as conflict:
        is_late = conflict.code in ("stale_version", "already_decided")
        if not (is_late and wants_page(request)):
            raise
        return _stale(request, memory, name)

    state = state_of(request)
    if decision == "undo":
        state.queue_orders.put_back(memory, name)
        target = name
    else:
        target = state.queue_orders.take_out(memory, name)
    path = f"/reviews/{target}" if target else "/reviews"
    return RedirectResponse(address(path, last=name, outcome=decision), status_code=303)


@router.post("/reviews/{review_id}/alike/{decision}", dependencies=HEAVY_PAGE)
def decide_alike(
    request: Request,
    review_id: UUID,
    decision: Literal["accept", "reject"],
    form_token: Annotated[str, Form()] = "",
    versions: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Decide the cases alike that the page showed, each at the version that was shown."""
    memory = memory_of(request, Permit.DECIDE)
    check_form(request, form_token)
    shown_versions = set(versions or ())
    cases = _alike(memory, memory.reviews.get(str(review_id)).review)
    chosen_cases = [case for case in cases if f"{case.review_id}:{case.version}" in shown_versions]

    memory.reviews.decide_all(chosen_cases, decision, reason="decided together")
    return RedirectResponse(address("/reviews", last=str(review_id)), status_code=303)


def _second_looks(memory: Memory) -> dict[str, Any]:
    """The drawn share of what was decided without a person, for a person to decide again."""
    right, wrong = (
        len(memory.reviews.list(state, kind="audit")) for state in ("accepted", "rejected")
    )
    decided = right + wrong
    return {
        "second_looks": memory.reviews.list(kind="audit"),
        "looks_decided": decided,
        "agreement": right / decided if decided else None,
    }


def _alike(memory: Memory, review: Review) -> list[Review]:
    """The further cases about the same words in the same scope, at most five."""
    cases = memory.reviews.matching(mention=review.mention, scope=review.scope_id)
    return [case for case in cases if case.review_id != review.review_id][:_BULK]


def _outcome(memory: Memory, case: Review) -> str:
    """How a case was decided and by whom, in words."""
    words = _STATES.get(case.state.value, "changed")
    if case.state is ReviewState.ACCEPTED and case.decided_entity:
        words += f" as {entity_names(memory, [case.decided_entity])[case.decided_entity]}"
    return f"{words} by {case.decided_by}" if case.decided_by else words


def _stale(request: Request, memory: Memory, review_id: str) -> HTMLResponse:
    """Say that a case was decided meanwhile, by whom and how, and lead to the next one."""
    review = memory.reviews.get(review_id).review
    _, next_id = state_of(request).queue_orders.neighbours(memory, review_id)
    return page(
        request,
        "stale.jinja",
        status=412,
        review=review,
        outcome=_outcome(memory, review),
        next_id=next_id,
    )


class Choice(NamedTuple):
    """A candidate as the decision bar offers it."""

    entity: str
    name: str
    difference: str
    """What tells it from the other candidates."""
    is_likely: bool
    """Whether it is ahead of all others, so that `y` means it."""


def _choices(memory: Memory, record: ReviewPage, rows: Sequence[ComparedRow]) -> list[Choice]:
    """The candidates, the best first, each with what the others do not have."""
    ranked = sorted(record.review.candidates, key=lambda candidate: candidate.score, reverse=True)
    names = entity_names(memory, [candidate.entity for candidate in ranked])
    columns = {view.entity_id: number for number, view in enumerate(record.candidates[:COLUMNS])}

    choices: list[Choice] = []
    for place, candidate in enumerate(ranked):
        words: list[str] = []
        for row in rows:
            column = columns.get(candidate.entity)
            if column is None or len(words) == _DIFFERENCES:
                break
            cells = [cell.words for cell in row.candidates]
            if cells[column] and len(set(cells)) > 1:
                words.append(f"{row.slot.replace('_', ' ')} {cells[column]}")
        is_likely = place == 0 and not is_tie(record.review)
        # The name with the beginning of an id is for those that no fact tells apart.
        name = candidate.name if words else names[candidate.entity]
        choices.append(Choice(candidate.entity, name, ", ".join(words), is_likely))
    return choices


def _decision(
    request: Request, memory: Memory, review_id: str, outcome: str
) -> dict[str, object] | None:
    """What was just decided, and the decision that `z` takes back.

    That is the last one of this caller that holds: after an undo the one before it, so that a
    whole session can be taken back.
    """
    words = ""
    if review_id and outcome in _OUTCOMES:
        words = f"{memory.reviews.get(review_id).review.mention}: {_OUTCOMES[outcome]}."
    for name in reversed(state_of(request).queue_orders.decisions(memory)):
        review = memory.reviews.get(name).review
        if review.state.value in _STATES:
            words = words or f"Before: {review.mention}, {_outcome(memory, review)}."
            return {"review": review, "words": words}
    return {"review": None, "words": words} if words else None


_DECIDED: Final = 50


@router.get("/actions")
def actions(request: Request, notice: str = "") -> HTMLResponse:
    """Show every action with both sides of a tie, and the newest decisions."""
    memory = memory_of(request)
    closed = sorted(memory.actions("closed"), key=attrgetter("closed"), reverse=True)
    decided = tuple(action_cards(memory, closed[:_DECIDED]))
    return page(
        request,
        "actions.jinja",
        title="Actions",
        decided=decided,
        decided_count=len(closed),
        notice=notice,
        **_groups(memory, memory.actions()),
    )


@router.get("/quarantine")
def quarantine(request: Request) -> HTMLResponse:
    """Show the texts that were quarantined, with the suspected words marked."""
    memory = memory_of(request)
    queue = [action for action in memory.actions() if action.kind.value == "review_quarantine"]
    groups = _groups(memory, queue)
    return page(request, "actions.jinja", title="Quarantine", decided=(), notice="", **groups)


def _groups(memory: Memory, queue: Sequence[Action]) -> dict[str, Any]:
    """The cards of a queue by kind, with the words of each kind."""
    groups: dict[str, list[ActionCard]] = {}
    for card in action_cards(memory, queue):
        groups.setdefault(card.action.kind.value, []).append(card)

    ordered = [(kind, groups[kind]) for kind in action_words() if kind in groups]
    return {"groups": ordered, "open_count": len(queue), "kinds": action_words()}


@router.post("/actions/{action_id}")
def settle(
    request: Request,
    action_id: UUID,
    winner: Annotated[str, Form(max_length=64)] = "",
    accept: Annotated[str, Form(pattern="^(yes|no|)$")] = "",
    form_token: Annotated[str, Form()] = "",
) -> Response:
    """Settle a tie by its winner, or accept or refuse anything else."""
    memory = memory_of(request, Permit.DECIDE)
    check_form(request, form_token)
    if winner:
        memory.actions.resolve(str(action_id), winner=winner)
    else:
        memory.actions.resolve(str(action_id), accept=accept == "yes")
    notice = "Settled. The list of decisions below takes it back."
    return RedirectResponse(address("/actions", notice=notice), status_code=303)


@router.post("/actions/{action_id}/undo")
def undo(request: Request, action_id: UUID, form_token: Annotated[str, Form()] = "") -> Response:
    """Take a decision back; the question is open again."""
    memory = memory_of(request, Permit.DECIDE)
    check_form(request, form_token)
    memory.actions.undo(str(action_id))
    notice = "Undone. The question is open again."
    return RedirectResponse(address("/actions", notice=notice), status_code=303)
