"""How often one caller may ask: a moving window of a minute, counted in this process.

The caller is who the credential says, so that a second key or token gives nobody a second share.
"""

from __future__ import annotations

import math
import time
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from ...schema.errors import Unavailable
from ...schema.principal import Principal

TOO_MANY: Final = "too_many_requests"
"""The code of a refusal; its `retry_after` is in seconds."""


class CallPace:
    """The calls of every caller in the last minute."""

    def __init__(self, calls_per_minute: int | None) -> None:
        self._limit = None if calls_per_minute is None else RateLimitItemPerMinute(calls_per_minute)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def count(self, caller: Principal) -> None:
        """Count a call.

        Raises:
            Unavailable: `too_many_requests`, which is not counted.
        """
        if self._limit is None:
            return

        name = [caller.tenant, caller.user or "", caller.session or ""]
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
