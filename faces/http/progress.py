"""Server-sent progress: a long call says how far it is, then what it answers or is refused with.

Events are `progress` (JSON, the newest one only: a slow reader makes nobody wait and holds no
list), then one `done` with the answer or one `problem`; a stream whose key was revoked meanwhile
ends with one, too. The work goes on to its end whoever stops listening; the journal of an import
and the key of a request say later how it ended.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...schema.errors import TenureError
from .bearer_watch import BearerWatch
from .problems import problem_of, unexpected_problem

EVENT_STREAM: Final = "text/event-stream"

LONG_CALLS: Final = frozenset({"sweep", "erase"})
"""Calls of the table that say how far they are to whoever asks for events."""

Tell = Callable[[Mapping[str, object]], None]
"""Takes how far a work is; may be called from any thread."""

Work = Callable[[Tell], Response]
"""A call that can say how far it is."""

_SILENCE_S: Final = 10.0
"""Seconds after which a comment shows that the server still works."""


async def respond(
    request: Request, work: Work, watch: BearerWatch, place: AbstractAsyncContextManager[None]
) -> Response:
    """The answer of a work, with its progress before it where that was asked for.

    The work runs while it holds its place among the heavy calls.
    """
    if EVENT_STREAM not in request.headers.get("accept", ""):
        async with place:
            return await run_in_threadpool(work, lambda _: None)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    events = _events(request, work, watch, place)
    return StreamingResponse(events, media_type=EVENT_STREAM, headers=headers)


async def _events(
    request: Request, work: Work, watch: BearerWatch, place: AbstractAsyncContextManager[None]
) -> AsyncIterator[bytes]:
    async def work_in_place() -> Response:
        async with place:
            return await run_in_threadpool(work, tell)

    loop = asyncio.get_running_loop()
    newest: asyncio.Queue[Mapping[str, object]] = asyncio.Queue(maxsize=1)

    def put(progress: Mapping[str, object]) -> None:
        if newest.full():
            newest.get_nowait()
        newest.put_nowait(progress)

    def tell(progress: Mapping[str, object]) -> None:
        loop.call_soon_threadsafe(put, progress)

    answer = asyncio.ensure_future(work_in_place())
    answer.add_done_callback(_know_outcome)
    bearer_end = asyncio.ensure_future(watch.end())
    waiting = asyncio.ensure_future(newest.get())
    try:
        while not answer.done():
            await asyncio.wait(
                (answer, waiting, bearer_end),
                timeout=_SILENCE_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if bearer_end.done() and not answer.done():
                yield _event("problem", json.dumps(bearer_end.result()).encode())
                return
            if waiting.done():
                yield _event("progress", json.dumps(waiting.result()).encode())
                waiting = asyncio.ensure_future(newest.get())
            elif not answer.done():
                yield b": still at work\n\n"
    finally:
        # Also where the reader is gone: the bearer of a stream that nobody reads is asked no more.
        bearer_end.cancel()
        waiting.cancel()

    if not newest.empty():
        yield _event("progress", json.dumps(newest.get_nowait()).encode())
    yield _last_event(request, answer)


def _know_outcome(answer: asyncio.Future[Response]) -> None:
    """Take notice of how a work ended whose listener may be gone."""
    if not answer.cancelled():
        answer.exception()


def _last_event(request: Request, answer: asyncio.Future[Response]) -> bytes:
    """What the work answered, or what it was refused with."""
    error = answer.exception()
    if error is None:
        response = answer.result()
        name = "done" if response.status_code < 400 else "problem"
        return _event(name, bytes(response.body))

    if isinstance(error, TenureError):
        return _event("problem", json.dumps(problem_of(error)).encode())
    assert isinstance(error, Exception)
    return _event("problem", json.dumps(unexpected_problem(request, error)).encode())


def _event(name: str, body: bytes) -> bytes:
    # JSON in one line: a line break in the text of an answer stands there as an escape.
    return b"event: " + name.encode() + b"\ndata: " + body + b"\n\n"
