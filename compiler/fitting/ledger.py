"""The ledger of a fit: what is in, what it took, and what one more piece would take.

A piece costs its own tokens and the frames that it would open: the heading of its section, the
boundary of the block that it shares, the head of its row or its day and source. Costs are upper
bounds of the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...schema.compile_terms import SectionName
from ..ir.context import CompileContext
from ..ir.piece import Piece
from .assemble import frame_tokens, heading_tokens, label_tokens, piece_tokens

Sizes = dict[int, tuple[Piece, int]]
"""Tokens of pieces by identity; the piece stands beside, so that its id stays its own."""


@dataclass(slots=True)
class Ledger:
    """The pieces that are in, and the tokens that are left."""

    context: CompileContext
    room: int
    """Tokens left."""
    sizes: Sizes
    chosen: list[Piece] = field(default_factory=list[Piece])
    headings: set[SectionName] = field(default_factory=set[SectionName])
    frames: set[tuple[SectionName, str]] = field(default_factory=set[tuple[SectionName, str]])
    """Shared blocks that are open: of rows, of lines."""
    heads: set[tuple[SectionName, str]] = field(default_factory=set[tuple[SectionName, str]])
    spending: dict[SectionName, int] = field(default_factory=dict[SectionName, int])
    """Tokens by section."""

    def size(self, piece: Piece) -> int:
        """The tokens of a piece by itself; asked several times of each."""
        known = self.sizes.get(id(piece))
        if known is None:
            known = piece, piece_tokens(piece, self.context.counter)
            self.sizes[id(piece)] = known
        return known[1]

    def cost(self, piece: Piece) -> int:
        """The tokens that a piece adds now, with the frames that it would open."""
        counter = self.context.counter
        tokens = self.size(piece)
        if piece.section not in self.headings:
            tokens += heading_tokens(piece.section, counter)
        if piece.frame and (piece.section, piece.frame) not in self.frames:
            tokens += frame_tokens(piece, counter)
        if piece.head and (piece.section, piece.head) not in self.heads:
            tokens += label_tokens(piece.head, counter)
        return tokens

    def take(self, piece: Piece) -> None:
        """Put a piece in."""
        tokens = self.cost(piece)
        self.room -= tokens
        self.spending[piece.section] = self.spending.get(piece.section, 0) + tokens

        self.headings.add(piece.section)
        if piece.frame:
            self.frames.add((piece.section, piece.frame))
        if piece.head:
            self.heads.add((piece.section, piece.head))
        self.chosen.append(piece)

    def total(self, pieces: Sequence[Piece]) -> int:
        """The tokens that all of these would add, each frame paid once."""
        if len(pieces) == 1:
            return self.cost(pieces[0])

        trial = Ledger(
            self.context,
            self.room,
            self.sizes,
            headings=set(self.headings),
            frames=set(self.frames),
            heads=set(self.heads),
        )
        for piece in pieces:
            trial.take(piece)
        return self.room - trial.room
