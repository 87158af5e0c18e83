"""How much of a long series one run takes: a part by day, or all of it.

`TESTS_NIGHTLY=1` takes all. Otherwise a series is cut to a sample, and of a divided set the
quarter is taken that is due on `TESTS_DAY`, an ISO date, by default today. Four days in a row take
the whole set.
"""

import os
import zlib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TypeVar

NIGHTLY = os.environ.get("TESTS_NIGHTLY") == "1"
# In the environment, so that every worker of a run that passes midnight takes the same part.
DAY = date.fromisoformat(
    os.environ.setdefault("TESTS_DAY", datetime.now(UTC).date().isoformat())
).toordinal()
QUARTERS = 4
T = TypeVar("T")
CI_EXAMPLES = 30


def size(sample: int, whole: int) -> int:
    """Return the length of a series in this run."""
    return whole if NIGHTLY else sample


def examples(whole: int) -> int:
    """Return how many examples a property gets that needs more than the default at night."""
    return size(min(CI_EXAMPLES, whole), whole)


def part(whole: Sequence[T]) -> Sequence[T]:
    """Return every fourth member of a series, another fourth each day; at night all of it."""
    return whole if NIGHTLY else whole[DAY % QUARTERS :: QUARTERS]


def is_due(name: str, day: int = DAY) -> bool:
    """Tell whether a member of a divided set belongs to the quarter of a day."""
    return NIGHTLY or zlib.crc32(name.encode()) % QUARTERS == day % QUARTERS
