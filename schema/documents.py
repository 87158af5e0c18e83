"""Documents from outside: UTF-8, JSON and TOML, read exactly or refused in words of our own.

One reader for every door: a body, a line, a mapping, a policy, the settings. What the readers of
Python let pass is refused, since it would be lost or changed: a key that stands twice, NaN, a
number that no store holds. A refusal names the place in the document. Pure.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final, NoReturn

from .errors import InvalidInput
from .limits import INTEGER_MAX

_MOST_DIGITS: Final = 20
"""Signs of a whole number that is read before it is refused; int64 takes 20 with its minus."""
_NAMED_KEYS: Final = 10
"""Repeated keys that a refusal names."""
_MARK: Final = "\ufeff"
"""What editors of Windows put before a text."""


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


_TOO_DEEP: Final = "it is nested too deeply"


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
        raise _FormError(f"a key stands twice: {', '.join(repeated_names[:_NAMED_KEYS])}")

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
