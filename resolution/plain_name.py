"""Names of plain words, which most names of organisations are: read word for word, and quickly.

`plain_name` answers for names whose words no list reads in a way of its own, but for abbreviations
and the legal form at the end; `normalize` takes all others apart with care, and both give the same
form. What both need of words stands here as well. Pure; checklist C-046.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .lexicon import Lexicon, Profile, lexicon, profile_of

_STEM_LETTERS = 7
"""A shorter word is a name of many: `Delta Systems` need not be `Delta`."""


class PlainName(NamedTuple):
    """A name that is read word for word."""

    words: list[str]
    """All words in order; never empty."""
    core: list[str]
    """Those that carry the identity, in full."""
    legal: str
    """The class of the legal form that it ends in; empty for none."""


class _Lists(NamedTuple):
    """What plain names of a type are read by."""

    is_organization: bool
    irregular: frozenset[str]
    abbreviations: dict[str, str]
    last_forms: dict[str, str]


@lru_cache(maxsize=256)
def _lists_of(entity_type: str) -> _Lists:
    # Kept by the text of the type: the hash of an enum's member alone costs a tenth of a reading.
    profile, lists = profile_of(entity_type), lexicon()
    return _Lists(
        profile is Profile.ORGANIZATION,
        lists.irregular[profile],
        lists.abbreviations.get(profile, {}),
        lists.last_forms,
    )


def plain_name(surface: str, entity_type: str) -> PlainName | None:
    """The parts of a name of plain words; None where it must be taken apart with care.

    >>> plain_name("Acme  Labs Inc", "organization").core, plain_name("Acme 2", "organization")
    (['acme', 'laboratory'], None)
    """
    words = surface.lower().split()
    letters = "".join(words)
    # One letter is a code, and anything but letters is taken apart with care.
    if not (letters.isascii() and letters.isalpha()) or 1 in map(len, words):
        return None

    lists = _lists_of(entity_type)
    body, legal = words, ""
    if lists.is_organization and len(words) > 1 and words[-1] in lists.last_forms:
        body, legal = words[:-1], lists.last_forms[words[-1]]
    if not lists.irregular.isdisjoint(body):
        return None

    core = body
    if lists.is_organization and not lists.abbreviations.keys().isdisjoint(body):
        abbreviations = lists.abbreviations
        core = [opening_word(body, lexicon()), *[abbreviations.get(w, w) for w in body[1:]]]
    return PlainName(words, core, legal)


def opening_word(words: list[str], lists: Lexicon) -> str:
    """The first word of an organisation's name, in full where more follows: `Dept. of Energy`.

    Other abbreviations stay there: Tech and Systems are names, too.
    """
    return lists.leading_abbreviations.get(words[0], words[0]) if len(words) > 1 else words[0]


def stem_of(core: list[str], entity_type: str) -> str:
    """The core without spaces and without what an organisation trades in.

    >>> stem_of(["juniper", "network"], "organization")
    'juniper'
    """
    # Hardly any name ends in a word of trade: these need no look at the rest.
    if entity_type != "organization" or lexicon().trade_words.isdisjoint(core[-1:]):
        return "".join(core)
    return _stem(core, lexicon())


def _stem(core: list[str], words: Lexicon) -> str:
    """The core without last words of trade, where enough is left to know an organisation by."""
    size = len(core)
    while size > 1 and core[size - 1] in words.trade_words:
        size -= 1

    stem = "".join(core[:size])
    tells = len(stem) >= _STEM_LETTERS and not words.common_names.issuperset(core[:size])
    return stem if tells else "".join(core)


def acronyms_of(core: list[str], tokens: list[str]) -> tuple[str, ...]:
    """What a name may be called for short: the first letters, without and with small words."""
    if len(core) < 2:
        return ()
    short = _initials(core)
    full = short if core is tokens else _initials(tokens)
    return (short,) if short == full else (short, full)


def _initials(words: list[str]) -> str:
    return "".join([word[0] for word in words])
