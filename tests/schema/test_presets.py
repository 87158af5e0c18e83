"""Ready policies, one that takes more and one that spends less."""

from __future__ import annotations

import pytest

from tenure.schema.compile_terms import BlockKind
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import DEFAULT, Policy
from tenure.schema.presets import PRESETS, ROLES, preset, role_prompt
from tenure.tests.compiler.fake_reader import Bench


def test_each_preset_is_a_policy_of_its_own() -> None:
    assert preset("default") == DEFAULT
    assert len({preset(name).digest for name in PRESETS}) == len(PRESETS) == 4


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'cost_first'"):
        preset("cost_frist")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_stands_among_the_cached_rules_of_a_task(role: str) -> None:
    envelope = Bench().compile(query="alpha", skills=[role_prompt(role)])
    (block,) = (b for b in envelope.blocks if b.section == "skills")
    assert role_prompt(role) in block.text
    assert block.kind is BlockKind.INSTRUCTION
    assert role.capitalize() in block.text


def test_an_unknown_role_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'planner'"):
        role_prompt("planer")


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
