"""A file that takes its name only when all of it is written, also after a crash.

    with whole_file("team.jsonl") as file:
        file.write(b"...")

The bytes go into a file of another name beside it, reach the disk, and are then moved; the move
itself is made to last. A writer that fails leaves what was there before. Two writers of one name
do not meet: the last to end is seen. The file is readable for its owner alone. Whether a name may
be taken is the caller's business.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

_IS_POSIX: Final = os.name == "posix"


@contextmanager
def whole_file(path: str | Path) -> Generator[IO[bytes]]:
    """Give a file of bytes that appears under `path` when the block ends without an error.

    Raises:
        OSError: when the folder cannot be written or is full.
    """
    target = Path(path)
    import tempfile  # opening a store comes by here, and writes no file

    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    try:
        try:
            with os.fdopen(handle, "wb", closefd=False) as file:
                yield file
            _to_disk(handle)
        finally:
            os.close(handle)  # Windows moves no file that is open
        os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)

    if _IS_POSIX:
        _keep_names(target.parent)


def _keep_names(folder: Path) -> None:
    """Make the names in a folder last: a file that was moved into it is lost without.

    Windows keeps them by itself, and opens no folder as a file.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        _to_disk(handle)
    finally:
        os.close(handle)


def _to_disk(handle: int) -> None:
    """Make what was written last through a loss of power, whatever the system's `fsync` does."""
    if sys.platform == "darwin":  # read, not run: there `fsync` leaves it in the drive's cache
        import fcntl

        with contextlib.suppress(OSError):  # of a volume that does not know it, such as a share
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)
