"""The light exact key of a name: equal keys are an exact alias match.

NFKC, case folding, trimmed, inner white space as one space, typographic quotes and dashes
plain. It never transliterates and never drops a token: two names with one key are the same
characters to a reader. Scores use the fuller forms of `normalize`.
An exact look-up by this key comes first, always: no score and no vector can lose it.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Iterable
from typing import Final

_SPACE: Final = re.compile(r"\s+")
_PLAIN: Final = str.maketrans("\u2018\u2019\u201c\u201d\u2010\u2011\u2013\u2014", "''\"\"----")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

_LEADS: Final = frozenset("a an the my our your his her their this that".split())


def alias_key(surface: str) -> str:
    """The light exact key of a surface.

    >>> alias_key("  Sam  RIVERA ")
    'sam rivera'
    """
    if surface.isascii():  # nothing to compose, to fold or to hide: the same, many times faster
        return " ".join(surface.lower().split())
    characters = unicodedata.normalize("NFKC", surface).translate(_PLAIN).casefold()
    # Marks that only direct the reading (zero-width, right-to-left) make no other name. Composed
    # again afterwards, because taking one out may bring two characters together.
    visible = "".join(c for c in characters if unicodedata.category(c) != "Cf")
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", visible)).strip()


def is_id(text: str) -> bool:
    """Whether a text has the form of an entity or object id."""
    return _UUID.fullmatch(text) is not None


_PRONOUNS: Final = frozenset(
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself"
    " we our ours ourselves they them their theirs themselves".split()
)


def is_pronoun(text: str) -> bool:
    """Whether a text is a word for whoever speaks, listens or was named before.

    >>> is_pronoun("You"), is_pronoun("your"), is_pronoun("Yousef"), is_pronoun("US")
    (True, True, False, False)
    """
    return alias_key(text) in _PRONOUNS


def is_description(text: str) -> bool:
    """Whether a text describes somebody instead of naming them: it may mean anyone.

    >>> is_description("the boss"), is_description("The Hague Institute"), is_description("Theo")
    (True, False, False)
    """
    words = text.split()
    lead = words[0].casefold() if words else ""
    return len(words) > 1 and lead in _LEADS and not any(w[0].isupper() for w in words[1:])


def entity_id(object_id: str, role: str, name: str) -> str:
    """The id of an entity that a write creates."""
    return str(uuid.uuid5(uuid.UUID(object_id), f"{role}\n{alias_key(name)}"))


def free_ordinal(ordinals: Iterable[int]) -> int:
    """The smallest number that no live alias of one key has.

    >>> free_ordinal([0, 2]), free_ordinal([])
    (1, 0)
    """
    known = set(ordinals)
    return next(number for number in range(len(known) + 1) if number not in known)
