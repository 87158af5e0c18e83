"""Shortening: the forms a piece may take when its whole does not fit.

`excerpt` keeps the sentences of a text that answer the query best and say what is not said yet,
verbatim and in order, with a mark where something is missing. `fold` puts old turns into one
data block of one line each, head and tail. Fidelity is the token-weighted share of propositions
whose numbers, names, dates and negations stand verbatim in the result; it grades the result
in the trace. Nothing is rephrased. Checklist C-130, C-149, C-153, C-155, C-156.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...schema.compile_terms import BlockKind, Conversion
from ..ir.context import CompileContext, question
from ..ir.piece import Piece, Short, fidelity
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
)
from ..tokens.counting import TokenCounter

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
    if _names_media(piece):  # whatever is left out, its original can be asked for
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
    short = piece._replace(text=text)
    return Short(
        short,
        piece.object_ids,
        Conversion.TRUNCATED,
        counter.count(piece.text),
        counter.count(text),
        fidelity(piece.text, text, counter),
    )


def _names_media(piece: Piece) -> bool:
    item = None if piece.candidate is None else piece.candidate.request_item
    return item is not None and isinstance(item.part, Media)


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
    return Short(
        piece,
        piece.object_ids,
        Conversion.FOLDED,
        counter.count(original),
        counter.count(text),
        fidelity(original, text, counter),
    )


def folded_line(turn: Piece) -> str:
    """Return a turn as one line: who, the head, and the tail when it is long."""
    text = one_line(turn.text)
    if len(text) > _HEAD + _TAIL + 5:
        head, tail = text[:_HEAD].rpartition(" ")[0], text[-_TAIL:].partition(" ")[2]
        text = f"{head or text[:_HEAD]} {MISSING} {tail or text[-_TAIL:]}"
    return f"{turn.scheme}: {text}"
