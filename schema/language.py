r"""Words of a language as one frozen value, handed to whatever reads a question.

The core knows no word of any language. Synonyms say which slot a question asks, related words join
"wife" and "partner", and patterns tell a question about the past. An empty value is legal: then
slots are asked by their names alone.

>>> english = Language(synonyms={"manager": ("boss",)}, asks_past=(r"\bused to\b",))
>>> english.synonyms["manager"], english.is_about_past("Who used to be the boss?")
(('boss',), True)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import chain, product
from types import MappingProxyType
from typing import Any

from .terms import terms
from .values import canonical_json

_LONGEST = 2_000
"""Characters of a question that are read: a longer request brings its own text."""

_SENTENCE_END = re.compile(r"[.!?\n]")


@dataclass(frozen=True)
class Language:
    """What the words of one or several languages mean to a question."""

    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Other words for a slot by its name; `=call` means this form alone, so not "called"."""
    forms: tuple[str, ...] = ()
    """Groups of forms of one word that no stem joins: `go went gone`."""
    related: tuple[str, ...] = ()
    """Groups of words, one of which asks for what another says: `wife husband partner`."""
    asks_past: tuple[str, ...] = ()
    """Patterns of a question about what was so, whatever the case; a month is a group `time`, words
    that ask for all of it a group `all`."""
    asks_whole: tuple[str, ...] = ()
    """Patterns of a question about all that is known of the caller, the same way."""
    asks_own: tuple[str, ...] = ()
    """Patterns of a question about something of the caller's own: `my`."""
    asks_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Patterns of a question about a name, `{}`, by the slot of which the name is a value: "who
    reports to {}". Under `name` the question is about the name itself, under `value` the name is
    the value of each slot that the question asks: "whose manager is {}"."""
    forbids: tuple[str, ...] = ()
    """Patterns of a directive that forbids, the same way."""
    directing: tuple[str, ...] = ()
    """Words of directives that say nothing of their subject: `always please use`."""
    choices: tuple[Sequence[str], ...] = ()
    """Choices for an answer that exclude each other: the manner (`language`), a pattern of a
    directive with `{}` where the choice is, and the choices as named groups."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all of it."""
        values = {column.name: getattr(self, column.name) for column in fields(self)}
        tables = {"synonyms": dict(self.synonyms), "asks_of": dict(self.asks_of)}
        parts = canonical_json({**values, **tables})
        return hashlib.sha256(parts.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def is_forbidding(self, text: str) -> bool:
        """Whether a directive says what not to do."""
        return any(pattern.search(text) for pattern in _patterns(self.forbids))

    def choices_in(self, text: str, slot: str = "") -> dict[str, str]:
        """What a directive chooses by manner, or the value of a slot for the manner it is named by.

        A text with two choices of one manner may compare them or offer both: that is no choice.
        """
        manners: dict[str, set[str]] = {}
        for manner, directive, words in self.choices:
            source = words if slot.rpartition("_")[2] == manner else directive.replace("{}", words)
            for match in _patterns((source,))[0].finditer(text):
                remainder = _SENTENCE_END.split(text[match.end() :], maxsplit=1)[0]
                for choice in (match, *_patterns((words,))[0].finditer(remainder)):
                    manners.setdefault(manner, set()).add(choice.lastgroup or "")
        single = {manner: choices for manner, choices in manners.items() if len(choices) == 1}
        return {manner: min(choices) for manner, choices in single.items()}

    def is_about_past(self, text: str) -> bool:
        """Whether a text asks what was so and may be so no more."""
        return _is_found(self.asks_past, text)

    def is_about_changes(self, text: str) -> bool:
        """Whether a text asks for all that was so: "what has changed", "the history of"."""
        matches = (pattern.search(text[:_LONGEST]) for pattern in _patterns(self.asks_past))
        return any(match and match.groupdict().get("all") for match in matches)

    def with_small_times(self, text: str) -> str:
        """A text in which no month is written as a name: "in february" for "in February"."""
        for pattern in _patterns(self.asks_past):
            if "time" in pattern.groupindex:
                text = pattern.sub(lambda match: match[0].casefold(), text)
        return text

    def is_about_all(self, text: str) -> bool:
        """Whether a text asks for all that is known of who asks."""
        return _is_found(self.asks_whole, text)

    def is_about_own(self, text: str) -> bool:
        """Whether a text asks about something of the person who asks."""
        return _is_found(self.asks_own, text)

    def asked_of(self, slot: str, names: Iterable[str], text: str) -> frozenset[str]:
        """The names of which a text asks what has them as its value of a slot; see `asks_of`."""
        lowered, matches = text[:_LONGEST].lower(), set[str]()
        for pattern, name in product(_patterns(self.asks_of.get(slot, ())), names):
            # The sign goes into the text: a pattern with the name would be compiled each time.
            if pattern.search(lowered.replace(name.lower(), "{}")):
                matches.add(name)
        return frozenset(matches)

    def related_terms(self, question: frozenset[str]) -> Mapping[str, frozenset[str]]:
        """The terms of a question that each related term means; none of its own is related."""
        return _related_terms(self, question)

    def unspoken_terms(self, question: frozenset[str], text_terms: AbstractSet[str]) -> list[str]:
        """The terms of a question that a text does not hold, but other words for them, sorted."""
        meanings = self.related_terms(question)
        spoken = [meanings[term] for term in meanings.keys() & text_terms]
        return sorted(frozenset[str]().union(*spoken) - text_terms)

    @cached_property
    def _tables(self) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
        return _groups_of(self.forms), _groups_of(self.related)

    def _forms_of(self, term: str) -> frozenset[str]:
        """A term and what else its word may have become as one."""
        forms = self._tables[0].get(term, frozenset()) | {term}
        if len(term) <= 3:
            return forms
        # "studied" and "applies" lose an ending of which "study" and "apply" keep a letter.
        if term.endswith("y") and term[-2] not in "aeiou":
            return forms | {f"{term[:-1]}i"}
        return forms | {f"{term[:-1]}y"} if term.endswith("i") else forms

    def variants_of(self, term: str) -> frozenset[str]:
        """The terms that a term of a question may be spoken as, in addition to itself."""
        variants = set(self._forms_of(term))
        for form in self._forms_of(term):
            variants.update(*map(self._forms_of, self._tables[1].get(form, ())))
        return frozenset(variants - {term})


NO_LANGUAGE = Language()


@lru_cache(maxsize=64)  # the stages of one compile ask alike
def _related_terms(language: Language, question: frozenset[str]) -> Mapping[str, frozenset[str]]:
    meanings: dict[str, frozenset[str]] = {}
    for term in sorted(question):
        for variant in language.variants_of(term) - question:
            meanings[variant] = meanings.get(variant, frozenset()) | {term}
    return MappingProxyType(meanings)


def joined_language(parts: Sequence[Language]) -> Language:
    """Several languages as one."""
    columns: dict[str, Any] = {}
    for column in fields(Language):
        values = [getattr(part, column.name) for part in parts]
        if column.name not in ("synonyms", "asks_of"):
            columns[column.name] = tuple(chain.from_iterable(values))
            continue
        table: dict[str, tuple[str, ...]] = {}
        for slot, words in chain.from_iterable(value.items() for value in values):
            table[slot] = (*table.get(slot, ()), *words)
        columns[column.name] = MappingProxyType(table)
    return Language(**columns)


@lru_cache(maxsize=64)
def _patterns(sources: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, re.IGNORECASE) for source in sources)


def _is_found(sources: tuple[str, ...], text: str) -> bool:
    """Whether the beginning of a text has one of these patterns."""
    return any(pattern.search(text[:_LONGEST]) for pattern in _patterns(sources))


@lru_cache(maxsize=4)
def _groups_of(groups: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """The terms next to a term in any group, itself among them."""
    members: dict[str, frozenset[str]] = {}
    for group in groups:
        group_terms = frozenset(terms(group))
        for term in group_terms:
            members[term] = members.get(term, frozenset()) | group_terms
    return MappingProxyType(members)
