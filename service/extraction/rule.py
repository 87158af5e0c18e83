"""A rule of extraction: a sentence pattern, and what slot its value fills."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern whose group `value` is the value of a slot."""

    slot: str
    pattern: re.Pattern[str]
    op: str = "assert"
    is_list: bool = False
    """Whether the value is an enumeration, a claim for each part."""
    is_former: bool = False
    """Whether it held before and no longer does."""
    is_dated: bool = False
    """Whether it is something that takes place, and counts only with its day."""
    if_known: bool = False
    """Whether it ends only what is known: "I left Acme" may speak of a shop or of an employer."""
    is_timeless: bool = False
    """Whether a day of the sentence is another's: a sister who came on Monday was one before."""


def row(slot: str, pattern: str, op: str = "assert", **flags: bool) -> Rule:
    """A rule from the text of its pattern; `flags` are those of `Rule`."""
    return Rule(slot, re.compile(pattern), op, **flags)
