"""How much of a context bears on its question: the measure behind precision and signal density.

A text bears on the question by the share of the question's content terms that stand in it, in the
turns shown beside it, or in the other facts shown of its subject; with an encoder by its cosine
where that is more. Relevance cannot say it: that is a share of the best hit, and the best of
twenty texts about something else is still the best.

Looked at are the texts that the question brought in; what stands without it, such as guidance,
rules and pinned objects, and the frames around all are left out. `bench/bench_quality.py` asks
questions of the right and of a wrong meeting, and says how well the thresholds tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ...schema.claim import Version
from ...schema.compile_terms import SectionName
from ..gathering.talk import runs_of
from ..ir.candidate import is_talk
from ..ir.context import CompileContext, question
from ..ir.outputs import Passes
from ..ir.piece import Piece
from ..text.relevance import COSINE_FULL, FULL, terms_of

BEARING: Final = 400_000
"""Millionths from which a text bears on a question: two of five terms, as in a short question."""

_TURN_GAP: Final = 8
"""Rows between two turns of which one may say what the other leaves out."""

_QUESTION_SECTIONS: Final = frozenset({SectionName.EVIDENCE, SectionName.TURN_MEMORY})


class Bearing(NamedTuple):
    """A text that the question brought in."""

    tokens: int
    share: int
    """How much it bears on the question, in millionths."""


def bearings(passes: Passes, context: CompileContext) -> tuple[Bearing, ...]:
    """The texts that the question brought in; none where it has no content terms."""
    terms = question(context)
    if not terms:
        return ()

    pieces: list[Piece] = []
    own_terms: list[frozenset[str]] = []
    for piece in passes.pieces:
        if _is_asked(piece):
            pieces.append(piece)
            own_terms.append(terms & terms_of(f"{piece.label}\n{piece.text}"))

    # An answer may share no word with the question that the turn before it asked.
    common_terms = list(map(set, own_terms))
    for left, right in _pairs(pieces):
        common_terms[left] |= own_terms[right]
        common_terms[right] |= own_terms[left]

    vectors = passes.snapshot.vectors
    results: list[Bearing] = []
    for piece, piece_terms in zip(pieces, common_terms, strict=True):
        share = FULL * len(piece_terms) // len(terms)

        # Meaning may say more than words, never less: an encoder is no reason to find noise.
        vector = vectors.get(piece.object_id)
        if vector is not None:
            share = max(share, FULL * min(vector.content, COSINE_FULL) // COSINE_FULL)
        results.append(Bearing(context.counter.count(piece.text), share))
    return tuple(results)


def mean_bearing(texts: Sequence[Bearing]) -> float:
    """How much a token bears on the question on average, 0 to 1; 1 where there is none."""
    tokens = weight = 0
    for text in texts:
        tokens += text.tokens
        weight += text.tokens * text.share

    return round(weight / tokens / FULL, 4) if tokens else 1.0


def bearing_share(texts: Sequence[Bearing]) -> float:
    """The share of the tokens whose text bears on the question; 1 where there is none."""
    tokens = signal = 0
    for text in texts:
        tokens += text.tokens
        signal += text.tokens if text.share >= BEARING else 0

    return round(signal / tokens, 4) if tokens else 1.0


def _is_asked(piece: Piece) -> bool:
    candidate = piece.candidate
    if candidate is None or piece.required or piece.section not in _QUESTION_SECTIONS:
        return False
    return not candidate.by_task


def _pairs(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Yield the positions of texts that are read together: turns that follow, facts of one."""
    subjects: dict[str, list[int]] = {}
    turns: dict[int, Version] = {}
    for position, piece in enumerate(pieces):
        candidate = piece.candidate
        version = candidate.version if candidate is not None else None
        if candidate is None or version is None:
            continue
        if is_talk(version):
            turns[position] = version
        elif candidate.subject:
            for neighbour in subjects.setdefault(candidate.subject, []):
                yield neighbour, position
            subjects[candidate.subject].append(position)

    # The turns of a scope are numbered in the order in which it was said, and other talk may lie
    # between them: a gap in the numbers is a gap in the reading.
    for run in runs_of(turns):
        for place, position in enumerate(run):
            turn = turns[position].turn
            for neighbour in run[place + 1 : place + 1 + _TURN_GAP]:
                if turns[neighbour].turn - turn <= _TURN_GAP:
                    yield position, neighbour
