"""How a compaction of another library talks with the bench that measures it: lines of JSON.

The bench hands in the chain of messages and a trigger for each replay. The other side
tells each request that it would send, and is told its tokens; it asks for a summary by naming who
said what. So neither the summariser nor the token counts differ between the compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

Message = dict[str, Any]


class Channel:
    """The bench, as a compaction sees it."""

    def __init__(self) -> None:
        # What a library prints must not pose as a line of ours.
        self._lines, sys.stdout = sys.stdout, sys.stderr

    def sent(self, texts: Sequence[str], messages: Sequence[Any], *, opens_turn: bool) -> int:
        """Tell the texts and the native messages of a request, and return its tokens."""
        line = {"request": list(texts), "messages": list(messages), "opens_turn": opens_turn}
        return int(self._answer(line))

    def summary(self, sayings: Sequence[tuple[str, str]]) -> str:
        """The summary of who said what."""
        return str(self._answer({"summarise": list(sayings)}))

    def serve(self, replay: Callable[[list[Message], int], None]) -> None:
        """Replay each chain that comes, with its trigger, until no more does."""
        while line := sys.stdin.readline():
            messages, trigger = json.loads(line)
            replay(messages, trigger)
            self._write({"end": True})

    def _answer(self, line: dict[str, Any]) -> Any:
        self._write(line)
        return json.loads(sys.stdin.readline())

    def _write(self, line: dict[str, Any]) -> None:
        self._lines.write(json.dumps(line) + "\n")
        self._lines.flush()


def call_of(message: Message) -> tuple[str, str, str] | None:
    """The id, name and arguments of a message's call, None for none."""
    calls = message.get("tool_calls")
    if not calls:
        return None
    function = calls[0]["function"]
    return calls[0]["id"], function["name"], function["arguments"]
