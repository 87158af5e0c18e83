"""A start that is stated as a month or a year keeps its precision, and answers inside it say so."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from tenure import Memory, Write
from tenure.service.visual.text import held_span, json_text
from tenure.tests.store.builders import Open


@pytest.mark.parametrize(
    ("stated", "precision", "words", "first", "certain"),
    [
        ("1994", "year", "1994", "1994-01-01T00:00:00Z", "1995-01-01T00:00:00Z"),
        ("2024-02", "month", "2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
        ("2003-10[Europe/Berlin]", "month", "2003-10", "2003-09-30T22:00:00Z",
         "2003-10-31T23:00:00Z"),
        ("1994[Pacific/Auckland]", "year", "1994", "1993-12-31T11:00:00Z", "1994-12-31T11:00:00Z"),
    ],
)  # fmt: skip
def test_an_answer_inside_of_a_stated_span_is_only_possible(
    memory: Memory, stated: str, precision: str, words: str, first: str, certain: str
) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from=stated)
    inside = memory.as_of(first).slot("Vera Stolz", "office")
    assert (inside.value, inside.precision, inside.possibly) == ("Turin", precision, True)
    assert inside.valid_from == datetime.fromisoformat(first)
    assert held_span(inside) == f"from {words}, possibly"

    after = memory.as_of(certain).slot("Vera Stolz", "office")
    assert (after.value, after.precision, after.possibly) == ("Turin", precision, False)
    assert json.loads(json_text(after))["precision"] == precision
    assert memory.as_of(certain).facts("Vera Stolz")["office"].possibly is False
    assert memory.as_of(first).facts("Vera Stolz")["office"].possibly is True


@pytest.mark.parametrize("stated", [None, "1994-10-03", "1994-10-03T00:00:00Z", "-infinity"])
def test_a_start_that_is_a_day_or_an_instant_is_certain(memory: Memory, stated: str | None) -> None:
    receipt = memory.write("Vera Stolz", "office", "Turin", valid_from=stated)
    state = memory.as_of().slot("Vera Stolz", "office")
    assert (state.precision, state.possibly) == ("", False)
    assert memory.explain(receipt.object_id).object.precision == ""


def test_a_piece_that_begins_later_than_the_stated_span_has_an_exact_start(memory: Memory) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from="1994")
    memory.write("Vera Stolz", "office", "Ghent", valid_from="1994-06-01", valid_until="1994-07-31",
                 op="correct")  # fmt: skip
    timeline = memory.as_of().timeline("Vera Stolz", "office")
    assert [(s.state.value, s.state.precision) for s in timeline] == [
        ("Turin", "year"), ("Ghent", ""), ("Turin", ""),
    ]  # fmt: skip
    assert memory.as_of("1994-09-01").slot("Vera Stolz", "office").possibly


def test_a_constant_slot_always_held_whatever_year_is_stated(memory: Memory) -> None:
    memory.write("Vera Stolz", "birthday", "1979-03-09", valid_from="1994")
    state = memory.as_of("1994-05-01").slot("Vera Stolz", "birthday")
    assert (state.valid_from, state.precision, state.possibly) == (None, "", False)


def test_one_of_many_values_that_is_only_possible_makes_the_answer_possible(memory: Memory) -> None:
    memory.write("Vera Stolz", "skill", "welding", valid_from="1990-01-01")
    memory.write("Vera Stolz", "skill", "brazing", valid_from="1994-05")
    state = memory.as_of("1994-05-20").slot("Vera Stolz", "skill")
    assert (state.values, state.precision, state.possibly) == (
        ("welding", "brazing"), "month", True,
    )  # fmt: skip


def test_history_and_compiled_lines_print_what_was_stated(memory: Memory) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from="2007")
    memory.write("Vera Stolz", "phone", "+39 011 5550199", valid_from="2007-01-01")
    (row,) = memory.history("Vera Stolz", "office")
    assert (row.precision, held_span(row)) == ("year", "from 2007")
    text = memory.compile("assistant", "Vera Stolz", budget_tokens=900).text
    assert "office = Turin (since 2007)" in text
    assert "5550199 (since 2007-01-01)" in text


def test_a_table_keeps_months_and_years_in_its_zone(tmp_path: Path, memory: Memory) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "n,v,f\nVera Stolz,Turin,1994\nIvo Kraan,Ghent,10/1994\nAda Lo,Rome,3.10.1994\n"
    )
    mapping = {
        "zone": "Europe/Berlin",
        "dates": ["%d.%m.%Y", "%m/%Y", "%Y"],
        "common": {"subject": {"name": "{n}", "type": "person"}, "valid_from": "{f}"},
        "event": [{"slot": "office", "value": "{v}"}],
    }
    memory.ingest(path, mapping=mapping)
    states = [memory.as_of().slot(n, "office") for n in ("Vera Stolz", "Ivo Kraan", "Ada Lo")]
    assert list(map(held_span, states)) == [
        "from 1994", "from 1994-10", "from 1994-10-02 23:00:00Z",
    ]  # fmt: skip


def test_an_export_keeps_the_stated_span(tmp_path: Path, open_memory: Open) -> None:
    memory = open_memory()
    memory.write("Vera Stolz", "office", "Turin", valid_from="1994")
    memory.export(tmp_path / "e.jsonl")
    copy = open_memory()
    copy.import_file(tmp_path / "e.jsonl")
    state = copy.as_of("1994-06").slot("Vera Stolz", "office")
    assert held_span(state) == "from 1994, possibly"


@pytest.mark.parametrize(
    ("said", "span"),
    [
        ("I have worked at Quarry Works since 2019.", "from 2019"),
        ("I joined Quarry Works in May 2019.", "from 2019-05"),
        ("Ich arbeite seit Mai 2019 bei Quarry Works.", "from 2019-05"),
        ("I joined Quarry Works last year.", "from 2025"),
        ("I joined Quarry Works on 3 May 2019.", "from 2019-05-03"),
    ],
)
def test_talk_keeps_the_month_or_year_that_it_states(memory: Memory, said: str, span: str) -> None:
    memory.observe(said, speaker="Olga Brandt", at="2026-06-20T09:00:00Z")
    assert held_span(memory.as_of().slot("Olga Brandt", "employer")) == span


# ---- A correction that states the value which holds, with a later start, moves its start.

FEBRUARY, MARCH, APRIL, MAY = (f"2026-0{month}-01T00:00:00Z" for month in (2, 3, 4, 5))


@pytest.mark.parametrize(
    ("slot", "value"),
    [("office", "Turin"), ("manager", "Ivo Kraan"), ("skill", "welding"), ("status", "open")],
)
def test_the_value_no_longer_holds_before_its_later_start(
    memory: Memory, slot: str, value: str
) -> None:
    subject = "Orchard" if slot == "status" else "Vera Stolz"
    memory.write(subject, slot, value, valid_from=FEBRUARY)
    known = memory.as_of().value(subject, slot)
    moved = memory.write(subject, slot, value, valid_from=APRIL, op="correct")
    assert moved.outcome == "accepted"
    assert memory.as_of(valid=MARCH).value(subject, slot) is None
    assert memory.as_of(valid=MAY).value(subject, slot) == known
    (row,) = (row for row in memory.history(subject, slot) if row.object_id == moved.object_id)
    assert row.valid_from is not None
    assert row.valid_from.isoformat() == "2026-04-01T00:00:00+00:00"


def test_a_moved_start_leaves_other_values_and_later_changes_alone(memory: Memory) -> None:
    memory.write("Vera Stolz", "skill", "welding", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "skill", "brazing", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "skill", "welding", valid_from=APRIL, op="correct")
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "skill") == "brazing"
    assert set(memory.as_of(valid=MAY).value("Vera Stolz", "skill")) == {"welding", "brazing"}


def test_what_a_value_had_taken_the_place_of_holds_again_until_its_later_start(
    memory: Memory,
) -> None:
    memory.write("Vera Stolz", "office", "Ghent", valid_from="2025-01-01T00:00:00Z")
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "office", "Turin", valid_from=APRIL, op="correct")
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Ghent"
    assert memory.as_of(valid=MAY).value("Vera Stolz", "office") == "Turin"


@pytest.mark.parametrize("start", [None, FEBRUARY, "2026-01-01T00:00:00Z"])
def test_a_correction_without_a_later_start_takes_nothing_back(
    memory: Memory, start: str | None
) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    memory.write("Vera Stolz", "office", "Turin", valid_from=start, op="correct")
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Turin"


def test_a_start_moves_in_a_batch_in_a_preview_and_once_for_a_retry(memory: Memory) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    move = Write(
        subject="Vera Stolz", slot="office", value="Turin", valid_from=APRIL, op="correct",
        idempotency_key="move-1",
    )  # fmt: skip
    assert memory.write_many([move], dry_run=True)[0].outcome == "accepted"
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Turin"
    phone = Write(subject="Vera Stolz", slot="phone", value="1")
    receipts = memory.write_many([phone, move])
    assert [receipt.outcome for receipt in receipts] == ["accepted", "accepted"]
    assert memory.write_many([move])[0].object_id == receipts[1].object_id
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") is None


def test_a_text_that_says_actually_moves_no_start(memory: Memory) -> None:
    memory.observe("I live in Turin.", speaker="Vera Stolz", at=FEBRUARY)
    memory.observe("Actually, I live in Turin.", speaker="Vera Stolz", at=APRIL)
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "home") == "Turin"


def test_a_weaker_writer_moves_no_start(memory: Memory) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from=FEBRUARY)
    memory.write(
        "Vera Stolz", "office", "Turin", valid_from=APRIL, op="correct", authority_level=3,
        source_origin="agent://a",
    )  # fmt: skip
    assert memory.as_of(valid=MARCH).value("Vera Stolz", "office") == "Turin"


def test_a_moment_before_1970_is_certain_unless_its_span_is_not(memory: Memory) -> None:
    memory.write("Vera Stolz", "office", "Turin", valid_from="1950-06-01")
    memory.write("Vera Stolz", "office", "Genoa", valid_from="1969")
    assert not memory.as_of("1960").slot("Vera Stolz", "office").possibly
    assert memory.as_of("1969-12-31").slot("Vera Stolz", "office").possibly
    assert not memory.as_of("1970").slot("Vera Stolz", "office").possibly
