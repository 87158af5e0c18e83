r"""The shorter forms of a piece that does not fit as a whole.

An excerpt keeps the sentences that answer the query best and add something new, verbatim and in
order, with a mark at each gap. `fold` turns old turns into one data block with a line for each.
`tabulate` writes a list of objects inside a text as a table, because cut sentences would not be
JSON; the words before the list stay. It leaves texts with `\u` escapes alone, because no detector
has read the hidden characters. Nothing is rephrased. Fidelity, the token-weighted share of
propositions whose numbers, names, dates and negations are kept, is recorded in the trace.

>>> table_in('sales = [{"n": 1}, {"n": 2}]')
('sales = ', ({'n': 1}, {'n': 2}))

Checklist C-130, C-149, C-153, C-155, C-156, C-191, C-193.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from ...schema.compile_terms import BlockKind, Conversion
from ...schema.values import items_of
from ..ir.context import CompileContext, question
from ..ir.records import Piece, Short, fidelity
from ..media.reduction import TableReduction
from ..media.table import table_rules, table_within
from ..request.request import Media
from ..text.relevance import one_line
from ..text.sentences import (
    MISSING,
    Statement,
    every_subunit,
    novelty,
    places_to_rank,
    ranked,
    statement_of,
    subunits,
)
from ..tokens.counting import TokenCounter

Rows = tuple[Mapping[str, object], ...]
_LIST: Final = re.compile(r"\[\s*\{")
_FEWEST: Final = 2
_HEAD: Final = 80
_TAIL: Final = 60
"""Characters of a folded turn that stay at its beginning and at its end."""


def excerpt(
    piece: Piece,
    *,
    room: int,
    context: CompileContext,
    envelope_statements: Sequence[Statement] = (),
) -> Short | None:
    """Return the best sentences of a text that fit a room; None when none does.

    `envelope_statements` is what the envelope says already: a sentence that adds nothing to it is
    left out. The line that names a media item stays.
    """
    units = every_subunit(piece.text)
    if len(units) < 2:
        return None

    terms = question(context)
    places = places_to_rank(units, terms)
    counter, known = context.counter, list(envelope_statements)
    numbers: list[int] = []

    # Room for two marks, since a gap may come before the sentences and behind them.
    left = room - counter.upper_bound(MISSING) * 2
    if piece.item is not None and isinstance(piece.item.part, Media):
        # Whatever is left out, its original can be asked for.
        numbers.append(0)
        left -= counter.upper_bound(units[0]) + 4
    for index, _ in ranked([units[place] for place in places], terms, known):
        place = places[index]
        tokens, statement = counter.upper_bound(units[place]) + 4, statement_of(units[place])
        if place not in numbers and tokens <= left and novelty(statement, known):
            left -= tokens
            numbers.append(place)
            known.append(statement)
    if not numbers:
        return None

    text = _join(units, sorted(numbers))
    return _short(piece._replace(text=text), piece.text, Conversion.TRUNCATED, counter)


def _short(piece: Piece, original: str, conversion: Conversion, counter: TokenCounter) -> Short:
    """A shortened piece, with what it cost before and what is kept of it."""
    return Short(
        piece,
        piece.object_ids,
        conversion,
        counter.count(original),
        counter.count(piece.text),
        fidelity(original, piece.text, counter),
    )


def _join(units: Sequence[str], numbers: Sequence[int]) -> str:
    lines: list[str] = []
    last = -1
    for place in numbers:
        if place != last + 1:
            lines.append(MISSING)
        lines.append(units[place])
        last = place
    if last != len(units) - 1:
        lines.append(MISSING)
    return "\n".join(lines)


def fold(turns: Sequence[Piece], *, room: int, counter: TokenCounter) -> Short | None:
    """Return old turns as one line each in one data block, the newest that fit; None for none."""
    shown_turns: list[Piece] = []
    lines: list[str] = []
    # For the heading and the boundaries of the block, before any line.
    tokens = 80
    for turn in sorted(turns, key=lambda piece: piece.key, reverse=True):
        line = folded_line(turn)
        tokens += counter.upper_bound(line) + 1
        if tokens > room:
            break
        shown_turns.append(turn)
        lines.append(line)
    if not lines:
        return None

    # Chosen from the newest on, and read from the oldest on.
    shown_turns.reverse()
    lines.reverse()
    originals: list[str] = []
    object_ids: list[str] = []
    level = 0
    for turn in shown_turns:
        originals.append(turn.text)
        object_ids.append(turn.object_id)
        level = max(level, turn.level)

    text, original = "\n".join(lines), "\n".join(originals)
    piece = shown_turns[0]._replace(
        object_ids=tuple(object_ids),
        kind=BlockKind.DATA,
        level=level,
        origin="tenure://folded",
        text=text,
        pair="",
    )
    return _short(piece, original, Conversion.FOLDED, counter)


def folded_line(turn: Piece) -> str:
    """Return a turn as one line: who, the head, and the tail when it is long."""
    text = one_line(turn.text)
    if len(text) > _HEAD + _TAIL + 5:
        head, tail = text[:_HEAD].rpartition(" ")[0], text[-_TAIL:].partition(" ")[2]
        text = f"{head or text[:_HEAD]} {MISSING} {tail or text[-_TAIL:]}"
    return f"{turn.scheme}: {text}"


def table_in(text: str) -> tuple[str, Rows] | None:
    """Return the text before a list of objects, and the list; None if no list ends the text."""
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
    return _short(piece._replace(text=text), piece.text, Conversion.TRUNCATED, counter)


def may_be_cut(piece: Piece) -> bool:
    """Tell whether a piece may have several sentences or records, some of which can stay out."""
    has_sentences = (piece.alone or piece.shared) and len(subunits(piece.text)) > 1
    return has_sentences or _LIST.search(piece.text) is not None
