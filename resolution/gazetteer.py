"""Known names in running text: a word trie over every visible alias.

The text is cut into words with their offsets, each word is folded (case, accents, script), and
the longest alias that starts at a word wins, from left to right. Word boundaries come for free;
scripts without spaces are cut into single characters. Spaces and hyphens between words do not
count (`order-service` is found as `Order Service`); a comma, a full stop or an empty line does,
so a name never runs across a sentence. A match costs at most the words of the longest alias, so
long texts take linear time.

Names that are also everyday words ("Will", "Mark") are found only when capitalised. Build one
gazetteer per tenant and scope from the aliases valid at an instant; `add` and `discard` keep it
current between builds.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..schema.principal import Scope
from .lexicon import lexicon
from .mention import Mention, MentionSource
from .normalize import fold

_CJK_AND_THAI = (
    "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0670\u0900-\u0dff"
_LETTER = rf"(?:(?![{_CJK_AND_THAI}_])[\w{_MARKS}])"
_JOINER = r"\-\u2010\u2011_"
_WORD = re.compile(
    rf"(?P<one>[{_CJK_AND_THAI}])"
    rf"|@?{_LETTER}+(?:['\u2019]{_LETTER}+)*(?:[+#]+(?!{_LETTER}))?"
    rf"|(?P<mark>\n[ \t\r]*\n|[^\s{_JOINER}])"
)
_POSSESSIVE = re.compile(r"['\u2019][sS]$")
_MAX_WORDS = 24
"""Aliases of more words are not looked for."""


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
    for match in _WORD.finditer(text):
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


_NO_WORDS: dict[str, _Node] = {}
_NO_ALIASES: dict[str, _Alias] = {}


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
        mentions: list[Mention] = []
        position = 0
        while position < len(words):
            mention, size = self._longest(text, words, position)
            if mention is not None:
                mentions.append(mention)
            position += size

        return tuple(mentions)

    def _longest(
        self, text: str, words: list[Word], start_index: int
    ) -> tuple[Mention | None, int]:
        node, best, size = self._root, None, 1
        for offset in range(min(_MAX_WORDS, len(words) - start_index)):
            following = node.after.get(words[start_index + offset].letters)
            if following is None:
                break
            node = following
            if node.aliases:
                start, end = words[start_index].start, words[start_index + offset].end
                mention = _mention(text[start:end], start, end, node.aliases)
                if mention is not None:
                    best, size = mention, offset + 1

        return best, size


def _path(surface: str) -> tuple[str, ...]:
    words = [word.letters for word in words_of(surface)]
    while words and not any(map(str.isalnum, words[-1])):
        words.pop()
    return tuple(words) if len(words) <= _MAX_WORDS else ()


def _mention(surface: str, start: int, end: int, aliases: dict[str, _Alias]) -> Mention | None:
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
