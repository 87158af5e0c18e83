"""Files of the command line: read and written whole, with errors that say what is wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...schema.errors import InvalidInput, NotFound, Unavailable

if TYPE_CHECKING:
    from ..client.memory import Memory

_SCANNED: Final = 10_000
"""The newest envelopes among which the start of an id looks."""


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", code="unknown_file") from error
    except OSError as error:
        why = error.strerror or error
        raise Unavailable(f"{path} cannot be read: {why}", code="file_unreadable") from error


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        InvalidInput: `bad_file`, for one that is no UTF-8; and what `read_bytes` raises.
    """
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text", code="bad_file") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file.

    Raises:
        Unavailable: `file_unwritable`.
    """
    try:
        path.write_bytes(data)
    except OSError as error:
        why = error.strerror or error
        raise Unavailable(f"{path} cannot be written: {why}", code="file_unwritable") from error


def envelope_named(memory: Memory, stated: str) -> str:
    """Return a manifest or an id for what was stated: a file, `-`, an id, or its beginning.

    Raises:
        InvalidInput: `bad_request`, when several envelopes begin so.
    """
    if stated == "-":
        return sys.stdin.read()
    if Path(stated).is_file():
        return read_text(Path(stated))
    start = stated.rstrip("…").lower()
    if not re.fullmatch(r"[0-9a-f]{4,63}", start):
        return stated
    ids = (each.envelope_id for each in memory.envelopes.list(_SCANNED))
    found = sorted(each for each in ids if each.startswith(start))
    if len(found) > 1:
        raise InvalidInput(
            f"{len(found)} envelopes begin with {start}: state more of the id, as in "
            f"{found[0][: len(start) + 4]}",
            code="bad_request",
        )
    return found[0] if found else stated
