"""Which slots an unknown name may mean: those spelt alike, else those of a near meaning.

A person who writes `works_for` has not misspelt `employer`. So beside the spelling, the words of
the name are compared with each slot's name and description, and with the other words that people
have for it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final, Protocol

from .errors import InvalidInput
from .terms import STOP_WORDS, stem

_SPELT_ALIKE: Final = 0.75
"""Below this similarity of spelling a guess misleads: `salary` is not `allergy`."""

_MOST_NAMES: Final = 3

OTHER_WORDS: Final[Mapping[str, str]] = {
    "allergy": "allergen intolerance intolerant",
    "birthday": "born birth dob age",
    "budget": "money cost spend funds",
    "child": "son daughter kid children",
    "deadline": "due end finish",
    "depends_on": "needs requires dependency",
    "diet": "food eats eating vegetarian vegan",
    "email": "mail address contact",
    "employer": "company works job workplace firm business",
    "experience_level": "seniority senior junior",
    "full_name": "name surname firstname lastname",
    "goal": "aim objective target",
    "health_condition": "illness disease diagnosis diagnosed sick medical",
    "home": "address lives living city hometown residence town",
    "language": "speaks spoken",
    "likes": "loves enjoys favourite favorite",
    "dislikes": "hates",
    "manager": "boss supervisor lead reports superior",
    "medication": "medicine drug pill tablet meds prescription",
    "office": "site workplace building desk location",
    "owner": "responsible belongs owned",
    "parent": "mother father mum mom dad",
    "part_of": "belongs member group parent",
    "partner": "wife husband spouse married",
    "phone": "telephone mobile cell number contact",
    "pricing_tier": "plan subscription price tariff",
    "response_length": "brief short long concise verbosity",
    "response_style": "tone voice style",
    "sibling": "brother sister",
    "skill": "ability knows expertise",
    "status": "state stage phase progress",
    "team": "department group squad unit",
    "timezone": "tz zone",
    "title": "role job position occupation profession",
    "todo": "task reminder",
    "uses": "tool stack technology",
    "vehicle": "car auto van truck motorbike drives",
    "version": "release",
}
"""Other words that people have for a built-in slot."""


class DescribedSlot(Protocol):
    """What has a description."""

    @property
    def description(self) -> str:
        """What it says, in words."""
        ...


def near_slots(name: str, slots: Mapping[str, DescribedSlot]) -> tuple[str, ...]:
    """The slots that an unknown name may mean, nearest first, at most three.

    >>> from tenure.schema.slots import BUILT_IN_SLOTS
    >>> near_slots("works_for", BUILT_IN_SLOTS)[0], near_slots("salary", BUILT_IN_SLOTS)
    ('employer', ())
    """
    stems = _stems(name)
    scores: dict[str, int] = {}
    weak_scores: dict[str, int] = {}

    for slot_name, slot in slots.items():
        by_name = len(stems & _stems(f"{slot_name} {OTHER_WORDS.get(slot_name, '')}"))
        by_description = len(stems & _stems(slot.description))
        if by_name:
            # A word of the name says more than any number of words of the description.
            scores[slot_name] = 100 * by_name + by_description
        elif by_description:
            weak_scores[slot_name] = by_description

    by_meaning = _best_first(scores or weak_scores)
    return tuple(dict.fromkeys([*spelt_alike(name, slots), *by_meaning]))[:_MOST_NAMES]


def _best_first(scores: Mapping[str, int]) -> list[str]:
    return sorted(scores, key=lambda slot_name: (-scores[slot_name], slot_name))


def spelt_alike(name: str, slots: Mapping[str, DescribedSlot]) -> list[str]:
    """The slots whose names are spelt nearly so, nearest first."""
    return difflib.get_close_matches(name, slots, n=_MOST_NAMES, cutoff=_SPELT_ALIKE)


def unknown_slot(name: str, slots: Mapping[str, DescribedSlot]) -> InvalidInput:
    """The `unknown_vocabulary` error of a slot: near ones, and how to list or define them."""
    neighbours = " or ".join(map(repr, near_slots(name, slots)))
    parts: list[str] = []
    if neighbours:
        parts.append(f"did you mean {neighbours}?")
    if not spelt_alike(name, slots):
        parts.append(
            "`tenure slots` (vocabulary.slots()) lists all; `tenure define slot NAME "
            "description=…` (vocabulary.define_slot()) makes a new one"
        )
    return InvalidInput(
        f"unknown slot {name!r}: {' '.join(parts)}",
        code="unknown_vocabulary",
        what="slot",
        word=name,
    )


def _stems(text: str) -> frozenset[str]:
    words = text.casefold().replace("_", " ").split()
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)
