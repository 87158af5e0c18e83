"""The tests of some rows of the checklist prove something: one wrong line turns each of them red.

A mutant is one line of one function. The module is compiled with the line changed, and the code of
the function is put in place of the right one for the length of a test, so that whoever imported the
function runs the mutant, and no file and no module is touched. Before and behind each mutant the
test must be green.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, NamedTuple

import pytest

from tenure import Memory, connect
from tenure.tests.source_tree import ROOT
from tenure.window.pressure import WindowStatus, Zone


class Mutant(NamedTuple):
    """A feature of a row, broken in one line."""

    row: str
    path: str
    line: str
    """A piece of the line, found once in the file; short, so that a rename leaves it alone."""
    wrong: str
    test: str
    """The test that must turn red, as coverage.md names it."""
    given: Mapping[str, Any] = MappingProxyType({})
    """What the test takes beside `open_memory`."""


ROWS = "tests/compiler/test_checklist_rows.py"
READING = "tests/store/contract/test_memory_reading.py"
DETAILS = "tests/compiler/test_stage_details.py"
MUTANTS = (
    Mutant(
        "C-008",
        "service/writing/trust.py",
        "if details.layer in _RULE_LAYERS or stated_tenant or (tenant_wide and rule):",
        "if False:",
        "tests/store/contract/test_trust_writing.py::test_rules_for_everyone_need_a_directive_role",
        {"write": {"content": "Always answer in French.", "object_type": "policy_rule"}},
    ),
    Mutant(
        "C-010",
        "compiler/conversion/direction.py",
        "return is_signed(text, context.keys, object_id=object_id, scope_id=scope_id)",
        "return bool(text)",
        "tests/compiler/test_direction.py::"
        "test_an_unsigned_tool_stays_out_with_its_reason_and_displaces_no_signed_one",
    ),
    Mutant(
        "C-016",
        "service/reading/context_objects.py",
        "aliases=tuple(aliases),",
        "aliases=(),",
        f"{READING}::test_an_object_says_its_names_identifiers_and_what_took_its_place",
    ),
    Mutant(
        "C-023",
        "service/reading/context_objects.py",
        "last_used=None if usage is None else moment(usage.last_us),",
        "last_used=None,",
        f"{READING}::test_an_object_says_when_it_was_last_used_and_confirmed",
    ),
    Mutant(
        "C-026",
        "compiler/conversion/ladder.py",
        "if content.behavioral_implication:",
        "if False:",
        f"{DETAILS}::test_a_stated_implication_is_the_instruction",
    ),
    Mutant(
        "C-028",
        "service/reading/context_objects.py",
        "supersession_link=self._winners.get(object_id),",
        "supersession_link=None,",
        f"{READING}::test_an_object_says_its_names_identifiers_and_what_took_its_place",
    ),
    Mutant(
        "C-031",
        "compiler/stages/validate.py",
        "return None if _is_wanted(candidate, wanted_slots) else fault",
        "return fault",
        "tests/compiler/test_aged.py::"
        "test_a_slot_that_is_asked_for_by_name_is_answered_however_old",
        {"row": {"decay": (1.0, 0.9)}},
    ),
    Mutant(
        "C-032",
        "compiler/stages/rank.py",
        "if details.applicable_task_types and self.tasks.isdisjoint",
        "if False and self.tasks.isdisjoint",
        f"{ROWS}::test_an_object_needs_both_its_task_and_its_condition",
        {"task": "data_extraction", "query": "the office map", "reason": "task_type"},
    ),
    Mutant(
        "C-039",
        "compiler/render/openai.py",
        "if schema is None or not row.answer_schemas:",
        "if True:",
        "tests/compiler/test_answer_schema.py::"
        "test_each_provider_gets_the_schema_of_a_hard_constraint",
        {"kind": "grammar"},
    ),
    Mutant(
        "C-080",
        "compiler/stages/rescue.py",
        "if snippet is not None and snippet.affinity >= threshold:",
        "if False:",
        f"{ROWS}::test_an_apt_sentence_of_a_passed_over_source_is_rescued",
    ),
    Mutant(
        "C-093",
        "compiler/stages/rank.py",
        'return ("" if active else "activation"), False',
        'return "", False',
        f"{ROWS}::test_a_preference_stands_only_where_its_condition_holds",
        {"query": "weather report", "stands": False},
    ),
    Mutant(
        "C-103",
        "compiler/trace/metrics.py",
        "slots = _slots_asked(context) or (None,)",
        "slots = (None,)",
        "tests/compiler/test_trace.py::"
        "test_recall_counts_the_value_that_was_asked_for_and_is_missing",
    ),
    Mutant(
        "C-118",
        "compiler/budget/section.py",
        "if self.w > 1:",
        "if False:",
        "tests/compiler/test_allocate.py::test_a_weight_above_one_is_refused",
        {"weight": 1.5},
    ),
    Mutant(
        "C-124",
        "compiler/tokens/window.py",
        " - sum(sizes)",
        " - 0",
        "tests/compiler/test_budget.py::test_a_compile_divides_what_rules_request_and_media_leave",
    ),
    Mutant(
        "C-130",
        "compiler/stages/contain.py",
        "if piece.pair in ",
        "if piece in ",
        f"{DETAILS}::test_a_call_leaves_with_its_result_that_is_set_apart",
    ),
    Mutant(
        "C-133",
        "compiler/stages/rank.py",
        "elif candidate.relevance < self.floors[candidate.is_passage]:",
        "elif candidate.relevance < self.floors[True]:",
        "tests/compiler/test_switches.py::test_a_higher_floor_for_memory_leaves_passages_alone",
    ),
    Mutant(
        "C-212",
        "compiler/fitting/fit.py",
        "if piece.required]",
        "if False]",
        f"{ROWS}::test_essentials_stand_at_every_budget_at_which_there_is_a_compile",
    ),
    Mutant(
        "C-213",
        "compiler/fitting/fit.py",
        "if policy is OverflowPolicy.CASCADE_COMPRESS:",
        "if False:",
        f"{ROWS}::test_what_does_not_fit_is_compressed_before_it_is_dropped",
    ),
    Mutant(
        "C-214",
        "compiler/fitting/fit.py",
        ", -recency(age",
        ", recency(age",
        f"{ROWS}::test_the_oldest_turn_goes_first_and_rules_never",
    ),
    Mutant(
        "C-215",
        "compiler/stages/order.py",
        "slack += tokens - context.budget + 8",
        "slack += 0",
        f"{DETAILS}::test_a_text_that_comes_out_longer_than_its_parts_is_fitted_again",
    ),
    Mutant(
        "C-216",
        "compiler/trace/collect.py",
        "GapCode.EVIDENCE_NEEDED",
        "GapCode.RETRIEVAL_PENDING",
        f"{DETAILS}::test_stated_cover_of_acceptance_items_is_weighed_and_missing_cover_a_gap",
    ),
    Mutant(
        "C-217",
        "compiler/fitting/ledger.py",
        " -_worth(piece, tokens)",
        " _worth(piece, tokens)",
        f"{ROWS}::test_of_what_competes_for_room_the_most_relevant_stays",
    ),
    Mutant(
        "C-217",
        "compiler/fitting/ledger.py",
        "not is_wanted(piece)",
        "True",
        f"{ROWS}::test_what_covers_an_acceptance_item_goes_before_what_is_more_relevant",
    ),
    Mutant(
        "C-225",
        "compiler/stages/order.py",
        "for layer, tokens in sizes.most_common()",
        "for layer, tokens in sizes.most_common()[:0]",
        f"{ROWS}::test_a_budget_below_what_is_required_names_the_layers_that_take_it",
    ),
    Mutant(
        "C-226",
        "compiler/budget/profiles.py",
        "[Layer(rule.layer)] += ",
        "[Layer.MEMORY] += ",
        f"{ROWS}::test_a_signal_moves_the_weight_of_its_own_section",
    ),
    Mutant(
        "C-228",
        "schema/crosswalk.py",
        "and permille > most",
        "and permille > most + 1",
        "tests/schema/test_crosswalk.py::test_a_fixed_layer_above_its_usual_share_is_told",
    ),
    Mutant(
        "C-229",
        "compiler/ir/context.py",
        "profile(profile_name, rules.profiles)",
        'profile("research", rules.profiles)',
        f"{ROWS}::test_a_profile_says_the_least_and_the_most_of_each_layer",
        {
            "profile": "requirements",
            "evidence": (450, 550),
            "memory": (250, 300),
            "history": (150, 200),
        },
    ),
    Mutant(
        "C-230",
        "schema/budget_rules.py",
        "if total + _SLACK > _WHOLE:",
        "if total > _WHOLE:",
        "tests/schema/test_policy.py::test_the_example_that_adds_up_to_110_percent_is_refused",
    ),
    Mutant(
        "C-230",
        "schema/budget_rules.py",
        "if not 0 <= share.floor <= share.ceiling <= _WHOLE:",
        "if share.floor > share.ceiling:",
        "tests/schema/test_policy.py::test_a_share_below_nothing_or_above_the_whole_is_refused",
    ),
    Mutant(
        "C-171",
        "window/editing.py",
        "newest = full_zone(state, policy)",
        "newest = frozenset()",
        "tests/window/test_folding.py::test_a_new_window_begins_with_the_newest_turns_in_full",
    ),
    Mutant(
        "C-239",
        "window/pressure.py",
        "if utilisation >= zones.orange:",
        "if utilisation > zones.orange:",
        "tests/window/test_pressure.py::test_a_zone_starts_at_its_share_and_has_a_status",
        {"tokens": 7_500, "zone": Zone.ORANGE, "status": WindowStatus.ACTIVE},
    ),
    Mutant(
        "C-251",
        "window/changes.py",
        "similar = _nearly_repeated(newest.values()) if merging else {}",
        "similar = {}",
        "tests/window/test_editing.py::"
        "test_the_merging_policy_alone_points_at_what_is_nearly_the_same",
    ),
    Mutant(
        "C-254",
        "window/folding.py",
        "if unit.number in (newest_user, newest_step) or unit.number in state.pins:",
        "if unit.number in (newest_user, newest_step):",
        "tests/window/test_editing.py::test_out_of_reach_are_pins_open_calls_and_what_is_going_on",
    ),
    Mutant(
        "C-273",
        "window/budget.py",
        "warns = load * 1000 >= _SOFT * share",
        "warns = load >= share",
        "tests/window/test_health.py::test_components_warn_at_four_fifths_of_their_share",
    ),
    Mutant(
        "C-281",
        "window/bootstrap.py",
        "if texts and (omissions or tokens + size > budget):",
        "if False:",
        "tests/window/test_bootstrap.py::test_goal_work_and_blockers_come_before_all_else",
    ),
    Mutant(
        "C-284",
        "window/health.py",
        "if len(latest) < _READINGS:",
        "if not latest:",
        "tests/window/test_health.py::test_an_alert_waits_for_the_third_reading_in_a_row",
    ),
    Mutant(
        "C-289",
        "window/pressure.py",
        "rollover=utilisation >= zones.rollover or tokens + velocity > limit,",
        "rollover=utilisation >= zones.rollover,",
        "tests/window/test_pressure.py::"
        "test_a_window_rolls_over_when_full_or_when_the_next_turn_would_not_fit",
    ),
    Mutant(
        "C-314",
        "window/scratchpad.py",
        "stands=(item.seq, item.part) in places,",
        "stands=True,",
        "tests/window/test_pictures.py::"
        "test_pictures_and_files_are_listed_shortened_and_given_back_as_blocks",
    ),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.row)
def test_the_test_of_a_row_turns_red_without_its_feature(mutant: Mutant, tmp_path: Path) -> None:
    with ExitStack() as stack:
        run = _test(mutant, tmp_path, stack)
        run()
        with broken(mutant), pytest.raises((Exception, pytest.fail.Exception)):
            run()
        run()


def test_coverage_names_the_tests_that_were_tried() -> None:
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("|")}
    for mutant in MUTANTS:
        assert mutant.test in rows[mutant.row], mutant.row


@contextmanager
def broken(mutant: Mutant) -> Iterator[None]:
    """Run the mutant in place of the right function."""
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    assert source.count(mutant.line) == 1, f"{mutant.row}: the line is not found once"
    number = source[: source.index(mutant.line)].count("\n") + 1
    names = _function_at(ast.parse(source), number)

    wrong = compile(source.replace(mutant.line, mutant.wrong), mutant.path, "exec", optimize=0)
    code = _code_of(wrong, ".".join(names))
    module = importlib.import_module(f"tenure.{mutant.path[:-3].replace('/', '.')}")
    target: Any = module
    for name in names:
        target = getattr(target, name)
    function: FunctionType = target
    right = function.__code__
    # The flags of `from __future__ import annotations` are part of the source, so they agree.
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = right


def _function_at(tree: ast.AST, number: int) -> list[str]:
    """The names that lead to the innermost function at a line."""
    names: list[str] = []
    node: ast.AST | None = tree
    while node is not None:
        inner = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.FunctionDef | ast.ClassDef)
            and child.lineno <= number <= (child.end_lineno or 0)
        ]
        node = inner[0] if inner else None
        if node is not None:
            names.append(inner[0].name)
    return names


def _code_of(module: CodeType, qualname: str) -> CodeType:
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualname:
            return code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    raise AssertionError(f"no function {qualname}")


def _test(mutant: Mutant, tmp_path: Path, stack: ExitStack) -> Callable[[], object]:
    """The test of a mutant with what it takes."""
    path, _, name = mutant.test.partition("::")
    module = importlib.import_module(f"tenure.{path[:-3].replace('/', '.')}")
    test: FunctionType = getattr(module, name)
    count = iter(range(100))

    def open_memory(**options: Any) -> Memory:
        return stack.enter_context(connect(str(tmp_path / f"{next(count)}.db"), **options))

    names = test.__code__.co_varnames[: test.__code__.co_argcount]
    given: dict[str, Any] = {"open_memory": open_memory} if "open_memory" in names else {}
    return lambda: test(**given, **mutant.given)
