"""Making room whatever it takes: at the limit a session ends below it, or says what cannot go."""

from __future__ import annotations

from ...window.editing import everything_that_can_go
from ...window.events import EditReason, EventKind
from .core import EventDraft, SessionCore, over_budget, with_plan
from .decision import WindowDecision


def make_room(core: SessionCore, error: str | None) -> WindowDecision:
    """Edit down to the target, and where that is not enough let everything within reach leave.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, naming what cannot go.
    """
    state = core.state
    if error:
        # The provider counted more than we did; by how much is unknown, so by a tenth.
        correction = max(state.correction * 11 // 10, state.correction + 1)
        core.act([EventDraft(EventKind.RECOUNTED, {"correction": correction})], edit=False)
        state = core.state

    plan = core.edit_plan(EditReason.OVERFLOW)
    if plan is None or with_plan(state, plan)[0].tokens > state.limit:
        plan = everything_that_can_go(state)

    if plan is None and state.tokens > state.limit:
        raise over_budget(state)

    return core.edit(plan)
