"""Frames of a client that cannot be read: each is answered, for whoever waits for an answer.

The protocol's library drops them in silence, and a client that sent a lone surrogate or a list of a
thousand levels waits until it gives up.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final, Self

from anyio import EndOfStream
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError

_PARSE_ERROR: Final = -32700
"""The code of JSON-RPC for what is no message."""
_ADVICE: Final = (
    "the frame is no JSON-RPC message: send one JSON object a line, in UTF-8, with jsonrpc 2.0, a "
    "method, and an id that is a text or a number"
)


class AnsweredFrames:
    """The frames of a client that can be read; all others are answered here.

    What stands in the place of the id of an answer is null, as JSON-RPC asks where none is known.
    """

    def __init__(self, frames: Any, answers: Any) -> None:
        self._frames = frames
        self._answers = answers

    @property
    def last_context(self) -> Any:
        """The context that the newest frame was sent in."""
        return self._frames.last_context

    async def receive(self) -> Any:
        """The next frame that can be read."""
        while True:
            frame = await self._frames.receive()
            if not isinstance(frame, Exception):
                return frame
            # What was wrong is not repeated: it is told in words of the parser, with the input.
            error = ErrorData(code=_PARSE_ERROR, message=_ADVICE)
            answer = JSONRPCError(jsonrpc="2.0", id=None, error=error)
            await self._answers.send(SessionMessage(answer))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        # The library reads by iteration, and the end of the input ends that.
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Read no more."""
        await self._frames.aclose()

    async def __aenter__(self) -> Self:
        await self._frames.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self._frames.__aexit__(exc_type, exc_val, exc_tb)
