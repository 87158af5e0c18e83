"""The ledger of a fit: what is in, what it took, and what one more piece would take.

A piece costs its own tokens and the frames that it would open: the heading of its section, the
boundary of the block that it shares, the head of its row or its day and source. Costs are upper
bounds of the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...schema.compile_terms import SectionName
from ..ir.context import CompileContext
from ..ir.piece import Piece
from .assemble import frame_tokens, heading_tokens, label_tokens, piece_tokens

Frame = tuple[SectionName, str]
"""A shared block of a section: of rows, of lines."""


class Bill(NamedTuple):
    """What a piece costs by itself, and the frames that it would open."""

    piece: Piece
    """Stands here so that its id stays its own."""
    tokens: int
    section: SectionName
    frame: Frame | None
    head: Frame | None
    month: Frame | None
    """Of a line: the source and the month, which only its first day states."""
    day: str
    """Of a line: its day, `2023-05-08`."""


class Prices:
    """The bills of pieces and the prices of frames, each worked out once for all budgets."""

    def __init__(self, context: CompileContext) -> None:
        self.counter = context.counter
        self._bills: dict[int, Bill] = {}
        self._headings: dict[SectionName, int] = {}
        self._frames: dict[tuple[Frame, str, str], int] = {}
        self._heads: dict[str, int] = {}

    def bill(self, piece: Piece) -> Bill:
        """What a piece costs."""
        known = self._bills.get(id(piece))
        if known is None:
            section, frame, head = piece.section, piece.frame, piece.head
            known = self._bills[id(piece)] = Bill(
                piece,
                piece_tokens(piece, self.counter),
                section,
                (section, frame) if frame else None,
                (section, head) if head else None,
                (section, f"{piece.origin} {piece.date[:7]}") if piece.shared else None,
                piece.date,
            )
        return known

    def heading(self, section: SectionName) -> int:
        """The tokens of a section's heading."""
        tokens = self._headings.get(section)
        if tokens is None:
            tokens = self._headings[section] = heading_tokens(section, self.counter)
        return tokens

    def frame(self, frame: Frame, piece: Piece) -> int:
        """The tokens of the lines around a shared block that a piece opens."""
        key = frame, piece.kind.value, piece.origin
        tokens = self._frames.get(key)
        if tokens is None:
            tokens = self._frames[key] = frame_tokens(piece, self.counter)
        return tokens

    def head(self, head: str) -> int:
        """The tokens of the head of a row, or of a day and source."""
        tokens = self._heads.get(head)
        if tokens is None:
            tokens = self._heads[head] = label_tokens(head, self.counter)
        return tokens

    def day(self, day: str) -> int:
        """The tokens of a day behind an anchor."""
        key = f" {day}"
        tokens = self._heads.get(key)
        if tokens is None:
            tokens = self._heads[key] = self.counter.upper_bound(key)
        return tokens


@dataclass(slots=True)
class Ledger:
    """The pieces that are in, and the tokens that are left."""

    context: CompileContext
    room: int
    """Tokens left."""
    prices: Prices
    pieces: list[Piece] = field(default_factory=list[Piece])
    headings: set[SectionName] = field(default_factory=set[SectionName])
    frames: set[Frame] = field(default_factory=set[Frame])
    """Shared blocks that are open."""
    heads: set[Frame] = field(default_factory=set[Frame])
    spending: dict[SectionName, int] = field(default_factory=dict[SectionName, int])
    """Tokens by section."""

    def size(self, piece: Piece) -> int:
        """The tokens of a piece by itself."""
        return self.prices.bill(piece).tokens

    def cost(self, piece: Piece) -> int:
        """The tokens that a piece adds now, with the frames that it would open."""
        prices = self.prices
        bill = prices.bill(piece)
        tokens = bill.tokens
        if bill.section not in self.headings:
            tokens += prices.heading(bill.section)
        if bill.frame is not None and bill.frame not in self.frames:
            tokens += prices.frame(bill.frame, piece)
        if bill.head is not None and bill.head not in self.heads:
            tokens += self._head_cost(bill, piece)
        return tokens

    def _head_cost(self, bill: Bill, piece: Piece) -> int:
        """The tokens of a head that is not open yet."""
        assert bill.head is not None  # asked of nothing else
        if bill.month is None or (bill.section, piece.origin) not in self.heads:
            return self.prices.head(bill.head[1])

        if bill.month in self.heads:
            return self.prices.day(bill.day[8:])
        if _year_of(bill, piece) in self.heads:
            return self.prices.day(bill.day[5:])
        return self.prices.day(bill.day)

    def take(self, piece: Piece) -> None:
        """Put a piece in."""
        tokens = self.cost(piece)
        self.room -= tokens
        self.spending[piece.section] = self.spending.get(piece.section, 0) + tokens

        bill = self.prices.bill(piece)
        self.headings.add(bill.section)
        if bill.frame is not None:
            self.frames.add(bill.frame)
        if bill.head is not None:
            self.heads.add(bill.head)
            self.heads.add((bill.section, piece.origin))
        if bill.month is not None:
            self.heads.add(bill.month)
            self.heads.add(_year_of(bill, piece))
        self.pieces.append(piece)

    def total(self, pieces: Sequence[Piece]) -> int:
        """The tokens that all of these would add, each frame paid once."""
        if len(pieces) == 1:
            return self.cost(pieces[0])

        trial = self.trial()
        for piece in pieces:
            trial.take(piece)
        return self.room - trial.room

    def trial(self) -> Ledger:
        """A ledger in which the same frames are open, to try pieces in."""
        return Ledger(
            self.context,
            self.room,
            self.prices,
            headings=set(self.headings),
            frames=set(self.frames),
            heads=set(self.heads),
        )


def _year_of(bill: Bill, piece: Piece) -> Frame:
    """The source and the year of a line, which only the first day of a year states."""
    return bill.section, f"{piece.origin} {bill.day[:4]}"
