"""What a provider's refusal means, and the room that is made for one that was too long.

Only a request that was too long makes room, and only unanswered calls are given up. A rate limit,
an overload or a wrong key says nothing about the window: it is raised again, nothing changes.
Checklist C-286, C-289.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Final, NamedTuple

from ...schema.errors import InvalidInput
from ...window.editing import NO_WISH, target_tokens
from ...window.events import EditReason, EventKind
from ...window.ledger import EditPlan
from ...window.state import WindowState
from .core import EventDraft, SessionCore, over_budget
from .decision import WindowDecision


class RefusalKind(StrEnum):
    """What a provider refused a request for."""

    TOO_LONG = "too_long"
    PAIRING = "pairing"
    OTHER = "other"


_N: Final = r"(?P<{}>\d[\d,._]*)"
_ASKED, _MOST = _N.format("asked"), _N.format("most")

_REFUSALS: Final = (
    # Read from the providers' documentation and their users' reports up to 2026-11-29. Limits by
    # the minute come first: their texts have "too large" and "tokens", too.
    (RefusalKind.OTHER, r"per (?:min|day|hour)|\b[TR]P[MD]\b|rate.?limit|quota|overloaded|\b529\b"),
    (RefusalKind.OTHER, r"authentication|api.?key|permission|unauthori[sz]ed|credit balance"),
    # Anthropic
    (RefusalKind.TOO_LONG, rf"prompt is too long(?:: {_ASKED} tokens > {_MOST})?"),
    (RefusalKind.TOO_LONG, rf"exceed context limit: {_ASKED} \+ (?P<more>\d+) > {_MOST}"),
    (RefusalKind.TOO_LONG, r"request_too_large|exceed context limit"),
    (RefusalKind.PAIRING, r"tool_use.{1,40}without.{1,40}tool_result"),
    (RefusalKind.PAIRING, r"tool_result.{1,60}(?:must have|unexpected).{1,60}tool_use"),
    # OpenAI, and servers that speak as it does
    (
        RefusalKind.TOO_LONG,
        rf"maximum context length (?:is|of) {_MOST}(?:.{{1,80}}?(?:resulted in|requested"
        rf"(?: a total of)?|has|is) (?:about )?{_ASKED})?",
    ),
    (
        RefusalKind.TOO_LONG,
        rf"exceed the configured limit of {_MOST}(?:.{{1,60}}?resulted in {_ASKED})?",
    ),
    (RefusalKind.TOO_LONG, rf"contains {_ASKED} tokens.{{1,60}}too large.{{1,30}}with {_MOST}"),
    (
        RefusalKind.TOO_LONG,
        r"context_length_exceeded|exceeds? the (?:available )?context (?:window|size)",
    ),
    (RefusalKind.PAIRING, r"tool_call_?ids? .{0,40}did not have response|must be followed by tool"),
    (RefusalKind.PAIRING, r"no tool output found for function call"),
    # Gemini
    (
        RefusalKind.TOO_LONG,
        rf"input token count (?:\(?{_ASKED}\)? )?exceeds the maximum(?:\D{{1,60}}{_MOST})?",
    ),
    (RefusalKind.PAIRING, r"number of function response parts"),
    # Others
    (RefusalKind.TOO_LONG, r"input is too long for|too many tokens|reduce the length of the mess"),
)
"""The class of a refusal by its text; the first row that matches counts."""
_MARGIN: Final = 50
"""Permille of the provider's maximum that stay free: its count of the next request is not known."""
_UNKNOWN_EXCESS: Final = 800
"""Permille of the load to go down to where a refusal states no numbers."""


class Refusal(NamedTuple):
    """What a text of a provider says."""

    kind: RefusalKind
    asked: int = 0
    """Tokens of the request, as the provider counted them; 0 where it does not say."""
    most: int = 0
    """Tokens that it takes."""


def refusal_of(text: str) -> Refusal:
    """The class of a refusal, with its numbers.

    >>> refusal_of("prompt is too long: 210412 tokens > 200000 maximum")[1:]
    (210412, 200000)
    >>> refusal_of("529 overloaded_error").kind
    <RefusalKind.OTHER: 'other'>
    """
    for kind, pattern in _REFUSALS:
        match = re.search(pattern, text, re.IGNORECASE | re.DOTALL)
        if match is not None:
            numbers = match.groupdict()
            asked = _number(numbers.get("asked")) + _number(numbers.get("more"))
            return Refusal(kind, asked, _number(numbers.get("most")))
    return Refusal(RefusalKind.OTHER)


def _number(digits: str | None) -> int:
    return int(re.sub(r"\D", "", digits)) if digits else 0


def make_room(core: SessionCore, error: str | BaseException | None) -> WindowDecision:
    """Do what a refusal asks for; one of another class is raised again.

    Raises:
        InvalidInput: `not_an_overflow`, for a text of another class; an exception is raised itself.
        ContextBudgetExhausted: `required_over_budget`, naming what cannot go.
    """
    text = "" if error is None else f"{error} {getattr(error, 'code', '') or ''}"
    refusal = refusal_of(text)
    match refusal.kind:
        case RefusalKind.TOO_LONG:
            return _shortened(core, refusal)
        case RefusalKind.PAIRING:
            return _without_open_calls(core, text)
        case _:
            if isinstance(error, BaseException):
                raise error
            raise InvalidInput(
                "the error says nothing about the length of a request, so the window stays as it "
                "is; hand in what the provider answered, or call compact",
                code="not_an_overflow",
            )


def _shortened(core: SessionCore, refusal: Refusal) -> WindowDecision:
    """Go below the provider's numbers, as if it had reported the request's size."""
    state = core.state
    own = state.sent_tokens or state.own_tokens
    # Without a number there is nothing to report: a guess would take the window away for good.
    usage = {"usage": {"input": refusal.asked, "own": own}} if refusal.asked else {}
    drafts = [EventDraft(EventKind.RECOUNTED, usage)]
    if 0 < refusal.most < state.limit:
        body: dict[str, Any] = {
            "model": state.model,
            "window": refusal.most,
            "limit": refusal.most,
            "terms": [],
        }
        drafts.append(EventDraft(EventKind.TERMS_CHANGED, body))

    recounted = core.folded(drafts)[0]
    goal = min(target_tokens(recounted, core.policy), recounted.tokens * _UNKNOWN_EXCESS // 1000)
    if refusal.most:
        excess = max(0, refusal.asked - refusal.most * (1000 - _MARGIN) // 1000)
        goal = min(goal, recounted.tokens - excess)

    def plan(state: WindowState) -> EditPlan | None:
        gentle = core.plan(EditReason.OVERFLOW, goal, state=state)
        if gentle and recounted.tokens - gentle.savings <= recounted.limit:
            return gentle
        return core.plan(EditReason.OVERFLOW, goal, NO_WISH._replace(desperate=True), state=state)

    if plan(recounted) is None:
        raise over_budget(recounted)
    return core.act(drafts, planner=plan)


def _without_open_calls(core: SessionCore, text: str) -> WindowDecision:
    """Give up the calls that a refusal names, or all that wait where it names none."""
    waiting = [call_id for unit in core.state.open_units for call_id in unit.open_calls]
    named = [call_id for call_id in waiting if call_id in text]
    bodies = [{"call_id": call_id} for call_id in named or waiting]
    if not bodies:
        raise InvalidInput(
            "no call waits for a result here, so the request was not made from this window",
            code="not_an_overflow",
        )
    return core.act([EventDraft(EventKind.CALL_ABANDONED, body) for body in bodies])
