"""Calls that take long: so many at once, in all and of one caller; others wait, then get 503.

Python runs one thread at a time, so a caller with many compiles in flight would slow down the point
reads of everybody. Waiting requests hold no thread.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from ...schema.errors import Unavailable
from ...schema.principal import Principal
from .connections import caller_name

HEAVY: Final = frozenset(
    {"compile", "replay", "what_if", "observe", "write_many", "replay_import", "view.search"}
    | {"erase", "erase_session", "sweep", "close_scope", "doctor", "promote", "artifacts.put"}
    | {"diff", "documents.put", "documents.compare", "reviews.decide_all"}
    | {"reviews.list", "reviews.groups", "reviews.progress", "mentions"}
    | {"resolution.xref", "resolution.audit"}
)
"""Calls of the table whose cost grows with what is sent or stored."""

MOST_IN_ALL: Final = 4
MOST_OF_A_CALLER: Final = 1
"""With two, 45 large compiles of one caller made another's point read 5 times as slow; now 2."""
WAIT_S: Final = 5


class HeavyCalls:
    """The heavy calls that run in one process; used from its event loop alone."""

    def __init__(self) -> None:
        self._running: Counter[tuple[str, ...]] = Counter()
        self._is_freed = asyncio.Condition()

    @asynccontextmanager
    async def place(self, caller: Principal) -> AsyncGenerator[None]:
        """Wait for a place among the calls that run, and hold it.

        Raises:
            Unavailable: `too_busy`.
        """
        name = caller_name(caller)

        def has_place() -> bool:
            is_full = self._running.total() >= MOST_IN_ALL
            return not is_full and self._running[name] < MOST_OF_A_CALLER

        async with self._is_freed:
            try:
                await asyncio.wait_for(self._is_freed.wait_for(has_place), WAIT_S)
            except TimeoutError as error:
                raise Unavailable(
                    f"a long call of yours, or {MOST_IN_ALL} of others, run; go on in {WAIT_S} s",
                    code="too_busy",
                    retry_after=WAIT_S,
                ) from error
            self._running[name] += 1
        try:
            yield
        finally:
            async with self._is_freed:
                self._running[name] -= 1
                # A counter keeps names at zero.
                self._running += Counter()
                self._is_freed.notify_all()
