"""How long work ends when the process is told to: as by Ctrl-C, and with the code of the signal.

A service manager sends SIGTERM. By default it ends a process without a word and without closing
anything, and whoever reads the log has to find out what was stored.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

Handler = Callable[[int, FrameType | None], None]

TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code of a process that SIGTERM ended."""

_STEP_S: Final = 5.0
"""How long a step that runs may take to its end once the process was told to end."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM: whatever is done on Ctrl-C is done on this, too."""


@contextmanager
def ending_by_sigterm() -> Generator[None]:
    """Let SIGTERM raise where the work stands, so that what is open is closed."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    with _handling(signal.SIGTERM, end):
        yield


@dataclass(slots=True)
class StepEnd:
    """Where work in steps may end: between two of them, so that what is stored is known exactly."""

    is_due: bool = False
    is_reached: bool = False
    """Whether the work ended so, and not amid a step."""

    def pass_by(self) -> None:
        """End here, if the process was told to.

        Raises:
            TerminatedError: it was.
        """
        if self.is_due:
            self.is_reached = True
            raise TerminatedError


@contextmanager
def ending_between_steps() -> Generator[StepEnd]:
    """Let SIGTERM end the work after the step that runs; one that takes long is broken off."""
    step_end = StepEnd()

    def break_off(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    def end(number: int, frame: FrameType | None) -> None:
        # Whoever says it twice does not want to wait.
        if step_end.is_due or not hasattr(signal, "setitimer"):
            break_off(number, frame)
        step_end.is_due = True
        signal.setitimer(signal.ITIMER_REAL, _STEP_S)

    alarm = getattr(signal, "SIGALRM", signal.SIGTERM)
    with _handling(alarm, break_off), _handling(signal.SIGTERM, end):
        try:
            yield step_end
        finally:
            if step_end.is_due:
                signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _handling(number: int, handler: Handler) -> Generator[None]:
    # Only the main thread of a process is asked, and only it may say who answers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    earlier_handler = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, earlier_handler)
