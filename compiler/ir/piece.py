"""A piece: what one object contributes to an envelope, before it has a place in the text.

`convert` makes pieces, `contain` cleans their text, `order` decides which go in and where.
A fact is a cell of its entity's row; prose, turns and everything of level 4 stand alone.
"""

from __future__ import annotations

from typing import NamedTuple

from ...schema.compile_terms import (
    BlockKind,
    Ladder,
    PriorityTier,
    SectionName,
)
from ...schema.vocabulary import Enforcement
from ..stages.resolve import Placed


class Carrier(NamedTuple):
    """How code enforces a hard constraint (D1)."""

    enforcement: Enforcement
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
    carrier: Carrier | None = None
    placed: Placed | None = None
    """The candidate it comes from; None for what the compiler itself writes."""
    relevance: int = 0

    @property
    def object_id(self) -> str:
        """Return the id it goes by."""
        return self.object_ids[0]
