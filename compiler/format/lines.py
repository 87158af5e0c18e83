r"""Lines: pieces that share one block, each with its anchor, its speaker and its time.

    @ 2023-05-08 chat://session_1 *agent://assistant
    [4] Sam: The harbour opens
      on Monday.
    [5 *] And the canteen?
    [6 10] Sam: On Wednesday.
    [7 06-02] Sam: It is full.

An `@` line states the source and the full day of what follows; `*` marks a second source that takes
turns with the first. A changed day is written behind the anchor, without the year or month that
stays the same, and holds until the next one. `-` is an unknown day, `~` an unknown source. Every
line break in a text is followed by two spaces and names are encoded, so no text can start a line or
pose as another piece. Older texts with an `@` line for every day, or with short ones, still read.

Invariant: `read_lines(body_of(pieces)) == pieces`, and a body has one reading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from operator import attrgetter
from typing import Final
from urllib.parse import quote, unquote

from ...schema.errors import InvalidInput
from ...schema.records import short_repr
from ..safety.canonical_text import INVALID_ENCODING
from .escape import LINE_BREAKS

WHO_LENGTH: Final = 40

_INDENT: Final = "  "
_BREAK: Final = re.compile(rf"\r\n|[{LINE_BREAKS}]")
_INDENT_BREAK: Final = re.compile(rf"(\r\n|[{LINE_BREAKS}]){_INDENT}")
_NEXT_LINE: Final = re.compile(r"\n(?=[\[@])")
_PIECE: Final = re.compile(r"\[([^\]\s]+)(?: ([^\]\s]+))?\] (.*)", re.DOTALL)
_SPEECH: Final = re.compile(r"([^:\[\]@\n]{0,500}): ", re.DOTALL)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]{5,8}Z)?", re.ASCII)
_SHORT_DAY: Final = re.compile(r"(?:[0-9]{2}-)?[0-9]{2}", re.ASCII)
_DAY_LENGTH: Final = 10
_NO_DAY: Final = "-"
_NO_SOURCE: Final = "~"
_REPLY: Final = "*"
_QUOTE: Final = "> "
"""Before a text of no speaker; no encoded name holds the sign."""
_UNSAFE: Final = re.compile('[:\\[\\]@%"\\\\<>=|\\uff1a\\uff1c\\uff1d\\uff5c]')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ROLES: Final = frozenset(
    "user human assistant system developer tool instruction instructions response".split()
)
_ORIGIN_SAFE: Final = "!#$&'()*+,/:;=?@~-._"

Rewrite = Callable[[str], str]
"""What a text goes through on its way into or out of a body."""


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """One text of a block that several share.

    Raises:
        InvalidInput: `bad_envelope`, for a part that no line could hold.
    """

    __repr__ = short_repr

    anchor: str
    """The visible id; an anchor leads to the object in the trace."""
    text: str
    """Before escaping."""
    who: str = ""
    """Whoever said or wrote it, one line of at most 40 characters; empty: unknown."""
    when: str = ""
    """The day, `2023-05-08`, or the second in UTC; empty: unknown."""
    origin: str = ""
    """Where it comes from; empty: unknown."""

    def __post_init__(self) -> None:
        written = f"{self.text}{self.who}{self.origin}"
        if not written.isascii() and _SURROGATE.search(written):
            raise InvalidInput(
                "a piece holds a lone surrogate; canonicalise first", code=INVALID_ENCODING
            )
        if not re.fullmatch(r"[^\]\s]+", self.anchor):
            raise _refusal(f"{self.anchor!r} is no anchor")
        if self.who != who_of(self.who):
            raise _refusal(f"{self.who!r} is no name of at most {WHO_LENGTH} characters in a line")
        if self.when and not _DATE.fullmatch(self.when):
            raise _refusal(f"{self.when!r} is no day")


def who_of(name: str) -> str:
    """A name as a line can show it: one line, at most 40 characters.

    >>> who_of(" Sam  Rivera ")
    'Sam Rivera'
    """
    return " ".join(name.split())[:WHO_LENGTH].rstrip()


def body_of(
    pieces: Iterable[BlockPiece],
    rewrite: Rewrite = str,
    *,
    replies: bool = True,
    day_lines: bool = False,
    full_days: bool = True,
) -> str:
    """The body of a block; `rewrite` is the escape of each text.

    Args:
        pieces: The texts, in order.
        rewrite: The escape of each text.
        replies: Whether two sources that take turns share an `@` line.
        day_lines: Whether every day has an `@` line, as earlier texts have it.
        full_days: Whether an `@` line says the whole day, not what changes of it.
    """
    pieces = tuple(pieces)
    reply_origin = _reply_origin(pieces) if replies else ""
    lines: list[str] = []
    date = origin = ""
    if reply_origin:
        origin = next(piece.origin for piece in pieces if piece.origin != reply_origin)
        date = pieces[0].when
        lines.append(_talk_line(date, origin, reply_origin))

    for piece in pieces:
        day = mark = ""
        if reply_origin and piece.origin == reply_origin:
            mark = _REPLY
        elif day_lines or not lines or piece.origin != origin:
            if (piece.when, piece.origin) != (date, origin):
                last_date = "" if full_days and piece.when else date
                lines.append(_context_line(piece, last_date, origin, months=not day_lines))
            date, origin = piece.when, piece.origin

        if piece.when != date:
            day = _day(piece.when, date)
            date = piece.when

        label = f"{piece.anchor} {mark}{day}" if mark or day else piece.anchor
        lines.append(line_of(rewrite(piece.text), piece.who, label))

    return "\n".join(lines)


def _reply_origin(pieces: Sequence[BlockPiece]) -> str:
    """The source that most often takes its turn inside another one; empty where none does."""
    runs = [origin for origin, _ in groupby(pieces, key=attrgetter("origin"))]
    turns: Counter[str] = Counter()
    for before, origin, after in zip(runs, runs[1:], runs[2:], strict=False):
        if origin and before == after:
            turns[origin] += 1

    # Of two that take turns the mark costs less at the one that says less.
    sizes = Counter(piece.origin for piece in pieces)
    return max(turns, key=lambda origin: (turns[origin], -sizes[origin]), default="")


def _talk_line(date: str, origin: str, reply_origin: str) -> str:
    """The day and both sources of a talk."""
    words = ["@", date, _source(origin), f"{_REPLY}{_source(reply_origin)}"]
    return " ".join(filter(None, words))


def is_body(body: str, pieces: Sequence[BlockPiece], rewrite: Rewrite = str) -> bool:
    """Whether a body is how these pieces are written, or were by an earlier compiler."""
    if body == body_of(pieces, rewrite):
        return True

    short = partial(body_of, pieces, rewrite, full_days=False)
    return body in (short(), short(replies=False)) or body == short(replies=False, day_lines=True)


def _context_line(piece: BlockPiece, last_date: str, last_origin: str, *, months: bool) -> str:
    """What changes of day and source at a piece."""
    words = ["@"]
    if piece.when != last_date:
        words.append(_day(piece.when, last_date, months=months))
    if piece.origin != last_origin:
        words.append(_source(piece.origin))
    return " ".join(words)


def _source(origin: str) -> str:
    """A source as a word of an `@` line."""
    source = quote(origin, safe=_ORIGIN_SAFE)
    if _is_day(source) or source == _NO_SOURCE:
        return f"%{ord(source[0]):02X}{source[1:]}"  # else it would not read as a source
    return source or _NO_SOURCE


def _day(date: str, last_date: str, *, months: bool = True) -> str:
    """A day as it is written after another one: without its year or month where they are the same.

    >>> _day("2023-05-10", "2023-05-08"), _day("2023-06-02", "2023-05-10")
    ('10', '06-02')
    >>> _day("2024-01-01", "2023-05-08"), _day("", "2023-05-08")
    ('2024-01-01', '-')
    """
    # Only whole days shorten: a time of day is always written in full.
    if len(date) == len(last_date) == _DAY_LENGTH:
        if months and date[:8] == last_date[:8]:
            return date[8:]
        if date[:5] == last_date[:5]:
            return date[5:]
    return date or _NO_DAY


def _is_day(word: str) -> bool:
    return word == _NO_DAY or bool(_DATE.fullmatch(word) or _SHORT_DAY.fullmatch(word))


def line_of(text: str, who: str, label: str) -> str:
    r"""One text as a line represents it, without a check; `label` is its anchor, and its day.

    >>> line_of("The harbour opens\non Monday.", "Sam", "4")
    '[4] Sam: The harbour opens\n  on Monday.'
    >>> line_of("System: be brief", "", "4")
    '[4] > System: be brief'
    """
    speech = f"{_encode_speaker(who)}: " if who else ""
    text = _BREAK.sub(lambda match: match[0] + _INDENT, text)
    # Without a speaker, a text that begins as if there were one is marked as a quotation.
    if not speech and (_SPEECH.match(text) or text.startswith(_QUOTE)):
        speech = _QUOTE
    return f"[{label}] {speech}{text}"


@lru_cache(maxsize=1_024)
def _encode_speaker(speaker: str) -> str:
    r"""A name in which nothing is structure, a role word in quotes.

    >>> _encode_speaker("a: b"), _encode_speaker("System")
    ('a%3A b', '"System"')
    """
    # A person may be called "System"; in quotes it is a name and no role of a chat.
    if speaker.casefold().rstrip("*_ ") in _ROLES:
        return f'"{speaker}"'

    quoted_name = _UNSAFE.sub(lambda match: quote(match[0], safe=""), speaker)
    if quoted_name.isprintable():
        return quoted_name

    return "".join(char if char.isprintable() else quote(char, safe="") for char in quoted_name)


def read_lines(body: str, rewrite: Rewrite = str) -> tuple[BlockPiece, ...]:
    """The pieces of a body; `rewrite` takes the escape off each text.

    Raises:
        InvalidInput: `bad_envelope`, for a body that `body_of` does not write.
    """
    pieces: list[BlockPiece] = []
    raw_pieces: list[BlockPiece] = []
    date = origin = reply_origin = ""

    for line in _NEXT_LINE.split(body):
        if line.startswith("@"):
            date, origin, reply_origin = _read_context(line, date, origin, reply_origin)
            continue

        match = _PIECE.fullmatch(line)
        if match is None:
            raise _refusal(f"no line of a piece: {line[:40]!r}")
        anchor, day, speech = match.groups()
        is_reply = bool(day) and day.startswith(_REPLY)
        source = reply_origin if is_reply else origin
        day = day.removeprefix(_REPLY) if is_reply else day
        if day:
            date = _read_day(day, date)

        # Both forms are kept: the written one proves the body, the other is what was said.
        speaker, raw = _read_speech(speech)
        raw = _INDENT_BREAK.sub(r"\1", raw)
        raw_pieces.append(BlockPiece(anchor, raw, speaker, date, source))
        pieces.append(BlockPiece(anchor, rewrite(raw), speaker, date, source))

    # Writing it again proves that this is the one text of these pieces.
    if not is_body(body, raw_pieces):
        raise _refusal("the lines are not those that are written for these pieces")

    return tuple(pieces)


def _read_context(line: str, date: str, origin: str, reply_origin: str) -> tuple[str, str, str]:
    """The day and both sources behind an `@` line; what it does not name stays as it was."""
    words = line.split(" ")[1:]
    if words and _is_day(words[0]):
        date = _read_day(words.pop(0), date)
    if words:
        origin = "" if words[0] == _NO_SOURCE else _decode_speaker(words[0])
    if words[1:]:
        reply_origin = _decode_speaker(words[1].removeprefix(_REPLY))
    return date, origin, reply_origin


def _read_day(word: str, last_date: str) -> str:
    """The day that a word names after another one."""
    if _SHORT_DAY.fullmatch(word):
        return last_date[: _DAY_LENGTH - len(word)] + word
    return word.removeprefix(_NO_DAY)


def _read_speech(speech: str) -> tuple[str, str]:
    if speech.startswith(_QUOTE):
        return "", speech.removeprefix(_QUOTE)
    match = _SPEECH.match(speech)
    if match is None:
        return "", speech
    speaker = match[1]
    if len(speaker) > 1 and speaker[0] == speaker[-1] == '"':
        return speaker[1:-1], speech[match.end() :]
    return _decode_speaker(speaker), speech[match.end() :]


def _decode_speaker(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise _refusal(f"{text[:40]!r} is not encoded") from error


def common_origin(pieces: Sequence[BlockPiece]) -> str:
    """The origin that all pieces share, else empty."""
    origins = {piece.origin for piece in pieces}
    return origins.pop() if len(origins) == 1 else ""


def _refusal(reason: str) -> InvalidInput:
    return InvalidInput(f"a block of lines: {reason}", code="bad_envelope")
