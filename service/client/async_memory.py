"""The async twin: the same method names, run on threads, by delegation and not by copy.

`aconnect` takes what `connect` takes and opens the store when it is first used, so that
nothing blocks the event loop. A method of the twin awaits the method of the client on a worker
thread; what the client returns as a part of its own (a view, the vocabulary, the queues) comes
back as its twin. Values come back as they are. `async_memory.pyi` states every method with its
types; a test makes it again from the client and compares.

>>> import asyncio
>>> async def tour() -> object:
...     async with aconnect(":memory:") as memory:
...         await memory.write(subject="Sam Rivera", slot="office", value="Chicago")
...         view = await memory.as_of()
...         return await view.value("Sam Rivera", "office")
>>> asyncio.run(tour())
'Chicago'
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from os import PathLike
from typing import Any, Self

from ...schema.principal import Principal
from ..backend.caller import ClientPart
from .connect import connect
from .memory import Memory


class AsyncPart:
    """The twin of a part of the client, such as a view or a queue."""

    def __init__(self, part: ClientPart) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._part, name)
        return partial(_run, value) if callable(value) else value

    def __call__(self, *args: Any, **options: Any) -> Coroutine[Any, Any, Any]:
        """Call a part that is itself a question, such as `memory.actions()`."""
        return _run(self._part, *args, **options)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"Async{type(self._part).__name__}"


class AsyncMemory:
    """A memory whose methods are awaited; opened when it is first used."""

    def __init__(self, opening: Callable[[], Awaitable[Memory]], *, shared: bool = False) -> None:
        self._opening, self._shared = opening, shared
        self._memory: Memory | None = None
        self._lock = asyncio.Lock()

    async def opened(self) -> Memory:
        """Return the memory behind, opened on a thread the first time."""
        async with self._lock:
            # Two tasks that come first at once would open the store twice.
            if self._memory is None:
                self._memory = await self._opening()
        return self._memory

    async def __aenter__(self) -> Self:
        await self.opened()
        return self

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aexit__(self, *exc: object) -> None:
        # Others go on using the store that a bound memory shares.
        if not self._shared:
            await self.close()

    def bind(self, principal: Principal) -> AsyncMemory:
        """The same store for another caller: await it, or enter it with `async with`.

        The end of that block leaves the store open.
        """

        async def opening() -> Memory:
            return await asyncio.to_thread((await self.opened()).bind, principal)

        return AsyncMemory(opening, shared=True)

    async def close(self) -> None:
        """Finish what is queued and close the store."""
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling look for hooks by such names, and would be handed a path for each.
        if name.startswith("_"):
            raise AttributeError(name)
        return _Path(self, (name,))


class _Path:
    """A path of names on a memory that may not be open yet; calling it opens and calls."""

    def __init__(self, memory: AsyncMemory, names: tuple[str, ...]) -> None:
        self._memory, self._names = memory, names

    def __getattr__(self, name: str) -> _Path:
        return _Path(self._memory, (*self._names, name))

    async def __call__(self, *args: Any, **options: Any) -> Any:
        memory = await self._memory.opened()

        # Some properties read the store (`entities` pins a view), so the names are followed on
        # the worker thread as well.
        def call() -> object:
            target: Any = memory
            for name in self._names:
                target = getattr(target, name)
            return target(*args, **options) if callable(target) else target

        return _twin(await asyncio.to_thread(call))


async def _run(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return _twin(await asyncio.to_thread(partial(call, *args, **options)))


def _twin(value: Any) -> Any:
    return AsyncPart(value) if isinstance(value, ClientPart) else value


def aconnect(url: str | PathLike[str] = "memory.db", **options: Any) -> AsyncMemory:
    """Return the async twin of `connect(url, **options)`; the store opens on first use."""
    return AsyncMemory(lambda: asyncio.to_thread(connect, url, **options))
