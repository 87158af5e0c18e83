"""A file of another form is named with the way to load it; cells stand for what a table says."""

import json
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure import InvalidInput
from tenure.tests.support.refusals import refused

EVENT = {"subject": "Vera Stolz", "slot": "office", "value": "Turin"}
FORMS = {
    "JSON list": json.dumps([EVENT]),
    "a JSON list": json.dumps([EVENT, EVENT], indent=2),
    "one JSON document": json.dumps(EVENT, indent=2),
    "one JSON document over": json.dumps({"records": [EVENT]}, indent=1),
    "chat export": json.dumps([{"title": "x", "mapping": {}, "create_time": 1}]),
    "a chat export": "[01.02.2024, 10:11:12] Vera: hello\n",
    "vCard": "BEGIN:VCARD\nVERSION:3.0\nFN:Vera\nEND:VCARD\n",
    "iCalendar": "BEGIN:VCALENDAR\nEND:VCALENDAR\n",
    "mail": "From a@b.example Sat Jan  3 01:05:34 1996\nSubject: x\n\nhello\n",
    "GEDCOM": "0 HEAD\n1 SOUR x\n",
    "Markdown": "# Title\n\nSome text.\n",
}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_another_form_is_named(
    tmp_path: Path, form: str, suffix: str, check: bool
) -> None:
    path = tmp_path / f"file.{suffix}"
    path.write_text(FORMS[form])
    with (
        tenure.connect(":memory:") as memory,
        pytest.raises(InvalidInput, match=form) as caught,
    ):
        memory.ingest(path, check=check)
    assert caught.value.code == "bad_file"


@pytest.mark.parametrize("first", ['{"subject": ', "no json", '{"subject": "a",'])
def test_a_broken_first_line_refuses_that_line_alone(tmp_path: Path, first: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f"{first}\n{json.dumps(EVENT)}\n")
    with tenure.connect(":memory:") as memory:
        report = memory.ingest(path, check=True)
    assert [refusal.line for refusal in report.rejected] == [1]


KINDS: dict[str, Any] = {
    "values": {"Kind": {"Natural Person": "person", "Ltd": "organization"}},
    "common": {"subject": {"name": "{Name}", "type": "{Kind}"}},
    "event": [{"slot": "phone", "value": "{Phone}"}],
}


def loaded(tmp_path: Path, rows: str, mapping: dict[str, Any], **fields: Any) -> Any:
    path = tmp_path / "people.csv"
    path.write_text(f"Name,Kind,Phone\n{rows}")
    with tenure.connect(":memory:") as memory:
        memory.ingest(path, mapping=mapping, **fields)
        return {view.name: view.type for view in memory.entities.list()}


def test_the_cells_of_a_column_stand_for_what_its_table_says(tmp_path: Path) -> None:
    rows = "Vera Stolz,Natural Person,1\nQuarry Works, Ltd ,2\nJo Wend,,3\n"
    types = {"Vera Stolz": "person", "Quarry Works": "organization", "Jo Wend": "unknown"}
    assert loaded(tmp_path, rows, KINDS) == types


def test_a_cell_outside_its_table_refuses_its_row_unless_the_table_has_a_default(
    tmp_path: Path,
) -> None:
    rows = "Vera Stolz,Natural Person,1\nQuarry Works,GmbH,2\n"
    with pytest.raises(InvalidInput, match=r"line 3: Kind 'GmbH' .* Ltd, Natural Person") as caught:
        loaded(tmp_path, rows, KINDS)
    assert (caught.value.code, caught.value.data["field"]) == ("bad_value", "Kind")

    table = {**KINDS["values"]["Kind"], "*": "organization"}
    types = {"Vera Stolz": "person", "Quarry Works": "organization"}
    assert loaded(tmp_path, rows, {**KINDS, "values": {"Kind": table}}) == types


@pytest.mark.parametrize("values", [[], {"Kind": "person"}, {"Kind": {"a": 1}}, {"Sort": {}}])
def test_a_table_of_cells_is_a_table_of_texts_for_a_column(tmp_path: Path, values: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        loaded(tmp_path, "", {**KINDS, "values": values})
    assert caught.value.code == ("unknown_column" if "Sort" in values else "bad_mapping")


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        ("1979-03-09", "1979-03-09"),
        ("1979-03", "1979-03"),
        ("1979", "1979"),
        ("--02-29", "--02-29"),
        ("9 March 1979", "1979-03-09"),
        ("the 3rd of June", "--06-03"),
        ("June 1980", "1980-06"),
        ("9. März 1979", "1979-03-09"),
    ],
)
def test_a_birthday_is_a_day_or_what_is_known_of_it(
    memory: tenure.Memory, stated: str, kept: str
) -> None:
    memory.write("Vera Stolz", "birthday", stated)
    assert memory.as_of().value("Vera Stolz", "birthday") == kept
    assert memory.write("Vera Stolz", "birthday", kept).outcome == "confirmed"


@pytest.mark.parametrize(
    "stated", ["1987-11-31", "1979-13", "--02-30", "tomorrow", "soon", "", 1979, "1979-3-9"]
)
def test_what_is_no_day_is_no_birthday(stated: Any) -> None:
    with tenure.connect(":memory:") as memory, pytest.raises(InvalidInput) as caught:
        memory.write("Vera Stolz", "birthday", stated)
    assert caught.value.code == "value_type_mismatch"


def test_a_list_for_a_slot_of_many_values_says_how_to_write_it() -> None:
    with tenure.connect(":memory:") as memory, pytest.raises(InvalidInput, match="one by one"):
        memory.write("Vera Stolz", "skill", ["welding", "brazing"])


def test_a_rejected_row_is_retried_by_its_mended_text(
    memory: tenure.Memory, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Name,Kind,Phone\nVera Stolz,Natural Person,1\nQuarry Works,GmbH,2\n")
    report = memory.ingest(path, mapping=KINDS, keep_going=True)
    (reject,) = report.rejected
    rejects = Path(str(report.rejects_file))
    assert "GmbH" in reject.text

    rejects.write_text(rejects.read_text().replace("GmbH", "Ltd"))
    retried = memory.ingest(rejects, mapping=KINDS, retry=True)
    assert (retried.events, retried.rejected) == (1, ())
    assert memory.as_of().value("Quarry Works", "phone") == "2"
    assert memory.as_of().entity("Quarry Works").type == "organization"


def test_a_rejected_event_is_retried_as_an_event_beside_a_mapping(
    memory: tenure.Memory, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Name,Kind,Phone\nVera Stolz,Natural Person,1\n")
    mapping = {**KINDS, "event": [{"slot": "telefone", "value": "{Phone}"}]}
    report = memory.ingest(path, mapping=mapping, keep_going=True)
    rejects = Path(str(report.rejects_file))
    rejects.write_text(rejects.read_text().replace("telefone", "phone"))
    retried = memory.ingest(rejects, mapping=KINDS, retry=True)
    assert (retried.events, retried.rejected) == (1, ())


@pytest.mark.parametrize("address", ["", " ", "file:quarry.db", "file:///tmp/quarry.db"])
def test_a_name_that_names_no_store_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with refused(InvalidInput, "bad_settings"):
        tenure.connect(address)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [{"a": "x" * 300_000}, {"x" * 1_000: [{"y": "z" * 299_500}]}])
def test_a_value_of_many_characters_is_refused_by_its_field(value: dict[str, Any]) -> None:
    with tenure.connect(":memory:") as memory, pytest.raises(InvalidInput) as caught:
        memory.write("Kiln Tools", "checkpoint", value)
    assert (caught.value.code, caught.value.data["field"]) == ("too_large", "value")
