"""Scoring: what was shown for one question, and the figures over many.

Recall is the mean share of a question's evidence that was shown, over the answerable questions
that have some; precision the share of what was shown that is evidence, over the same questions
pooled; stale exposure the share of questions with superseded items for which one was shown.
A method abstains when it names a gap or shows nothing. Everything is counted, nothing judged.
Sources: checklist D6; ecosystem 13.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .baselines import Shown
from .question_sets import Question


@dataclass(frozen=True, slots=True)
class Found:
    """What a method answered a question with."""

    shown: Shown
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
    needed: int
    """Entries of the evidence."""
    met: int
    """Of these, shown."""
    shown: int
    """Items in the context."""
    needed_shown: int
    """Of these, evidence."""
    stale: int
    """Superseded items that the question names."""
    stale_shown: int
    gap: bool
    tokens: int
    milliseconds: float

    @classmethod
    def of(cls, question: Question, method: str, budget: int, found: Found) -> Score:
        """Return the score of what was found."""
        shown = frozenset(found.shown.ids)
        wanted = {each for entry in question.evidence for each in entry}
        return cls(
            question=question.id,
            category=question.category,
            method=method,
            budget=budget,
            answerable=question.answerable,
            needed=len(question.evidence) if question.answerable else 0,
            met=sum(not shown.isdisjoint(entry) for entry in question.evidence),
            shown=len(shown),
            needed_shown=len(shown & wanted),
            stale=len(question.stale),
            stale_shown=len(shown.intersection(question.stale)),
            gap=found.gap,
            tokens=found.shown.tokens,
            milliseconds=round(found.milliseconds, 3),
        )

    @property
    def abstained(self) -> bool:
        """Tell whether it named a gap or showed nothing."""
        return self.gap or not self.shown


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
    """Return the figures of each method and budget, in order of appearance by budget."""
    groups: dict[tuple[int, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.budget, score.method), []).append(score)
    budgets = dict.fromkeys(budget for budget, _ in groups)
    return tuple(
        _figures(method, budget, held)
        for wanted in budgets
        for (budget, method), held in groups.items()
        if budget == wanted
    )


def _figures(method: str, budget: int, scores: Sequence[Score]) -> Figures:
    labelled = [s for s in scores if s.needed]
    hopeless = [s for s in scores if not s.answerable]
    dated = [s for s in scores if s.stale]
    spent = sorted(s.milliseconds for s in scores)
    kinds = sorted({s.category for s in labelled if s.category})
    shown = sum(s.shown for s in labelled)
    return Figures(
        method=method,
        budget=budget,
        recall=_mean([s.met / s.needed for s in labelled]),
        all_evidence=_mean([s.met == s.needed for s in labelled]),
        precision=round(sum(s.needed_shown for s in labelled) / shown, 4) if shown else None,
        stale_exposure=_mean([s.stale_shown > 0 for s in dated]),
        abstention=_mean([s.abstained for s in hopeless]),
        noise=_mean([s.shown for s in hopeless]),
        false_gaps=_mean([s.abstained for s in scores if s.answerable]),
        tokens=_mean([s.tokens for s in scores]) or 0.0,
        p50_ms=_at(spent, 0.50),
        p95_ms=_at(spent, 0.95),
        by_category={
            kind: _mean([s.met / s.needed for s in labelled if s.category == kind]) or 0.0
            for kind in kinds
        },
    )


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _at(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of sorted values, by the nearest rank."""
    return round(ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)], 3)
