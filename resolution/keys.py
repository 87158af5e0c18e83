"""The mentions of a write, and the keys by which they are looked up: equal keys are an exact match.

The light exact key of a name is NFKC, case folding, trimmed, inner white space as one space,
typographic quotes and dashes plain, `-`, `_` and `.` a space. It never transliterates and never
drops a token: two names with one key have the same words to a reader. Scores use the fuller forms
of `normalize`. An exact look-up by this key comes first: no score and no vector can lose it.

A name of unknown type takes the one type that its slot is about. A draft that addresses a stored
object names its subject by id. Pure.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ..schema.entity import EntityRef
from ..schema.slots import UNKNOWN_TYPE
from ..schema.write import Draft

MentionOrId = EntityRef | str
"""A mention, or an entity id."""

_SPACE: Final = re.compile(r"\s+")
_PLAIN: Final = str.maketrans("\u2018\u2019\u201c\u201d\u2010\u2011\u2013\u2014", "''\"\"----")
_SEPARATORS: Final = str.maketrans("-_.", "   ")
_EXACT_SIGNS: Final = frozenset("@/\\")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

_FORMER: Final = re.compile(
    r"(?P<name>[^()]*[^()\s,]),?\s*(?:"
    r"(?:\s|\()(?P<born>née?|geb\.|geborene[rn]?)\s+(?P<birth_name>[^()]*[^()\s])\)?|"
    r"\((?:formerly|previously|früher|ehemals)\s+(?P<former>[^()]*[^()\s])\))",
    re.IGNORECASE,
)
"""`Anna Schulz, geb. Weber` and `Mill Ltd (formerly Kiln Ltd)`."""
_LEADS: Final = frozenset("a an the my our your his her their this that".split())


def alias_key(surface: str) -> str:
    """The light exact key of a surface.

    A hyphen, an underscore, a full stop and a space are one sign, but in addresses and paths.

    >>> alias_key("  Sam  RIVERA "), alias_key("ledger-gateway"), alias_key("Ledger_Gateway")
    ('sam rivera', 'ledger gateway', 'ledger gateway')
    """
    key = folded(surface)
    if not _EXACT_SIGNS.isdisjoint(key):
        return key
    # A name that is nothing but such signs keeps them.
    return " ".join(key.translate(_SEPARATORS).split()) or key


def folded(surface: str) -> str:
    """A surface without what a reader does not see or hear: case, marks of direction, outer space.

    >>> folded(" Min.  of FINANCE")
    'min. of finance'
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


def as_ref(mention: MentionOrId) -> EntityRef:
    """A mention as a reference, with a former name among its aliases.

    A plain text is a name of unknown type.

    >>> as_ref("Anna Schulz (née Weber)").aliases
    ('Anna Weber',)
    """
    if isinstance(mention, str):
        return _ref_of_name(mention)
    former_name = former_name_of(mention.name, mention.type)
    if former_name is None or former_name in mention.aliases:
        return mention
    return replace(mention, aliases=(*mention.aliases, former_name))


@lru_cache(maxsize=256)
def _ref_of_name(name: str) -> EntityRef:
    # A write asks several times for the reference of its subject, which checks the name each time.
    former_name = former_name_of(name, UNKNOWN_TYPE)
    return EntityRef(name=name, aliases=(former_name,) if former_name else ())


@lru_cache(maxsize=1024)
def former_name_of(name: str, entity_type: str) -> str | None:
    """The name that a person or a house had before, where its name says so.

    A former family name goes behind the given name; nothing else is put together.
    """
    match = _FORMER.fullmatch(name)
    if match is None:
        return None
    is_birth_name = match["born"] is not None
    former = match["birth_name"] or match["former"]
    if " " in former or not (is_birth_name or entity_type == "person"):
        return str(former)
    return f"{match['name'].split()[0]} {former}"


def of_slot_type(mention: MentionOrId, types: Sequence[str]) -> MentionOrId:
    """Let a name of unknown type take the one type its slot is about."""
    if len(types) != 1:
        return mention
    if isinstance(mention, str):
        return mention if is_id(mention) else _typed_reference(mention, types[0])
    return mention if mention.type != UNKNOWN_TYPE else replace(mention, type=types[0])


@lru_cache(maxsize=256)
def _typed_reference(name: str, type_name: str) -> EntityRef:
    # A write asks for its subject's reference at the look-up, at its test and at the binding, and
    # each new one would check every character of the name.
    return EntityRef(name=name, type=type_name)


def subject_mention(draft: Draft) -> MentionOrId | None:
    """Return the mention or the id that a draft is about; None for text about nobody."""
    if draft.subject is not None and draft.slot_key is None:
        return of_slot_type(draft.subject, draft.slot.subject_types if draft.slot else ())
    return draft.details.subject_id


def mentions_of(drafts: Iterable[Draft]) -> list[MentionOrId]:
    """Return every mention of drafts that binding must look up."""
    mentions: list[MentionOrId] = []
    for draft in drafts:
        subject = subject_mention(draft)
        mentions += [mention for mention in (subject, draft.value_mention) if mention is not None]
        mentions += [span.mention for span in draft.mentions]

    return mentions
