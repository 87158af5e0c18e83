"""Mentions of a text: the names in it, and what each of them means.

What the caller states wins overlaps, then known aliases, then the shapes of the rules, then a
model, if one was given. Known ones are found by looking up the text's own runs of words, so the
cost follows the text and not the register. Every mention is resolved like one of a write. Only
a stated one may create an entity; what was found links to whom it means, or waits with the
pending entity of its name. A pronoun names nobody: who "I" and "you" are is said by the speaker
and the session, not by the text.
Checklist: C-046.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from ...resolution.extract import (
    Gazetteer,
    Mention,
    MentionSource,
    ShapeExtractor,
    compose,
    words_of,
)
from ...resolution.keys import MentionOrId, alias_key, is_id, is_pronoun
from ...resolution.known import Lookup
from ...schema.entity import MAX_NAME, EntityRef, Resolution
from ...schema.errors import InvalidInput
from ...schema.principal import TENANT_SCOPE
from ...schema.records import short_repr
from ...schema.slots import UNKNOWN_TYPE
from ...schema.vocabulary import Decision
from ...schema.write import Span
from ...store.port.store import Reader
from ..backend.caller import Caller
from .resolve import Resolver
from .view import EntityLike, mention_of, sight_of

_WORDS = 5
"""Longest known name that is looked for, in words."""
_READ = 2_000
"""Words of a text that are read for known names."""
MENTION_LIMIT = 100
"""Mentions of one text that are kept, the first ones: a longer list would flood the reviews."""

StatedMentions = Sequence[tuple[int, int, EntityLike]]
"""What a caller knows of a text: (first character, one past the last, whom it names)."""


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """A mention and what it means; its `entity` is None where it names nothing known."""

    __repr__ = short_repr

    mention: Mention
    resolution: Resolution


@dataclass(frozen=True, slots=True)
class MentionFinder(Caller):
    """The mention use-case of one caller."""

    def mentions(
        self, text: str, scope_id: str = TENANT_SCOPE.scope_id
    ) -> tuple[ResolvedMention, ...]:
        """Return the mentions of a text in order, each resolved as one in this scope."""
        resolving = Resolver(self._backend, self.principal)
        resolved_mentions: list[ResolvedMention] = []
        # One snapshot: a write in between must not make two mentions of one name differ.
        with self._reading() as reader:
            for mention in self._mentions_in(reader, text):
                resolution = resolving.among(reader, _ref(mention), scope_id)
                # An address that no entity has is no name either.
                if "@" in mention.surface.strip("@") and resolution.decision is Decision.NEW:
                    continue
                resolved_mentions.append(ResolvedMention(mention, resolution))
        return tuple(resolved_mentions)

    def spans(self, text: str, scope_id: str, statements: StatedMentions = ()) -> tuple[Span, ...]:
        """Return the names of a text that a write may link it to, at most `MENTION_LIMIT`.

        What was found and names nobody known is left out.

        Raises:
            InvalidInput: `bad_mention`.
        """
        stated_spans = sorted(map(partial(_stated_span, text), statements), key=_span_start)

        # In order of their starts, so that only neighbours can overlap.
        for before, after in pairwise(stated_spans):
            if after.start < before.end:
                raise _bad(after.start, after.end, "overlaps the mention before it")

        # A text alone creates nobody: that a name is new is for a statement to say.
        known_spans: list[Span] = []
        for link in self.mentions(text, scope_id):
            mention = link.mention
            is_known = link.resolution.decision is not Decision.NEW
            is_free = all(mention.end <= s.start or s.end <= mention.start for s in stated_spans)
            if is_known and is_free:
                known_spans.append(Span(mention.start, mention.end, _ref(mention), stated=False))

        # What was stated is never cut: the room is that of the names that were found.
        room = max(0, MENTION_LIMIT - len(stated_spans))
        spans = [*stated_spans, *known_spans[:room]]
        return tuple(sorted(spans, key=_span_start))

    def _mentions_in(self, reader: Reader, text: str) -> tuple[Mention, ...]:
        groups = [self._known(reader, text).extract(text), ShapeExtractor().extract(text)]
        if self._backend.mentions is not None:
            groups.append(tuple(self._backend.mentions.extract(text)))

        # A finder may take a span that is longer than any name: a reference to it is refused.
        mentions: list[Mention] = []
        for mention in compose(*groups):
            if len(mention.surface) <= MAX_NAME and not is_pronoun(mention.surface):
                mentions.append(mention)
        return tuple(mentions)

    def _known(self, reader: Reader, text: str) -> Gazetteer:
        """Return a gazetteer of the visible aliases that are in the text."""
        words = list(words_of(text))[:_READ]
        # Some five keys a word, looked up by index: a register of a million names costs no more.
        runs: set[str] = set()
        for position, first_word in enumerate(words):
            for last_word in words[position : position + _WORDS]:
                runs.add(alias_key(text[first_word.start : last_word.end]))

        scopes = sight_of(self.principal, None).scopes
        lookup = Lookup(norms=tuple(sorted(runs - {""})))
        known_names = reader.known(lookup, scopes=sorted(scopes), tx_us=reader.clock().last_us)

        entries: list[tuple[str, str, str]] = []
        for alias in known_names.aliases:
            alias_id = f"{alias.entity_id}/{alias.norm}/{alias.scope_id}/{alias.ordinal}"
            entries.append((alias.surface, alias_id, alias.type))
        return Gazetteer(entries)


def _span_start(span: Span) -> int:
    return span.start


def _ref(mention: Mention) -> EntityRef:
    """Return a mention as a reference; a model's guess of a type is no evidence."""
    guessed = mention.source is MentionSource.MODEL
    return EntityRef(name=mention.surface, type=UNKNOWN_TYPE if guessed else mention.type_hint)


def _stated_span(text: str, statement: tuple[int, int, EntityLike]) -> Span:
    is_statement = isinstance(statement, tuple | list) and len(statement) == 3
    if not is_statement or not all(isinstance(place, int) for place in statement[:2]):
        raise InvalidInput(
            f"{statement!r:.80} is no mention; mentions are (start, end, whom)", code="bad_mention"
        )

    start, end, entity_named = statement
    if not 0 <= start < end <= len(text):
        raise _bad(start, end, f"lies outside the text, which has {len(text)} characters")

    entity: MentionOrId = mention_of(entity_named)
    pronoun = isinstance(entity, str) and not is_id(entity) and is_pronoun(entity)
    if pronoun:
        raise _bad(start, end, f"is the pronoun {entity!r}; state whom it means")

    return Span(start, end, entity, stated=True)


def _bad(start: int, end: int, problem: str) -> InvalidInput:
    return InvalidInput(
        f"the mention from {start} to {end} {problem}; mentions are (start, end, whom)",
        code="bad_mention",
        start=start,
        end=end,
    )
