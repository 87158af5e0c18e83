"""Files of the command line: read and written whole, with errors that say what is wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...schema.documents import utf8_of
from ...schema.errors import NotFound, Unavailable
from .ids import unique_id

if TYPE_CHECKING:
    from ..client.memory import Memory

_SCAN_LIMIT: Final = 10_000
"""The newest envelopes among which the start of an id looks."""


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a file.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", code="unknown_file") from error
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error


def read_text(path: Path) -> str:
    """Read the text of a file.

    Raises:
        InvalidInput: `bad_file`, for one that is no UTF-8; and what `read_bytes` raises.
    """
    return utf8_of(read_bytes(path), str(path), code="bad_file")


def read_standard_input() -> str:
    """Read the text that standard input holds.

    Raises:
        InvalidInput: `bad_file`, for one that is no UTF-8.
    """
    return utf8_of(sys.stdin.buffer.read(), "standard input", code="bad_file")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file.

    Raises:
        Unavailable: `file_unwritable`.
    """
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror or error}", code="file_unwritable"
        ) from error


def envelope_named(memory: Memory, reference: str) -> str:
    """Find a manifest or an id by what names it: a file, `-`, an id, or its beginning.

    Raises:
        InvalidInput: `bad_request`, when several envelopes begin so.
    """
    if reference == "-":
        return read_standard_input()
    # A file goes before an id: one that is called like an id was put there on purpose.
    if Path(reference).is_file():
        return read_text(Path(reference))

    prefix = reference.rstrip("…").lower()
    if not re.fullmatch(r"[0-9a-f]{4,63}", prefix):
        return reference

    words: dict[str, str] = {}
    for stored in memory.envelopes.list(_SCAN_LIMIT):
        words[stored.envelope_id] = f"{stored.task}: {stored.query}" if stored.task else "erased"
    match = unique_id(prefix, words, words)
    return reference if match == prefix else match
