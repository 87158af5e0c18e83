"""What a window keeps of what the next calls need, over recorded runs.

A window is anything with `add(message)` and `request()`; both speak OpenAI's form. Cost is in
tokens at base price: what a provider reads from its cache at a tenth, what it writes at the price
of a cache write, in requests whose prefix is marked up to the end of the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from tenure.bench.window_checkers import openai_fault
from tenure.bench.window_runs import Message, Run, argument_values, words_of
from tenure.compiler.tokens.capabilities import capability
from tenure.compiler.tokens.counting import counter_for

MODEL = "claude-opus-4-7"
AGES = (5, 20, 60)
FRAMING = 6


class Window(Protocol):
    """A window manager under test."""

    def add(self, message: Message) -> None: ...

    def request(self) -> list[Message]: ...


@lru_cache(maxsize=200_000)
def tokens(text: str) -> int:
    """The upper bound of a text, as the product counts it."""
    return counter_for(MODEL).upper_bound(text)


@dataclass
class Tally:
    """What the runs of one set came to."""

    requests: int = 0
    sent: int = 0
    largest: int = 0
    over: int = 0
    faults: int = 0
    needs: list[bool] = field(default_factory=list)
    first_uses: list[bool] = field(default_factory=list)
    later: list[bool] = field(default_factory=list)
    read: int = 0
    written: int = 0
    extra: int = 0
    """Tokens that a summariser read or wrote."""

    @property
    def mean(self) -> float:
        return self.sent / max(1, self.requests)

    @property
    def computed_cost(self) -> float:
        """A request's cost by common prefix, without a price for writes."""
        return (self.written + 0.1 * self.read + self.extra) / max(1, self.requests)

    @property
    def cost(self) -> float:
        """A request's cost at the provider's prices."""
        row = capability(MODEL)
        total = self.written * row.write_permille[0] + self.read * row.read_permille
        return (total / 1000 + self.extra) / max(1, self.requests)


def share(answers: Sequence[bool]) -> float:
    """Per cent of answers that are yes."""
    return 100 * sum(answers) / max(1, len(answers))


def measure(runs: Iterable[Run], make: Callable[[int], Window], limit: int) -> Tally:
    """Replay runs through fresh windows of a limit."""
    tally = Tally()
    for run in runs:
        window = make(limit)
        _replay(run, window, limit, tally)
        tally.extra += getattr(window, "extra", 0)
    return tally


@dataclass
class _Needs:
    """What the calls of a run need, by the place of their message, and what is asked later."""

    by_place: dict[int, list[tuple[str, bool]]] = field(default_factory=dict)
    """Each need, and whether it is a first use."""
    due: dict[int, list[str]] = field(default_factory=dict)
    """The values that are asked for, by turn."""
    values: list[str] = field(default_factory=list)


def _needs_of(run: Run) -> _Needs:
    needs = _Needs()
    said, named = "", ""
    for place, message in enumerate(run.messages):
        if message["role"] == "assistant":
            values = [value for value in argument_values(message) if value in said]
            needs.by_place[place] = [(value, value not in named) for value in values]
            needs.values += [value for value in values if value not in needs.values]
            named += words_of(message)
        else:
            said += message.get("content") or ""

    last: dict[str, int] = {}
    turn = 0
    for message in run.messages:
        turn += message["role"] == "user"
        if message["role"] != "assistant":
            content = message.get("content") or ""
            last |= {value: turn for value in needs.values if value in content}
    for value, when in last.items():
        for age in AGES:
            needs.due.setdefault(when + age, []).append(value)
    return needs


def _replay(run: Run, window: Window, limit: int, tally: Tally) -> None:
    needs = _needs_of(run)
    text, before, turn = "", "", 0
    following = [message["role"] for message in run.messages[1:]] + ["user"]
    for place, message in enumerate(run.messages):
        role = message["role"]
        for value, is_first in needs.by_place.get(place, ()):
            tally.needs.append(value in text)
            if is_first:
                tally.first_uses.append(value in text)
        window.add(message)

        # A request follows what a user or the last tool of a step said.
        if role == "user" or (role == "tool" and following[place] != "tool"):
            request = window.request()
            text = "\n".join(words_of(part) for part in request)
            _count(tally, request, text, before, limit)
            before = text
        if role == "user":
            turn += 1
            tally.later += [value in text for value in needs.due.get(turn, ())]
    tally.later += [value in text for value in needs.values]


def _count(tally: Tally, request: Sequence[Message], text: str, before: str, limit: int) -> None:
    size = sum(tokens(words_of(message)) + FRAMING for message in request)
    tally.requests += 1
    tally.sent += size
    tally.largest = max(tally.largest, size)
    tally.over += size > limit
    tally.faults += openai_fault(request) is not None
    reads = size * _common(text, before) // max(1, len(text))
    tally.read += reads
    tally.written += size - reads


def _common(text: str, other: str) -> int:
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
