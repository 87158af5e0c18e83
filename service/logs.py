"""Logs: structured lines on standard error, JSON in a service, readable in the command line.

Every module logs through `logging.getLogger("tenure.…")`, with its fields as `extra`; a line may
carry `trace_id, tenant, actor, op, outcome, reason, ms`. What was written is never logged:
fields that hold content or secrets are masked by name, and credentials that slip into any
other text are masked by their form. The audit log is another thing: it is in the store,
append-only and chained.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

if TYPE_CHECKING:
    from structlog.typing import Processor

    _StreamHandler = logging.StreamHandler[TextIO]
else:
    _StreamHandler = logging.StreamHandler

MASK: Final = "[redacted]"

_SECRET: Final = frozenset(
    {"auth", "authorization", "cookie", "key", "password", "secret", "tenant_key", "token"}
)
_CONTENT: Final = frozenset({"body", "content", "query", "subject", "text", "value", "values"})

_OF_EVERY_RECORD: Final = frozenset(
    vars(logging.LogRecord("", 0, "", 0, "", (), None)).keys() | {"message", "asctime", "taskName"}
)
"""What `logging` puts into a record by itself; every other attribute is a field of the line."""


def configure(*, level: str = "warning", as_json: bool) -> None:
    """Set up the logs of this process; `as_json` in a service."""
    logger = logging.getLogger("tenure")
    logger.setLevel(level.upper())
    logger.handlers = [StructuredHandler(as_json=as_json)]
    logger.propagate = False

    # Without a handler the driver prints its lines as they are: a service logs them like
    # its own, and on the command line our error says the same and what to do.
    driver = logging.getLogger("neo4j")
    driver.handlers = [StructuredHandler(as_json=True) if as_json else logging.NullHandler()]


def log_to_root() -> None:
    """Take the lines of every library in a server, and load what writing them needs.

    A server that has no handles left must still be able to log that.
    """
    root = logging.getLogger()
    root.handlers = list(logging.getLogger("tenure").handlers)
    record = logging.LogRecord("tenure", 0, "", 0, "", (), None)
    for handler in root.handlers:
        handler.format(record)


class StructuredHandler(_StreamHandler):
    """Print records as structured lines; structlog is loaded with the first of them.

    Most commands log nothing, and loading structlog costs more than they do. What cannot be
    written stops nothing: `logging` tells it on standard error, if that is there.
    """

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record on what standard error is by now."""
        self.stream = sys.stderr
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Tell a record that cannot be printed, and never fail."""
        with suppress(OSError, ValueError):
            super().handleError(record)

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, with what it must not hold masked."""
        event = redact(_fields(record))
        return str(self._renderer()(None, record.levelname.lower(), dict(event)))

    def _renderer(self) -> Processor:
        import structlog

        if self._as_json:
            return structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    """The fields of a line: the words, level and time of the record, and its extra fields."""
    moment = datetime.fromtimestamp(record.created, UTC)
    fields: dict[str, Any] = {
        "event": record.getMessage(),
        "level": record.levelname.lower(),
        "logger": record.name,
        "timestamp": moment.isoformat().replace("+00:00", "Z"),
    }
    for name, value in vars(record).items():
        if name not in _OF_EVERY_RECORD:
            fields[name] = value

    if record.exc_info:
        fields["exception"] = "".join(traceback.format_exception(*record.exc_info)).rstrip()
    return fields


def redact(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Mask what a line must not hold: content and secrets.

    >>> redact({"event": "written", "content": "my salary", "ms": 3})
    {'event': 'written', 'content': '[redacted]', 'ms': 3}
    """
    return {name: _redact_value(name, value) for name, value in fields.items()}


def _redact_value(name: str, value: Any) -> Any:
    from ..compiler.safety.credentials import find_credentials

    if name.lower() in _SECRET | _CONTENT:
        return MASK
    if isinstance(value, str):
        return MASK if find_credentials(value) else value
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {str(key): _redact_value(str(key), member) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_redact_value(name, member) for member in cast("list[Any]", value)]
    return value
