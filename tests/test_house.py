"""How the code reads, held: names, steps, comments and floors get no worse.

The bars of the house hold for every room; the rooms that do not keep them yet stand in
`tests/data/house.json` with what they reached. `python -P tests/house.py FOLDER` names what to
mend, and `python -P tests/house.py --ratchet` tightens the table to what is measured.
"""

import json

import pytest

from tenure.bench.bench_house import probe
from tenure.tests.house import Bar, Count, bar_of, bars, count_rooms, repeated_class_names
from tenure.tests.source_tree import ROOT

CALLS = {"write": (43, 11), "compile": (82, 9)}
"""Modules and frames of the package that a call passes through, at most."""


@pytest.fixture(scope="module")
def rooms() -> dict[str, Count]:
    return count_rooms()


def test_every_room_keeps_its_bar(rooms: dict[str, Count]) -> None:
    table = bars()
    faults = {room: table.get(room, Bar()).faults(count) for room, count in rooms.items()}
    assert {room: words for room, words in faults.items() if words} == {}


def test_no_room_of_the_table_is_gone_or_keeps_the_house(rooms: dict[str, Count]) -> None:
    assert bars().keys() <= rooms.keys()
    assert Bar() not in bars().values()


def test_comments_cite_what_is_here_and_no_chain_of_attributes_is_long(
    rooms: dict[str, Count],
) -> None:
    faults = [fault for count in rooms.values() for fault in (*count.citations, *count.dots)]
    assert faults == []


def test_a_public_class_has_a_name_of_its_own() -> None:
    assert repeated_class_names() == {}


def test_a_write_and_a_compile_pass_through_no_more_modules_and_frames() -> None:
    figures = probe(ROOT)
    for call, (modules, frames) in CALLS.items():
        assert figures[call]["modules"] <= modules, call
        assert figures[call]["frames"] <= frames, call


def test_a_bar_names_what_is_broken_and_only_tightens() -> None:
    count = Count(code=100, text=100, body=100, bindings=100, blanks=9, comments=1, nested=1)
    count.empty, count.comprehensions = ["x found"], 1
    assert Bar().faults(count) == [
        "empty 1.0, most 0.5",
        "comments 1.0, least 2.5",
        "nested 10.0, most 0.0",
    ]
    assert bar_of(count).faults(count) == []
    assert Bar(empty=0.91, comments=1.1, nested=9.1).faults(count) == []
    assert Bar(comments=0.5, nested=30).tightened(count) == Bar(comments=1.0, nested=10.0)
    assert json.loads((ROOT / "tests/data/house.json").read_text(encoding="utf-8"))
