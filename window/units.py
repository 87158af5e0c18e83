"""What stands in a window: items, and the units that are never split.

An item is one part of a message. A unit is what leaves or changes together: a user message, or a
model message with all its calls and all their results. Providers refuse a request in which one of
them is missing, so nothing in this folder can take a unit apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, cast

from ..compiler.text.sentences import subunits
from ..schema.terms import content_terms
from .facts import (
    argument_names,
    distinct_names,
    facts,
    identifiers,
    names_of_fold,
    proper_names,
)
from .speech import SILENCE, SpeechActs, speech_acts


class PartKind(StrEnum):
    """What one part of a message is."""

    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    MEDIA = "media"
    OPAQUE = "opaque"
    """A part of the provider's own, such as signed thinking: sent back unchanged or not at all."""
    NOTE = "note"
    """Our words about what left, with values of the sources as data."""


class StandingForm(StrEnum):
    """In which form a unit stands, least harm first."""

    FULL = "full"
    PRUNED = "pruned"
    POINTER = "pointer"
    EXTERNAL = "external"
    EXTRACT = "extract"
    SUMMARY = "summary"
    TOMBSTONE = "tombstone"


class ToolKind(StrEnum):
    """Which short form fits a tool result."""

    SEARCH = "search"
    FILE = "file"
    CODE = "code"
    API = "api"


LOSS: Final = {
    StandingForm.FULL: 0,
    StandingForm.PRUNED: 0,
    StandingForm.POINTER: 0,
    StandingForm.EXTERNAL: 100,
    StandingForm.EXTRACT: 300,
    StandingForm.SUMMARY: 500,
    StandingForm.TOMBSTONE: 1_000,
}
"""Permille of a unit's worth that each form costs, rising by how hard it is to take back."""

LEVELS: Final = {
    PartKind.USER: 2,
    PartKind.ASSISTANT: 3,
    PartKind.THINKING: 3,
    PartKind.CALL: 3,
    PartKind.OPAQUE: 3,
    PartKind.RESULT: 4,
    PartKind.MEDIA: 4,
    PartKind.NOTE: 4,
}
"""The authority that each kind of part can have at most."""


_WORDS: Final = frozenset({PartKind.USER, PartKind.ASSISTANT, PartKind.THINKING, PartKind.NOTE})
_OF_USERS: Final = frozenset({PartKind.USER, PartKind.NOTE, PartKind.MEDIA})
_OF_MODELS: Final = frozenset({PartKind.ASSISTANT, PartKind.CALL})
_ATTACHMENT_KINDS: Final = frozenset({PartKind.MEDIA, PartKind.NOTE})


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """A part as a message states it, before it has a number."""

    kind: PartKind
    text: str
    """Of a call its arguments as JSON; of media and opaque parts the provider's JSON."""
    call_id: str = ""
    name: str = ""
    """The tool of a call or a result; the provider's format of media and opaque parts."""
    tool_kind: ToolKind | None = None
    is_error: bool = False


def plain_words(block: str) -> str:
    """The words of a file that a block holds as plain text, empty for bytes and addresses."""
    source = json.loads(block).get("source")
    if isinstance(source, dict) and cast("dict[str, Any]", source).get("type") == "text":
        return str(cast("dict[str, Any]", source).get("data", ""))
    return ""


def emptied_part(part: MessagePart, mark: str) -> MessagePart:
    """A part with our mark in the place of its words, as every provider takes it.

    Arguments of a call stay JSON. What was a provider's own JSON is words from then on: its format
    would refuse the mark, and a signature what it does not sign.
    """
    match part.kind:
        case PartKind.CALL:
            return replace(part, text="{}")
        case PartKind.MEDIA:
            return replace(part, kind=PartKind.NOTE, text=mark, name="")
        case PartKind.OPAQUE:
            return replace(part, kind=PartKind.THINKING, text=mark, name="")
        case _:
            return replace(part, text=mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowItem:
    """A part that stands in the window."""

    seq: int
    """The number of its event: with `part` it is the item's id, and never given again."""
    part: int
    content: MessagePart
    tokens: int
    """Upper bound, with the provider's framing."""
    level: int

    @property
    def kind(self) -> PartKind:
        """The kind of its part."""
        return self.content.kind

    @property
    def text(self) -> str:
        """The text of its part."""
        return self.content.text

    @property
    def is_attached(self) -> bool:
        """Whether it came with the result of a call, as a picture or a file of it."""
        return bool(self.content.call_id) and self.kind in _ATTACHMENT_KINDS


@dataclass(frozen=True)
class WindowUnit:
    """A message with everything that must stand or leave with it.

    What is read off its words is kept with it: units outlive states, and each edit asks again.
    """

    number: int
    """The sequence number of its first event."""
    turn: int
    step: int
    items: tuple[WindowItem, ...]
    form: StandingForm = StandingForm.FULL
    full_tokens: int = 0
    """Tokens in full form, once it stands in another one."""
    last_number: int = 0
    """Of a tombstone for several units: the number of the last one."""
    last_turn: int = 0
    fold_level: int = 0
    """Of a fold: 1 for one of messages, one more for one of folds."""
    given_up: frozenset[str] = frozenset()
    """Calls that will never be answered."""

    def attached_to(self, result: WindowItem) -> tuple[WindowItem, ...]:
        """The pictures and files that came with a result, or our mark where they were erased."""
        return tuple(item for item in self.items if item.seq == result.seq and item.is_attached)

    def of_kind(self, kind: PartKind) -> tuple[WindowItem, ...]:
        """Its items of one kind, in order."""
        return tuple(item for item in self.items if item.kind is kind)

    @cached_property
    def tokens(self) -> int:
        """The upper bounds of its items together."""
        return tokens_in(self.items)

    @cached_property
    def calls(self) -> tuple[WindowItem, ...]:
        """Its calls, in order."""
        return self.of_kind(PartKind.CALL)

    @cached_property
    def results(self) -> tuple[WindowItem, ...]:
        """Its results, in the order in which they came."""
        return self.of_kind(PartKind.RESULT)

    @cached_property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the calls that still wait for their result."""
        answer_ids = {item.content.call_id for item in self.results} | self.given_up

        open_ids: list[str] = []
        for item in self.calls:
            if item.content.call_id not in answer_ids:
                open_ids.append(item.content.call_id)
        return tuple(open_ids)

    @cached_property
    def text(self) -> str:
        """All its words, for scores and searches."""
        words: list[str] = []
        for item in self.items:
            # The bytes of a picture would count as names and numbers that nobody said.
            words.append(plain_words(item.text) if item.kind is PartKind.MEDIA else item.text)
        return "\n".join(words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its distinct terms without stop words."""
        return content_terms(self.text)

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """The ids, numbers and codes in it, in order."""
        return identifiers(self.text)

    @cached_property
    def acts(self) -> SpeechActs:
        """What its words do; a message with calls or results does something else, too."""
        words: list[str] = []
        for item in self.items:
            if item.kind in (PartKind.USER, PartKind.ASSISTANT):
                words.append(item.text)
        if not words:
            return SILENCE

        acts = speech_acts("\n".join(words), by_user=self.is_user)
        return acts._replace(acknowledges=acts.acknowledges and len(words) == len(self.items))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """By which people and calls name what the work is about, in order, each once."""
        if self.form in (StandingForm.EXTRACT, StandingForm.SUMMARY, StandingForm.TOMBSTONE):
            return names_of_fold(self.text.split("\n")[1:])

        names: list[str] = []
        people: list[str] = []
        for item in self.items:
            if item.kind is PartKind.USER:
                names += identifiers(item.text)
                people += proper_names(item.text)
            elif item.kind is PartKind.CALL:
                names += argument_names(item.text)
        # Identifiers first: of what names too much the rest is cut.
        return distinct_names([*names, *people])

    @cached_property
    def facts(self) -> frozenset[str]:
        """What a shorter form of it must still hold."""
        return facts(self.text)

    @cached_property
    def sentences(self) -> dict[str, frozenset[str]]:
        """What was said in it, sentence by sentence, with the facts of each."""
        speech: list[str] = []
        for item in self.items:
            if item.kind in (PartKind.USER, PartKind.ASSISTANT):
                speech.append(item.text)

        return {sentence: facts(sentence) for sentence in subunits("\n".join(speech))}

    @cached_property
    def words(self) -> tuple[str, ...] | None:
        """The texts of a unit that is nothing but words; None where calls or pictures stand."""
        if any(item.kind not in _WORDS for item in self.items):
            return None
        return tuple(item.text for item in self.items if item.text.strip())

    @cached_property
    def role(self) -> str:
        """Who speaks it in a request: a line of ours about what left is a user's."""
        kinds = {item.kind for item in self.items}
        if self.is_user or not kinds.isdisjoint(_OF_MODELS):
            return "user" if self.is_user else "assistant"
        return "user" if self.items[0].kind in _OF_USERS else "assistant"

    @cached_property
    def is_user(self) -> bool:
        """Whether it is a user message, also one that begins with a picture."""
        return any(item.kind is PartKind.USER for item in self.items)


def tokens_in(parts: Iterable[WindowItem | WindowUnit]) -> int:
    """The upper bounds of items, or of units, together."""
    total = 0
    for part in parts:
        total += part.tokens

    return total


def numbers_of(units: Iterable[WindowUnit]) -> set[int]:
    """By which units are named in events and addresses."""
    return {unit.number for unit in units}


def facts_in(units: Iterable[WindowUnit]) -> frozenset[str]:
    """What a shorter form of several units must still hold."""
    union: set[str] = set()
    for unit in units:
        union |= unit.facts

    return frozenset(union)


def pointer(number: int) -> str:
    """The address of the originals of a unit, as texts show it.

    >>> pointer(57)
    'window://57'
    """
    return f"window://{number}"
