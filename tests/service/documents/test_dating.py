"""A version's date is stated, or read where it can be read in one way."""

from datetime import UTC, datetime

import pytest

from tenure.service.documents.dating import effective_date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Effective from 1 June 2026", "2026-06-01"),
        ("effective date: June 1st, 2026", "2026-06-01"),
        ("In force from 2026-06-01 on", "2026-06-01"),
        ("Gültig ab 1. Juni 2026", "2026-06-01"),
        ("gültig ab 01.06.2026", "2026-06-01"),
        ("valid from 25/06/2026", "2026-06-25"),
        ("in Kraft ab 3. März 2026", "2026-03-03"),
    ],
)
def test_a_date_behind_its_words_is_read(text, day):
    dated = effective_date({}, text)
    assert dated.day is not None
    assert (dated.day.date().isoformat(), dated.source) == (day, "text")


@pytest.mark.parametrize(
    "text",
    ["effective 03/04/2026", "effective 1 June 2026, in force from 1 July 2026"],
)
def test_a_date_that_may_be_two_is_the_recording_time(text):
    dated = effective_date({}, text)
    assert (dated.day, dated.source, dated.warning) == (None, "recorded", "ambiguous_date")


@pytest.mark.parametrize("text", ["published 1 June 2026", "x" * 3_000 + " effective 2026-06-01"])
def test_other_dates_are_no_valid_time(text):
    assert effective_date({"published": "2026-06-01"}, text) == (None, "recorded", "")


def test_front_matter_wins_over_text_and_message():
    sent = "2026-01-01T00:00:00+00:00"
    dated = effective_date({"effective_date": "2026-05-01"}, "effective 2026-06-01", sent)
    assert (dated.source, dated.day) == ("front_matter", datetime(2026, 5, 1, tzinfo=UTC))
    assert effective_date({}, "no date", sent).source == "message"
    assert effective_date({"effective": "soon"}, "").warning == "bad_date"
