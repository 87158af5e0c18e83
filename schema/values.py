"""Values: one canonical text and one rule of equality for each value type.

Two values of a slot are equal exactly if their keys are equal, so conflict and confirmation never
depend on spelling. A key is text. The value itself is kept as canonical JSON (RFC 8785 in spirit:
sorted keys, exact numbers), which stores hold and exports print. JSON of unknown shape is read
without trusting its types, and records are read field by field.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, DecimalException
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast

from .errors import Fault, InvalidInput
from .interval import INF_US, MIN_US
from .records import FrozenDict
from .vocabulary import ValueType

ENTITY_KEY: Final = "e:"
"""How the key of an entity value begins; its raw id follows."""
CLOCK_SKEW_US: Final = 60_000_000
"""How much later than our clock the clock of another machine may be."""
NO_FIELDS: Final[Mapping[str, Any]] = FrozenDict({})

NO_VALUE_KEY: Final = ""
"""The key of "no value": what `delete` asserts."""

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FINE: Final = re.compile(r"[.,]\d{6}0*[1-9]")
"""Digits below the microsecond, which `fromisoformat` would drop without a word."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def fields_of(value: object) -> Mapping[str, Any]:
    """The fields of an object, none for any other value.

    >>> dict(fields_of({"a": 1})), dict(fields_of([1]))
    ({'a': 1}, {})
    """
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else NO_FIELDS


def items_of(value: object) -> list[object]:
    """The items of a list, none for any other value."""
    return cast("list[object]", value) if isinstance(value, list) else []


def members_of(record: object) -> dict[str, Any]:
    """The fields of a dataclass by name, their values as they are."""
    kind = cast("Hashable", type(record))
    return dict(zip(field_names(kind), _reader(kind)(record), strict=True))


@lru_cache(maxsize=256)
def field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; empty for every other type."""
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()


@lru_cache(maxsize=256)
def _reader(kind: type) -> Callable[[object], tuple[object, ...]]:
    """What reads all fields of a dataclass, in order."""
    names = field_names(kind)
    if len(names) == 1:  # of one name `attrgetter` gives the value itself
        return lambda value: (getattr(value, names[0]),)
    return attrgetter(*names)


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its key."""

    key: str
    """Equal exactly when two values are the same; empty for no value."""
    json: str
    """Canonical JSON."""
    normalized: bool = False
    """Whether the stored value differs from the one that was given."""

    @property
    def plain(self) -> object:
        """The value as plain Python."""
        return json.loads(self.json)

    @property
    def words(self) -> str:
        """The value in a sentence: a text bare, midnight in UTC as its day, all else as JSON.

        >>> Value("s:Rome", '"Rome"').words, Value("t:0", '"1970-01-01T00:00:00Z"').words
        ('Rome', '1970-01-01')
        """
        if not self.json.startswith('"'):
            return self.json
        text = str(self.plain)
        return text.removesuffix("T00:00:00Z") if self.key.startswith("t:") else text


# NaN and infinity are no JSON: other readers would refuse the line.
_CANONICAL: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: object) -> str:
    """JSON with sorted keys, no white space and exact numbers.

    >>> canonical_json({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return _CANONICAL.encode(value)


def micros(moment: datetime) -> int:
    """An aware datetime as microseconds since 1970, exactly.

    Raises:
        InvalidInput: `naive_datetime`.
    """
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"{moment.isoformat()} has no time zone; give an aware datetime or an ISO 8601 "
            "text with an offset such as 2026-06-06T12:00:00Z",
            code="naive_datetime",
        )

    # Whole-number division: a float of seconds loses microseconds from the year 2242 on.
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(instant_us: int) -> datetime | None:
    """An instant as an aware UTC datetime; None for an open start or end."""
    if instant_us in (MIN_US, INF_US):
        return None
    return _EPOCH + timedelta(microseconds=instant_us)


class CalendarSpan(NamedTuple):
    """A stated day, month or year, by local times without a zone."""

    first: datetime
    end: datetime | None
    """The first instant after it; None if the calendar ends with it."""
    precision: str
    """`year` or `month`, empty for a day."""
    zone: str
    """The zone that is stated with it, or empty."""


_CALENDAR: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:\[([\w/+-]+)\])?", re.ASCII)


def calendar_span(text: str) -> CalendarSpan | None:
    """What a text such as `1994-10[Europe/Berlin]` states; None if it is no day, month or year.

    Raises:
        ValueError: the calendar does not have it.
    """
    match = _CALENDAR.fullmatch(text)
    if match is None:
        return None
    year, month, day, zone = match.groups()
    first = datetime(int(year), int(month or 1), int(day or 1))  # noqa: DTZ001
    precision = "" if day else "month" if month else "year"

    # 32 days after the first of a month and 366 after that of a year are in the next one.
    try:
        end = first + timedelta(days=1 if day else 32 if month else 366)
    except OverflowError:
        return CalendarSpan(first, None, precision, zone or "")
    return CalendarSpan(first, end if day else end.replace(day=1), precision, zone or "")


def stated_span(start: datetime, precision: str) -> str:
    """The year or month of which an instant is the first one.

    >>> stated_span(datetime(1994, 9, 30, 23, tzinfo=UTC), "month")
    '1994-10'
    """
    # It begins up to a day earlier or later where it was stated in another zone than UTC.
    text = (start + timedelta(days=15)).isoformat()
    return text[: len("1994" if precision == "year" else "1994-10")]


def stamp_time(instant_us: int) -> datetime:
    """A stamp as an aware UTC datetime.

    Raises:
        Fault: `invariant_broken` for an open end, which no stamp has.
    """
    instant = moment(instant_us)
    if instant is None:
        raise Fault("a stamp lies at an open end", code="invariant_broken")
    return instant


def iso(instant_us: int) -> str | None:
    """An instant as ISO 8601 with Z; None for an open start or end.

    >>> iso(0)
    '1970-01-01T00:00:00Z'
    """
    instant = moment(instant_us)
    return None if instant is None else instant.isoformat().replace("+00:00", "Z")


def check_not_future(stamp_us: int, latest_us: int, subject: str) -> None:
    """Refuse a transaction time of a history that the clock has not reached.

    Every later write would carry a later stamp still.

    Raises:
        InvalidInput: `tx_in_future`.
    """
    if stamp_us > latest_us:
        raise InvalidInput(
            f"{subject} {iso(stamp_us)}, later than the clock; correct the time, as every later "
            "write would carry a later one",
            code="tx_in_future",
            stated=stamp_us,
        )


def canonical_value(value: object, value_type: ValueType) -> Value:
    """A value of a type with its key.

    An entity's value is its entity id; whoever calls binds the mention first.

    Raises:
        InvalidInput: `value_type_mismatch`, or `naive_datetime` and `sub_microsecond` of an
            instant.
    """
    try:
        return _RULES[value_type](value)
    except InvalidInput:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        # What a decimal says of itself is a list of its own signals, no sentence.
        reason = "" if isinstance(error, DecimalException) else f": {error}"
        raise InvalidInput(
            f"{_spoken_type(value)} is no {value_type.value}{reason}",
            code="value_type_mismatch",
            value_type=value_type.value,
        ) from error


def key_names(key: str, value_json: str) -> bool:
    """Whether a value, as JSON, is the one that its key represents.

    >>> key_names("s:Rome", '"Rome"'), key_names("s:Rome", '"Rone"'), key_names("", "null")
    (True, False, True)
    """
    kind, text = key[:2], key[2:]
    if kind == "s:" and value_json.startswith('"'):
        # Keys of older stores hold the text as it was stated.
        stated = json.loads(value_json)
        return text in (stated, folded_text(stated))
    if kind in ("s:", "d:", "e:"):
        return value_json == canonical_json(text)
    if kind in ("n:", "b:", "j:"):
        return value_json == text
    if kind == "t:":
        instant = iso(int(text)) if text.lstrip("-").isdecimal() else ""
        # Years at either end of time have no text of their own: each stands as it was stated.
        return instant is None or value_json == canonical_json(instant)
    # What a version wrote that is not known here is not for this one to judge.
    return key != NO_VALUE_KEY or value_json == "null"


def _spoken_type(value: object) -> str:
    """A value for a message; Python refuses to print integers of thousands of digits."""
    short = isinstance(value, str | float | bool | date) or value is None
    return f"{value!r:.80}" if short else f"this {type(value).__name__}"


def text_leaves(plain: object, *, with_keys: bool = False) -> Iterator[str]:
    """The texts inside of a JSON value."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, Mapping):
        for key, value in cast("Mapping[str, object]", plain).items():
            if with_keys:
                yield str(key)
            yield from text_leaves(value, with_keys=with_keys)
    elif isinstance(plain, list | tuple):
        for item in cast("Sequence[object]", plain):
            yield from text_leaves(item, with_keys=with_keys)


def folded_text(text: str) -> str:
    """A text as its value is compared: without marks that direct the reading, each space one.

    >>> folded_text(" Malmö\u200b  C "), folded_text("Malmö C")
    ('Malmö C', 'Malmö C')
    """
    if not text.isascii():
        letters = unicodedata.normalize("NFC", text)
        text = "".join(c for c in letters if unicodedata.category(c) != "Cf")
    return " ".join(text.split())


def _text(value: object) -> Value:
    if not isinstance(value, str):
        several = isinstance(value, list | tuple)
        raise TypeError("write the values one by one" if several else "give a string")

    clean = unicodedata.normalize("NFC", value).strip()
    key = folded_text(clean)
    if not key:
        raise ValueError("it is empty")
    if _UNSTORABLE.search(clean):
        raise ValueError("it holds a null or a lone surrogate")

    return Value("s:" + key, canonical_json(clean), clean != value)


def _number(value: object) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise TypeError("give a number")

    # Through the text: Decimal(0.1) would carry the binary error of the float into the key.
    number = Decimal(str(value))
    if not number.is_finite() or abs(number.adjusted()) > 400:
        raise ValueError("it is not a finite number of ordinary size")

    plain = format(number, "f")  # exact; `normalize` would round to the context's 28 digits
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")

    plain = "0" if not number else plain
    return Value("n:" + plain, plain, not isinstance(value, int | float))


def _integer(value: object) -> Value:
    number = _number(value)
    if "." in number.key:
        raise ValueError("it has a fraction")
    return number


def _boolean(value: object) -> Value:
    if not isinstance(value, bool):
        raise TypeError("give true or false")
    return Value(f"b:{value}".lower(), canonical_json(value))


def _instant(value: object) -> Value:
    if isinstance(value, str) and _FINE.search(value):
        raise InvalidInput(
            f"{value!r} is finer than a microsecond; two instants must not become one, so round it",
            code="sub_microsecond",
        )

    moment_value = value
    if isinstance(value, str):
        # A day is its first instant in UTC, as it is where a fact begins.
        moment_value = datetime.fromisoformat(f"{value}T00:00Z" if _DAY.fullmatch(value) else value)
    if not isinstance(moment_value, datetime):
        raise TypeError("give a day, an ISO 8601 instant or an aware datetime")

    # Keyed by the instant, so that two offsets of one moment are one value.
    instant = micros(moment_value)
    return Value(f"t:{instant}", canonical_json(iso(instant) or value), iso(instant) != value)


def _date(value: object) -> Value:
    # A datetime is a date to `isinstance`; cutting its time off would lose what was stated.
    if isinstance(value, datetime):
        raise TypeError("give a calendar date, not an instant")

    moment_value = date.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment_value, date):
        raise TypeError("give an ISO 8601 date")

    text = moment_value.isoformat()
    return Value("d:" + text, canonical_json(text), isinstance(value, str) and text != value)


def _partial_date(value: object) -> Value:
    """A day, or what is known of one: `1979-03-09`, `1979-03`, `1979`, `--03-09`."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = value.isoformat()
    match = _PARTIAL.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise TypeError("give a day such as 1979-03-09, 1979-03, 1979 or --03-09")

    # The 29th of February needs a leap year, and a day without its year may have one.
    month, day = match["month"] or match["of"] or 1, match["day"] or match["on"] or 1
    date(int(match["year"] or 2000), int(month), int(day))
    # Keyed as the text that stores from before this type hold.
    return Value("s:" + match[0], canonical_json(match[0]))


_PARTIAL: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?|--(?P<of>\d\d)-(?P<on>\d\d)"
)


def _entity(value: object) -> Value:
    # Bound before: a mention here would make every spelling of a name another value.
    if not isinstance(value, str) or not value:
        raise TypeError("give an entity id")
    return Value("e:" + value, canonical_json(value))


def _json(value: object) -> Value:
    text = canonical_json(_exact(value, depth=0))
    text.encode()  # a lone surrogate fits no store: ValueError
    return Value("j:" + text, text)


def _exact(value: object, *, depth: int) -> object:
    if depth > 32:
        raise ValueError("it is nested deeper than 32 levels")

    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        if not all(isinstance(key, str) for key in pairs):
            raise TypeError("an object's keys are strings")
        return {key: _exact(item, depth=depth + 1) for key, item in pairs.items()}

    if isinstance(value, list | tuple):
        return [_exact(item, depth=depth + 1) for item in cast("Sequence[object]", value)]
    # 1.0 and 1 are one number in JSON, so they must have one key.
    if isinstance(value, float) and value.is_integer():
        return int(value)

    return value


_RULES: Final = {
    ValueType.STRING: _text,
    ValueType.TEXT: _text,
    ValueType.INTEGER: _integer,
    ValueType.NUMBER: _number,
    ValueType.BOOLEAN: _boolean,
    ValueType.INSTANT: _instant,
    ValueType.DATE: _date,
    ValueType.PARTIAL_DATE: _partial_date,
    ValueType.ENTITY: _entity,
    ValueType.JSON: _json,
}


def whole_repr(value: object) -> str:
    """The text of a value with nothing cut, for digests: two values with one text are equal.

    >>> whole_repr(({"a": [1, None]},))
    "({'a': [1, None]},)"
    """
    kind: type[object] = type(value)
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.repr]
        parts = [f"{name}={whole_repr(getattr(value, name))}" for name in names]
        return f"{kind.__qualname__}({', '.join(parts)})"

    if kind is tuple:
        parts = [whole_repr(entry) for entry in cast("tuple[object, ...]", value)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if kind is list:
        return f"[{', '.join(map(whole_repr, cast('list[object]', value)))}]"
    if kind is dict:
        members = cast("dict[object, object]", value).items()
        parts = [f"{whole_repr(key)}: {whole_repr(entry)}" for key, entry in members]
        return f"{{{', '.join(parts)}}}"

    return repr(value)
