"""A typed sentence with some letters changed or put in, and where they stand in the typed one.

The places of the typed text stay known, so that a claim still points at its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

INTRODUCTIONS: Final = ("my colleague ", "meine Kollegin ")
"""Before a name that stands alone, so that it is read like that of somebody whom one introduces."""


class Edit(NamedTuple):
    """Some letters of a text and what stands for them."""

    start: int
    length: int
    text: str
    name: str = ""
    """The typed name whose first letter this is the capital of; empty of any other edit."""

    @property
    def introduces(self) -> bool:
        """Whether it says before a name whose it is."""
        return self.text.startswith(INTRODUCTIONS)


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A sentence with what was left out, and where its letters stand in the typed one."""

    text: str
    edits: tuple[Edit, ...]

    @property
    def introduces(self) -> bool:
        """Whether a name in it is introduced that was not when it was typed."""
        return any(edit.introduces for edit in self.edits)

    def is_introduced(self, position: int) -> bool:
        """Whether a place is where words were put in that say whose name follows."""
        shift = 0
        for edit in self.edits:
            start = edit.start + shift
            if edit.introduces and start <= position < start + len(edit.text):
                return True
            shift += len(edit.text) - edit.length
        return False

    def typed_position(self, position: int) -> int:
        """The place in the typed sentence."""
        shift = 0
        for edit in self.edits:
            start = edit.start + shift
            if position <= start:
                break
            if position < start + len(edit.text):
                return edit.start + min(position - start, edit.length)
            shift += len(edit.text) - edit.length
        return position - shift

    def typed_names(self, words: str) -> str:
        """Words with their names in the letters that were typed."""
        for edit in self.edits:
            if edit.name:
                capital = edit.name[0].upper() + edit.name[1:]
                words = re.sub(rf"\b{capital}\b", edit.name, words)
        return words


def readings(edits: Iterable[Edit]) -> Iterator[tuple[Edit, ...]]:
    """The edits of a sentence as it stands, and once more with its name introduced, if it has one.

    >>> [len(reading) for reading in readings([Edit(0, 0, INTRODUCTIONS[0]), Edit(9, 0, ",")])]
    [1, 2]
    """
    all_edits = tuple(edits)
    plain_edits = tuple(edit for edit in all_edits if not edit.introduces)
    yield plain_edits
    if len(plain_edits) < len(all_edits):
        yield all_edits


def written_out(sentence: str, edits: Iterable[Edit]) -> WrittenOut:
    """A sentence with some edits, of two in one place the first."""
    parts: list[str] = []
    ordered_edits: list[Edit] = []
    end = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        if edit.start < end or (ordered_edits and edit.start == ordered_edits[-1].start):
            continue
        parts += [sentence[end : edit.start], edit.text]
        ordered_edits.append(edit)
        end = edit.start + edit.length
    return WrittenOut("".join([*parts, sentence[end:]]), tuple(ordered_edits))
