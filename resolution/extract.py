"""Names in running text by their shape: ids, slugs, CamelCase, handles, capitalised runs.

No model, no network, no list of known names (that is `Gazetteer`). Each shape is one row of
`_SHAPES` or a run of capitalised words; where shapes overlap the longer span wins. Dates and
URLs are found first and block what lies inside them: June is no person. A capitalised word that
opens a sentence is taken only when more speaks for a name.

What rules cannot see: lower-case names without a hyphen, scripts without capitals, two names
joined by "and". Linear in the text. A caller's own mentions and known aliases win over rules
(`compose`). Checklist C-046.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ..schema.principal import Scope
from ..schema.slots import UNKNOWN_TYPE
from .lexicon import lexicon, nicknames
from .mention import Mention, MentionSource, compose
from .normalize import fold, form_of
from .text import find_dates

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
    counters: dict[str, str]
    last_words: dict[str, str]
    first_words: dict[str, str]
    kinds: dict[str, str]
    """What a thing is called beside its name: the Grafana tool, tenant Globex."""


@cache
def _rule_words() -> _RuleWords:
    file = resources.files(__package__ or "").joinpath("rule_words.json")
    raw: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return _RuleWords(
        roles=frozenset(raw["roles"]),
        role_heads=frozenset(raw["role_heads"]),
        not_names=frozenset(raw["not_names"]),
        openers=frozenset(raw["openers"]),
        name_verbs=frozenset(raw["name_verbs"]),
        connectors=frozenset(raw["connectors"]),
        system_parts=frozenset(raw["system_parts"]),
        plain_parts=frozenset(raw["plain_parts"]),
        counters=raw["numbered"],
        last_words=raw["last_words"],
        first_words=raw["first_words"],
        kinds=raw["kinds"],
    )


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


def _id_type(surface: str) -> str:
    return "task" if surface[-1].isdigit() else "unknown"


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
    _Shape(re.compile(r"(?<![\w-])[A-Z][A-Z0-9]+(?:-[A-Z0-9]+)+(?![\w-])"), _id_type, 0.9),
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
    """What stands between the word before and this one."""
    capital: bool
    owns: bool
    """Written with a possessive: a name ends here."""


def _cased_words(text: str, mask: _Mask) -> list[_CasedWord]:
    words: list[_CasedWord] = []
    before = 0
    for match in _WORD.finditer(text):
        surface, start = match[0], match.start()
        owns = surface[-2:-1] in _APOSTROPHES and surface.endswith("s") and len(surface) > 2
        if owns:
            surface = surface[:-2]

        capital = surface[:1].isupper() and _may_be_name(surface)
        capital = capital and not (surface == "I" or surface.startswith(_I_AM))
        end = start + len(surface)
        capital = capital and mask.is_clear(start, end)
        words.append(_CasedWord(surface, start, end, text[before:start], capital, owns))
        before = match.end()

    return words


def _may_be_name(word: str) -> bool:
    # "PR" alone is no name, "PR #260" is.
    rules = _rule_words()
    return word not in rules.not_names or word.lower() in rules.counters


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
        if word.text[0].isdigit() and last.text.lower() in rules.counters:
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
    """The type that a word of the name, or one right beside it, states."""
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
        return rules.counters[run[-2].text.lower()]
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
