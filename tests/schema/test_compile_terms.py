"""The mapping table covers every section, and the wire order follows from it."""

from __future__ import annotations

import pytest

from tenure.schema.compile_terms import (
    QUARANTINE_REASONS,
    SECTIONS,
    BlockKind,
    CompiledAs,
    Ladder,
    PriorityTier,
    Reason,
    SectionName,
    Stability,
    Stage,
    wire_key,
)

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
