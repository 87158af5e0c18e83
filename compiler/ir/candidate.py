"""A candidate and what the stages learn of it."""

from __future__ import annotations

from typing import NamedTuple

from ...schema.claim import Content, Version
from ...schema.compile_terms import PriorityTier
from ...schema.vocabulary import ObjectType
from ..text.relevance import FULL, micro
from .context import Setting
from .request_items import Given

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


class Ranked(NamedTuple):
    """A candidate with its scores."""

    placed: Placed
    score: int
    """Composite, in millionths; of a `by_task` object without any look at the query."""
    relevance: int
    """In millionths."""
    text: int
    """Lexical relevance, in millionths of the best."""
    tier: PriorityTier
    by_task: bool
    """Whether it stands on the task type alone."""
    fresh: int
    """Share of strength that decay has left, in millionths."""


def freshness(placed: Placed, setting: Setting) -> int:
    """Return the share of strength that decay has left, in millionths."""
    version = placed.candidate.version
    rule = version.details.decay_rule if version is not None else None
    if version is None or rule is None:
        return FULL
    seen = version.last_confirmed_us
    age = setting.point.valid_us - (version.row.claim.tx if seen is None else seen)
    return micro(rule.strength(age, setting.policy.decay.fading(version.details.object_type)))


class Placed(NamedTuple):
    """A candidate with its subject."""

    candidate: Candidate
    subject: str | None
    """Canonical id; None for text about nobody and for items of the request."""
    pending: bool = False
    ours: bool = False
    """Whether it is about, or belongs to, the caller's user, session, project or tenant."""
    beaten: tuple[Candidate, ...] = ()
    """Clean heads of other scopes that it won its slot from: whoever finds them finds it."""
