"""Stage 1, normalize: everything that may enter becomes a candidate of one shape.

Stored rows and the request's own items, turns, tools and texts, stand side by side from here
on, each with its object id, level and origin. Nothing is judged and nothing is dropped.

Invariant: the order of the candidates depends on their ids alone; the request's items follow
the stored rows. Source 003, stage 1; checklist C-075.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...schema.claim import Content, Version
from ...schema.vocabulary import ObjectType
from ..ir.context import Setting
from ..ir.request_items import Given, given_items
from ..ir.snapshot import Snapshot

_PASSAGE = ObjectType.RETRIEVED_PASSAGE


class Candidate(NamedTuple):
    """A stored row or an item of the request; exactly one of the two is there."""

    object_id: str
    version: Version | None
    given: Given | None
    via: int = 0
    """`Via` flags; 0 for an item of the request."""
    hop: int = 0

    @property
    def level(self) -> int:
        """Return the authority level."""
        if self.version is not None:
            return int(self.version.details.authority_level)
        return self.own.level

    @property
    def origin(self) -> str:
        """Return where it comes from."""
        if self.version is not None:
            return self.version.details.source_origin
        return self.own.origin

    @property
    def own(self) -> Given:
        """Return the item of a candidate that the request brought."""
        assert self.given is not None  # the constructor's contract
        return self.given

    @property
    def is_passage(self) -> bool:
        """Tell whether it is text that is quoted, not a fact that is stated."""
        version = self.version
        return version is None or (
            version.details.slot is None and version.details.object_type is _PASSAGE
        )

    @property
    def text(self) -> str:
        """Return what a reader would be shown of it."""
        if self.version is None:
            return self.own.text
        content = content_of(self.version)
        if self.is_passage:
            return content.text or content.normalized_claim
        return content.normalized_claim or content.text


def content_of(version: Version) -> Content:
    """Return the content of a row that passed validation, which lets no emptied one through."""
    assert version.content is not None
    return version.content


@dataclass(frozen=True, slots=True)
class Normalized:
    """The candidates of a compile."""

    candidates: tuple[Candidate, ...]
    snapshot: Snapshot


def normalize(snapshot: Snapshot, setting: Setting) -> Normalized:
    """Return every stored row and every item of the request as a candidate."""
    stored = (
        Candidate(p.version.row.claim.object_id, p.version, None, p.via, p.hop)
        for p in snapshot.proposed
    )
    own = (
        Candidate(given.object_id, None, given)
        for given in given_items(setting.request, setting.principal, setting.media.texts)
    )
    return Normalized((*stored, *own), snapshot)
