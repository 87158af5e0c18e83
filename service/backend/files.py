"""What a user brings: files under stated names, and the packages of an extra.

A file is written never through a link, and for its owner alone.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ...schema.errors import Conflict, Unavailable
from ...store.transfer.whole_file import whole_file


@contextmanager
def new_file(path: str | Path, *, replace: bool = False) -> Generator[IO[bytes]]:
    """`whole_file` under a name that a user stated.

    Raises:
        Conflict: `file_exists`, as `check_name`.
        Unavailable: `file_unwritable`.
    """
    check_name(path, replace=replace)
    try:
        with whole_file(path) as file:
            yield file
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror or error}", code="file_unwritable"
        ) from error


def check_name(path: str | Path, *, replace: bool = False) -> None:
    """Refuse a name that is taken; with `replace` only that of a link, a folder or a device.

    Raises:
        Conflict: `file_exists`.
    """
    # These tests hold for any text: a path that no system can have is refused when it is opened.
    is_taken = os.path.exists(path)
    if os.path.islink(path) or (is_taken and not os.path.isfile(path)):
        raise Conflict(f"{path} is a link or no file; name another file", code="file_exists")
    # Said before anything is written: a long export must not end in it.
    if is_taken and not replace:
        raise Conflict(
            f"{path} is there already; name another file or move it away. Where there is an option "
            "for it, --replace (replace=True) replaces it",
            code="file_exists",
        )


@contextmanager
def needs_extra(extra: str, *, code: str = "extra_missing") -> Generator[None]:
    """Name the extra that brings a package which is missing; a missing module of ours is a fault.

    Raises:
        Unavailable: `code`.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tenure"):
            raise
        raise Unavailable(
            f"{error.name} is not installed; run: pip install 'tenure[{extra}]'", code=code
        ) from error
