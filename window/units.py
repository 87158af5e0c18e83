"""What stands in a window: items, and the units that are never split.

An item is one part of a message. A unit is what leaves or changes together: a user message, or a
model message with all its calls and all their results. Providers refuse a request in which one of
them is missing, so nothing in this folder can take a unit apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, cast

from ..schema.record_json import from_plain, to_plain
from ..schema.terms import content_terms
from .events import ERASURE_MARK
from .words import SILENCE, SpeechActs, facts, identifiers, speech_acts


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
    """In which form a unit is kept."""

    FULL = "full"
    SHORT = "short"
    """A result as an excerpt, or as the address of a later equal one; a picture as a line."""
    SUMMARY = "summary"
    """A model's summary of neighbouring units."""
    LEDGER = "ledger"
    """It left the window: its names are in the ledger, its original under its address."""


class ToolKind(StrEnum):
    """Which short form fits a tool result."""

    SEARCH = "search"
    FILE = "file"
    CODE = "code"
    API = "api"


RECALL_TOOL: Final = "recall_original"
"""The tool by which a model reads what left its window."""
RECALL_TEXT: Final = (
    "Read in full what left this conversation or is shortened in it. Ask with an address that is "
    "shown (window://57 or window://57-80), with turn:12, or with a question in plain words. Where "
    "a page ends with a cursor, ask with the cursor for the next one."
)
RECALL_INPUT: Final = {
    "type": "object",
    "properties": {"request": {"type": "string", "description": "address, turn, question, cursor"}},
    "required": ["request"],
}
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


_PART_DEFAULTS: Final = {"call_id": "", "name": "", "tool_kind": None, "is_error": False}
"""Fields that the line of an event about a part leaves out where they say nothing."""


def part_body(part: MessagePart, tokens: int) -> dict[str, Any]:
    """What an event's body says of a part; its text stands beside the body."""
    fields = {**to_plain(part), "tokens": tokens}
    return {name: value for name, value in fields.items() if value and name != "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowItem:
    """A part that stands in the window."""

    seq: int
    """The number of its event: with `part` it is the item's id, and never given again."""
    part: int
    content: MessagePart
    tokens: int
    """Upper bound, with the provider's framing."""

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


def item_from(seq: int, line: Mapping[str, Any], text: str, part: int = 0) -> WindowItem:
    """The item of an event's line about a part, with the part's text."""
    fields: dict[str, Any] = {**_PART_DEFAULTS, **line, "text": text}
    tokens = fields.pop("tokens")
    content: MessagePart = from_plain(MessagePart, fields)
    if text == ERASURE_MARK:
        content = emptied_part(content, text)
    return WindowItem(seq=seq, part=part, content=content, tokens=tokens)


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
    """Of a summary of several units: the number of the last one."""
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
    def speech(self) -> tuple[str, ...]:
        """What a user or the model said in it."""
        speakers = (PartKind.USER, PartKind.ASSISTANT)
        return tuple(item.text for item in self.items if item.kind in speakers)

    @cached_property
    def acts(self) -> SpeechActs:
        """What its words do; a message with calls or results does something else, too."""
        if not self.speech:
            return SILENCE
        acts = speech_acts("\n".join(self.speech), by_user=self.is_user)
        is_all = len(self.speech) == len(self.items)
        return acts._replace(acknowledges=acts.acknowledges and is_all)

    @cached_property
    def names(self) -> tuple[tuple[str, str, int], ...]:
        """What its ledger entry keeps: a word, who said it, and the event in which it was said."""
        tools = {item.content.call_id: item.content.name for item in self.calls}
        names: list[tuple[str, str, int]] = []
        for item in self.items:
            match item.kind:
                case PartKind.USER:
                    source = "user"
                case PartKind.RESULT:
                    # The name is a tool's own word; a result of another build may lack it.
                    call_id = item.content.call_id
                    source = item.content.name or tools.get(call_id, "tool")
                case PartKind.MEDIA | PartKind.OPAQUE:
                    continue
                case PartKind.NOTE:
                    source = "summary"
                case _:
                    source = "assistant"
            for word in identifiers(item.text):
                names.append((word, source, item.seq))
        return tuple(names)

    @cached_property
    def is_page(self) -> bool:
        """Whether it holds nothing but pages of originals that the model asked for."""
        return bool(self.calls) and all(item.content.name == RECALL_TOOL for item in self.calls)

    @cached_property
    def facts(self) -> frozenset[str]:
        """What a shorter form of it must still hold."""
        return facts(self.text)

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


def unit_record(unit: WindowUnit) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A unit without its words, and its words in the order of its parts."""
    items: list[WindowItem] = []
    for item in unit.items:
        items.append(replace(item, content=replace(item.content, text="")))
    return to_plain(replace(unit, items=tuple(items))), tuple(item.text for item in unit.items)


def unit_from(record: Mapping[str, Any], texts: Iterator[str]) -> WindowUnit:
    """The unit of a record; its words are taken off an iterator that several records share."""
    unit: WindowUnit = from_plain(WindowUnit, record)
    items: list[WindowItem] = []
    for item in unit.items:
        content = replace(item.content, text=next(texts))
        if content.text == ERASURE_MARK:
            content = emptied_part(content, content.text)
        items.append(replace(item, content=content))
    return replace(unit, items=tuple(items))


def pointer(number: int) -> str:
    """The address of the originals of a unit, as texts show it.

    >>> pointer(57)
    'window://57'
    """
    return f"window://{number}"
