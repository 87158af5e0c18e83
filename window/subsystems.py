"""The six parts of a window manager that a caller may replace, each behind a protocol.

A session is run by one `Subsystems` value. Whoever replaces a part states its name and version:
they enter the digest by which the log and the envelopes of the session name their policy, so a
replay with another part is seen and never silent. Scores are held to 1 to 1000.

    subsystems = Subsystems(eviction=NewestFirst())
    session = memory.session("trip", subsystems=subsystems, model="gpt-5")

Checklist C-290.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol, runtime_checkable

from ..schema.errors import InvalidInput
from ..schema.records import short_repr
from ..schema.values import canonical_json
from ..schema.window_policy import WindowPolicy
from .checkpoint import TaskCheckpoint, task_checkpoint
from .forms import kind_of, short_result
from .keep import keep_scores
from .report import (
    ComponentUse,
    HealthReading,
    Pressure,
    component_uses,
    health_reading,
    read_pressure,
)
from .state import WindowState
from .units import WindowItem

_TOP_SCORE: Final = 1000


class WindowPart(Protocol):
    """What the identity of a policy names a part by."""

    @property
    def name(self) -> str:
        """Tells the part from tenure's own and from others."""
        ...

    @property
    def version(self) -> str:
        """Rises whenever the part may answer otherwise for the same window."""
        ...


@runtime_checkable
class PressureSubsystem(WindowPart, Protocol):
    """Says how full a window is; zones and roll-over come from its reading."""

    def read(self, state: WindowState, policy: WindowPolicy) -> Pressure:
        """The pressure of a window now."""
        ...


@runtime_checkable
class BudgetSubsystem(WindowPart, Protocol):
    """Says which component takes how much; it warns, and never blocks."""

    def uses(self, state: WindowState, policy: WindowPolicy) -> tuple[ComponentUse, ...]:
        """What each component takes, beside its usual share."""
        ...


@runtime_checkable
class EvictionSubsystem(WindowPart, Protocol):
    """Says what each unit is worth: the lower, the sooner it leaves."""

    def scores(
        self, state: WindowState, policy: WindowPolicy, focus: str, stale: Container[int]
    ) -> Mapping[int, int]:
        """The keep-score of standing units by number, 1 to 1000; who is left out stays longest.

        `stale` are the numbers of units that something later has overtaken.
        """
        ...


@runtime_checkable
class CompressionSubsystem(WindowPart, Protocol):
    """Says how an old result is shortened; when it is, and what leaves, the edit decides."""

    def short(self, item: WindowItem, most: int, count: Callable[[str], int]) -> str:
        """The text of a result within so many tokens, as `count` counts them."""
        ...


@runtime_checkable
class CrossWindowSubsystem(WindowPart, Protocol):
    """Says what of a task outlives its window."""

    def checkpoint(self, state: WindowState) -> TaskCheckpoint:
        """The state of the task as it stands."""
        ...


@runtime_checkable
class HealthSubsystem(WindowPart, Protocol):
    """Says how well a window is kept; alerts wait for three of its readings in a row."""

    def measure(self, state: WindowState, reading: Pressure) -> HealthReading:
        """The six metrics at the end of a turn."""
        ...


@dataclass(frozen=True, slots=True)
class TenureParts:
    """All six parts as tenure has them."""

    name: str = "tenure"
    version: str = "1"

    read = staticmethod(read_pressure)
    scores = staticmethod(keep_scores)
    checkpoint = staticmethod(task_checkpoint)
    measure = staticmethod(health_reading)

    def uses(self, state: WindowState, policy: WindowPolicy) -> tuple[ComponentUse, ...]:
        """What each component takes, and its share by the policy's profile."""
        return component_uses(state, policy.budget)

    def short(self, item: WindowItem, most: int, count: Callable[[str], int]) -> str:
        """Whole lines from both ends, or whole fields."""
        content = item.content
        kind = content.tool_kind or kind_of(content.text, content.name)
        return short_result(content.text, kind, most, count, number=item.seq, name=content.name)


_TENURE: Final = TenureParts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystems:
    """The parts by which a session is run; what is not stated is tenure's own.

    Raises:
        InvalidInput: `bad_subsystem`, for a part without the methods of its protocol, and for one
            of your own without a name or a version.
    """

    __repr__ = short_repr

    pressure: PressureSubsystem = _TENURE
    budget: BudgetSubsystem = _TENURE
    eviction: EvictionSubsystem = _TENURE
    compression: CompressionSubsystem = _TENURE
    cross_window: CrossWindowSubsystem = _TENURE
    health: HealthSubsystem = _TENURE

    def __post_init__(self) -> None:
        for role, protocol in _PROTOCOLS.items():
            part: Any = getattr(self, role)
            labels = (getattr(part, "name", None), getattr(part, "version", None))
            if not isinstance(part, protocol):
                raise _bad_subsystem(role, f"does not have all of {protocol.__name__}")
            if not all(isinstance(label, str) and label for label in labels):
                raise _bad_subsystem(role, "needs a name and a version, each a text")

    @property
    def replacements(self) -> dict[str, list[str]]:
        """The name and version of each part that is not tenure's own, by role."""
        replacements: dict[str, list[str]] = {}
        for field in fields(self):
            part: Any = getattr(self, field.name)
            if part is not _TENURE:
                replacements[field.name] = [part.name, part.version]
        return replacements

    def identity(self, policy: WindowPolicy) -> str:
        """The digest of a policy run by these parts; the policy's own where none is replaced."""
        if not self.replacements:
            return policy.digest
        pins = canonical_json({"policy": policy.digest, "parts": self.replacements})
        return hashlib.sha256(pins.encode()).hexdigest()


_PROTOCOLS: Final[Mapping[str, type]] = {
    "pressure": PressureSubsystem,
    "budget": BudgetSubsystem,
    "eviction": EvictionSubsystem,
    "compression": CompressionSubsystem,
    "cross_window": CrossWindowSubsystem,
    "health": HealthSubsystem,
}
BUILT_IN: Final = Subsystems()


def unit_scores(
    eviction: EvictionSubsystem,
    state: WindowState,
    policy: WindowPolicy,
    focus: str,
    stale: Container[int],
) -> dict[int, int]:
    """The keep-score of every standing unit, held to the range that the choice counts on."""
    answers = eviction.scores(state, policy, focus, stale)
    scores: dict[int, int] = {}
    for unit in state.units:
        # Never 0: an action on a worthless unit must still cost more than none at all.
        scores[unit.number] = max(1, min(_TOP_SCORE, answers.get(unit.number, _TOP_SCORE)))
    return scores


def _bad_subsystem(role: str, reason: str) -> InvalidInput:
    return InvalidInput(
        f"the {role} subsystem {reason}; see tenure.window.subsystems for the protocols",
        code="bad_subsystem",
        role=role,
    )
