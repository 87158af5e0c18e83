"""Names that are drawn alike: with Cyrillic letters, with 1 for l, with rn for m.

To a reader `Paypal` with a Cyrillic a is `Paypal`, and to every comparison of letters they may be
two. A name that is drawn like a known one binds nothing; a person is shown both. The look-alikes
are the confusables of Unicode (UTS 39), of `schema.look_alikes`, and those of plain letters.
Pure; checklist C-048.
"""

from __future__ import annotations

import re

from ..schema.look_alikes import STROKE, skeleton
from .lexicon import lexicon, profile_of
from .name_cache import name_cache
from .normalize import NameForm, normalize

LOOK_ALIKE = "look_alike"
"""The line of evidence that says so."""
_STROKES = str.maketrans({"I": "l", "1": "l", "|": "l", STROKE: "l", "0": "o"})
_WORD = re.compile(r"\S+")


def is_ambiguous(surface: str) -> bool:
    """Whether a name may be drawn like another one: by a sign, a digit, or letters that meet."""
    # Asked of every candidate of a look-up: searches in a row take a third of a pattern's time.
    if not surface.isascii() or "1" in surface or "0" in surface or "|" in surface:
        return True
    return "I" in surface or "rn" in surface


def shape_of(form: NameForm) -> str:
    """The core of a name as it is drawn, without spaces: equal for names that look alike.

    >>> shape_of(normalize("Paypa1 Inc", "organization"))
    'paypal'
    """
    if not is_ambiguous(form.original):
        return form.compact
    return _shape(form.original, form.entity_type)


@name_cache(300)
def _shape(surface: str, entity_type: str) -> str:
    marked_words = lexicon().marked_words[profile_of(entity_type)]

    def plain_letters(match: re.Match[str]) -> str:
        # "Inc" stays a legal form, which the core leaves out.
        word = match[0]
        is_marked = word.casefold().strip(".,") in marked_words
        return word if is_marked else word.translate(_STROKES).replace("rn", "m")

    text, _ = skeleton(surface)
    return normalize(_WORD.sub(plain_letters, text), entity_type).compact


def look_alike(left: NameForm, right: NameForm) -> bool:
    """Whether two names that are written with other characters are drawn alike.

    >>> names = [normalize(name, "system") for name in ("modern", "rnodern", "Modern")]
    >>> look_alike(names[0], names[1]), look_alike(names[0], names[2])
    (True, False)
    """
    has_letters = any(map(str.isalpha, left.original)) and any(map(str.isalpha, right.original))
    if not has_letters or left.compact == right.compact:
        return False
    return shape_of(left) == shape_of(right)
