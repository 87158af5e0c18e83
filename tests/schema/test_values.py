"""Two values are the same exactly when their keys are equal, however they were spelled."""

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import Fault, InvalidInput
from tenure.schema.interval import INF_US, MIN_US
from tenure.schema.values import (
    NO_VALUE_KEY,
    CalendarSpan,
    Value,
    calendar_span,
    canonical_json,
    canonical_value,
    iso,
    key_names,
    micros,
    moment,
    stamp_time,
)
from tenure.schema.vocabulary import ValueType
from tenure.tests.support.refusals import refused

V = ValueType
BERLIN = timezone(timedelta(hours=2))
NOON = datetime(2026, 6, 6, 12, tzinfo=UTC)


def key(value: object, value_type: ValueType) -> str:
    return canonical_value(value, value_type).key


SAME = [
    (V.STRING, "café", "cafe\u0301"),
    (V.STRING, "Chicago", "  Chicago\n"),
    (V.TEXT, "Å", "\u212b"),
    (V.INTEGER, 1, "1"),
    (V.INTEGER, 1, 1.0),
    (V.INTEGER, 10**30, "1e30"),
    (V.INTEGER, 0, -0.0),
    (V.NUMBER, 1, 1.0),
    (V.NUMBER, 1, Decimal("1.000")),
    (V.NUMBER, 0.1, "0.10"),
    (V.NUMBER, 0, Decimal("-0.00")),
    (V.NUMBER, 0, "0e10"),
    (V.NUMBER, 100, "1E+2"),
    (V.NUMBER, "1000000.5", 1000000.5),
    (V.INSTANT, "2026-06-06T12:00:00Z", "2026-06-06T14:00:00+02:00"),
    (V.INSTANT, NOON, NOON.astimezone(BERLIN)),
    (V.INSTANT, "2026-06-06T12:00:00Z", "2026-06-06T12:00:00.0000000Z"),
    (V.DATE, "2026-06-06", date(2026, 6, 6)),
    (V.DATE, "2026-06-06", "20260606"),
    (V.JSON, {"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}),
    (V.JSON, [1e15], [10**15]),
    (V.JSON, (1, 2), [1, 2]),
]


@pytest.mark.parametrize(("value_type", "one", "other"), SAME)
def test_one_value_has_one_key(value_type: ValueType, one: object, other: object) -> None:
    first, second = canonical_value(one, value_type), canonical_value(other, value_type)
    assert first.key == second.key
    assert first.json == second.json


DIFFERENT = [
    (V.STRING, "chicago", "Chicago"),
    (V.STRING, "ab", "a b"),
    (V.INTEGER, 10**30, 10**30 + 1),
    (V.NUMBER, 0.1, Decimal("0.1000000000000000000000000000000001")),
    (V.NUMBER, 1, -1),
    (V.NUMBER, 10, 100),
    (V.BOOLEAN, True, False),
    (V.INSTANT, "2026-06-06T12:00:00Z", "2026-06-06T12:00:00.000001Z"),
    (V.INSTANT, "2026-06-06T12:00:00Z", "2026-06-06T12:00:00+02:00"),
    (V.DATE, "2026-06-06", "2026-06-07"),
    (V.ENTITY, "a", "A"),
    (V.JSON, {"a": 1}, {"a": True}),
    (V.JSON, [1, 2], [2, 1]),
    (V.JSON, None, []),
]


@pytest.mark.parametrize(("value_type", "one", "other"), DIFFERENT)
def test_different_values_have_different_keys(
    value_type: ValueType, one: object, other: object
) -> None:
    assert key(one, value_type) != key(other, value_type)


REFUSED = [
    (V.STRING, ""), (V.STRING, "  "), (V.STRING, 3), (V.STRING, None),
    (V.TEXT, "a\x00b"), (V.TEXT, "\ud800"),
    (V.INTEGER, True), (V.INTEGER, 1.5), (V.INTEGER, "1.5"), (V.INTEGER, None),
    (V.INTEGER, math.nan),
    (V.NUMBER, True), (V.NUMBER, math.nan), (V.NUMBER, math.inf), (V.NUMBER, "-Infinity"),
    (V.NUMBER, "sNaN"), (V.NUMBER, "one"), (V.NUMBER, ""), (V.NUMBER, 10**401),
    (V.NUMBER, "1e-401"), (V.NUMBER, [1]), (V.NUMBER, 10**5000),
    (V.STRING, "\u200b\u2060"), (V.BOOLEAN, 1), (V.BOOLEAN, "true"), (V.BOOLEAN, None),
    (V.INSTANT, "soon"), (V.INSTANT, 5), (V.INSTANT, date(2026, 1, 1)),
    (V.INSTANT, "0001-01-01T00:00:00+14:00"), (V.INSTANT, datetime.max.replace(tzinfo=UTC)),
    (V.DATE, "2026-13-01"), (V.DATE, NOON), (V.DATE, 20260606),
    (V.ENTITY, ""), (V.ENTITY, 7),
    (V.JSON, {1: "a"}), (V.JSON, math.nan), (V.JSON, [math.inf]), (V.JSON, {"a": {1, 2}}),
    (V.JSON, ["\ud800"]), (V.JSON, {"\udfff": 1}), (V.JSON, b"bytes"),
    (V.JSON, [10**5000]),
]  # fmt: skip


@pytest.mark.parametrize(("value_type", "value"), REFUSED, ids=range(len(REFUSED)))
def test_a_value_of_another_type_is_refused(value_type: ValueType, value: object) -> None:
    with refused(InvalidInput, "value_type_mismatch") as caught:
        canonical_value(value, value_type)
    assert caught.value.data == {"value_type": value_type.value}
    assert "<class" not in str(caught.value)


@pytest.mark.parametrize("value", ["2026-06-06T12:00:00", "2026-06-06T12", datetime(2026, 6, 6)])  # noqa: DTZ001
def test_an_instant_needs_a_zone(value: object) -> None:
    with refused(InvalidInput, "naive_datetime", match="no time zone"):
        canonical_value(value, V.INSTANT)


def test_a_date_as_an_instant_is_the_start_of_its_day() -> None:
    day = canonical_value("2026-06-06", V.INSTANT)
    assert day.key == canonical_value("2026-06-06T00:00:00Z", V.INSTANT).key


@pytest.mark.parametrize("digits", [".0000001", ",1234567", ".1234560001"])
def test_an_instant_is_never_rounded(digits: str) -> None:
    with refused(InvalidInput, "sub_microsecond", match="finer than a microsecond"):
        canonical_value(f"2026-06-06T12:00:00{digits}Z", V.INSTANT)


def test_nesting_ends_at_32_levels() -> None:
    deep: object = 1
    for _ in range(32):
        deep = [deep]
    assert key(deep, V.JSON).count("[") == 32
    with pytest.raises(InvalidInput, match="deeper than 32"):
        canonical_value([deep], V.JSON)
    with pytest.raises(InvalidInput, match="deeper than 32"):
        canonical_value({"a": deep}, V.JSON)


def test_a_value_comes_back_as_plain_python() -> None:
    assert canonical_value({"b": 2.0, "a": None}, V.JSON).plain == {"a": None, "b": 2}
    assert canonical_value("1e30", V.INTEGER).plain == 10**30
    assert canonical_value(True, V.BOOLEAN) == Value("b:true", "true")
    assert canonical_value("e-1", V.ENTITY) == Value("e:e-1", '"e-1"')
    assert canonical_value(NOON, V.INSTANT).plain == "2026-06-06T12:00:00Z"


@pytest.mark.parametrize(
    ("value", "value_type", "normalized"),
    [
        ("a", V.STRING, False), (" a", V.STRING, True), (1, V.INTEGER, False),
        ("1", V.INTEGER, True), ("2026-06-06T12:00:00Z", V.INSTANT, False),
        ("2026-06-06T14:00:00+02:00", V.INSTANT, True), ("2026-06-06", V.DATE, False),
        ("20260606", V.DATE, True), (date(2026, 6, 6), V.DATE, False),
    ],
)  # fmt: skip
def test_a_changed_spelling_is_told(value: object, value_type: ValueType, normalized: bool) -> None:
    assert canonical_value(value, value_type).normalized is normalized


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9))
def test_a_number_is_exact_in_any_decimal_context(number: Decimal) -> None:
    with localcontext() as context:
        context.prec = 3
        rough = key(number, V.NUMBER)
    assert rough == key(number, V.NUMBER)
    assert Decimal(rough[2:]) == number


@given(st.one_of(st.integers(-(10**60), 10**60), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_are_the_same_exactly_when_they_are_equal(number: float) -> None:
    found = canonical_value(number, V.NUMBER)
    assert key(found.json, V.NUMBER) == found.key
    assert Decimal(found.json) == Decimal(str(number))


@pytest.mark.parametrize(("one", "other"), [("a b", "a \t b"), ("Malmö", "Mal\u00admö\u200b")])
def test_marks_and_spaces_that_no_reader_sees_make_no_other_value(one: str, other: str) -> None:
    first, second = canonical_value(one, V.STRING), canonical_value(other, V.STRING)
    assert first.key == second.key
    # What was said is kept.
    assert (first.plain, second.plain) == (one, other)


@given(st.text())
def test_a_text_is_its_own_canonical_form(text: str) -> None:
    try:
        once = canonical_value(text, V.TEXT)
    except InvalidInput:
        return
    assert canonical_value(once.plain, V.TEXT) == Value(once.key, once.json)


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(_PLAIN)
def test_json_survives_the_round_trip(value: object) -> None:
    found = canonical_value(value, V.JSON)
    assert canonical_value(json.loads(found.json), V.JSON) == found
    assert found.plain == value


@given(st.integers(MIN_US + 1, INF_US - 1))
def test_an_instant_is_exact_to_the_microsecond(instant: int) -> None:
    found = moment(instant)
    assert found is not None
    assert micros(found) == micros(found.astimezone(BERLIN) if found.year < 9999 else found)
    text = iso(instant)
    assert text is not None
    assert text.endswith("Z")
    assert key(text, V.INSTANT) == f"t:{instant}"


@pytest.mark.parametrize("instant", [MIN_US, INF_US])
def test_an_open_end_has_no_text(instant: int) -> None:
    assert moment(instant) is None
    assert iso(instant) is None


def test_the_bounds_are_those_of_a_datetime() -> None:
    assert micros(datetime.min.replace(tzinfo=UTC)) == MIN_US
    assert micros(datetime.max.replace(tzinfo=UTC)) == INF_US


def test_canonical_json_is_sorted_and_tight() -> None:
    assert canonical_json({"b": [1, 2.5], "a": "é"}) == '{"a":"é","b":[1,2.5]}'
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(math.nan)


def test_no_value_has_the_empty_key() -> None:
    assert NO_VALUE_KEY == ""
    assert all(key(one, value_type) for value_type, one, _ in SAME)


@pytest.mark.parametrize("open_end", [MIN_US, INF_US])
def test_a_stamp_at_an_open_end_is_a_broken_invariant(open_end: int) -> None:
    with refused(Fault, "invariant_broken"):
        stamp_time(open_end)
    assert stamp_time(0) == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("key", "value_json", "is_own"),
    [
        ("s:Rome", '"Rome"', True),
        ("s:Rome", '"Rone"', False),
        ("s:Rome", '"Rome\u200b"', True),
        ("s:Rome\u200b", '"Rome\u200b"', True),
        ("e:id", '"id"', True),
        ("d:2026-01-01", '"2026-01-01"', True),
        ("n:12.5", "12.5", True),
        ("n:12.5", "12.6", False),
        ("b:true", "true", True),
        ('j:{"a":1}', '{"a":1}', True),
        ("t:0", '"1970-01-01T00:00:00Z"', True),
        ("t:0", '"1970-01-01T00:00:01Z"', False),
        ("t:x", '"1970-01-01T00:00:00Z"', False),
        (f"t:{INF_US}", '"9999-12-31T23:59:59.999999+00:00"', True),
        ("", "null", True),
        ("", '"Rome"', False),
        ("x:1", "1", True),
    ],
)
def test_a_key_names_its_value(key: str, value_json: str, is_own: bool) -> None:
    assert key_names(key, value_json) is is_own


@given(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1) | st.floats() | st.datetimes()
)
def test_the_key_of_every_value_names_it(stated: object) -> None:
    kinds = {str: V.TEXT, float: V.NUMBER, datetime: V.INSTANT}
    value = stated.replace(tzinfo=UTC) if isinstance(stated, datetime) else stated
    try:
        canonical = canonical_value(value, kinds[type(stated)])
    except InvalidInput:
        return
    assert key_names(canonical.key, canonical.json)


@pytest.mark.parametrize(
    ("text", "first", "end", "precision", "zone"),
    [
        ("2024-02-29", (2024, 2, 29), (2024, 3, 1), "", ""),
        ("2024-12", (2024, 12, 1), (2025, 1, 1), "month", ""),
        ("2024[Europe/Berlin]", (2024, 1, 1), (2025, 1, 1), "year", "Europe/Berlin"),
        ("9999-12", (9999, 12, 1), None, "month", ""),
    ],
)
def test_a_day_a_month_and_a_year_span_to_the_next(text, first, end, precision, zone):
    last = end and datetime(*end)  # noqa: DTZ001 - local times
    span = CalendarSpan(datetime(*first), last, precision, zone)  # noqa: DTZ001 - local times
    assert calendar_span(text) == span


def test_a_date_that_the_calendar_lacks_is_no_span():
    assert calendar_span("2024-02-30T00:00Z") is None
    with pytest.raises(ValueError, match="day"):
        calendar_span("2023-02-29")
