"""The heap of the process: memory that was freed is found again instead of asked for anew.

The C library gives threads heaps of their own, eight for each core, and what one of them freed no
other takes. Forty threads that answer calls in turn so hold many times what they use. Python's
lock lets one of them run at a time, and one heap costs a call no more CPU.
"""

from __future__ import annotations

import ctypes
import platform
from typing import Final

_M_ARENA_MAX: Final = -8
"""The name of the setting in `malloc.h`."""
_HEAPS: Final = 1


def share_heap() -> bool:
    """Let all threads share one heap, before they begin; tell whether the C library knows how."""
    if platform.libc_ver()[0] != "glibc":
        return False
    return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS))
