"""Folds of folds: what stands for a talk grows with the logarithm of its length."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil, log

import pytest

from tenure.schema.window_policy import WindowPolicy
from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.tests.window.test_names import folds, long_work, window_text
from tenure.window import editing
from tenure.window.budget import full_zone, history_budget
from tenure.window.changes import TOMBSTONE_TOKENS, UnitChange, departure, occurrences
from tenure.window.events import EditReason, EventKind
from tenure.window.folding import folds_of_folds, reachable_units
from tenure.window.forms import FoldRoom, fold_header, without_header
from tenure.window.snapshot import snapshot_text, state_from
from tenure.window.units import StandingForm, tokens_in

BRANCHING = 4
TURNS = 400


@pytest.fixture(scope="module")
def worked() -> Conversation:
    """A long talk whose folds have no room from the start."""
    return long_work(TURNS, 9_000, policy=WindowPolicy(fold_share=100))


def test_of_a_window_that_nobody_spoke_in_nothing_can_change() -> None:
    assert reachable_units(Conversation().state) == ()


def test_no_level_holds_as_many_neighbouring_folds_as_make_one_of_the_next(
    worked: Conversation,
) -> None:
    levels = Counter(unit.fold_level for unit in folds(worked))
    assert max(levels) >= 2
    # The newest folds wait for the next edit, and messages that stand in full part their levels.
    assert sum(levels.values()) <= 2 * (BRANCHING - 1) * ceil(log(TURNS, BRANCHING))
    assert all(unit.tokens <= 520 for unit in folds(worked))
    assert faults(worked.state) == []


def test_a_fold_of_folds_leads_back_to_all_that_it_stands_for(worked: Conversation) -> None:
    highest = max(folds(worked), key=lambda unit: unit.fold_level)
    first, last = highest.number, highest.last_number
    assert f"window://{first}-{last}" in highest.text
    assert highest.last_turn > highest.turn
    edits = [event for event in worked.events if event.kind is EventKind.EDITED]
    merges = [c for e in edits for c in e.body["changes"] if c["why"] == "frontier"]
    assert {change["level"] for change in merges} >= {2, 3}
    assert all(change["freed"] > 0 for change in merges)
    assert state_from(snapshot_text(worked.state)) == worked.state


def test_more_of_what_was_named_stands_than_where_folds_leave_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def names(talk: Conversation) -> int:
        text = window_text(talk)
        return sum(f"ORD{number}A" in text for number in range(TURNS))

    policy = WindowPolicy(fold_share=400)
    merged = long_work(TURNS, 12_000, policy=policy)
    monkeypatch.setattr(editing, "folds_of_folds", lambda *_: ())
    single = long_work(TURNS, 12_000, policy=policy)
    assert names(merged) > names(single) * 1.3
    assert merged.state.tokens <= merged.state.limit


def test_what_is_kept_by_wish_is_no_part_of_a_fold_of_folds(worked: Conversation) -> None:
    state = worked.state
    kept = frozenset(unit.number for unit in folds(worked))
    wish = editing.EditWish(keep=kept)
    plan = editing.planned_edit(state, worked.policy, EditReason.ROLLOVER, wish=wish)
    assert plan is not None
    assert kept.isdisjoint(change.unit for change in plan.changes)


def test_a_new_window_begins_with_the_newest_turns_in_full() -> None:
    talk = Conversation(20_000)
    for number in range(60):
        talk.exchange(number, f"REF{number} " + "word " * 60)
    plan = editing.planned_edit(talk.state, talk.policy, EditReason.ROLLOVER)
    assert plan is not None
    # k* = floor(budget / mean turn), of a quarter of what the edit leaves to the history.
    mean = talk.state.history_tokens // 60
    budget = talk.policy.zones_of(20_000).target * 20_000 // 1000 // 4
    full = budget // mean
    assert full >= 5
    talk.edit(plan)
    oldest = talk.state.turn - full + 1
    forms = {unit.form for unit in talk.state.units if unit.turn >= oldest}
    assert forms == {StandingForm.FULL}
    assert talk.state.tokens <= talk.policy.zones_of(20_000).target * 20_000 // 2000


def test_the_newest_turns_stay_in_full_only_while_they_fit() -> None:
    """Fewer than k* where the newest turns are larger than most."""
    talk = Conversation(20_000)
    for number in range(40):
        talk.exchange(number, "word " * (20 if number < 36 else 600))
    budget = history_budget(talk.state, talk.policy) // 4
    numbers = full_zone(talk.state, talk.policy)
    units = [unit for unit in talk.state.units if unit.number in numbers]
    assert 0 < tokens_in(units) <= budget


def test_turns_that_are_too_large_are_not_kept_in_full_at_a_roll_over() -> None:
    talk = Conversation(9_000)
    talk.exchange(0, "small")
    talk.user("all of it, please")
    talk.call("big")
    talk.result("big", "word " * 7_000)
    talk.model("there")
    talk.user("and now?")
    plan = editing.planned_edit(talk.state, talk.policy, EditReason.ROLLOVER)
    assert plan is not None
    talk.edit(plan)
    assert talk.state.tokens < 9_000 // 2


def test_folds_that_name_nothing_become_one_without_a_line_of_names() -> None:
    talk = Conversation()
    changes: list[UnitChange] = []
    for _ in range(BRANCHING):
        number = talk.user("please go on and on")
        unit = talk.state.standing(number)
        text = f'{fold_header([unit])}\nuser: "please go on"'
        change = departure(unit, 1, "concluded", TOMBSTONE_TOKENS)
        fold = replace(change, form=StandingForm.EXTRACT, texts={unit.number: text})
        changes.append(fold)
    talk.user("and now?")
    talk.edit(editing.EditPlan(EditReason.COMPACT, tuple(changes)))
    recurrences = occurrences(talk.state, FoldRoom.NONE)

    (merge,) = folds_of_folds(talk.state, recurrences, frozenset())
    assert (merge.change.fold_level, len(merge.members)) == (2, BRANCHING)
    assert merge.change.texts[2] == "[Turns 1-4, short. Originals: window://2-8]"
    # There is room, or one of them is to stay: then they stand as they are.
    assert folds_of_folds(talk.state, occurrences(talk.state), frozenset()) == ()
    assert folds_of_folds(talk.state, recurrences, {changes[1].unit}) == ()


def test_the_numbers_of_addresses_are_no_names_of_a_fold_of_folds(worked: Conversation) -> None:
    for unit in folds(worked):
        if unit.fold_level > 1:
            words = without_header(unit).replace('"', " ").split()
            assert not [word for word in words if word.replace("-", "").isdigit()]
