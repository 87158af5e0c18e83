"""A file that takes its name only when all of it is written, also after a crash.

    with whole_file("team.jsonl") as file:
        file.write(b"...")

The bytes go into a file of another name next to it, reach the disk, and are then moved; the move
itself is made to last. A writer that fails leaves what was there before. Two writers of one name
do not meet: the last to end is seen. The file is readable for its owner alone. Whether a name may
be taken is the caller's business. `whole_files` writes several at the price of one sync a file and
one a folder.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator, Mapping
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
    handle, part = _part_beside(target)
    try:
        with _durable_file(handle) as file:
            yield file
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)

    _keep_names(target.parent)


def whole_files(contents: Mapping[Path, bytes]) -> None:
    """Write files that appear in the order given, each whole.

    None appears before those ahead of it in other folders last. What shares a folder is kept in
    order by every file system with a journal, and so shares one sync of its names.

    Raises:
        OSError: when a folder cannot be written or is full; none of the files appeared then, or
            the first of them alone.
    """
    with contextlib.ExitStack() as leftovers:
        parts: dict[Path, Path] = {}
        for target, data in contents.items():
            handle, part = _part_beside(target)
            leftovers.callback(part.unlink, missing_ok=True)
            with _durable_file(handle) as file:
                file.write(data)
            parts[target] = part

        folder: Path | None = None
        for target, part in parts.items():
            if folder not in (None, target.parent):
                _keep_names(folder)
            os.replace(part, target)
            folder = target.parent

    if folder is not None:
        _keep_names(folder)


def private_folder(path: str | Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone.

    `os.makedirs` gives its mode to the last folder and leaves the others to the umask.
    """
    folder = Path(path)
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _part_beside(target: Path) -> tuple[int, Path]:
    """A new file that `target` is written into."""
    import tempfile  # opening a store comes by here, and writes no file

    handle, part = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    return handle, Path(part)


@contextmanager
def _durable_file(handle: int) -> Generator[IO[bytes]]:
    """Give the file of a handle; what the block wrote lasts, and the handle is closed."""
    try:
        with os.fdopen(handle, "wb", closefd=False) as file:
            yield file
        # A file of no bytes is its name, and names are synced with their folder.
        if os.fstat(handle).st_size:
            _to_disk(handle)
    finally:
        os.close(handle)  # Windows moves no file that is open


def _keep_names(folder: Path) -> None:
    """Make the names in a folder last: a file that was moved into it is lost without.

    Windows keeps them by itself, and opens no folder as a file.
    """
    if not _IS_POSIX:
        return
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
