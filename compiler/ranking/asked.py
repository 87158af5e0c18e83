"""What a question asks: which slots, of which entities, and which of its words nothing holds.

A slot is asked when all words of its name or of one synonym are in the question, the names of
entities left aside. Slots and their synonyms are data of the tenant and of the language; no word
of any language is here.

>>> from tenure.schema.slots import Vocabulary
>>> sorted(slots_of("Who is the manager of the owner?", frozenset(), Vocabulary()))
['manager', 'owner']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from typing import Final, NamedTuple

from ...resolution.known import Known
from ...schema.language import NO_LANGUAGE, Language
from ...schema.slots import Slot, Vocabulary
from ...schema.terms import content_terms, terms
from ..ir.context import CompileContext, question
from ..ir.records import PERSON, Bound, Snapshot
from ..text.relevance import FULL, slot_terms, terms_of

_ANSWERING_TASKS: Final = frozenset({"conversation", "assistant", "analytical_reporting"})
"""Task types whose result a person reads as an answer."""
BY_SYNONYM: Final = 900_000
"""How surely a synonym of one word asks for a slot; a name, or two words, wholly."""
_MOST_SEEDS: Final = 4
"""Entities that the question names without a binding."""
_SMALL: Final = "".join(filter(str.islower, map(chr, range(0x530))))
"""The small letters of the Latin, Greek and Cyrillic scripts."""
_NAME: Final = re.compile(rf"(?<=[^\s.?!:\"'(])\s+(\w*[^\W\d_{_SMALL}]\w*)")
"""A word with a capital letter that does not begin a sentence."""
_FORM: Final = re.compile(r"\w+")
_ONE_FORM: Final = "="
"""Before a synonym of which only the written form counts."""
_RUN: Final = rf"(?:[^\W\d_{_SMALL}](?:[\w-]|['\u2019](?!s\b))*(?: (?=[^\W\d_{_SMALL}]))?)+"
"""Words with a capital letter one after the other, up to a possessive."""
_PHRASE: Final = re.compile(rf"(?<=[^\s.?!:\"'(]) {_RUN}")
"""Such words that do not begin a sentence."""
_OPENING: Final = re.compile(rf"(?:^|[.?!:] |\n){_RUN}")


class Trigger(NamedTuple):
    """What in a question asks for a slot."""

    surely: int
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Topic:
    """A question as far as the ranking depends on it."""

    terms: frozenset[str]
    """Its content terms, and the names of what it means."""
    names: Mapping[str, frozenset[str]]
    """Terms of the names of each seed, by its canonical id."""
    slots: Mapping[str, Trigger]
    """The asked slots."""
    slot_words: frozenset[str]
    """Content terms of the asked slots: their names, synonyms and descriptions."""
    people: frozenset[str]
    """Canonical ids of whom the request is for."""
    own: frozenset[str]
    """The caller's own person, where the request names no entity."""
    unknown: frozenset[str]
    """Terms that are written as names and mean no known entity."""
    past: bool
    """Whether it asks what was so."""
    changes: bool
    """Whether it asks for all that was so, of no slot."""
    whole: bool
    """Whether it asks for all that is known of the caller."""
    about_own: bool
    """Whether the caller asks about something of their own."""
    phrases: tuple[str, ...]
    """Runs of words that are written as names."""
    subjects: frozenset[str]
    """Those that it is about by its form, whatever it asks."""
    inverse: frozenset[tuple[str, str]]
    """(canonical id, slot): it asks what has the entity as its value, not what the entity has."""

    def names_of(self, unmatched: AbstractSet[str]) -> tuple[str, ...]:
        """The phrases that name nobody: each has a word that nothing visible holds.

        Where no slot is asked, most words that begin with a capital letter name nobody: there a
        phrase is a name if the question is about it by its form.
        """
        unknown: list[str] = []
        for phrase in self.phrases:
            words = terms_of(phrase) - self.slot_words
            is_asked = self.slots or phrase in self.subjects
            if words & unmatched and words <= self.unknown and is_asked:
                unknown.append(phrase)
        return tuple(dict.fromkeys(unknown))

    @property
    def free_terms(self) -> frozenset[str]:
        """Its content terms without the names of seeds."""
        return self.terms.difference(*self.names.values())

    @property
    def further_terms(self) -> frozenset[str]:
        """What it says beyond names and the words of the asked slots."""
        return self.free_terms - self.slot_words

    def own_terms(self, ends: Iterable[str | None]) -> frozenset[str]:
        """The terms by which a fact with these ends is found: the names of its ends are none."""
        names = [self.names[end] for end in ends if end is not None and end in self.names]
        return self.terms.difference(*names) if names else self.terms


def topic_of(snapshot: Snapshot, context: CompileContext) -> Topic:
    """What the request of a compile asks, over what was read for it."""
    language = context.language
    wording = language.with_small_times(_asking(context))
    spoken = question(context)
    entities = snapshot.known.entities

    names: dict[str, frozenset[str]] = {}
    for bound in (*snapshot.subjects, *snapshot.query_subjects):
        if len(bound.entities) == 1:
            root = bound.entities[0]
            name = entities[root].name if root in entities else ""
            known = names.get(root, frozenset())
            names[root] = known | terms_of(f"{name}\n{bound.mention}")
    phrases = tuple(match[0].strip() for match in _PHRASE.finditer(wording))
    bound_terms = frozenset[str]().union(*names.values())
    parts: list[frozenset[str]] = []
    # A word that begins a sentence may be a name: no other is, where one is bound.
    for phrase in phrases if names else (*phrases, *_OPENING.findall(wording)):
        name_terms = terms_of(phrase) - bound_terms
        if name_terms:
            # A word that asks a slot is no part of a name, as every German noun is a capital.
            triggers = slots_of(phrase, frozenset(), context.vocabulary, language).values()
            parts.append(name_terms.difference(*(trigger.words for trigger in triggers)))

    if parts or not names:
        spoken_names = frozenset[str]() if names else spoken
        for root, name_terms in _unbound_seeds(spoken_names, filter(None, parts), snapshot.known):
            names[root] = names.get(root, frozenset()) | name_terms

    all_names = frozenset[str]().union(*names.values())
    slots = slots_of(wording, all_names, context.vocabulary, language)
    inverse: set[tuple[str, str]] = set()
    related_slots = sorted(language.asks_of.keys() & context.vocabulary.slots.keys())
    for root, name_terms in names.items():
        mentions = [phrase for phrase in phrases if terms_of(phrase) <= name_terms]
        for binding in snapshot.query_subjects:
            if binding.entities == (root,):
                mentions.append(binding.mention)
        if language.asked_of("value", mentions, wording):
            inverse.update(product([root], slots))
        for slot in related_slots:
            if language.asked_of(slot, mentions, wording):
                inverse.add((root, slot))
                slots[slot] = slots.get(slot, Trigger(FULL, slot_terms(slot)))._replace(surely=FULL)

    words: set[str] = set()
    for slot in slots:
        words |= _words_of(context.vocabulary.slots[slot], context.language)

    own = frozenset[str]()
    if not roots_of(snapshot.query_subjects) and not snapshot.subjects:
        kinds = ("user", PERSON)
        own = frozenset(filter(None, map(snapshot.own_subjects.get, kinds)))
    aliases = terms_of("\n".join(snapshot.expansion))
    return Topic(
        terms=spoken | all_names | aliases,
        names=names,
        slots=slots,
        slot_words=frozenset(words),
        people=people_of(snapshot),
        own=own,
        unknown=content_terms(" ".join(_NAME.findall(wording))) - all_names - words,
        past=asks_past(context),
        changes=not slots and language.is_about_changes(wording),
        whole=language.is_about_all(wording),
        about_own=asks_own(context),
        phrases=phrases,
        subjects=language.asked_of("name", phrases, wording),
        inverse=frozenset(inverse),
    )


def _asking(context: CompileContext) -> str:
    """The words of a request that ask: the goal alone where there is no question."""
    request = context.request
    return "\n".join(dict.fromkeys((request.query, request.user_request))).strip() or request.goal


def asks_past(context: CompileContext) -> bool:
    """Whether a request asks what was so."""
    return context.language.is_about_past(_asking(context))


def asks_own(context: CompileContext) -> bool:
    """Whether a request asks about something of the caller's own."""
    return context.language.is_about_own(_asking(context))


def _unbound_seeds(
    spoken: frozenset[str], phrases: Iterable[frozenset[str]], known: Known
) -> Iterator[tuple[str, frozenset[str]]]:
    """Whom the question names without a bound mention, each with the words that name it.

    The entities whose whole name is in the question, and those of whom alone a phrase is a part
    of the name: "Edda" is Edda Lund unless there are two.
    """
    named = {raw: terms_of(known.entities[raw].name) for raw in sorted(known.entities)}
    seeds = {raw: words for raw, words in named.items() if words and words <= spoken}
    for phrase in phrases:
        holders: dict[str, list[str]] = {}
        for raw, words in named.items():
            if phrase <= words:
                holders.setdefault(known.canonical.get(raw, raw), []).append(raw)
        if len(holders) == 1:
            for raw in chain.from_iterable(holders.values()):
                seeds[raw] = seeds.get(raw, phrase) | phrase

    for raw in sorted(seeds)[:_MOST_SEEDS]:
        yield known.canonical.get(raw, raw), seeds[raw]


def slots_of(
    wording: str,
    names: AbstractSet[str],
    vocabulary: Vocabulary,
    language: Language = NO_LANGUAGE,
) -> dict[str, Trigger]:
    """The slots that a text asks, without the words of names."""
    words = frozenset(terms(wording)) - names
    written = frozenset(_FORM.findall(wording.casefold()))
    asked: dict[str, Trigger] = {}
    for name, slot in vocabulary.slots.items():
        own = slot_terms(name)
        if own and own <= words:
            asked[name] = Trigger(FULL, own)
            continue
        synonyms = *slot.synonyms, *language.synonyms.get(name, ())
        found, surely = written & _forms(synonyms), BY_SYNONYM
        for sense in filter(words.issuperset, _senses(synonyms)):
            found |= sense
            surely = FULL if len(sense) > 1 else surely
        if found:
            asked[name] = Trigger(surely, found)
    return asked


def named_slots(context: CompileContext) -> tuple[str, ...]:
    """The slots whose whole name is in the question, in the order of the vocabulary."""
    terms = question(context)
    names: list[str] = []
    for name in context.vocabulary.slots:
        words = slot_terms(name)
        if words and words <= terms:
            names.append(name)
    return tuple(names)


def asked_slots(context: CompileContext) -> dict[str, Trigger]:
    """The slots that a request asks, names of entities not left aside."""
    return slots_of(_asking(context), frozenset(), context.vocabulary, context.language)


@lru_cache(maxsize=1_024)
def _senses(synonyms: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """Synonyms as sets of terms, stop words included: "where work" is no "stops working"."""
    inflected = (synonym for synonym in synonyms if not synonym.startswith(_ONE_FORM))
    return tuple(filter(None, (frozenset(terms(synonym)) for synonym in inflected)))


@lru_cache(maxsize=1_024)
def _forms(synonyms: tuple[str, ...]) -> frozenset[str]:
    """The synonyms that ask in one form alone: "call" does, and "called" does not."""
    return frozenset(s.removeprefix(_ONE_FORM).casefold() for s in synonyms if s[:1] == _ONE_FORM)


def _words_of(slot: Slot, language: Language) -> frozenset[str]:
    synonyms = (*slot.synonyms, *language.synonyms.get(slot.name, ()))
    return slot_terms(slot.name) | terms_of("\n".join((slot.description, *synonyms)))


def roots_of(bindings: Sequence[Bound]) -> tuple[str, ...]:
    """Return the entities that mentions mean without doubt, sorted."""
    roots: set[str] = set()
    for bound in bindings:
        if len(bound.entities) == 1:
            roots.add(bound.entities[0])
    return tuple(sorted(roots))


def people_of(snapshot: Snapshot) -> frozenset[str]:
    """Whom the request is for: the entities it names, the caller's own user, or who is meant."""
    named_ids = set(roots_of(snapshot.subjects))
    # Who is only meant is no binding: a name among the query's terms would lift all their facts.
    for kind in ("user", PERSON):
        if kind in snapshot.own_subjects:
            named_ids.add(snapshot.own_subjects[kind])
    return frozenset(named_ids)


def speakers_of(snapshot: Snapshot, task_types: AbstractSet[str]) -> frozenset[str]:
    """Whose words may answer, whatever they are: whom a request is for, and whom it names.

    Nobody's where code is written or data extracted: there talk has to bear on the request.
    """
    if _ANSWERING_TASKS.isdisjoint(task_types):
        return frozenset()

    return people_of(snapshot).union(roots_of(snapshot.query_subjects))
