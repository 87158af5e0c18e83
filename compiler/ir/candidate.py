"""A candidate: one record that every stage adds to, from the row that was read to its score.

`normalize` makes it, `resolve` says whom it is about, `validate` what it won its slot from, and
`rank` what it is worth. What a stage has not said yet stands at its default. Nothing wraps it,
so that the last stage reads `candidate.version` as the first one does.
"""

from __future__ import annotations

from typing import NamedTuple

from ...schema.claim import Content, Version, is_turn
from ...schema.compile_terms import PriorityTier
from ...schema.vocabulary import ObjectType
from ..text.relevance import FULL, micro
from ..text.sentences import only_clauses
from .context import CompileContext
from .request_items import RequestItem
from .snapshot import CLAUSE_BITS, Via

_IN_PART = int(Via.IN_PART)
_PASSAGE = ObjectType.RETRIEVED_PASSAGE
_TALK_FRESHNESS = 800_000


class Candidate(NamedTuple):
    """A stored row or an item of the request; exactly one of the two is there.

    A named tuple and no dataclass: a compile makes thousands, several times each.
    """

    object_id: str
    version: Version | None
    request_item: RequestItem | None
    via: int = 0
    """`Via` flags; 0 for an item of the request."""
    hop: int = 0
    subject: str | None = None
    """Canonical id; None for text about nobody and for items of the request."""
    pending: bool = False
    """Whether an entity that it speaks of waits for a review."""
    ours: bool = False
    """Whether it is about, or belongs to, the caller's user, session, project or tenant."""
    rivals: tuple[Candidate, ...] = ()
    """Clean heads of other scopes that it won its slot from: whoever finds them finds it."""
    score: int = 0
    """Composite, in millionths; of a `by_task` object without any look at the query."""
    relevance: int = 0
    """In millionths."""
    lexical: int = 0
    """Lexical relevance, in millionths of the best."""
    tier: PriorityTier = PriorityTier.IRRELEVANT
    by_task: bool = False
    """Whether it stands on the task type alone."""
    freshness: int = FULL
    """Share of strength that decay has left, in millionths."""
    vital: bool = False
    """Whether the question must not be answered without it: what it asks for, or what limits it."""

    @property
    def level(self) -> int:
        """The authority level."""
        if self.version is not None:
            return int(self.version.details.authority_level)
        return item_of(self).level

    @property
    def origin(self) -> str:
        """Where it comes from."""
        if self.version is not None:
            return self.version.details.source_origin
        return item_of(self).origin

    @property
    def is_passage(self) -> bool:
        """Whether it is text that is quoted, not a fact that is stated."""
        version = self.version
        return version is None or (
            version.details.slot is None and version.details.object_type is _PASSAGE
        )

    @property
    def is_turn(self) -> bool:
        """Whether it is what somebody said."""
        return self.version is not None and is_talk(self.version)

    @property
    def text(self) -> str:
        """What a reader would be shown of it."""
        if self.version is None:
            return item_of(self).text
        content = content_of(self.version)
        if self.is_passage:
            text = content.text or content.normalized_claim
            return only_clauses(text, self.via >> CLAUSE_BITS) if self.via & _IN_PART else text
        return content.normalized_claim or content.text


def is_talk(version: Version) -> bool:
    """Tell whether a row is what somebody said: a turn of talk."""
    return is_turn(version.details)


def version_of(candidate: Candidate) -> Version:
    """The row of a candidate that the store brought."""
    assert candidate.version is not None  # callers pass stored rows only
    return candidate.version


def item_of(candidate: Candidate) -> RequestItem:
    """The item of a candidate that the request brought."""
    assert candidate.request_item is not None  # a candidate without a row has one
    return candidate.request_item


def content_of(version: Version) -> Content:
    """The content of a row that passed validation, which lets no emptied one through."""
    assert version.content is not None
    return version.content


def freshness_of(candidate: Candidate, context: CompileContext) -> int:
    """The share of strength that decay has left, in millionths."""
    version = candidate.version
    rule = version.details.decay_rule if version is not None else None
    if version is None or rule is None:
        return FULL

    anchor = version.last_confirmed_us
    age = context.point.valid_us - (version.row.claim.tx if anchor is None else anchor)
    fading = context.policy.decay.fading(version.details.object_type)
    freshness = micro(rule.strength(age, fading))
    # What was said stays said: its age may order two equal turns, and no more.
    return max(freshness, _TALK_FRESHNESS) if is_talk(version) else freshness
