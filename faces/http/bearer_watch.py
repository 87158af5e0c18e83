"""Streams and their bearers: a key that was revoked or ran out ends what is still read by it.

A call is over before its key can end. An export, a list of lines, the events of an import and
the stream of an agent are not: whoever lost a key must not go on reading with what it once opened.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from ...schema.errors import Forbidden
from .bearers import Bearers
from .identity import bearer_token
from .problems import problem_of

CHECK_S: Final = 1.0
"""Seconds between two questions whether a bearer still holds."""


class BearerWatch:
    """Whether the bearer that a stream was opened by still holds."""

    def __init__(self, bearers: Bearers, request: HTTPConnection) -> None:
        self._bearers = bearers
        self._token = bearer_token(request) or ""
        self._last_s = time.monotonic()

    def problem(self) -> dict[str, object] | None:
        """What ends the stream; None while its bearer holds, and between two questions."""
        now_s = time.monotonic()
        if now_s < self._last_s + CHECK_S:
            return None

        self._last_s = now_s
        if self._bearers.credential(self._token) is not None:
            return None
        error = Forbidden(
            "the key of this stream was revoked or has run out; ask again with one that holds",
            code="credential_ended",
        )
        return problem_of(error)

    async def end(self) -> dict[str, object]:
        """Wait until the bearer has ended, and tell what ends the stream."""
        while True:
            await asyncio.sleep(CHECK_S)
            problem = await run_in_threadpool(self.problem)
            if problem is not None:
                return problem

    def lines(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Lines of JSON, the last one a problem where the bearer ends before they do."""
        for line in lines:
            problem = self.problem()
            if problem is not None:
                # What reads lines takes them as they come: nothing but a line can tell it.
                yield json.dumps(problem).encode() + b"\n"
                return
            yield line
