"""The word lists that name matching reads: titles, particles, legal forms, nicknames.

Two files beside this module hold them: `lexicon.json` (ours) and `nicknames.csv` (third party,
see NOTICE). Each is read once, on first use, and never again; this module and `model` are the
only places of name matching that touch a file, and both read only what the package ships.

A *profile* is the way a name of a type is built: people have titles and given names,
organisations have legal forms, everything else is a `thing`.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from itertools import chain
from typing import cast

_ORGANISATION_TYPES = frozenset({"organization", "team", "tenant", "unknown"})


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
    common_names: frozenset[str]
    """Words that many organisations are called by, so that the trade tells them apart."""
    distinctions: frozenset[str]
    """Words that make another organisation or thing of a name: `non`, `test`, `north`, `bank`."""
    everyday: frozenset[str]
    """Words that are a name in running text only when written with a capital."""
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


@cache
def lexicon() -> Lexicon:
    """The shipped word lists; the file is read on the first call."""
    raw = json.loads(_read_file("lexicon.json"))
    legal = _legal_forms(raw)
    native = cast("dict[str, str]", raw["legal_native"])
    people = frozenset({*raw["titles"], *raw["postnominals"], *raw["generations"]})
    legal_words = frozenset(chain.from_iterable(legal))
    number_words = raw["number_words"] | raw["ordinals"]
    numbers = frozenset(number_words) | frozenset(raw["roman_numerals"])
    particles = {Profile(name): frozenset(words) for name, words in raw["particles"].items()}

    abbreviations = {Profile(name): words for name, words in raw["abbreviations"].items()}
    in_full = abbreviations[Profile.ORGANIZATION]
    trade_words = frozenset(raw["trade_words"])

    word_lists = {
        Profile.PERSON: people,
        Profile.ORGANIZATION: legal_words
        | numbers
        | trade_words
        | frozenset(abbreviations[Profile.ORGANIZATION]),
        Profile.THING: numbers
        | frozenset(abbreviations[Profile.THING])
        | frozenset(raw["short_forms"]),
    }

    marked_words = {profile: word_lists[profile] | particles[profile] for profile in Profile}
    regular = trade_words | frozenset(abbreviations[Profile.ORGANIZATION])
    last_forms: dict[str, str] = {}
    for words, form in legal.items():
        if len(words) == 1 and form.position != "start":
            last_forms[words[0]] = form.kind

    irregular = {**marked_words, Profile.ORGANIZATION: marked_words[Profile.ORGANIZATION] - regular}

    return Lexicon(
        titles=raw["titles"],
        postnominals=frozenset(raw["postnominals"]),
        generations=raw["generations"],
        particles=particles,
        number_words=number_words,
        roman_numerals=raw["roman_numerals"],
        abbreviations=abbreviations,
        leading_abbreviations={word: in_full[word] for word in raw["leading_abbreviations"]},
        short_forms=raw["short_forms"],
        trade_words=trade_words,
        common_names=frozenset(raw["common_names"]),
        distinctions=frozenset(raw["distinctions"]),
        everyday=frozenset(raw["everyday"]),
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
