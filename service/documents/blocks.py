"""What a reader makes of a file: blocks of text with their kind, heading level and page.

Readers are pure functions of bytes. The text of a reading is its blocks joined by a line feed, and
every position in an outline counts in that text.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from typing import Any, Final, NamedTuple

from ...schema.errors import InvalidInput
from ..backend.files import needs_extra
from .records import DocumentProblem

MAX_BYTES: Final = 64 * 2**20
"""Bytes of one file."""
MAX_PASSAGES: Final = 9_000
"""Passages of one version: outline and passages share a transaction of 10,000 writes."""
MAX_PAGES: Final = 5_000
"""Pages of one file."""
MAX_UNPACKED: Final = 200 * 2**20
MAX_RATIO: Final = 100
"""How many times its packed size an archive may unpack to, from a megabyte on."""
MAX_MEMBERS: Final = 10_000


class FileBlockKind(StrEnum):
    """What a block is; passages never mix code with prose."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    HEADING = "heading"


class FileBlock(NamedTuple):
    """A paragraph, list item, table, code block or heading."""

    text: str
    kind: FileBlockKind = FileBlockKind.PROSE
    level: int = 0
    """Of a heading, from 1."""
    page: int = 0
    """From 1; 0 where the format has no pages."""


class FileReading(NamedTuple):
    """A file as its reader understood it."""

    blocks: tuple[FileBlock, ...]
    title: str = ""
    dates: Mapping[str, str] = {}
    """The fields of front matter, with `effective` among them."""
    dropped: Mapping[str, int] = {}
    """Words that were left out, by reason."""
    problems: tuple[DocumentProblem, ...] = ()
    media_type: str = ""
    reader: str = ""
    """Name and number of the reader."""
    sent: str = ""
    """Of mail: the date of the newest message, in ISO 8601."""

    @property
    def text(self) -> str:
        """The blocks joined by a line feed."""
        return "\n".join(block.text for block in self.blocks)


def refusal(code: str, message: str) -> InvalidInput:
    """The refusal of a file."""
    return InvalidInput(message, code=code)


def count_words(text: str) -> int:
    """How many words a text has, for the count of what was left out."""
    return len(text.split())


def single_spaced(text: object) -> str:
    """A text with one space between its words."""
    return " ".join(str(text or "").split())


def check_archive(archive: zipfile.ZipFile, size: int, name: str) -> None:
    """Refuse an archive that unpacks to too much, by its directory.

    Raises:
        InvalidInput: `too_large`, `encrypted`.
    """
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    is_bomb = unpacked > 2**20 and unpacked > MAX_RATIO * size
    if len(members) > MAX_MEMBERS or unpacked > MAX_UNPACKED or is_bomb:
        raise refusal("too_large", f"{name} unpacks to {unpacked} bytes in {len(members)} members")
    if any(member.flag_bits & 1 for member in members):
        raise refusal("encrypted", f"{name} is encrypted; hand it in decrypted")


def extra_module(name: str) -> Any:
    """A module of the extra `documents`, imported when a file needs it.

    Raises:
        Unavailable: `documents_extra_missing`.
    """
    with needs_extra("documents", code="documents_extra_missing"):
        return import_module(name)
