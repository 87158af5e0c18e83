"""Policies: a changed number changes the digest, and ready ones that take more or spend less."""

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from enum import StrEnum
from itertools import product
from math import inf, nan
from typing import Any

import pytest

from tenure.compiler.budget.profiles import Layer
from tenure.compiler.safety.detect import TextChannel
from tenure.schema.compile_terms import BlockKind, InjectionPolicy, OverflowPolicy
from tenure.schema.errors import InvalidInput
from tenure.schema.layers import HALVING, DecayKind, DecayPolicy, Fading
from tenure.schema.policy import (
    BUDGET_LAYERS,
    DEFAULT,
    SCANNED_CHANNELS,
    BudgetProfileRule,
    CompilePolicy,
    DetectorLimit,
    LayerShare,
    Policy,
    ReadPolicy,
    ResolutionPolicy,
    SignalRule,
    TypeBands,
    WritePolicy,
)
from tenure.schema.presets import PRESETS, ROLES, preset, role_prompt
from tenure.service.compilation.compile import policy_from_json
from tenure.tests.compiler.fake_reader import Bench
from tenure.tests.support.refusals import refused

FIELDS = [
    (group.name, item.name)
    for group in fields(Policy)
    if group.name != "window"
    for item in fields(getattr(DEFAULT, group.name))
]


def _other(value: Any, name: str = "") -> Any:
    """Return another legal value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, StrEnum):
        return next(member for member in type(value) if member is not value)
    if isinstance(value, str):
        other = {"tenant": "project", "broad": "strict", "mask": "omit", "coverage": "mmr",
                 "last": "show", "omit": "show", "high": "moderate"}  # fmt: skip
        return other.get(value, f"{value}x")
    if value == () and name == "types":
        return (TypeBands(type="system", bind_at=0.99),)
    if name == "weakest_level":
        return value - 1
    if name == "attributes":
        return (*value, ("badge", "identifier"))
    if value == () and name == "kinds":
        return (("preference", "sigmoid"),)
    if value == () and name in {"section_costs", "section_tokens"}:
        return (("evidence", 2),)
    if name in {"detectors", "profiles", "signals"}:
        return (*value[:-1], _other_row(value[-1]))
    if isinstance(value, tuple):
        return (*value[:-1], _other(value[-1])) if value else ("hr",)
    return value + (1 if isinstance(value, int) else 0.01)


def _other_row(row: Any) -> Any:
    """Return a legal row of a table with one number changed."""
    if isinstance(row, BudgetProfileRule):
        return replace(row, shares=tuple(replace(share, ceiling=900) for share in row.shares))
    number = "score" if isinstance(row, DetectorLimit) else "weight"
    return replace(row, **{number: getattr(row, number) + 1})


@pytest.mark.parametrize(("group", "name"), FIELDS)
def test_every_field_enters_the_digest(group: str, name: str) -> None:
    part = getattr(DEFAULT, group)
    changed = replace(part, **{name: _other(getattr(part, name), name)})
    assert replace(DEFAULT, **{group: changed}).digest != DEFAULT.digest


def test_the_window_has_a_digest_of_its_own() -> None:
    window = replace(DEFAULT.window, page_tokens=900)
    changed = replace(DEFAULT, window=window)
    assert changed.digest == DEFAULT.digest
    assert changed.to_json() == DEFAULT.to_json()
    assert window.digest != DEFAULT.window.digest
    assert policy_from_json(changed.to_json()) == DEFAULT


def test_all_fields_are_met() -> None:
    assert len(FIELDS) == len(set(FIELDS)) > 40


def test_the_digest_of_the_default_pack_is_stable() -> None:
    """A change here is a change of every envelope's identity: say so in the changelog."""
    assert DEFAULT.digest == "4dd29464b144de65f0b65f468d603799c9034f9a04fa01e531c7c58e553a240d"
    assert Policy().digest == DEFAULT.digest


def test_a_pack_is_stored_as_canonical_json() -> None:
    pack = json.loads(DEFAULT.to_json())
    assert list(pack) == ["compile", "decay", "read", "resolution", "write"]
    detectors = pack["write"].pop("detectors")
    assert detectors[2] == {"channel": "user", "score": 60, "length": 100_000}
    assert pack["write"] == {
        "directive_roles": ["owner", "admin", "steward", "lead"],
        "injection": "quarantine",
        "long_text_chars": 20_000,
        "max_batch": 10_000,
        "max_sources": 64,
        "max_text_chars": 200_000,
        "same_origin_corrects": False,
        "skew_limit_s": 300,
    }


SHARE = LayerShare("evidence", 100, 200)


REST = (LayerShare("memory", 100, 200), LayerShare("conversation", 100, 200))


@pytest.mark.parametrize(
    "rules",
    [
        {"profiles": (BudgetProfileRule("audit", (SHARE,)),)},
        {"profiles": (BudgetProfileRule("default", (SHARE, *REST)),)},
        {"profiles": (BudgetProfileRule("audit", (SHARE, *REST)),) * 2},
        {"profiles": (BudgetProfileRule("", (SHARE, *REST)),) * 2},
        {"profiles": (BudgetProfileRule("audit", (LayerShare("evidence", 701, 800), *REST)),)},
        {"signals": (SignalRule(name="mood", layer="tools", full=1),)},
        {"signals": (SignalRule(name="mood", layer="memory", full=0),)},
        {"signals": (SignalRule(name="mood", layer="memory", full=inf),)},
        {"signals": (SignalRule(name="mood", layer="memory", full=1, weight=1_001),)},
        {"signals": (SignalRule(name="mood", layer="memory", full=1, weight=-1),)},
        {"signals": (SignalRule(name="mood", layer="memory", full=1),) * 2},
    ],
)
def test_tables_of_a_budget_that_contradict_themselves_are_refused(rules: dict[str, Any]) -> None:
    with refused(InvalidInput, "bad_policy"):
        CompilePolicy(**rules)


def _profile_of(**floors: int) -> BudgetProfileRule:
    return BudgetProfileRule(
        "audit", tuple(LayerShare(layer, floor, max(0, floor)) for layer, floor in floors.items())
    )


def test_the_example_that_adds_up_to_110_percent_is_refused() -> None:
    # 50, 22 and 9 % beside 19 % of fixed layers, with 10 % of slack on top: 1,100 permille.
    example = _profile_of(evidence=617, memory=272, conversation=111)
    with pytest.raises(InvalidInput, match="add up to 1000 permille; with a slack of 100"):
        CompilePolicy(profiles=(example,))


def test_a_share_below_nothing_or_above_the_whole_is_refused() -> None:
    for floor, ceiling in ((-1, 200), (5, 1_001), (300, 200)):
        share = LayerShare("evidence", floor, ceiling)
        with pytest.raises(InvalidInput, match="must rise within"):
            CompilePolicy(profiles=(BudgetProfileRule("audit", (share, *REST)),))


def test_least_shares_may_take_all_but_the_slack() -> None:
    share = LayerShare("evidence", 700, 1_000)
    CompilePolicy(profiles=(BudgetProfileRule("audit", (share, *REST)),))


def test_tables_name_the_compilers_layers_and_channels() -> None:
    assert set(BUDGET_LAYERS) == set(Layer)
    assert set(SCANNED_CHANNELS) == set(TextChannel)


def test_one_number_is_changed_by_replacing_it() -> None:
    pack = Policy(write=replace(WritePolicy(), skew_limit_s=60))
    assert pack.write.skew_limit_s == 60
    assert DEFAULT.write.skew_limit_s == 300


LIMITS = DEFAULT.write.detectors
NUMBERS: dict[tuple[type, str], Sequence[Any]] = {
    (CompilePolicy, "relevance_floor"): (-3, 1.1),
    (CompilePolicy, "bm25_k1"): (inf, nan),
    (CompilePolicy, "recap_tokens"): (0,),
    (CompilePolicy, "history_full_turns"): (-1,),
    (CompilePolicy, "weakest_level"): (5,),
    (CompilePolicy, "tier_cuts"): ((0.1, 0.5, 0.9), (1.5, 0.5, 0.1)),
    (CompilePolicy, "fidelity_pass"): (0.5,),
    (CompilePolicy, "token_price"): (-1.0,),
    (CompilePolicy, "activation"): ("sometimes",),
    (CompilePolicy, "personal"): ("sometimes",),
    (CompilePolicy, "evidence_selection"): ("sometimes",),
    (CompilePolicy, "structured_accuracy"): ("sometimes",),
    (WritePolicy, "max_batch"): (0,),
    (ReadPolicy, "slot_extras"): (-1,),
    (ResolutionPolicy, "audit_share"): (2,),
    (ResolutionPolicy, "common_family_name"): (0,),
    (ResolutionPolicy, "bind_at"): (0.70, 1.01),
    (ResolutionPolicy, "review_above"): (0.39,),
    (ResolutionPolicy, "suggest_from"): (-0.1,),
    (ResolutionPolicy, "person_context_scope"): ("world",),
    (ResolutionPolicy, "types"): ((TypeBands(type="system", bind_at=0.5),),),
    (DecayPolicy, "kinds"): ((("preferences", "step"),), (("preference", "linear"),)),
    (DecayPolicy, "step_left"): (1.1,),
    (DecayPolicy, "steepness"): (0.0, 501.0),
    (WritePolicy, "detectors"): [
        (*LIMITS[:-1], replace(LIMITS[-1], **change))
        for change in ({"score": 0}, {"length": 0}, {"channel": "mail"})
    ],
}
"""Values of one field that nothing could keep, or that contradict the others."""


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_a_value_that_nothing_could_keep_is_refused(kind: type, name: str) -> None:
    for value in NUMBERS[kind, name]:
        with refused(InvalidInput, "bad_policy", match=f"{name}|must rise|cannot fade"):
            kind(**{name: value})


@pytest.mark.parametrize(
    ("names", "key", "numbers"),
    [
        ("section_shares section_weights", "evidence", (1.1, -0.1, nan)),
        ("section_tokens section_costs", "evidence", (-1, inf, nan)),
        ("section_shares section_weights section_tokens section_costs", "evidense", (0.5,)),
        ("quality_floors quality_ceilings", "signal_density", (1.1, -0.1)),
        ("quality_floors quality_ceilings", "nois", (0.5,)),
    ],
)
def test_a_number_of_a_table_is_in_its_range_and_of_a_known_name(
    names: str, key: str, numbers: tuple[float, ...]
) -> None:
    for name, number in product(names.split(), numbers):
        with refused(InvalidInput, "bad_policy", match=key):
            CompilePolicy(**{name: ((key, number),)})


def test_a_word_of_a_policy_counts_as_its_member() -> None:
    """`reject` as a word was read as the default before: what it refuses came in."""
    write, rules = WritePolicy(injection="reject"), CompilePolicy(overflow="paginate")  # type: ignore[arg-type]
    assert write.injection is InjectionPolicy.REJECT
    assert rules.overflow is OverflowPolicy.PAGINATE
    assert (
        Policy(write=write).digest
        == Policy(write=WritePolicy(injection=InjectionPolicy.REJECT)).digest
    )


@pytest.mark.parametrize(
    ("kind", "word"), [(WritePolicy, {"injection": "regect"}), (CompilePolicy, {"overflow": "x"})]
)
def test_a_word_that_a_policy_does_not_know_is_refused_when_it_is_made(
    kind: type, word: dict[str, str]
) -> None:
    with refused(InvalidInput, "unknown_vocabulary", match="unknown"):
        kind(**word)


def test_a_type_fades_along_its_own_curve_and_all_others_by_halves() -> None:
    decay = DecayPolicy(kinds=(("preference", "step"), ("inferred_belief", "sigmoid")), step_left=0)
    assert decay.fading("preference") == Fading(DecayKind.STEP, 0, 10.0)
    assert decay.fading("inferred_belief").kind is DecayKind.SIGMOID
    assert decay.fading("identity_fact") is HALVING
    assert policy_from_json(Policy(decay=decay).to_json()).decay == decay


def test_bands_may_touch_where_they_stay_distinct() -> None:
    assert ResolutionPolicy(suggest_from=0.7, bind_at=1.0).suggest_from == 0.7


def test_a_type_may_have_bands_of_its_own() -> None:
    own = TypeBands(type="system", bind_at=0.99, suggest_from=0.5)
    policy = ResolutionPolicy(types=(own,), max_cluster=7)
    of_systems = policy.of_type("system")
    assert (of_systems.bind_at, of_systems.review_above, of_systems.suggest_from) == (
        0.99,
        0.7,
        0.5,
    )
    assert of_systems.max_cluster == 7
    assert policy.of_type("person") is policy
    assert policy_from_json(Policy(resolution=policy).to_json()).resolution == policy


# ---- Ready policies, one that takes more and one that spends less


def test_each_preset_is_a_policy_of_its_own() -> None:
    assert preset("default") == DEFAULT
    assert len({preset(name).digest for name in PRESETS}) == len(PRESETS) == 4


def test_an_unknown_preset_or_role_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'cost_first'"):
        preset("cost_frist")
    with pytest.raises(InvalidInput, match="did you mean 'planner'"):
        role_prompt("planer")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_stands_among_the_cached_rules_of_a_task(role: str) -> None:
    envelope = Bench().compile(query="alpha", skills=[role_prompt(role)])
    (block,) = (b for b in envelope.blocks if b.section == "skills")
    assert role_prompt(role) in block.text
    assert block.kind is BlockKind.INSTRUCTION
    assert role.capitalize() in block.text


def test_the_cheap_one_compiles_less_of_the_same_world_than_the_thorough_one() -> None:
    def held(policy: Policy) -> int:
        bench = Bench(policy=policy)
        for i in range(40):
            words = "alpha beta gamma delta".split()[: 1 + i % 4]
            text = f"Note {i}: {' '.join(words)} {'filler ' * (i % 9)}"
            bench.world.add(f"n{i}", text=text, claim=text)
        return len(bench.compile(query="alpha beta gamma delta").trace.compiled_objects)

    cost, normal, quality = (held(preset(n)) for n in ("cost_first", "default", "quality_first"))
    assert cost < normal <= quality


@pytest.mark.parametrize(
    "name", ["text_candidates", "text_beside_vectors", "vector_candidates", "section_items"]
)
def test_the_thorough_one_looks_at_more_and_the_cheap_one_at_less(name: str) -> None:
    cheap, usual, thorough = (
        getattr(preset(each).compile, name) for each in ("cost_first", "default", "quality_first")
    )
    assert cheap < usual < thorough
