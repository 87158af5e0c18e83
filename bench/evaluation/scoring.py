"""Scoring: what was shown for one question, and the figures over many.

Recall is the mean share of a question's evidence that was shown, over the answerable questions
that have some; precision the share of what was shown that is evidence, over the same questions
pooled; stale exposure the share of questions with superseded items for which one was shown.
A method abstains when it names a gap or shows nothing. Everything is counted, nothing judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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
        matches = 0
        for entry in question.evidence:
            matches += not ids.isdisjoint(entry)

        return cls(
            question=question.id,
            category=question.category,
            method=method,
            budget=budget,
            answerable=question.answerable,
            entries=len(question.evidence) if question.answerable else 0,
            matches=matches,
            items=len(ids),
            relevant_items=len(ids & question.evidence_ids),
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
    methods_by_budget: dict[int, list[str]] = {}
    for budget, method in groups:
        methods_by_budget.setdefault(budget, []).append(method)

    table: list[Figures] = []
    for budget, methods in methods_by_budget.items():
        for method in methods:
            samples = _Samples()
            for score in groups[budget, method]:
                samples.add(score)
            table.append(samples.figures(method, budget))
    return tuple(table)


@dataclass(slots=True)
class _Samples:
    """What the questions put to one method add to each figure."""

    recall: list[float] = field(default_factory=list[float])
    all_evidence: list[bool] = field(default_factory=list[bool])
    stale_exposure: list[bool] = field(default_factory=list[bool])
    abstention: list[bool] = field(default_factory=list[bool])
    noise: list[int] = field(default_factory=list[int])
    false_gaps: list[bool] = field(default_factory=list[bool])
    tokens: list[int] = field(default_factory=list[int])
    milliseconds: list[float] = field(default_factory=list[float])
    by_category: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    items: int = 0
    """Shown for the questions that have evidence."""
    relevant_items: int = 0
    """Of these, evidence."""

    def add(self, score: Score) -> None:
        """Take in one question."""
        self.tokens.append(score.tokens)
        self.milliseconds.append(score.milliseconds)

        if score.answerable:
            self.false_gaps.append(score.is_abstention)
        else:
            self.abstention.append(score.is_abstention)
            self.noise.append(score.items)

        if score.stale:
            self.stale_exposure.append(score.stale_items > 0)
        if score.entries:
            self._add_evidence(score)

    def _add_evidence(self, score: Score) -> None:
        share = score.matches / score.entries
        self.recall.append(share)
        self.all_evidence.append(score.matches == score.entries)
        self.items += score.items
        self.relevant_items += score.relevant_items
        if score.category:
            self.by_category.setdefault(score.category, []).append(share)

    def figures(self, method: str, budget: int) -> Figures:
        """What the questions come to."""
        times_ms = sorted(self.milliseconds)
        by_category: dict[str, float] = {}
        for category, shares in sorted(self.by_category.items()):
            by_category[category] = _mean(shares) or 0.0

        return Figures(
            method=method,
            budget=budget,
            recall=_mean(self.recall),
            all_evidence=_mean(self.all_evidence),
            precision=round(self.relevant_items / self.items, 4) if self.items else None,
            stale_exposure=_mean(self.stale_exposure),
            abstention=_mean(self.abstention),
            noise=_mean(self.noise),
            false_gaps=_mean(self.false_gaps),
            tokens=_mean(self.tokens) or 0.0,
            p50_ms=_percentile(times_ms, 0.50),
            p95_ms=_percentile(times_ms, 0.95),
            by_category=by_category,
        )


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _percentile(ascending: Sequence[float], share: float) -> float:
    """A percentile of sorted values, by the nearest rank."""
    rank = -(-len(ascending) * round(share * 100) // 100)
    return round(ascending[max(0, rank - 1)], 3)
