"""The snapshot a compile works on: everything fetched, as one value.

`gather` fills it from a store and `replay` from a manifest; the ten stages read nothing else.
Candidates stand in order of (object id, row), so that no store's order reaches a byte.

This module also states what the compiler needs from above: `BindMentions`, which binds words
to entities without scoring, and `VectorIndex`, which searches vectors exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from ...resolution.known import Known
from ...schema.claim import Version
from ...store.port.store import Ask
from ...store.port.vectors import VectorScore
from ...store.port.vouched import NOBODY, OwnIds
from ..text.relevance import Background


class Via(IntEnum):
    """How a candidate was found: bits that add up to a plain whole number."""

    TEXT = 1
    VECTOR = 2
    STANDING = 4
    SLOT = 8
    """A slot of an entity that the request names."""
    NEIGHBOUR = 16
    TEMPLATE = 32
    """A slot that an instruction template asks for."""
    RIVAL = 64
    """The head of a candidate's slot in another visible scope."""
    PINNED = 128
    TALK = 512
    """A turn that was said beside one that was found."""
    OUTDATED = 256
    """No way of finding: a passage from which claims were extracted that all ceased to hold."""
    SIBLING = 1024
    """Another fact about a subject whose facts cover the question."""
    SAYS_MORE = 2048
    """No way of finding: a passage with words that no claim which was extracted from it has."""
    CLAIMED = 4096
    """No way of finding: a passage from which claims were extracted."""
    TAKEN_BACK = 8192
    """No way of finding: a turn of talk of which a claim was taken back, whatever else it says."""
    IN_PART = 16384
    """No way of finding: a turn of talk of which some clauses are quoted, by the bits above."""


CLAUSE_BITS: Final = 16
"""Above the ways of finding: which clauses of a turn `IN_PART` are quoted, the first lowest."""


class Proposal(NamedTuple):
    """A row that may enter the envelope."""

    version: Version
    via: int
    """`Via` flags."""
    hop: int = 0
    """Steps from an entity that the request names; 0 for none."""


class Bound(NamedTuple):
    """What a mention means."""

    mention: str
    entities: tuple[str, ...]
    """Canonical ids: one when bound, several when ambiguous, none when unknown."""
    pending: bool = False
    """Whether the entity waits for a review."""


class BindMentions(Protocol):
    """Binds by entity id, identifier or exact visible alias as known at the compile's tx.

    It never scores, never creates, and answers for each mention in order.
    """

    def __call__(self, mentions: Sequence[str]) -> Sequence[Bound]:
        """Return what each mention means; unknown ones with no entities."""
        ...


class Neighbours(NamedTuple):
    """The answer of a vector search."""

    scores: Sequence[VectorScore]
    """Best first, ties by object id."""
    versions: Sequence[Version]
    """Every row of these claims, of any status, that is known at the tx."""


class VectorIndex(Protocol):
    """The exact vector search over one tenant and encoder, limited to what is visible."""

    def prefetch(self, query: Sequence[int], *, limit: int) -> Ask | None:
        """Return what `nearest` will ask the store first; None when it asks nothing."""
        ...

    def nearest(self, query: Sequence[int], *, limit: int) -> Neighbours:
        """Return the best visible claims with their rows known at the compile's tx."""
        ...

    def facts(self, query: Sequence[int], *, limit: int) -> Neighbours:
        """Return the best visible facts among the next claims behind those of `nearest`."""
        ...

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> Sequence[VectorScore]:
        """Return the scores of these claims, as far as they have vectors."""
        ...


PERSON: Final = "person"
"""The kind of own subject that is not the caller, but whose wishes apply."""

NO_SCORES: Final[Mapping[str, int]] = MappingProxyType({})
NO_VECTORS: Final[Mapping[str, VectorScore]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was fetched."""

    proposals: tuple[Proposal, ...]
    """In order of (object id, vid)."""
    subjects: tuple[Bound, ...] = ()
    """The request's own entities, in order."""
    query_subjects: tuple[Bound, ...] = ()
    """Mentions found in the query that name at least one entity."""
    own_subjects: Mapping[str, str] = field(default_factory=dict[str, str])
    """Canonical entity id by what it is to the caller: `user`, `project`, `tenant`; or `person`,
    somebody else whose wishes apply."""
    people: tuple[str, ...] = ()
    """Canonical ids of those whose wishes might apply, sorted: the request does not say whose."""
    own_ids: OwnIds = NOBODY
    """Raw ids of the entity that is the caller: personal data about it is whole."""
    expansion: tuple[str, ...] = ()
    """Other names of the named entities that were searched for, sorted."""
    known: Known = field(default_factory=Known)
    """The entities of the candidates, as known at the compile's tx."""
    vectors: Mapping[str, VectorScore] = field(default_factory=lambda: NO_VECTORS)
    rerank_scores: Mapping[str, int] = field(default_factory=lambda: NO_SCORES)
    """What a re-ranker said of the best candidates, in millionths by object id."""
    background: Background | None = None
    """The hits among which those of the proposals were chosen, where these are not all."""
    texts: Mapping[str, int] | None = None
    """Of a replay: recorded text relevance in millionths by object id."""
    gates: Mapping[tuple[str, int], str] | None = None
    """Of a replay: what the gate said of each row then, by (object id, vid); empty: it passed."""
    outranked: Mapping[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    """Of a replay: heads that a hidden row outranked then, with how they lost."""
    refused: bool = False
    """Of a replay: whether the gate refused a row then that the caller may see elsewhere."""
    withheld: tuple[tuple[str, int], ...] = ()
    """How many objects the store withheld, by source of candidates."""
    cut: bool = False
    """Whether a limit cut the candidates."""
    capped_ids: tuple[str, ...] = ()
    """Objects that a cap of the walk left out, sorted."""
    round_trips: int = 0
    """Calls of the reader; for the sidecar, never in the bytes."""


def root_of(known: Known, entity_id: str) -> str:
    """Return the canonical id of a raw id; itself when nothing is merged."""
    return known.canonical.get(entity_id, entity_id)


def members_of(known: Known, entity_id: str) -> tuple[str, ...]:
    """Return the raw ids of the cluster an entity belongs to, sorted."""
    # The root itself is in no row of the map when nothing is merged into it.
    root = root_of(known, entity_id)
    merged_ids = {raw for raw, top in known.canonical.items() if top == root}
    return tuple(sorted(merged_ids | {root, entity_id}))
