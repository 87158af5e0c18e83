"""Ready policies, one that takes more and one that spends less."""

from __future__ import annotations

import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.policy import DEFAULT, Policy
from tenure.schema.presets import PRESETS, preset
from tenure.tests.compiler.fake_reader import Bench


def test_each_preset_is_a_policy_of_its_own() -> None:
    assert preset("default") == DEFAULT
    assert len({preset(name).digest for name in PRESETS}) == len(PRESETS) == 4


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'cost_first'"):
        preset("cost_frist")


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
