"""Tables and checks: a mapping makes events of rows, and every wrong line is told at once."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tenure
from tenure.faces.cli.main import app
from tenure.schema.errors import Forbidden, InvalidInput, NotFound, TenureError
from tenure.schema.principal import Principal
from tenure.service.client.memory import Memory
from tenure.service.writing.csv_mapping import fill_template, read_mapping
from tenure.service.writing.lines import Reading, batches, read
from tenure.service.writing.lines import lines_of as import_lines
from tenure.service.writing.refusals import MOST_TOLD
from tenure.tests.support.refusals import refused

PEOPLE = """\
Id;First;Last;Office;Since;Weight;Remote
7;Sam;Rivera;Chicago;01.06.2026;"71,5";yes
8;Kim;Lee;;02.06.2026;;no
9;Ann;"Lee;
Smith";Boston;03.06.2026;60;
"""
MAPPING: dict[str, Any] = {
    "delimiter": ";",
    "zone": "Europe/Berlin",
    "dates": "%d.%m.%Y",
    "decimal": ",",
    "common": {
        "subject": {"name": "{First} {Last}", "type": "person", "external_ids": {"hr": "{Id}"}},
        "valid_from": "{Since}",
        "source_origin": "record://hr/{Id}",
    },
    "event": [
        {"slot": "office", "value": "{Office}"},
        {"slot": "weight", "value": "{Weight}", "value_type": "number"},
        {"slot": "remote", "value": "{Remote}", "value_type": "boolean"},
    ],
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with tenure.connect(str(tmp_path / "m.db")) as memory:
        define = memory.vocabulary.define_slot
        define("weight", value_type="number", description="the weight in kilograms")
        define("remote", value_type="boolean", description="whether somebody works from home")
        yield memory


def saved(folder: Path, text: str, name: str = "people.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_mapping_makes_events_of_the_rows_of_a_table(memory: Memory, tmp_path: Path) -> None:
    report = memory.ingest(saved(tmp_path, PEOPLE), mapping=MAPPING)
    view = memory.as_of("2026-07-01T00:00:00Z")

    # Kim has neither office nor weight: an empty cell says nothing.
    assert (report.events, report.refused) == (6, 0)
    assert view.value("Sam Rivera", "office") == "Chicago"
    assert view.value("Sam Rivera", "weight") == 71.5
    assert view.value("Sam Rivera", "remote") is True
    assert view.value("Kim Lee", "remote") is False
    assert view.slot("Kim Lee", "office").status == "unknown"
    begin = view.slot("Sam Rivera", "office").valid_from
    assert begin is not None
    assert begin.isoformat() == "2026-05-31T22:00:00+00:00"
    assert view.entity("Sam Rivera").external_ids == {"hr": ("7",)} or "7" in str(
        view.entity("Sam Rivera").external_ids
    )


@pytest.mark.parametrize(
    ("decimal", "cell", "expected"),
    [
        (",", "71.500,50", 71500.5),
        (",", "54.000", 54000),
        (",", "1.234.567", 1234567),
        (",", "-1\N{NARROW NO-BREAK SPACE}200,5", -1200.5),
        (".", "71,500.50", 71500.5),
        (".", "2\N{RIGHT SINGLE QUOTATION MARK}000", 2000),
        (".", "1e3", 1000),
        ("", "71500.5", 71500.5),
        (",", "5.4", None),
        (",", "1.234 567", None),
        (".", "1.234.567", None),
        ("", "54,000", None),
    ],
)
def test_a_stated_decimal_sign_allows_another_between_thousands(
    memory: Memory, tmp_path: Path, decimal: str, cell: str, expected: float | None
) -> None:
    mapping = {
        "delimiter": ";",
        "common": {"subject": "{Name}"},
        "event": [{"slot": "weight", "value": "{Weight}", "value_type": "number"}],
    } | ({"decimal": decimal} if decimal else {})
    table = saved(tmp_path, f"Name;Weight\nSam Rivera;{cell}\n")
    report = memory.ingest(table, mapping=mapping, keep_going=True)
    assert [line.code for line in report.rejected] == ([] if expected else ["bad_value"])
    assert memory.as_of().value("Sam Rivera", "weight") == expected


def test_a_decimal_comma_leaves_the_commas_of_other_cells(memory: Memory, tmp_path: Path) -> None:
    mapping = {
        "delimiter": ";",
        "decimal": ",",
        "common": {"subject": "{Name}"},
        "event": [{"slot": "office", "value": "{Office}", "value_type": "string"}],
    }
    memory.ingest(saved(tmp_path, "Name;Office\nSam;Berlin, Mitte\n"), mapping=mapping)
    assert memory.as_of().value("Sam", "office") == "Berlin, Mitte"


def test_a_line_break_inside_a_cell_does_not_shift_the_numbers(
    memory: Memory, tmp_path: Path
) -> None:
    text = PEOPLE + "10;Bo;Ray;Austin;June;;\n"
    report = memory.ingest(saved(tmp_path, text), mapping=MAPPING, check=True)
    (refusal,) = report.rejected
    assert (refusal.line, refusal.field, refusal.code) == (6, "valid_from", "bad_time")
    assert "%d.%m.%Y" in refusal.reason


def test_without_a_mapping_the_columns_are_the_fields(memory: Memory, tmp_path: Path) -> None:
    text = "\ufeffsubject.name,subject.type,slot,value\nSam Rivera,person,office,Chicago\n"
    packed = tmp_path / "facts.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert memory.ingest(packed).events == 1
    assert memory.as_of().entity("Sam Rivera").type == "person"

    tabs = saved(tmp_path, "subject\tslot\tvalue\nKim Lee\toffice\tBoston\n", "facts.tsv")
    assert memory.ingest(tabs).events == 1


BAD_TABLES: list[tuple[str, dict[str, Any] | None, str, str]] = [
    ("Name,Office\nSam,Chicago\n", None, "unknown_column", "--map"),
    ("Name,Office\nSam,Chicago\n", None, "unknown_column", "subject, slot, value"),
    ("Name;Office\nSam;Chicago\n", None, "unknown_column", 'delimiter = ";"'),
    ("subject,slot,valeu\n", None, "unknown_column", "did you mean 'value'"),
    ("Name,Name\nSam,Sam\n", None, "bad_file", "occurs twice: Name"),
    ("", None, "bad_file", "no header"),
    ('[{"First": "Sam"}]', MAPPING, "bad_file", "a JSON list"),
    ('subject,slot,value\nSam,office,"Chi', None, "bad_file", "line 2"),
    (PEOPLE, MAPPING | {"event": [{"slot": "office", "value": "{Ofice}"}]}, "unknown_column", "Of"),
    (PEOPLE, MAPPING | {"event": []}, "bad_mapping", "at least one"),
    (PEOPLE, MAPPING | {"common": 3}, "bad_mapping", "are tables"),
    (PEOPLE, MAPPING | {"delimeter": ";"}, "bad_mapping", "did you mean 'delimiter'"),
    (PEOPLE, MAPPING | {"delimiter": ";;"}, "bad_mapping", "one character"),
    (PEOPLE, MAPPING | {"encoding": 8}, "bad_mapping", "must be a text"),
    (PEOPLE, MAPPING | {"encoding": "utf-9"}, "bad_mapping", "no encoding"),
    (PEOPLE, MAPPING | {"zone": "Europe/Bern"}, "bad_mapping", "no time zone"),
    (PEOPLE, MAPPING | {"event": [{"value_type": "numbr"}]}, "bad_mapping", "'number'"),
]


EXPORT = """\
sep=;
"Issues, as of today"

 Key ;Label;Label;Assignee;Born;Sure
K-1;a;b;Sara Lund;03.04.1979;0,9
 Key ;Label;Label;Assignee;Born;Sure
K-2;;;;;
"""
ASSIGNEE = {"name": "{Assignee}", "type": "person"}
EXPORT_EVENTS: list[dict[str, Any]] = [
    {"slot": "status", "value": "open", "confidence": "{Sure}"},
    {"slot": "owner", "value": ASSIGNEE},
    {"subject": ASSIGNEE, "slot": "birthday", "value": "{Born}", "value_type": "date"},
]


def test_an_export_with_repeated_columns_and_headers_is_read(
    memory: Memory, tmp_path: Path
) -> None:
    common = {"subject": {"name": "issue {Key}", "type": "project"}}
    forms = {"delimiter": ";", "decimal": ",", "zone": "Europe/Oslo", "dates": "%d.%m.%Y"}
    mapping: dict[str, Any] = {**forms, "common": common, "event": EXPORT_EVENTS}
    report = memory.ingest(saved(tmp_path, EXPORT), mapping=mapping)
    # The second issue has no assignee: an entity of empty cells is no value.
    assert (report.events, report.refused) == (4, 0)
    assert len(memory.entities.list()) == 3
    assert memory.as_of().value("Sara Lund", "birthday") == "1979-04-03"


def test_a_mapping_reads_nested_json_objects(memory: Memory, tmp_path: Path) -> None:
    rows = [{"user": {"name": "Ava Lindt"}, "title": "smith", "at": 1767225600}, {"user": None}]
    path = saved(tmp_path, "\n".join(map(json.dumps, rows)), "people.jsonl")
    event = {"subject": "{user.name}", "slot": "title", "value": "{title}", "valid_from": "{at}"}
    assert memory.ingest(path, mapping={"event": [event]}).events == 1
    (stretch,) = memory.as_of().timeline("Ava Lindt", "title")
    assert stretch.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
    with refused(InvalidInput, "unknown_column", match="'post.role'"):
        memory.ingest(path, mapping={"event": [{**event, "value": "{post.role}"}]})


@pytest.mark.parametrize(("text", "mapping", "code", "says"), BAD_TABLES)
def test_a_table_that_fits_no_mapping_is_refused_before_its_rows(
    memory: Memory,
    tmp_path: Path,
    text: str,
    mapping: dict[str, Any] | None,
    code: str,
    says: str,
) -> None:
    with refused(InvalidInput, code) as caught:
        memory.ingest(saved(tmp_path, text), mapping=mapping)
    assert says in str(caught.value)
    assert memory.as_of().tx is None


BAD_ROWS: list[tuple[str, str, str]] = [
    ("7;Sam;Rivera;Chicago;01.06.2026;heavy;yes", "bad_value", "value"),
    ("7;Sam;Rivera;Chicago;01.06.2026;7;perhaps", "bad_value", "value"),
    ("7;Sam;Rivera;Chicago;1 June;7;yes", "bad_time", "valid_from"),
    ("7;Sam;Rivera;Chicago;01.06.2026;7;yes;more", "bad_row", ""),
]


@pytest.mark.parametrize(("row", "code", "field"), BAD_ROWS)
def test_a_row_that_cannot_be_an_event_is_refused_alone(
    memory: Memory, tmp_path: Path, row: str, code: str, field: str
) -> None:
    path = saved(tmp_path, PEOPLE + row + "\n")
    report = memory.ingest(path, mapping=MAPPING, keep_going=True)
    assert [(r.line, r.code, r.field) for r in report.rejected] == [(6, code, field)]
    assert report.events == 6
    assert "Rivera" in report.rejected[0].text


def test_a_mended_row_is_read_again_by_its_mapping(memory: Memory, tmp_path: Path) -> None:
    row = "10;Zoe;Park;Oslo;1 June;7;yes\n10;Zoe;Park;Rome;1 July;8;yes\n"
    path = saved(tmp_path, PEOPLE + row)
    report = memory.ingest(path, mapping=MAPPING, keep_going=True)
    assert report.rejects_file is not None
    rejects = Path(report.rejects_file)
    first, second = rejects.read_text(encoding="utf-8").splitlines()
    mended = first.replace("1 June", "01.06.2026")
    rejects.write_text(f"{mended}\n{second}\n", encoding="utf-8")

    retried = memory.ingest(rejects, mapping=MAPPING, retry=True, keep_going=True)
    assert retried.events == 3
    assert [(r.line, r.code, r.field) for r in retried.rejected] == [(7, "bad_time", "valid_from")]
    assert memory.as_of("2026-07-01T00:00:00Z").value("Zoe Park", "office") == "Oslo"


def test_a_time_without_a_zone_asks_for_one_in_the_mapping(memory: Memory, tmp_path: Path) -> None:
    zoneless = {name: part for name, part in MAPPING.items() if name != "zone"}
    zoneless["dates"] = "%d.%m.%Y %H:%M"
    table = PEOPLE.replace(".2026;", ".2026 12:00;")
    with refused(InvalidInput, "rejected_lines", match="state zone = "):
        memory.ingest(saved(tmp_path, table), mapping=zoneless)


def test_other_encodings_are_named_in_the_mapping(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("subject,slot,value\nSam Rivera,office,Zürich\n".encode("cp1252"))
    with refused(InvalidInput, "bad_file", match="state its encoding"):
        memory.ingest(path)
    mapping = {
        "encoding": "cp1252",
        "event": [{"subject": "{subject}", "slot": "{slot}", "value": "{value}"}],
    }
    memory.ingest(path, mapping=mapping)
    assert memory.as_of().value("Sam Rivera", "office") == "Zürich"


def test_a_mapping_is_read_from_toml_and_json(tmp_path: Path) -> None:
    toml = saved(tmp_path, 'zone = "UTC"\n[[event]]\nslot = "office"\n', "m.toml")
    as_json = saved(tmp_path, '{"zone": "UTC", "event": [{"slot": "office"}]}', "m.json")
    assert read_mapping(toml) == read_mapping(as_json)
    with pytest.raises(NotFound):
        read_mapping(tmp_path / "none.toml")
    for broken in ("zone = ", "\udcff"):
        path = tmp_path / "broken.toml"
        path.write_bytes(broken.encode("utf-8", "surrogateescape"))
        with refused(InvalidInput, "bad_mapping"):
            read_mapping(path)
    with pytest.raises(InvalidInput):
        read_mapping(saved(tmp_path, "[1]", "list.json"))
    with refused(TenureError, "file_unreadable"):
        read_mapping(tmp_path)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"mapping": 5}, "bad_mapping"),
        ({"check": "yes"}, "bad_field"),
        ({"chekc": True}, "unknown_vocabulary"),
    ],
)
def test_an_option_of_an_import_that_is_none_is_refused(
    memory: Memory, tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    with refused(InvalidInput, code):
        memory.ingest(saved(tmp_path, PEOPLE), **options)


def test_a_template_keeps_what_is_no_text(memory: Memory) -> None:
    template = {"confidence": 0.9, "subject": {"aliases": ["{A}", "{B}"]}, "content": "fixed"}
    assert fill_template(template, {"A": "", "B": "Sam"}) == {
        "confidence": 0.9,
        "subject": {"aliases": ["Sam"]},
        "content": "fixed",
    }


# ---- all refusals at once


def told_lines(error: TenureError) -> list[dict[str, Any]]:
    """The refused lines that an error's data has."""
    lines: Any = error.data["refused"]
    return list(lines)


def lines_of(*events: Any) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


WRONG = lines_of(
    {"subject": "Sam Rivera", "slot": "ofice", "value": "Chicago"},
    {"subject": "Sam Rivera", "slot": "office", "value": "Chicago"},
    {"subject": "Sam Rivera", "slot": "office", "value": "Boston", "valid_until": "June"},
    {"subject": "Sam Rivera", "slot": "office", "valeu": "Boston"},
)


def test_all_wrong_lines_are_told_at_once(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.ingest(saved(tmp_path, WRONG, "events.jsonl"))
    error = caught.value
    assert (error.code, error.data["total"]) == ("rejected_lines", 3)
    told = [(each["line"], each["field"], each["code"]) for each in told_lines(error)]
    assert told == [
        (1, "slot", "unknown_vocabulary"),
        (3, "valid_until", "bad_time"),
        (4, "valeu", "unknown_field"),
    ]
    for words in ("3 lines", "line 1: ", "did you mean 'office'", "did you mean 'value'"):
        assert words in str(error)
    assert memory.as_of().tx is None


def test_many_wrong_lines_are_counted_beyond_the_first(memory: Memory, tmp_path: Path) -> None:
    path = saved(tmp_path, lines_of(*[{"slot": "ofice"}] * (MOST_TOLD + 30)), "events.jsonl")
    report = memory.ingest(path, check=True)
    assert (report.refused, report.checked) == (MOST_TOLD + 30, MOST_TOLD + 30)
    assert len(report.rejected) == MOST_TOLD
    with pytest.raises(InvalidInput, match=r"… and 110 more") as caught:
        memory.ingest(path)
    assert len(told_lines(caught.value)) == MOST_TOLD


def test_refusals_of_one_kind_keep_their_kind(memory: Memory, tmp_path: Path) -> None:
    define = {"define": "slot", "name": "badge", "description": "the colour of the badge"}
    path = saved(tmp_path, lines_of(define, define | {"name": "desk"}), "events.jsonl")
    with refused(Forbidden, "rejected_lines"):
        memory.bind(Principal(user="sam")).ingest(path)


def test_a_check_writes_nothing_and_says_what_is_sound(memory: Memory, tmp_path: Path) -> None:
    path = saved(tmp_path, WRONG, "events.jsonl")
    report = memory.ingest(path, check=True, keep_going=True)
    assert (report.checked, report.refused, report.events) == (4, 3, 0)
    assert report.rejects_file is None
    assert sorted(tmp_path.glob("*.rejects*")) == []
    assert memory.as_of().tx is None


# ---- the rejects of an import, again


def test_mended_rejects_are_taken_and_the_file_goes(memory: Memory, tmp_path: Path) -> None:
    path = saved(tmp_path, WRONG, "events.jsonl")
    report = memory.ingest(path, keep_going=True)
    rejects = Path(str(report.rejects_file))
    records = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [record["line"] for record in records] == [1, 3, 4]

    # One is mended in its text, one as an object, and one is left as it was.
    records[0]["text"] = records[0]["text"].replace("ofice", "team")
    records[1]["event"] = {"subject": "Kim Lee", "slot": "office", "value": "Boston"}
    rejects.write_text(lines_of(*records))
    again = memory.ingest(rejects, retry=True)
    assert (again.events, [r.line for r in again.rejected]) == (2, [4])
    assert again.rejects_file == str(rejects)
    assert memory.as_of().value("Kim Lee", "office") == "Boston"

    (left,) = (json.loads(line) for line in rejects.read_text().splitlines())
    left["text"] = left["text"].replace("valeu", "value")
    rejects.write_text(lines_of(left))
    assert memory.ingest(rejects, retry=True, check=True).refused == 0
    assert rejects.exists()
    assert memory.ingest(rejects, retry=True).events == 1
    assert not rejects.exists()


def test_a_line_that_held_a_secret_stays_refused_until_it_is_stated_anew(
    memory: Memory, tmp_path: Path
) -> None:
    record = {"line": 3, "code": "secret_in_content", "reason": "", "text": ""}
    rejects = saved(tmp_path, lines_of(record), "events.rejects.jsonl")
    (refusal,) = memory.ingest(rejects, retry=True).rejected
    assert (refusal.line, refusal.code) == (3, "secret_in_content")
    assert "without the secret" in refusal.reason


@pytest.mark.parametrize(
    ("text", "code"),
    [(lines_of({"subject": "Sam"}), "bad_rejects"), ("{broken\n", "bad_json")],
)
def test_a_file_of_anything_else_is_no_rejects_file(
    memory: Memory, tmp_path: Path, text: str, code: str
) -> None:
    with refused(InvalidInput, code):
        memory.ingest(saved(tmp_path, text, "events.jsonl"), retry=True)


def test_a_retry_is_no_history(memory: Memory, tmp_path: Path) -> None:
    with refused(InvalidInput, "bad_settings"):
        memory.ingest(tmp_path / "a.rejects.jsonl", retry=True, replay=True)


@pytest.mark.parametrize("wish", [{}, {"mapping": {"event": [{}]}}, {"check": True}])
def test_refused_lines_are_loaded_by_a_retry_alone(
    memory: Memory, tmp_path: Path, wish: dict[str, Any]
) -> None:
    with refused(InvalidInput, "bad_settings", match="--retry"):
        memory.ingest(tmp_path / "a.rejects.jsonl", **wish)


# ---- on the command line


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["--store", str(folder / "team.db"), "ingest", *words])
    return done.exit_code, done.stdout, done.stderr


def test_a_check_makes_no_store_and_names_every_line(tmp_path: Path) -> None:
    path = saved(tmp_path, WRONG, "events.jsonl")
    code, out, _ = run(tmp_path, str(path), "--check")
    head, *told = out.splitlines()
    assert (code, head.startswith("4 lines checked")) == (1, True)
    assert head.endswith("1 sound; nothing was written")
    numbers = [line.split()[1] for line in told if line.startswith("line ")]
    assert numbers == ["1:", "3:", "4:"]
    assert not (tmp_path / "team.db").exists()


def test_a_table_is_loaded_with_a_mapping_and_its_rejects_again(tmp_path: Path) -> None:
    table = saved(tmp_path, "Name,Office\nSam Rivera,Chicago\nKim Lee,Boston\n")
    mapping = saved(
        tmp_path, '[[event]]\nsubject = "{Name}"\nslot = "ofice"\nvalue = "{Office}"\n', "m.toml"
    )
    code, _, told = run(tmp_path, str(table), "--map", str(mapping))
    assert (code, "rejected_lines" in told, told.count("did you mean 'office'")) == (1, True, 2)

    code, out, told = run(tmp_path, str(table), "--map", str(mapping), "--keep-going")
    rejects = tmp_path / "people.rejects.jsonl"
    assert (code, "2 lines refused" in out, str(rejects) in told.replace("\n", "")) == (
        1,
        True,
        True,
    )
    rejects.write_text(rejects.read_text().replace("ofice", "office"))
    code, out, _ = run(tmp_path, str(rejects), "--retry")
    assert (code, "2 events written" in out, rejects.exists()) == (0, True, False)


MEMBERS = """\
No,Name,Town,Born,Mail
1,Olga Brandt,Ulm,1951-04-09,brandt@post.example
2,Olga Brandt,Ulm,1979-11-22,brandt@post.example
3,Olga Brandt,Kassel,1951-04-09,
4,Olga Brandt,Kassel,1979-11-22,
"""
NAMESAKES: dict[str, Any] = {
    "common": {
        "subject": {"name": "{Name}", "type": "person", "external_ids": {"email": "{Mail}"}}
    },
    "event": [{"slot": "office", "value": "{Town}"}, {"slot": "birthday", "value": "{Born}"}],
}


@pytest.mark.parametrize("origin", [None, "record://members/{No}"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_row_is_weighed_as_a_whole_before_its_name_binds(
    memory: Memory, tmp_path: Path, *, origin: str | None, turned: bool
) -> None:
    head, *rows = MEMBERS.splitlines(keepends=True)
    path = saved(tmp_path, head + "".join(reversed(rows) if turned else rows))
    common = NAMESAKES["common"] | ({"source_origin": origin} if origin else {})
    assert not memory.ingest(path, mapping=NAMESAKES | {"common": common}).rejected
    people = memory.entities.list("person")
    view = memory.as_of()
    births = sorted(view.value(person.entity_id, "birthday") for person in people)
    assert births == ["1951-04-09", "1979-11-22"]
    assert memory.reviews.list() == ()


def test_lines_of_one_record_are_weighed_together_and_share_a_batch(
    memory: Memory, tmp_path: Path
) -> None:
    def lines(number: int, born: str) -> list[dict[str, Any]]:
        line: dict[str, Any] = {"subject": {"name": "Mark Ellis", "type": "person"}}
        line["source_origin"] = f"record://members/{number}"
        return [line | {"slot": s, "value": v} for s, v in (("office", "1"), ("birthday", born))]

    events = [*lines(1, "1961-02-17"), *lines(2, "1994-10-05")]
    memory.ingest(saved(tmp_path, "".join(json.dumps(event) + "\n" for event in events), "e.jsonl"))
    assert len(memory.entities.list("person")) == 2
    read_events = [read(line, Reading()) for line in import_lines(events)]
    assert [len(batch) for batch in batches(read_events, 1)] == [2, 2]
    assert [len(batch) for batch in batches(read_events[:1] * 5, 2)] == [4, 1]
