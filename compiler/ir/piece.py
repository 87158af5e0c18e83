"""A piece: what one object contributes to an envelope, before it has a place in the text.

`convert` makes pieces, `contain` cleans their text, `order` decides which go in and where.
A fact is a cell of its entity's row; prose, turns and everything of level 4 stand alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...schema.compile_terms import BlockKind, Conversion, Ladder, PriorityTier, SectionName
from ...schema.vocabulary import Enforcement
from ..text.sentences import facts_of, subunits
from ..tokens.counting import TokenCounter
from .candidate import Candidate


class EnforcementRule(NamedTuple):
    """How code enforces a hard constraint."""

    kind: Enforcement
    spec: str
    """Canonical JSON."""


class Piece(NamedTuple):
    """One object's contribution."""

    object_ids: tuple[str, ...]
    """The object itself, then those whose values its instruction consumed."""
    section: SectionName
    kind: BlockKind
    level: int
    """Of the weakest object in it."""
    origin: str
    text: str
    """What is rendered when it stands alone or as a row of its own."""
    ladder: Ladder
    tier: PriorityTier
    value: int
    """Worth for the selection, in millionths."""
    key: tuple[int, int, str]
    """Stable order inside its section."""
    label: str = ""
    """Of a fact: the entity's name, the head of its row."""
    cell: str = ""
    """Of a fact: `slot = value`."""
    required: bool = False
    alone: bool = False
    """Whether it is a block of its own: verbatim text and everything of level 4."""
    pair: str = ""
    """Turns of one tool call; never parted."""
    enforcement: EnforcementRule | None = None
    candidate: Candidate | None = None
    """What it comes from; None for what the compiler itself writes."""
    relevance: int = 0
    speaker: str = ""
    """Of a passage: whose words it holds, in one line; empty: unknown."""
    date: str = ""
    """Of a passage: the day it is of, `2023-05-08`; empty: unknown."""
    written_us: int = 0
    """Of a passage: the stamp it was written at; tells the order of one day."""
    shared: bool = False
    """Whether its text may stand as a line among others, in a block that they share."""

    @property
    def frame(self) -> str:
        """The kind of block that it shares with its neighbours; empty: a block of its own."""
        if self.shared:
            return "lines"
        return "" if self.alone else "rows"

    @property
    def head(self) -> str:
        """What it shares with its neighbours inside a block: a row's entity, a day and source."""
        if self.cell:
            return self.label
        return f"@ {self.date} {self.origin}" if self.shared else ""

    @property
    def scheme(self) -> str:
        """The scheme of its origin, `chat` of `chat://a`."""
        return self.origin.partition("://")[0]

    @property
    def object_id(self) -> str:
        """Return the id it goes by."""
        return self.object_ids[0]


@dataclass(frozen=True, slots=True)
class Short:
    """A shorter form of one piece or of several turns."""

    piece: Piece
    object_ids: tuple[str, ...]
    """What it stands for."""
    conversion: Conversion
    original_tokens: int
    compressed_tokens: int
    fidelity: float
    """0 to 1, rounded to 3 digits."""


def fidelity(original: str, result: str, counter: TokenCounter) -> float:
    """Return the token-weighted share of propositions whose facts stand in the result.

    A proposition without any number, name, date or negation counts as kept when its words are.
    """
    kept_tokens = total = 0
    # By tokens, so that a short aside lost weighs less than a long statement.
    for proposition in subunits(original):
        tokens = counter.count(proposition)
        facts = facts_of(proposition)
        holds = facts <= facts_of(result) if facts else proposition in result
        total += tokens
        kept_tokens += tokens if holds else 0
    return round(kept_tokens / total, 3) if total else 1.0
