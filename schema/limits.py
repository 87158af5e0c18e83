"""Limits of input, and readers for UTF-8, JSON and TOML from outside. Pure.

One table is checked at every edge before anything else. What passes can be stored by either engine,
printed, and processed in bounded time: a text has no NUL and no lone surrogate, a number fits an
int64 or a double, and a value is nested at most `NESTING` levels. Policies may narrow the lengths
of texts, but never widen this table.

The readers serve every body, line, mapping, policy and settings file. They refuse what Python's
readers would lose or change: a repeated key, NaN, a number that no store holds. An error names the
place in the document.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, cast

from .errors import InvalidInput

NESTING: Final = 64
"""Levels of a JSON value: Python's own recursion ends at a thousand, shared with the caller's."""
INTEGER_MAX: Final = 2**63 - 1
"""The largest whole number on either side of zero: both stores hold int64."""
LINE_BYTES: Final = 1_000_000
"""Bytes of a line of an import file."""
RECORD_BYTES: Final = 16_000_000
"""Bytes of a line of an export, which holds a text several times."""
ALIASES: Final = 1_000
"""Aliases of one entity in one write."""
IDENTIFIERS: Final = 100
"""Identifiers of one entity in one write."""
LIST_MAX: Final = 256
"""Words or ids in one list of a write."""
TIED_CLAIMS: Final = 200
"""Claims of one slot that are equally strong at one time."""
ITEMS: Final = 100_000
"""Members and items of one JSON value, those inside of it among them."""

LENGTHS: Final[Mapping[str, int]] = {
    "idempotency_key": 256,
    "object_id": 256,
    "op": 64,
    "slot": 64,
    "layer": 64,
    "object_type": 64,
    "security_classification": 64,
    "retirement_rule": 64,
    "update_path": 2_048,
    "source_origin": 2_048,
    "reason": 2_000,
    "artifact name": 1_024,
    "scope": 256,
    "list item": 512,
}
"""Characters of a field; texts that carry meaning are measured by the policy."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

_MOST_DIGITS: Final = 20
"""Signs of a whole number that is read before it is refused; int64 takes 20 with its minus."""
_NAMED_KEYS: Final = 10
"""Repeated keys that a refusal names."""
_MARK: Final = "\ufeff"
"""What editors of Windows put before a text."""

_TOO_DEEP: Final = "it is nested too deeply"


def check_text(text: object, field: str, *, most: int | None = None) -> None:
    """Refuse what is no text that can be stored.

    Raises:
        InvalidInput: `bad_field` for another type, `too_large`, `unstorable_text`.
    """
    if not isinstance(text, str):
        raise InvalidInput(
            f"{field} must be a text, not {type(text).__name__}", code="bad_field", field=field
        )
    if most is not None and len(text) > most:
        raise InvalidInput(
            f"{field} has {len(text)} characters, at most {most} are taken; shorten it",
            code="too_large",
            field=field,
        )
    unstorable = _UNSTORABLE.search(text)
    if unstorable is not None:
        raise InvalidInput(
            f"{field} holds a NUL or a lone surrogate at character {unstorable.start()}; "
            "decode it again",
            code="unstorable_text",
            field=field,
        )


def check_texts(items: object, field: str, *, most: int = LIST_MAX) -> None:
    """Refuse what is no list of short texts.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `unstorable_text`.
    """
    # A text is a sequence of texts to Python, and a mapping one of its keys.
    is_single = isinstance(items, str | bytes | Mapping)
    if is_single or not isinstance(items, Sequence | set | frozenset):
        raise InvalidInput(f"{field} must be a list of texts", code="bad_field", field=field)
    texts = cast("Sequence[object]", items)
    if len(texts) > most:
        raise InvalidInput(
            f"{field} has {len(texts)} items, at most {most} are taken",
            code="too_large",
            field=field,
        )
    for text in texts:
        check_text(text, field, most=LENGTHS["list item"])


def check_number(number: object, field: str) -> None:
    """Refuse what is no finite number that both stores hold.

    Raises:
        InvalidInput: `bad_field`, `out_of_range`.
    """
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InvalidInput(
            f"{field} must be a number, not {type(number).__name__}", code="bad_field", field=field
        )
    fits = (
        -INTEGER_MAX <= number <= INTEGER_MAX if isinstance(number, int) else math.isfinite(number)
    )
    if not fits:
        # Printing a number of thousands of digits is refused by Python itself.
        raise InvalidInput(
            f"{field} holds a number beyond int64 or 1e308; give it as a text",
            code="out_of_range",
            field=field,
        )


def check_characters(value: object, field: str, *, most: int) -> None:
    """Refuse a structure whose texts and names hold more than `most` characters together.

    Asked before anything reads it: to key and to search a large one costs seconds.

    Raises:
        InvalidInput: `too_large`.
    """
    from .values import text_leaves  # whoever reads a version or a flag needs no values

    if not isinstance(value, Mapping | list):
        return
    count = sum(map(len, text_leaves(cast("object", value), with_keys=True)))
    if count > most:
        raise InvalidInput(
            f"{field} holds {count} characters, the policy allows {most}; keep it as an artifact "
            "and write what it says",
            code="too_large",
            field=field,
        )


def check_json(value: object, field: str) -> None:
    """Refuse a JSON value that is too deep, too large or cannot be stored.

    It is gone through level by level and not by recursion, which is what a deep value breaks.
    Values of other types pass: whoever reads the field knows which it takes.

    Raises:
        InvalidInput: `too_deep`, `too_large`, `out_of_range`, `unstorable_text`, `bad_field`.
    """
    level: list[Any] = [value]
    count = 0
    for _ in range(NESTING + 1):
        texts: list[Any] = []
        children: list[Any] = []
        for item in level:
            # What a JSON reader makes comes first; all else is asked what it is.
            kind = item.__class__
            if kind is str:
                texts.append(item)
            elif kind is dict:
                texts.extend(item)
                children.extend(item.values())
            elif kind is list:
                children.extend(item)
            elif kind is int and -INTEGER_MAX <= item <= INTEGER_MAX:
                continue
            elif item is not None and kind is not bool:
                _check_item(item, field, texts, children)
        _check_storable(texts, field)

        # Counted as a whole: many small lists fill the memory as well as one large one.
        count += len(children)
        if count > ITEMS:
            _refuse(f"{field} holds more than {ITEMS} items", "too_large", field)
        if not children:
            return
        level = children
    _refuse(f"{field} is nested deeper than {NESTING} levels", "too_deep", field)


def _check_item(item: Any, field: str, texts: list[Any], children: list[Any]) -> None:
    """Check a number, and take apart what comes from elsewhere than a JSON reader."""
    if isinstance(item, str):
        texts.append(item)
    elif isinstance(item, int | float):
        check_number(item, field)
    elif isinstance(item, Mapping):
        members = cast("Mapping[object, object]", item)
        texts.extend(members)
        children.extend(members.values())
    elif isinstance(item, list | tuple):
        children.extend(cast("Sequence[object]", item))


def _check_storable(texts: Sequence[Any], field: str) -> None:
    """Refuse the first of some texts that cannot be stored."""
    try:
        # One look at all of them: a record has dozens, and a file a million records.
        is_storable = _UNSTORABLE.search("".join(texts)) is None
    except TypeError:  # a key that is no text
        is_storable = False

    suspects = () if is_storable else texts
    for text in suspects:
        check_text(text, field)


def nesting(text: str) -> int:
    """How many lists and objects of a JSON text are open at most at one place.

    Counted before the text is read, because readers of deep JSON run out of stack.

    >>> nesting('{"a": [[1], "[[["]}')
    3
    """
    # Brackets inside of texts open nothing, and a quote behind a backslash ends none.
    deepest = depth = 0
    quoted = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif quoted:
            escaped = char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1

    return deepest


def _refuse(message: str, code: str, field: str) -> NoReturn:
    raise InvalidInput(f"{message}; store it as an artifact", code=code, field=field)


class _NumberError(ValueError):
    """A number that no store holds."""


class _FormError(ValueError):
    """What a reader of JSON would take, and JSON does not have."""


def utf8_of(content: bytes, place: str, *, code: str) -> str:
    r"""The text of some bytes, without a byte-order mark.

    >>> utf8_of(b"\xef\xbb\xbfa", "it", code="bad_file")
    'a'

    Raises:
        InvalidInput: `code`, with the first byte that is no UTF-8, counted from 1, and its line.
    """
    try:
        return content.decode("utf-8").removeprefix(_MARK)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"{place} is not UTF-8 text: byte {error.start + 1}, on line {line}; write it as UTF-8",
            code=code,
        ) from error


def json_of(text: str, place: str, *, code: str) -> Any:
    """The value of a JSON text.

    >>> json_of('{"a": [1.5]}', "it", code="bad_file")
    {'a': [1.5]}

    Raises:
        InvalidInput: `code` for what is no JSON, with the place in the text; `out_of_range` for a
            number beyond int64 or 1e308.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_members,
            parse_constant=_no_constant,
            parse_int=_integer,
            parse_float=_finite,
        )
    except _NumberError as error:
        raise InvalidInput(f"{place} holds {error}", code="out_of_range") from error
    except (RecursionError, ValueError) as error:
        raise InvalidInput(f"{place} is no JSON: {_json_problem(error)}", code=code) from error


def toml_of(text: str, place: str, *, code: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises:
        InvalidInput: `code`, with the place in the text.
    """
    # Most processes read none.
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
    except RecursionError:
        problem = _TOO_DEEP
    except ValueError:
        # The one thing that the reader hands on to Python unread.
        problem = "it holds a number of thousands of digits"
    raise InvalidInput(f"{place} is no TOML: {problem}", code=code)


def _json_problem(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        # Some of these sentences end in the word already.
        sentence = error.msg.removesuffix(" at")
        return f"{sentence} at {line}column {error.colno}"
    return str(error) if isinstance(error, _FormError) else _TOO_DEEP


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python lets the last of two equal keys win: what the first one says would be lost.
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated_names = sorted(name for name, times in counts.items() if times > 1)
        raise _FormError(f"a key occurs twice: {', '.join(repeated_names[:_NAMED_KEYS])}")

    return members


def _integer(digits: str) -> int:
    # A number of thousands of digits takes quadratic time to read, and Python refuses it.
    number = int(digits) if len(digits) <= _MOST_DIGITS else INTEGER_MAX + 1
    if not -INTEGER_MAX <= number <= INTEGER_MAX:
        raise _NumberError("a number beyond int64; give it as a text")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), -float("inf")):
        raise _NumberError("a number beyond 1e308; give it as a text")
    return number


def _no_constant(name: str) -> NoReturn:
    raise _FormError(f"{name} is no number of JSON")
