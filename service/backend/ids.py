"""Ids and clocks of the edge: what the core is given and never makes itself.

An object id is uuid5 of the tenant and the digest of a stated idempotency key, uuid5 of the event
for a replayed line, and a fresh uuid7 (RFC 9562) otherwise. `connect(ids=…, clock=…)` replaces both
sources, so that a test or a simulation is the same every time.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from datetime import datetime

from ...schema.signing import OBJECT_SPACE
from ...schema.values import canonical_json, micros

Ids = Callable[[], str]
"""Returns a new uuid as text."""

Clock = Callable[[], "int | datetime"]
"""Returns now: microseconds UTC, or an aware datetime."""


def wall_clock() -> int:
    """Return the time of this machine in microseconds UTC."""
    return time.time_ns() // 1_000


def read(clock: Clock) -> int:
    """Return what a clock says in microseconds UTC."""
    now = clock()
    return micros(now) if isinstance(now, datetime) else now


def uuid7() -> str:
    """Return a random uuid that sorts by the time it was made."""
    stamp = (time.time_ns() // 1_000_000) & ((1 << 48) - 1)
    noise = int.from_bytes(os.urandom(10), "big")
    number = stamp << 80 | (noise & ((1 << 76) - 1)) | 7 << 76
    digits = f"{number & ~(3 << 62) | 2 << 62:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def event_id(tenant: str, recorded_us: int, ordinal: int, event: str) -> str:
    """Return the object id of a replayed event; `event` is its canonical JSON."""
    return str(
        uuid.uuid5(OBJECT_SPACE, canonical_json(["event", tenant, recorded_us, ordinal, event]))
    )
