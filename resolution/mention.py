"""What a mention is, who finds them, and how several finders agree.

A `Mention` is a span of a text that may name an entity. Offsets are of the original text, in
characters, half-open: `text[start:end] == surface`, always. Finders implement
`MentionExtractor`; `compose` joins what they found. The order of strength is the caller's own
mentions, then known aliases, then rules, then models: where two overlap the stronger stays, and
a weaker one is dropped whole. A mention that only a model found may become a pending mention,
never an entity by itself.

No finder resolves anything: which entity a mention means is decided by scoring.
Checklist C-046.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from ..schema.principal import Scope
from ..schema.short_repr import short_repr


class MentionSource(IntEnum):
    """Who found a mention; the smaller number wins an overlap."""

    CALLER = 0
    ALIAS = 1
    RULE = 2
    MODEL = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that may name an entity."""

    __repr__ = short_repr

    start: int
    """First character, counted in the original text."""
    end: int
    """One past the last character."""
    surface: str
    """The text between them."""
    type_hint: str
    """An entity type, or `unknown`."""
    source: MentionSource
    alias_id: str | None
    """The one alias this is, when a known alias matched and only one carries the surface."""
    confidence: float
    """0..1: how sure the finder is that this is a name at all."""


class MentionExtractor(Protocol):
    """Finds mentions in a text. Pure: the same text gives the same mentions, sorted by start."""

    name: str
    version: str

    def extract(
        self, text: str, *, scope: Scope | None = None, as_of: int = 0
    ) -> Sequence[Mention]:
        """The mentions of a text, sorted by start.

        `scope` and `as_of` (microseconds) choose the alias table of a finder that holds
        several; others ignore them.
        """
        ...


def compose(*groups: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions of several finders without overlaps, sorted by start.

    The stronger source wins, then the longer span, then the earlier group, then the earlier
    span. A span that overlaps a winner is dropped.
    """
    spans: list[tuple[int, Mention]] = []
    for group, mentions in enumerate(groups):
        spans += [(group, mention) for mention in mentions if mention.start < mention.end]
    spans.sort(key=_strength)

    # One mark a character: whether a span is free costs its own length, however many there are.
    marks = bytearray(max((mention.end for _, mention in spans), default=0))
    winners: list[Mention] = []
    for _, mention in spans:
        start, end = mention.start, mention.end
        if marks.find(1, start, end) < 0:
            marks[start:end] = b"\x01" * (end - start)
            winners.append(mention)

    return tuple(sorted(winners, key=lambda mention: mention.start))


def _strength(item: tuple[int, Mention]) -> tuple[int, int, int, int]:
    group, mention = item
    return (mention.source, mention.start - mention.end, group, mention.start)
