"""Scores of session rankings equal those of the official scorer, written out here from its source.

The reference is LongMemEval's `eval_utils.py`, transcribed with plain lists in place of numpy.
"""

from __future__ import annotations

import math
import random

import pytest

from tenure.bench.common.metrics import dcg, score_sessions


def reference(ranking: list[str], relevant: set[str], haystack: list[str], cut: int) -> list[float]:
    """recall_any, recall_all and NDCG as the official scorer computes them over all documents."""

    def gain(relevances: list[int]) -> float:
        taken = relevances[:cut]
        return taken[0] + sum(
            r / math.log2(i) for r, i in zip(taken[1:], range(2, 99), strict=False)
        )

    found = set(ranking[:cut])
    relevances = [int(session in relevant) for session in ranking]
    ideal = gain(sorted((int(session in relevant) for session in haystack), reverse=True))
    return [
        float(any(session in found for session in relevant)),
        float(all(session in found for session in relevant)),
        gain(relevances) / ideal if ideal else 0.0,
    ]


@pytest.mark.parametrize("seed", range(25))
def test_scores_equal_those_of_the_official_scorer(seed: int) -> None:
    chance = random.Random(seed)
    haystack = [f"s{number}" for number in range(chance.randint(3, 40))]
    relevant = set(chance.sample(haystack, chance.randint(1, 3)))
    ranking = chance.sample(haystack, len(haystack))
    for cut in (1, 5, 10):
        score = score_sessions(ranking, relevant, haystack, cut)
        measured = [score.recall_any, score.recall_all, score.ndcg]
        assert measured == pytest.approx(reference(ranking, relevant, haystack, cut))


def test_the_second_place_is_worth_as_much_as_the_first_and_the_third_is_not() -> None:
    assert dcg([1, 0], 5) == dcg([0, 1], 5) == 1.0
    assert dcg([0, 0, 1], 5) == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize(
    ("ranking", "relevant", "scores"),
    [
        # Sessions that a ranking does not name come last.
        ("b", "a", (1.0, 1.0, 1.0)),
        ("bc", "a", (0.0, 0.0, 0.0)),
        # The ideal is that of the whole haystack, not of what the ranking found.
        ("axy", "abc", (1.0, 0.0, 0.5)),
    ],
)
def test_a_ranking_is_scored_over_the_whole_haystack(
    ranking: str, relevant: str, scores: tuple[float, float, float]
) -> None:
    score = score_sessions([*ranking], {*relevant}, [*"bacxy"], 2)
    assert (score.recall_any, score.recall_all, score.ndcg) == scores
