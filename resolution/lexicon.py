"""The word lists that name matching reads: titles, particles, legal forms, nicknames, institutions.

`lexicon.json` and `institutions.json` are ours, `nicknames.csv` is a third party's (see NOTICE).
Each file is read once, on first use. In name matching only this module and `model` read files, and
both read only files of the package. A *profile* says how names of a type are built: people have
titles and given names, organisations have legal forms, everything else is a `thing`.

States, courts and universities have names of few words that other languages have as well
(ministère, Bundesministerium). `institution_keys` returns the set of meanings of such a name,
without proper names such as Hamburg. Equal sets prove nothing, because many countries have a
ministry of finance: they make a candidate, and a person sees both names. Pure; checklist C-047.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from itertools import chain
from typing import Final, NamedTuple, cast

_ORGANISATION_TYPES = frozenset({"organization", "team", "tenant", "unknown"})

_MAX_INSTITUTION_WORDS: Final = 8
_MIN_PART: Final = 3
_ENDING: Final = 4
_LINK: Final = "s"
"""What German puts between the parts of a word."""


class Profile(StrEnum):
    """How a name is built."""

    PERSON = "person"
    ORGANIZATION = "organization"
    THING = "thing"


def profile_of(entity_type: str) -> Profile:
    """How names of an entity type are built; a type defined by a tenant is a thing.

    >>> profile_of("team").value, profile_of("system").value
    ('organization', 'thing')
    """
    if entity_type == "person":
        return Profile.PERSON
    return Profile.ORGANIZATION if entity_type in _ORGANISATION_TYPES else Profile.THING


@dataclass(frozen=True, slots=True)
class LegalForm:
    """One legal form as it is written in a name."""

    kind: str
    """The class two spellings share (`gmbh`); empty when the word conflicts with no class."""
    position: str
    """Where it counts as a legal form: `anywhere` but first, `end` or `start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The lists of `lexicon.json`, ready to look up."""

    titles: dict[str, str]
    """Title -> `m`, `f` or nothing: the gender it states."""
    postnominals: frozenset[str]
    generations: dict[str, str]
    """Spelling -> generation (`jnr` -> `jr`), a part of the identity."""
    particles: dict[Profile, frozenset[str]]
    number_words: dict[str, str]
    roman_numerals: dict[str, str]
    """Roman numerals of two letters and more -> digits; one letter is a code of its own."""
    abbreviations: dict[Profile, dict[str, str]]
    """Another spelling of a word that is not the first (`labs`, `cfg`) -> the word in full."""
    leading_abbreviations: dict[str, str]
    """Those of organisations that also open a name (`Dept. of Energy`): nobody is called so."""
    short_forms: dict[str, str]
    """What a thing is called for short (`k8s`) -> its name, without spaces."""
    trade_words: frozenset[str]
    """Last words that only say what an organisation trades in: `Juniper Networks` is `Juniper`."""
    groups: frozenset[str]
    """Words for a group of companies: the group and a member of one name are two."""
    common_names: frozenset[str]
    """Words that many organisations are called by, so that the trade tells them apart."""
    distinctions: frozenset[str]
    """Words that make another organisation or thing of a name: `non`, `test`, `north`, `bank`."""
    everyday: frozenset[str]
    """Words that are a name in running text only when written with a capital."""
    fillers: frozenset[str]
    """What people and systems write where they have no value, its letters alone."""
    mailboxes: frozenset[str]
    """Mailboxes of a role, which several people read."""
    legal: dict[tuple[str, ...], LegalForm]
    """Words of the legal form, in order -> the form."""
    legal_words: frozenset[str]
    """Every single word that occurs in a legal form."""
    legal_longest: int
    """Words in the longest legal form."""
    legal_native: tuple[tuple[str, str], ...]
    """Legal forms of scripts without spaces, longest first, with their class."""
    marked_words: dict[Profile, frozenset[str]]
    """Every word that is read in its own way in names of a profile."""
    irregular: dict[Profile, frozenset[str]]
    """Those of them that change more than a word: all but abbreviations and trade words of
    organisations."""
    last_forms: dict[str, str]
    """Legal forms of one word that may end a name -> their class, also one that is empty."""


_SETS: Final = (
    *("postnominals", "trade_words", "groups", "common_names"),
    *("distinctions", "everyday", "fillers", "mailboxes"),
)
"""The lists that are looked up as they are."""


@cache
def lexicon() -> Lexicon:
    """The shipped word lists; the file is read on the first call."""
    raw = json.loads(_read_file("lexicon.json"))
    legal = _legal_forms(raw)
    native = cast("dict[str, str]", raw["legal_native"])
    legal_words = frozenset(chain.from_iterable(legal))
    number_words = raw["number_words"] | raw["ordinals"]
    numbers = frozenset(number_words) | frozenset(raw["roman_numerals"])
    particles = {Profile(name): frozenset(words) for name, words in raw["particles"].items()}

    abbreviations = {Profile(name): words for name, words in raw["abbreviations"].items()}
    in_full = abbreviations[Profile.ORGANIZATION]
    regular = frozenset({*raw["trade_words"], *in_full})

    word_lists = {
        Profile.PERSON: frozenset({*raw["titles"], *raw["postnominals"], *raw["generations"]}),
        Profile.ORGANIZATION: legal_words | numbers | regular,
        Profile.THING: numbers
        | frozenset(abbreviations[Profile.THING])
        | frozenset(raw["short_forms"]),
    }

    marked_words = {profile: word_lists[profile] | particles[profile] for profile in Profile}
    last_forms: dict[str, str] = {}
    for words, form in legal.items():
        if len(words) == 1 and form.position != "start":
            last_forms[words[0]] = form.kind

    irregular = {**marked_words, Profile.ORGANIZATION: marked_words[Profile.ORGANIZATION] - regular}

    sets: dict[str, frozenset[str]] = {}
    for name in _SETS:
        sets[name] = frozenset(raw[name])
    return Lexicon(
        **sets,
        titles=raw["titles"],
        generations=raw["generations"],
        particles=particles,
        number_words=number_words,
        roman_numerals=raw["roman_numerals"],
        abbreviations=abbreviations,
        leading_abbreviations={word: in_full[word] for word in raw["leading_abbreviations"]},
        short_forms=raw["short_forms"],
        legal=legal,
        legal_words=legal_words,
        legal_longest=max(map(len, legal)),
        legal_native=tuple(sorted(native.items(), key=lambda item: (-len(item[0]), item[0]))),
        marked_words=marked_words,
        irregular=irregular,
        last_forms=last_forms,
    )


def _legal_forms(raw: dict[str, dict[str, str]]) -> dict[tuple[str, ...], LegalForm]:
    forms: dict[tuple[str, ...], LegalForm] = {}
    # A form that may stand anywhere is wider than one that must end or open the name.
    for position in ("start", "at_end", "anywhere"):
        key = "legal_at_start" if position == "start" else f"legal_{position}"
        for words, kind in raw[key].items():
            forms[tuple(words.split())] = LegalForm(kind, position.removeprefix("at_"))

    return forms


@cache
def nicknames() -> dict[str, frozenset[str]]:
    """Every given name with the names it may stand for, in both directions."""
    # Both directions: the file lists Bill under William, and a mention may be either.
    partners: dict[str, set[str]] = {}
    for row in csv.DictReader(_read_file("nicknames.csv").splitlines()):
        formal, short = row["name1"], row["name2"]
        partners.setdefault(formal, set()).add(short)
        partners.setdefault(short, set()).add(formal)

    return {name: frozenset(partners_of) for name, partners_of in partners.items()}


def is_nickname(left: str, right: str) -> bool:
    """Whether one given name is a nickname of the other.

    >>> is_nickname("bill", "william"), is_nickname("william", "mary")
    (True, False)
    """
    return right in nicknames().get(left, ())


def is_given_name(word: str) -> bool:
    """Whether the lexicon of nicknames knows a word as a given name."""
    return word in nicknames()


def _read_file(name: str) -> str:
    return resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")


class _Vocabulary(NamedTuple):
    heads: frozenset[str]
    """What makes a name that of an institution."""
    meanings: dict[str, str]
    """The English word of each word, in plain letters."""
    glue: frozenset[str]
    endings: frozenset[str]
    """How the words that make an institution end, to pass over nearly all names at a glance."""


@cache
def _vocabulary() -> _Vocabulary:
    file = resources.files(__package__ or "").joinpath("institutions.json")
    raw = json.loads(file.read_text(encoding="utf-8"))
    meanings: dict[str, str] = {}
    for line in (*raw["words"], *raw["heads"]):
        words = line.split()
        for word in words:
            meanings[word] = words[0]

    heads = frozenset([line.split()[0] for line in raw["heads"]])
    endings = frozenset([word[-_ENDING:] for word in " ".join(raw["heads"]).split()])
    return _Vocabulary(heads, meanings, frozenset(raw["glue"].split()), endings)


def institution_keys(core: Sequence[str]) -> tuple[str, ...]:
    """The key of an institution's name by what its words mean; empty of any other name.

    >>> institution_keys(["bundesministerium", "finanzen"])
    ('federal-finance-ministry',)
    >>> institution_keys(["universitat", "hamburg"]), institution_keys(["acme", "foods"])
    (('hamburg-university',), ())
    """
    if not 0 < len(core) <= _MAX_INSTITUTION_WORDS:
        return ()

    # A compound ends as its last part does.
    vocabulary = _vocabulary()
    if vocabulary.endings.isdisjoint([word[-_ENDING:] for word in core]):
        return ()
    meanings: set[str] = set()
    for word in core:
        if word not in vocabulary.glue:
            meanings.update(_meanings(word))
    if len(meanings) < 2 or vocabulary.heads.isdisjoint(meanings):
        return ()
    return ("-".join(sorted(meanings)),)


@lru_cache(maxsize=16_384)
def _meanings(word: str) -> tuple[str, ...]:
    """What a word means, or the parts that German writes as one; itself if nothing is known.

    >>> _meanings("finanzministerium"), _meanings("wirtschaftsministerium"), _meanings("acme")
    (('finance', 'ministry'), ('economy', 'ministry'), ('acme',))
    """
    parts = _parts(word)
    return parts or (word,)


def _parts(word: str) -> tuple[str, ...]:
    meanings = _vocabulary().meanings
    if word in meanings:
        return (meanings[word],)

    # The longest last part first: it says what the whole is.
    for end in range(_MIN_PART, len(word) - _MIN_PART + 1):
        first, tail = word[:end], word[end:]
        if tail not in meanings:
            continue
        parts = _parts(first) or _parts(first.removesuffix(_LINK))
        if parts:
            return (*parts, meanings[tail])
    return ()
