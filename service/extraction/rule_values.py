"""The values of a match: an enumeration in its parts, and each only if it says the same alone."""

from __future__ import annotations

import re
from typing import Final

from .first_names import FIRST_NAMES
from .phrases import TITLE
from .rule import Rule
from .taste_rules import OPPOSITES, taste_of

_PARTS: Final = re.compile(r",? (?:and|or|und|oder) |, ")


_NAME_SLOTS: Final = frozenset({"kin", "health_condition", "medication"})
"""Slots whose values are known by name, so that "and" stands between two of them."""


def values_of(rule: Rule, match: re.Match[str], sentence: str) -> list[str]:
    """The values that a match of a rule names."""
    words = match["value"]
    # Titles in quotation marks were blanked out before, so that no rule reads inside them.
    if TITLE in words:
        start = match.start("value")
        titles = re.finditer(f"{TITLE}+", words)
        title_texts = [sentence[start + title.start() : start + title.end()] for title in titles]
        return [
            title.strip("\"*'\u2018\u2019\u201e\u201c\u201d\u00ab\u00bb .,")
            for title in title_texts
        ]

    values = _parts(rule, words)
    return [taste_of(value) for value in values] if rule.slot in OPPOSITES else values


def _parts(rule: Rule, words: str) -> list[str]:
    parts = [part.strip(" .,") for part in _PARTS.split(words) if part.strip(" .,")]
    # "war and conflict" after "reading about" is one thing; "jazz and hiking" are two.
    is_one = "," not in words and any(" " in part for part in parts)
    if not rule.is_list or (is_one and rule.slot not in _NAME_SLOTS):
        return [words.strip(" .,")]
    return parts


_DANGLING: Final = re.compile(r" (?:for|with|to|of|about|from|by)$")
_RESTRICTION: Final = re.compile(r"\s*(?:that|which|who|whom|whose|where|to)\b")
_UNFIT: Final = re.compile(
    r"^(?:of|its|his|their|our|these|those|how|any|some|mr|mrs|ms|dr|seeing|each other|one another|"
    r"yours|mine|hers|theirs|ours)\b|\b(?:uh|um|idea|way|"
    r"variety|kind|kinds)\b|\bones?$",
    re.IGNORECASE,
)


_THE_NAMED: Final = re.compile(
    r"the (?:[A-Z\d]|(?:music|movies|films|books|songs) (?:of|from|by) )"
)


def is_whole(rule: Rule, value: str, tail: str) -> bool:
    """Whether a value says the same without the words around it.

    "books that win prizes" are not all books, and "the energy" is that of something.
    """
    if _DANGLING.search(value):
        return False
    if rule.is_first_name and value.partition(" ")[0].casefold() not in FIRST_NAMES:
        return False
    if not rule.is_list:
        return True
    if _UNFIT.search(value) or _RESTRICTION.match(tail):
        return False
    # An odd apostrophe is half a quotation, unless it stands inside a word.
    if value.count("'") % 2 and not re.search(r"\w'\w", value):
        return False
    return not value.startswith("the ") or _THE_NAMED.match(value) is not None
