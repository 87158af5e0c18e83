"""Where the cache marks of a rendered request stand, read off the request itself."""

from collections.abc import Sequence
from typing import Any


def marked_parts(request: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the parts of a request that carry a cache mark, in the order of the prefix."""
    said = (part for message in request["messages"] for part in message["content"])
    parts = [*request.get("tools", ()), *request["system"], *said]
    return [part for part in parts if "cache_control" in part]


def breakpoint_parts(request: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the parts of a request that carry an explicit breakpoint, in order."""
    listed = (m["content"] for m in request["messages"] if isinstance(m["content"], list))
    return [part for content in listed for part in content if "prompt_cache_breakpoint" in part]
