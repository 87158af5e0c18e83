r"""Records inside a text: a list of objects that does not fit becomes a table that does.

A stored value, passage or tool result often is JSON. Cut into sentences it would be no JSON any
more, so it is read as the records it is, and written as a table of request media is: in the
cheapest form that is sure, with what all rows add up to and the rows nearest to the request. The
words before the list stay. A text that hides characters behind `\u` escapes is left alone: what
a detector could not read must not become readable after it.

>>> table_in('sales = [{"n": 1}, {"n": 2}]')
('sales = ', ({'n': 1}, {'n': 2}))

Checklist C-191, C-193.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from ...schema.compile_terms import Conversion
from ...schema.values import items_of
from ..ir.context import CompileContext, question
from ..ir.piece import Piece, Short, fidelity
from ..media.reduction import TableReduction
from ..media.table import table_rules, table_within
from ..text.sentences import subunits

Rows = tuple[Mapping[str, object], ...]
_LIST: Final = re.compile(r"\[\s*\{")
_FEWEST: Final = 2


def table_in(text: str) -> tuple[str, Rows] | None:
    """Return what stands before a list of objects, and the list; None without one at the end."""
    begins = _LIST.search(text)
    if begins is None or "\\u" in text:
        return None
    start = begins.start()
    try:
        rows = items_of(json.loads(text[start:]))
    except (ValueError, RecursionError):
        return None
    if len(rows) < _FEWEST or not all(isinstance(row, dict) for row in rows):
        return None
    return text[:start], tuple(cast("Mapping[str, object]", row) for row in rows)


def tabulate(piece: Piece, *, room: int, context: CompileContext) -> Short | None:
    """Return the records of a piece as a table that fits a room; None where it holds none."""
    parts = None if piece.cell else table_in(piece.text)
    if parts is None:
        return None
    (head, rows), counter = parts, context.counter
    lead = head.rstrip()
    options = table_rules(counter, context.rules, question(context))
    table = table_within(TableReduction(rows, ""), options, room - counter.upper_bound(lead) - 1)
    text = f"{lead}\n{table.text}" if lead else table.text
    if counter.upper_bound(text) > room:
        return None
    return Short(
        piece._replace(text=text),
        piece.object_ids,
        Conversion.TRUNCATED,
        counter.count(piece.text),
        counter.count(text),
        fidelity(piece.text, text, counter),
    )


def may_be_cut(piece: Piece) -> bool:
    """Tell whether a piece may have several sentences or records, some of which can stay out."""
    has_sentences = piece.alone and len(subunits(piece.text)) > 1
    return has_sentences or _LIST.search(piece.text) is not None
