"""What the rules take from sentences: enough of what is there, and hardly anything that is not."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenure
from tenure.bench.bench_sentences import LANGUAGES, PARTS, score, sentences
from tenure.service.extraction.claims import LANGUAGE_FILES, ExtractedClaim, language_tables
from tenure.service.extraction.dates import DATE_READERS, partial_date
from tenure.service.extraction.engine import RuleExtractor
from tenure.tests.source_tree import data_table

NOW = datetime(2026, 6, 17, 9, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    "text", ["I moved to Berlin last week.", "Ich bin vor 2 Wochen umgezogen."]
)
def test_a_day_before_the_calendar_is_no_day(text: str) -> None:
    first_day = datetime(1, 1, 2, tzinfo=UTC)
    assert all(reader.said(text, first_day) is None for reader in DATE_READERS.values())


def read(text: str) -> tuple[ExtractedClaim, ...]:
    return RuleExtractor().extract(text, at=NOW)


def lines(text: str) -> list[str]:
    """The claims of a text that do not depend on what is known, a line each."""
    found: list[str] = []
    for claim in read(text):
        if claim.if_known:
            continue
        subject = f"{claim.subject}: " if claim.subject else ""
        op = "" if claim.op == "assert" else f"{claim.op} "
        start = f" from {claim.valid_from:%Y-%m-%d}" if claim.valid_from else ""
        end = f" until {claim.valid_until:%Y-%m-%d}" if claim.valid_until else ""
        planned = ", planned" if claim.planned else ""
        found.append(f"{subject}{op}{claim.slot}={claim.value}{start}{end}{planned}")
    return sorted(found)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_are_read_as_well_as_the_bar_asks(language: str, part: str) -> None:
    rows = sentences(language, part)
    result = score(rows)
    assert len(rows) == 60
    assert result.precision >= 0.95
    assert result.recall >= 0.65


@pytest.mark.parametrize("name", LANGUAGE_FILES)
def test_a_language_is_a_table_of_at_most_seventy_patterns(name: str) -> None:
    assert len(language_tables(name)["table"]["fact"]) <= 70


@pytest.mark.parametrize(
    ("text", "claims"), [row for rows in data_table("sentences.toml").values() for row in rows]
)
def test_a_sentence_is_read_as_its_row_says(text: str, claims: list[str]) -> None:
    assert lines(text) == claims


def test_who_she_is_says_the_sentence_before() -> None:
    assert lines("My sister is called Mina. She lives in Oslo.") == [
        "Mina: home=Oslo",
        "sibling=Mina",
    ]
    assert lines("Mina Berg met Ida Holm. She lives in Oslo.") == []


@pytest.mark.parametrize("name", ["Raj", "Nordwind"])
def test_a_single_name_counts_only_where_it_is_known(name: str) -> None:
    (claim,) = read(f"{name} is vegan.")
    assert claim.if_subject_known


@given(st.dates(date(1900, 1, 1), date(2026, 6, 17)))
def test_a_day_with_its_year_is_read_as_it_is_written(day: Any) -> None:
    assert partial_date(day.isoformat()) == day.isoformat()
    assert partial_date(f"{day.day}.{day.month}.{day.year}") == day.isoformat()
    assert partial_date(f"{day.day} {day:%B} {day.year}") == day.isoformat()
    assert partial_date(f"{day.day} {day:%B}") == f"--{day:%m-%d}"


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Ghent?",
        "If I lived in Ghent, I'd ski.",
        "I might move to Ghent.",
        'She said "I live in Ghent".',
        "Anna says I live in Ghent.",
        "I live in Ghent, she said.",
        "I live in Ghent, I think.",
        "Translate: I live in Ghent.",
        "You'll manage, Ivo. Never look back!",
        "I'm moving to Ghent in July if they pay.",
        "Ich glaube, ich wohne in Gent.",
        "Wohne ich in Gent?",
        "x" * 500 + " I live in Ghent.",
    ],
)
def test_what_is_asked_supposed_quoted_or_for_others_is_no_claim(text: str) -> None:
    assert lines(text) == []


@given(st.text(max_size=300))
def test_any_text_is_read_and_each_claim_points_into_it(text: str) -> None:
    for claim in read(text):
        assert 0 <= claim.start < claim.end <= len(text)


def test_a_claim_points_at_the_clause_that_says_it() -> None:
    text = "Well, I live in Leeds and I hate fog."
    quotes = {claim.slot: text[claim.start : claim.end] for claim in read(text)}
    assert quotes["dislikes"] == "I hate fog"
    assert quotes["home"].endswith("I live in Leeds")


@pytest.mark.parametrize(("wish", "stop", "slot", "values"), data_table("wishes.toml")["wishes"])
def test_a_wish_that_is_negated_does_not_hold_any_more(
    memory: tenure.Memory, wish: str, stop: str, slot: str, values: list[str]
) -> None:
    for text in (wish, stop):
        memory.observe(text, speaker="Olga Brandt")
    assert [*memory.as_of().slot("Olga Brandt", slot).values] == values


def test_a_call_name_is_an_alias_and_never_the_full_name(memory: tenure.Memory) -> None:
    memory.write({"name": "Olga Brandt", "type": "person"}, "office", "Turin")
    memory.observe("Call me Vee. I live in Ghent.", speaker="Olga Brandt")

    (person,) = (view for view in memory.entities.list() if view.type == "person")
    assert "Vee" in person.aliases
    assert memory.as_of().slot("Olga Brandt", "full_name").values == ()
    assert memory.as_of().value("Vee", "home") == "Ghent"


def test_a_call_name_that_another_has_is_left_out_and_told(memory: tenure.Memory) -> None:
    memory.write({"name": "Vee", "type": "person"}, "office", "Turin")
    (receipt, *_) = memory.observe("Call me Vee.", speaker="Olga Brandt")

    assert "is the name of another person" in receipt.detail
    assert memory.as_of().value("Vee", "office") == "Turin"
    assert len([view for view in memory.entities.list() if "Vee" in view.aliases]) == 1


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("I work at St. Mary's Hospital in Leeds.", "St. Mary's Hospital"),
        ("I work for Lloyd's Register.", "Lloyd's Register"),
        ("I live in St. Louis.", "St. Louis"),
        ("My boss is Dr. Ines Prado.", "Dr. Ines Prado"),
        ("My manager is Mrs Prado now.", "Mrs Prado"),
        # What belongs to a person is no name.
        ("I work at Tom's bakery.", None),
        ("I moved to St.", None),
    ],
)
def test_a_name_keeps_its_title_and_the_s_of_an_owner(sentence: str, value: str | None) -> None:
    assert {claim.value for claim in read(sentence)} == ({value} if value else set())
