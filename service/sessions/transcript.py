"""Transcripts of conversations that ran elsewhere, as messages and tool results in their order.

A transcript is read in the form in which its provider keeps it: messages of OpenAI chat or of
Anthropic, items of the Responses API, contents of Gemini, or events of the ADK around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from ...schema.documents import json_of, utf8_of
from ...schema.errors import InvalidInput, NotFound, Unavailable

Entry = Mapping[str, Any]
_MODEL_ITEMS: Final = frozenset({"function_call", "reasoning"})
"""Items of the Responses API that belong to one answer of the model."""
_LISTS: Final = ("messages", "contents", "input", "events")


class Utterance(NamedTuple):
    """A message of a user or an assistant."""

    role: str
    message: Entry


class ToolAnswer(NamedTuple):
    """A tool's result; without an id it answers the open call of its name."""

    call_id: str
    name: str
    content: Any
    is_error: bool


def read_transcript(path: str | Path) -> list[Entry]:
    """The entries of a transcript: a JSON list, an object that holds one, or JSON Lines.

    Raises:
        InvalidInput: `bad_message`, for a file that holds no messages.
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(
            f"there is no file {file}; name one that holds the messages of a conversation, as JSON "
            "or JSON Lines",
            code="unknown_file",
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{file} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error

    text = utf8_of(content, str(file), code="bad_message")
    try:
        trees = [_tree(text)] if text.lstrip()[:1] == "[" else _lines(text)
    except InvalidInput as error:
        raise InvalidInput(
            f"{file} is no transcript, messages as JSON or JSON Lines: {error}", code="bad_message"
        ) from error

    entries: list[Entry] = []
    for tree in trees:
        entries += _entries(tree)

    if not entries:
        raise InvalidInput(f"{file} holds no messages", code="bad_message")

    return entries


def _lines(text: str) -> list[Any]:
    try:
        return [_tree(text)]
    except InvalidInput:
        return [_tree(line) for line in text.splitlines() if line.strip()]


def _tree(text: str) -> Any:
    return json_of(text, "it", code="bad_message")


def _entries(tree: Any) -> list[Entry]:
    if isinstance(tree, list):
        members: list[Any] = tree  # pyright: ignore[reportUnknownVariableType]
        return [cast("Entry", entry) for entry in members if isinstance(entry, dict)]

    if not isinstance(tree, dict):
        return []

    for name in _LISTS:
        if isinstance(tree.get(name), list):  # pyright: ignore[reportUnknownMemberType]
            return _entries(tree[name])

    return [cast("Entry", tree)]


def transcript_steps(entries: Iterable[Entry]) -> Iterator[Utterance | ToolAnswer]:
    """Messages and tool results in their order; system texts are the session's own matter."""
    answer: list[Entry] = []
    for entry in entries:
        # The ADK keeps a content inside an event; what surrounds it is its bookkeeping.
        content = entry.get("content")
        if isinstance(content, dict) and "parts" in content:
            entry = cast("Entry", content)

        if entry.get("type") in _MODEL_ITEMS:
            answer.append(entry)
            continue

        if answer:
            yield _model_answer(answer)
            answer = []

        yield from _steps_of(entry)

    if answer:
        yield _model_answer(answer)


def _model_answer(items: Sequence[Entry]) -> Utterance:
    """The one message that neighbouring items of the Responses API are."""
    calls: list[Entry] = []
    opaque: list[Entry] = []
    for item in items:
        if item["type"] == "function_call":
            function = {"name": item.get("name", ""), "arguments": item.get("arguments", "")}
            calls.append({"id": item.get("call_id", ""), "function": function})
        else:
            opaque.append(item)

    return Utterance("assistant", {"role": "assistant", "content": opaque, "tool_calls": calls})


def _steps_of(entry: Entry) -> Iterator[Utterance | ToolAnswer]:
    role = {"model": "assistant"}.get(str(entry.get("role")), str(entry.get("role")))
    if entry.get("type") == "function_call_output":
        yield ToolAnswer(str(entry.get("call_id", "")), "", entry.get("output"), False)
    elif role in ("tool", "function"):
        call_id, name = str(entry.get("tool_call_id", "")), str(entry.get("name", ""))
        yield ToolAnswer(call_id, name, entry.get("content"), False)
    elif role in ("user", "assistant"):
        key = "parts" if "parts" in entry else "content"
        blocks = entry.get(key)
        if not isinstance(blocks, list):
            yield Utterance(role, entry)
            return

        # Results stand inside a user's message here; what is left of it was really said.
        speech: list[Any] = []
        for block in cast("list[Entry]", blocks):
            result = _tool_answer(block)
            if result is None:
                speech.append(block)
            else:
                yield result

        if speech or entry.get("tool_calls"):
            yield Utterance(role, {**entry, key: speech})


def _tool_answer(block: Entry) -> ToolAnswer | None:
    if block.get("type") == "tool_result":
        is_error = bool(block.get("is_error"))
        return ToolAnswer(str(block.get("tool_use_id", "")), "", block.get("content"), is_error)

    response = block.get("function_response") or block.get("functionResponse")
    if response:
        call_id, name = str(response.get("id") or ""), str(response.get("name", ""))
        return ToolAnswer(call_id, name, response.get("response"), False)

    return None
