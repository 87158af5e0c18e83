"""Names as other languages and scripts write them: محمد is Muhammad, Sasha Alexander.

No comparison of letters sees that `Чайковский` is `Tchaikovsky`, or that José is called Pepe. Such
names are *renderings* of each other, which proves nobody the same: a rendering binds nothing and
raises no score. It brings a candidate, and a person is shown both.

Two steps. `sounds_of` gives a name a coarse key, its consonants and the given names that languages
share, and blocking finds names by it. `is_rendering` then looks closely: word for word, two words
are one given name in two languages (`renderings.json`), or one word in two romanisations. Between
two scripts the consonants must do, for Arabic and Hebrew write no short vowels, and names in Hangul
or Cyrillic have many romanisations. Ideographs are left out: too many are read alike. Ministries,
courts and universities have names of few words, which mean the same elsewhere (`institutions`).
Pure; checklist C-047.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import chain, islice, product

from anyascii import anyascii

from .keys import alias_key
from .lexicon import Profile, institution_keys, is_nickname, profile_of
from .names import name_cache
from .normalize import NameForm

RENDERING = "rendering"
"""The line of evidence that says so."""
_MAX_RENDERED_WORDS = 5
_MAX_READINGS = 2
_MAX_SOUNDS = 4
_MIN_CONSONANTS = 3
_GROUP = "@"
"""Begins the sound of a given name that languages share; no consonant does."""
_LETTERS = re.compile(r"[^\W\d_]+")
_ABJADS = re.compile("[\u0590-\u05ff\u0600-\u06ff\u0750-\u077f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WEAK = re.compile("[wvy]")
_ARTICLE = re.compile("^\u0627\u0644(?=..)")

# How romanisations spell one sound, longest first: a sound is spelt before its parts are.
_SPELLINGS = (
    ("shch", "sc"), ("tsch", "ch"), ("tch", "ch"), ("sch", "sh"), ("kh", "h"), ("ph", "f"),
    ("th", "t"), ("zh", "j"), ("ts", "z"), ("tz", "z"), ("ck", "k"), ("ks", "x"), ("q", "k"),
    ("w", "v"), ("ou", "u"), ("oo", "u"), ("ee", "i"), ("yo", "o"), ("yu", "u"), ("ju", "u"),
    ("ya", "a"), ("ja", "a"), ("ye", "e"), ("je", "e"), ("y", "i"), ("j", "i"),
)  # fmt: skip
_CONSONANTS = (("ch", "\0"), ("sh", "s"), ("c", "k"), ("z", "s"), ("x", "ks"), ("\0", "c"))
_VOWELS = re.compile(r"[aeiou]|h$")
"""A final h is written for a vowel (Fatimah), and so is none."""
_VOICELESS = str.maketrans("gbdr", "kptl")
_DOUBLE_LETTER = re.compile(r"(.)\1+")
_SOFT_START = re.compile(r"^i(?=[eaou])")
_C_AS_K = re.compile(r"c(?!h)")


@cache
def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The given names by spelling, and the Korean family names by romanisation."""
    file = resources.files(__package__ or "").joinpath("renderings.json")
    raw = json.loads(file.read_text(encoding="utf-8"))

    heads: dict[str, tuple[str, ...]] = {}
    for line in raw["given_names"]:
        spellings = line.split()
        for spelling in spellings:
            heads[spelling] = (*heads.get(spelling, ()), spellings[0])

    surnames: dict[str, str] = {}
    for korean, spellings in raw["korean_surnames"].items():
        for spelling in (korean, *spellings.split()):
            surnames.setdefault(spelling, korean)

    return heads, surnames


@name_cache(200)
def given_names(word: str) -> tuple[str, ...]:
    """The given names, by their English spelling, that a word in plain letters may stand for.

    >>> given_names("giuseppe"), given_names("peggy"), given_names("rivera")
    (('joseph',), ('margaret',), ())
    """
    heads, _ = _tables()
    if word in heads:
        return heads[word]
    # The chain across languages: Bill is William, who is Wilhelm. Alex may be too many.
    names = [name for name in _english_names() if is_nickname(name, word)]
    return tuple(names) if len(names) <= _MAX_READINGS else ()


@cache
def _english_names() -> tuple[str, ...]:
    heads, _ = _tables()
    return tuple(sorted(set(chain.from_iterable(heads.values()))))


def sounds_of(form: NameForm) -> tuple[str, ...]:
    """The keys of a name that its renderings share, best first; few, often one, mostly none.

    A name of unknown type has some only if a given name or its script says that it may be a
    person's.

    >>> from .normalize import normalize
    >>> sounds_of(normalize("Pyotr Tchaikovsky", "person"))
    ('@peter-ckfsk',)
    """
    return sounds_of_words(form.original, form.core, form.entity_type)


def sounds_of_words(surface: str, core: Sequence[str], entity_type: str) -> tuple[str, ...]:
    """`sounds_of` of a name whose words are known, without the whole form."""
    if profile_of(entity_type) is Profile.ORGANIZATION and (keys := institution_keys(core)):
        return keys
    if entity_type not in ("person", "unknown") or not 0 < len(core) <= _MAX_RENDERED_WORDS:
        return ()
    return _sounds(surface, tuple(core), entity_type == "person")


@name_cache(400)
def _sounds(surface: str, core: tuple[str, ...], is_person: bool) -> tuple[str, ...]:
    if _IDEOGRAPHS.search(surface):
        return ()
    if _HANGUL.search(surface):
        syllables = "".join(_native_words(surface))
        return (_korean(_plain(syllables[0]), _plain(syllables[1:])),)
    if _ABJADS.search(surface):
        return _sounds_in_any_order([_abjad_sounds(word) for word in _native_words(surface)])

    names = [given_names(word) for word in core]
    if not (is_person or any(names) or not surface.isascii()):
        return ()

    words: list[tuple[str, ...]] = []
    for word, heads in zip(core, names, strict=True):
        words.append(tuple([_GROUP + head for head in heads]) or (consonants(word),))
    return (*_sounds_in_any_order(words), *_latin_korean_sounds(core))[:_MAX_SOUNDS]


def _sounds_in_any_order(words: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The sounds of a name from those of its words, in whatever order they stand."""
    sounds: dict[str, None] = {}
    for choice in islice(product(*words), _MAX_SOUNDS):
        parts = sorted(filter(None, choice))
        has_name = any(part.startswith(_GROUP) for part in parts)
        if has_name or sum(map(len, parts)) >= _MIN_CONSONANTS:
            sounds["-".join(parts)] = None
    return tuple(sounds)


def _native_words(surface: str) -> list[str]:
    return _LETTERS.findall(alias_key(surface))


def _plain(word: str) -> str:
    return "".join(filter(str.isalpha, anyascii(word).lower()))


def _abjad_sounds(native: str) -> tuple[str, ...]:
    """The sounds of a word that is written without its vowels.

    W and y stand for long vowels more often than for themselves, so a name is asked for with
    them and without.
    """
    plain = _plain(native)
    heads = given_names(plain)
    if heads:
        return tuple([_GROUP + head for head in heads])

    plain = _plain(_ARTICLE.sub("", native))
    without_weak = plain[:1] + _WEAK.sub("", plain[1:])
    # Kaf is k as often as kh: Cohen.
    spellings = (without_weak, plain, without_weak.replace("kh", "q"))
    return tuple(dict.fromkeys(map(consonants, spellings)))


def _latin_korean_sounds(core: tuple[str, ...]) -> list[str]:
    """The sounds of a name whose first or last word may be a Korean family name."""
    _, surnames = _tables()
    sounds: dict[str, None] = {}
    for family, given_name in ((core[0], core[1:]), (core[-1], core[:-1])):
        if family in surnames and len(given_name) <= 2:
            sounds[_korean(surnames[family], "".join(given_name))] = None
    return list(sounds)


def _korean(family: str, given_name: str) -> str:
    # Ji-sung, Chi-sŏng, Jisong: romanisations agree on little but which consonants there are.
    return f"ko:{family}-{consonants(given_name).translate(_VOICELESS)}"


@name_cache(200)
def romanisation(word: str) -> str:
    """A word in plain letters, with the sounds that romanisations spell in several ways as one.

    >>> romanisation("tchaikovsky"), romanisation("chaykovskiy"), romanisation("tschaikowski")
    ('chaikofski', 'chaikofski', 'chaikofski')
    """
    sound = word
    for spelling, letter in _SPELLINGS:
        sound = sound.replace(spelling, letter)
    sound = _C_AS_K.sub("k", sound).replace("v", "f")
    return _SOFT_START.sub("", _DOUBLE_LETTER.sub(r"\1", sound))


@name_cache(200)
def consonants(word: str) -> str:
    """What is left of a romanised word without its vowels, doubled letters as one.

    >>> consonants("muhammad"), consonants("mhmd"), consonants("tchaikovsky")
    ('mhmd', 'mhmd', 'ckfsk')
    """
    sound = romanisation(word)
    for spelling, letter in _CONSONANTS:
        sound = sound.replace(spelling, letter)
    return _DOUBLE_LETTER.sub(r"\1", _VOWELS.sub("", sound))


def is_rendering(left: NameForm, right: NameForm) -> bool:
    """Whether two names that are written otherwise may be one name in two languages or scripts.

    >>> from .normalize import normalize
    >>> names = [normalize(name, "person") for name in ("Sasha Petrov", "Alexander Petrov")]
    >>> is_rendering(*names), is_rendering(names[0], normalize("Sasha Popov", "person"))
    (True, False)
    """
    if left.ordered == right.ordered or left.qualifier != right.qualifier:
        return False
    if set(sounds_of(left)).isdisjoint(sounds_of(right)):
        return False

    # Equal keys are all that two names of institutions have in common.
    is_organization = profile_of(left.entity_type) is Profile.ORGANIZATION
    if is_organization and institution_keys(left.core):
        return True

    # Of another script, one of many romanisations is read: the consonants are all there is.
    if not (left.latin and right.latin):
        return True
    return _meet_word_for_word(left.core, right.core)


def _meet_word_for_word(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    words = list(right)
    for word in left:
        partner = next((candidate for candidate in words if _is_one_word(word, candidate)), None)
        if partner is None:
            return False
        words.remove(partner)
    return not words


def _is_one_word(left: str, right: str) -> bool:
    if left == right or romanisation(left) == romanisation(right):
        return True
    return not set(given_names(left)).isdisjoint(given_names(right))
