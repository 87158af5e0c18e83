"""The forty abuse cases: what somebody tries, and the tests that show what happens instead.

A case without a test, or with a test that is gone, fails here. The tests stand with what they
test; those without another place stand in `tests/store/contract/test_abuse.py`.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Final

import pytest

from tenure.tests.source_tree import ROOT

CONTRACT: Final = "tests/store/contract"
ABUSE: Final = f"{CONTRACT}/test_abuse.py"
READING: Final = f"{CONTRACT}/test_memory_reading.py"
WRITING: Final = f"{CONTRACT}/test_memory_writing.py"
TRUST: Final = f"{CONTRACT}/test_trust_writing.py"
HIDDEN: Final = f"{CONTRACT}/test_trust_withheld.py"
NAMES: Final = f"{CONTRACT}/test_resolution.py"
QUEUE: Final = f"{CONTRACT}/test_review_queue.py"
LIMITS: Final = "tests/service/test_input_limits.py"
SERVER: Final = "tests/service/server"

CASES: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    1: (
        "another tenant's object is read by its id: as if it were not there",
        (
            f"{ABUSE}::test_an_object_of_another_cannot_be_overtaken_by_its_id",
            f"{CONTRACT}/test_port_tenancy.py::"
            "test_a_call_with_ids_of_another_tenant_answers_as_if_it_were_not_there",
            f"{SERVER}/test_pages.py::test_another_tenant_s_ids_lead_nowhere",
        ),
    ),
    2: (
        "a tenant in body or header differs from the token: the token wins",
        (f"{SERVER}/test_api.py::test_a_tenant_comes_from_the_key_alone",),
    ),
    3: (
        "a cursor of another, or an edited one: refused",
        (
            f"{SERVER}/test_paging.py::test_a_cursor_is_good_for_its_caller_and_its_question_alone",
            "tests/service/mcp/test_tools.py::test_a_cursor_is_bound_to_its_tool",
        ),
    ),
    4: (
        "an idempotency key is used across tenants: each has its own answer",
        (
            f"{WRITING}::test_an_idempotency_key_belongs_to_its_caller",
            f"{CONTRACT}/test_port_tenancy.py::"
            "test_a_call_with_ids_of_another_tenant_answers_as_if_it_were_not_there",
        ),
    ),
    5: (
        "a walk through a shared name into another tenant: no edge crosses",
        (f"{ABUSE}::test_no_edge_crosses_to_a_tenant_that_holds_an_equal_name",),
    ),
    6: (
        "an index of names or vectors gives foreign candidates: filtered before scoring",
        (
            "tests/service/test_embedding.py::"
            "test_hidden_claims_are_walked_past_to_the_best_visible_ones",
            f"{CONTRACT}/test_port_identity.py::"
            "test_lighter_names_move_up_where_heavier_ones_are_out_of_sight",
        ),
    ),
    7: (
        "a list of what stayed out names forbidden objects: it does not",
        (f"{HIDDEN}::test_no_id_of_what_is_hidden_stands_in_what_a_caller_is_given",),
    ),
    8: (
        "a count or a total tells of a hidden object: it does not move",
        (f"{HIDDEN}::test_a_right_guess_and_a_wrong_one_are_told_the_same",),
    ),
    9: (
        "roles are allowed and denied at once: the denial wins",
        (f"{READING}::test_deny_wins_and_todays_permissions_hold_for_the_past",),
    ),
    10: (
        "a role is taken away and an older envelope asked for: refused",
        (
            f"{HIDDEN}::test_who_is_no_auditor_any_more_opens_nothing_that_names_the_hidden",
            "tests/compiler/test_replay.py::"
            "test_a_caller_who_may_not_read_everything_today_is_refused",
        ),
    ),
    11: (
        "the past is asked to regain access: the permissions of today hold",
        (f"{READING}::test_deny_wins_and_todays_permissions_hold_for_the_past",),
    ),
    12: (
        "a scope is left out to widen: the narrowest is taken, or none",
        (
            f"{TRUST}::test_what_is_observed_stays_with_who_said_it",
            f"{CONTRACT}/test_trust_roles.py::test_a_layer_without_its_id_takes_nothing_in",
        ),
    ),
    13: (
        "a write claims level 0 or full trust: refused, or capped by its channel",
        (f"{WRITING}::test_authority_comes_from_the_channel",),
    ),
    14: (
        "a tool's output claims to be the system: its level is that of the channel",
        (
            f"{WRITING}::test_authority_comes_from_the_channel",
            "tests/service/test_payloads.py::test_text_that_mimics_structure_stays_in_its_block",
        ),
    ),
    15: (
        "a text holds our boundary or a heading: it never leaves its block",
        (
            "tests/compiler/test_grammar.py::test_text_made_of_the_grammar_forges_no_block",
            "tests/service/test_containment.py::"
            "test_forged_structure_and_hidden_characters_stay_contained",
        ),
    ),
    16: (
        "hidden characters and look-alikes: taken out, escaped, or shown",
        (
            "tests/schema/test_look_alikes.py::"
            "test_every_look_alike_of_every_letter_of_a_mark_is_escaped",
            "tests/schema/test_look_alikes.py::test_nothing_hidden_inside_a_mark_hides_it",
        ),
    ),
    17: (
        "level 4 sounds like an instruction: it is data and nothing else",
        (
            "tests/compiler/test_grammar.py::test_level_4_text_has_no_constructor_but_data",
            f"{CONTRACT}/test_memory_compiling.py::test_a_poisoned_page_is_set_apart_and_named",
        ),
    ),
    18: (
        "what one site planted is met on another: the origin is a partition",
        (
            "tests/compiler/test_contamination.py::"
            "test_origin_memory_written_on_one_site_stays_out_of_another",
        ),
    ),
    19: (
        "a hostile text becomes a clean summary: it inherits the weakest of its sources",
        (
            f"{TRUST}::test_a_summary_is_scanned_by_the_weakest_of_its_sources",
            f"{READING}::test_derived_objects_inherit_the_weakest_and_go_stale",
        ),
    ),
    20: (
        "a claim is repeated to gain trust: it gains none",
        (f"{ABUSE}::test_a_claim_does_not_win_by_being_repeated",),
    ),
    21: (
        "an alias is hung on somebody: text teaches none, and a person is asked",
        (
            f"{NAMES}::test_retrieved_text_teaches_no_alias",
            f"{NAMES}::test_a_description_names_nobody",
            "tests/resolution/test_bind.py::"
            "test_a_name_that_only_a_page_used_asks_a_stronger_writer",
        ),
    ),
    22: (
        "a name is tuned to a victim: it stays with its writer",
        (f"{NAMES}::test_a_name_tuned_against_a_victim_stays_in_the_scope_of_its_writer",),
    ),
    23: (
        "a chain of small steps: each is checked against the core",
        (f"{NAMES}::test_a_chain_of_small_steps_is_checked_against_the_core",),
    ),
    24: (
        "a flood of doubtful names: held back",
        (f"{QUEUE}::test_a_flood_of_doubtful_names_is_held_back",),
    ),
    25: (
        "a merge is undone after later writes: every claim keeps its own mention",
        (f"{NAMES}::test_unmerge_is_the_identity_on_what_was_not_written_after",),
    ),
    26: (
        "two reviewers decide one case: the second is told",
        (
            f"{QUEUE}::test_of_two_stewards_at_once_one_decides",
            f"{SERVER}/test_api.py::test_a_decision_states_the_version",
        ),
    ),
    27: (
        "a reviewer decides the own submission: somebody else must",
        (
            f"{NAMES}::test_deciding_needs_a_steward_who_did_not_write_it",
            f"{SERVER}/test_pages.py::test_one_s_own_submission_is_decided_by_somebody_else",
        ),
    ),
    28: (
        "a claim is dated back to beat a true one: authority first, and no past changes",
        (f"{ABUSE}::test_a_weaker_claim_does_not_win_by_its_date",),
    ),
    29: (
        "a caller states the stamp, or the clock jumps back: the store stamps, and it rises",
        (
            f"{ABUSE}::test_stamps_rise_although_the_clock_jumps_back",
            "tests/service/test_ingest.py::test_a_replay_needs_the_privilege",
        ),
    ),
    30: (
        "times that are none: refused by code",
        (f"{ABUSE}::test_a_time_that_is_none_is_refused_by_code",),
    ),
    31: (
        "a good fact is contradicted to dispute it: a weaker claim never does",
        (f"{ABUSE}::test_a_weaker_claim_does_not_win_by_its_date",),
    ),
    32: (
        "a link leads to what is another's: not found",
        (f"{ABUSE}::test_an_object_of_another_cannot_be_overtaken_by_its_id",),
    ),
    33: (
        "claims of megabytes, deep JSON, bombs: refused soon",
        (
            f"{LIMITS}::test_a_bad_field_is_refused_soon_and_by_code",
            f"{LIMITS}::test_a_packed_export_without_an_end_is_refused_in_little_memory",
            f"{SERVER}/test_sign_in.py::test_too_large_a_body_is_refused_while_it_comes",
        ),
    ),
    34: (
        "an endless budget, a hub: caps hold, and the trace says so",
        (
            f"{ABUSE}::test_no_budget_and_no_hub_keeps_a_compile_busy",
            f"{CONTRACT}/test_relations.py::test_a_hub_is_named_and_brings_no_relation",
        ),
    ),
    35: (
        "syntax of SQL, Cypher or a search in names: only text",
        (f"{ABUSE}::test_syntax_of_a_query_language_is_only_text",),
    ),
    36: (
        "markup in a stored text: shown as text on every page",
        (
            f"{SERVER}/test_pages.py::test_nothing_that_was_written_becomes_markup",
            f"{SERVER}/test_stored_markup.py::test_no_stored_text_becomes_an_element_or_attribute",
        ),
    ),
    37: (
        "a token of no algorithm, another signer or audience, or an ended one: refused",
        (
            f"{SERVER}/test_keys.py::test_another_algorithm_or_signer_opens_nothing",
            f"{SERVER}/test_keys.py::test_a_token_that_does_not_hold_opens_nothing",
        ),
    ),
    38: (
        "a form or a name of another site: refused",
        (
            f"{SERVER}/test_sign_in.py::test_a_form_of_another_site_is_refused",
            f"{SERVER}/test_sign_in.py::test_a_foreign_host_is_told_the_setting",
        ),
    ),
    39: (
        "what was erased is looked for everywhere: in no byte",
        (f"{CONTRACT}/test_trust_erasure.py::test_an_erased_entity_is_in_no_byte_of_the_store",),
    ),
    40: (
        "the store's file or an export is edited: the doctor names it, the import refuses it",
        (
            "tests/store/sqlite/test_check.py::test_a_broken_invariant_is_named",
            "tests/service/test_hostile_files.py::"
            "test_junk_inside_an_export_whose_footer_fits_is_refused_by_its_line",
            f"{CONTRACT}/test_port_sessions.py::test_the_chain_covers_every_field_and_text",
        ),
    ),
}
"""By number: what is tried and what must happen, and the tests that show it."""


@cache
def functions_of(path: str) -> frozenset[str]:
    """The names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_there_are_forty_cases() -> None:
    assert list(CASES) == list(range(1, 41))


@pytest.mark.parametrize("number", CASES)
def test_a_case_has_its_test(number: int) -> None:
    sentence, tests = CASES[number]
    assert ":" in sentence
    assert tests
    for test in tests:
        path, _, name = test.partition("::")
        assert name.startswith("test_")
        assert name in functions_of(path), test
