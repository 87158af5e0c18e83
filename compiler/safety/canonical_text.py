"""Canonical text without hidden characters, and views of a text for detectors.

`canonicalise` takes stored text or bytes and returns the text to render. It refuses what is not
Unicode, strips hidden characters and counts them by kind; every other byte stays. It is idempotent.
The result has no surrogate, private-use character, tag or bidi control, and a joiner only where a
script or an emoji needs it. The ranges are fixed here, because `unicodedata` differs between Python
versions.

>>> canonicalise("pay\u200bload").text
'payload'

`scan_views` returns the folded text (NFKC, look-alike letters, accents, case, white space) and, if
there is something to decode, the text behind tags, bidi overrides, HTML entities, base64,
hexadecimal, binary, digit spelling, reversal and rot13. A view is a guess for a detector and is
never rendered. Checklist C-164.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import methodcaller
from typing import Final

INVALID_ENCODING: Final = "invalid_encoding"
"""The reason code of text that is not Unicode."""

# U+0600-0605, U+06DD, U+070F, U+0890-0891, U+08E2, U+110BD and U+110CD are of category Cf too,
# but they are printed signs (the end of a verse, a year): they hide nothing and stay.
_INVISIBLES: Final = re.compile(
    "(?P<bidi>[\u202a-\u202e\u2066-\u2069]+)"
    "|(?P<zero_width>[\u200b\u2060\ufeff\u180e]+)"
    "|(?P<tag>[\U000e0000-\U000e007f]+)"
    "|(?P<private_use>[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]+)"
    "|(?P<control>[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]+)"
    "|(?P<filler>[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U00016fe4\U0001d159]+"
    "|(?<![\u2801-\u28ff\u2800])\u2800+)"  # braille writes its space so
    "|(?P<format>[\u00ad\u061c\u200e\u200f\u2061-\u2065\u206a-\u206f\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]+)"
)
_ATTACHMENTS: Final = re.compile(
    "[\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)
_MONGOLIAN: Final = re.compile("[\u1820-\u18aa]")
_KEYCAPS: Final = frozenset("0123456789#*")
"""The ASCII characters that have variants; after another a selector hides between letters."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ZWJ: Final = "\u200d"
_JOINERS: Final = ("\u200c", _ZWJ)

# The scripts whose letters change form next to a joiner: Arabic to Mandaic, the Indic family,
# Tibetan, Myanmar, Khmer, Mongolian, and the Brahmic and cursive scripts further up.
_JOINING_SCRIPT: Final = re.compile(
    "[\u0600-\u086f\u0870-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
_EMOJI: Final = re.compile(
    "[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]"
)
_IDEOGRAPH: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StrippedCounts:
    """How many characters were taken out, by kind."""

    bidi: int = 0
    """Bidirectional embeddings, overrides and isolates."""
    zero_width: int = 0
    """Zero-width spaces, word joiners and byte-order marks."""
    tag: int = 0
    """Tag characters U+E0000-E007F."""
    private_use: int = 0
    """Characters of category Co."""
    control: int = 0
    """Control characters, but for tab and what breaks a line."""
    filler: int = 0
    """Letters without a glyph: Hangul fillers, the grapheme joiner, Khmer inherent vowels."""
    format: int = 0
    """All other invisible format characters."""
    selector: int = 0
    """Variation selectors that select nothing."""
    joiner: int = 0
    """Joiners (ZWJ, ZWNJ) that join nothing."""


NOTHING_STRIPPED: Final = StrippedCounts()
"""The counts of a text that came through unchanged."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """The answer of `canonicalise`."""

    text: str
    """What may be rendered; empty when refused."""
    strip_counts: StrippedCounts
    """What was taken out."""
    refusal: str | None
    """`invalid_encoding`, or None when the text may go on."""


_INVALID_TEXT: Final = Canonical("", NOTHING_STRIPPED, INVALID_ENCODING)


def canonicalise(raw: str | bytes) -> Canonical:
    r"""The text that may be rendered, with the counts of what was stripped.

    Bytes must be UTF-8. Invalid UTF-8 and lone surrogates give a refusal, not an exception:
    the trace lists the object with the reason.

    >>> canonicalise(b"caf\xc3\xa9").text
    'café'
    >>> canonicalise(b"\xff").refusal
    'invalid_encoding'
    """
    text = _decode(raw)
    if text is None:
        return _INVALID_TEXT
    # Nothing that prints in ASCII is ever stripped, and a write asks this of its texts four times.
    if text.isascii() and text.replace("\n", " ").isprintable():
        return Canonical(text, NOTHING_STRIPPED, None)
    # A text has few distinct characters, and most texts none that could be stripped: asking each
    # of them once is ten times as fast as a search through the text.
    if all(map(_is_plain, set(text))):
        return Canonical(text, NOTHING_STRIPPED, None)
    if _SURROGATE.search(text):
        return _INVALID_TEXT

    return _strip(text)


@lru_cache(maxsize=4_096)
def _is_plain(char: str) -> bool:
    """Whether a character stays wherever it stands."""
    patterns = (_INVISIBLES, _ATTACHMENTS, _SURROGATE)
    return not any(map(methodcaller("search", char), patterns))


def _decode(raw: str | bytes) -> str | None:
    if isinstance(raw, str):
        return raw
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _strip(text: str) -> Canonical:
    counts: dict[str, int] = {}

    def drop(match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        counts[kind] = counts.get(kind, 0) + len(match[0])
        return ""

    def trim(match: re.Match[str]) -> str:
        run, legal_run = match[0], _legal_run(match)
        joiners = _joiners(run) - _joiners(legal_run)
        counts["joiner"] = counts.get("joiner", 0) + joiners
        counts["selector"] = counts.get("selector", 0) + len(run) - len(legal_run) - joiners
        return legal_run

    visible = _ATTACHMENTS.sub(trim, _INVISIBLES.sub(drop, text))
    return Canonical(visible, StrippedCounts(**counts), None)


def _legal_run(match: re.Match[str]) -> str:
    """What a run of selectors and joiners may keep: at most one of each.

    A longer run carries 8 bits a character past every reader; no script uses one.
    """
    run, start, end = match[0], match.start(), match.end()
    before = match.string[start - 1] if start else ""
    after = match.string[end : end + 1]
    selector = run[0] if _selects(run[0], before) else ""
    joiner = next(filter(_JOINERS.__contains__, run), "")
    return selector + (joiner if _joins(joiner, selector or before, after) else "")


def _selects(char: str, before: str) -> bool:
    if char in _JOINERS:
        return False
    if char <= "\u180f":
        return _MONGOLIAN.match(before) is not None
    if before.isascii():
        return before in _KEYCAPS
    if char <= "\ufe0f":
        return bool(before.strip())

    return _IDEOGRAPH.match(before) is not None


def _joins(joiner: str, before: str, after: str) -> bool:
    if _JOINING_SCRIPT.match(before):
        return True
    return joiner == _ZWJ and bool(_EMOJI.match(before) and _EMOJI.match(after))


def _joiners(run: str) -> int:
    return sum(map(run.count, _JOINERS))


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
    for name, text in _readings(raw, canonical, folded_text):
        if text:
            views.append(TextView(name, fold(text)))
    return tuple(views)


def _readings(raw: str, canonical: str, folded_text: str) -> Iterator[tuple[str, str]]:
    """Yield what each disguise would hide, empty where a text does not wear it."""
    tags: list[str] = []
    for run in () if raw.isascii() else _TAGS.findall(raw):
        tags.append("".join(chr(ord(char) - _TAG_OFFSET) for char in run))
    yield "tags", " ".join(tags)
    yield "bidi", " ".join(run[::-1] for run in _OVERRIDE.findall(raw))
    yield "html", html.unescape(canonical) if _ENTITY.search(canonical) else ""

    codes = _BASE64_RUN.findall(canonical)
    yield "base64", " ".join(_readable_runs(codes, _unbase64))
    yield "hex", " ".join(_readable_runs(filter(_HEX_RUN.fullmatch, codes), bytes.fromhex))
    yield "binary", " ".join(_readable_runs(_BINARY_RUN.findall(canonical), _unbinary))

    is_leet = len(_DIGIT_WORD.findall(folded_text)) >= _FEW_DIGIT_WORDS
    yield "digits", folded_text.translate(_LEET_DIGITS) if is_leet else ""
    is_reversed = any(map(folded_text.__contains__, REVERSED_WORDS))
    yield "reversed", folded_text[::-1] if is_reversed else ""
    # Every text has a rotation; only one that spells a word of an attack is worth reading.
    is_rotated = any(map(folded_text.__contains__, ROTATED_WORDS))
    yield "rot13", codecs.encode(folded_text, "rot13") if is_rotated else ""


def _readable_runs(runs: Iterable[str], decode: Callable[[str], bytes]) -> Iterator[str]:
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
