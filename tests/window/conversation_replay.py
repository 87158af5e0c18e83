"""A conversation fed to the pure core: what a session does, without a store."""

import json
from collections.abc import Mapping
from typing import Any

from tenure.bench.window_checkers import FAULTS
from tenure.schema.window_policy import WindowPolicy
from tenure.window.editing import NO_WISH, EditWish, due_reason, planned_edit, target_tokens
from tenure.window.events import EditReason, EventKind, WindowEvent
from tenure.window.intake import Message, message_parts
from tenure.window.layout import native_messages
from tenure.window.ledger import EditPlan
from tenure.window.report import read_pressure
from tenure.window.state import EMPTY_STATE, WindowState, part_tokens
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind, ToolKind, WindowUnit, part_body


class Conversation:
    """A window that grows message by message."""

    def __init__(
        self,
        limit: int = 10_000,
        *,
        window: int | None = None,
        policy: WindowPolicy | None = None,
        model: str = "generic",
        texts: tuple[str, ...] = ("", "", "", ""),
    ) -> None:
        self.policy = policy or WindowPolicy()
        self.state = EMPTY_STATE
        self.events: list[WindowEvent] = []
        body = {"model": model, "window": window or limit, "limit": limit, "policy": "p"}
        self.put(EventKind.OPENED, body, texts)

    def put(
        self, kind: EventKind, body: Mapping[str, Any] | None = None, texts: tuple[str, ...] = ()
    ) -> int:
        event = WindowEvent(seq=self.state.seq + 1, kind=kind, body=dict(body or {}), texts=texts)
        self.events.append(event)
        self.state = step(self.state, event)
        return event.seq

    def parts(self, kind: EventKind, *parts: MessagePart, extra: tuple[str, ...] = ()) -> int:
        lines = [part_body(part, part_tokens(self.state, part)) for part in parts]
        return self.put(kind, {"parts": lines}, (*(part.text for part in parts), *extra))

    def user(self, message: Message) -> int:
        if self.state.in_turn:
            self.put(EventKind.TURN_ENDED)
        return self.parts(EventKind.TURN_STARTED, *message_parts(message, "user"))

    def model(self, message: Message) -> int:
        return self.parts(EventKind.STEP_MADE, *message_parts(message, "assistant"))

    def call(self, call_id: str, name: str = "look", **arguments: Any) -> int:
        part = MessagePart(
            kind=PartKind.CALL, text=json.dumps(arguments), call_id=call_id, name=name
        )
        return self.parts(EventKind.STEP_MADE, part)

    def result(
        self,
        call_id: str,
        text: str,
        *,
        name: str = "look",
        kind: ToolKind | None = None,
        is_error: bool = False,
    ) -> int:
        part = MessagePart(
            kind=PartKind.RESULT,
            text=text,
            call_id=call_id,
            name=name,
            tool_kind=kind,
            is_error=is_error,
        )
        return self.parts(EventKind.RESULT_CAME, part)

    def exchange(self, number: int, result: str, *, name: str = "look") -> None:
        """A whole turn with one call."""
        self.user(f"question {number}")
        self.call(f"c{number}", name, number=number)
        self.result(f"c{number}", result, name=name)
        self.model(f"answer {number}")

    def plan(self, goal: int | None = None, wish: EditWish = NO_WISH) -> EditPlan | None:
        """The edit down to a bound, by default the target."""
        goal = target_tokens(self.state, self.policy) if goal is None else goal
        return planned_edit(self.state, self.policy, EditReason.COMPACT, goal, wish=wish)

    def everything(self) -> EditPlan | None:
        """The edit after which all that may leave has left."""
        return self.plan(0, EditWish(desperate=True))

    def standing(self, number: int) -> WindowUnit:
        """The unit of a number, which is in the window."""
        return next(unit for unit in self.state.units if unit.number == number)

    def edit(self, plan: EditPlan | None) -> int:
        assert plan is not None
        return self.put(EventKind.EDITED, plan.body, plan.texts)

    def tidy(self) -> EditPlan | None:
        """Edit where it is due, as a session does after each event."""
        reading = read_pressure(self.state, self.policy)
        if due_reason(self.state, self.policy, reading) is None:
            return None
        plan = self.plan()
        if plan is not None:
            self.edit(plan)
        return plan

    def refold(self) -> WindowState:
        """The state that the events fold to from the first on."""
        state = EMPTY_STATE
        for event in self.events:
            state = step(state, event)
        return state


def faults(state: WindowState) -> list[str]:
    """What the providers' rules refuse of the next request."""
    broken = [check(native_messages(state, target)) for target, check in FAULTS.items()]
    return [fault for fault in broken if fault]
