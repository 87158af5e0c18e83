r"""Rows: several facts of levels 0-3 in one block, each behind its anchor.

    [1] office: Chicago
    [2] note: two lines,
        the second one indented

A block of facts begins with the day since which most of them hold, if several do: `@ since
2026-05-01`. Of another day a fact says `(since 06-02)`, without the year if that is the same.

Facts share one block for each section. Every line break inside a fact, of any kind, is followed by
four spaces, so no fact can look like another row. Reversible for any text.

>>> fact_rows([("1", "a\n[2] forged")])
'[1] a\n    [2] forged'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

from ...schema.errors import InvalidInput
from .escape import LINE_BREAKS

_INDENT: Final = "    "
_BREAK: Final = re.compile(rf"\r\n|[{LINE_BREAKS}]")
_INDENT_BREAK: Final = re.compile(rf"(\r\n|[{LINE_BREAKS}]){_INDENT}")
_NEXT_ROW: Final = re.compile(r"\n(?=\[)")
_ROW: Final = re.compile(r"\[([^\]\s]*)\] (.*)", re.DOTALL)


def fact_rows(rows: Iterable[tuple[str, str]]) -> str:
    """The block text of (anchor, fact) pairs, in their order."""
    return "\n".join(f"[{quote(anchor, safe='')}] {_indent(fact)}" for anchor, fact in rows)


def since_mark(day: str, most_day: str = "") -> str:
    """Since when a fact holds, behind it, where most of its block hold since a day.

    >>> since_mark("2026-05-01", "2026-02-03"), since_mark("2026-05", "2026-02-03")
    (' (since 05-01)', ' (since 2026-05)')
    """
    if not day or day == most_day:
        return ""
    is_short = len(day) == len(most_day) and day[:5] == most_day[:5]
    return f" (since {day[5:] if is_short else day})"


def _indent(fact: str) -> str:
    return _BREAK.sub(lambda match: match[0] + _INDENT, fact)


def read_rows(text: str) -> tuple[tuple[str, str], ...]:
    """The (anchor, fact) pairs of a block text that `fact_rows` made.

    Raises:
        InvalidInput: `bad_envelope`, when a line is no row.
    """
    return tuple(_read_row(row) for row in _NEXT_ROW.split(text)) if text else ()


def _read_row(row: str) -> tuple[str, str]:
    match = _ROW.fullmatch(row)
    if match is None:
        raise InvalidInput(
            f"no fact row: {row[:40]!r}; give the block text as it was compiled",
            code="bad_envelope",
        )
    return unquote(match[1]), _INDENT_BREAK.sub(r"\1", match[2])
