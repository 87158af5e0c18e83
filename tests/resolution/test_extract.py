"""Mentions in running text: known aliases, shapes, and who wins an overlap."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution.extract import Gazetteer, Mention, MentionSource, ShapeExtractor, compose
from tenure.resolution.normalize import find_dates, sentence_spans
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["extract"]

RULES = ShapeExtractor()
ROWS = NAMES["rows"]


def known(text, rows=ROWS):
    return [(one.surface, one.alias_id) for one in Gazetteer(rows).extract(text)]


def ruled(text):
    return [(one.surface, one.type_hint) for one in RULES.extract(text)]


def mention(start, end, source=MentionSource.RULE, text="x" * 100):
    return Mention(start, end, text[start:end], "unknown", source, None, 1.0)


# ------------------------------------------------------------------ known aliases


@pytest.mark.parametrize(("text", "found"), data_table("mentions.toml")["known"])
def test_known_names_are_found_leftmost_and_longest(text, found):
    assert known(text) == [tuple(name) for name in found]


def test_everyday_words_are_names_only_with_a_capital():
    assert known("will Will go") == [("Will", "a4")]
    assert known("the will", [("will", "x", "document")]) == [("will", "x")]


def test_a_name_of_several_entities_is_left_open():
    both = [("Nova", "p", "project"), ("Nova", "s", "system"), ("NOVA", "t", "team")]
    found = Gazetteer(both).extract("Nova and NOVA and nova")
    assert [(one.alias_id, one.type_hint) for one in found] == [
        (None, "unknown"),
        ("t", "team"),
        (None, "unknown"),
    ]
    assert [one.confidence for one in found] == [1.0, 1.0, 0.9]


def test_aliases_come_and_go():
    gazetteer = Gazetteer(ROWS)
    gazetteer.add("Nova", "n", "project")
    assert len(gazetteer) == len(ROWS) + 1
    assert gazetteer.extract("Nova")[0].alias_id == "n"
    gazetteer.add("Supernova", "n", "project")
    assert [one.surface for one in gazetteer.extract("Nova Supernova")] == ["Supernova"]
    gazetteer.discard("n")
    gazetteer.discard("n")
    assert gazetteer.extract("Nova Supernova") == ()
    gazetteer.discard("a1")
    assert known("Sam Rivera") != []
    assert [one.surface for one in gazetteer.extract("Sam Rivera")] == ["Sam"]


@pytest.mark.parametrize("surface", ["", "!!!", "...", "word " * 30])
def test_a_surface_that_is_no_name_is_not_looked_for(surface):
    assert len(Gazetteer([(surface, "x", "system")])) == 0


# ------------------------------------------------------------------------- shapes


@pytest.mark.parametrize(("text", "found"), data_table("mentions.toml")["shapes"])
def test_names_are_found_by_their_shape(text, found):
    assert ruled(text) == [tuple(name) for name in found]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 2024-06-01T10:00:00Z", ["2024-06-01T10:00:00Z"]),
        ("3rd June 2024", ["3rd June 2024"]),
        ("June 3, 2024 and Q3 2024", ["June 3, 2024", "Q3 2024"]),
        ("since May, not March", ["May"]),
        ("May", []),
        ("on Mondays in 1999", ["Mondays", "1999"]),
    ],
)
def test_dates_are_found(text, dates):
    found = find_dates(text)
    assert [date.surface for date in found] == dates
    assert all(text[date.start : date.end] == date.surface for date in found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2024-06-03T10:00Z", (2024, 6, 3)),
        ("3rd June 2024", (2024, 6, 3)),
        ("Sept. 14", (None, 9, 14)),
        ("June", (None, 6, None)),
        ("Q3 2024", (2024, None, None)),
        ("Mondays", (None, None, None)),
    ],
)
def test_a_date_knows_its_parts(text, parts):
    (date,) = find_dates(text)
    assert date.parts == parts


def test_lower_case_months_are_dates_where_asked_for():
    assert find_dates("we moved in june, may be late") == ()
    (date,) = find_dates("we moved in june, may be late", any_case=True)
    assert date.surface == "june"


@given(st.text(max_size=60) | st.text(alphabet="Aa1 .!?\n'-。", max_size=60))
def test_sentences_cover_all_but_outer_spaces(text):
    spans = list(sentence_spans(text))
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    sentences = "".join(text[start:end] for start, end in spans)
    assert "".join(sentences.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Ich habe am 3. Mai Geburtstag.", 1),
        ("Der Termin am 14. August entfällt.", 1),
        ("Es war 2019. August kam später.", 2),
        ("There were 3. We left.", 2),
    ],
)
def test_a_german_day_ends_no_sentence(text: str, count: int) -> None:
    assert len(list(sentence_spans(text))) == count


# ------------------------------------------------------------------------ overlaps


def test_the_stronger_source_wins_an_overlap():
    caller, alias = mention(2, 4, MentionSource.CALLER), mention(0, 9, MentionSource.ALIAS)
    rule, model = mention(10, 14), mention(12, 30, MentionSource.MODEL)
    assert compose([model, alias], [rule], [caller]) == (caller, rule)


def test_the_longer_then_the_earlier_span_wins():
    assert compose([mention(0, 3), mention(2, 9)]) == (mention(2, 9),)
    assert compose([mention(0, 3), mention(2, 5)]) == (mention(0, 3),)
    assert compose([mention(0, 3), mention(3, 3), mention(3, 6)]) == (mention(0, 3), mention(3, 6))


def test_the_earlier_group_wins_a_tie():
    one = Mention(0, 2, "ab", "person", MentionSource.RULE, None, 0.5)
    other = Mention(0, 2, "ab", "team", MentionSource.RULE, None, 0.9)
    assert compose([one], [other]) == (one,)
    assert compose() == ()


def test_aliases_and_rules_work_together():
    text = "Sam Rivera asked Dana Cruz about the order-service."
    found = compose(Gazetteer(ROWS).extract(text), RULES.extract(text))
    assert [(one.surface, one.source.name) for one in found] == [
        ("Sam Rivera", "ALIAS"),
        ("Dana Cruz", "RULE"),
        ("order-service", "ALIAS"),
    ]


@given(st.text(max_size=80) | st.text(alphabet="Aa1 .-_@'\u2019+#/\n", max_size=80))
def test_any_text_gives_sorted_spans_of_itself(text):
    shapes, names = RULES.extract(text), Gazetteer(ROWS).extract(text)
    for found in (shapes, names, compose(names, shapes)):
        assert all(text[one.start : one.end] == one.surface != "" for one in found)
        assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.text(alphabet="Aab1 -.", min_size=1, max_size=12))
def test_a_known_alias_is_found_in_its_own_text(surface):
    gazetteer = Gazetteer([(surface, "x", "system")])
    if len(gazetteer):
        assert [one.alias_id for one in gazetteer.extract(surface)] == ["x"]


HOSTILE = [
    "Aa ",
    "a-",
    "A-",
    "@a",
    "a.a.",
    "Aa",
    "a@",
    "A of ",
    "A'",
    "http://",
    "Sam. ",
    "a_",
    "a+",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_huge_text_takes_linear_time(unit):
    gazetteer = Gazetteer([*ROWS, ("A of A of A", "z", "team")])

    def seconds(size):
        text = unit * (size // len(unit))
        began = time.process_time()
        compose(gazetteer.extract(text), RULES.extract(text))
        return time.process_time() - began

    small, large = (min(seconds(size) for _ in range(2)) for size in (5_000, 40_000))
    # Eight times the text: a quadratic finder would need sixty-four times the time.
    assert large < 32 * small + 0.1
