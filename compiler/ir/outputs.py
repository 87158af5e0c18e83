"""What each stage returns, side by side in the order of the stages, and all of it as one value.

No output holds another. The driver keeps them in `Passes` and hands each stage what it reads, so
that a new stage touches the driver, this page and itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from ...schema.compile_terms import GateDetail
from ..format.grammar import Block
from ..safety.isolation import Isolation
from .records import Asked, Candidate, Gap, Piece, Short, Snapshot, TextChange, Verdict


@dataclass(frozen=True, slots=True)
class Normalized:
    """Everything that may enter."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The candidates with their subjects, and what could not be bound."""

    candidates: tuple[Candidate, ...]
    active: frozenset[str]
    """Canonical ids that the request names."""
    verdicts: tuple[Verdict, ...]
    gaps: tuple[Gap, ...]


_SECRET: Final = frozenset(
    {GateDetail.SCOPE_MISMATCH, GateDetail.ROLE_DENIED, GateDetail.CLEARANCE_TOO_LOW}
)
"""What the gate holds against rows that the caller may see nowhere, not in this compile alone."""


@dataclass(frozen=True, slots=True)
class Gated:
    """What the caller may see."""

    candidates: tuple[Candidate, ...]
    masked_ids: frozenset[str]
    """Objects whose personal value is not shown to this caller."""
    shadows: tuple[Candidate, ...]
    """Rows the caller may not see that may still decide a slot: never the next one instead."""
    refusals: tuple[Verdict, ...]
    """Named and counted for an auditor; of the others a caller learns at most that some are."""
    vids: tuple[int, ...]
    """The rows of the refusals, in the same order."""

    @property
    def admits_refusals(self) -> bool:
        """Whether a row was refused that the caller may see elsewhere: only these are told of."""
        return any(verdict.detail not in _SECRET for verdict in self.refusals)

    def details(self) -> dict[tuple[str, int], str]:
        """What was held against each refused row, by (object id, vid)."""
        # By row, not by object: an old version may be closed to a caller who may see the new one.
        details: dict[tuple[str, int], str] = {}
        for verdict, vid in zip(self.refusals, self.vids, strict=True):
            details[verdict.object_id, vid] = verdict.detail
        return details


@dataclass(frozen=True, slots=True)
class Validated:
    """What is current and undisputed."""

    candidates: tuple[Candidate, ...]
    archival: tuple[Candidate, ...]
    """Clean but demoted: only a rescue may bring them back."""
    verdicts: tuple[Verdict, ...]
    gaps: tuple[Gap, ...]
    outranked: Mapping[tuple[str, int], str]
    """Heads of slots that a row which the caller may not see decides, with how they lost."""
    ended_facts: tuple[tuple[Candidate, Verdict], ...] = ()
    """Facts that held before the instant, with why they stay out if no past is asked."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What is relevant, with its scores."""

    candidates: tuple[Candidate, ...]
    passed_over: tuple[tuple[Candidate, Verdict], ...]
    """Passages that scored too low as a whole, best first: the pool of the rescue."""
    scores: tuple[tuple[str, int], ...]
    """(object id, lexical relevance) of everything that was scored."""
    verdicts: tuple[Verdict, ...]
    seeds: tuple[str, ...] = ()
    """Canonical ids of the entities that the question names."""
    asked: tuple[tuple[str, str], ...] = ()
    """(canonical subject, slot) that it asks, the slot empty for a subject as a whole."""
    asked_slots: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The slots that it asks, with the words that ask for each."""
    unknown_names: tuple[str, ...] = ()
    """Names in the question of which nothing visible holds a word."""
    unmatched: tuple[str, ...] = ()
    """Content terms of the question that nothing visible holds."""
    discussed: bool = False
    """Whether turns that made no claim bear on it: a slot without a fact may be known."""


class Snippet(NamedTuple):
    """A rescued piece of a source."""

    candidate: Candidate
    text: str
    affinity: int
    """In thousandths."""
    companion_id: str
    """The selected object it goes with; empty when nothing was selected."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """What is taken of sources that were passed over."""

    snippets: tuple[Snippet, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Converted:
    """What could go into the envelope."""

    pieces: tuple[Piece, ...]
    changes: tuple[TextChange, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Contained:
    """Pieces that may be rendered."""

    pieces: tuple[Piece, ...]
    isolation: tuple[tuple[str, Isolation], ...]
    """(object id, isolation) of untrusted pieces, sorted."""
    verdicts: tuple[Verdict, ...]


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
        """All pieces, in the order of the text."""
        return tuple(chain.from_iterable(self.pieces))


@dataclass(frozen=True, slots=True)
class Ordered:
    """The assembled envelope, and what its budget left out."""

    assembled: Assembled
    tokens: int
    """Upper bound of the text."""
    shortenings: tuple[Short, ...]
    allocation: tuple[tuple[str, int], ...]
    """Tokens that the allocator gave each section of the turn, by name; empty without scarcity."""
    shadow_price: float
    changes: tuple[TextChange, ...]
    verdicts: tuple[Verdict, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """What the stages of one compile returned, in order; the trace is made of it."""

    snapshot: Snapshot
    normalized: Normalized
    resolved: Resolved
    gated: Gated
    validated: Validated
    ranked: Ranked
    rescued: Rescued
    converted: Converted
    contained: Contained
    ordered: Ordered
    answers: tuple[Asked, ...] = ()
    """What the question asks and what became of it before the text was fitted."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of all stages in order, the gate's apart."""
        # An auditor alone may read what the gate refused, so it never comes with the others.
        outputs = (
            self.resolved,
            self.validated,
            self.ranked,
            self.rescued,
            self.converted,
            self.contained,
            self.ordered,
        )
        return tuple(chain.from_iterable(output.verdicts for output in outputs))

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of the text, in its order."""
        return self.ordered.assembled.in_order
