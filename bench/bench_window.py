"""What a window manager keeps in sight, on 132 real runs of a tool-using agent.

The runs are chained into one session, one trial a task, and replayed through the window with
several policies. Each request is checked against the pairing and order rules of three providers
and against the window. A question is a value of a right action (six characters or more) that stood
verbatim in an earlier user or tool message; it is asked 5, 20 and 60 turns later and at the end:
does it stand in the context, and if not, does an address in the context lead back to it? No policy
knows the questions. Baselines are given the trigger at which they are equal with ours: in the mean
request, or (`--equal total`) in all tokens, those of summarisers included, or (`--equal recall`)
in recall within a point, so that costs are compared at the same use.

Run: `python bench/bench_window.py [--window 16384 --window 32768] [--equal recall]`; `--tables`
prints compression by kind of result and the error of counts instead. Reads the folder
`TENURE_SHARED` (by default `shared` beside the checkout).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tenure.bench.summary_script import Saying, scripted_summary
from tenure.bench.window_data import MODEL, OUTPUT_PERMILLE, Question, Tally, chained, questions_due
from tenure.bench.window_others import LIBRARIES, Unavailable, other
from tenure.bench.window_tables import CountErrors, kinds_table
from tenure.compiler.tokens.capabilities import capability
from tenure.schema.window_policy import WindowPolicy
from tenure.window.changes import UnitChange
from tenure.window.checkers import FAULTS
from tenure.window.editing import EditPlan, due_edit
from tenure.window.events import EditReason, EventKind, WindowEvent
from tenure.window.folding import reachable_units
from tenure.window.forms import placeholder
from tenure.window.intake import message_parts
from tenure.window.layout import native_messages
from tenure.window.state import EMPTY_STATE, WindowState, part_body, part_tokens
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind, StandingForm, WindowUnit

_EXACT = 0.02
_SPEAKERS = {PartKind.USER: "user", PartKind.CALL: "call", PartKind.RESULT: "tool"}

Policy = Callable[[WindowState, float], "EditPlan | None"]


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


def summary_tokens(state: WindowState, plan: EditPlan) -> tuple[int, int]:
    """What the call that wrote a summary read, and what it wrote."""
    (change, *_) = plan.changes
    if change.form is not StandingForm.EXTRACT:
        return 0, 0
    read = sum(u.tokens for u in state.units if change.unit <= u.number <= change.last_unit)
    return read, state.count(change.texts[change.unit])


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

    def __init__(self, window: int, policy: Policy, scale: float, model: str = MODEL) -> None:
        self.policy, self.scale = policy, scale
        self.state = EMPTY_STATE
        self.tally = Tally()
        self.addresses: dict[int, str] = {}
        self.sent: str = ""
        self.errors: CountErrors | None = None
        limit = window - max(4096, window // 10) - 256
        body = {"model": model, "window": window, "limit": limit, "policy": ""}
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
                read, written = summary_tokens(before, plan)
                self.tally.summariser += 1000 * read + OUTPUT_PERMILLE * written
                self.tally.summariser_tokens += read + written
            took = 1000 * (time.perf_counter() - started)
            self.tally.slowest_ms = max(self.tally.slowest_ms, took)

    def request(self, *, check: bool) -> None:
        tally, state = self.tally, self.state
        tally.over += state.tokens > state.limit
        if check:
            messages = {target: native_messages(state, target) for target in FAULTS}
            tally.faults += any(FAULTS[name](sent) for name, sent in messages.items())
        if self.errors is not None:
            self.errors.add(state, native_messages(state, "openai"))
        text = "\n".join(unit.text for unit in state.units)
        tally.sent(text, self.sent, state.tokens)
        self.sent = text

    def ask(self, question: Question, age: str) -> None:
        stands = self.tally.ask(question, age, self.sent)
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
    replay = Replay(window, policy, scale)
    go_through(replay, passes, check=check)
    return replay.tally


def count_errors(model: str, window: int = 32_768) -> CountErrors:
    """How far our bound of each request is from its count, for a model."""
    replay = Replay(window, ours, 1.0, model)
    replay.errors = CountErrors()
    go_through(replay, 1, check=False)
    return replay.errors


def go_through(replay: Replay, passes: int, *, check: bool) -> None:
    """Replay the chain, and ask the questions when they are due."""
    messages, questions = chained(passes)
    due = questions_due(questions)
    for message in messages:
        role = message["role"]
        if role == "user":
            if replay.state.in_turn:
                replay.put(EventKind.TURN_ENDED, {})
            replay.parts(EventKind.TURN_STARTED, message_parts(message, "user"))
            replay.request(check=check)
            for question, age_name in due.get(replay.state.turn, ()):
                replay.ask(question, age_name)
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
    for question in questions:
        replay.ask(question, "end")


def at_level(
    replay: Callable[[float], Tally], measure: Callable[[Tally], float], goal: float, tries: int
) -> Tally:
    """The replay that comes nearest to a goal by a measure, by bisection of its trigger."""
    low, high = 0.05, 3.0
    best: Tally | None = None
    for _ in range(tries):
        scale = (low + high) / 2
        tally = replay(scale)
        if best is None or abs(measure(tally) - goal) < abs(measure(best) - goal):
            best = tally
        if abs(measure(tally) - goal) <= _EXACT * goal / 4:
            break
        low, high = (scale, high) if measure(tally) < goal else (low, scale)
    assert best is not None
    return best


MEASURES: Mapping[str, Callable[[Tally], float]] = {
    "mean": lambda tally: tally.mean,
    "total": lambda tally: tally.total / tally.requests,
    "recall": lambda tally: tally.recall,
}
"""In what a baseline is made equal with ours."""


BASELINES: Mapping[str, Policy] = {
    "truncation": truncation,
    "sliding window": sliding_window,
    "clear_tool_uses": clear_tool_uses,
    "placeholders": placeholders,
    "summarise all": summarise_all,
}


class Comparison(NamedTuple):
    """How baselines are set beside ours."""

    window: int
    passes: int
    equal: str
    goal: float
    recall: float | None
    """Of ours, in per cent; None where it was not replayed."""

    def line(self, name: str, tries: int) -> str:
        """The line of a baseline, or why there is none."""
        measure = MEASURES[self.equal]
        if name not in LIBRARIES:
            policy = BASELINES[name]
            tally = at_level(
                lambda scale: replayed(self.window, policy, scale, self.passes),
                measure,
                self.goal,
                12,
            )
            return line(name, tally, self.recall)
        try:
            with other(name, self.window, self.passes) as library:
                tally = at_level(library.replayed, measure, self.goal, tries)
                return line(name, tally, self.recall)
        except Unavailable as reason:
            return f"{name:16} not measured: {reason}"


HEADER = (
    f"{'policy':16} {'mean':>8} {'total':>8} {'largest':>8} {'over':>5} {'faults':>6} {'recall':>7}"
    f"  {'@5':>5} {'@20':>5} {'@60':>5} {'@end':>5} {'removed':>7} {'reachable':>9} {'cached%':>7}"
    f" {'cost':>7} {'ed/100':>6} {'edit ms':>8}"
)


def line(name: str, tally: Tally, recall: float | None = None) -> str:
    """The row of a policy; `recall` is ours, which says how many of its misses ours removes."""
    ages = " ".join(
        f"{100 * tally.standing[age] / tally.asked[age]:5.1f}" for age in ("5", "20", "60", "end")
    )
    asked = sum(tally.asked.values())
    row = capability(MODEL)
    cost = tally.written * row.write_permille[0] + tally.read * row.read_permille
    cost += tally.summariser
    misses = 100 - tally.recall
    removed = f"{100 * (recall - tally.recall) / misses:7.1f}" if recall and misses else f"{'-':>7}"
    return (
        f"{name:16} {tally.mean:8.0f} {tally.total / tally.requests:8.0f} {tally.largest:8}"
        f" {tally.over:5} {tally.faults:6} {tally.recall:7.1f}  {ages} {removed}"
        f" {100 * tally.reachable / asked:9.1f} {100 * tally.read / max(1, tally.tokens):7.1f}"
        f" {cost / 1e9:7.2f} {100 * tally.edits / tally.requests:6.1f} {tally.slowest_ms:8.1f}"
    )


def print_tables() -> None:
    """Print what short forms and counts come to."""
    print("\n".join(kinds_table()))
    print(f"\n{'bound over count':16} {'requests':>7} {'p50 %':>7} {'p95 %':>7} {'least %':>7}")
    for model in ("gpt-5", "generic"):
        print(count_errors(model).line(model), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--window", type=int, action="append")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--baseline", action="append", choices=[*BASELINES, *LIBRARIES])
    parser.add_argument("--tries", type=int, default=8, help="replays of a library at most")
    parser.add_argument("--equal", choices=[*MEASURES], default="mean")
    parser.add_argument("--mean", type=float, help="what ours came to, measured before")
    parser.add_argument("--tables", action="store_true")
    arguments = parser.parse_args()
    if arguments.tables:
        print_tables()
        return
    for window in arguments.window or [16_384, 32_768]:
        print(f"\nwindow {window}, {MODEL}, equal in {arguments.equal}\n{HEADER}", flush=True)
        goal, recall = arguments.mean, None
        if goal is None:
            own = replayed(window, ours, 1.0, arguments.passes, check=True)
            print(line("tenure", own), flush=True)
            goal, recall = MEASURES[arguments.equal](own), own.recall
        if arguments.only_ours:
            continue
        baselines = arguments.baseline or [*BASELINES, *LIBRARIES]
        if not arguments.baseline:
            print(line("none", replayed(window, none, 1.0, arguments.passes)), flush=True)
        comparison = Comparison(window, arguments.passes, arguments.equal, goal, recall)
        for name in baselines:
            print(comparison.line(name, arguments.tries), flush=True)


if __name__ == "__main__":
    main()
