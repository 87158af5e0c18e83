"""Five forms of one table: readable back where that is promised, chosen by counted cost."""

import csv
import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.fitting.shorten import table_in
from tenure.compiler.media.serialisation import TRAITS, Form, ParseAccuracy, choose_form, serialise
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused

ROWS: list[dict[str, object]] = [
    {"id": n, "name": f"Person {n}", "office": "Chicago, IL", "active": n % 2 == 0}
    for n in range(12)
]

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
tables = st.lists(words, min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.lists(
        st.fixed_dictionaries(
            dict.fromkeys(keys, st.text(st.characters(exclude_categories=["Cs"])))
        ),
        min_size=1,
        max_size=5,
    )
)


@given(tables)
def test_json_is_read_back(rows: list[dict[str, str]]) -> None:
    assert json.loads(serialise(rows, Form.PRETTY_JSON)) == rows
    assert json.loads(serialise(rows, Form.MINIFIED_JSON)) == rows


@given(tables)
def test_csv_is_read_back(rows: list[dict[str, str]]) -> None:
    text = serialise(rows, Form.CSV)
    if any("\0" in value or not any(row.values()) for row in rows for value in row.values()):
        return  # the reader of the standard library takes neither
    assert list(csv.DictReader(io.StringIO(text, newline=""))) == rows


@given(tables)
def test_rows_stay_one_line_each_in_tables(rows: list[dict[str, str]]) -> None:
    assert serialise(rows, Form.MARKDOWN).count("\n") == len(rows) + 1
    assert serialise(rows, Form.COMPACT).count("\n") == len(rows)


def test_the_forms_look_as_named() -> None:
    rows: list[dict[str, object]] = [{"a": 1, "b": 'x|"y"'}, {"a": None, "c": [1, 2]}]
    assert serialise(rows, Form.MINIFIED_JSON) == '[{"a":1,"b":"x|\\"y\\""},{"a":null,"c":[1,2]}]'
    assert serialise(rows, Form.PRETTY_JSON).startswith('[\n  {\n    "a": 1,')
    assert serialise(rows, Form.CSV) == 'a,b,c\n1,"x|""y""",\nnull,,"[1,2]"'
    assert serialise(rows, Form.MARKDOWN) == (
        '| a | b | c |\n| --- | --- | --- |\n| 1 | x\\|"y" |  |\n| null |  | [1,2] |'
    )
    assert serialise(rows, Form.COMPACT) == 'a|b|c\n1|x\\|"y"|\nnull||[1,2]'
    assert serialise([], Form.COMPACT) == ""


def test_the_compact_form_says_once_what_rows_share() -> None:
    rows = [{"n": n, "city": "Chicago" if n < 3 else "Rome", "by=": "ops|x"} for n in range(5)]
    assert serialise(rows, Form.COMPACT) == (
        'n|city|by\\==ops\\|x\n0|Chicago\n1|"\n2|"\n3|Rome\n4|"'
    )
    one = serialise([{"a": "x", "b": '"'}], Form.COMPACT)
    assert one == 'a|b\nx|\\"'


def split(line: str) -> list[str]:
    """Return the cells of a line of the compact form, still escaped."""
    cells: list[str] = []
    for cell in re.finditer(r"((?:\\.|[^|\\])*)(\||\Z)", line, re.S):
        cells.append(cell[1])
        if not cell[2]:
            break
    return cells


def plain(cell: str) -> str:
    marks = {"n": "\n", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: marks.get(found[1], found[1]), cell, flags=re.S)


repeated = st.lists(words, min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.lists(
        st.fixed_dictionaries(
            dict.fromkeys(keys, st.sampled_from(["a", "aa", '"', "|=\\", "n\r"]))
        ),
        min_size=1,
        max_size=6,
    )
)


@given(st.one_of(tables, repeated))
def test_the_compact_form_is_read_back(rows: list[dict[str, str]]) -> None:
    head, *lines = serialise(rows, Form.COMPACT).split("\n")
    named = [re.fullmatch(r"((?:\\.|[^=\\])*)(?:=(.*))?", c, re.S) for c in split(head)]
    found: list[dict[str, str]] = []
    for line in lines:
        cells = iter(split(line))
        row = {}
        for name, shared in (m.groups() for m in named if m is not None):
            cell = shared if shared is not None else next(cells)
            row[plain(name)] = (
                found[-1][plain(name)] if cell == '"' and shared is None else plain(cell)
            )
        found.append(row)
    assert found == rows


def test_a_table_of_repeats_costs_two_fifths_of_pretty_json() -> None:
    count = counter_for("generic").count
    costs = {form: count(serialise(ROWS * 4, form)) for form in Form}
    assert costs[Form.COMPACT] < costs[Form.CSV] < costs[Form.MINIFIED_JSON]
    assert costs[Form.COMPACT] <= 0.4 * costs[Form.PRETTY_JSON]


def test_the_traits_are_those_of_the_source() -> None:
    costs = {form.value: traits.cost_permille for form, traits in TRAITS.items()}
    assert costs == {
        "pretty_json": 1000,
        "minified_json": 600,
        "markdown": 700,
        "csv": 500,
        "compact": 400,
    }


@pytest.mark.parametrize(
    ("least", "forms"),
    [
        (ParseAccuracy.HIGH, {Form.MINIFIED_JSON}),
        (ParseAccuracy.MODERATE, {Form.CSV}),
        (ParseAccuracy.MODEL_DEPENDENT, {Form.COMPACT, Form.CSV}),
    ],
)
def test_the_cheapest_sure_enough_form_is_chosen(least: ParseAccuracy, forms: set[Form]) -> None:
    counter = counter_for("claude-opus-5")
    found = choose_form(ROWS, counter, least_accuracy=least)
    assert found.form in forms
    assert found.tokens == counter.upper_bound(found.text) == min(t for _, t in found.costs)


def test_ties_go_to_the_form_that_is_read_more_surely() -> None:
    class Flat:
        identity = "flat"

        def count(self, text: str) -> int:
            return 1

        upper_bound = lower_bound = count

    found = choose_form(ROWS, Flat(), least_accuracy=ParseAccuracy.MODEL_DEPENDENT)
    assert found.form is Form.MINIFIED_JSON


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    for form in Form:
        with refused(InvalidInput, "bad_media"):
            serialise([{"a": value}], form)


# ---- Records inside a text: what is one, and texts that only look like it.


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[ " * 200_000,
        '[{"a":' * 50_000,
        "no list at all",
        "[1, 2, 3]",
        '[{"a": 1}]',
        '[{"a": 1}, 2]',
        '[{"a": 1}, {"a":',
        "[x] {",
        '[{"a": 1}, {"a": 2}] and more',
        '[{"a": "\\u202e"}, {"a": 2}]',
        '[{"a": "\\u0069"}, {"a": 2}]',
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_list_of_records_is_left_as_it_is(text: str) -> None:
    assert table_in(text) is None


def test_the_words_before_the_list_stay() -> None:
    assert table_in('see [1]: [\n {"a": 1}, {"a": 2} ]') == ("see [1]: ", ({"a": 1}, {"a": 2}))
