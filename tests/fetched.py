"""A folder of downloaded files that is either whole or absent.

`fetched_folder("neo4j-5.26.29", fill, is_whole)` returns the folder of that name under
`$XDG_CACHE_HOME/tenure` (`~/.cache/tenure` without it), outside every checkout. Where it is
missing, `fill` writes into a neighbour and a rename puts it in place, so a broken download is
never used. Starters of several processes wait for one another on a lock file. A second
attempt follows a failed first one; then `FetchFailed` says what both met.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ATTEMPTS = 2
LOCK_TIMEOUT_S = 1500.0  # longer than both attempts of another process together


class FetchFailed(Exception):
    """The files could not be fetched; the message says why."""


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that holds everything fetched."""
    base = environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "tenure"


def fetched_folder(
    name: str,
    fill: Callable[[Path], None],
    is_whole: Callable[[Path], bool],
    *,
    root: Path | None = None,
) -> Path:
    """Return the whole folder `name`, fetching it first where it is missing.

    Raises:
        FetchFailed: `fill` failed twice, or left something that is not whole.
    """
    root = cache_root() if root is None else root
    folder = root / name
    if is_whole(folder):
        return folder
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / f"{name}.lock"):
        if not is_whole(folder):
            _fetch(folder, fill, is_whole)
    return folder


def _fetch(folder: Path, fill: Callable[[Path], None], is_whole: Callable[[Path], bool]) -> None:
    failures: list[str] = []
    for _ in range(ATTEMPTS):
        partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.partial-", dir=folder.parent))
        try:
            fill(partial)
            if not is_whole(partial):
                raise FetchFailed("what was fetched is not whole")
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
            return
        except FetchFailed as failure:
            failures.append(str(failure))
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    raise FetchFailed(f"{folder.name} could not be fetched: " + "; again: ".join(failures))


def run_fetcher(command: Sequence[str], *, cwd: Path, timeout_s: float) -> None:
    """Run a downloader and end its whole process group when the time is up.

    Raises:
        FetchFailed: it ended with an error, or not in time; carries the tail of its output.
    """
    with (cwd / "fetch.log").open("w+b") as log:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired as late:
            raise FetchFailed(f"{command[0]} did not end within {timeout_s:g} s") from late
        finally:
            _end_group(process)
        if code:
            log.seek(0)
            tail = log.read()[-600:].decode(errors="replace").strip()
            raise FetchFailed(f"{command[0]} ended with {code}: {tail}")


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as held:
                if time.monotonic() > deadline:
                    message = f"another process holds {path} since {LOCK_TIMEOUT_S:g} s"
                    raise FetchFailed(message) from held
                time.sleep(0.2)
        yield
