"""From blocks to passages: a cut depends on the text around it and on nothing before that.

A heading cuts. Short blocks of one section are joined until the passage has 80 characters and its
last block is long, or the checksum of that block is divisible by 3: an edit moves the cuts next to
it and leaves all others. A block above 1,200 characters is cut at sentences, code and tables at
lines. Numbered as `CUTTER`; another number cuts a file again only after the file has changed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

from ...resolution.normalize import sentence_spans
from .blocks import FileBlock, FileBlockKind, FileReading

CUTTER: Final = 1
_MOST: Final = 1_200
_LEAST: Final = 80
_LONG: Final = 400
_SHARE: Final = 3
_NUMBER: Final = re.compile(
    r"^(?:(?:\d+|[IVXLC]+|[A-Za-z])[.)]\s*)+(?:\d+\s+)?|^§\s*\d+\w?\s*|^\d+\s+"
)
_LINES: Final = re.compile(r"[^\n]+")


class Heading(NamedTuple):
    """A heading with its place in the text of the reading."""

    level: int
    title: str
    page: int
    start: int


class CutPassage(NamedTuple):
    """A passage that was cut: a slice of the text of the reading."""

    text: str
    page: int
    heading: int
    """Number of its heading, from 1; 0 above the first."""
    start: int
    length: int
    gap: str = "\n"
    """White space between it and what follows."""


class _Unit(NamedTuple):
    start: int
    end: int
    page: int
    kind: FileBlockKind


def cut(reading: FileReading) -> tuple[str, tuple[Heading, ...], tuple[CutPassage, ...]]:
    """The text of a reading, its headings, and the passages between them, in order.

    A heading with nothing below it is text of the heading above it, so that no word is lost.
    """
    text = reading.text
    bare = _bare_headings(reading.blocks)
    # The level and number of each heading above; a bare one has the number of that above it.
    above: list[tuple[int, int]] = [(0, 0)]
    headings: list[Heading] = []
    pieces: list[CutPassage] = []
    section: list[_Unit] = []
    position = 0
    for place, block in enumerate(reading.blocks):
        number = above[-1][1]
        if block.kind is FileBlockKind.HEADING:
            while above[-1][0] >= block.level:
                above.pop()
            heading = above[-1][1] if place in bare else len(headings) + 1
            above.append((block.level, heading))
            if heading != number:
                pieces += _pieces(text, section, number)
                section = []
        if place in bare:
            block = block._replace(kind=FileBlockKind.PROSE)
        if block.kind is FileBlockKind.HEADING:
            headings.append(Heading(block.level, block.text, block.page, position))
        else:
            section += _units(block, position)
        position += len(block.text) + 1

    pieces += _pieces(text, section, above[-1][1])
    for number, (piece, following) in enumerate(pairwise(pieces)):
        between = text[piece.start + piece.length : following.start]
        # Where a heading stands between them, each of the three ends in a line feed.
        pieces[number] = piece._replace(gap="\n" if between.strip() else between)

    return text, tuple(headings), tuple(pieces)


def _bare_headings(blocks: Sequence[FileBlock]) -> frozenset[int]:
    """The places of headings with no text below them or below a heading of theirs."""
    bare: set[int] = set()
    level: float = 0
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if block.kind is not FileBlockKind.HEADING:
            level = inf
        elif block.level < level:
            level = block.level
        else:
            bare.add(place)

    return frozenset(bare)


def heading_paths(headings: Sequence[Heading]) -> tuple[tuple[str, ...], ...]:
    """The titles above the passages of each heading, outermost first; first those above none.

    >>> titles = Heading(1, "Leave", 0, 0), Heading(2, "Sick", 0, 9), Heading(1, "Pay", 0, 20)
    >>> heading_paths(titles)
    ((), ('Leave',), ('Leave', 'Sick'), ('Pay',))
    """
    paths: list[tuple[str, ...]] = [()]
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        paths.append(tuple(outer.title for outer in above))

    return tuple(paths)


def plain_title(title: str) -> str:
    """A title without its number: renumbering moves nothing.

    >>> [plain_title(title) for title in ("4.2 Sick leave", "IV. Leave", "§ 12 Urlaub", "2026 pay")]
    ['sick leave', 'leave', 'urlaub', 'pay']
    """
    return _NUMBER.sub("", title.strip()).casefold()


def _units(block: FileBlock, position: int) -> Iterator[_Unit]:
    """The parts of a block that a cut may stand between."""
    text = block.text
    spans = [(0, len(text))]
    if len(text) > _MOST and block.kind is FileBlockKind.PROSE:
        spans = list(sentence_spans(text))
    elif len(text) > _MOST:
        spans = [match.span() for match in _LINES.finditer(text)]

    for start, end in spans:
        while start < end:
            # A span above the limit ends at white space where there is any.
            edge = end
            if end - start > _MOST:
                space = max(text.rfind(sign, start + 1, start + _MOST) for sign in " \n")
                edge = space if space > start else start + _MOST
            yield _Unit(position + start, position + edge, block.page, block.kind)
            start = edge + (edge < end and text[edge] in " \n")


def _pieces(text: str, units: Sequence[_Unit], heading: int) -> Iterator[CutPassage]:
    group: list[_Unit] = []
    for unit in (*units, None):
        if group and (unit is None or _cuts(text, group[0], group[-1], unit)):
            first, end = group[0], group[-1].end
            words = text[first.start : end]
            yield CutPassage(words, first.page, heading, first.start, len(words))
            group = []
        if unit is not None:
            group.append(unit)


def _cuts(text: str, first: _Unit, last: _Unit, following: _Unit) -> bool:
    """Whether a passage ends between two of its parts."""
    is_prose = first.kind is FileBlockKind.PROSE
    if is_prose is not (following.kind is FileBlockKind.PROSE):
        return True
    if following.end - first.start > _MOST:
        return True
    words = text[last.start : last.end]
    # What ends in a colon announces what follows.
    if last.end - first.start < _LEAST or words.rstrip().endswith(":"):
        return False
    return len(words) >= _LONG or zlib.crc32(words.encode("utf-8", "surrogatepass")) % _SHARE == 0
