"""Layers, eviction rules and kinds of memory agree with the one mapping table."""

from __future__ import annotations

import pytest

from tenure.schema.compile_terms import SECTIONS, SectionName
from tenure.schema.crosswalk import (
    PLACES,
    USUAL_SHARES,
    Eviction,
    PackLayer,
    layer_tokens,
    layers_above,
    memory_kind,
)
from tenure.schema.vocabulary import Authority, ObjectType, StateLayer


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
