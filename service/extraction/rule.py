"""A rule of extraction: a sentence pattern, and what slot its value fills."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, Protocol

from .written_out import Edit


@dataclass(frozen=True)  # without slots, which would leave no place for the pattern
class Rule:
    """A pattern whose group `value` is the value of a slot."""

    slot: str
    pattern_text: str
    op: str = "assert"
    is_list: bool = False
    """Whether the value is an enumeration, a claim for each part."""
    is_former: bool = False
    """Whether it held before and no longer does."""
    is_dated: bool = False
    """Whether it is something that takes place, and counts only with its day."""
    if_known: bool = False
    """Whether it ends only what is known, or brings back only what was: "I left Acme" and "I'm back
    at Acme" may speak of a shop or of an employer."""
    is_unnamed: bool = False
    """Whether it ends the only thing of a kind, and the value is the word of the kind: "my car"."""
    is_first_name: bool = False
    """Whether it counts only for a common first name, as anything may stand in its place."""
    is_timeless: bool = False
    """Whether a day of the sentence is another's: a sister who came on Monday was one before."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, made when a text first asks for it: most texts are of one language."""
        return re.compile(self.pattern_text)


def row(slot: str, pattern: str, op: str = "assert", **flags: bool) -> Rule:
    """A rule from the text of its pattern; `flags` are those of `Rule`."""
    return Rule(slot, pattern, op, **flags)


def former_rows(slot: str, pattern: str, **flags: bool) -> tuple[Rule, Rule]:
    """Rules of what was so: it held before, and ends where it is known to hold."""
    return (
        row(slot, pattern, "assert", is_former=True, **flags),
        row(slot, pattern, "deny", if_known=True, **flags),
    )


class DayFinder(Protocol):
    """Finds the first day that a sentence names."""

    def __call__(self, sentence: str, now: datetime, *, is_ahead: bool = False) -> datetime | None:
        """Of days without a year the last, or with `is_ahead` the next."""
        ...


class DayBehind(Protocol):
    """Finds the day that stands behind `until` or `from`."""

    def __call__(self, sentence: str, preposition: str, now: datetime) -> datetime | None:
        """The day, or None where none stands behind the preposition."""
        ...


class EditFinder(Protocol):
    """Finds what a sentence leaves out."""

    def __call__(self, sentence: str, *, is_first: bool) -> Iterator[Edit]:
        """The edits that put it back; `is_first` at the head of a text."""
        ...


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a language, and how it says days and takes words back."""

    rules: Sequence[Rule]
    correction: re.Pattern[str]
    """How a sentence begins that takes an earlier word back."""
    replaced_value: re.Pattern[str]
    """What follows a value that stands in for another: ", not in Cologne"."""
    date_said: DayFinder
    date_after: DayBehind
    edits: EditFinder


_JOINT: Final = r"(?:,? (?:and|but|so|because|und|aber|denn) |[,;] )"
_DOES: Final = (
    r"(?:ends?|ended|starts?|started|begins?|began|runs?|ran|expires?|expired|renews?|opens?|opened|"
    r"closes?|closed|is|are|was|were|has|had|will|finishes|goes|went|comes|came|gets|got|turns|"
    r"turned|visits|moves|moved|arrives|arrived|leaves|left|needs|takes|took|happens|died)"
)
_TUT: Final = (
    r"(?:ist|war|wird|hat|hatte|läuft|lief|endet|beginnt|begann|startet|fängt|kommt|kam|geht|ging|"
    r"schließt|öffnet|zieht|zog|heiratet|feiert|fällt|steht|muss|soll|kann|ziehe|fahre|fliege|"
    r"fange|habe|bin)"
)
_NEXT_CLAUSE: Final = re.compile(
    rf"{_JOINT}(?=(?:I|we|ich|wir|he|she|it|they|er|sie|es)\b"
    rf"|(?:the|my|our|his|her|their|its|an?|next|last) (?:[\w'-]+ ){{1,2}}{_DOES}\b"
    rf"|[A-Z][\w'-]* {_DOES}\b"
    r"|(?:d(?:er|ie|as)|mein\w*|unser\w*|ihr\w*|sein\w*|nächste\w*) "
    rf"(?:[a-zäöüß]+ )?[A-ZÄÖÜ][\w-]* {_TUT}\b"
    rf"|[A-ZÄÖÜ][\w-]* {_TUT}\b"
    rf"|(?:am|im|ab|seit|morgen|gestern|heute|nächste\w*|letzte\w*) (?:[\w.]+ ){{0,2}}?{_TUT} "
    r"(?:ich|wir|er|sie|es|der|die|das|mein\w*|unser\w*|[A-ZÄÖÜ]\w*)(?!\w))"
    r"|,? (?=(?:which|who|whose) (?!(?:I|we|starts?|started|begins?|began)\b))"
)
"""Where a sentence goes on with somebody or something else, of which another day may be said."""
_SPEAKER: Final = re.compile(
    r"\b(?P<self>I|[Ww]e|[Ii]ch|[Ww]ir)\b|\b(?:[Mm]y|[Oo]ur|[Mm]eine?|[Uu]nsere?|[Tt]he|[Dd](?:er|ie|as))\b"
)


def day_of(
    rule_set: RuleSet, match: re.Match[str], sentence: str, moment: datetime, *, is_ahead: bool
) -> datetime | None:
    """The day that is said of a match: in its own clause, or before anybody does anything."""
    # "I moved in March 2024 and I work there since 2021" says two days, each of one thing.
    start, end = 0, len(sentence)
    # The words of a plan reach as far as the sentence, what somebody has only to its name.
    own_end = match.start("value") if is_ahead else match.end()
    for boundary in _NEXT_CLAUSE.finditer(sentence):
        if boundary.end() <= match.start():
            start = boundary.end()
        elif boundary.start() >= own_end:
            end = boundary.start()
            break

    day = rule_set.date_said(sentence[start:end], moment, is_ahead=is_ahead)
    # "In 2024 I moved there and I changed jobs" says one day of both.
    speaker = _SPEAKER.search(sentence)
    if day is None and start and speaker is not None and speaker["self"]:
        day = rule_set.date_said(sentence[: speaker.start()], moment, is_ahead=is_ahead)
    return day
