"""Scoring: what was shown for one question, and the figures over many.

Recall is the mean share of a question's evidence that was shown, over the answerable questions
that have some; precision the share of what was shown that is evidence, over the same questions
pooled; stale exposure the share of questions with superseded items for which one was shown.
A method abstains when it names a gap or shows nothing. Everything is counted, nothing judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .baselines import BaselineSelection
from .question_sets import Question


@dataclass(frozen=True, slots=True)
class MethodAnswer:
    """What a method answered a question with."""

    selection: BaselineSelection
    milliseconds: float
    gap: bool
    """Whether it named something that it should hold and does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One question, one method, one budget."""

    question: str
    category: str
    method: str
    budget: int
    answerable: bool
    entries: int
    """Entries of the evidence."""
    matches: int
    """Of these, shown."""
    items: int
    """Items in the context."""
    relevant_items: int
    """Of these, evidence."""
    stale: int
    """Superseded items that the question names."""
    stale_items: int
    gap: bool
    tokens: int
    milliseconds: float

    @classmethod
    def of(cls, question: Question, method: str, budget: int, answer: MethodAnswer) -> Score:
        """Score what a method answered."""
        ids = frozenset(answer.selection.ids)
        evidence = {item_id for entry in question.evidence for item_id in entry}

        return cls(
            question=question.id,
            category=question.category,
            method=method,
            budget=budget,
            answerable=question.answerable,
            entries=len(question.evidence) if question.answerable else 0,
            matches=sum(not ids.isdisjoint(entry) for entry in question.evidence),
            items=len(ids),
            relevant_items=len(ids & evidence),
            stale=len(question.stale),
            stale_items=len(ids.intersection(question.stale)),
            gap=answer.gap,
            tokens=answer.selection.tokens,
            milliseconds=round(answer.milliseconds, 3),
        )

    @property
    def is_abstention(self) -> bool:
        """Whether it named a gap or showed nothing."""
        return self.gap or not self.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one method did within one budget; None where no question asks for it."""

    method: str
    budget: int
    recall: float | None
    all_evidence: float | None
    """Share of questions with every piece of evidence shown."""
    precision: float | None
    stale_exposure: float | None
    abstention: float | None
    """Share of unanswerable questions met with a gap or with nothing."""
    noise: float | None
    """Items shown for an unanswerable question, on average."""
    false_gaps: float | None
    """Share of answerable questions met with a gap or with nothing."""
    tokens: float
    p50_ms: float
    p95_ms: float
    by_category: dict[str, float]
    """Recall by category."""


def figures(scores: Iterable[Score]) -> tuple[Figures, ...]:
    """The figures of each method and budget, in order of appearance by budget."""
    groups: dict[tuple[int, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.budget, score.method), []).append(score)

    # The groups stand by question; the table stands by budget, in the order of the methods.
    order = [*dict.fromkeys(budget for budget, _ in groups)]
    keys = sorted(groups, key=lambda key: order.index(key[0]))
    return tuple(_figures(method, budget, groups[budget, method]) for budget, method in keys)


def _figures(method: str, budget: int, scores: Sequence[Score]) -> Figures:
    answerable = [score for score in scores if score.answerable]
    unanswerable = [score for score in scores if not score.answerable]
    with_evidence = [score for score in scores if score.entries]
    with_stale = [score for score in scores if score.stale]
    times_ms = sorted(score.milliseconds for score in scores)

    items = sum(score.items for score in with_evidence)
    relevant_items = sum(score.relevant_items for score in with_evidence)
    return Figures(
        method=method,
        budget=budget,
        recall=_mean([score.matches / score.entries for score in with_evidence]),
        all_evidence=_mean([score.matches == score.entries for score in with_evidence]),
        precision=round(relevant_items / items, 4) if items else None,
        stale_exposure=_mean([score.stale_items > 0 for score in with_stale]),
        abstention=_mean([score.is_abstention for score in unanswerable]),
        noise=_mean([score.items for score in unanswerable]),
        false_gaps=_mean([score.is_abstention for score in answerable]),
        tokens=_mean([score.tokens for score in scores]) or 0.0,
        p50_ms=_percentile(times_ms, 0.50),
        p95_ms=_percentile(times_ms, 0.95),
        by_category=_recall_by_category(with_evidence),
    )


def _recall_by_category(scores: Sequence[Score]) -> dict[str, float]:
    shares: dict[str, list[float]] = {}
    for score in sorted(scores, key=lambda score: score.category):
        if score.category:
            shares.setdefault(score.category, []).append(score.matches / score.entries)
    return {category: _mean(values) or 0.0 for category, values in shares.items()}


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _percentile(ascending: Sequence[float], share: float) -> float:
    """A percentile of sorted values, by the nearest rank."""
    rank = -(-len(ascending) * round(share * 100) // 100)
    return round(ascending[max(0, rank - 1)], 3)
