"""Areas: the everyday fields that questions and slots speak of in different words.

"Can you suggest a movie?" shares no word with a slot `liked_actors`, yet both are about film. A
text belongs to the areas whose words it holds; an encoder finds what no list foresees.

>>> sorted(areas_of("Can you suggest a movie?"))
['film']
>>> sorted(areas_of("climates that the user likes"))
['travel']

"Does it suit me?" names no field at all, and is about every limit that somebody has: what they are
allergic to, do not eat, cannot stand. Tables hold how one asks so in English and in German; a day
or an hour suits whoever is free, and a suit is worn.

>>> asks_whether_it_suits("Does it suit me?"), asks_whether_it_suits("Is my suit ready?")
(True, False)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .area_words import FOODS, WORDS
from .relevance import terms_of
from .sentences import subunits


@lru_cache(maxsize=1)
def _area_of_term() -> dict[str, frozenset[str]]:
    areas: dict[str, set[str]] = {}
    for area, words in WORDS.items():
        for term in terms_of(words):
            areas.setdefault(term, set()).add(area)
    return {term: frozenset(members) for term, members in areas.items()}


@lru_cache(maxsize=4096)
def areas_of(text: str) -> frozenset[str]:
    """The areas that the words of a text belong to."""
    known = _area_of_term()
    areas: set[str] = set()
    for term in terms_of(text):
        areas |= known.get(term, frozenset())
    return frozenset(areas)


@lru_cache(maxsize=1)
def _food_terms() -> frozenset[str]:
    return terms_of(FOODS)


@lru_cache(maxsize=4096)
def areas_of_taste(value: str) -> frozenset[str]:
    """The areas of what somebody likes or dislikes: foods are told by their names.

    >>> sorted(areas_of_taste("brussels sprouts")), sorted(areas_of_taste("horror films"))
    (['food'], ['film'])
    """
    areas = areas_of(value)
    return areas if _food_terms().isdisjoint(terms_of(value)) else areas | {"food"}


_LIMITS: Final = (
    "allergy allergic allergen intolerance intolerant diet dietary avoid avoids dislike dislikes "
    "restriction restrictions phobia aversion taboo illness medication "
    "Allergie Unverträglichkeit Ernährung meidet Abneigung"
)
"""Words of the slots that hold what does not suit somebody."""

_GAP: Final = r"[^.!?]{0,80}"
_WHOM: Final = r"(?:me|us|him|them|(?:my|our) \w+|her\b(?! \w+ \w)|(?-i:[A-Z])\w+)\b"
_THING: Final = r"(?:it|this|that|these|those|one|any of (?:it|this|that|these|those|them))\b"
_FIT: Final = (
    r"(?:suitable|right|okay|ok|safe|fine|good|bad|appropriate|healthy|unsuitable|harmful|edible|"
    r"(?:a )?(?:good|bad|right|wrong|safe) (?:choice|fit|idea|option|match|pick)|"
    r"the right (?:one|thing|choice))"
)
_GARMENT: Final = (
    r"\b(?:an?|the|my|his|our|your|their|new|old|black|blue|gr[ae]y|dark|business|law) suits?\b"
)
_ENGLISH: Final = (
    r"\bsuits? (?:me|us|him|them|her)\b(?! \w+ \w)",
    rf"\b(?:does|do|did|would|will|could|might|may|can|which|what)\b(?!{_GAP}{_GARMENT})"
    rf"{_GAP}\bsuits? {_WHOM}",
    rf"\b(?:is|are|be|was|were|isn't|aren't)\b{_GAP}\b{_FIT} for {_WHOM}",
    rf"\b(?:is|are) {_THING}(?: \w+)? (?:(?:some|any)thing |one )?for (?:me|us|him|her|them)\b",
    r"\b(?:can|could|may|should) (?:I|we) (?:safely |even )?"
    rf"(?:eat|drink|have|order|try|take|wear|use) {_THING}(?! (?:in|as|by|to|for|on|back)\b)",
    r"\b(?:will|would|might|could) (?:I|we|he|she|they|(?-i:[A-Z])\w+) (?:really |even )?"
    r"(?:like|love|enjoy|hate|dislike|tolerate)\b(?! to\b)",
    r"\b(?:should|must|need) (?:I|we) (?:to )?(?:avoid|watch out|be careful)",
    r"\b(?:fits?|match(?:es)?|meets?|suits?|respects?) (?:my|our|his|her|their) "
    r"(?:needs?|tastes?|diet|lifestyle|preferences|requirements|restrictions|allergies)\b",
    rf"\b(?:does|do|would|will|could|might) {_GAP}\b(?:agree with|fit|work for) "
    r"(?:me|us|him|them)\b",
    r"\bmy (?:kind of thing|cup of tea|thing|taste)\b",
)

_GERMAN_THING: Final = r"(?:das|es|dies(?:e[nrs]?)?|die|den|so ?(?:et)?was|davon)\b"
_GERMAN_WHOM: Final = (
    r"(?:mich|mir|uns|ihn|ihm|ihr|ihnen|sie|mein\w* \w+|unser\w* \w+|(?-i:[A-ZÄÖÜ])\w+)\b"
)
_GERMAN_FIT: Final = (
    r"(?:gut|schlecht|geeignet|ungeeignet|okay|ok|in Ordnung|verträglich|unbedenklich|sicher|"
    r"gesund|das Richtige|(?:die|eine) (?:richtige|gute) Wahl|(?:et)?was)"
)
_GERMAN: Final = (
    rf"\b(?:passt|passen|passte|passten|eignet|eignen|taugt)\b{_GAP}\b(?:zu|für) {_GERMAN_WHOM}",
    rf"\b(?:passt|passen) (?:{_GERMAN_THING} (?:mir|uns)|(?:mir|uns) {_GERMAN_THING})",
    rf"\b(?:zu|für) {_GERMAN_WHOM}{_GAP} (?:passt|passen|eignen|eignet|geeignet)\b",
    rf"\b(?:ist|sind|wäre|wären)\b{_GAP}\b{_GERMAN_FIT} für {_GERMAN_WHOM}",
    rf"\b(?:ist|sind|wäre|wären)\b{_GAP}\bfür {_GERMAN_WHOM} {_GERMAN_FIT}",
    rf"\b(?:vertrage|vertragen) (?:ich|wir) {_GERMAN_THING}|\bbekommt (?:mir|uns) {_GERMAN_THING}",
    rf"\b(?:darf|kann|soll|sollte|könnte) ich {_GERMAN_THING}{_GAP}"
    r"\b(?:essen|trinken|nehmen|probieren|bestellen|anziehen|tragen|haben)\b",
    rf"\b(?:gefällt|schmeckt|gefallen|schmecken) (?:mir|uns) {_GERMAN_THING}",
    rf"\b(?:würden?|wird|werden|könnten?) {_GAP}\b(?:mir|uns|ihm|ihr|ihnen)\b{_GAP}"
    r" (?:gefallen|schmecken|zusagen|passen|bekommen)\b",
    r"\b(?:mein Geschmack|meinem Geschmack|mein Fall|mein Ding)\b",
    rf"\b(?:soll|sollte|muss) ich {_GAP}\b(?:meiden|vermeiden|aufpassen)\b",
)

_TIMES: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|today|tonight|next week|"
    r"\d+ ?[ap]m|o'clock|at noon|\d{1,2}:\d\d|(?:date|time|slot|schedule)s?|"
    r"(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|morgen|heute|uhr|termin\w*|uhrzeit)\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"(?:does|do|is|are|would|will|can|could|may|should|what|which|tell me|passt|passen|ist|sind|"
    r"wäre|würde|darf|kann|was|welche\w*)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 300
"""Characters of a question: what is longer tells of something else too."""


@lru_cache(maxsize=1)
def _patterns() -> re.Pattern[str]:
    return re.compile("|".join((*_ENGLISH, *_GERMAN)), re.IGNORECASE)


def asks_whether_it_suits(text: str) -> bool:
    """Whether a text asks if something suits somebody."""
    for sentence in subunits(text):
        is_question = sentence.endswith("?") or _ASKING.match(sentence)
        if not is_question or len(sentence) > _LONGEST or _TIMES.search(sentence):
            continue
        if _patterns().search(sentence):
            return True
    return False


@lru_cache(maxsize=4096)
def is_limit(topic: str) -> bool:
    """Whether a slot of this topic holds what does not suit somebody."""
    return not terms_of(topic).isdisjoint(terms_of(_LIMITS))
