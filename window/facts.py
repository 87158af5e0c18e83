"""What of a text cannot be guessed: identifiers, numbers, dates and names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, cast

from ..compiler.text.sentences import facts_of

# A run of signs is looked at from its beginning alone: where it fails there, it fails everywhere in
# it, and a long line of dots or dashes would be looked through once for each of them.
_IDENTIFIER: Final = re.compile(
    r"(?<![\w.@#-])[.-]*+(?=[\w.@#-]*\d)([\w@#][\w.@#-]{3,}\w)|\b([A-Z]{3,}[A-Z0-9_-]*)\b"
)

_INNER_WORD: Final = re.compile(r"(?<=[^\s.!?:] )[^\W\d_][\w-]{2,}")
"""A word inside a sentence: only there a capital says that it is a name."""
_WORD: Final = re.compile(r"[\w.@#:/+-]{3,60}")
"""A value that stands in a line of names: one word, in which nothing ends a line."""
_LONGEST_VALUE: Final = 200
"""Characters of an argument that is read for names; a longer one is a file or a program."""
_MOST_NAMES: Final = 40
"""Of one unit: what names more is pasted text or a list."""
_USER: Final = "user: "
_NAMES: Final = "names: "
"""How the line of a fold begins that holds names alone."""


@lru_cache(maxsize=4_096)
def identifiers(text: str) -> tuple[str, ...]:
    """The ids, numbers and codes of a text in order, each once.

    >>> identifiers('{"id": "JG7FMM", "paid_by": "credit_card_2929732", "seats": 4}')
    ('JG7FMM', 'credit_card_2929732')
    """
    pairs = _IDENTIFIER.findall(text)
    return tuple(dict.fromkeys(number or code for number, code in pairs))


@lru_cache(maxsize=4_096)
def proper_names(text: str) -> tuple[str, ...]:
    """The capitalised words inside the sentences of a text, in order, each once.

    In German that is every noun; `distinct_names` bounds what they may take.

    >>> proper_names("Use one for Aarav, another for Evelyn. Then pay by card.")
    ('Aarav', 'Evelyn')
    """
    names: dict[str, None] = {}
    for word in _INNER_WORD.findall(text):
        if word[0].isupper():
            names[word] = None
    return tuple(names)


def has_identifier(text: str) -> bool:
    """Whether a text holds an identifier."""
    return _IDENTIFIER.search(text) is not None


def facts(text: str) -> frozenset[str]:
    """What a shorter form of a text must still hold."""
    return facts_of(text) | set(identifiers(text))


@lru_cache(maxsize=4_096)
def argument_names(arguments: str) -> tuple[str, ...]:
    """The values of a call's arguments that are one word, and the identifiers in the others.

    >>> argument_names('{"id": "JG7FMM", "cabin": "economy", "note": "as asked on 2024-05-21"}')
    ('JG7FMM', 'economy', '2024-05-21')
    """
    names: list[str] = []
    for value in _words_in(json.loads(arguments)):
        if _WORD.fullmatch(value):
            names.append(value)
        elif len(value) <= _LONGEST_VALUE:
            names += identifiers(value)
    return distinct_names(names)


def distinct_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names in their order, each once, as many as one unit may hand on."""
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def names_line(names: Iterable[str]) -> str:
    """The line of a fold that holds names alone; `names_of_fold` reads it back."""
    return _NAMES + json.dumps(" ".join(names), ensure_ascii=False)


def names_of_fold(lines: Iterable[str]) -> tuple[str, ...]:
    """What people and calls named, read off the lines of a fold."""
    names: list[str] = []
    for line in lines:
        if line.startswith(_NAMES):
            names += json.loads(line.removeprefix(_NAMES)).split(" ")
        elif line.startswith(_USER):
            speech = json.loads(line.removeprefix(_USER))
            names += identifiers(speech)
            names += proper_names(speech)
        # A line that begins with a quotation mark is what results named alone.
        elif not line.startswith(('"', "assistant: ")):
            names += identifiers(line.partition(" -> ")[0])
    return tuple(dict.fromkeys(names))


def _words_in(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for value in cast("dict[str, Any]", tree).values():
            yield from _words_in(value)
    elif isinstance(tree, list):
        entries: list[Any] = tree  # pyright: ignore[reportUnknownVariableType]
        for value in entries:
            yield from _words_in(value)
    elif isinstance(tree, str):
        yield tree
