"""Fitting and evaluating: deterministic, split by cluster, honest about n."""

import math
import os
import random
import sys
from pathlib import Path

import pytest

from tenure.bench.evaluation.fit import CalibrationLabel, LabelledPair, bucket, fit, platt, split
from tenure.bench.evaluation.resolution import (
    STRESS,
    evaluate,
    pairs_from_rows,
    refit_platt,
    wilson,
)
from tenure.resolution.compare import COMPARISONS
from tenure.resolution.context import PairContext
from tenure.resolution.model import default_model
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TENURE_SHARED", ROOT.parent / "shared"))


def pair(index, left, right, is_match, *, entity_type="system", context=None):
    return LabelledPair(
        pair_id=f"p{index}",
        entity_type=entity_type,
        left=left,
        right=right,
        is_match=is_match,
        left_cluster=f"c{index}",
        right_cluster=f"c{index}" if is_match else f"d{index}",
        context=context or PairContext(),
    )


def some_pairs(n=300):
    """Matches with equal or misspelt names, and different names."""
    rng = random.Random(7)
    letters = "bcdfghklmnprstvw"
    pairs = []
    for index in range(n):
        word = "".join(rng.choice(letters) + rng.choice("aeiou") for _ in range(5))
        other = "".join(rng.choice(letters) + rng.choice("aeiou") for _ in range(5))
        spelt = (word, word + " service", word[:-2] + word[-1] + word[-2], other)[index % 4]
        pairs.append(pair(index, f"{word} service", f"{spelt}", index % 4 in {0, 1, 2}))
    return pairs


def test_the_same_pairs_give_the_same_model():
    pairs = some_pairs(120)
    assert fit(pairs, fitted_on={}) == fit(list(pairs), fitted_on={})
    assert fit(pairs, fitted_on={}).version != fit(pairs[1:], fitted_on={}).version


def test_fitted_weights_never_rise_along_the_levels():
    model = fit(some_pairs(), fitted_on={})
    for row in COMPARISONS:
        weights = list(model.weights[row.name])
        if row.levels[-1] == "acronym":
            assert weights.pop() == 0.0
        assert weights == sorted(weights, reverse=True), row.name


def test_no_held_out_cluster_is_trained_on():
    pairs = some_pairs()
    train, held = split(pairs, 1)
    assert len(train) + len(held) == len(pairs)
    for one in train:
        assert bucket(one.left_cluster, 5) != 1 != bucket(one.right_cluster, 5)
    assert all(1 in {bucket(one.left_cluster, 5), bucket(one.right_cluster, 5)} for one in held)


def test_platt_finds_the_line_that_made_the_labels():
    rng = random.Random(3)
    scored = []
    for _ in range(20_000):
        value = rng.uniform(-6, 6)
        truth = rng.random() < 1 / (1 + math.exp(-(0.5 * value - 0.4)))
        scored.append(CalibrationLabel(value, 0.0, truth))
    share = sum(one.truth for one in scored) / len(scored)
    slope, intercept = platt(scored, share)
    assert slope == pytest.approx(0.5, abs=0.03)
    assert intercept == pytest.approx(-0.4, abs=0.06)


def test_platt_survives_evidence_that_separates_or_says_nothing():
    apart = [CalibrationLabel(float(value), 0.0, value > 0) for value in range(-20, 21)]
    slope, _ = platt(apart)
    assert slope > 1
    assert math.isfinite(slope)
    flat = platt([CalibrationLabel(1.0, 0.0, True), CalibrationLabel(1.0, 0.0, False)], 0.5)
    assert flat[0] + flat[1] == pytest.approx(0.0, abs=1e-4)
    assert all(math.isfinite(number) for number in platt([]))


def test_platt_leaves_context_alone():
    plain = [CalibrationLabel(float(v), 0.0, (v > 0) != (v % 4 == 0)) for v in range(-9, 10)]
    moved = [CalibrationLabel(one.value, 1.0, one.truth) for one in plain]
    (slope, intercept), (same, lower) = platt(plain), platt(moved)
    assert same == pytest.approx(slope, abs=1e-3)
    assert lower == pytest.approx(intercept - 1.0, abs=1e-2)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(0, 0, 0.0, 1.0), (294, 294, 0.9871, 1.0), (1, 2, 0.0945, 0.9055), (0, 10, 0.0, 0.2775)],
)
def test_wilson_intervals(right, n, low, high):
    found = wilson(right, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def alias_row(**fields):
    columns = "pair_id kind name1 name2 is_match cluster1 cluster2".split()
    return dict(zip(columns, ("x", "person", "A", "B", "1", "c", "d"), strict=True)) | fields


def test_rows_of_the_alias_files_become_pairs():
    (found,) = pairs_from_rows([alias_row()])
    assert (found.entity_type, found.is_match, found.right_cluster) == ("person", True, "d")


@pytest.mark.parametrize(
    ("label", "truth"),
    [("1", True), ("TRUE", True), (" yes", True), ("0", False), ("false", False), ("No", False)],
)
def test_a_label_is_read_however_it_is_written(label, truth):
    (found,) = pairs_from_rows([alias_row(is_match=label)])
    assert found.is_match is truth


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"is_match": "maybe"}, "bad_label"),
        ({"is_match": ""}, "bad_label"),
        ({"kind": "persn"}, "unknown_vocabulary"),
    ],
)
def test_a_row_that_says_nothing_known_is_refused(fields, code):
    with refused(InvalidInput, code):
        pairs_from_rows([alias_row(**fields)])


def test_a_stress_test_gives_every_pair_its_context():
    pairs = [pair(0, "Anna Schmidt", "Anna Schmitt", False, entity_type="person")]
    plain = evaluate(pairs, assume_same_scope=True)
    crowded = evaluate(pairs, assume_same_scope=True, context=STRESS["both"])
    assert crowded.calibration_error > plain.calibration_error
    assert crowded.pooled.bind.n == 0


def test_a_report_counts_every_pair_once():
    pairs = [
        pair(0, "Order Service", "OrderService", True),
        pair(1, "Order Service", "Order Service", False),
        pair(2, "Data Platform", "Data Platfrm", True),
        pair(3, "Room 101", "Room 102", False),
        pair(4, "Alpha", "Omega", True),
        pair(5, "Sam Rivera", "Sam Rivera", True, entity_type="person"),
        pair(6, "frontend service prod", "frontend service dev", False),
    ]
    report = evaluate(pairs, assume_same_scope=True)
    assert (report.pooled.pairs, report.pooled.matches) == (7, 4)
    assert (report.pooled.bind.right, report.pooled.bind.n) == (2, 3)
    assert report.false_binds == ("p1",)
    assert report.pooled.recall == 0.5
    assert (report.pooled.review.n, report.pooled.suggested, report.pooled.missed) == (1, 1, 1)
    assert [row.name for row in report.sets] == ["person", "system"]
    assert sum(row.truth.n for row in report.reliability) == 7
    assert [cut.threshold for cut in report.thresholds] == [0.95, 0.90, 0.80, 0.70, 0.40]
    assert report.thresholds[0].precision == report.pooled.bind
    assert not report.pooled.proven


def test_assuming_one_scope_only_lifts_the_veto_on_persons():
    pairs = [pair(0, "Sam Rivera", "Sam Rivera", True, entity_type="person")]
    assert evaluate(pairs, assume_same_scope=True).pooled.bind.n == 1
    assert evaluate(pairs, assume_same_scope=False).pooled.bind.n == 0


def test_no_pairs_give_an_empty_report():
    report = evaluate([], assume_same_scope=True)
    assert (report.pooled.recall, report.calibration_error, report.sets) == (0.0, 0.0, ())


def test_a_refit_that_holds_is_a_new_version():
    found = refit_platt(some_pairs(600), default_model())
    assert found.refused == ""
    assert found.model.version != default_model().version
    assert found.model.weights == default_model().weights
    assert found.held_out.share >= 0.99


def test_a_refit_that_merges_wrongly_is_refused():
    wrong = [
        pair(index, f"name{index} service", f"name{index} service", index % 10 != 0)
        for index in range(400)
    ] + [pair(1000 + index, f"alpha{index}x", f"omega{index}y", False) for index in range(400)]
    found = refit_platt(wrong, default_model())
    assert found.model is None
    assert "below 0.99" in found.refused


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (some_pairs(199), "200 are needed"),
        ([pair(index, "a b", "a b", True) for index in range(300)], "one kind"),
        (
            [pair(i, "same name", "same name", False) for i in range(200)]
            + [pair(300 + i, "alpha", "omega", True) for i in range(200)],
            "less probability",
        ),
        (
            [pair(i, "Order Service", "Orders Service", i % 3 > 0) for i in range(300)]
            + [pair(400 + i, "alpha", "omega", False) for i in range(100)],
            "no held-out pair",
        ),
    ],
)
def test_a_refit_without_proof_is_refused(pairs, why):
    found = refit_platt(pairs, default_model())
    assert found.model is None
    assert why in found.refused


@pytest.fixture(scope="module")
def fit_script():
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        import fit_resolution
    finally:
        sys.path.pop(0)
    return fit_resolution


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder is not here")
class TestSharedData:
    def test_the_shipped_model_is_what_the_script_fits(self, fit_script):
        shipped = (ROOT / "resolution" / "model.json").read_text(encoding="utf-8")
        assert fit_script.fitted_file(SHARED / "data" / "aliases") == shipped

    def test_held_out_precision_holds_the_bar(self, fit_script):
        pairs = fit_script.read_pairs(SHARED / "data" / "aliases")
        held = split(pairs, fit_script.HELD_OUT_FOLD, fit_script.FOLDS)[1]
        report = evaluate(held, assume_same_scope=True)
        assert report.pooled.bind.n >= 50
        assert report.pooled.bind.share >= 0.99
