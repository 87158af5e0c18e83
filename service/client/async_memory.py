"""The async twin: the same method names, run on threads, by delegation and not by copy.

`aconnect` takes what `connect` takes and opens the store when it is first used, so that
nothing blocks the event loop. A method of the twin awaits the method of the client on a worker
thread; what the client returns as a face of its own (a view, the vocabulary, the queues) comes
back as its twin. Values come back as they are.

>>> import asyncio
>>> async def tour() -> object:
...     async with aconnect(":memory:") as memory:
...         await memory.write(subject="Sam Rivera", slot="office", value="Chicago")
...         view = await memory.as_of()
...         return await view.value("Sam Rivera", "office")
>>> asyncio.run(tour())
'Chicago'

Source: API "Opening"; DESIGN 9.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Self

from .connect import connect

_FACES = frozenset(
    {"Memory", "View", "Words", "Actions", "Entities", "Reviews", "Envelopes", "Artifacts"}
)
"""Client classes whose methods do work, by name: importing them here would load them all."""


class AsyncFace:
    """The twin of a part of the client."""

    def __init__(self, face: Any) -> None:
        self._face = face

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _twin(getattr(self._face, name))

    def __call__(self, *args: Any, **given: Any) -> Coroutine[Any, Any, Any]:
        """Call a face that is itself a question, such as `memory.actions()`."""
        return _run(self._face, *args, **given)

    def __repr__(self) -> str:
        return f"Async{type(self._face).__name__}"


class AsyncMemory:
    """A memory whose methods are awaited; opened when it is first used."""

    def __init__(self, opening: Callable[[], Any]) -> None:
        self._opening = opening
        self._memory: Any = None
        self._lock = asyncio.Lock()

    async def opened(self) -> Any:
        """Return the memory behind, opened on a thread the first time."""
        async with self._lock:
            if self._memory is None:
                self._memory = await asyncio.to_thread(self._opening)
        return self._memory

    async def __aenter__(self) -> Self:
        await self.opened()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish what is queued and close the store."""
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Later(self, (name,))


class _Later:
    """A path of names on a memory that may not be open yet; calling it opens and calls."""

    def __init__(self, memory: AsyncMemory, path: tuple[str, ...]) -> None:
        self._memory, self._path = memory, path

    def __getattr__(self, name: str) -> _Later:
        return _Later(self._memory, (*self._path, name))

    async def __call__(self, *args: Any, **given: Any) -> Any:
        found = await self._memory.opened()
        for name in self._path:
            found = getattr(found, name)
        return await _run(found, *args, **given)


async def _run(call: Callable[..., Any], *args: Any, **given: Any) -> Any:
    return _twin(await asyncio.to_thread(partial(call, *args, **given)))


def _twin(value: Any) -> Any:
    if type(value).__name__ in _FACES:
        return AsyncFace(value)
    if callable(value) and type(getattr(value, "__self__", None)).__name__ in _FACES:
        return partial(_run, value)
    return value


def aconnect(url: str = "memory.db", **options: Any) -> AsyncMemory:
    """Return the async twin of `connect(url, **options)`; the store opens on first use."""
    return AsyncMemory(partial(connect, url, **options))
