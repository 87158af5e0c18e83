"""One name, taken apart once: the form that every comparison, veto and block key reads.

`normalize(surface, entity_type)` folds a written name to plain lower-case words, and keeps
what folding would lose: the legal class, the numbers, the qualifier in brackets, the script.

Two keys, two uses:

- `keys.alias_key` is the *light* key. Stores use it for exact alias equality; it keeps script,
  accents, punctuation and word order, so equal keys mean the same written name.
- `NameForm.norm` is the *heavy* key of the score. It is transliterated and loses titles and
  punctuation, so it may only feed the score and its vetoes, never bind by itself.

A qualifier is part of the identity: "Mike Rogers (AL)" is not "Mike Rogers (MI)".
A form depends on the entity type; compare only forms that were made for the same type.
Linear in the length of the name. Checklist C-046, C-048.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import chain, filterfalse

from anyascii import anyascii

from .keys import alias_key
from .lexicon import Lexicon, Profile, lexicon, profile_of
from .name_cache import name_cache
from .plain_name import PlainName, acronyms_of, opening_word, plain_name, stem_of

NORMALIZER_VERSION = "5"
"""Raised when the same name would give another form; part of the model's version."""

_BRACKET = re.compile(r"(?:(?<=\s)|(?<=[^\x00-\x7f]))[(\[]([^()\[\]]*)[)\]]")
_INITIALISM = re.compile(r"(?<![a-z0-9])(?:[a-z]\.){2,}[a-z]?(?![a-z0-9])")
_POSSESSIVE = re.compile(r"(?<=[a-z0-9])'s(?![a-z0-9'])")
_TOKEN = re.compile(r"@?[a-z]*[0-9]+(?:\.[0-9]+)+|@?[a-z0-9]+(?:[+#]+(?![a-z0-9]))?")
_DOMAIN_END = re.compile(r"(?<=\w\w)\.(com?\.[a-z]{2}|com|net|org|io)(?=\s|,|\Z)", re.IGNORECASE)
_WEB_HOST = re.compile(r"\A\s*(?:https?://)?www\.", re.IGNORECASE)
_SPOKEN_SIGNS = (("++", "pp"), ("+", " plus"), ("#", "sharp"), ("@", " at "))
_SPOKEN_DOT = re.compile(r"(?<![^\s])\.(?=[a-z])")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WIDE_EDGE = re.compile(rf"(?<=[A-Za-z0-9])(?=[{_WIDE}])|(?<=[{_WIDE}])(?=[A-Za-z0-9])")
_ALPHABETS = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "GEORGIAN", "HANGUL"})
_COMMA_NAME_MAX_WORDS = 4
"""More words than this after a comma are a description, not given names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameForm:
    """A name in the parts that matching compares. Equal input gives an equal form."""

    original: str
    """The name as written."""
    entity_type: str
    """The type it was normalised for."""
    key: str
    """`alias_key(original)`, the light key of exact equality."""
    norm: str
    """All words in order, titles off, with the qualifier in brackets."""
    tokens: tuple[str, ...]
    """All words in order, titles off, legal form and particles included; no qualifier."""
    core: tuple[str, ...]
    """The words that carry the identity: no legal form, no particles; numbers as digits."""
    compact: str
    """The core without spaces."""
    spelling: str
    """The core without spaces, number words left as written."""
    reading: str
    """The core without spaces, its signs said in words: `dotnet`, `disneyplus`."""
    stem: str
    """The core without spaces and without what an organisation trades in."""
    ordered: str
    """The core, sorted."""
    writing: tuple[str, ...]
    """The core in the order of writing; differs from `core` when a comma swapped the parts."""
    particles: tuple[str, ...]
    """The small words (`of`, `bin`) that the core leaves out, in order."""
    legal: tuple[str, ...]
    """Classes of legal form, sorted; empty when the name states none."""
    numbers: tuple[str, ...]
    """Numbers and one-letter codes of the core, sorted; number words count."""
    digits: tuple[str, ...]
    """The same without number words."""
    acronyms: tuple[str, ...]
    """First letters of the words, without and with particles; empty for a single word."""
    qualifier: str
    """Words in brackets and generations (`jr`), sorted; part of the identity."""
    honorific: str
    """`m` or `f` when a title says so."""
    latin: bool
    """False when a letter of another script was transliterated."""
    native: str
    """Letters and digits in the original script, without spaces."""
    comma: bool
    """True when a comma told family and given names apart."""


def fold(text: str) -> str:
    """Text in plain lower-case ASCII: case, accents and script levelled.

    >>> fold("Ölçer & Москва")
    'olcer & moskva'
    """
    if text.isascii():
        return text.lower()
    # Casefold first: it maps by meaning (ß -> ss); anyascii answers in mixed case for scripts.
    return anyascii(text.casefold()).lower()


def normalize(surface: str, entity_type: str) -> NameForm:
    """The parts of a name, read the way names of its type are built.

    >>> normalize("Siemens Aktiengesellschaft", "organization").core
    ('siemens',)
    >>> normalize("Rivera, Dr. Sam (Chicago)", "person").norm
    'sam rivera (chicago)'
    """
    plain = plain_name(surface, entity_type)
    if plain:
        return _plain_form(surface, entity_type, plain)

    words = lexicon()
    profile = profile_of(entity_type)
    text = surface if surface.isascii() else _visible(surface)
    text, native_legal = _split_native_legal(text, profile, words)
    body, qualifiers = _split_brackets(text, words)
    if entity_type == "organization":
        body = _split_domain(body, native_legal)
    parts = _Parts(profile, words, qualifiers, native_legal)
    parts.read(_plain(body, profile))

    return _form(surface, entity_type, text, parts)


@name_cache(2_000)
def form_of(surface: str, entity_type: str) -> NameForm:
    """`normalize`, which remembers the names of late: one comes up in query after query."""
    return normalize(surface, entity_type)


def _plain_form(surface: str, entity_type: str, plain: PlainName) -> NameForm:
    """The form of a name that is read word for word: the same, at a third of the cost."""
    words, core, legal = plain
    tokens, text, compact = tuple(words), " ".join(words), "".join(core)
    return NameForm(
        original=surface,
        entity_type=entity_type,
        key=text,
        norm=text,
        tokens=tokens,
        core=tuple(core),
        compact=compact,
        spelling="".join(words[: len(core)]),
        reading=compact,
        stem=stem_of(core, entity_type),
        ordered=" ".join(sorted(core)),
        writing=tokens,
        particles=(),
        legal=(legal,) if legal else (),
        numbers=(),
        digits=(),
        acronyms=acronyms_of(core, words),
        qualifier="",
        honorific="",
        latin=True,
        native="".join(words),
        comma=False,
    )


class _Parts:
    """The words of one name while they are being sorted out."""

    def __init__(
        self, profile: Profile, words: Lexicon, qualifiers: list[str], legal: list[str]
    ) -> None:
        self.profile = profile
        self.words = words
        self.qualifiers = qualifiers
        self.generations: list[str] = []
        self.legal = legal
        self.honorific = ""
        self.comma = False
        self.tokens: list[str] = []
        self.writing: list[str] = []
        self.core: list[str] = []
        self.particles: tuple[str, ...] = ()
        self.spelling: list[str] = []

    def read(self, plain: str) -> None:
        if self.profile is Profile.PERSON:
            pieces = map(self._person_words, plain.split(","))
            self._order_person(list(filter(None, pieces)))
        else:
            self.tokens = self.writing = _TOKEN.findall(plain)

        words = self._without_legal(self.tokens)
        self.core = self._without_particles(words)
        self.particles = tuple(filterfalse(self.core.__contains__, words))
        self.spelling = self.core
        if self.profile is not Profile.PERSON:
            self.core = [*self._opening(), *map(self._in_full, self.core[1:])]
            self.core = [self.words.number_words.get(word, word) for word in self.core]
        if self.profile is Profile.THING:
            self.core = self._by_its_name(self.core)

    def _opening(self) -> list[str]:
        if self.profile is not Profile.ORGANIZATION or not self.core:
            return self.core[:1]
        return [opening_word(self.core, self.words)]

    def _in_full(self, word: str) -> str:
        # "Apollo II" counts like "Apollo 2". Not the first word: Xi and Vi are names, too.
        digits = self.words.roman_numerals.get(word, word)
        return self.words.abbreviations[self.profile].get(digits, digits)

    def _by_its_name(self, core: list[str]) -> list[str]:
        short_forms = self.words.short_forms
        name = short_forms.get("".join(core))
        return [name] if name else [short_forms.get(word, word) for word in core]

    def _person_words(self, piece: str) -> list[str]:
        words = _TOKEN.findall(piece)
        while words and words[-1] in self.words.postnominals:
            words.pop()

        while len(words) > 1 and words[0] in self.words.titles:
            self.honorific = self.words.titles[words.pop(0)] or self.honorific

        if words and words[-1] in self.words.generations and (len(words) > 1 or self.tokens):
            self.generations.append(self.words.generations[words.pop()])

        self.tokens = self.tokens or words

        return words

    def _order_person(self, pieces: list[list[str]]) -> None:
        self.writing = list(chain.from_iterable(pieces))
        swaps = len(pieces) == 2 and len(pieces[1]) <= _COMMA_NAME_MAX_WORDS
        if swaps and "of" not in pieces[1]:
            self.comma = True
            pieces = [pieces[1], pieces[0]]

        self.tokens = list(chain.from_iterable(pieces))

    def _without_legal(self, tokens: list[str]) -> list[str]:
        if self.profile is not Profile.ORGANIZATION:
            return tokens

        words = list(tokens)
        end = len(words)
        while end > 0:
            size = self._legal_at(words, end)
            if size:
                del words[end - size : end]
            end -= size or 1

        form = self.words.legal.get((words[0],)) if len(words) > 1 else None
        if form is not None and form.position == "start":
            self.legal.append(form.kind)
            del words[0]

        return words

    def _legal_at(self, tokens: list[str], end: int) -> int:
        """How many words before `end` are a legal form, and note its class."""
        for size in range(min(self.words.legal_longest, end - 1), 0, -1):
            form = self.words.legal.get(tuple(tokens[end - size : end]))
            if form is None or form.position == "start":
                continue
            if form.position == "anywhere" or end == len(tokens):
                self.legal.append(form.kind)
                return size

        return 0

    def _without_particles(self, tokens: list[str]) -> list[str]:
        particles = self.words.particles[self.profile]
        if self.profile is Profile.PERSON:
            # First and last word stay: Al Gore and Van Nguyen are no particles.
            inner = filterfalse(particles.__contains__, tokens[1:-1])
            return [*tokens[:1], *inner, *tokens[1:][-1:]]

        return list(filterfalse(particles.__contains__, tokens)) or tokens


def _form(surface: str, entity_type: str, text: str, parts: _Parts) -> NameForm:
    key = alias_key(surface)
    fallback = [key] if key else []
    tokens = parts.tokens or fallback
    core = parts.core or fallback
    spelling = parts.spelling or fallback
    qualifier = _qualifier(parts.qualifiers, parts.generations, core)
    coded = parts.profile is not Profile.PERSON
    numbers = _numbers(core, coded=coded)

    return NameForm(
        original=surface,
        entity_type=entity_type,
        key=key,
        norm=" ".join(tokens) + (f" ({qualifier})" if qualifier else ""),
        tokens=tuple(tokens),
        core=tuple(core),
        compact="".join(core),
        spelling="".join(spelling),
        reading=_reading(text, core, parts.profile),
        stem=stem_of(core, entity_type),
        ordered=" ".join(sorted(core)),
        writing=tuple(parts.writing or fallback),
        particles=parts.particles,
        legal=tuple(sorted(set(parts.legal) - {""})),
        numbers=numbers,
        digits=numbers if spelling == core else _numbers(spelling, coded=coded),
        acronyms=acronyms_of(core, tokens),
        qualifier=qualifier,
        honorific=parts.honorific,
        latin=_is_latin(text),
        native="".join(filter(str.isalnum, text.casefold())),
        comma=parts.comma,
    )


def _visible(surface: str) -> str:
    # Zero-width and direction marks would make two equal-looking names differ.
    characters = unicodedata.normalize("NFKC", surface)
    return "".join(c for c in characters if c.isascii() or unicodedata.category(c) != "Cf")


def _is_latin(text: str) -> bool:
    return text.isascii() or not any(c.isalpha() and not _is_latin_letter(c) for c in text)


def _is_latin_letter(char: str) -> bool:
    code = ord(char)
    return code < 0x250 or 0x1E00 <= code < 0x1F00 or 0x2C60 <= code < 0x2C80


def is_one_alphabet(native: str) -> bool:
    r"""Whether all letters are of one alphabet that transliterates letter for letter.

    >>> is_one_alphabet("лада"), is_one_alphabet("美团"), is_one_alphabet("l\u0430da")
    (True, False, False)
    """
    names = {unicodedata.name(char, "").split(" ")[0] for char in native if char.isalpha()}
    return len(names) == 1 and names <= _ALPHABETS


def is_ideographic(native: str) -> bool:
    """Whether a name is written in ideographs alone.

    >>> is_ideographic("小红书"), is_ideographic("小book")
    (True, False)
    """
    return all(unicodedata.name(char, "").startswith("CJK UNIFIED") for char in native)


def _split_native_legal(text: str, profile: Profile, words: Lexicon) -> tuple[str, list[str]]:
    if profile is not Profile.ORGANIZATION or text.isascii():
        return text, []

    for form, kind in words.legal_native:
        if form in text and text != form:
            return text.replace(form, " "), [kind]

    return text, []


def _split_brackets(text: str, words: Lexicon) -> tuple[str, list[str]]:
    """The text without its brackets, and the words that stood in them."""
    if "(" not in text and "[" not in text:
        return text, []

    qualifiers: list[str] = []

    def keep(match: re.Match[str]) -> str:
        words_inside = _TOKEN.findall(fold(match[1]))
        if words.legal_words.issuperset(words_inside):
            return f" {match[1]} "
        qualifiers.extend(words_inside)
        return " "

    return _BRACKET.sub(keep, text), qualifiers


def _split_domain(text: str, legal: list[str]) -> str:
    """The text without the end of a web domain, which is noted as a class like a legal form.

    Companies alone: Socket.IO is no socket.
    """
    text = _WEB_HOST.sub("", text)
    end = _DOMAIN_END.search(text)
    if end is None:
        return text
    legal.append(end[1].lower())
    return text[: end.start()] + text[end.end() :]


def _plain(text: str, profile: Profile) -> str:
    if not text.isascii():
        text = _WIDE_EDGE.sub(" ", text)

    plain = fold(text).replace("&", " and ")
    if "'" in plain:
        plain = _POSSESSIVE.sub("", plain).replace("'", "")

    if "." in plain and profile is not Profile.PERSON:
        plain = _INITIALISM.sub(lambda match: match[0].replace(".", ""), plain)

    return plain


def _reading(text: str, core: list[str], profile: Profile) -> str:
    """The name as it is read aloud where a sign stands for a word, else as it is written."""
    signs = profile is not Profile.PERSON and any(sign in text for sign in "+#@.")
    if not signs:
        return "".join(core)

    aloud = _SPOKEN_DOT.sub("dot", fold(text))
    for sign, words in _SPOKEN_SIGNS:
        aloud = aloud.replace(sign, words)
    return "".join(_TOKEN.findall(aloud)) or "".join(core)


def _qualifier(qualifiers: list[str], generations: list[str], core: list[str]) -> str:
    # "International Business Machines (IBM)": the bracket repeats the name, it adds nothing. A
    # generation always does, also where it spells the initials: John Rockefeller, Jr.
    if len(qualifiers) == 1 and qualifiers[0] in acronyms_of(core, core):
        qualifiers = []
    return " ".join(sorted(qualifiers + generations))


def _numbers(tokens: list[str], *, coded: bool) -> tuple[str, ...]:
    numbers: list[str] = _NUMBER.findall(" ".join(tokens))
    if coded and len(tokens) > 1:
        numbers += [token for token in tokens if len(token) == 1 and token.isalpha()]
    return tuple(sorted(numbers))
