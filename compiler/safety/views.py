"""Views for scanning: what a text says once its disguise is off. Never rendered.

`scan_views` gives the folded text (NFKC, look-alike letters, accents, case, white space) and,
where there is something to undo, the text behind tag characters, bidi overrides, HTML
entities, base64, hexadecimal, binary, digit spelling, reversal and rot13.

A view is a guess that helps a detector. It decides nothing about what is rendered: that is
`canonical_text.canonicalise`. Checklist C-164.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from .canonical_text import canonicalise

# Letters of other scripts that print like Latin ones. Only applied to a text in which some word
# mixes scripts, so that honest Cyrillic or Greek stays what it is.
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝвкмнтАЕОРСУХІЈЅВКМНТοαερτυικνΟΑΕΡΤΥΙΚΝΗΒΜΖΧ",
    "aeopcyxijshdqwbkmhtAEOPCYXIJSBKMHToaeptuiknOAEPTYIKNHBMZX",
)
_MIXED_SCRIPTS: Final = re.compile(r"[a-zA-Z][а-яѐ-ԯА-Я]|[а-яѐ-ԯА-Я][a-zA-Z]")  # noqa: RUF001
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_TAG_OFFSET: Final = 0xE0000
_OVERRIDE: Final = re.compile("\u202e([^\u202c\u202d]*)")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")
_BASE64_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX_RUN: Final = re.compile(r"(?:[0-9a-fA-F]{2}){16,}")
_BINARY_RUN: Final = re.compile(r"\b[01]{8}(?: ?[01]{8}){5,}\b")
# Digits for letters nearly always leave a digit before a letter somewhere in the word.
_DIGIT_WORD: Final = re.compile(r"[0134578][a-z]\w*")
_LEET_DIGITS: Final = str.maketrans("0134578", "oieastb")
_FEW_DIGIT_WORDS: Final = 4
REVERSED_WORDS: Final = ("snoitcurtsni", "tpmorp", "erongi")
"""What a text has that is worth reading from its end."""
ROTATED_WORDS: Final = ("vafgehpgvba", "cebzcg", "vtaber")
"""What a text has that is worth rotating."""


@dataclass(frozen=True, slots=True)
class TextView:
    """One reading of a text."""

    name: str
    """Which disguise was taken off."""
    text: str
    """The reading, folded."""


def fold(text: str) -> str:
    r"""Return `text` as a detector compares it: no look-alikes, accents, case or layout.

    >>> fold("\uff29gnore  \u00e0ll")
    'ignore all'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        if _MIXED_SCRIPTS.search(text):
            text = text.translate(_LOOKALIKES)
        decomposition = unicodedata.normalize("NFD", text)
        bare = "".join(char for char in decomposition if not unicodedata.combining(char))
        text = unicodedata.normalize("NFC", bare)

    return " ".join(text.casefold().split())


def scan_views(raw: str) -> tuple[TextView, ...]:
    """The readings of `raw` that a detector should see, the folded text first."""
    canonical = canonicalise(raw).text
    folded_text = fold(canonical)
    views = [TextView("folded", folded_text)]

    for name, reading in _READINGS:
        view = reading(raw, canonical, folded_text)
        if view:
            views.append(TextView(name, fold(view)))

    return tuple(views)


def _from_tags(raw: str, _canonical: str, _folded_text: str) -> str:
    runs = () if raw.isascii() else _TAGS.findall(raw)
    texts: list[str] = []
    for run in runs:
        letters = [chr(ord(char) - _TAG_OFFSET) for char in run]
        texts.append("".join(letters))
    return " ".join(texts)


def _from_overrides(raw: str, _canonical: str, _folded_text: str) -> str:
    return " ".join(run[::-1] for run in _OVERRIDE.findall(raw))


def _from_entities(_raw: str, canonical: str, _folded_text: str) -> str:
    return html.unescape(canonical) if _ENTITY.search(canonical) else ""


def _from_base64(_raw: str, canonical: str, _folded_text: str) -> str:
    return " ".join(_readable_runs(_BASE64_RUN.findall(canonical), _unbase64))


def _from_hex(_raw: str, canonical: str, _folded_text: str) -> str:
    runs = [run for run in _BASE64_RUN.findall(canonical) if _HEX_RUN.fullmatch(run)]
    return " ".join(_readable_runs(runs, bytes.fromhex))


def _from_binary(_raw: str, canonical: str, _folded_text: str) -> str:
    return " ".join(_readable_runs(_BINARY_RUN.findall(canonical), _unbinary))


def _from_digits(_raw: str, _canonical: str, folded_text: str) -> str:
    words = _DIGIT_WORD.findall(folded_text)
    return folded_text.translate(_LEET_DIGITS) if len(words) >= _FEW_DIGIT_WORDS else ""


def _from_reversal(_raw: str, _canonical: str, folded_text: str) -> str:
    return folded_text[::-1] if any(word in folded_text for word in REVERSED_WORDS) else ""


def _from_rotation(_raw: str, _canonical: str, folded_text: str) -> str:
    # Every text has a rotation; only one that spells a word of an attack is worth reading.
    if not any(word in folded_text for word in ROTATED_WORDS):
        return ""

    return codecs.encode(folded_text, "rot13")


_READINGS: Final[tuple[tuple[str, Callable[[str, str, str], str]], ...]] = (
    ("tags", _from_tags),
    ("bidi", _from_overrides),
    ("html", _from_entities),
    ("base64", _from_base64),
    ("hex", _from_hex),
    ("binary", _from_binary),
    ("digits", _from_digits),
    ("reversed", _from_reversal),
    ("rot13", _from_rotation),
)


def _readable_runs(runs: list[str], decode: Callable[[str], bytes]) -> Iterator[str]:
    for run in runs:
        try:
            text = decode(run).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            continue
        if all(char.isprintable() or char.isspace() for char in text):
            yield text


def _unbase64(run: str) -> bytes:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _unbinary(run: str) -> bytes:
    bits = run.replace(" ", "")
    return bytes(int(bits[start : start + 8], 2) for start in range(0, len(bits), 8))
