"""What a compile of few candidates keeps of one that looks at thousands, and what each costs.

Used by `bench_compile.py --table`. `best 20` is the share of the twenty
best objects of the wide compile that stand in the other one too, `worth` the share of the value of
all its objects, `total` the value of one envelope over that of the other. These say how far the
two agree; `evidence`, the share shown of the turns that answer a question, says which is better.
Times are CPU of the whole process, the search of the vectors included; what is stored after a
compile has returned is stored after its time was taken.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from tenure import Memory, connect
from tenure.bench.talk_data import ShownText
from tenure.schema.policy import DEFAULT, Policy

WIDE = (3_000, 1_000)
"""Text matches and near claims of the compile that others are held against."""
BEST = 20
SHOWN = 0.8
"""Share of a text's words that make it shown."""
WARM_UP = 20
"""Questions that are asked before anything is measured, for the caches."""


class Chosen(NamedTuple):
    """What one compile chose, and its seconds."""

    scores: dict[str, int]
    candidates: int
    seconds: float
    text: str


class Asking(NamedTuple):
    """Questions to a store."""

    path: Path
    task: str
    questions: Sequence[str]
    encoder: Any = None
    """For hybrid compiles; None for lexical ones."""
    evidence: Sequence[Sequence[str]] = ()
    """The texts that answer each question, where that is known."""


def policy_of(text: int, near: int, **numbers: Any) -> Policy:
    """A policy with so many text matches and near claims, and other numbers of a compile."""
    rules = replace(
        DEFAULT.compile, text_candidates=text, text_beside_vectors=text, vector_candidates=near,
        candidates=5_000, **numbers,
    )  # fmt: skip
    reading = replace(DEFAULT.read, text_candidates=text, vector_candidates=near)
    return replace(DEFAULT, compile=rules, read=reading)


def chosen(asking: Asking, policy: Policy = DEFAULT, *, warm_up: int = 0) -> list[Chosen]:
    """Ask every question; the first `warm_up` of them once before that."""
    encoder = asking.encoder
    answers: list[Chosen] = []
    with connect(str(asking.path), encoder=encoder, policy=policy) as memory:
        vectors = [encoder.encode([q])[0] if encoder else None for q in asking.questions]
        asked = list(zip(asking.questions, vectors, strict=True))
        for question, vector in asked[:warm_up]:
            memory.compile(asking.task, question, query_vector=vector)
        for question, vector in asked:
            answers.append(_compiled(memory, asking.task, question, vector))
    return answers


def _compiled(memory: Memory, task: str, question: str, vector: list[float] | None) -> Chosen:
    waiting: list[Callable[[], object]] = []
    memory._backend.settle()
    with patch.object(type(memory._backend), "later", lambda _, work: waiting.append(work)):
        began = time.process_time()
        envelope = memory.compile(task, question, query_vector=vector)
        seconds = time.process_time() - began
    for work in waiting:
        work()
    scores = {each.object_id: each.score for each in envelope.trace.compiled_objects}
    return Chosen(scores, len(envelope.manifest.candidates), seconds, envelope.text)


def kept(wide: Chosen, other: Chosen) -> tuple[float, float, float]:
    """The shares `best 20`, `worth` and `total`."""
    best = sorted(wide.scores, key=lambda each: (-wide.scores[each], each))[:BEST]
    worth = sum(wide.scores.values())
    shared = sum(value for each, value in wide.scores.items() if each in other.scores)
    return (
        len(other.scores.keys() & set(best)) / max(1, len(best)),
        shared / max(1, worth),
        sum(other.scores.values()) / max(1, worth),
    )


def mean_kept(wide: Sequence[Chosen], others: Sequence[Chosen]) -> list[float]:
    """The means of the three shares over all questions."""
    shares = [kept(a, b) for a, b in zip(wide, others, strict=True)]
    return [statistics.mean(column) for column in zip(*shares, strict=True)]


def evidence_shown(asking: Asking, answers: Sequence[Chosen]) -> float:
    """The share of the texts that answer a question of which a compile shows four fifths."""
    shares: list[float] = []
    for texts, answer in zip(asking.evidence, answers, strict=True):
        context = ShownText([answer.text])
        if texts:
            shares.append(statistics.mean(context.share(text) >= SHOWN for text in texts))
    return statistics.mean(shares)


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    ordered = sorted(1000 * each for each in seconds)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
