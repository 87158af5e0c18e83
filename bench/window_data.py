"""The airline runs as one long session, and what a replay of it is measured by.

One trial a task is chained, 80K tokens about; each further pass takes other trials, with the users,
reservations and payments renamed. A question is a value of a right action (six characters or more)
that stood verbatim in an earlier user or tool message. Reads the folder `TENURE_SHARED`.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

MODEL = "claude-opus-4-7"
AGES = (5, 20, 60)
"""Turns after which each question is asked, and once more at the end."""
SHARED = Path(os.environ.get("TENURE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
DATA = SHARED / "data" / "transcripts" / "airline-dev.jsonl.gz"
OUTPUT_PERMILLE = 5_000
"""Of the input's base price: what a token that a model writes costs with most models."""
_OWN_NAMES = re.compile(r"(?<=_)\d{4,7}\b|\b(?!HAT\d)[A-Z0-9]{6}\b")
"""Numbers of users and payments, and reservations, but no flights."""


@dataclass(frozen=True)
class Question:
    """A value that was said, and the turn in which it was said last."""

    value: str
    turn: int


@dataclass(frozen=True)
class Chain:
    """The messages of one long session, and what is asked of a window on the way."""

    messages: Sequence[dict[str, Any]]
    questions: Sequence[Question] = ()
    overtaken: Mapping[int, Sequence[str]] = field(default_factory=dict[int, "Sequence[str]"])
    """By turn, the values that were said and hold no longer."""

    @cached_property
    def due(self) -> Mapping[int, Sequence[tuple[Question, str]]]:
        """The questions by the turn in which they are asked, with their age."""
        due: dict[int, list[tuple[Question, str]]] = {}
        for question in self.questions:
            for age in AGES:
                due.setdefault(question.turn + age, []).append((question, f"{age}"))
        return due


@dataclass
class Tally:
    """What one replay came to."""

    requests: int = 0
    tokens: int = 0
    largest: int = 0
    over: int = 0
    checked: int = 0
    faults: int = 0
    """Of the checked requests."""
    stale: int = 0
    """Values that hold no longer and stand in a request, over all requests."""
    edits: int = 0
    written: int = 0
    read: int = 0
    summariser: int = 0
    """What calls of a summariser cost, in thousandths of a base-priced token."""
    summariser_tokens: int = 0
    """What they read and wrote."""
    slowest_ms: float = 0.0
    asked: dict[str, int] = field(default_factory=dict)
    standing: dict[str, int] = field(default_factory=dict)
    reachable: int = 0
    rendered_texts: dict[str, str] = field(default_factory=dict)
    """By provider, the request before."""
    kept: dict[str, int] = field(default_factory=dict)
    appended_to: dict[str, int] = field(default_factory=dict)
    """Characters of requests between edits, and how many stood there as before."""
    all_rendered: dict[str, int] = field(default_factory=dict)

    def rendered(self, target: str, messages: Sequence[Any], *, edited: bool) -> None:
        """Count what a provider's cache keeps of a request, where no edit came before it."""
        # Without the bracket that closes the list, because the next request goes on behind it.
        text = json.dumps(messages, ensure_ascii=False)[:-1]
        before = self.rendered_texts.get(target, "")
        self.rendered_texts[target] = text
        if edited:
            return
        self.kept[target] = self.kept.get(target, 0) + common_prefix(text, before)
        self.appended_to[target] = self.appended_to.get(target, 0) + len(before)
        self.all_rendered[target] = self.all_rendered.get(target, 0) + len(text)

    @property
    def cache_loss(self) -> float:
        """Points of cached share below append-only between edits, of the worst provider."""
        losses: list[float] = []
        for target, characters in self.all_rendered.items():
            losses.append(100 * (self.appended_to[target] - self.kept[target]) / characters)
        return max(losses, default=0.0)

    def sent(self, text: str, before: str, tokens: int) -> None:
        """Count the tokens of a request, and how many the provider reads from its cache."""
        self.requests += 1
        self.tokens += tokens
        self.largest = max(self.largest, tokens)
        cached = tokens * common_prefix(text, before) // max(1, len(text))
        self.read += cached
        self.written += tokens - cached

    def ask(self, question: Question, age: str, text: str) -> bool:
        """Count whether the answer to a question stands in a text."""
        stands = question.value in text
        self.asked[age] = self.asked.get(age, 0) + 1
        self.standing[age] = self.standing.get(age, 0) + stands
        return stands

    @property
    def total(self) -> int:
        """All tokens that were sent or written, those of summarisers included."""
        return self.tokens + self.summariser_tokens

    @property
    def mean(self) -> float:
        return self.tokens / self.requests

    @property
    def recall(self) -> float:
        return 100 * sum(self.standing.values()) / max(1, sum(self.asked.values()))


def common_prefix(text: str, other: str) -> int:
    """Characters that two texts begin with in common."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def chained(passes: int = 1) -> Chain:
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
    return Chain(messages, tuple(questions.values()))


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
