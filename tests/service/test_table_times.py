"""Local times, dates, months and years in the cells of a table."""

from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Memory
from tenure.service.backend.caller import instant
from tenure.service.writing.csv_mapping import read_mapping
from tenure.tests.support.refusals import refused

EVENT = {"subject": {"name": "{n}", "type": "person"}, "slot": "office", "value": "{v}"}
GAP, FOLD = "2026-03-08 02:15", "2026-11-01 01:30"


def read_time(text: str, field: str = "valid_from", **settings: Any) -> str:
    mapping = {"zone": "America/New_York", **settings, "event": [{**EVENT, field: "{t}"}]}
    ((event),) = read_mapping(mapping).events({"n": "Vera Stolz", "v": "Turin", "t": text})
    return str(event[field])


@pytest.mark.parametrize(
    ("zone", "text", "candidates"),
    [
        ("America/New_York", GAP, ("2026-03-08T01:15:00-05:00", "2026-03-08T03:15:00-04:00")),
        ("America/New_York", FOLD, ("2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00")),
        ("Australia/Sydney", "2026-10-04 02:30", ("T01:30:00+10:00", "T03:30:00+11:00")),
        ("Pacific/Apia", "2011-12-30", ("2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00")),
    ],
)
def test_a_local_time_that_is_not_there_or_twice_is_refused_with_both_instants(
    zone: str, text: str, candidates: tuple[str, str]
) -> None:
    with refused(InvalidInput, "bad_time") as refusal:
        instant(read_time(text, zone=zone), field="valid_from")
    assert all(candidate in str(refusal.value) for candidate in candidates)


@pytest.mark.parametrize(("word", "offset"), [("first", "-04:00"), ("second", "-05:00")])
def test_a_mapping_says_which_of_two_equal_local_times_is_meant(word: str, offset: str) -> None:
    assert read_time(FOLD, ambiguous=word) == f"2026-11-01T01:30:00{offset}"
    with pytest.raises(InvalidInput):
        read_time(GAP, ambiguous=word)


@pytest.mark.parametrize(
    ("text", "field", "zone", "expected"),
    [
        ("2026-06-01", "valid_from", "America/New_York", "2026-06-01T04:00:00Z"),
        ("2026-06", "valid_from", "America/New_York", "2026-06-01T04:00:00Z"),
        ("1994", "valid_from", None, "1994-01-01T00:00:00Z"),
        ("2026-06-01", "valid_until", None, "2026-06-02T00:00:00Z"),
        ("2026-02", "valid_until", "Europe/Berlin", "2026-02-28T23:00:00Z"),
        ("1994", "valid_until", None, "1995-01-01T00:00:00Z"),
        # Midnight is skipped there: the day begins at one.
        ("2018-11-04", "valid_from", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
        ("9999", "valid_until", None, "infinity"),
    ],
)
def test_a_date_stands_for_its_first_instant_and_an_end_goes_through_it(
    text: str, field: str, zone: str | None, expected: str
) -> None:
    time = read_time(text, field, zone=zone)
    assert instant(time, field=field) == instant(expected, field=field)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("01.06.2026", "2026-06-01T00:00:00Z"),
        ("06/2026", "2026-06-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z"),
        ("01.06.2026 12:30", "2026-06-01T12:30:00+00:00"),
    ],
)
def test_the_first_form_of_a_list_that_fits_counts(text: str, expected: str) -> None:
    forms = ["%d.%m.%Y", "%d.%m.%Y %H:%M", "%m/%Y", "%Y"]
    time = read_time(text, zone="UTC", dates=forms)
    assert instant(time, field="valid_from") == instant(expected, field="valid_from")


@pytest.mark.parametrize("text", ["about 1994", "before 1994", "1994/95"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is no time"):
        read_time(text)


@pytest.mark.parametrize("settings", [{"ambiguous": "third"}, {"dates": [7]}])
def test_a_mapping_with_another_word_is_refused(settings: dict[str, Any]) -> None:
    with refused(InvalidInput, "bad_mapping"):
        read_time("2026", **settings)


@pytest.mark.parametrize("until", ["2018-04-01T00:00:00Z", "2018-04", "2018"])
def test_an_end_without_a_start_is_refused_by_the_check_as_by_the_load(
    memory: Memory, tmp_path: Path, until: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"n,v,u\nVera Stolz,Turin,{until}\n")
    mapping = {"event": [{**EVENT, "valid_until": "{u}"}]}
    check = memory.ingest(path, mapping=mapping, check=True)
    (refused,) = check.rejected
    with pytest.raises(InvalidInput, match=r"state valid_from, or -infinity") as refusal:
        memory.ingest(path, mapping=mapping)
    assert refusal.value.code == refused.code == "start_missing"

    with pytest.raises(InvalidInput) as direct:
        memory.write("Vera Stolz", "office", "Turin", valid_until=until)
    assert direct.value.code == "start_missing"
    # An unknown start is stated, and what cannot change has none.
    memory.write("Vera Stolz", "office", "Turin", valid_from="-infinity", valid_until=until)
    memory.write("Vera Stolz", "birthplace", "Turin", valid_until=until)
