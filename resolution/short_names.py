"""Names that say in short what another one says in full: HR Department, Min. of Finance.

A department goes by the initials of its name, with or without the word that says that it is one,
and a word with a dot stands for a longer one. Many names share initials, so this proves nothing:
it brings a candidate, and a person is shown both. Pure; checklist C-048.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .keys import alias_key
from .lexicon import Profile, profile_of
from .normalize import NameForm

SHORT_NAME: Final = "short_name"
"""The line of evidence that says so."""
_UNIT_WORDS: Final = frozenset("department division office team unit".split())
_MIN_LETTERS: Final = 2


def unit_name(core: Sequence[str]) -> tuple[str, ...]:
    """What a department is called beside being one; empty for any other name.

    >>> unit_name(["hr", "department"]), unit_name(["acme"])
    (('hr',), ())
    """
    if _UNIT_WORDS.isdisjoint(core):  # as nearly all names are: every candidate is asked
        return ()
    return tuple([word for word in core if word not in _UNIT_WORDS])


def unit_keys(core: Sequence[str]) -> tuple[str, ...]:
    """What a department may be called for short, by its written name and by its initials.

    >>> unit_keys(["human", "resources", "department"])
    ('humanresources', 'hr')
    """
    words = unit_name(core)
    if len(words) > 1:
        return "".join(words), _initials(words)
    return words


def is_in_short(left: NameForm, right: NameForm) -> bool:
    """Whether one of two names says in short what the other says in full.

    >>> from .normalize import normalize
    >>> names = ("HR Department", "Human Resources", "Human Relations Office", "Hiring")
    >>> short, *others = [normalize(name, "organization") for name in names]
    >>> [is_in_short(short, form) for form in others]
    [True, True, False]
    """
    if profile_of(left.entity_type) is Profile.PERSON:
        return False
    if _is_abbreviated(left, right) or _is_abbreviated(right, left):
        return True
    return _has_initials_of(left, right) or _has_initials_of(right, left)


def _has_initials_of(short: NameForm, long: NameForm) -> bool:
    short_unit, long_unit = unit_name(short.core), unit_name(long.core)
    if not (short_unit or long_unit):
        return False  # a bare acronym is compared, and has its veto

    letters = "".join(short_unit or short.core)
    return len(letters) >= _MIN_LETTERS and letters == _initials(long_unit or long.core)


def _is_abbreviated(short: NameForm, long: NameForm) -> bool:
    """Whether two names are equal word for word, but for words that a dot cuts short."""
    if "." not in short.original:
        return False

    words, full_words = alias_key(short.original).split(), alias_key(long.original).split()
    if len(words) != len(full_words):
        return False

    cut_words = 0
    for word, full_word in zip(words, full_words, strict=True):
        if word == full_word:
            continue
        # One letter and a dot may be any word at all.
        stem = word.removesuffix(".")
        if stem == word or len(stem) < _MIN_LETTERS or not full_word.startswith(stem):
            return False
        cut_words += 1
    return 0 < cut_words < len(words)


def _initials(words: Sequence[str]) -> str:
    return "".join([word[0] for word in words])
