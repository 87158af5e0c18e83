"""Measure name matching: precision, calibration, blocking recall, time per pair.

    python bench/bench_resolution.py [--data DIR] [--json FILE] [--strict] [--no-peers]

Three views, none of which lets a model score a cluster it was fitted on:

- the shipped model on its held-out third;
- five folds by cluster, one fit each, counts pooled;
- each kind of name scored by a model fitted on the other kinds.

Then a stress test: the five folds again, with a common scope, common neighbours or both given to
every pair, right or wrong. In life hardly any two names share these.

Beside them, on the same pairs, by names alone: token-sort from 90 of 100, and nomenklatura's
logic-v2 in an environment of its own, or the reason why it cannot be had (`--no-peers` leaves
both out).

Persons are evaluated with assume-same-scope, which only lifts `person_without_context`.
`--strict` fails below a pooled point precision of .99 at automatic merge on the held-out third.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tenure.bench.bench_peers import Unavailable, default_folder
from tenure.bench.evaluation.fit import LabelledPair, fit, split
from tenure.bench.evaluation.resolution import (
    PROVEN_FROM,
    STRESS,
    Report,
    SetReport,
    evaluate,
    wilson,
)
from tenure.bench.name_peers import counts, logic_v2, token_sort
from tenure.bench.script import options_of, write_json
from tenure.resolution.blocking import CANDIDATE_LIMIT, KIND_WEIGHT, block_keys, hit_weight
from tenure.resolution.context import NO_CONTEXT, PairContext
from tenure.resolution.extract import Gazetteer, ShapeExtractor
from tenure.resolution.model import default_model
from tenure.resolution.normalize import normalize
from tenure.resolution.score import score_pair

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also under PYTHONSAFEPATH

from fit_resolution import ALIASES, FOLDS, HELD_OUT_FOLD, read_pairs

BAR = 0.99


def held_out(pairs: Sequence[LabelledPair]) -> Report:
    """Return the report of the shipped model on the clusters its fit never saw."""
    return evaluate(split(pairs, HELD_OUT_FOLD, FOLDS)[1], assume_same_scope=True)


def five_folds(
    pairs: Sequence[LabelledPair], context: PairContext = NO_CONTEXT
) -> dict[str, dict[str, Any]]:
    """Return pooled counts over five fits; a pair between two folds is scored once in each."""
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for fold in range(5):
        train, held = split(pairs, fold)
        report = evaluate(
            held, assume_same_scope=True, model=fit(train, fitted_on={}), context=context
        )
        for row in (report.pooled, *report.sets):
            total[row.name].update(_counts(row))
    return {name: _row(counts) for name, counts in total.items()}


def leave_one_kind_out(pairs: Sequence[LabelledPair]) -> dict[str, dict[str, Any]]:
    """Return counts per kind, scored by a model of the other kinds, and pooled."""
    rows: dict[str, dict[str, Any]] = {}
    pooled: Counter[str] = Counter()
    for kind in sorted({pair.entity_type for pair in pairs}):
        model = fit([pair for pair in pairs if pair.entity_type != kind], fitted_on={})
        unseen = [pair for pair in pairs if pair.entity_type == kind]
        counts = _counts(evaluate(unseen, assume_same_scope=True, model=model).pooled)
        pooled.update(counts)
        rows[kind] = _row(counts)
    return {"pooled": _row(pooled), **rows}


def peer_rows(pairs: Sequence[LabelledPair], scores: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Return the counts of another method's scores, pooled and per kind."""
    total: dict[str, Counter[str]] = {"pooled": Counter()}
    for kind, is_match, decision in counts(pairs, scores):
        row = Counter(pairs=1, matches=is_match)
        row.update(bound=decision == "bind", right=decision == "bind" and is_match)
        row.update(review=decision == "review", review_right=decision == "review" and is_match)
        total["pooled"].update(row)
        total.setdefault(kind, Counter()).update(row)
    return {name: _row(found) for name, found in total.items()}


def print_peers(pairs: Sequence[LabelledPair], folder: Path) -> None:
    """Print what others do with the same pairs."""
    _print("token-sort from 90, all pairs", peer_rows(pairs, token_sort(pairs)))
    try:
        scores = logic_v2(pairs, folder)
    except Unavailable as reason:
        print(f"\nnomenklatura logic-v2: left out, {reason}")
        return
    _print("nomenklatura logic-v2, all pairs", peer_rows(pairs, scores))


def _counts(row: SetReport) -> Counter[str]:
    return Counter(
        pairs=row.pairs,
        matches=row.matches,
        bound=row.bind.n,
        right=row.bind.right,
        review=row.review.n,
        review_right=row.review.right,
    )


def _row(counts: Counter[str]) -> dict[str, Any]:
    precision = wilson(counts["right"], counts["bound"])
    return {
        **counts,
        "precision": precision.share,
        "low": precision.low,
        "high": precision.high,
        "recall": round(counts["right"] / max(counts["matches"], 1), 4),
        "review_share": round(counts["review"] / max(counts["pairs"], 1), 4),
        "proven": counts["bound"] >= PROVEN_FROM,
    }


def blocking(pairs: Sequence[LabelledPair]) -> dict[str, dict[str, float]]:
    """Return, per kind, how often the true alias is among the first candidates."""
    found: dict[str, dict[str, float]] = {}
    for kind in sorted({pair.entity_type for pair in pairs}):
        ours = [pair for pair in pairs if pair.entity_type == kind]
        names = sorted({name for pair in ours for name in (pair.left, pair.right)})
        keys = {name: block_keys(normalize(name, kind)) for name in names}
        index: dict[str, list[str]] = defaultdict(list)
        for name in names:
            for key, _ in keys[name]:
                index[key].append(name)
        df = {key: len(rows) for key, rows in index.items()}
        matches = [pair for pair in ours if pair.is_match]
        hits = 0
        for pair in matches:
            weights: Counter[str] = Counter()
            for key, key_kind in keys[pair.left]:
                weight = hit_weight(
                    key_kind.label, KIND_WEIGHT[key_kind], postings=df[key], total=len(names)
                )
                for name in index[key] if weight is not None else ():
                    weights[name] += weight or 0
            del weights[pair.left]
            best = sorted(weights, key=lambda name: (-weights[name], name))[:CANDIDATE_LIMIT]
            hits += pair.right in best
        found[kind] = {
            "aliases": len(names),
            "keys_per_alias": round(sum(map(len, keys.values())) / len(names), 1),
            "recall": round(hits / len(matches), 4),
            "n": len(matches),
        }
    return found


def times(pairs: Sequence[LabelledPair]) -> dict[str, float]:
    """Return microseconds per call, best of five passes over all pairs."""
    model = default_model()
    forms = [
        (normalize(p.left, p.entity_type), (normalize(p.right, p.entity_type),), p.entity_type)
        for p in pairs
    ]
    gazetteer = Gazetteer((p.left, p.pair_id, p.entity_type) for p in pairs)
    rules = ShapeExtractor()
    text = "Sam Rivera moved to the Chicago office; auth-service calls OrderService (PAY-1432)."

    def best(run: Any, n: int) -> float:
        passes = []
        for _ in range(5):
            began = time.perf_counter()
            run()
            passes.append((time.perf_counter() - began) / n * 1e6)
        return round(min(passes), 2)

    return {
        "normalize": best(lambda: [normalize(p.left, p.entity_type) for p in pairs], len(pairs)),
        "score_pair": best(
            lambda: [score_pair(a, b, kind, NO_CONTEXT, model) for a, b, kind in forms], len(forms)
        ),
        "block_keys": best(lambda: [block_keys(a) for a, _, _ in forms], len(forms)),
        "gazetteer_sentence": best(lambda: [gazetteer.extract(text) for _ in range(500)], 500),
        "rules_sentence": best(lambda: [rules.extract(text) for _ in range(500)], 500),
    }


def _print(title: str, rows: dict[str, dict[str, Any]]) -> None:
    print(f"\n{title}")
    for name, row in rows.items():
        print(
            f"  {name:13} bound {row['right']}/{row['bound']} "
            f"precision {row['precision']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
            f"{'' if row['proven'] else ' (not proven)'}  recall {row['recall']:.3f}"
            f"  review {100 * row['review_share']:.1f} % ({row['review_right']}/{row['review']})"
        )


def main() -> int:
    options = options_of(
        __doc__,
        data=ALIASES,
        json=Path,
        strict=False,
        no_peers=False,
        environments=default_folder(),
    )
    pairs = read_pairs(options.data)
    report = held_out(pairs)
    shipped = {row.name: _row(_counts(row)) for row in (report.pooled, *report.sets)}
    folds, kinds = five_folds(pairs), leave_one_kind_out(pairs)
    recall, cost = blocking(pairs), times(pairs)
    print(f"model {report.model_version}, {len(pairs)} labelled pairs")
    _print("shipped model, held-out third of the clusters", shipped)
    _print("five folds by cluster", folds)
    _print("leave one kind out", kinds)
    for name, context in STRESS.items():
        if name:
            _print(f"stress test: every pair with {name}", five_folds(pairs, context))
    if not options.no_peers:
        print_peers(pairs, options.environments)
    print(f"\nreliability before vetoes (held out; error {report.calibration_error:.3f})")
    for row in report.reliability:
        print(f"  {row.low:.2f}-{row.high:.2f}  n {row.truth.n:5}  true {row.truth.share:.3f}")
    print(f"\nblocking, first {CANDIDATE_LIMIT}: {json.dumps(recall)}")
    print(f"microseconds: {json.dumps(cost)}")
    if options.json:
        found = {"held_out": asdict(report), "folds": folds, "kinds": kinds}
        found |= {"blocking": recall, "microseconds": cost}
        write_json(options.json, found)
    return 1 if options.strict and report.pooled.bind.share < BAR else 0


if __name__ == "__main__":
    sys.exit(main())
