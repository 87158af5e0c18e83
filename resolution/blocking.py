"""Which stored aliases are worth scoring: weighted keys, the same in every store.

A name gives about 30 short keys; names of one entity share some. A store keeps one row per key
and alias, and a counter per key (`df`). A query sums the weight of the keys it shares with each
alias and takes the heaviest 50, ties by alias key:

    WITH q(k, w) AS (VALUES (?, ?), …)                     -- from `weigh`, capped keys left out
    SELECT b.alias_key, SUM(q.w) AS weight
    FROM q JOIN block_key b ON b.k = q.k
    GROUP BY b.alias_key ORDER BY weight DESC, b.alias_key LIMIT 50

Most of what is proposed shares but a common word with the mention, so `near_names` looks at all of
it together before anything is scored: what it leaves out could not have reached a suggestion.

Only visible aliases count, filtered before the cut. Weights are integers in thousandths, so no
order of addition changes a sum and all stores return one order. Pure; keys depend on the form
alone. A key names its kind in its first letter, so kinds never collide. Checklist C-047.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from rapidfuzz import process
from rapidfuzz.fuzz import token_set_ratio

from .look_alike import is_ambiguous, shape_of
from .name_cache import name_cache
from .normalize import NameForm, form_of
from .paths import are_two_paths
from .plain_name import acronyms_of, plain_name, stem_of
from .postings import hit_weight
from .renderings import sounds_of, sounds_of_words
from .short_names import unit_keys

CANDIDATE_LIMIT = 50
"""Aliases that a blocking query hands to scoring."""
_FIRST = 6
_EDGE = 4
_ACRONYM_MAX = 8
_DELETION_MIN = 5
_DELETION_MAX = 24
_TOKENS_MAX = 16
_WHOLE_MAX = 64
_SHARED_WORDS_MIN: Final = 70.0
"""Share of words in common, in per cent, below which no pair reaches a suggestion."""


class KeyKind(StrEnum):
    """What a block key is made of; the value is the first letter of the key."""

    WHOLE = "w"
    """The form without spaces, also with its signs in words and as it is drawn, and sorted."""
    ACRONYM = "a"
    TOKEN = "t"
    DELETION = "d"
    """The form without spaces with one letter left out: one edit apart shares a key."""
    FIRST = "f"
    """The first six letters."""
    PREFIX = "p"
    """The first four letters of a word."""
    SUFFIX = "s"
    """The last four letters of a word."""
    SOUND = "o"
    """What a person's name shares with its renderings in other languages and scripts."""

    @property
    def label(self) -> str:
        """The kind as stores keep it and `postings` reads it, like `prefix`."""
        return self.name.lower()


KIND_WEIGHT: Mapping[KeyKind, int] = {
    KeyKind.WHOLE: 12_000,
    KeyKind.ACRONYM: 5_000,
    KeyKind.TOKEN: 4_000,
    KeyKind.DELETION: 3_000,
    KeyKind.FIRST: 3_000,
    KeyKind.PREFIX: 1_500,
    KeyKind.SUFFIX: 1_000,
    KeyKind.SOUND: 4_000,
}
"""What a shared key of a kind counts, in thousandths, before its rarity."""

BlockKey = tuple[str, KeyKind]


def block_keys(form: NameForm) -> tuple[BlockKey, ...]:
    """The distinct keys of a name, sorted; at most about a hundred for any name.

    The qualifier is left out: a name in brackets must find its bare form, and the veto decides.
    """
    keys = {
        _key(KeyKind.WHOLE, form.compact[:_WHOLE_MAX]),
        _key(KeyKind.WHOLE, form.reading[:_WHOLE_MAX]),
        _key(KeyKind.WHOLE, shape_of(form)[:_WHOLE_MAX]),
        _key(KeyKind.WHOLE, form.ordered.replace(" ", "")[:_WHOLE_MAX]),
        _key(KeyKind.FIRST, form.compact[:_FIRST]),
        *(_key(KeyKind.ACRONYM, short) for short in _acronyms(form)),
        *(_key(KeyKind.ACRONYM, short) for short in _unit_acronyms(form)),
        *(_key(KeyKind.DELETION, shorter) for shorter in _deletions(form.compact)),
        *(_key(KeyKind.SOUND, sound[:_WHOLE_MAX]) for sound in sounds_of(form)),
    }

    for word in form.core[:_TOKENS_MAX]:
        keys.add(_key(KeyKind.TOKEN, word[:_WHOLE_MAX]))
        if len(word) >= _EDGE:
            keys.add(_key(KeyKind.PREFIX, word[:_EDGE]))
            keys.add(_key(KeyKind.SUFFIX, word[-_EDGE:]))

    return tuple(sorted(key for key in keys if len(key[0]) > 2))


def weigh(
    keys: Iterable[BlockKey], df: Mapping[str, int], n_aliases: int
) -> tuple[tuple[str, int], ...]:
    """The (key, weight) pairs of a query, sorted by key.

    Keys that no alias carries, and keys that too many carry, are left out.
    """
    query: list[tuple[str, int]] = []
    for key, kind in sorted(keys):
        if df.get(key, 0) > 0:
            weight = hit_weight(kind.label, KIND_WEIGHT[kind], postings=df[key], total=n_aliases)
            if weight is not None:
                query.append((key, weight))
    return tuple(query)


class Outline(NamedTuple):
    """The parts of a name that tell at a glance whether it may be another's."""

    ordered: str
    """The words, sorted."""
    spellings: frozenset[str]
    """The words without spaces, also without the trade, read aloud and as drawn."""
    short: bool
    """Whether it is short enough to be what another name is called for short."""
    sounds: frozenset[str]
    """What a person's name shares with its renderings; empty of any other."""


@name_cache(1_400)
def outline(surface: str, entity_type: str) -> Outline:
    """The outline of a name: what its whole form has, for plain words without making that form.

    >>> outline("Foods of Acme", "organization").ordered
    'acme foods'
    """
    plain = None if is_ambiguous(surface) else plain_name(surface, entity_type)
    if plain:
        core = plain.core
        # As written, too: `AcmeLabs` holds no word that could be read in full.
        letters = "".join(plain.words[: len(core)])
        stem = stem_of(core, entity_type)
        spellings = frozenset((letters, "".join(core), stem, *unit_keys(core)[:1]))
        sounds = frozenset(sounds_of_words(surface, core, entity_type))
        return Outline(" ".join(sorted(core)), spellings, _is_short(spellings), sounds)

    form = form_of(surface, entity_type)
    written_forms = (form.spelling, form.compact, form.stem, form.reading, shape_of(form))
    spellings = frozenset((*written_forms, *unit_keys(form.core)[:1]))
    return Outline(form.ordered, spellings, _is_short(spellings), frozenset(sounds_of(form)))


def _is_short(spellings: frozenset[str]) -> bool:
    return min(map(len, spellings)) <= _ACRONYM_MAX


@name_cache(400)
def acronyms(surface: str, entity_type: str) -> tuple[str, ...]:
    """What a name may be called for short.

    >>> acronyms("Bank of Acme", "organization")
    ('ba', 'boa')
    """
    plain = plain_name(surface, entity_type)
    if plain:
        return (*acronyms_of(plain.core, plain.words), *unit_keys(plain.core)[1:])
    form = form_of(surface, entity_type)
    return (*form.acronyms, *unit_keys(form.core)[1:])


def near_names(mention: str, entity_type: str, names: Iterable[str]) -> frozenset[str]:
    """Those of some stored names that are worth scoring; a shared common word is not enough.

    >>> sorted(near_names("Acme Foods", "organization", ["Acme Food", "AF", "Zenith Foods"]))
    ['AF', 'Acme Food']
    """
    left = outline(mention, entity_type)
    near_surfaces: set[str] = set()
    remainder: dict[str, str] = {}
    for name in names:
        if are_two_paths(mention, name):
            continue
        right = outline(name, entity_type)
        # Written alike but for spaces, or as another language does, or one the acronym of the
        # other. That two names have one acronym says nothing: among 100,000 names each has as
        # many such as candidates.
        is_alike = not left.spellings.isdisjoint(right.spellings)
        is_alike = is_alike or not left.sounds.isdisjoint(right.sounds)
        is_alike = is_alike or (left.short and _is_acronym_of(left, name, entity_type))
        if is_alike or (right.short and _is_acronym_of(right, mention, entity_type)):
            near_surfaces.add(name)
        else:
            remainder[name] = right.ordered

    # `cdist` would import numpy, for no gain over the fifty names there are.
    matches = process.extract(
        left.ordered, remainder, scorer=token_set_ratio, score_cutoff=_SHARED_WORDS_MIN, limit=None
    )
    near_surfaces.update(name for _, _, name in matches)
    return frozenset(near_surfaces)


def _is_acronym_of(short: Outline, name: str, entity_type: str) -> bool:
    return not short.spellings.isdisjoint(acronyms(name, entity_type))


def _key(kind: KeyKind, text: str) -> BlockKey:
    return f"{kind.value}:{text}", kind


def _acronyms(form: NameForm) -> tuple[str, ...]:
    if len(form.core) > 1:
        return tuple([short for short in form.acronyms if len(short) <= _ACRONYM_MAX])
    # A short single word may itself be the acronym that another name spells out.
    return (form.compact,) if 2 <= len(form.compact) <= _ACRONYM_MAX else ()


def _unit_acronyms(form: NameForm) -> tuple[str, ...]:
    """HR for the HR Department as for the Human Resources Department."""
    shorts = unit_keys(form.core)
    return tuple([short for short in shorts if 1 < len(short) <= _ACRONYM_MAX])


def _deletions(word: str) -> tuple[str, ...]:
    # Longer names have other words that meet; deleting letters there only costs rows.
    if not _DELETION_MIN <= len(word) <= _DELETION_MAX:
        return ()
    return (word, *(word[:position] + word[position + 1 :] for position in range(len(word))))
