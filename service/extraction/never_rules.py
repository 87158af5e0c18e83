"""Rules of what never was: "I never lived in Ulm" takes back that somebody did.

Such a sentence counts only where what it denies is known, as people tell of what they never did
without having said that they did. What is denied "after all" never was, either; what is so "no
longer" ends, by the rules of its slot.
"""

from __future__ import annotations

import re
from typing import Final

from .german_phrases import ADVERBS, EMPLOYER, IN_LAND, THINGS
from .german_phrases import PLACE as GERMAN_PLACE
from .phrases import I_AM, ITEMS, KINS, NAME, PLACE, PROPER, ROLE
from .rule import row

AFTER_ALL: Final = re.compile(
    r",? (?:after all|and (?:I )?never (?:was|have been|did|have)|at all, actually|doch)\b"
)
"""Behind a denial: it never was so."""

_DENIAL: Final = r"\b(?:I|[Ww]e)(?: have|['\u2019]ve)? never (?:actually |really |ever )*"
_WAS_NEVER: Final = (
    r"\bI(?:(?: have|['\u2019]ve)? never (?:actually |really )?(?:been|was)|"
    r" was (?:actually |really )?never(?: actually| really)?)"
)
_DIET: Final = "vegetarian|vegan|pescatarian"

ENGLISH_NEVER: Final = (
    row("home", rf"{_DENIAL}(?:lived|been living) in (?P<value>{PLACE})", "retract"),
    row("home", rf"{_DENIAL}moved (?:back )?to (?P<value>{PLACE})(?! (?:office|team)\b)",
        "retract"),
    row("employer", rf"{_DENIAL}(?:worked|been employed) (?:at|for|by|with) "
        rf"{PROPER}(?P<value>{NAME})", "retract"),
    row("employer", rf"{_DENIAL}(?:joined|left school for) {PROPER}(?P<value>{NAME})", "retract"),
    row("title", rf"(?:{_WAS_NEVER}|{_DENIAL}worked as) an? (?P<value>{ROLE})", "retract"),
    row("allergy", rf"{_WAS_NEVER} allergic to (?P<value>{ITEMS})", "retract", is_list=True),
    row("diet", rf"{_WAS_NEVER} (?:an? )?(?P<value>{_DIET})\b", "retract"),
    row("diet", rf"{I_AM} not (?:actually |really )?(?:an? )?(?P<value>{_DIET}) after all\b",
        "retract"),
    row("diet", rf"{I_AM} not (?:an? )?(?P<value>{_DIET})(?=[.,!;]|$)", "deny", if_known=True),
    row("language", rf"{_DENIAL}(?:spoke|spoken|learned|learnt) (?P<value>{NAME})", "retract"),
    row("kin", rf"{_DENIAL}had an? (?:\w+ )?(?P<kin>{KINS}),? (?:called|named) (?P<value>{NAME})",
        "retract"),
    row("partner", rf"(?:{_WAS_NEVER}|{_DENIAL}(?:been|got|gotten)) (?:married|engaged) to "
        rf"(?P<value>{NAME})", "retract"),
    row("likes", rf"{_DENIAL}(?:liked|loved|enjoyed) (?P<value>{ITEMS})", "retract", is_list=True),
    row("dislikes", rf"{_DENIAL}(?:hated|disliked) (?P<value>{ITEMS})", "retract", is_list=True),
)  # fmt: skip

_NIE: Final = r"(?:(?:eigentlich|doch|noch|wirklich|in Wahrheit) )*(?:nie|niemals) "
_NOT_SO: Final = r"(?:(?:doch|gar|eigentlich|überhaupt) )+"

GERMAN_NEVER: Final = (
    row("home", rf"\b(?:[Ii]ch habe|[Ww]ir haben) {_NIE}{IN_LAND}(?P<value>{GERMAN_PLACE}) "
        r"(?:gewohnt|gelebt)\b", "retract"),
    row("home", rf"\b[Ii]ch wohne {_NOT_SO}nicht {IN_LAND}(?P<value>{GERMAN_PLACE})(?=[.,;!]|$)",
        "retract"),
    row("home", rf"\b[Ii]n (?P<value>{GERMAN_PLACE}) habe ich {_NIE}(?:gewohnt|gelebt)\b",
        "retract"),
    row("employer", rf"\b[Ii]ch habe {_NIE}bei {EMPLOYER} gearbeitet\b", "retract"),
    row("employer", rf"\b[Ii]ch war {_NIE}bei {EMPLOYER}(?: angestellt| beschäftigt)?(?=[.,;!]|$)",
        "retract"),
    row("employer", rf"\b[Ii]ch arbeite {_NOT_SO}nicht bei {EMPLOYER}(?=[.,;!]|$)", "retract"),
    row("allergy", rf"\b[Ii]ch (?:war|bin) (?:{_NIE}|{_NOT_SO}nicht )gegen (?P<value>{THINGS}) "
        r"allergisch\b", "retract", is_list=True),
    row("allergy", rf"\b[Ii]ch (?:war|bin) (?:{_NIE}|{_NOT_SO}nicht )allergisch gegen "
        rf"(?P<value>{THINGS})(?=[.,;!]|$)", "retract", is_list=True),
    row("allergy", rf"\b[Ii]ch bin (?:{ADVERBS})nicht (?:mehr )?gegen (?P<value>{THINGS}) "
        r"allergisch\b", "deny", is_list=True),
    row("diet", rf"\b[Ii]ch war {_NIE}(?P<value>Vegetarier(?:in)?|Veganer(?:in)?|vegan)"
        r"(?=[.,;!]|$)", "retract"),
    row("diet", rf"\b[Ii]ch bin (?:{_NOT_SO})?keine? (?P<value>Vegetarier(?:in)?|Veganer(?:in)?)"
        r"(?=[.,;!]|$)", "deny", if_known=True),
    row("likes", rf"\b[Ii]ch mag (?:doch|eigentlich) keine?n? (?P<value>{THINGS})(?=[.,;!]|$)",
        "retract", is_list=True),
    row("likes", rf"\b[Ii]ch (?:mochte|habe) {_NIE}(?P<value>{THINGS})(?: gemocht)?(?=[.,;!]|$)",
        "retract", is_list=True),
)  # fmt: skip
