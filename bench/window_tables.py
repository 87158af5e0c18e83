"""What stands beside the table of policies: short forms by kind of result, and counts of a request.

A short form keeps what cannot be guessed of a tool result; here its tokens are set against those
of the original, with the share of identifiers that it keeps, and with the share of values that the
right actions of the runs needed and that stood in the result (airline runs alone). Results are the
airline runs' and those of the shell bursts.

The count of a request is set against o200k and three tokens a message, which is how OpenAI counts.
The tokenizers of Anthropic and Google are not public, so nothing here can tell their error: a
session takes the provider's own count where that is higher.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tenure.bench.window_data import MODEL, SHARED, chained
from tenure.compiler.tokens.counting import counter_for
from tenure.compiler.tokens.o200k import count_o200k
from tenure.window.facts import identifiers
from tenure.window.forms import external, kind_of
from tenure.window.state import WindowState

SHELL = SHARED / "data" / "transcripts" / "shell.jsonl.gz"
LEAST_TOKENS = 500
"""Results below are left as they are."""
A_MESSAGE = 3
"""Tokens that OpenAI adds to a message, and once to a request."""


@dataclass
class KindTally:
    """What short forms of one kind of result came to."""

    results: int = 0
    original: int = 0
    short: int = 0
    names: int = 0
    standing_names: int = 0
    values: int = 0
    standing_values: int = 0

    def add(self, text: str, short: str, values: Sequence[str]) -> None:
        """Count one result."""
        counter = counter_for(MODEL)
        self.results += 1
        self.original += counter.upper_bound(text)
        self.short += counter.upper_bound(short)
        for name in identifiers(text):
            self.names += 1
            self.standing_names += name in short
        for value in values:
            if value in text:
                self.values += 1
                self.standing_values += value in short

    def line(self, kind: str) -> str:
        """The row of this kind."""
        asked = f"{100 * self.standing_values / self.values:7.1f}" if self.values else f"{'-':>7}"
        return (
            f"{kind:16} {self.results:7} {self.original / max(1, self.results):9.0f}"
            f" {self.original / max(1, self.short):7.1f}"
            f" {100 * self.standing_names / max(1, self.names):7.1f} {asked}"
        )


def kinds_table() -> Iterator[str]:
    """The lines of the table of kinds."""
    tallies: dict[str, KindTally] = {}
    for source, name, text, values in (*_airline_results(), *_shell_results()):
        tokens = counter_for(MODEL).upper_bound(text)
        if tokens <= LEAST_TOKENS:
            continue
        kind = kind_of(text, name)
        short = external(text, kind, 57, tokens, name)
        tallies.setdefault(f"{source} {kind.value}", KindTally()).add(text, short, values)

    yield f"{'results of':16} {'count':>7} {'tokens':>9} {'shorter':>7} {'ids %':>7} {'asked %':>7}"
    for label, tally in sorted(tallies.items()):
        yield tally.line(label)


def _airline_results() -> Iterator[tuple[str, str, str, Sequence[str]]]:
    chain = chained()
    values = [question.value for question in chain.questions]
    for message in chain.messages:
        if message["role"] == "tool":
            yield "airline", message["name"], message["content"] or "", values


def _shell_results() -> Iterator[tuple[str, str, str, Sequence[str]]]:
    with gzip.open(SHELL, "rt", encoding="utf-8") as lines:
        runs: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for run in runs:
        # What the shell answers comes in the user's messages; the first of them is the task.
        answers = [line for line in run["history"] if line["role"] == "user"]
        for message in answers[1:]:
            yield "shell", "shell", str(message["content"]), ()


class CountErrors:
    """By how much the bound of each request of a run is above the count that a provider bills."""

    def __init__(self) -> None:
        self.permille: list[int] = []

    def add(self, state: WindowState, messages: Sequence[dict[str, Any]]) -> None:
        """Set the bound of a request against its count."""
        count = A_MESSAGE + sum(_count(message) for message in messages)
        self.permille.append(1000 * (state.history_tokens - count) // count)

    def line(self, model: str) -> str:
        """The error of the bound: its median, its p95, and the least; below 0 it was too low."""
        errors = sorted(self.permille)
        p50, p95 = errors[len(errors) // 2], errors[len(errors) * 95 // 100]
        return f"{model:16} {len(errors):7} {p50 / 10:7.1f} {p95 / 10:7.1f} {errors[0] / 10:7.1f}"


def _count(message: dict[str, Any]) -> int:
    texts = [str(message.get("content") or "")]
    for call in message.get("tool_calls", ()):
        texts += [call["function"]["name"], call["function"]["arguments"]]
    return A_MESSAGE + sum(count_o200k(text) for text in texts)
