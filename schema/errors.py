"""Every error a caller can meet, by who must act.

    TenureError
    ├── InvalidInput (ValueError)       the caller: mend the input
    ├── NotFound (LookupError)          the caller: nothing there, or nothing you may see
    ├── Conflict                        the caller: read again, then decide
    ├── Forbidden (PermissionError)     an administrator: the principal may not
    ├── Unavailable (ConnectionError)   an operator: the store did not answer; a retry may help
    ├── ContextBudgetExhausted          the caller: more tokens, or fewer required blocks
    └── Fault (RuntimeError)            the developers of tenure: an invariant broke

Each error has a stable `code` and its facts as `data`. Omission, quarantine
and a lost conflict are results, not errors.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

_LONG_WORD: Final = re.compile(r"\S{600,}")
"""A word longer than any name or id."""
_NAME_CHARS: Final = 34
"""With its quotes; names of a vocabulary are shorter, and most secrets are longer."""


def _shortened(word: re.Match[str]) -> str:
    text = word.group()
    return f"{text[:120]}…{text[-40:]}"


class TenureError(Exception):
    """The base of every error that tenure raises on purpose."""

    code: str
    """Stable, lowercase snake_case; never changes its meaning."""
    data: dict[str, object]
    """The facts of the case, for programs."""

    def __init__(self, message: str, *, code: str, **data: object) -> None:
        # A message repeats what came in, which may be a file in one word.
        super().__init__(_LONG_WORD.sub(_shortened, message))
        self.code = code
        self.data = data

    def __reduce__(self) -> tuple[object, ...]:
        # An error crosses to another process or queue with its code and its facts.
        return _rebuilt_error, (type(self), self.args[0], self.code, self.data)


def _rebuilt_error(
    kind: type[TenureError], message: str, code: str, data: dict[str, object]
) -> TenureError:
    return kind(message, code=code, **data)


class InvalidInput(TenureError, ValueError):
    """The input is malformed or outside a bounded vocabulary; nothing was written."""


class NotFound(TenureError, LookupError):
    """There is no such thing, or the caller may not see it: the two read the same."""


class Conflict(TenureError):
    """The state moved, or contradicts the call."""


class Forbidden(TenureError, PermissionError):
    """The principal lacks the privilege, the scope or the authority."""


class Unavailable(TenureError, ConnectionError):
    """The store could not be reached, or was busy for too long."""


class ContextBudgetExhausted(TenureError):
    """Required content does not fit the token budget; `data["shortfall"]` says by how much."""


class Fault(TenureError, RuntimeError):
    """An invariant of tenure itself is broken; please report it."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The sentence that names the nearest known words, at most three.

    >>> did_you_mean("ofice", ["office", "team"])
    "did you mean 'office'?"
    """
    names = sorted(set(known))
    # Below a similarity of .6 a guess misleads more often than a list of what there is.
    neighbours = difflib.get_close_matches(str(word), names, n=3, cutoff=0.6)
    if neighbours:
        return "did you mean " + " or ".join(repr(name) for name in neighbours) + "?"
    return "known: " + (", ".join(names[:20]) + (", …" if len(names) > 20 else "") or "none")


def quoted(word: object) -> str:
    """A caller's word as an error repeats it: of one that may be a key or token the beginning.

    >>> quoted("ofice"), quoted("ghp_a8Kd03LmQ2xZa8Kd03LmQ2xZa8Kd03LmQ2xZ")
    ("'ofice'", "'ghp_a8…'")
    """
    text = repr(word)
    return text if len(text) <= _NAME_CHARS else f"{text[:7]}…{text[-1]}"


def _repeated(word: object) -> object:
    """A caller's word among the data of an error: itself, unless it may be a key or token."""
    return word if quoted(word) == repr(word) else quoted(word)


def unknown(kind: str, word: object, known: Iterable[str]) -> InvalidInput:
    """The `unknown_vocabulary` error of a word outside a bounded list."""
    names = tuple(known)
    return InvalidInput(
        f"unknown {kind} {quoted(word)}: {did_you_mean(word, names)}",
        code="unknown_vocabulary",
        what=kind,
        word=_repeated(word),
    )


def unknown_field(name: str, fields: Iterable[str], place: str = "") -> InvalidInput:
    """The refusal of a field that nothing has; `place` says of what, behind its name."""
    return InvalidInput(
        f"there is no field {quoted(name)}{place}: {did_you_mean(name, fields)}",
        code="unknown_field",
        field=_repeated(name),
    )
