r"""Names that are paths: equal in all parts they are one, and one may be the tail of another.

`src/app/main.py` and `src/lib/main.py` differ by a word, like names that mean one thing, and are
two files for certain. `app/main.py` may be the first of them, which a person must say. A path is
known by its separator and the extension of its last part. Pure; checklist C-048.
"""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[/\\]+")
_FILE = re.compile(r"[^\s/\\]*\w\.[A-Za-z]\w{0,7}")


def path_of(name: str) -> tuple[str, ...]:
    r"""The parts of the path that a name is, the file last; empty for any other name.

    >>> path_of(".\\src\\main.py"), path_of("main.py"), path_of("TCP/IP")
    (('src', 'main.py'), ('main.py',), ())
    """
    parts = [part for part in _SEPARATOR.split(name.strip()) if part not in ("", ".")]
    if "://" in name or not parts or not _FILE.fullmatch(parts[-1]):
        return ()
    return tuple(map(str.casefold, parts))


def _both_paths(left: str, right: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths of two names, at least one of them with a folder; empty ones for other names."""
    # Asked of every pair that is scored: most names hold no separator.
    if not ("/" in left or "/" in right or "\\" in left or "\\" in right):
        return (), ()
    return path_of(left), path_of(right)


def are_two_paths(left: str, right: str) -> bool:
    """Whether two names are paths to different files.

    >>> are_two_paths("src/app/main.py", "src/lib/main.py"), are_two_paths("a/b.py", "/r/a/b.py")
    (True, False)
    """
    short, long = sorted(_both_paths(left, right), key=len)
    return bool(short) and long[-len(short) :] != short


def is_tail(left: str, right: str) -> bool:
    """Whether one path ends in the other, which is shorter: the same file, if it starts there.

    >>> is_tail("main.py", "src/main.py"), is_tail("src/main.py", "./src/main.py")
    (True, False)
    """
    short, long = sorted(_both_paths(left, right), key=len)
    return bool(short) and len(short) < len(long) and long[-len(short) :] == short
