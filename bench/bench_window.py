"""What a window manager keeps in sight, on 132 real runs of a tool-using agent.

The runs are chained into one session, one trial a task, and replayed through the window with
several policies. Each request is checked against the pairing and order rules of three providers
and against the window. A question is a value of a right action (six characters or more) that stood
verbatim in an earlier user or tool message; it is asked 5, 20 and 60 turns later and at the end:
does it stand in the context, and if not, does an address in the context lead back to it? No policy
knows the questions. Baselines are given their best trigger at an equal mean request.

Run: `python bench/bench_window.py [--window 16384 --window 32768]`. Reads the folder
`TENURE_SHARED` (by default `shared` beside the checkout).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import string
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tenure.bench.summary_script import Saying, scripted_summary
from tenure.compiler.tokens.capabilities import capability
from tenure.schema.window_policy import WindowPolicy
from tenure.window.changes import UnitChange
from tenure.window.checkers import FAULTS
from tenure.window.editing import EditPlan, due_edit, reachable_units
from tenure.window.events import EditReason, EventKind, WindowEvent
from tenure.window.forms import placeholder
from tenure.window.intake import message_parts
from tenure.window.layout import native_messages
from tenure.window.state import EMPTY_STATE, WindowState, part_body, part_tokens
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind, StandingForm, WindowUnit

MODEL = "claude-opus-4-7"
AGES = (5, 20, 60)
SHARED = Path(os.environ.get("TENURE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
DATA = SHARED / "data" / "transcripts" / "airline-dev.jsonl.gz"
_EXACT = 0.02
_OWN_NAMES = re.compile(r"(?<=_)\d{4,7}\b|\b(?!HAT\d)[A-Z0-9]{6}\b")
"""Numbers of users and payments, and reservations, but no flights."""
OUTPUT_PERMILLE = 5_000
"""Of the input's base price: what a token that a model writes costs with most models."""

_SPEAKERS = {PartKind.USER: "user", PartKind.CALL: "call", PartKind.RESULT: "tool"}

Policy = Callable[[WindowState, float], "EditPlan | None"]


@dataclass(frozen=True)
class Question:
    """A value that was said, and the turn in which it was said last."""

    value: str
    turn: int


@dataclass
class Tally:
    """What one replay came to."""

    requests: int = 0
    tokens: int = 0
    largest: int = 0
    over: int = 0
    faults: int = 0
    edits: int = 0
    written: int = 0
    read: int = 0
    summariser: int = 0
    """What calls of a summariser cost, in thousandths of a base-priced token."""
    slowest_ms: float = 0.0
    asked: dict[str, int] = field(default_factory=dict)
    standing: dict[str, int] = field(default_factory=dict)
    reachable: int = 0

    @property
    def mean(self) -> float:
        return self.tokens / self.requests

    @property
    def recall(self) -> float:
        return 100 * sum(self.standing.values()) / max(1, sum(self.asked.values()))


def chained(passes: int = 1) -> tuple[list[dict[str, Any]], list[Question]]:
    """The messages of one trial a task, and the questions with the turn of their value."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    by_task: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        by_task.setdefault(str(run["run"]).split("-")[0], []).append(run)

    messages: list[dict[str, Any]] = []
    questions: dict[str, Question] = {}
    turn = 0
    for number in range(passes):
        for trials in by_task.values():
            run = _renamed(trials[number % len(trials)], _rotation(7 * number))
            values = set(_values(run["actions"]))
            for message in run["messages"]:
                if message["role"] == "system":
                    continue
                turn += message["role"] == "user"
                messages.append(message)
                if message["role"] in ("user", "tool"):
                    for value in values:
                        if value in (message["content"] or ""):
                            questions[value] = Question(value, turn)
    return messages, list(questions.values())


def _renamed(tree: Any, table: Mapping[int, int]) -> Any:
    """A run about other people, reservations and payments: names of the same shape."""
    if isinstance(tree, Mapping):
        return {name: _renamed(inner, table) for name, inner in tree.items()}
    if isinstance(tree, list):
        return [_renamed(inner, table) for inner in tree]
    if isinstance(tree, str):
        return _OWN_NAMES.sub(lambda name: name[0].translate(table), tree)
    return tree


def _rotation(places: int) -> Mapping[int, int]:
    """A table by which each letter and digit becomes another one; of no place itself."""
    letters, digits = string.ascii_uppercase, string.digits
    turned = [
        signs[places % len(signs) :] + signs[: places % len(signs)] for signs in (letters, digits)
    ]
    return str.maketrans(letters + digits, "".join(turned))


def _values(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for inner in tree.values():
            yield from _values(inner)
    elif isinstance(tree, list):
        for inner in tree:
            yield from _values(inner)
    elif isinstance(tree, str) and len(tree) >= 6:
        yield tree


def ours(state: WindowState, scale: float) -> EditPlan | None:
    """The window of tenure, as a session runs it."""
    return due_edit(state, WindowPolicy())


def none(state: WindowState, scale: float) -> EditPlan | None:
    """Nothing is ever taken out."""
    return None


def truncation(state: WindowState, scale: float) -> EditPlan | None:
    """The oldest units leave as soon as the trigger is passed, just enough of them."""
    excess = state.tokens - scale * state.limit
    changes: list[UnitChange] = []
    for unit in reachable_units(state):
        if excess <= 0:
            break
        changes.append(_dropped(unit))
        excess -= unit.tokens
    return EditPlan(EditReason.PRESSURE, tuple(changes)) if changes else None


def sliding_window(state: WindowState, scale: float) -> EditPlan | None:
    """At the trigger everything but the newest half of it leaves."""
    if state.tokens <= scale * state.limit:
        return None
    excess = state.tokens - scale * state.limit / 2
    changes: list[UnitChange] = []
    for unit in reachable_units(state):
        if excess <= 0:
            break
        changes.append(_dropped(unit))
        excess -= unit.tokens
    return EditPlan(EditReason.PRESSURE, tuple(changes)) if changes else None


def clear_tool_uses(state: WindowState, scale: float) -> EditPlan | None:
    """The provider's rule: at the trigger old tool results are cleared, three are kept.

    Where that is not enough, the oldest units leave: a request over the window is refused.
    """
    if state.tokens <= scale * state.limit:
        return None
    full = [u for u in reachable_units(state) if u.results and u.form is StandingForm.FULL]
    changes: list[UnitChange] = []
    for unit in full[:-3]:
        texts = {r.seq: "[cleared]" for r in unit.results}
        freed = sum(r.tokens for r in unit.results) - 10 * len(unit.results)
        changes.append(_changed(unit, StandingForm.EXTERNAL, texts, freed))
    if not changes:
        return truncation(state, scale)
    return EditPlan(EditReason.PRESSURE, tuple(changes))


def placeholders(state: WindowState, scale: float) -> EditPlan | None:
    """As the provider's rule, with an address in the place of each result."""
    plan = clear_tool_uses(state, scale)
    if plan is None or plan.changes[0].form is StandingForm.TOMBSTONE:
        return plan
    changes = []
    for change in plan.changes:
        texts = {seq: placeholder(seq, change.savings, "tool") for seq in change.texts}
        unit = state.standing(change.unit)
        changes.append(_changed(unit, StandingForm.EXTERNAL, texts, change.savings))
    return EditPlan(EditReason.PRESSURE, tuple(changes))


def summarise_all(state: WindowState, scale: float) -> EditPlan | None:
    """One summary of everything before the newest five units, by a summariser with a script.

    It leaves no address. What it was asked for and wrote is in the cost.
    """
    if state.tokens <= scale * state.limit:
        return None
    old = [unit for unit in reachable_units(state)[:-5] if not unit.open_calls]
    if len(old) < 2:
        return truncation(state, scale)

    text = scripted_summary(saying for unit in old for saying in _sayings(unit))
    savings = sum(unit.tokens for unit in old) - state.count(text)
    change = _changed(old[0], StandingForm.EXTRACT, {old[0].number: text}, savings)
    joined = replace(change, last_unit=old[-1].last_number or old[-1].number)
    return EditPlan(EditReason.PRESSURE, (joined,))


def _sayings(unit: WindowUnit) -> Iterator[Saying]:
    """A unit as a summariser reads it."""
    for item in unit.items:
        speaker = "summary" if item.kind is PartKind.NOTE else _SPEAKERS.get(item.kind, "assistant")
        yield Saying(speaker, item.text)


def summary_cost(state: WindowState, plan: EditPlan) -> int:
    """The call that wrote a summary: what it read anew, and what it wrote, five times dearer."""
    (change, *_) = plan.changes
    if change.form is not StandingForm.EXTRACT:
        return 0
    read = sum(u.tokens for u in state.units if change.unit <= u.number <= change.last_unit)
    written = state.count(change.texts[change.unit])
    return 1000 * read + OUTPUT_PERMILLE * written


def _dropped(unit: WindowUnit) -> UnitChange:
    return _changed(unit, StandingForm.TOMBSTONE, {}, unit.tokens)


def _changed(
    unit: WindowUnit, form: StandingForm, texts: Mapping[int, str], savings: int
) -> UnitChange:
    return UnitChange(
        unit=unit.number,
        last_unit=unit.last_number or unit.number,
        turn=unit.turn,
        form=form,
        texts=texts,
        savings=savings,
        keep=1,
        reason="baseline",
        fidelity=0,
    )


class Replay:
    """One session, replayed through one policy."""

    def __init__(self, window: int, policy: Policy, scale: float) -> None:
        self.policy, self.scale = policy, scale
        self.state = EMPTY_STATE
        self.tally = Tally()
        self.addresses: dict[int, str] = {}
        self.sent: str = ""
        limit = window - max(4096, window // 10) - 256
        body = {"model": MODEL, "window": window, "limit": limit, "policy": ""}
        self.put(EventKind.OPENED, body, ("assist", "", "", ""))

    def put(self, kind: EventKind, body: Mapping[str, Any], texts: tuple[str, ...] = ()) -> None:
        seq = self.state.seq + 1
        self.state = step(self.state, WindowEvent(seq=seq, kind=kind, body=body, texts=texts))

    def parts(self, kind: EventKind, parts: tuple[MessagePart, ...]) -> None:
        lines = [part_body(part, part_tokens(self.state, part)) for part in parts]
        self.put(kind, {"parts": lines}, tuple(part.text for part in parts))
        for part in parts:
            self.addresses[self.state.seq] = part.text
        self.edit()

    def edit(self) -> None:
        started = time.perf_counter()
        before = self.state
        plan = self.policy(before, self.scale)
        if plan is not None:
            self.put(EventKind.EDITED, plan.body, plan.texts)
            self.tally.edits += 1
            if self.policy is summarise_all:
                self.tally.summariser += summary_cost(before, plan)
            took = 1000 * (time.perf_counter() - started)
            self.tally.slowest_ms = max(self.tally.slowest_ms, took)

    def request(self, *, check: bool) -> None:
        tally, state = self.tally, self.state
        tally.requests += 1
        tally.tokens += state.tokens
        tally.largest = max(tally.largest, state.tokens)
        tally.over += state.tokens > state.limit
        if check:
            messages = {target: native_messages(state, target) for target in FAULTS}
            tally.faults += any(FAULTS[name](sent) for name, sent in messages.items())
        text = "\n".join(unit.text for unit in state.units)
        shared = next(
            (place for place, (a, b) in enumerate(zip(text, self.sent, strict=False)) if a != b),
            min(len(text), len(self.sent)),
        )
        cached = state.tokens * shared // max(1, len(text))
        tally.read += cached
        tally.written += state.tokens - cached
        self.sent = text

    def ask(self, questions: list[Question], age: str) -> None:
        text = self.sent
        for question in questions:
            self.tally.asked[age] = self.tally.asked.get(age, 0) + 1
            stands = question.value in text
            self.tally.standing[age] = self.tally.standing.get(age, 0) + stands
            self.tally.reachable += stands or self._leads_back(question.value)

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
    window: int, policy: Policy, scale: float, passes: int = 1, *, check: bool = False
) -> Tally:
    """Replay the chain through a policy; `check` renders and checks each request."""
    messages, questions = chained(passes)
    due: dict[int, list[tuple[Question, str]]] = {}
    for question in questions:
        for age in AGES:
            due.setdefault(question.turn + age, []).append((question, f"{age}"))

    replay = Replay(window, policy, scale)
    for message in messages:
        role = message["role"]
        if role == "user":
            if replay.state.in_turn:
                replay.put(EventKind.TURN_ENDED, {})
            replay.parts(EventKind.TURN_STARTED, message_parts(message, "user"))
            replay.request(check=check)
            for question, age_name in due.get(replay.state.turn, ()):
                replay.ask([question], age_name)
        elif role == "assistant":
            replay.request(check=check) if replay.state.units[-1].results else None
            replay.parts(EventKind.STEP_MADE, message_parts(message, "assistant"))
        else:
            part = MessagePart(
                kind=PartKind.RESULT,
                text=message["content"] or "",
                call_id=message["tool_call_id"],
                name=message["name"],
            )
            replay.parts(EventKind.RESULT_CAME, (part,))
    replay.request(check=check)
    replay.ask(questions, "end")
    return replay.tally


def at_mean(window: int, policy: Policy, mean: float, passes: int) -> Tally:
    """The replay whose mean request is nearest to a mean, by bisection of its trigger."""
    low, high = 0.05, 3.0
    best: Tally | None = None
    for _ in range(12):
        scale = (low + high) / 2
        tally = replayed(window, policy, scale, passes)
        if best is None or abs(tally.mean - mean) < abs(best.mean - mean):
            best = tally
        if abs(tally.mean - mean) <= _EXACT * mean / 4:
            break
        low, high = (scale, high) if tally.mean < mean else (low, scale)
    assert best is not None
    return best


BASELINES: Mapping[str, Policy] = {
    "truncation": truncation,
    "sliding window": sliding_window,
    "clear_tool_uses": clear_tool_uses,
    "placeholders": placeholders,
    "summarise all": summarise_all,
}


def line(name: str, tally: Tally) -> str:
    ages = " ".join(
        f"{100 * tally.standing[age] / tally.asked[age]:5.1f}" for age in ("5", "20", "60", "end")
    )
    asked = sum(tally.asked.values())
    row = capability(MODEL)
    cost = tally.written * row.write_permille[0] + tally.read * row.read_permille
    cost += tally.summariser
    return (
        f"{name:16} {tally.mean:8.0f} {tally.largest:8} {tally.over:5} {tally.faults:6}"
        f" {tally.recall:7.1f}  {ages} {100 * tally.reachable / asked:9.1f}"
        f" {100 * tally.read / max(1, tally.tokens):7.1f} {cost / 1e9:7.2f}"
        f" {100 * tally.edits / tally.requests:6.1f} {tally.slowest_ms:8.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--window", type=int, action="append")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--baseline", action="append", choices=sorted(BASELINES))
    arguments = parser.parse_args()
    for window in arguments.window or [16_384, 32_768]:
        print(f"\nwindow {window}, {MODEL}")
        print(
            f"{'policy':16} {'mean':>8} {'largest':>8} {'over':>5} {'faults':>6} {'recall':>7}"
            f"  {'@5':>5} {'@20':>5} {'@60':>5} {'@end':>5} {'reachable':>9} {'cached%':>7}"
            f" {'cost':>7} {'ed/100':>6} {'edit ms':>8}"
        )
        own = replayed(window, ours, 1.0, arguments.passes, check=True)
        print(line("tenure", own), flush=True)
        if arguments.only_ours:
            continue
        chosen = arguments.baseline or list(BASELINES)
        if not arguments.baseline:
            print(line("none", replayed(window, none, 1.0, arguments.passes)), flush=True)
        for name in chosen:
            policy = BASELINES[name]
            print(line(name, at_mean(window, policy, own.mean, arguments.passes)), flush=True)


if __name__ == "__main__":
    main()
