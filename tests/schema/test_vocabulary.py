"""Every fixed list holds exactly the words of its source, and refuses any other."""

from enum import StrEnum

import pytest

from tenure.schema import vocabulary as v
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (v.ObjectType, "preference identity_fact project_decision retrieved_passage policy_rule "
         "tool_schema inferred_belief actionable_constraint"),
        (v.Classification, "public restricted confidential highly_restricted"),
        (v.Status, "clean disputed overridden quarantined erased"),
        (v.StateLayer, "session task project user tenant corpus tool policy belief"),
        (v.RetirementRule, "archive hard_delete demote_to_archival trigger_user_confirmation"),
        (v.Sensitivity, "personal special_personal financial credential legal_privileged "
         "commercial_secret"),
        (v.Op, "assert correct retract delete deny"),
        (v.Outcome, "quarantined refused pending_review disputed overridden clipped confirmed "
         "accepted"),
        (v.ClaimVerdict, "wins loses ties confirms apart"),
        (v.SlotStatus, "clean disputed denied unknown erased"),
        (v.Cardinality, "one many"),
        (v.Precedence, "authority source_rank"),
        (v.ValueType, "string text integer number boolean instant date partial_date entity json"),
        (v.SlotKind, "attribute state measurement identifier contact preference directive decision "
         "belief hierarchy membership ownership dependency authorship location association "
         "structure"),
        (v.EdgeKind, "SUPERSEDES OVERRIDES CONFLICTS_WITH CONFIRMS DERIVED_FROM"),
        (v.ActionKind, "settle_tie confirm_due reverify_belief regenerate_summary "
         "review_quarantine retire_approval merge_conflict confirm_directive"),
        (v.EntityState, "active pending merged erased"),
        (v.Decision, "bind review new"),
        (v.JudgementVerdict, "MATCH NON_MATCH UNSURE"),
        (v.JudgedBy, "human system_of_record rule model"),
        (v.ReviewState, "open accepted rejected unsure undone"),
        (v.CandidateSource, "identifier exact alias scoped_register neighbourhood session "
         "blocking"),
        (v.TrustLevel, "TRUSTED SEMI_TRUSTED UNTRUSTED"),
    ],
)  # fmt: skip
def test_a_list_holds_its_words_in_order(kind: type[StrEnum], words: str) -> None:
    assert [member.value for member in kind] == words.split()
    assert [v.parse(kind, word) for word in words.split()] == list(kind)


def test_a_word_outside_a_list_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput) as caught:
        v.parse(v.ObjectType, "prefrence")
    assert str(caught.value) == "unknown object type 'prefrence': did you mean 'preference'?"
    assert caught.value.code == "unknown_vocabulary"


@pytest.mark.parametrize("word", [None, 3, "", "Preference", "preference "])
def test_only_the_exact_word_is_known(word: object) -> None:
    with pytest.raises(InvalidInput):
        v.parse(v.ObjectType, word)


def test_a_member_parses_to_itself() -> None:
    assert v.parse(v.Status, v.Status.CLEAN) is v.Status.CLEAN


@pytest.mark.parametrize("level", range(5))
def test_a_level_is_a_whole_number_from_0_to_4(level: int) -> None:
    assert v.parse_level(level) is v.Authority(level)


@pytest.mark.parametrize("level", [-1, 5, True, False, 2.0, "2", None])
def test_anything_else_is_no_level(level: object) -> None:
    with refused(InvalidInput, "unknown_vocabulary", match="0 \\(platform\\) to 4"):
        v.parse_level(level)


def test_trust_follows_from_authority() -> None:
    assert [level.trust.value for level in v.Authority] == [
        "TRUSTED",
        "TRUSTED",
        "SEMI_TRUSTED",
        "SEMI_TRUSTED",
        "UNTRUSTED",
    ]


def test_classifications_rise_and_judges_fall() -> None:
    assert [c.rank for c in v.Classification] == [0, 1, 2, 3]
    assert [j.strength for j in v.JudgedBy] == [3, 2, 1, 0]


def test_three_verbs_withdraw() -> None:
    assert [op.value for op in v.Op if op.withdraws] == ["correct", "retract", "delete"]
