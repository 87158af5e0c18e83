"""The mapping table covers every section, and layers, phases and memory kinds agree with it."""

import pytest

from tenure.compiler.render.cache_plan import ZONES
from tenure.compiler.trace.manifest import Manifest
from tenure.schema.compile_terms import (
    INJECTORS,
    PLACES,
    QUARANTINE_REASONS,
    SECTIONS,
    USUAL_SHARES,
    BlockKind,
    CacheStrategy,
    CompiledAs,
    Eviction,
    Ladder,
    PackLayer,
    Phase,
    PriorityTier,
    Reason,
    SectionName,
    Stability,
    Stage,
    caps,
    layer_tokens,
    layers_above,
    memory_kind,
    phase_of,
    strategy_of,
    wire_key,
)
from tenure.schema.presets import preset
from tenure.schema.vocabulary import Authority, ObjectType, StateLayer
from tenure.tests.compiler.fake_reader import Bench

WIRE = """
system_policy tools tenant_policy project_policy skills task_contract memory guidance
pinned_knowledge history evidence turn_memory errors turn_guidance task_progress acceptance
user_request goal_recap
""".split()


def test_the_ten_stages_stand_in_order() -> None:
    assert " ".join(Stage) == (
        "normalize resolve gate validate rank rescue convert contain order emit"
    )


def test_the_table_covers_every_section_in_order() -> None:
    assert list(SECTIONS) == list(SectionName)
    assert all(rule.name is name for name, rule in SECTIONS.items())
    assert [rule.ordinal for rule in SECTIONS.values()] == list(range(18))


def test_the_wire_order() -> None:
    assert [name.value for name in sorted(SectionName, key=wire_key)] == WIRE


def test_no_two_sections_share_a_place_on_the_wire() -> None:
    assert len({wire_key(name) for name in SectionName}) == len(SectionName)


def test_what_changes_more_often_stands_later() -> None:
    order = [SECTIONS[SectionName(name)].stability for name in WIRE]
    assert order == sorted(order, key=list(Stability).index)


def test_evidence_opens_the_turn_and_the_recap_ends_the_text() -> None:
    turn = [name for name in WIRE if SECTIONS[SectionName(name)].stability is Stability.TURN]
    assert (turn[0], turn[-1]) == ("evidence", "goal_recap")


def test_retrieved_text_is_only_ever_data() -> None:
    for rule in SECTIONS.values():
        assert 0 <= rule.tier <= 4
        assert 0 <= rule.authority <= 4
        assert rule.authority < 4 or rule.kind is BlockKind.DATA


def test_the_required_sections() -> None:
    assert {name.value for name, rule in SECTIONS.items() if rule.required} == set(
        "tools system_policy tenant_policy project_policy skills task_contract task_progress "
        "acceptance user_request goal_recap".split()
    )


def test_each_rung_of_the_ladder_has_its_word() -> None:
    assert [level.compiled_as.value for level in Ladder] == [
        "evidence", "reference", "scoped_memory", "task_context", "behavioral_guidance",
        "hard_constraint",
    ]  # fmt: skip
    assert len(CompiledAs) == len(Ladder)


@pytest.mark.parametrize("reason", Reason)
def test_three_reasons_quarantine(reason: Reason) -> None:
    expected = reason.value in (
        "conflicting_claim_unresolved",
        "policy_hold",
        "injection_suspected",
    )
    assert (reason in QUARANTINE_REASONS) is expected


def test_irrelevant_is_the_last_tier() -> None:
    assert " ".join(PriorityTier) == "critical important useful minimal irrelevant"


# ---- Layers, eviction rules and kinds of memory agree with the one mapping table


def test_every_section_has_a_layer_and_an_eviction_rule() -> None:
    assert list(PLACES) == list(SectionName)
    assert {layer for layer, _ in PLACES.values()} == set(PackLayer) - {PackLayer.SLACK}
    assert {rule for _, rule in PLACES.values()} == set(Eviction)


def test_required_sections_are_those_no_budget_can_empty() -> None:
    kept = [name for name, (_, rule) in PLACES.items() if rule.keeps]
    assert kept == [name for name, rule in SECTIONS.items() if rule.required]


def test_the_tokens_of_sections_add_up_by_layer() -> None:
    found = layer_tokens({"evidence": 7, "pinned_knowledge": 3, "history": 5}, slack=11)
    assert list(found) == [layer.value for layer in PackLayer]
    assert found["evidence"] == 10
    assert found["conversation"] == 5
    assert (found["slack"], sum(found.values())) == (11, 26)


def test_the_usual_shares_are_those_of_the_source() -> None:
    shares = {layer.value: share for layer, share in USUAL_SHARES.items()}
    assert shares == {
        "instruction": (60, 80),
        "task": (60, 100),
        "tools": (40, 60),
        "slack": (100, 150),
    }


def test_a_fixed_layer_above_its_usual_share_is_told() -> None:
    usual = {"instruction": 80, "task": 100, "tools": 60, "evidence": 500, "slack": 260}
    assert layers_above(usual, 1_000) == {}
    assert layers_above({**usual, "tools": 61}, 1_000) == {"tools": 61}
    assert list(layers_above({**usual, "tools": 90, "task": 110}, 1_000)) == ["task", "tools"]
    assert layers_above(usual, 0)


@pytest.mark.parametrize(
    ("object_type", "layer", "source", "kind"),
    [
        ("identity_fact", "session", "user_statement", "session"),
        ("preference", "task", "user_statement", "session"),
        ("preference", "user", "user_statement", "procedural"),
        ("actionable_constraint", "user", "agent", "procedural"),
        ("tool_schema", "tool", "tool", "procedural"),
        ("project_decision", "project", "user_statement", "episodic"),
        ("retrieved_passage", "user", "agent", "episodic"),
        ("retrieved_passage", "corpus", "document", "semantic"),
        ("identity_fact", "tenant", "system_of_record", "semantic"),
    ],
)
def test_an_object_is_of_one_kind_of_memory(
    object_type: str, layer: str, source: str, kind: str
) -> None:
    assert memory_kind(ObjectType(object_type), StateLayer(layer), source).value == kind


def test_four_levels_have_a_letter_of_the_instruction_hierarchy() -> None:
    assert [level.hierarchy for level in Authority] == ["S", "D", "U", "", "T"]


# ---- The three phases of source 004 are our stability classes, and its budgets are caps


def test_phases_stand_on_the_wire_in_their_order() -> None:
    order = [phase_of(name) for name in sorted(SectionName, key=wire_key)]
    assert order == sorted(order, key=list(Phase).index)
    assert set(order) == set(Phase)
    strategies = [strategy_of(name) for name in sorted(SectionName, key=wire_key)]
    assert strategies == sorted(strategies, key=list(CacheStrategy).index)


def test_a_strategy_says_which_zones_a_provider_may_keep() -> None:
    kept = {CacheStrategy.STABLE: (1, 2), CacheStrategy.SESSION: (3, 4), CacheStrategy.DYNAMIC: ()}
    for name in SectionName:
        zone = [n for n, each in enumerate(ZONES, 1) if each is SECTIONS[name].stability]
        assert set(zone) <= set(kept[strategy_of(name)]), name
        assert bool(zone) is (strategy_of(name) is not CacheStrategy.DYNAMIC)


def test_the_nine_injectors_fill_sections_of_their_own() -> None:
    filled = [section for injector in INJECTORS for section in injector.sections]
    assert len(INJECTORS) == 9
    assert len(filled) == len(set(filled))
    assert sum(injector.most_tokens or 0 for injector in INJECTORS) == 7_900
    first = [phase_of(injector.sections[0]) for injector in INJECTORS]
    assert first == [Phase.SYSTEM] * 3 + [Phase.USER_CONTEXT] * 3 + [Phase.RUNTIME] * 3


def test_only_what_may_be_dropped_is_capped() -> None:
    assert dict(caps()) == {"memory": 500, "pinned_knowledge": 800, "guidance": 300}
    assert not any(SECTIONS[SectionName(name)].required for name, _ in caps())


def test_the_preset_holds_each_section_to_its_budget() -> None:
    def manifest(name: str) -> Manifest:
        bench = Bench(policy=preset(name))
        # Each within the length to which the word of a user directs an answer.
        for number in range(20):
            bench.world.add(
                f"rule {number}", subject="Ann", slot="answer_rule", value=f"word{number} " * 11,
                scope={"user": "ann"},
            )  # fmt: skip
        return bench.compile(query="x", budget_tokens=40_000).manifest

    assert dict(manifest("default").layer_budgets)["guidance"] > 400
    assert 100 < dict(manifest("three_phase").layer_budgets)["guidance"] <= 310
