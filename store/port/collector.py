"""Python's collector of cycles, and what makes it wait."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Let Python's collector of cycles wait until a piece of work is done, where it runs at all.

    A compile makes no cycles, and a batch of writes few, but so many values that they would set off
    passes over all that the process holds. Other threads may end the wait early; nothing makes
    it outlast the last of them, and what came due meanwhile is collected then.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
