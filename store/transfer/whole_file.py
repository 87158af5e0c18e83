"""A file that takes its name only when all of it is written, also after a crash.

    with whole_file("team.jsonl") as file:
        file.write(b"...")

The bytes go into a file of another name beside it, reach the disk, and are then moved; the move
itself is made to last. A writer that fails leaves what was there before. Two writers of one name
do not meet: the last to end is seen. The file is readable for its owner alone. Whether a name may
be taken is the caller's business.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


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
        with os.fdopen(handle, "wb", closefd=False) as file:
            yield file
        os.fsync(handle)
        os.replace(temporary, target)
    finally:
        os.close(handle)
        Path(temporary).unlink(missing_ok=True)

    _keep_names(target.parent)


def _keep_names(folder: Path) -> None:
    """Make the names in a folder last: a file that was moved into it is lost without."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
