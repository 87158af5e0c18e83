"""Provenance: where each text of an envelope that was found comes from, and how it was found.

Evidence carries the six fields of source 000, 6.3.3: source, time of retrieval, authority,
relevance, place inside the source, and the line of search that brought it. A remembered object
has the kind of memory it is of besides. Text of level 4 without any source never gets here:
`contain` refuses it. Checklist C-127, C-129, C-133.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from ...schema.compile_terms import SectionName, memory_kind
from ...schema.values import iso
from ..ir.records import Piece, Via, item_of
from ..request.request import Evidence
from ..text.relevance import FULL

_S: Final = SectionName
_SECTIONS: Final = frozenset(
    {_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.MEMORY, _S.GUIDANCE, _S.TURN_MEMORY, _S.TURN_GUIDANCE}
)


class Provenance(NamedTuple):
    """Where one compiled object comes from."""

    object_id: str
    source: str
    """Its origin, whole."""
    retrieved_at: str
    """ISO 8601; of a stored object when it was recorded; empty when the caller did not say."""
    authority_level: int
    source_authority: float | None
    """Trust in the source, 0 to 1."""
    relevance: float
    """0 to 1; of what stands without the query 0."""
    span: str
    """Where in the source the text stands, in the caller's words."""
    lineage: tuple[str, ...]
    """How it was found: ways of the store, or what the caller stated."""
    memory: str = ""
    """Kind of memory of a stored object."""


def provenance(pieces: Iterable[Piece]) -> tuple[Provenance, ...]:
    """Return the provenance of what was found, in the order of the text."""
    rows: list[Provenance] = []
    for piece in pieces:
        if piece.candidate and piece.section in _SECTIONS:
            rows.append(_piece_provenance(piece))
    return tuple(rows)


def _piece_provenance(piece: Piece) -> Provenance:
    assert piece.candidate is not None  # what the compiler says itself was not found anywhere
    candidate = piece.candidate
    relevance = round(piece.relevance / FULL, 6)
    version = candidate.version

    # What the caller brought says of itself where it comes from, as far as it knows.
    if version is None:
        part = item_of(candidate).part
        evidence = (
            part if isinstance(part, Evidence) else Evidence(text="", origin=candidate.origin)
        )
        return Provenance(
            candidate.object_id,
            candidate.origin,
            evidence.retrieved_at,
            candidate.level,
            evidence.source_authority,
            relevance,
            evidence.span,
            ("request", *evidence.lineage),
        )

    # A stored object was retrieved when it was recorded: the compile only read it back.
    details, claim = version.details, version.row.claim
    return Provenance(
        candidate.object_id,
        candidate.origin,
        iso(claim.tx) or "",
        candidate.level,
        claim.source_authority / 1000,
        relevance,
        "",
        _ways(candidate.via),
        memory_kind(details.object_type, details.layer, details.source_kind).value,
    )


@lru_cache(maxsize=256)
def _ways(via: int) -> tuple[str, ...]:
    """Return the names of the ways that a number of `Via` flags stands for.

    >>> _ways(Via.TEXT | Via.SLOT)
    ('text', 'slot')
    """
    return tuple(flag.name.lower() for flag in Via if via & flag)
