"""Mentions of a text: the names in it, and what each of them means.

Known aliases win overlaps, then the shapes of the rules. The known ones are found by looking up
the text's own runs of words, so the cost follows the text and not the register. Every mention
is resolved like one of a write, and none of them creates an entity: that takes a claim.
Sources: resolution 10; settled 9; checklist C-046.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..resolution.extract import Composed, Gazetteer, Mention, RuleExtractor
from ..resolution.gazetteer import words_of
from ..resolution.keys import alias_key
from ..resolution.known import Lookup
from ..schema.entity import MAX_NAME, EntityRef, Resolution
from ..schema.principal import Principal
from ..store.port import Reader
from .backend import Backend
from .resolving import Resolving
from .view import sight_of

_WORDS = 5
"""Longest known name that is looked for, in words."""
_READ = 2_000
"""Words of a text that are read for known names."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A mention and what it means; its `entity` is None where it names nothing known."""

    mention: Mention
    resolution: Resolution


@dataclass(frozen=True, slots=True)
class Mentioning:
    """The mention use-case of one caller."""

    backend: Backend
    principal: Principal

    def mentions(self, text: str) -> tuple[Linked, ...]:
        """Return the mentions of a text in order, each resolved."""
        resolving = Resolving(self.backend, self.principal)
        with self.backend.store.reading(self.principal.tenant) as reader:
            finder = Composed((self._known(reader, text), RuleExtractor()))
            return tuple(
                Linked(found, resolving.among(reader, _named(found)))
                for found in finder.extract(text)
                if len(found.surface) <= MAX_NAME
            )

    def _known(self, reader: Reader, text: str) -> Gazetteer:
        """Return a gazetteer of the visible aliases that stand in the text."""
        words = list(words_of(text))[:_READ]
        runs = {
            alias_key(text[words[at].start : words[to].end])
            for at in range(len(words))
            for to in range(at, min(at + _WORDS, len(words)))
        }
        scopes = sight_of(self.principal, None).scopes
        lookup = Lookup(norms=tuple(sorted(runs - {""})))
        found = reader.known(lookup, scopes=sorted(scopes), tx_us=reader.clock().last_us)
        return Gazetteer(
            (a.surface, f"{a.entity_id}/{a.norm}/{a.scope_id}/{a.ordinal}", a.type)
            for a in found.aliases
        )


def _named(mention: Mention) -> EntityRef:
    return EntityRef(name=mention.surface, type=mention.type_hint)
