"""Who watches a compile step by step: by default nobody.

The compiler knows this protocol alone. What a watcher does with a step, such as a span of its own
for whoever traces, is its business; what a stage gets and returns never passes through it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Watch = Callable[[str], AbstractContextManager[object]]
"""What lasts as long as the step of a name: "gather", or one of the ten stages."""


def no_watch(_: str) -> AbstractContextManager[object]:
    """Watch nothing."""
    return nullcontext()
