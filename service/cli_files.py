"""Files of the command line: read and written whole, with errors that say what is wrong."""

from __future__ import annotations

from pathlib import Path

from ..schema.errors import InvalidInput, NotFound, Unavailable


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
