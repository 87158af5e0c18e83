"""What each stage hands on: the nine shapes on one page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from ..format.block import Block
from ..safety.isolation import Isolation
from .candidate import Candidate, Placed, Ranked
from .piece import Piece, Short
from .snapshot import Snapshot
from .verdicts import Change, Gap, Verdict


@dataclass(frozen=True, slots=True)
class Contained:
    """Pieces that may be rendered."""

    converted: Converted
    pieces: tuple[Piece, ...]
    isolation: tuple[tuple[str, Isolation], ...]
    """(object id, isolation) of untrusted pieces, sorted."""
    stripped: int
    """Hidden characters taken out of all texts."""
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Converted:
    """What could go into the envelope."""

    rescued: Rescued
    pieces: tuple[Piece, ...]
    changes: tuple[Change, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Gated:
    """What the caller may see."""

    resolved: Resolved
    placed: tuple[Placed, ...]
    masked: frozenset[str]
    """Objects whose personal value is not shown to this caller."""
    shadows: tuple[Placed, ...]
    """Rows the caller may not see that may still decide a slot: never the next one instead."""
    withheld: tuple[Verdict, ...]
    """Counted in every trace, named only in an auditor's."""
    vids: tuple[int, ...]
    """The rows of the withheld, in the same order."""

    def details(self) -> dict[tuple[str, int], str]:
        """Return what was held against each withheld row, by (object id, vid)."""
        pairs = zip(self.withheld, self.vids, strict=True)
        return {(verdict.object_id, vid): verdict.detail for verdict, vid in pairs}


@dataclass(frozen=True, slots=True)
class Normalized:
    """The candidates of a compile."""

    candidates: tuple[Candidate, ...]
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Ordered:
    """The assembled envelope."""

    contained: Contained
    assembled: Assembled
    tokens: int
    """Upper bound of the text."""
    shortened: tuple[Short, ...]
    allocated: tuple[tuple[str, int], ...]
    """Tokens that the allocator gave each section of the turn, by name; empty without scarcity."""
    shadow_price: float
    changes: tuple[Change, ...]
    verdicts: tuple[Verdict, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What is relevant."""

    validated: Validated
    items: tuple[Ranked, ...]
    passed_over: tuple[tuple[Ranked, Verdict], ...]
    """Passages that scored too low as a whole, best first: the pool of the rescue."""
    scores: tuple[tuple[str, int], ...]
    """(object id, lexical relevance) of everything that was scored."""
    verdicts: tuple[Verdict, ...]


class Snippet(NamedTuple):
    """A rescued piece of a source."""

    ranked: Ranked
    text: str
    affinity: int
    """In thousandths."""
    beside: str
    """The selected object it goes with; empty when nothing was selected."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """What goes on to conversion."""

    ranking: Ranking
    items: tuple[Ranked, ...]
    snippets: tuple[Snippet, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The candidates with their subjects, and what could not be bound."""

    placed: tuple[Placed, ...]
    snapshot: Snapshot
    active: frozenset[str]
    """Canonical ids that the request names."""
    verdicts: tuple[Verdict, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Validated:
    """What is current and undisputed."""

    gated: Gated
    placed: tuple[Placed, ...]
    archival: tuple[Placed, ...]
    """Clean but demoted: only a rescue may bring them back."""
    verdicts: tuple[Verdict, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Assembled:
    """An envelope's text with its parts."""

    text: str
    blocks: tuple[Block, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    """The pieces of each block, in the same order."""
    anchors: Mapping[str, str]
    """Object id by anchor."""
    spans: tuple[tuple[int, int], ...]
    """Where each block begins, its section's heading included, and ends."""

    @property
    def in_order(self) -> tuple[Piece, ...]:
        """Return all pieces, in the order of the text."""
        return tuple(chain.from_iterable(self.pieces))
