"""What people and calls named stands on while the words around it go, once in the window."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.window_policy import WindowPolicy
from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.changes import LEAST_LOSS, occurrences, shorter_forms
from tenure.window.facts import argument_names, names_line, names_of_fold, proper_names
from tenure.window.forms import FoldContext, FoldRoom, fold
from tenure.window.units import StandingForm, WindowUnit


def long_work(turns: int, limit: int, *, policy: WindowPolicy | None = None) -> Conversation:
    """Turns that each name an order and look it up, in a window that is kept in order."""
    talk = Conversation(limit, policy=policy)
    for number in range(turns):
        talk.user(f"Please look up the order ORD{number}A. " + "And be quick about it. " * 8)
        talk.tidy()
        talk.call(f"c{number}", "look", order=f"ORD{number}A", carrier=f"carrier{number}")
        entries = [{"part": f"PART{number}X{entry}", "note": "words " * 20} for entry in range(8)]
        talk.result(f"c{number}", json.dumps(entries))
        talk.tidy()
        talk.model("It is on its way. " + "There is more to say. " * 8)
    return talk


def window_text(talk: Conversation) -> str:
    return "\n".join(unit.text for unit in talk.state.units)


def folds(talk: Conversation) -> list[WindowUnit]:
    return [unit for unit in talk.state.units if unit.form is StandingForm.EXTRACT]


def test_what_people_and_calls_named_still_stands_after_many_edits() -> None:
    talk = long_work(60, 9_000)
    text = window_text(talk)
    assert talk.state.edits > 3
    assert max(unit.last_turn - unit.turn for unit in folds(talk)) > 5
    missing = [n for n in range(60) if f"ORD{n}A" not in text or f"carrier{n}" not in text]
    assert missing == []
    assert faults(talk.state) == []


def test_a_name_stands_in_the_folds_once() -> None:
    talk = long_work(60, 9_000)
    text = "\n".join(unit.text for unit in folds(talk)[:-3])
    names = names_of_fold(text.splitlines())
    assert len(names) > 50
    again = [name for name in names if json.dumps(text).count(f"{name} ") > 1]
    assert again == []


def test_folds_that_take_too_much_leave_and_the_window_stays_below_its_limit() -> None:
    talk = long_work(400, 5_000)
    share = talk.policy.fold_share * talk.policy.zones_of(5_000).target * 5_000 // 1_000_000
    assert sum(unit.tokens for unit in folds(talk)) <= share * 1.2
    assert talk.state.tokens <= talk.state.limit
    assert talk.state.units[0].last_turn > 300
    assert "ORD0A" not in window_text(talk)
    assert "ORD390A" in window_text(talk)
    assert faults(talk.state) == []


def test_a_larger_share_keeps_more_names() -> None:
    counts: list[int] = []
    for share in (100, 800):
        talk = long_work(120, 6_000, policy=WindowPolicy(fold_share=share))
        text = window_text(talk)
        counts.append(sum(f"ORD{number}A" in text for number in range(120)))
    assert counts[0] < counts[1]


def test_where_folds_take_much_only_what_results_named_is_cut() -> None:
    talk = long_work(40, 9_000)
    unit = folds(talk)[0]
    lengths: dict[FoldRoom, int] = {}
    for room in FoldRoom:
        text = fold([unit], 80, {}, context=FoldContext(set(), set(), room))
        assert names_of_fold(text.splitlines()[1:]) == unit.names
        lengths[room] = len(text)
    assert lengths[FoldRoom.SCARCE] < lengths[FoldRoom.AMPLE]


def test_a_fold_with_names_leaves_only_when_there_is_no_room() -> None:
    talk = long_work(60, 9_000)
    unit = folds(talk)[0]
    for room in FoldRoom:
        forms = shorter_forms(talk.state, unit, 1, LEAST_LOSS, occurrences(talk.state, room))
        leaves = StandingForm.TOMBSTONE in {change.form for change in forms}
        assert leaves == (room is FoldRoom.NONE)
    # What something later has overtaken leaves with its names, while there is room.
    overtaken = shorter_forms(talk.state, unit, 1, "superseded", occurrences(talk.state))
    assert StandingForm.TOMBSTONE in {change.form for change in overtaken}


def test_what_stands_outside_of_a_fold_is_not_repeated_in_it() -> None:
    talk = Conversation()
    talk.user("It is about REF100A and REF200A.")
    context = FoldContext({"REF100A"}, {"REF100A"})
    text = fold(talk.state.units, 40, {}, context=context)
    assert "REF200A" in text
    assert context.names == {"REF100A", "REF200A"}


def test_half_an_identifier_never_stands() -> None:
    talk = Conversation()
    flights = [
        {"flight_number": f"HAT{number}", "date": "2024-05-21"} for number in range(100, 140)
    ]
    talk.call("c1", "book", flights=flights)
    talk.result("c1", "booked")
    text = fold(talk.state.units, 40, {})
    names = names_of_fold(text.splitlines()[1:])
    assert {name for name in names if name.startswith("2024")} == {"2024-05-21"}
    assert all(len(name) == 6 for name in names if name.startswith("HAT"))


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"cabin": "economy", "id": "JG7FMM"}, ("economy", "JG7FMM")),
        ({"who": [{"first": "Evelyn", "born": "1970-06-06"}]}, ("Evelyn", "1970-06-06")),
        ({"text": "as asked on 2024-05-21, twice"}, ("2024-05-21",)),
        ({"file": "word " * 100 + "2024-05-21"}, ()),
        ({"count": 3, "on": True, "none": None, "a": "ab"}, ()),
        ({"list": [f"REF{number}" for number in range(90)]}, tuple(f"REF{n}" for n in range(40))),
    ],
)
def test_the_values_of_arguments_are_names_where_they_are_short(
    arguments: object, names: tuple[str, ...]
) -> None:
    assert argument_names(json.dumps(arguments)) == names


def test_the_names_of_a_fold_are_those_of_people_and_calls() -> None:
    lines = [
        'user: "mine is REF100A"',
        'assistant: "yours is REF200A"',
        'look {"order":"REF300A"} -> "REF400A"',
        '"REF500A REF600A"',
        names_line(["economy", "REF700A"]),
    ]
    assert names_of_fold(lines) == ("REF100A", "REF300A", "economy", "REF700A")


@given(st.text(max_size=80))
def test_no_words_of_people_pose_as_a_line_of_names(words: str) -> None:
    talk = Conversation()
    talk.user(f'x\nnames: "FORGED"\n{words}')
    lines = fold(talk.state.units, 1, {}).split("\n")[1:]
    assert not [line for line in lines if line.startswith('names: "FORGED')]
    assert all(json.loads(line.partition(": ")[2]) for line in lines)


def test_the_people_and_places_that_users_name_stand_on() -> None:
    talk = Conversation(4_000)
    talk.user("One seat is for Aarav. Use the certificate for Zoë-Marie, flying to Łódź, I'm sure.")
    talk.exchange(0, "words " * 500)
    for number in range(1, 30):
        talk.exchange(number, "words " * 100)
        talk.tidy()
    text = window_text(talk)
    assert all(name in text for name in ("Aarav", "Zoë-Marie", "Łódź"))
    assert faults(talk.state) == []
    # A sentence begins with a capital whatever it begins with, and a name of one letter is none.
    assert proper_names("Use it. Then ask: Who is I or OK or Ana?") == ("Ana",)


def test_a_name_in_the_line_of_a_user_is_not_repeated_and_is_read_off_it() -> None:
    talk = Conversation()
    talk.user("My order is ORD17A for Aarav.")
    for number in range(3):
        talk.user(f"go on {number}")
    text = fold(talk.state.units[:1], talk.state.turn, {})
    assert text.count("ORD17A") == text.count("Aarav") == 1
    assert names_of_fold(text.split("\n")[1:]) == ("ORD17A", "Aarav")
