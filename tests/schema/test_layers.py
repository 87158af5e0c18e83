"""Layers, object types and decay hold the numbers of their tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import InvalidInput
from tenure.schema.layers import HALVING, LAYERS, OBJECT_TYPES, DecayKind, DecayRule, Fading
from tenure.schema.slots import object_type_of
from tenure.schema.vocabulary import ObjectType, SlotKind, StateLayer
from tenure.tests.support.refusals import refused

DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("days", "threshold"),
    [(0, 0.5), (-1, 0.5), (math.nan, 0.5), (365_001, 0.5), (1, -0.1), (1, 1.1), (1, math.nan)],
)
def test_an_impossible_decay_has_no_constructor(days: float, threshold: float) -> None:
    with refused(InvalidInput, "bad_decay_rule"):
        DecayRule(days, threshold)


@pytest.mark.parametrize(
    ("age_days", "strength"), [(0, 1.0), (-5, 1.0), (30, 0.5), (60, 0.25), (15, 0.707106781)]
)
def test_strength_halves_with_each_half_life(age_days: int, strength: float) -> None:
    assert DecayRule(30, 0.3).strength(age_days * DAY) == strength


def test_an_object_is_due_below_its_threshold_and_not_at_it() -> None:
    rule = DecayRule(30, 0.25)
    assert not rule.due(60 * DAY)
    assert rule.due(60 * DAY + 60_000_000)
    assert not DecayRule(30, 0).due(10**9 * DAY)


@given(st.floats(0.001, 365_000), st.integers(0, 10**18), st.integers(0, 10**18))
def test_strength_never_rises_with_age(days: float, a: int, b: int) -> None:
    rule = DecayRule(days, 0.5)
    assert 0 <= rule.strength(max(a, b)) <= rule.strength(min(a, b)) <= 1


def test_every_layer_has_its_profile() -> None:
    assert set(LAYERS) == set(StateLayer)
    assert {layer.value: (p.retirement.value, p.needs, p.takes) for layer, p in LAYERS.items()} == {
        "session": ("archive", "session", ("user", "session")),
        "task": ("archive", "session", ("user", "session")),
        "project": ("archive", "project", ("project",)),
        "user": ("trigger_user_confirmation", None, ("user",)),
        "tenant": ("archive", None, ()),
        "corpus": ("archive", None, ()),
        "tool": ("archive", None, ()),
        "policy": ("archive", None, ()),
        "belief": ("demote_to_archival", None, ()),
    }
    decays = {layer.value: p.decay for layer, p in LAYERS.items() if p.decay}
    assert decays == {"corpus": DecayRule(30, 0.30), "belief": DecayRule(30, 0.50)}
    assert all(p.lifespan and p.isolation and p.risk for p in LAYERS.values())


def test_every_object_type_has_its_tenure() -> None:
    ask, archive = "trigger_user_confirmation", "archive"
    assert {
        t.value: (p.layer.value, p.decay, p.retirement.value) for t, p in OBJECT_TYPES.items()
    } == {
        "preference": ("user", DecayRule(180, 0.25), ask),
        "identity_fact": ("tenant", DecayRule(730, 0.25), ask),
        "project_decision": ("project", None, archive),
        "retrieved_passage": ("corpus", DecayRule(30, 0.30), archive),
        "policy_rule": ("policy", None, archive),
        "tool_schema": ("tool", None, archive),
        "inferred_belief": ("belief", DecayRule(30, 0.50), "demote_to_archival"),
        "actionable_constraint": ("user", DecayRule(90, 0.25), ask),
    }


def test_the_object_type_follows_the_kind_of_the_slot() -> None:
    stated = {
        SlotKind.PREFERENCE: ObjectType.PREFERENCE,
        SlotKind.DECISION: ObjectType.PROJECT_DECISION,
        SlotKind.DIRECTIVE: ObjectType.ACTIONABLE_CONSTRAINT,
        SlotKind.BELIEF: ObjectType.INFERRED_BELIEF,
    }
    for kind in SlotKind:
        assert object_type_of(kind, 4) is stated.get(kind, ObjectType.IDENTITY_FACT)


@pytest.mark.parametrize("level", range(5))
def test_without_a_slot_retrieved_text_is_a_passage(level: int) -> None:
    passage, fact = ObjectType.RETRIEVED_PASSAGE, ObjectType.IDENTITY_FACT
    assert object_type_of(None, level) is (passage if level == 4 else fact)


# ---- Curves of decay: where they start, where they end, and that they never rise


ages = st.floats(-10, 10_000)


fadings = st.builds(Fading, st.sampled_from(DecayKind), st.floats(0, 1), st.floats(0.001, 500))


@given(fadings, ages, ages)
def test_a_curve_starts_whole_and_never_rises(fading: Fading, a: float, b: float) -> None:
    assert fading.strength(0) == fading.strength(-3) == 1.0
    assert 0 <= fading.strength(max(a, b)) <= fading.strength(min(a, b)) <= 1


@pytest.mark.parametrize("gamma", [0.3, 0.05])
def test_a_rate_is_a_half_life_of_ln_2_over_gamma(gamma: float) -> None:
    for turns in range(40):
        strength = HALVING.strength(turns * gamma / math.log(2))
        assert strength == pytest.approx(math.exp(-gamma * turns), abs=1e-9)


def test_a_step_keeps_all_and_then_a_share() -> None:
    step = Fading(DecayKind.STEP, left=0.25)
    assert [step.strength(age) for age in (0, 0.5, 1, 1.000001, 50)] == [1, 1, 1, 0.25, 0.25]


@pytest.mark.parametrize("kappa", [0.5, 5.0, 40.0])
def test_a_sigmoid_is_the_printed_one_divided_by_its_start(kappa: float) -> None:
    def printed(age: float) -> float:
        return 1 / (1 + math.exp(kappa * (age - 1)))

    fading = Fading(DecayKind.SIGMOID, steepness=kappa)
    for tenth in range(30):
        age = tenth / 10
        assert fading.strength(age) == pytest.approx(printed(age) / printed(0), abs=2e-9)
    assert fading.strength(2_000) == 0.0
