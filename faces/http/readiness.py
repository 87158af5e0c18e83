"""Whether a store may be sent requests: that it answers, and what its doctor last said."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from ...schema.errors import TenureError
from ...service.backend.caller import backend_of
from ...service.client.memory import Memory

READY: Final = "ready"
UNREACHABLE: Final = "store_unreachable"
DAMAGED: Final = "store_damaged"

_FRESH_S: Final = 10.0
"""How long an answer of the store counts."""
_SOUND_S: Final = 3_600.0
"""How long a store counts as sound: the doctor reads all of it."""
_DAMAGED_S: Final = 60.0
"""After which a store that was damaged is looked at again: somebody may have restored it."""
_LEAVE_S: Final = 5.0
"""How long the end of a server waits for the doctor, who only reads."""


class Readiness:
    """Whether the store of a tenant answers and agrees with itself, as last asked.

    Anybody may ask without a key, so that a flood of questions must not become one of reads. The
    doctor works in a thread of its own and at most once at a time: until its first word a store
    that answers counts as sound.
    """

    def __init__(
        self, memory: Memory, tenant: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = backend_of(memory).store
        self._tenant = tenant
        self._clock = clock
        self._lock = threading.Lock()
        self._answered: tuple[float, bool] | None = None
        self._examined: tuple[float, bool] | None = None
        self._doctor: threading.Thread | None = None

    def word(self) -> str:
        """`ready`, or what is in the way."""
        with self._lock:
            if not self._answers():
                return UNREACHABLE
            self._examine_when_due()
            return READY if self._examined is None or self._examined[1] else DAMAGED

    def settle(self) -> None:
        """Give the doctor a moment to end, before the store is closed."""
        if self._doctor is not None:
            self._doctor.join(_LEAVE_S)

    def _answers(self) -> bool:
        now_s = self._clock()
        if self._answered is None or now_s - self._answered[0] > _FRESH_S:
            try:
                with self._store.reading(self._tenant) as reader:
                    reader.clock()
                self._answered = now_s, True
            except TenureError:
                self._answered = now_s, False
        return self._answered[1]

    def _examine_when_due(self) -> None:
        if self._doctor is not None and self._doctor.is_alive():
            return
        if self._examined is not None:
            seconds = _SOUND_S if self._examined[1] else _DAMAGED_S
            if self._clock() - self._examined[0] <= seconds:
                return
        self._doctor = threading.Thread(target=self._examine, name="tenure-doctor", daemon=True)
        self._doctor.start()

    def _examine(self) -> None:
        try:
            is_sound = not self._store.check(self._tenant)
        except TenureError:
            # It went away meanwhile, which the next question tells.
            return
        self._examined = self._clock(), is_sound
