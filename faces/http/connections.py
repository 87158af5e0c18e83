"""Connections of a server: how many it holds, and how long it waits for a client.

A client that sends half a head, half a body or never reads its answer holds a handle of the
process. Each of these ends after `PATIENCE_S` without progress, and connections beyond
`most_connections` get 503, so that the store and the log always have handles left.

How often one caller may ask: a moving window of a minute, counted in this process.

The caller is who the credential says, so that a second key or token gives nobody a second share.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from typing import Any, Final

import h11
import uvicorn
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...schema.errors import Unavailable
from ...schema.principal import Principal

PATIENCE_S: Final = 20.0
"""The longest wait for a whole head, or for progress in a body or in reading an answer."""
_LOOK_S: Final = 2.0
_DRAIN_SECONDS: Final = 20
"""How long requests that run may take to end, once the process is told to."""
_MOST_CONNECTIONS: Final = 4_096
_BACKLOG: Final = 128
_FEW_HANDLES: Final = 512
"""What is assumed where the system tells no limit."""

_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_ODD_LINE: Final = re.compile(
    rb"(?<!\r)\n|\r(?!\n)|\n[ \t]|(?i:\ncontent-length:(?:[^\n]*,|(?s:.*)\ncontent-length:))"
)
"""Bare line ends, folded lines and a second length: a proxy may read another request than we do."""


def most_connections() -> int:
    """How many connections may be open at once: fewer than the process has handles."""
    try:
        import resource
    except ModuleNotFoundError:
        handles = _FEW_HANDLES
    else:
        handles = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if handles == resource.RLIM_INFINITY:
            return _MOST_CONNECTIONS
    # Those that the two ports accept before the first is counted need handles too.
    limit = min(_MOST_CONNECTIONS, handles * 3 // 4, handles - 3 * _BACKLOG)
    return max(limit, handles // 4)


def server_config(app: ASGIApp) -> uvicorn.Config:
    """How uvicorn serves the app; its lines go to the handlers of the root logger."""
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        log_config=None,
        log_level="error",
        # So many are accepted before the first of them is counted.
        backlog=_BACKLOG,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # No page speaks it, and a library that another package brings along would answer for us.
        ws="none",
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )


class _StrictConnection(h11.Connection):
    """Refuses heads that two readers may read in two ways."""

    def next_event(self) -> Any:
        if self.their_state is h11.IDLE:
            buffered, _ = self.trailing_data
            end = _HEAD_END.search(buffered)
            if end is not None and _ODD_LINE.search(buffered, 0, end.end()):
                raise h11.RemoteProtocolError(
                    "a head has bare line ends, folded lines or two lengths"
                )
        return super().next_event()


class PatientProtocol(H11Protocol):
    """HTTP/1.1 with limits on what a client may hold."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = _StrictConnection(h11.SERVER)
        self._most_connections = most_connections()
        self._look_task: asyncio.TimerHandle | None = None
        self._progress_s = self.loop.time()
        self._unsent_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head, or refuse the connection."""
        super().connection_made(transport)
        if len(self.connections) > self._most_connections:
            transport.write(_BUSY)
            transport.close()
        self._look_task = self.loop.call_later(_LOOK_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self._look_task is not None:
            self._look_task.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; those of a head that goes on are no progress."""
        if self.transport.is_closing():
            return
        was_idle = self.conn.their_state is h11.IDLE
        super().data_received(data)
        if not was_idle or self.conn.their_state is not h11.IDLE:
            self._progress_s = self.loop.time()

    def on_response_complete(self) -> None:
        """Wait for the next head."""
        self._progress_s = self.loop.time()
        super().on_response_complete()

    def _look(self) -> None:
        """End the connection where its client has made no progress for too long."""
        unsent_bytes = self.transport.get_write_buffer_size()
        is_reading = (
            self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.flow.read_paused
        )
        if unsent_bytes < self._unsent_bytes or not (unsent_bytes or is_reading):
            self._progress_s = self.loop.time()
        self._unsent_bytes = unsent_bytes

        if self.loop.time() - self._progress_s > PATIENCE_S:
            self.transport.abort()
        else:
            self._look_task = self.loop.call_later(_LOOK_S, self._look)


TOO_MANY: Final = "too_many_requests"
"""The code of a refusal; its `retry_after` is in seconds."""
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 10.0
_WRONG_CODES_S: Final = 600.0
"""After which without a wrong code the pause begins at its shortest again."""


def caller_name(caller: Principal) -> tuple[str, str, str]:
    """By whom calls are counted: another key or token of a caller gives no second share."""
    return caller.tenant, caller.user or "", caller.session or ""


class CallPace:
    """The calls of every caller in the last minute."""

    def __init__(self, calls_per_minute: int | None) -> None:
        self._limit = None if calls_per_minute is None else RateLimitItemPerMinute(calls_per_minute)
        self._window = MovingWindowRateLimiter(MemoryStorage())
        self._wrong_codes = 0
        self._last_wrong_s = 0.0

    def count(self, caller: Principal) -> None:
        """Count a call.

        Raises:
            Unavailable: `too_many_requests`, which is not counted.
        """
        if self._limit is None:
            return

        name = caller_name(caller)
        if self._window.hit(self._limit, *name):
            return

        reset_s = self._window.get_window_stats(self._limit, *name).reset_time - time.time()
        # Rounded up, so that whoever waits as long as it is told is let in.
        seconds = max(1, math.ceil(reset_s))
        raise Unavailable(
            f"more than {self._limit.amount} calls in a minute; go on in {seconds} s",
            code=TOO_MANY,
            retry_after=seconds,
        )

    def wrong_code_pause_s(self) -> float:
        """Count a wrong sign-in code; how long its answer waits: twice as long as the last."""
        now_s = time.monotonic()
        if now_s > self._last_wrong_s + _WRONG_CODES_S:
            self._wrong_codes = 0
        self._wrong_codes, self._last_wrong_s = self._wrong_codes + 1, now_s
        return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(self._wrong_codes - 1, 20))
