"""One long session, replayed through a policy, and the trigger at which two policies are equal."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from tenure.bench.window_data import MODEL, OUTPUT_PERMILLE, Chain, Question, Tally
from tenure.bench.window_policies import ADDRESSING, Policy, summary_tokens
from tenure.bench.window_tables import CountErrors
from tenure.window.checkers import FAULTS
from tenure.window.events import EventKind, WindowEvent
from tenure.window.intake import message_parts
from tenure.window.layout import Messages
from tenure.window.rendering import RenderedHistory
from tenure.window.state import EMPTY_STATE, part_body, part_tokens
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind

EXACT = 0.02
"""How far from equal a baseline may stay."""
RESPONSE = 4_096
"""Tokens that a provider keeps for its answer at least."""
FIRST_TRIGGER = 0.8
"""Of the limit: where the compactions of others are said to begin."""


def limit_of(window: int) -> int:
    """What a request may take of a window: all but the answer's part, and some framing."""
    return window - max(RESPONSE, window // 10) - 256


class Replay:
    """One session, replayed through one policy."""

    def __init__(self, window: int, policy: Policy, scale: float, model: str = MODEL) -> None:
        self.policy, self.scale = policy, scale
        self.state = EMPTY_STATE
        self.tally = Tally()
        self.addresses: dict[int, str] = {}
        self.sent: str = ""
        self.errors: CountErrors | None = None
        self.renderings = RenderedHistory()
        self.edited = False
        """Since the request before."""
        body = {"model": model, "window": window, "limit": limit_of(window), "policy": ""}
        self.put(EventKind.OPENED, body, ("assist", "", "", ""))

    def go_through(self, chain: Chain, *, check: bool = False) -> Tally:
        """Replay a chain, and ask its questions when they are due."""
        for message in chain.messages:
            role = message["role"]
            if role == "user":
                if self.state.in_turn:
                    self.put(EventKind.TURN_ENDED, {})
                self.parts(EventKind.TURN_STARTED, message_parts(message, "user"))
                self.request(check=check)
                self._look(chain)
            elif role == "assistant":
                if self.state.units[-1].results:
                    self.request(check=check)
                self.parts(EventKind.STEP_MADE, message_parts(message, "assistant"))
            else:
                part = MessagePart(
                    kind=PartKind.RESULT,
                    text=message["content"] or "",
                    call_id=message["tool_call_id"],
                    name=message["name"],
                )
                self.parts(EventKind.RESULT_CAME, (part,))

        self.request(check=check)
        for question in chain.questions:
            self.ask(question, "end")
        return self.tally

    def put(self, kind: EventKind, body: Mapping[str, Any], texts: tuple[str, ...] = ()) -> None:
        """Fold one event."""
        seq = self.state.seq + 1
        self.state = step(self.state, WindowEvent(seq=seq, kind=kind, body=body, texts=texts))

    def parts(self, kind: EventKind, parts: tuple[MessagePart, ...]) -> None:
        """Take in a message, and edit where the policy says so."""
        lines = [part_body(part, part_tokens(self.state, part)) for part in parts]
        self.put(kind, {"parts": lines}, tuple(part.text for part in parts))
        for part in parts:
            self.addresses[self.state.seq] = part.text
        self.edit()

    def edit(self) -> None:
        """The policy's edit, with what a summariser was asked for it."""
        started = time.perf_counter()
        before = self.state
        plan = self.policy(before, self.scale)
        if plan is None:
            return

        self.put(EventKind.EDITED, plan.body, plan.texts)
        self.edited = True
        self.tally.edits += 1
        read, written = summary_tokens(before, plan)
        self.tally.summariser += 1000 * read + OUTPUT_PERMILLE * written
        self.tally.summariser_tokens += read + written
        duration = 1000 * (time.perf_counter() - started)
        self.tally.slowest_ms = max(self.tally.slowest_ms, duration)

    def request(self, *, check: bool) -> None:
        """Count the next request; `check` renders it for each provider, and checks it."""
        tally, state = self.tally, self.state
        tally.over += state.tokens > state.limit
        if check:
            requests = {target: self.renderings.messages(state, target) for target in FAULTS}
            self._check(requests)
        if self.errors is not None:
            self.errors.add(state, self.renderings.messages(state, "openai"))

        text = "\n".join(unit.text for unit in state.units)
        tally.sent(text, self.sent, state.tokens)
        self.sent = text
        self.edited = False

    def _check(self, requests: Mapping[str, Messages]) -> None:
        self.tally.checked += 1
        self.tally.faults += any(FAULTS[name](sent) for name, sent in requests.items())
        for target, messages in requests.items():
            self.tally.rendered(target, messages, edited=self.edited)

    def _look(self, chain: Chain) -> None:
        """Ask what is due in this turn, and count the values that no longer hold."""
        for question, age in chain.due.get(self.state.turn, ()):
            self.ask(question, age)
        for value in chain.overtaken.get(self.state.turn, ()):
            self.tally.stale += value in self.sent

    def ask(self, question: Question, age: str) -> None:
        """Whether an answer stands in the request, or is one address away."""
        stands = self.tally.ask(question, age, self.sent)
        # What others leave out they leave no address of, though the window writes a line here.
        addressed = self.policy in ADDRESSING and self._leads_back(question.value)
        self.tally.reachable += stands or addressed

    def _leads_back(self, value: str) -> bool:
        """Whether an address that stands in the window is that of a text with the value."""
        for unit in self.state.units:
            last = unit.last_number or unit.number
            numbers = {unit.number, *(item.seq for item in unit.items)}
            for seq, text in self.addresses.items():
                inside = unit.number <= seq <= last or seq in numbers
                if inside and value in text and f"window://{unit.number}" in unit.text:
                    return True
        return False


def replayed(
    window: int, policy: Policy, scale: float, chain: Chain, *, check: bool = False
) -> Tally:
    """What a chain comes to under a policy; `check` renders and checks each request."""
    return Replay(window, policy, scale).go_through(chain, check=check)


def count_errors(model: str, policy: Policy, chain: Chain, window: int = 32_768) -> CountErrors:
    """How far our bound of each request is from its count, for a model."""
    replay = Replay(window, policy, 1.0, model)
    replay.errors = CountErrors()
    replay.go_through(chain)
    return replay.errors


MEASURES: Mapping[str, Callable[[Tally], float]] = {
    "mean": lambda tally: tally.mean,
    "total": lambda tally: tally.total / tally.requests,
    "recall": lambda tally: tally.recall,
}
"""In what a baseline is made equal with ours."""


def trigger_at(
    replay: Callable[[float], Tally], measure: Callable[[Tally], float], goal: float, tries: int
) -> tuple[float, Tally]:
    """The trigger whose replay comes nearest to a goal by a measure, by bisection, and it."""
    low, high, scale = 0.05, 3.0, FIRST_TRIGGER
    best: tuple[float, Tally] | None = None
    for _ in range(tries):
        tally = replay(scale)
        if best is None or abs(measure(tally) - goal) < abs(measure(best[1]) - goal):
            best = scale, tally
        if abs(measure(tally) - goal) <= EXACT * goal / 4:
            break
        low, high = (scale, high) if measure(tally) < goal else (low, scale)
        scale = (low + high) / 2
    assert best is not None
    return best
