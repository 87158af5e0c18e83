"""The state of a window: what stands in it, and what its next request comes to.

The state is a function of the log and of nothing else: folding the same events gives the same
state, on every machine, so a session survives the process that ran it. The state holds what
stands in the window, never what left it; originals are read back from the log.
"""

from __future__ import annotations

import itertools
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any, Final

from ..compiler.tokens.counting import counter_for
from ..schema.errors import InvalidInput
from ..schema.record_json import from_plain, to_plain
from ..schema.values import canonical_json
from .events import Note
from .ledger import EMPTY_LEDGER, WindowLedger
from .links import ClaimLink
from .summaries import UnitSummary
from .units import MessagePart, PartKind, StandingForm, WindowUnit, plain_words, tokens_in

FRAMING: Final = 6
"""Tokens that a provider adds around one part at most: role, separators, ids of blocks."""
KEYS_KEPT: Final = 64
"""Retries that are recognised: those of the last hooks."""
MEDIA_TOKENS: Final = 1_600
"""The most that providers count for one picture of ordinary size."""
_REPORTS: Final = 8
_GROWTH: Final = 2_000
"""Tokens by which our count grows before two reports are compared."""
_RATIOS: Final = (500, 2_000)
"""The least and the largest ratio, in permille: below the least lies no tokenizer that we know."""


@dataclass(frozen=True, slots=True)
class BoundCorrection:
    """How our own count becomes a bound: own count x ratio + offset.

    A constant that the loop hides (a system text, tools, words of the provider) is an offset;
    another tokenizer is a ratio. One report cannot tell them apart, so it raises the offset alone.
    The ratio comes from two reports between which our count grew by 2,000 tokens. Both are the
    largest of the last eight reports, so they fall again. Checklist C-244, C-272.
    """

    reports: tuple[tuple[int, int], ...] = ()
    """Our count and the provider's, of the last requests that were reported."""
    floor: int = 1000
    """Permille below which the ratio never falls: only a wide margin of our count may shrink."""

    @property
    def ratio(self) -> int:
        """Permille by which our count is multiplied."""
        slopes: list[int] = []
        for (own, reported), (later, following) in itertools.combinations(self.reports, 2):
            if later - own >= _GROWTH:
                slopes.append(-(-1000 * (following - reported) // (later - own)))
        if not slopes:
            return 1000
        least, most = _RATIOS
        return max(self.floor, least, min(most, max(slopes)))

    @property
    def offset(self) -> int:
        """Tokens that are added."""
        ratio = self.ratio
        return max([0, *(reported - own * ratio // 1000 for own, reported in self.reports)])

    @property
    def source(self) -> str:
        """Where a bound comes from: the provider's reports, or our count alone."""
        return "provider" if self.reports else "own"

    def bound(self, own: int) -> int:
        """The upper bound of a request that we count so many tokens for."""
        return -(-own * self.ratio // 1000) + self.offset

    def own(self, bound: int) -> int:
        """The largest own count whose bound is at most this."""
        return max(0, bound - self.offset) * 1000 // self.ratio

    def reported(self, own: int, tokens: int) -> BoundCorrection:
        """The correction after one more report; one of nothing says nothing."""
        if tokens <= 0 or own <= 0:
            return self
        return replace(self, reports=(*self.reports, (own, tokens))[-_REPORTS:])


NOTHING_REPORTED: Final = BoundCorrection()


@dataclass(frozen=True, kw_only=True)
class WindowState:
    """What a session's window holds, and what decides its next edit."""

    seq: int = 0
    model: str = ""
    window: int = 0
    """W in tokens."""
    limit: int = 0
    """L: W without the reserve for the answer."""
    policy_digest: str = ""
    policy: str = ""
    """The tunables as JSON, as the log states them last."""
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
    """What stands."""
    ledger: WindowLedger = EMPTY_LEDGER
    """What left, in short; it stands before the units."""
    loads: tuple[int, ...] = ()
    mean_growth: int = 0
    correction: BoundCorrection = NOTHING_REPORTED
    """What the provider's reports say of our own count."""
    pins: tuple[tuple[int, int | None], ...] = ()
    """The pinned units, each with the turn until which it stays; None for ever."""
    notes: tuple[Note, ...] = ()
    links: tuple[ClaimLink, ...] = ()
    """What standing units stated to the store."""
    summaries: tuple[UnitSummary, ...] = ()
    """What a model made ahead of standing units."""
    readings: tuple[tuple[int, ...], ...] = ()
    """The six metrics of health at the ends of the last turns."""
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
    """Our own count of the last request, which a provider's report is compared with; 0 before."""
    keys: tuple[tuple[str, str, int], ...] = ()
    """The newest idempotency keys with the digest of what came with them and their event."""
    closed: bool = False
    erased: bool = False
    """Its texts were erased as a whole: its name can be used again."""

    @cached_property
    def history_tokens(self) -> int:
        """Upper bound of all units: each hook asks for it several times."""
        return tokens_in(self.units)

    @property
    def own_tokens(self) -> int:
        """Our own count of the next request."""
        stated = self.fixed_tokens + self.memory_tokens + self.ledger.tokens
        return stated + self.history_tokens

    @property
    def tokens(self) -> int:
        """Upper bound of the next request."""
        return self.correction.bound(self.own_tokens)

    @property
    def pinned(self) -> frozenset[int]:
        """The numbers of the pinned units."""
        return frozenset(map(itemgetter(0), self.pins))

    @property
    def text(self) -> str:
        """All words in the window."""
        return "\n".join(filter(None, (self.ledger.text, *(unit.text for unit in self.units))))

    @property
    def open_units(self) -> tuple[WindowUnit, ...]:
        """The units with a call that waits for its result."""
        return tuple(filter(_OPEN_CALLS, self.units))

    def with_unit(self, successor: WindowUnit) -> WindowState:
        """The state with a unit in the place of the one of its number."""
        units = list(self.units)
        units[list(map(_NUMBER, units)).index(successor.number)] = successor
        return replace(self, units=tuple(units))

    def unit(self, number: int) -> WindowUnit | None:
        """The standing unit that holds a number, None when it left."""
        for unit in self.units:
            numbers = {unit.number, *(item.seq for item in unit.items)}
            if number in numbers or unit.number <= number <= unit.last_number:
                return unit
        return None

    def summary(self, number: int) -> UnitSummary | None:
        """The summary that was taken of a unit, None for none."""
        return next((summary for summary in self.summaries if summary.first == number), None)

    def is_summarised(self, number: int, forms: Mapping[int, StandingForm]) -> bool:
        """Whether a summary that an edit takes includes a unit that it does not begin with."""
        for summary in self.summaries:
            is_inside = summary.first < number <= summary.last
            if is_inside and forms.get(summary.first) is StandingForm.SUMMARY:
                return True
        return False

    def count(self, text: str) -> int:
        """Upper bound of a text for the session's model, with framing."""
        return counter_for(self.model).upper_bound(text) + FRAMING


_OPEN_CALLS: Final = attrgetter("open_calls")
_NUMBER: Final = attrgetter("number")
EMPTY_STATE: Final = WindowState()


def part_tokens(state: WindowState, part: MessagePart) -> int:
    """Upper bound of a part; a picture's is a fixed one, because its bytes are no text.

    Of a file that is sent as text its words are counted.
    """
    if part.kind is PartKind.MEDIA:
        return max(MEDIA_TOKENS, state.count(plain_words(part.text)))
    names = f"{part.name} {part.call_id}" if part.call_id else ""
    return state.count(part.text) + (state.count(names) if names else 0)


def tools_text(tools: object) -> str:
    """The canonical text of tools, empty for none.

    Raises:
        InvalidInput: `bad_field` for what is no JSON.
    """
    try:
        text = json.dumps(tools, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"tools must be plain JSON: {error}", code="bad_field", field="tools"
        ) from error
    return text if tools else ""


_COMPRESSION: Final = 1
"""Of zlib: the highest speed, a quarter of the time of level 6 for a third more bytes."""
_FORMAT: Final = 4
"""Rises when `step` folds an event in another way: older snapshots then count for nothing."""


def snapshot_text(state: WindowState) -> str:
    """A state as packed JSON, so that opening a session need not fold the events before it.

    The words of the window stand in the log already, so a store keeps them here a second time as
    small as can be.
    """
    text = canonical_json({"format": _FORMAT, "state": to_plain(state)})
    return b64encode(zlib.compress(text.encode(), _COMPRESSION)).decode()


def state_from(text: str) -> WindowState | None:
    """The state of a snapshot; None for one of another format, which the log replaces."""
    # Format 1 was bare JSON, which no packed text begins like.
    snapshot: dict[str, Any] = (
        {} if text.startswith("{") else json.loads(zlib.decompress(b64decode(text)))
    )
    if snapshot.get("format") != _FORMAT:
        return None
    try:
        return from_plain(WindowState, snapshot["state"])  # type: ignore[no-any-return]
    except ValueError:
        # A field came or went since.
        return None
