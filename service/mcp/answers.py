"""Answers of tools: short lines for the model, the same as data, cut into pages.

A model pays for every token of an answer, so none is longer than `PAGE_TOKENS`; what is left
comes with the cursor. A cursor holds the moment of the first page and where it ended, and is
bound to caller, tool and arguments: an edited or foreign one is refused. It grants nothing, for
each page is read anew as the caller of the day.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_types import CallToolResult, TextContent

from ...compiler.tokens.counting import ExactCounter
from ...schema.errors import InvalidInput, TenureError
from ..backend.caller import backend_of
from ..client.memory import Memory

PAGE_TOKENS: Final = 2_000
"""The most of a text, in o200k tokens."""

_PURPOSE: Final = "tenure cursor v1"
"""Keeps the other uses of the tenant's key apart from this one."""

_ROOM: Final = 240
"""Tokens kept for the line that names the cursor, and for the frame of the data."""

_COUNTER: Final = ExactCounter()


@dataclass(frozen=True, slots=True)
class ToolItem:
    """One line of an answer, and the same as data."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def tokens(self) -> int:
        """What the longer of its two forms costs."""
        plain = json.dumps(self.data, ensure_ascii=False)
        return max(_COUNTER.count(self.text + "\n"), _COUNTER.count(plain))


@dataclass(frozen=True, slots=True)
class ToolQuestion:
    """A call of a tool: who asks what, and the page that is asked for."""

    memory: Memory
    tool: str
    arguments: Mapping[str, Any]
    cursor: str | None = None

    def place(self) -> tuple[int, str | None]:
        """The number of the first item, and the tx that the first page was read at.

        Raises:
            InvalidInput: `bad_cursor`.
        """
        if self.cursor is None:
            return 0, None
        # Whatever a cursor decodes to, only one that this server marked is believed.
        try:
            first, tx, mark = json.loads(base64.urlsafe_b64decode(self.cursor))
            is_own = hmac.compare_digest(str(mark), self._mark(int(first), tx))
        except (ValueError, TypeError, binascii.Error):
            is_own = False
            first, tx = 0, None
        if not is_own:
            raise InvalidInput(
                "this cursor is not of this call; ask again without one", code="bad_cursor"
            )

        return int(first), tx

    def cursor_to(self, first: int, tx: str | None) -> str:
        """The cursor of the page that begins with an item."""
        plain = json.dumps([first, tx, self._mark(first, tx)])
        return base64.urlsafe_b64encode(plain.encode()).decode()

    def _mark(self, first: int, tx: object) -> str:
        caller = self.memory.principal
        identity = [caller.tenant, caller.user, caller.session, sorted(caller.roles)]
        bound = json.dumps(
            [_PURPOSE, identity, self.tool, dict(self.arguments), first, tx],
            sort_keys=True,
            default=str,
        )
        secret = backend_of(self.memory).secret(caller.tenant)
        return hmac.new(secret, bound.encode(), hashlib.sha256).hexdigest()[:24]


def page(
    question: ToolQuestion,
    items: Sequence[ToolItem],
    *,
    head: Mapping[str, Any] | None = None,
    tx: str | None = None,
    placeholder: str = "nothing found",
) -> CallToolResult:
    """The items that fit into one answer, from where the cursor says."""
    first, _ = question.place()
    left_tokens = PAGE_TOKENS - _ROOM - _COUNTER.count(json.dumps(head or {}, default=str))
    last = first

    for item in items[first:]:
        left_tokens -= item.tokens
        # The first item goes in whatever it costs, or a page could stand still for ever.
        if left_tokens < 0 and last > first:
            break
        last += 1

    page_items = items[first:last]
    lines = [item.text for item in page_items] or [placeholder]
    data: dict[str, Any] = {"status": "ok", **(head or {})}
    data["items"] = [dict(item.data) for item in page_items if item.data]
    if last < len(items):
        data["cursor"] = question.cursor_to(last, tx)
        lines.append(f"({len(items) - last} more; call again with cursor={data['cursor']})")

    return answer("\n".join(lines), data)


def answer(text: str, data: Mapping[str, Any], *, is_error: bool = False) -> CallToolResult:
    """An answer in its two forms."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=dict(data),
        is_error=is_error,
    )


def refusal(error: TenureError) -> CallToolResult:
    """A refusal as a result: what a model may mend must reach it, with its code."""
    data = {"status": "refused", "code": error.code, "message": str(error)}
    return answer(f"refused ({error.code}): {error}", data, is_error=True)
