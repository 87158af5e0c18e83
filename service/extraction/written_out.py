"""A typed sentence with some letters changed or put in, and where they stand in the typed one.

The places of the typed text stay known, so that a claim still points at its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Edit(NamedTuple):
    """Some letters of a text and what stands for them."""

    start: int
    length: int
    text: str
    name: str = ""
    """The typed name whose first letter this is the capital of; empty of any other edit."""


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A sentence with what was left out, and where its letters stand in the typed one."""

    text: str
    edits: tuple[Edit, ...]

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
                words = re.sub(rf"\b{edit.text}{edit.name[1:]}\b", edit.name, words)
        return words


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
