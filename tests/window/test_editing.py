"""When a window is edited, what an edit may touch, and that it is worth it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tenure.schema.window_policy import EvictionPolicy, WindowPolicy, Zones
from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window import editing
from tenure.window.changes import occurrences, shorter_forms
from tenure.window.editing import (
    EditWish,
    due_edit,
    everything_that_can_go,
    planned_edit,
)
from tenure.window.events import EditReason, EventKind
from tenure.window.folding import reachable_units
from tenure.window.pressure import Zone, read_pressure
from tenure.window.units import StandingForm


def long_talk(turns: int = 10, limit: int = 9_000, model: str = "generic") -> Conversation:
    talk = Conversation(limit=limit, model=model)
    for number in range(turns):
        talk.exchange(number, json.dumps({"id": f"REF{number}", "text": "word " * 300}))
    return talk


def test_an_edit_goes_down_to_the_target_at_once() -> None:
    talk = long_talk(16)
    plan = planned_edit(talk.state, talk.policy, EditReason.PRESSURE)
    before = talk.state.tokens
    talk.edit(plan)
    target = talk.policy.zones_of(talk.state.window).target * talk.state.limit // 1000
    assert talk.state.tokens <= target < before
    assert faults(talk.state) == []


def test_the_names_of_what_left_still_stand() -> None:
    talk = long_talk(16)
    talk.edit(planned_edit(talk.state, talk.policy, EditReason.PRESSURE))
    text = "\n".join(unit.text for unit in talk.state.units)
    assert all(f"REF{number}" in text for number in range(16))


def test_without_pressure_nothing_is_due() -> None:
    talk = long_talk(2)
    assert read_pressure(talk.state, talk.policy).zone is Zone.GREEN
    assert due_edit(talk.state, talk.policy) is None
    assert planned_edit(talk.state, talk.policy, EditReason.COMPACT) is None


def test_orange_demands_an_edit_also_while_it_cools_down() -> None:
    talk = long_talk(20)
    talk.state = replace(talk.state, last_edit_step=talk.state.step)
    assert read_pressure(talk.state, talk.policy).zone is not Zone.YELLOW
    plan = talk.tidy()
    assert plan is not None
    assert plan.reason in (EditReason.PRESSURE, EditReason.ROLLOVER)


def test_yellow_edits_only_where_it_pays_and_not_while_it_cools_down() -> None:
    zones = Zones(yellow=100, orange=950, red=960, target=90, rollover=970)
    talk = long_talk(8, limit=20_000)
    talk.policy = WindowPolicy(zones=zones)
    assert read_pressure(talk.state, talk.policy).zone is Zone.YELLOW
    assert due_edit(talk.state, talk.policy) is None  # a running turn reads its prefix again
    talk.user("and now?")
    plan = due_edit(talk.state, talk.policy)
    assert plan is not None
    assert plan.reason is EditReason.PRICE

    cooling = replace(talk.state, last_edit_step=talk.state.step - 1)
    assert due_edit(cooling, talk.policy) is None


def test_a_cached_prefix_is_not_rebuilt_for_a_few_tokens() -> None:
    # Claude's cache reads cost a tenth and writes five quarters: the suffix is dear to rebuild.
    zones = Zones(yellow=100, orange=950, red=960, target=360, rollover=970)
    talk = long_talk(8, limit=12_000, model="claude-opus-4-7")
    talk.user("and now?")
    talk.policy = WindowPolicy(zones=zones, clear_at_least=1)
    tokens = talk.state.tokens * 1000 // talk.state.limit
    talk.policy = WindowPolicy(zones=replace(zones, target=tokens - 70), clear_at_least=1)
    plan = planned_edit(talk.state, talk.policy, EditReason.PRICE)
    assert plan is not None
    assert due_edit(talk.state, talk.policy) is None

    # The same edit is not worth its while either when it frees less than the least.
    talk.policy = replace(talk.policy, clear_at_least=100_000)
    assert due_edit(talk.state, talk.policy) is None


def test_a_window_that_would_overflow_with_the_next_turn_rolls_over() -> None:
    talk = long_talk(15, limit=9_000)
    talk.state = replace(talk.state, loads=(0,))
    assert read_pressure(talk.state, talk.policy).rollover
    plan = talk.tidy()
    assert plan is not None
    assert plan.reason is EditReason.ROLLOVER
    assert talk.state.windows == 2


def test_out_of_reach_are_pins_open_calls_and_what_is_going_on() -> None:
    talk = long_talk(4)
    pinned = talk.state.units[0].number
    talk.put(EventKind.PINNED, {"unit": pinned, "on": True, "until": None})
    asked = talk.user("now")
    step = talk.call("x")
    assert {pinned, asked, step}.isdisjoint(u.number for u in reachable_units(talk.state))
    talk.result("x", "running")
    reachable = {unit.number for unit in reachable_units(talk.state)}
    assert {pinned, asked, step}.isdisjoint(reachable)
    # An older step of another turn is reachable again.
    talk.user("next")
    assert step in {unit.number for unit in reachable_units(talk.state)}


def test_an_open_call_protects_only_its_own_unit() -> None:
    talk = Conversation(limit=9_000)
    talk.user("start")
    waiting = talk.call("long-running")
    for number in range(20):
        talk.exchange(number, "word " * 300)
    plan = talk.tidy()
    assert plan is not None
    assert waiting not in {change.unit for change in plan.changes}
    assert talk.state.standing(waiting).open_calls == ("long-running",)


def test_units_that_are_to_be_kept_this_time_are_left_alone() -> None:
    talk = long_talk(16)
    keep = frozenset(unit.number for unit in talk.state.units[:6])
    plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT, wish=EditWish(keep=keep))
    assert plan is not None
    assert keep.isdisjoint(change.unit for change in plan.changes)


def test_a_result_that_a_later_one_repeats_becomes_a_pointer_without_loss() -> None:
    talk = Conversation(limit=3_000)
    talk.policy = WindowPolicy(zones=Zones(target=500, orange=710, red=720, rollover=990))
    for number in range(3):
        talk.exchange(number, json.dumps({"same": "word " * 700}))
    talk.call("d1")
    talk.call("d2")
    talk.put(EventKind.CALL_ABANDONED, {"call_id": "d1"})
    talk.put(EventKind.CALL_ABANDONED, {"call_id": "d2"})
    talk.user("now")
    plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT)
    assert plan is not None
    pointers = [c for c in plan.changes if c.form is StandingForm.POINTER]
    assert pointers
    assert all(change.fidelity == 1000 for change in pointers)
    assert "the same as window://" in pointers[0].texts[pointers[0].unit + 1]


def test_a_unit_whose_results_repeat_only_in_part_gets_no_pointer() -> None:
    talk = Conversation(limit=9_000)
    talk.user("go")
    calls = [{"id": n, "function": {"name": "look", "arguments": "{}"}} for n in ("a", "b")]
    talk.model({"role": "assistant", "tool_calls": calls})
    talk.result("a", "twice " * 200)
    talk.result("b", "once " * 200)
    for number in range(20):
        talk.exchange(number, "twice " * 200)
    plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT)
    assert plan is not None
    assert all(c.form is not StandingForm.POINTER for c in plan.changes if c.unit == 3)


def test_short_messages_between_folded_ones_join_the_fold() -> None:
    talk = Conversation(limit=5_000)
    for number in range(30):
        talk.user(f"note {number}: the code is Q{number}X9 " + "and so on " * 30)
        talk.model("ok")
        if number == 4:
            talk.put(EventKind.PINNED, {"unit": 2, "on": True, "until": None})
        talk.tidy()
    forms = [unit.form for unit in talk.state.units]
    assert forms[0] is StandingForm.FULL  # the pin
    assert forms.count(StandingForm.EXTRACT) < 12
    assert talk.state.tokens <= talk.state.limit


def test_full_folds_keep_their_bytes_and_leave_last() -> None:
    talk = Conversation(limit=2_000)
    stones = set()
    for number in range(90):
        talk.exchange(
            number, json.dumps({f"ID{n}X{number}": f"VALUE{n}Y{number}" for n in range(9)})
        )
        talk.tidy()
        stones |= {u.number for u in talk.state.units if u.form is StandingForm.TOMBSTONE}
        assert talk.state.tokens <= talk.state.limit
        assert faults(talk.state) == []
    assert talk.state.edits > 5
    assert stones  # at this length even folds leave


def test_where_everything_is_pinned_nothing_is_planned() -> None:
    talk = long_talk(14)
    for unit in talk.state.units:
        talk.put(EventKind.PINNED, {"unit": unit.number, "on": True, "until": None})
    assert planned_edit(talk.state, talk.policy, EditReason.COMPACT) is None
    assert due_edit(talk.state, talk.policy) is None


def test_the_last_resort_takes_everything_within_reach() -> None:
    talk = long_talk(4)
    talk.user("now")
    talk.edit(everything_that_can_go(talk.state))
    assert len(talk.state.units) == 2
    assert everything_that_can_go(talk.state) is None


def test_a_limit_that_is_passed_makes_any_edit_worth_it() -> None:
    talk = long_talk(14, limit=9_000)
    talk.policy = WindowPolicy(clear_at_least=1_000_000)
    talk.state = replace(talk.state, limit=talk.state.tokens - 1)
    talk.state = replace(talk.state, loads=(talk.state.tokens,) * 5)
    zones = Zones(rollover=1000, red=999, orange=998, yellow=10, target=997)
    talk.policy = replace(talk.policy, zones=zones)
    plan = due_edit(talk.state, talk.policy)
    assert plan is not None


def test_a_price_that_cannot_be_earned_back_makes_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    zones = Zones(yellow=100, orange=950, red=960, target=90, rollover=970)
    talk = long_talk(8, limit=12_000, model="claude-opus-4-7")
    talk.user("and now?")
    talk.policy = WindowPolicy(zones=zones, expected_steps=1)
    assert read_pressure(talk.state, talk.policy).zone is Zone.YELLOW
    plans: list[EditReason] = []
    monkeypatch.setattr(editing, "planned_edit", lambda *_, **__: plans.append(EditReason.PRICE))
    assert due_edit(talk.state, talk.policy) is None
    assert plans == []

    # Over enough steps to come it is planned, though here nothing comes of it.
    talk.policy = WindowPolicy(zones=zones, expected_steps=50)
    talk.state = replace(talk.state, loads=(talk.state.tokens - 1,))
    assert due_edit(talk.state, talk.policy) is None
    assert plans == [EditReason.PRICE]


def near_duplicates(*texts: str) -> dict[int, str]:
    """The texts of the pointer that the first of some results could take, by number."""
    talk = Conversation(40_000)
    for number, text in enumerate(texts):
        talk.exchange(number, text)
    unit = talk.state.units[1]
    assert not occurrences(talk.state).repetitions.keys() & {4}
    forms = shorter_forms(talk.state, unit, 500, "x", occurrences(talk.state, merging=True))
    pointers = [dict(change.texts) for change in forms if change.form is StandingForm.POINTER]
    return pointers[0] if pointers else {}


PROSE = "the ticket REF17 of the flight to Chicago costs 120 dollars and may be changed once " * 4


def test_a_result_that_a_later_one_nearly_repeats_becomes_a_pointer() -> None:
    later = PROSE + "by the way"
    assert near_duplicates(PROSE, later) == {4: "[the same as window://9. Original: window://4]"}
    # The newest stands, and of three the oldest points at it, too.
    assert near_duplicates(PROSE, later, later)[4].startswith("[the same as window://14.")


def test_the_merging_policy_alone_points_at_what_is_nearly_the_same() -> None:
    for eviction in EvictionPolicy:
        talk = Conversation(5_000, policy=WindowPolicy(eviction=eviction))
        for number in range(12):
            talk.exchange(number, PROSE * 4 + "and so on " * number)
        plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT)
        assert plan is not None
        forms = {change.form for change in plan.changes}
        is_merging = eviction is EvictionPolicy.SEMANTIC_MERGE
        assert (StandingForm.POINTER in forms) == is_merging


@pytest.mark.parametrize(
    "later",
    [
        PROSE.replace("120", "130"),
        PROSE.replace("REF17", "REF18"),
        PROSE.replace("may be changed", "may not be changed"),
        PROSE.replace("changed once", "handed to somebody else for nothing in all cases"),
    ],
    ids=["number", "identifier", "negation", "merely alike"],
)
def test_a_result_with_other_facts_or_words_is_no_repetition(later: str) -> None:
    assert near_duplicates(PROSE, later) == {}
