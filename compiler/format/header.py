"""The opening line of a block: boundary, anchors, authority level and origin, in few tokens.

    === data 5QXKABCDEF [1:3 7] L4 web://example.org
    === data 7MXKABCDEF L4 12

The first opens a block of one text. The second opens a block of twelve pieces (`lines`), which have
their own anchors and origins. Ids are in brackets, with three or more consecutive numbers as
`first:last`. Ids and origin are percent-encoded, so neither can end the line, close the bracket or
contain anything but plain ASCII without spaces. Reading is strict: a header can be written only as
the line it was read from. Checklist C-207.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from ...schema.artifact import is_address

SHORT: Final = 10
"""Characters of a boundary."""
LONG: Final = 26
"""Characters of a boundary of the first grammar."""

MAX_IDS: Final = 100_000
"""The most ids one envelope may name: a bound for what a forged range can make a parser do."""

_OPENING: Final = re.compile(
    r"=== (instruction|data|dialogue) ([A-Z2-7]{10}|[A-Z2-7]{26})(?: \[([^\]]*)\])?(?: L([0-4]))?"
    r"(?: ([!-~]+))?",
    re.ASCII,
)
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_RANGE: Final = re.compile(r"([1-9][0-9]{0,8}|0):([1-9][0-9]{0,8})", re.ASCII)
_SHORTEST_RANGE: Final = 3
_ORIGIN_SAFE: Final = "!#$&'()*+,/:;=?@~-._"


_NO_ORIGIN: Final = "-"
"""Written for an empty origin where a missing one means the section's own."""


@dataclass(frozen=True, slots=True)
class ImpliedFields:
    """What an opening line need not say, because the section says it."""

    authority: int | None = None
    origin: str = ""


NOT_IMPLIED: Final = ImpliedFields()


@dataclass(frozen=True, slots=True)
class Header:
    """What an opening line says."""

    kind: str
    """`instruction`, `data` or `dialogue`."""
    token: str
    """The boundary, characters of base32."""
    object_ids: tuple[str, ...]
    """The visible ids."""
    authority: int
    """Level 0 to 4."""
    origin: str
    """Origin, decoded; may be empty."""
    pieces: int = 0
    """How many pieces share the block; 0 for a block of one text."""


def opening_line(
    mark: tuple[str, str],
    object_ids: Sequence[str],
    *,
    authority: int,
    origin: str,
    implied_fields: ImpliedFields = NOT_IMPLIED,
) -> str:
    """The opening line of a block of one text; `mark` is (kind, boundary).

    What the section says already is left out.

    >>> opening_line(("data", "A" * 10), ("1", "2", "3"), authority=4, origin="web://x y")
    '=== data AAAAAAAAAA [1:3] L4 web://x%20y'
    """
    kind, token = mark
    parts = ["===", kind, token]
    if object_ids:
        parts.append(f"[{' '.join(_ranges(object_ids))}]")

    if authority != implied_fields.authority:
        parts.append(f"L{authority}")

    if implied_fields.origin and not origin:
        parts.append(_NO_ORIGIN)
    elif origin and origin != implied_fields.origin:
        source = quote(origin, safe=_ORIGIN_SAFE)
        if len(token) == SHORT and (source.isdecimal() or source == _NO_ORIGIN):
            source = f"%{ord(source[0]):02X}{source[1:]}"  # else it would read as a count
        parts.append(source)

    return " ".join(parts)


def shared_opening(mark: tuple[str, str], count: int, *, authority: int) -> str:
    """The opening line of a block that several pieces share; their lines bear the anchors.

    >>> shared_opening(("data", "A" * 10), 3, authority=4)
    '=== data AAAAAAAAAA L4 3'
    """
    kind, token = mark
    return f"=== {kind} {token} L{authority} {count}"


def read_opening(line: str, implied_fields: ImpliedFields = NOT_IMPLIED) -> Header | None:
    """What an opening line says; None when it is none, or not the one written for it."""
    match = _OPENING.fullmatch(line)
    if match is None:
        return None

    kind, token, ids, level, source = match.groups()
    if len(token) == LONG:
        implied_fields = NOT_IMPLIED
    elif level and ids is None and source and _NUMBER.fullmatch(source):
        return Header(kind, token, (), int(level), "", int(source)) if source != "0" else None

    authority = implied_fields.authority if level is None else int(level)
    object_ids = _expand_ids(ids)
    if authority is None or object_ids is None:
        return None

    try:
        origin = implied_fields.origin if source is None else unquote(source, errors="strict")
    except UnicodeDecodeError:
        return None

    if implied_fields.origin and source == _NO_ORIGIN:
        origin = ""

    header = Header(kind, token, object_ids, authority, origin)
    line_again = opening_line(
        (kind, token), object_ids, authority=authority, origin=origin, implied_fields=implied_fields
    )
    return header if line_again == line else None


def short_origin(origin: str, limit: int = 80) -> str:
    """An origin fit for a visible header: no query, no fragment, at most `limit` chars.

    A query may hold a secret, and a long address is a place for a payload. The trace keeps
    the whole origin. The address of an artifact stays whole, because it is a pointer to follow.

    >>> short_origin("https://example.org/a?token=abc#top")
    'https://example.org/a'
    """
    if is_address(origin):
        return origin

    bare = re.split(r"[?#]", origin, maxsplit=1)[0]
    return bare if len(bare) <= limit else bare[: limit - 1] + "~"


def _ranges(object_ids: Sequence[str]) -> Iterator[str]:
    position = 0
    while position < len(object_ids):
        end = position + 1
        if _NUMBER.fullmatch(object_ids[position]):
            while end < len(object_ids) and _follows(object_ids[end], object_ids[end - 1]):
                end += 1

        if end - position >= _SHORTEST_RANGE:
            yield f"{object_ids[position]}:{object_ids[end - 1]}"
        else:
            end = position + 1
            yield quote(object_ids[position], safe="")

        position = end


def _follows(second: str, first: str) -> bool:
    return _NUMBER.fullmatch(second) is not None and int(second) == int(first) + 1


def _expand_ids(ids: str | None) -> tuple[str, ...] | None:
    """The ids of a bracket; None when they are not decodable or too many."""
    if ids is None:
        return ()

    full_ids: list[str] = []
    for part in ids.split(" "):
        span = _RANGE.fullmatch(part)
        first, last = (int(span[1]), int(span[2])) if span else (0, 0)
        # Before the range is written out: a line may claim a span of a million ids.
        if last - first >= MAX_IDS - len(full_ids):
            return None

        if span:
            full_ids += map(str, range(first, last + 1))
            continue

        try:
            full_ids.append(unquote(part, errors="strict"))
        except UnicodeDecodeError:
            return None

    return tuple(full_ids)
