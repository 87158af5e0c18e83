"""The state of a window: what stands in it, and what its next request comes to.

The state is a function of the log and of nothing else: folding the same events gives the same
state, on every machine, so a session survives the process that ran it. The state holds what
stands in the window, never what left it; originals are read back from the log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final

from ..compiler.tokens.counting import counter_for
from .events import ERASURE_MARK, Note
from .links import ClaimLink
from .summaries import UnitSummary
from .units import (
    MessagePart,
    PartKind,
    WindowUnit,
    plain_words,
    pointer,
    tokens_in,
)

FRAMING: Final = 6
"""Tokens that a provider adds around one part at most: role, separators, ids of blocks."""
KEYS_KEPT: Final = 64
"""Retries that are recognised: those of the last hooks."""
MEDIA_TOKENS: Final = 1_600
"""The most that providers count for one picture of ordinary size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """What a session's window holds, and what decides its next edit."""

    seq: int = 0
    model: str = ""
    window: int = 0
    """W in tokens."""
    limit: int = 0
    """L: W without the reserve for the answer."""
    policy_digest: str = ""
    task: str = ""
    goal: str = ""
    acceptance: tuple[str, ...] = ()
    system: str = ""
    tools: str = ""
    """The tools' schemas as JSON, empty for none."""
    fixed_tokens: int = 0
    """Upper bound of system and tools."""
    memory_tokens: int = 0
    """Upper bound of what the last compile brought from the store."""
    turn: int = 0
    step: int = 0
    in_turn: bool = False
    units: tuple[WindowUnit, ...] = ()
    """What stands; `with_units` and `with_new_unit` set it, because its tokens go with it."""
    history_tokens: int = 0
    """Upper bound of all units: each hook asks for it several times."""
    loads: tuple[int, ...] = ()
    mean_growth: int = 0
    correction: int = 1000
    """Permille by which this session's bounds are raised, once a provider counted more."""
    pins: Mapping[int, int | None]
    """The turn until which each pinned unit stays; None for ever."""
    notes: tuple[Note, ...] = ()
    links: tuple[ClaimLink, ...] = ()
    """What standing units stated to the store."""
    summaries: tuple[UnitSummary, ...] = ()
    """What a model made ahead of standing units."""
    last_edit_step: int | None = None
    edits: int = 0
    evictions: int = 0
    """Units that left or were shortened, over all edits."""
    eviction_marks: tuple[int, ...] = ()
    """How many they were at the ends of the last turns, `pressure.EVICTION_TURNS` and one."""
    original_tokens: int = 0
    """Of everything that edits successor, before."""
    standing_tokens: int = 0
    """Of everything that edits successor, after."""
    fidelity: int = 1000
    """Permille of the facts of the units of the last edit that still stood behind it."""
    checkpoint: int = 0
    """The number of the newest checkpoint; 0 for none."""
    checkpoint_object: str = ""
    """The claim that the newest checkpoint was saved as; empty for none."""
    root: str = ""
    """The session that this one began as: forks carry on its task."""
    windows: int = 1
    """How many windows the session has filled, with the current one."""
    sent_tokens: int = 0
    """Upper bound of the last request, to hold the provider's count against; 0 before the first."""
    keys: tuple[tuple[str, str, int], ...] = ()
    """The newest idempotency keys with the digest of what came with them and their event."""
    closed: bool = False

    @property
    def tokens(self) -> int:
        """Upper bound of the next request."""
        raw = self.fixed_tokens + self.memory_tokens + self.history_tokens
        return -(-raw * self.correction // 1000)

    @property
    def text(self) -> str:
        """All words that stand."""
        return "\n".join(unit.text for unit in self.units)

    @property
    def open_units(self) -> tuple[WindowUnit, ...]:
        """The units with a call that waits for its result."""
        return tuple(filter(_OPEN_CALLS, self.units))

    def standing(self, number: int) -> WindowUnit:
        """The standing unit of exactly this number."""
        return next(unit for unit in reversed(self.units) if unit.number == number)

    def unit(self, number: int) -> WindowUnit | None:
        """The standing unit that holds a number, None when it left."""
        for unit in self.units:
            numbers = {unit.number, *(item.seq for item in unit.items)}
            if number in numbers or unit.number <= number <= unit.last_number:
                return unit
        return None

    def summary(self, number: int) -> UnitSummary | None:
        """The summary that was taken of a unit, None for none."""
        return next((summary for summary in self.summaries if summary.unit == number), None)

    def count(self, text: str) -> int:
        """Upper bound of a text for the session's model, with framing."""
        return counter_for(self.model).upper_bound(text) + FRAMING


_OPEN_CALLS: Final = attrgetter("open_calls")
EMPTY_STATE: Final = WindowState(pins={})


def with_units(state: WindowState, units: Iterable[WindowUnit]) -> WindowState:
    """The state with other units in its window."""
    standing = tuple(units)
    return replace(state, units=standing, history_tokens=tokens_in(standing))


def with_new_unit(state: WindowState, unit: WindowUnit) -> WindowState:
    """The state with one more unit behind those that stand."""
    tokens = state.history_tokens + unit.tokens
    return replace(state, units=(*state.units, unit), history_tokens=tokens)


def with_changed_unit(state: WindowState, unit: WindowUnit) -> WindowState:
    """The state with a unit in the place of the one of its number."""
    units = list(state.units)
    # Read from the end: what changes is nearly always one of the newest.
    position = len(units) - 1
    while units[position].number != unit.number:
        position -= 1

    tokens = state.history_tokens + unit.tokens - units[position].tokens
    units[position] = unit
    return replace(state, units=tuple(units), history_tokens=tokens)


def part_tokens(state: WindowState, part: MessagePart) -> int:
    """Upper bound of a part; a picture's is a fixed one, because its bytes are no text.

    Of a file that is sent as text its words are counted.
    """
    if part.kind is PartKind.MEDIA:
        return max(MEDIA_TOKENS, state.count(plain_words(part.text)))
    names = f"{part.name} {part.call_id}" if part.call_id else ""
    return state.count(part.text) + (state.count(names) if names else 0)


def part_body(part: MessagePart, tokens: int) -> dict[str, Any]:
    """What an event's body says of a part; its text stands beside the body."""
    fields = {
        "kind": part.kind.value,
        "tokens": tokens,
        "call_id": part.call_id,
        "name": part.name,
        "tool_kind": part.tool_kind.value if part.tool_kind else "",
        "is_error": part.is_error,
    }
    return {name: value for name, value in fields.items() if value}


def tools_text(tools: object) -> str:
    """The canonical text of tools, empty for none."""
    return json.dumps(tools, sort_keys=True, separators=(",", ":")) if tools else ""


def fold_mark(unit: WindowUnit) -> str:
    """What stands for a fold of which something was erased: its address, and none of its words."""
    return f"{ERASURE_MARK} Originals: {address_of_unit(unit)}"


def tombstone_text(unit: WindowUnit) -> str:
    """The line that stands for units which left: our words, numbers and an address alone."""
    last = unit.last_turn or unit.turn
    address = address_of_unit(unit)
    turns = f"Turn {unit.turn}" if last == unit.turn else f"Turns {unit.turn} to {last}"
    return f"[{turns}: left the window, {unit.full_tokens} tokens. Originals: {address}]"


def address_of_unit(unit: WindowUnit) -> str:
    """The address of all units that one stands for."""
    single = unit.last_number in (0, unit.number)
    return pointer(unit.number) + ("" if single else f"-{unit.last_number}")
