r"""Rows: several facts of levels 0-3 in one block, each behind its anchor.

    [1] office: Chicago
    [2] note: two lines,
        the second one indented

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
