"""The three phases of source 004 are our stability classes, and its budgets are caps."""

from __future__ import annotations

from tenure.compiler.render.cache_plan import ZONES
from tenure.compiler.trace.manifest import Manifest
from tenure.schema.compile_terms import SECTIONS, SectionName, wire_key
from tenure.schema.phases import INJECTORS, CacheStrategy, Phase, caps, phase_of, strategy_of
from tenure.schema.presets import preset
from tenure.tests.compiler.fake_reader import Bench


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
        for slot in ("response_style", "code_style", "output_format", "response_length"):
            bench.world.add(
                slot, subject="Ann", slot=slot, value="word " * 90, scope={"user": "ann"}
            )
        return bench.compile(query="x", budget_tokens=40_000).manifest

    assert dict(manifest("default").layer_budgets)["guidance"] > 400
    assert 100 < dict(manifest("three_phase").layer_budgets)["guidance"] <= 310
