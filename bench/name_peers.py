"""Other ways to match names, on the same labelled pairs: token-sort, and nomenklatura's logic-v2.

nomenklatura is installed into an environment of its own, below `~/.cache/tenure/peers`, by its
ordinary installer; where it cannot be had, `Unavailable` says why. Its scores are read with our
bands: bound from 0.95, a question above 0.70. Token-sort binds from 90 of 100 and asks nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rapidfuzz.fuzz import token_sort_ratio

from tenure.bench.bench_peers import environment, output_of
from tenure.bench.evaluation.fit import LabelledPair
from tenure.bench.peers.systems import System

WORKER = Path(__file__).resolve().parent / "peers" / "name_scores.py"
NOMENKLATURA = System(
    "nomenklatura",
    ("nomenklatura==4.17.4",),
    "nomenklatura",
    resolution="rules over names, identifiers and dates (logic-v2)",
    durability="none: it scores",
    history="none: it scores",
)
BIND_AT, REVIEW_ABOVE = 0.95, 0.70
TOKEN_SORT_FROM = 90.0


def logic_v2(pairs: Sequence[LabelledPair], folder: Path) -> tuple[float, ...]:
    """The score of each pair by nomenklatura, whose environment is below a folder.

    Raises:
        Unavailable: when it cannot be installed, or does not run.
    """
    python = environment(NOMENKLATURA, folder)
    lines = [json.dumps([pair.entity_type, pair.left, pair.right]) for pair in pairs]
    scores = output_of("nomenklatura does not run", python, WORKER, input="\n".join(lines))
    return tuple(map(float, scores.split()))


def token_sort(pairs: Sequence[LabelledPair]) -> tuple[float, ...]:
    """1 for each pair that token-sort binds, 0 for the others."""
    scores: list[float] = []
    for pair in pairs:
        ratio = token_sort_ratio(pair.left.casefold(), pair.right.casefold())
        scores.append(float(ratio >= TOKEN_SORT_FROM))
    return tuple(scores)


def counts(
    pairs: Sequence[LabelledPair], scores: Sequence[float]
) -> Iterator[tuple[str, bool, str]]:
    """Yield the entity type of each pair, whether it is a match, and what its score decides."""
    for pair, score in zip(pairs, scores, strict=True):
        decision = "new"
        if score >= BIND_AT:
            decision = "bind"
        elif score > REVIEW_ABOVE:
            decision = "review"
        yield pair.entity_type, pair.is_match, decision
