"""Long work shows itself: a bar with rate and time left on a terminal, lines in a log.

It is told on standard error, so that results can be piped. A terminal gets one line that is drawn
anew; anything else, such as the log of a service, gets a line from time to time.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .ending import ending_by_sigterm

_BAR: Final = 20
"""Columns of a bar."""

_DRAW_EACH_S: Final = 0.1
"""Seconds between two drawings on a terminal: more often nobody sees, and it costs the work."""

_LOG_EACH_S: Final = 10.0
"""Seconds between two lines of a log; short work leaves none."""

_CHUNK: Final = 1 << 20


@dataclass(slots=True)
class ProgressMeter:
    """How far a piece of long work is."""

    noun: str
    """What is counted, in the plural."""
    total: int | None = None
    is_terminal: bool = field(default_factory=lambda: sys.stderr.isatty())
    begin_s: float = field(default_factory=time.monotonic)
    last_s: float = field(default_factory=time.monotonic)
    is_drawn: bool = False

    def tell(self, count: int, total: int | None = None) -> None:
        """Say that so many are done, of so many where that is known."""
        # Some work learns only on the way how much of it there is.
        self.total = total or self.total
        now_s = time.monotonic()
        is_last = count == self.total
        pause_s = _DRAW_EACH_S if self.is_terminal else _LOG_EACH_S
        # The last drawing of a bar shows it full; a log needs no line beside the result.
        if now_s - self.last_s < pause_s and not (is_last and self.is_terminal):
            return

        self.last_s = now_s
        line = progress_line(count, self.total, now_s - self.begin_s, self.noun)
        if not self.is_terminal:
            print(line, file=sys.stderr, flush=True)
            return

        width = shutil.get_terminal_size().columns - 1
        print(f"\r{line[:width]:<{width}}", end="", file=sys.stderr, flush=True)
        self.is_drawn = True

    def close(self) -> None:
        """Leave the line of a terminal, so that what follows begins on one of its own."""
        if self.is_drawn:
            print(file=sys.stderr)


@contextmanager
def meter(noun: str, total: int | None = None) -> Generator[ProgressMeter]:
    """A meter for the time of a piece of work; what it drew is left whatever becomes of that."""
    gauge = ProgressMeter(noun, total)
    try:
        # Whoever runs long work in the background ends it by SIGTERM.
        with ending_by_sigterm():
            yield gauge
    finally:
        gauge.close()


def progress_line(count: int, total: int | None, seconds: float, noun: str) -> str:
    """How far work is, in one line.

    >>> progress_line(500, 2_000, 10, "events")
    '█████░░░░░░░░░░░░░░░  500 of 2,000 events, 50/s, 30 s left'
    >>> progress_line(500, None, 0.5, "events")
    '500 events, 1,000/s'
    """
    rate = count / max(seconds, 1e-6)
    if not total:
        return f"{count:,} {noun}, {rate:,.0f}/s"

    filled = _BAR * min(count, total) // total
    bar = "█" * filled + "░" * (_BAR - filled)
    remaining_s = (total - count) / rate if count else None
    left = "" if remaining_s is None or count >= total else f", {duration(remaining_s)} left"
    return f"{bar}  {count:,} of {total:,} {noun}, {rate:,.0f}/s{left}"


def duration(seconds: float) -> str:
    """A time that people wait, in the two units that matter.

    >>> duration(0.4), duration(75), duration(7_260)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    minutes, rest_s = divmod(whole, 60)
    hours, minutes_of_hour = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_of_hour} min"
    return f"{minutes} min {rest_s} s" if minutes else f"{rest_s} s"


def lines_of(file: str) -> int | None:
    """How many lines a plain file has; None for a pipe, a packed file, or one that is not there."""
    path = Path(file)
    if file == "-" or path.suffix == ".gz" or not path.is_file():
        return None

    # In pieces: a file of gigabytes must not be in memory for the sake of a bar.
    count = 0
    with path.open("rb") as data:
        while chunk := data.read(_CHUNK):
            count += chunk.count(b"\n")
    return count
