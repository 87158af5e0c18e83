"""Logs: structured lines on standard error, JSON in a service, readable in the command line.

Every line may carry `trace_id, tenant, actor, op, outcome, reason, ms`. What was written is
never logged: fields that hold content or secrets are masked by name, and credentials that
slip into any other text are masked by their form. The audit log is another thing: it stands
in the store, append-only and chained.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, Final, cast

import structlog

from ..compiler.safety.credentials import find_credentials

MASK: Final = "[redacted]"
_SECRET: Final = frozenset(
    {"auth", "authorization", "cookie", "key", "password", "secret", "tenant_key", "token"}
)
_CONTENT: Final = frozenset({"body", "content", "query", "subject", "text", "value", "values"})
_LEVELS: Final[Mapping[str, int]] = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure(*, level: str = "warning", as_json: bool) -> None:
    """Set up the logs of this process; `as_json` in a service."""
    last: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            redact,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Return a log event without content and secrets.

    >>> redact(None, "info", {"event": "written", "content": "my salary", "ms": 3})
    {'event': 'written', 'content': '[redacted]', 'ms': 3}
    """
    return {name: _redact_value(name, value) for name, value in event.items()}


def _redact_value(name: str, value: Any) -> Any:
    if name.lower() in _SECRET | _CONTENT:
        return MASK
    if isinstance(value, str):
        return MASK if find_credentials(value) else value
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {k: _redact_value(str(k), v) for k, v in members.items()}
    if isinstance(value, list | tuple):
        return [_redact_value(name, v) for v in cast("list[Any]", value)]
    return value
