"""Take a name apart once: the form that every comparison, veto and block key reads.

`normalize(surface, entity_type)` folds a written name to plain lower-case words and keeps what
folding would lose: the legal class, the numbers, the qualifier in brackets, the script.
`plain_name` is the short way for a name of plain words, with the same result. `keys.alias_key` is
the light key of exact equality; `NameForm.norm` is the heavy key, which feeds the score and never
binds alone.

The module also finds sentence ends, the dates that a text states, and names in a text as whole
words. Scripts without spaces have no whole words, so there a name counts wherever it occurs.
Compare only forms of one entity type. Linear in the length. Checklist C-046, C-048.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, filterfalse
from typing import Final, NamedTuple

from anyascii import anyascii

from .keys import alias_key
from .lexicon import Lexicon, Profile, lexicon, profile_of
from .names import name_cache

_GERMAN_MONTH: Final = (
    "(?:Januar|J\u00e4nner|Februar|M\u00e4rz|April|Mai|Juni|Juli|August|September|Oktober|November|"
    "Dezember)"
)
_IN_A_DATE: Final = rf"(?!(?<=\d\.)(?<!\d\d\d\.)\s{_GERMAN_MONTH}\b)"
"""German writes a dot behind the day: "am 3. Mai" ends no sentence."""
_BREAK: Final = re.compile(
    "(?<=[.!?])" + _IN_A_DATE + "\\s+(?=[\"'(\\[]?[^\\W_a-z])|\\n+|(?<=[\u3002\uff01\uff1f])"
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"'])(?:(?i:mr|mrs|ms|dr|prof|rev|hon|gov|capt|sgt|vs|e\.g|i\.e|z\.\s?b)|[A-HJ-Z])\.\Z"
    r"|(?:^|\b[a-z]+ )(?:St|Mt|Ft)\.\Z"
)
"""What a full stop shortens and does not end: a title, an initial, "at St. Mary's", but not
"on Elm St." """
_NUMBERED: Final = re.compile(r"\b(?i:no|nr|apt|fig|vol|art)\.\Z")
"""The same before a number alone: "No. 5"."""
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_PATTERN: Final = (
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    rf"|\b\d{{1,2}}(?:(?:st|nd|rd|th)(?: of)?)? {_MONTH}\b(?:,? \d{{4}}\b)?"
    rf"|\b{_MONTH}\b(?:\.? \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?"
    rf"|\b{_DAY}s?\b|\bQ[1-4](?: \d{{4}})?\b|\b(?:19|20)\d{{2}}\b"
)
_DATE: Final = re.compile(_PATTERN)
_DATE_ANY_CASE: Final = re.compile(_PATTERN, re.IGNORECASE)
_ISO_DAY: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_PART: Final = re.compile(r"\d+|[a-z]+", re.IGNORECASE)
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH_ALONE: Final = frozenset("May March Mar Jan Dec Sep Oct Nov Apr Jun".split())
_PREPOSITIONS: Final = frozenset("in since until by from of to last".split())
_LOOK_BACK: Final = 8
_LONGEST_BEFORE_STOP: Final = 20

_WORD: Final = re.compile(r"\w+")
_UNSPACED_SCRIPT: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, kana, ideographs, Hangul."""

_STEM_LETTERS = 7
"""A shorter word is a name of many: `Delta Systems` need not be `Delta`."""

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


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date or a part of one, as written; it is no mention."""

    start: int
    end: int
    surface: str

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """Year, month and day, None for what is not written."""
        # ISO first: split at its hyphens, year, month and day would read as three plain numbers.
        iso = _ISO_DAY.match(self.surface)
        if iso:
            return int(iso[1]), int(iso[2]), int(iso[3])

        year = month = day = None
        for word in _PART.findall(self.surface):
            if word.isdigit():
                year, day = (int(word), day) if len(word) == 4 else (year, int(word))
            elif word[:3].lower() in _MONTHS:
                month = _MONTHS.index(word[:3].lower()) + 1
        return year, month, day if month else None


def find_dates(text: str, *, any_case: bool = False) -> tuple[DateSpan, ...]:
    """The dates of a text, in order; `any_case` finds `in june`, too.

    >>> [date.surface for date in find_dates("Since 3 June 2024, or in May, May Lee works.")]
    ['3 June 2024', 'May']
    """
    dates: list[DateSpan] = []
    for match in (_DATE_ANY_CASE if any_case else _DATE).finditer(text):
        # "May" and "March" begin sentences, and both are names: alone they prove no date.
        is_plain = match[0].capitalize() not in _MONTH_ALONE
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()].lower().split()
        if is_plain or not _PREPOSITIONS.isdisjoint(before[-1:]):
            dates.append(DateSpan(match.start(), match.end(), match[0]))
    return tuple(dates)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences and lines of a text, without outer spaces.

    >>> [("Rate is 3.5 %. It fell."[a:b]) for a, b in sentence_spans("Rate is 3.5 %. It fell.")]
    ['Rate is 3.5 %.', 'It fell.']
    >>> text = "See Dr. Ng at St. Jude. Bye."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['See Dr. Ng at St. Jude.', 'Bye.']
    """
    start = 0
    for match in _BREAK.finditer(text):
        if text[match.start() - 1] == "." and "\n" not in match[0]:
            before = text[max(start, match.start() - _LONGEST_BEFORE_STOP) : match.start()]
            is_number = text[match.end() : match.end() + 1].isdigit()
            if _ABBREVIATION.search(before) or (is_number and _NUMBERED.search(before)):
                continue
        yield from _without_outer_spaces(text, start, match.start())
        start = match.end()
    yield from _without_outer_spaces(text, start, len(text))


def _without_outer_spaces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    sentence = text[start:end]
    bare = sentence.strip()
    if bare:
        lead = start + len(sentence) - len(sentence.lstrip())
        yield lead, lead + len(bare)


_ABOVE_OR_BELOW: Final = 200
"""Combining classes from here on are accents; those below are marks that make another letter."""


def plain_letters(text: str) -> str:
    """A text in lower case without accents, its script as it is.

    >>> plain_letters("Zoë MÜLLER, Жуков"), plain_letters("がく")
    ('zoe muller, жуков', 'がく')
    """
    if text.isascii():
        return text.lower()

    # Twice: folding may make a sign that decomposes, and decomposing one that folds.
    first_form = unicodedata.normalize("NFKD", text).casefold()
    letters: list[str] = []
    for letter in unicodedata.normalize("NFKD", first_form):
        if unicodedata.combining(letter) < _ABOVE_OR_BELOW:
            letters.append(letter)
    return unicodedata.normalize("NFKC", "".join(letters))


def word_count(phrase: str) -> int:
    """How many words a name or a text has; two characters of an unspaced script count as one.

    >>> word_count("Sam Rivera"), word_count("山田太郎"), word_count("김민수"), word_count("山田")
    (2, 2, 2, 1)
    """
    characters = _UNSPACED_SCRIPT.findall(phrase)
    return len(_WORD.findall(_UNSPACED_SCRIPT.sub(" ", phrase))) + (len(characters) + 1) // 2


def whole_words(phrase: str) -> re.Pattern[str] | None:
    """What finds a phrase in a text of plain letters; None for one without a word.

    >>> bool(whole_words("Sam Rivera").search(plain_letters("Ask SAM-RIVERA.")))
    True
    """
    words = _WORD.findall(plain_letters(phrase))
    if not words:
        return None

    # Between the words anything may stand that is no word: a hyphen, a line break, JSON.
    pattern = r"\W+".join(map(re.escape, words))
    left_edge = "" if _UNSPACED_SCRIPT.match(words[0][0]) else r"(?<!\w)"
    right_edge = "" if _UNSPACED_SCRIPT.match(words[-1][-1]) else r"(?!\w)"
    return re.compile(left_edge + pattern + right_edge)


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

    # Without last words of trade, where enough is left to know an organisation by.
    words, size = lexicon(), len(core)
    while size > 1 and core[size - 1] in words.trade_words:
        size -= 1

    stem = "".join(core[:size])
    tells = len(stem) >= _STEM_LETTERS and not words.common_names.issuperset(core[:size])
    return stem if tells else "".join(core)


def acronyms_of(core: list[str], tokens: list[str]) -> tuple[str, ...]:
    """What a name may be called for short: the first letters, without and with small words."""
    if len(core) < 2:
        return ()
    short = initials(core)
    full = short if core is tokens else initials(tokens)
    return (short,) if short == full else (short, full)


def initials(words: Sequence[str]) -> str:
    """The first letters of words as one word."""
    return "".join([word[0] for word in words])


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
            pieces = [words for part in plain.split(",") if (words := self._person_words(part))]
            self.writing = list(chain.from_iterable(pieces))
            swaps = len(pieces) == 2 and len(pieces[1]) <= _COMMA_NAME_MAX_WORDS
            if swaps and "of" not in pieces[1]:
                self.comma = True
                pieces = pieces[::-1]
            self.tokens = list(chain.from_iterable(pieces))
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
            short_forms = self.words.short_forms
            name = short_forms.get("".join(self.core))
            self.core = [name] if name else [short_forms.get(word, word) for word in self.core]

    def _opening(self) -> list[str]:
        if self.profile is not Profile.ORGANIZATION or not self.core:
            return self.core[:1]
        return [opening_word(self.core, self.words)]

    def _in_full(self, word: str) -> str:
        # "Apollo II" counts like "Apollo 2". Not the first word: Xi and Vi are names, too.
        digits = self.words.roman_numerals.get(word, word)
        return self.words.abbreviations[self.profile].get(digits, digits)

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
    # "International Business Machines (IBM)": the bracket repeats the name, it adds nothing. A
    # generation always does, also where it spells the initials: John Rockefeller, Jr.
    qualifiers = parts.qualifiers
    if len(qualifiers) == 1 and qualifiers[0] in acronyms_of(core, core):
        qualifiers = []
    qualifier = " ".join(sorted(qualifiers + parts.generations))
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
    # The blocks of Latin letters, the extended ones included.
    codes = [ord(character) for character in text if character.isalpha()]
    return text.isascii() or all(
        c < 0x250 or 0x1E00 <= c < 0x1F00 or 0x2C60 <= c < 0x2C80 for c in codes
    )


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
    """The text without its brackets, and the words that were in them."""
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
    """The name as it is read aloud where a sign represents a word, else as it is written."""
    signs = profile is not Profile.PERSON and any(sign in text for sign in "+#@.")
    if not signs:
        return "".join(core)

    aloud = _SPOKEN_DOT.sub("dot", fold(text))
    for sign, words in _SPOKEN_SIGNS:
        aloud = aloud.replace(sign, words)
    return "".join(_TOKEN.findall(aloud)) or "".join(core)


def _numbers(tokens: list[str], *, coded: bool) -> tuple[str, ...]:
    numbers: list[str] = _NUMBER.findall(" ".join(tokens))
    if coded and len(tokens) > 1:
        numbers += [token for token in tokens if len(token) == 1 and token.isalpha()]
    return tuple(sorted(numbers))
