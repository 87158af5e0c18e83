"""Find names in running text: what a mention is, three finders, and how they are combined.

A `Mention` is a span that may name an entity, half-open, in characters of the original text.
`compose` joins finders by strength: the caller's own mentions, known aliases, rules, models. If two
overlap, the stronger one stays. A mention found only by a model never creates an entity.

The rules read shapes: ids, slugs, CamelCase, handles and capitalised runs. Dates and URLs block
what is inside them. The rules miss lower-case names without a hyphen and scripts without capitals.
`Gazetteer` finds known aliases by a word trie, the longest match from left to right, across spaces
and hyphens but not sentences; everyday words ("Will") count only if capitalised. Linear in the
text. No finder resolves anything. Checklist C-046.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, Protocol, cast

from ..schema.principal import Scope
from ..schema.records import short_repr
from ..schema.slots import UNKNOWN_TYPE
from .lexicon import lexicon, nicknames
from .normalize import find_dates, fold, form_of

_URL = re.compile(r"\bhttps?://\S+")
_APOSTROPHES = "'\u2019"
_WORD = re.compile(rf"[^\W_][^\W_{_APOSTROPHES}]*(?:[{_APOSTROPHES}-][^\W_]+)*\+*")
_I_AM = ("I'", "I\u2019")
_GAP_JOINS = frozenset({" ", "\u00a0"})
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n\"“”(\[]|[-*•]\s)\s*$")
_LOOK_BACK = 8
_RUN_MAX = 6
_SHOUT_WORDS = 3
"""A text of more words, all in capitals, says nothing by its capitals."""

_CJK_AND_THAI = (
    "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0670\u0900-\u0dff"
_LETTER = rf"(?:(?![{_CJK_AND_THAI}_])[\w{_MARKS}])"
_JOINER = r"\-\u2010\u2011_"
_ALIAS_WORD = re.compile(
    rf"(?P<one>[{_CJK_AND_THAI}])"
    rf"|@?{_LETTER}+(?:['\u2019]{_LETTER}+)*(?:[+#]+(?!{_LETTER}))?"
    rf"|(?P<mark>\n[ \t\r]*\n|(?!\.{_LETTER}|(?<=\b[A-Za-z])\.)[^\s{_JOINER}])"
)
_ADDRESS = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^\s<>\"]+"
    r"|(?<![\w.+-])[\w.+-]+@[\w.-]*\w"
    r"|(?<![\w./\\])(?:~|\.{1,2}|[A-Za-z]:|[$%]\w+%?)?[/\\][\w./\\-]*\w"
    r"|(?<![\w/\\-])\w[\w-]*(?:[/\\][\w-]+)*(?:\.[\w-]+)*\.[a-z][a-z0-9]*\b(?::\d+)?(?:/[\w./-]*\w)?",
    re.ASCII,
)
"""A URL, an e-mail address, a path, and a host or a file by name."""
_POSSESSIVE = re.compile(r"['\u2019][sS]$")
_MAX_LENGTH = 24
"""Aliases of more words are not looked for."""

_NO_WORDS: dict[str, _Node] = {}
_NO_ALIASES: dict[str, _Alias] = {}


class MentionSource(IntEnum):
    """Who found a mention; the smaller number wins an overlap."""

    CALLER = 0
    ALIAS = 1
    RULE = 2
    MODEL = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that may name an entity."""

    __repr__ = short_repr

    start: int
    """First character, counted in the original text."""
    end: int
    """One past the last character."""
    surface: str
    """The text between them."""
    type_hint: str
    """An entity type, or `unknown`."""
    source: MentionSource
    alias_id: str | None
    """The one alias this is, when a known alias matched and only one carries the surface."""
    confidence: float
    """0..1: how sure the finder is that this is a name at all."""


class MentionExtractor(Protocol):
    """Finds mentions in a text. Pure: the same text gives the same mentions, sorted by start."""

    name: str
    version: str

    def extract(
        self, text: str, *, scope: Scope | None = None, as_of: int = 0
    ) -> Sequence[Mention]:
        """The mentions of a text, sorted by start.

        `scope` and `as_of` (microseconds) choose the alias table of a finder that holds
        several; others ignore them.
        """
        ...


def compose(*groups: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions of several finders without overlaps, sorted by start.

    The stronger source wins, then the longer span, then the earlier group, then the earlier
    span. A span that overlaps a winner is dropped.
    """
    spans: list[tuple[int, Mention]] = []
    for group, mentions in enumerate(groups):
        spans += [(group, mention) for mention in mentions if mention.start < mention.end]
    spans.sort(key=_strength)

    # One mark a character: whether a span is free costs its own length, however many there are.
    marks = bytearray(max((mention.end for _, mention in spans), default=0))
    winners: list[Mention] = []
    for _, mention in spans:
        start, end = mention.start, mention.end
        if marks.find(1, start, end) < 0:
            marks[start:end] = b"\x01" * (end - start)
            winners.append(mention)

    return tuple(sorted(winners, key=lambda mention: mention.start))


def _strength(item: tuple[int, Mention]) -> tuple[int, int, int, int]:
    group, mention = item
    return (mention.source, mention.start - mention.end, group, mention.start)


@dataclass(frozen=True, slots=True)
class _Shape:
    """One spelling that names have."""

    pattern: re.Pattern[str]
    type_hint: Callable[[str], str | None]
    """Surface -> entity type, or None when it is no name after all."""
    confidence: float


class ShapeExtractor:
    """Finds names by their shape alone."""

    name = "rules"
    version = "2"

    def extract(
        self, text: str, *, scope: Scope | None = None, as_of: int = 0
    ) -> tuple[Mention, ...]:
        """The mentions of a text, sorted, without overlaps."""
        mask = _Mask(len(text))
        for match in _URL.finditer(text):
            mask.add(match.start(), match.end())

        for date in find_dates(text):
            mask.add(date.start, date.end)

        # A shouted text says nothing by its capitals; ids and handles still stand out.
        is_shouted = text.isupper() and len(text.split()) > _SHOUT_WORDS
        shapes: list[Mention] = []
        for mention in _shape_mentions(text):
            is_clear = mask.is_clear(mention.start, mention.end)
            if is_clear and not (is_shouted and mention.surface.isalpha()):
                shapes.append(mention)

        if is_shouted:
            return compose(shapes)
        return compose(shapes, _runs(text, mask))


class _Mask:
    """Spans in which no name is looked for."""

    def __init__(self, length: int) -> None:
        self.marks = bytearray(length)

    def add(self, start: int, end: int) -> None:
        self.marks[start:end] = b"\x01" * (end - start)

    def is_clear(self, start: int, end: int) -> bool:
        return self.marks.find(1, start, end) < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _RuleWords:
    """The word lists of `rule_words.json`."""

    roles: frozenset[str]
    role_heads: frozenset[str]
    not_names: frozenset[str]
    openers: frozenset[str]
    name_verbs: frozenset[str]
    connectors: frozenset[str]
    system_parts: frozenset[str]
    plain_parts: frozenset[str]
    numbered: dict[str, str]
    last_words: dict[str, str]
    first_words: dict[str, str]
    kinds: dict[str, str]
    """What a thing is called, in addition to its name: the Grafana tool, tenant Globex."""


@cache
def _rule_words() -> _RuleWords:
    file = resources.files(__package__ or "").joinpath("rule_words.json")
    raw: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for name, words in raw.items():
        if isinstance(words, list):
            raw[name] = frozenset(cast("list[str]", words))
    return _RuleWords(**raw)


def is_name_of_a_thing(words: Sequence[str]) -> bool:
    """Whether a word says that a name is no person's: `service`, `project`, `office`.

    >>> is_name_of_a_thing(("order", "service")), is_name_of_a_thing(("sam", "rivera"))
    (True, False)
    """
    rules = _rule_words()
    kinds = rules.last_words.keys() | rules.first_words.keys() | rules.system_parts
    return not kinds.isdisjoint(words)


def may_be_person(name: str) -> bool:
    """Whether a name of unknown type may be a person's: two to four plain words.

    >>> may_be_person("Priya Natarajan"), may_be_person("Order Service")
    (True, False)
    """
    form = form_of(name, UNKNOWN_TYPE)
    if form.legal or not 2 <= len(form.tokens) <= 4 or form.digits:
        return False
    if form.tokens[0] in nicknames() or form.tokens[0] in lexicon().titles:
        return True

    return all(word.isalpha() for word in form.tokens) and not is_name_of_a_thing(form.tokens)


def _slug_type(surface: str) -> str | None:
    words = _rule_words()
    parts = re.split(r"[-_]", surface)
    if "_" in surface or not words.system_parts.isdisjoint(parts):
        return "system"
    if not words.plain_parts.isdisjoint(parts):
        return None

    return "system" if any(map(str.isdigit, surface)) else "unknown"


def _capitals_type(surface: str) -> str | None:
    words = _rule_words()
    if surface in words.roles:
        return "role"
    return None if surface in words.not_names else "unknown"


_SHAPES: tuple[_Shape, ...] = (
    _Shape(
        re.compile(
            r"(?<![\w.+-])[\w+-]+(?:\.[\w+-]+){0,4}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+){1,4}\b"
        ),
        lambda _: "unknown",
        0.9,
    ),
    _Shape(
        re.compile(r"(?<![\w@/.])@[A-Za-z]\w*(?:-\w+)*(?:/\w+(?:-\w+)*)?"),
        lambda surface: "team" if "/" in surface else "person",
        0.9,
    ),
    _Shape(
        re.compile(r"(?<![\w-])[A-Z][A-Z0-9]+(?:-[A-Z0-9]+)+(?![\w-])"),
        lambda surface: "task" if surface[-1].isdigit() else "unknown",
        0.9,
    ),
    _Shape(
        re.compile(r"(?<![\w./@-])[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+(?![\w@/-])"), _slug_type, 0.7
    ),
    _Shape(
        re.compile(r"(?<!\w)(?:[A-Z][a-z0-9]+|[a-z]{1,2}(?=[A-Z]))(?:[A-Z][a-z0-9]*)+(?!\w)"),
        lambda _: "unknown",
        0.8,
    ),
    _Shape(re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{1,7}(?![\w-])"), _capitals_type, 0.6),
)


def _shape_mentions(text: str) -> Iterator[Mention]:
    for shape in _SHAPES:
        for match in shape.pattern.finditer(text):
            type_hint = shape.type_hint(match[0])
            if type_hint is not None:
                yield _mention(text, match.start(), match.end(), type_hint, shape.confidence)


def _mention(text: str, start: int, end: int, type_hint: str, confidence: float) -> Mention:
    return Mention(
        start=start,
        end=end,
        surface=text[start:end],
        type_hint=type_hint,
        source=MentionSource.RULE,
        alias_id=None,
        confidence=confidence,
    )


@dataclass(frozen=True, slots=True)
class _CasedWord:
    """A word of a text, with what surrounds it."""

    text: str
    start: int
    end: int
    gap: str
    """What is between the word before and this one."""
    capital: bool
    owns: bool
    """Written with a possessive: a name ends here."""


def _cased_words(text: str, mask: _Mask) -> list[_CasedWord]:
    words, rules = list[_CasedWord](), _rule_words()
    before = 0
    for match in _WORD.finditer(text):
        surface, start = match[0], match.start()
        owns = surface[-2:-1] in _APOSTROPHES and surface.endswith("s") and len(surface) > 2
        if owns:
            surface = surface[:-2]

        # "PR" alone is no name, "PR #260" is.
        is_word = surface in rules.not_names and surface.lower() not in rules.numbered
        capital = surface[:1].isupper() and not is_word
        capital = capital and not (surface == "I" or surface.startswith(_I_AM))
        end = start + len(surface)
        capital = capital and mask.is_clear(start, end)
        words.append(_CasedWord(surface, start, end, text[before:start], capital, owns))
        before = match.end()

    return words


def _runs(text: str, mask: _Mask) -> Iterator[Mention]:
    """Yield the runs of capitalised words that look like names."""
    words = _cased_words(text, mask)
    index = 0
    while index < len(words):
        if not words[index].capital:
            index += 1
            continue

        after = _run_end(words, index)
        opens = _SENTENCE_END.search(
            text, max(0, words[index].start - _LOOK_BACK), words[index].start
        )
        opens_sentence = words[index].start == 0 or opens is not None
        run = _without_openers(words[index:after], opens_sentence)
        following = words[after].text if after < len(words) else ""
        if run and _is_name(run, opens_sentence and len(run) == after - index, following):
            confidence = 0.8 if len(run) > 1 else 0.6
            before = words[index - 1].text if index and words[index].gap == " " else ""
            context_words = (
                before,
                following if after < len(words) and words[after].gap == " " else "",
            )
            hint = (
                _run_type(run) if _run_type(run) != UNKNOWN_TYPE else _kind_of(run, context_words)
            )
            yield _mention(text, run[0].start, run[-1].end, hint, confidence)

        index = after


def _run_end(words: list[_CasedWord], index: int) -> int:
    """One past the last word of the run that starts at a capitalised word."""
    rules = _rule_words()
    after = index + 1
    while after < len(words) and after - index < _RUN_MAX and not words[after - 1].owns:
        last, word = words[after - 1], words[after]
        if word.text[0].isdigit() and last.text.lower() in rules.numbered:
            return after + (word.gap in {" ", " #"})
        if not _joins(last, word):
            break

        if word.capital:
            after += 1
        elif word.text in rules.connectors and _continues(words, after):
            after += 2
        else:
            # "the Chicago office": the kind of thing closes the name.
            return after + (rules.last_words.get(word.text) in {"location", "team", "project"})

    return after


def _continues(words: list[_CasedWord], index: int) -> bool:
    return (
        index + 1 < len(words)
        and words[index + 1].capital
        and _joins(words[index], words[index + 1])
    )


def _joins(last: _CasedWord, word: _CasedWord) -> bool:
    if word.gap == ". ":
        # "Dr. Sam" and "S. Rivera" go on; other full stops end a sentence.
        return len(last.text) == 1 or last.text.lower() in lexicon().titles
    return word.gap in _GAP_JOINS


def _without_openers(run: list[_CasedWord], opens_sentence: bool) -> list[_CasedWord]:
    openers = _rule_words().openers
    while opens_sentence and run and run[0].text.lower() in openers:
        if len(run) > 1 and run[1].capital and run[0].text.lower() in nicknames():
            break  # "Will Smith": a given name that also opens questions
        run = run[1:]

    return run


def _is_name(run: list[_CasedWord], opens_sentence: bool, following: str) -> bool:
    word = run[0]

    if len(run) > 1:
        return len(run) <= _SHOUT_WORDS or not all(part.text.isupper() for part in run)
    if len(word.text) == 1 or word.text in _rule_words().not_names:
        return False

    known = word.owns or following in _rule_words().name_verbs or fold(word.text) in nicknames()
    return known or not opens_sentence


def _kind_of(run: list[_CasedWord], context_words: tuple[str, str]) -> str:
    """The type that a word of the name, or one right next to it, states."""
    kinds = _rule_words().kinds
    ends = (run[-1].text, run[0].text) if len(run) > 1 else ()
    for word in (*ends, *reversed(context_words)):
        if word.lower() in kinds:
            return kinds[word.lower()]
    return UNKNOWN_TYPE


def _run_type(run: list[_CasedWord]) -> str:
    rules = _rule_words()
    first, last = run[0].text.lower(), run[-1].text.lower()

    if len(run) == 1:
        return "role" if run[0].text in rules.roles else "unknown"
    if last[0].isdigit():
        return rules.numbered[run[-2].text.lower()]
    if first in rules.role_heads or run[0].text in rules.roles:
        return "role"

    for words, word in ((rules.last_words, last), (rules.first_words, first)):
        if word in words:
            return words[word]

    legal = lexicon().legal.get((last,))
    if legal is not None and legal.position != "start":
        return "organization"

    is_person = first in lexicon().titles or fold(first) in nicknames() or len(first) == 1
    return "person" if is_person else "unknown"


class Word(NamedTuple):
    """One word of a text."""

    letters: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Word]:
    """Yield the words and the telling punctuation of a text, with their offsets.

    >>> [word.letters for word in words_of("Sam's order-service, v2")]
    ['sam', 'order', 'service', ',', 'v2']
    """
    for match in _ALIAS_WORD.finditer(text):
        surface = match[0]
        end = match.end()
        if match["one"] is None and match["mark"] is None:
            bare = _POSSESSIVE.sub("", surface)
            end -= len(surface) - len(bare)
            surface = bare.replace("'", "").replace("\u2019", "")
        # Folding may give nothing (a lone mark) or several words; both stay one unit here.
        yield Word(fold(surface) or surface, match.start(), end)


class _Alias(NamedTuple):
    alias_id: str
    entity_type: str
    surface: str


class _Node:
    """A state of the trie: what may follow, and which aliases end here."""

    __slots__ = ("after", "aliases")

    def __init__(self) -> None:
        # Most states have one of the two only, and share the empty table for the other.
        self.after: dict[str, _Node] = _NO_WORDS
        self.aliases: dict[str, _Alias] = _NO_ALIASES


class Gazetteer:
    """Finds known aliases: leftmost, longest, at word boundaries."""

    name = "gazetteer"
    version = "1"

    def __init__(self, rows: Iterable[tuple[str, str, str]] = ()) -> None:
        """Take (surface, alias_id, entity_type) rows."""
        self._root = _Node()
        self._surfaces: dict[str, str] = {}
        for surface, alias_id, entity_type in rows:
            self.add(surface, alias_id, entity_type)

    def __len__(self) -> int:
        return len(self._surfaces)

    def add(self, surface: str, alias_id: str, entity_type: str) -> None:
        """Look for one more alias; an id that is already known is replaced.

        A surface without a letter or digit, or of more than 24 words, is not looked for.
        """
        self.discard(alias_id)
        path = _path(surface)
        if not path:
            return

        node = self._root
        for word in path:
            node.after = {} if node.after is _NO_WORDS else node.after
            # One copy of a word, however many names have it.
            node = node.after.setdefault(sys.intern(word), _Node())

        node.aliases = {} if node.aliases is _NO_ALIASES else node.aliases
        node.aliases[alias_id] = _Alias(alias_id, entity_type, surface)
        self._surfaces[alias_id] = surface

    def discard(self, alias_id: str) -> None:
        """Stop looking for an alias; nothing happens when it is not known."""
        surface = self._surfaces.pop(alias_id, None)
        if surface is None:
            return

        node = self._root
        for word in _path(surface):
            node = node.after[word]

        # Emptied states stay: they match nothing, and the next build drops them.
        del node.aliases[alias_id]

    def extract(
        self, text: str, *, scope: Scope | None = None, as_of: int = 0
    ) -> tuple[Mention, ...]:
        """Every known alias in a text, leftmost and longest, without overlaps."""
        words = list(words_of(text))
        addresses = [match.span() for match in _ADDRESS.finditer(text)]
        mentions: list[Mention] = []
        position = 0
        while position < len(words):
            mention, size = self._longest(text, words, position)
            if mention is not None and not _is_inside(mention, addresses):
                mentions.append(mention)
            position += size

        return tuple(mentions)

    def _longest(
        self, text: str, words: list[Word], start_index: int
    ) -> tuple[Mention | None, int]:
        node, best, size = self._root, None, 1
        for offset in range(min(_MAX_LENGTH, len(words) - start_index)):
            following = node.after.get(words[start_index + offset].letters)
            if following is None:
                break
            node = following
            if node.aliases:
                start, end = words[start_index].start, words[start_index + offset].end
                mention = _known_mention(text[start:end], start, end, node.aliases)
                if mention is not None:
                    best, size = mention, offset + 1

        return best, size


def _is_inside(mention: Mention, addresses: Iterable[tuple[int, int]]) -> bool:
    """Whether a mention is a part of an address, which binds as a whole or not at all."""
    span = mention.start, mention.end
    return any(
        start <= span[0] and span[1] <= end and span != (start, end) for start, end in addresses
    )


def _path(surface: str) -> tuple[str, ...]:
    words = [word.letters for word in words_of(surface)]
    while words and not any(map(str.isalnum, words[-1])):
        words.pop()
    return tuple(words) if len(words) <= _MAX_LENGTH else ()


def _known_mention(
    surface: str, start: int, end: int, aliases: dict[str, _Alias]
) -> Mention | None:
    exact = [alias for alias in aliases.values() if alias.surface == surface]
    if not exact and surface.islower() and surface in lexicon().everyday:
        return None

    alike = exact or list(aliases.values())
    types = {alias.entity_type for alias in alike}

    return Mention(
        start=start,
        end=end,
        surface=surface,
        type_hint=types.pop() if len(types) == 1 else "unknown",
        source=MentionSource.ALIAS,
        alias_id=alike[0].alias_id if len(alike) == 1 else None,
        confidence=1.0 if exact else 0.9,
    )
