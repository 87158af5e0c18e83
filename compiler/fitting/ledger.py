"""The ledger of a fit: what is in, what it took, and what one more piece would take.

A rung is one budget of the ladder, together with its ledger while it is filled. A piece costs its
own tokens and the frames that it would open: the heading of its section, the boundary of its shared
block, the head of its row or its day and source. Costs are upper bounds of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...schema.compile_terms import Reason, SectionName
from ..ir.context import CompileContext
from ..ir.records import Piece, Short
from ..request.request import Evidence
from ..text.sentences import Statement, statements
from ..tokens.counting import FAIR_TOKENS
from .assemble import frame_tokens, heading_tokens, label_tokens, piece_tokens

_STATING: Final = frozenset(
    {
        SectionName.EVIDENCE,
        SectionName.PINNED_KNOWLEDGE,
        SectionName.MEMORY,
        SectionName.TURN_MEMORY,
    }
)
"""Sections whose statements an excerpt need not repeat."""

Unit = tuple[Piece, ...]
"""What is taken together: one piece, a fact with its way, or the turns of one tool call."""


class Drop(NamedTuple):
    """A piece that stays out."""

    piece: Piece
    reason: Reason
    tokens: int
    detail: str = ""


Frame = tuple[SectionName, str]
"""A shared block of a section: of rows, of lines."""

Place = tuple[bool, int, str]
"""Where something is in the one order in which all sections are filled."""


class Bill(NamedTuple):
    """What a piece costs by itself, and the frames that it would open."""

    piece: Piece
    """Stands here so that its id stays its own."""
    tokens: int
    place: Place
    """Its place in the one order: what covers an acceptance item first, then by worth."""
    section: SectionName
    frame: Frame | None
    head: Frame | None
    source: Frame | None
    """Of a row or line: where it comes from, which only the first one states."""


class Prices:
    """The bills of pieces and the prices of frames, each worked out once for all budgets."""

    def __init__(self, context: CompileContext) -> None:
        self.counter = context.counter
        self._bills: dict[int, Bill] = {}
        self._tokens: dict[tuple[str, ...], int] = {}

    def bill(self, piece: Piece) -> Bill:
        """What a piece costs."""
        known = self._bills.get(id(piece))
        if known is None:
            section, frame, head = piece.section, piece.frame, piece.head
            tokens = piece_tokens(piece, self.counter)
            # Its score, less where it is long.
            worth = piece.value * FAIR_TOKENS // max(FAIR_TOKENS, tokens)
            known = self._bills[id(piece)] = Bill(
                piece,
                tokens,
                (not is_wanted(piece), -worth, piece.object_id),
                section,
                (section, frame) if frame else None,
                (section, head) if head else None,
                (section, piece.origin) if head else None,
            )
        return known

    def heading(self, section: SectionName) -> int:
        """The tokens of a section's heading."""
        return self._price((section,), lambda: heading_tokens(section, self.counter))

    def frame(self, frame: Frame, piece: Piece) -> int:
        """The tokens of the lines around a shared block that a piece opens."""
        key = *frame, piece.kind.value, piece.origin
        return self._price(key, lambda: frame_tokens(piece, self.counter))

    def head(self, head: str) -> int:
        """The tokens of the head of a row, or of a day and source."""
        return self._price(("head", head), lambda: label_tokens(head, self.counter))

    def day(self, day: str) -> int:
        """The tokens of a day behind an anchor, without the year, which seldom changes."""
        return self._price(("day", day), lambda: self.counter.upper_bound(f" {day[5:]}"))

    def _price(self, key: tuple[str, ...], count: Callable[[], int]) -> int:
        tokens = self._tokens.get(key)
        if tokens is None:
            tokens = self._tokens[key] = count()
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

    def place(self, piece: Piece) -> Place:
        """The place of a piece in the one order."""
        return self.prices.bill(piece).place

    def cost(self, piece: Piece) -> int:
        """The tokens that a piece adds now, with the frames that it would open."""
        return self._cost_of(self.prices.bill(piece))

    def _cost_of(self, bill: Bill) -> int:
        tokens = bill.tokens
        if bill.section not in self.headings:
            tokens += self.prices.heading(bill.section)
        if bill.frame is not None and bill.frame not in self.frames:
            tokens += self.prices.frame(bill.frame, bill.piece)
        if bill.head is not None and bill.head not in self.heads:
            if bill.piece.shared and bill.source in self.heads:
                tokens += self.prices.day(bill.piece.date)
            else:
                tokens += self.prices.head(bill.head[1])
        return tokens

    def take(self, piece: Piece) -> None:
        """Put a piece in."""
        bill = self.prices.bill(piece)
        tokens = self._cost_of(bill)
        self.room -= tokens
        self.spending[bill.section] = self.spending.get(bill.section, 0) + tokens

        self.headings.add(bill.section)
        if bill.frame is not None:
            self.frames.add(bill.frame)
        self.heads.update(filter(None, (bill.head, bill.source)))
        self.pieces.append(piece)

    def total(self, pieces: Sequence[Piece]) -> int:
        """The tokens that all of these would add, each frame paid once."""
        if len(pieces) == 1:
            return self.cost(pieces[0])

        trial = self.trial()
        for piece in pieces:
            trial.take(piece)
        return self.room - trial.room

    def take_together(self, pieces: Iterable[Piece]) -> bool:
        """Put all of these in where they fit together, else none; say whether they did."""
        trial = self.trial()
        for piece in pieces:
            trial.take(piece)
            if trial.room < 0:
                return False

        self.room, self.spending = trial.room, trial.spending
        self.headings, self.frames, self.heads = trial.headings, trial.frames, trial.heads
        self.pieces += trial.pieces
        return True

    def may_hold(self, piece: Piece) -> bool:
        """Whether a piece could fit at all, without a look at frames: most that wait cannot."""
        return self.prices.bill(piece).tokens <= self.room

    def trial(self) -> Ledger:
        """A ledger in which the same frames are open, to try pieces in."""
        trial = Ledger(self.context, self.room, self.prices, spending=dict(self.spending))
        trial.headings |= self.headings
        trial.frames |= self.frames
        trial.heads |= self.heads
        return trial


@dataclass(slots=True)
class Rung:
    """A fit at one budget of the ladder, while it is made."""

    ledger: Ledger
    budget: int
    drops: list[Drop] = field(default_factory=list[Drop])
    shorts: list[Short] = field(default_factory=list[Short])
    allocation: dict[str, int] = field(default_factory=dict[str, int])
    shadow_price: float = 0.0
    known: list[Statement] = field(default_factory=list[Statement])
    known_count: int = 0
    """Pieces whose statements are known."""

    @property
    def context(self) -> CompileContext:
        """What the compile looks at."""
        return self.ledger.context

    @property
    def is_last(self) -> bool:
        """Whether this is the budget itself, and no smaller one that it builds on."""
        return self.budget == self.context.budget

    def fits(self, piece: Piece) -> bool:
        """Whether a piece keeps to the room that is left."""
        return self.ledger.cost(piece) <= self.ledger.room

    def holds(self, unit: Unit) -> bool:
        """Whether all pieces of a unit keep to the room that is left."""
        ledger = self.ledger
        return ledger.may_hold(unit[0]) and ledger.total(unit) <= ledger.room

    def take(self, unit: Unit) -> None:
        """Put the pieces of a unit in."""
        for piece in unit:
            self.ledger.take(piece)

    def statements(self) -> list[Statement]:
        """What the text says so far, so that an excerpt need not repeat it."""
        for piece in self.ledger.pieces[self.known_count :]:
            if piece.section in _STATING:
                self.known += statements([piece.text])
        self.known_count = len(self.ledger.pieces)
        return self.known

    def drop(self, piece: Piece, reason: Reason, detail: str = "") -> None:
        """Leave a piece out; only the last rung of the ladder has to say so."""
        if not self.is_last:
            return
        self.drops.append(Drop(piece, reason, self.ledger.cost(piece), detail))

    def sizes(self) -> dict[str, int]:
        """The tokens with which each object is in the text, whole or as an excerpt.

        Folded turns are left out: a line of each does not earn them a place as a whole.
        """
        ledger = self.ledger
        return {
            piece.object_id: ledger.size(piece)
            for piece in ledger.pieces
            if len(piece.object_ids) == 1 or piece.section is not SectionName.HISTORY
        }


def is_wanted(piece: Piece) -> bool:
    """Tell whether a piece goes first: a vital one, or evidence of an acceptance item (C-212)."""
    if is_vital(piece):
        return True
    part = None if piece.item is None else piece.item.part
    return isinstance(part, Evidence) and bool(part.covers)


def is_vital(piece: Piece) -> bool:
    """Whether a piece is what the question must not be answered without."""
    return piece.candidate is not None and piece.candidate.vital
