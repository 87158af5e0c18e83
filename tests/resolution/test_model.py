"""The shipped model file: complete, versioned, tamper-evident."""

import json
from dataclasses import replace

import pytest

from tenure.bench.evaluation.fit import model_to_json
from tenure.resolution.compare import COMPARISONS
from tenure.resolution.model import default_model, model_from_json, with_version
from tenure.schema.errors import Fault
from tenure.tests.support.refusals import refused


def test_the_shipped_model_survives_a_round_trip():
    model = default_model()
    assert model_from_json(model_to_json(model)) == model
    assert with_version(model) == model
    assert default_model() is model


def test_weights_never_rise_along_the_levels():
    for row in COMPARISONS:
        weights = [
            weight
            for level, weight in zip(row.levels, default_model().weights[row.name], strict=True)
            if level != "acronym"
        ]
        assert weights == sorted(weights, reverse=True), row.name


def test_the_names_of_an_acronym_weigh_nothing():
    for row in COMPARISONS:
        if row.levels[-1] == "acronym":
            assert default_model().weights[row.name][-1] == 0.0


def test_proposed_weights_are_marked():
    model = default_model()
    assert model.status["short_form"] == "prior"
    assert model.status["name"] == "fitted"
    assert json.loads(model_to_json(model))["context"]["status"] == "prior"
    assert model.context["same_role"] == 0.0
    assert model.shift == 0.0


def test_common_words_tell_less():
    rarity = default_model().rarity_of("organization")
    assert 0 < rarity("technology") < 1000
    assert rarity("zanzibar") == 1000
    assert default_model().rarity_of("person")("mohammad") < 1000


def edited(change):
    raw = json.loads(model_to_json(default_model()))
    change(raw)
    return json.dumps(raw)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda raw: raw["platt"].update(slope=9.0), "edited"),
        (lambda raw: raw["comparisons"].pop("spelling"), "comparisons"),
        (lambda raw: raw.update(normalizer="0"), "normaliser"),
        (lambda raw: raw.update(version="fs-1-000000000000"), "edited"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(change, why):
    with refused(Fault, "invariant_broken", match=why):
        model_from_json(edited(change))


def test_any_other_number_is_another_version():
    model = default_model()
    assert with_version(replace(model, shift=-0.5)).version != model.version
