"""The cache plan: an envelope's blocks as provider-neutral segments with their zones.

A segment is the text of one block, its section's heading included, with its stability and with
who says it. `marks` tells after which segments a cache boundary is worth setting: at the end
of each of the four zones, when the prefix up to there is long enough by the lower bound of the
count and its expected reads pay for the write. Provider rules come from the capability table.

Invariant: the segments joined are the envelope's text. Sources: compiler page 1.1, rules 1 to
4; checklist C-087, C-319.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..schema.compile_terms import SECTIONS, SectionName, Stability
from .block import Block
from .capabilities import Capability
from .counting import TokenCounter

ZONES: Final = (Stability.STATIC, Stability.SCOPE, Stability.SESSION, Stability.HISTORY)
LOOKBACK_MARGIN: Final = 5
"""Blocks of a provider's lookback that are left unused, so that a mark is always found."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One block as it stands in the text."""

    text: str
    """With heading, boundary lines and final newline."""
    block: Block

    @property
    def stability(self) -> Stability:
        """Return how long its bytes stay."""
        return SECTIONS[SectionName(self.block.section)].stability

    @property
    def speaker(self) -> str:
        """Return `user` or `assistant` for a turn of dialogue, else empty."""
        scheme = self.block.origin.partition("://")[0]
        dialogue = self.block.kind.value == "dialogue" and self.block.section == "history"
        return scheme if dialogue and scheme in ("user", "assistant") else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a renderer works from."""

    segments: tuple[Segment, ...]
    model: str
    capability: Capability
    counter: TokenCounter
    cache_key: str

    def of(self, *stabilities: Stability) -> tuple[Segment, ...]:
        """Return the segments of some zones, in order."""
        return tuple(s for s in self.segments if s.stability in stabilities)

    def text_of(self, *stabilities: Stability, tools: bool = True) -> str:
        """Return the text of some zones, with or without the tools."""
        kept = (s for s in self.of(*stabilities) if tools or s.block.section != "tools")
        return "".join(s.text for s in kept)


def segments_of(
    text: str, blocks: Sequence[Block], spans: Sequence[tuple[int, int]]
) -> tuple[Segment, ...]:
    """Return the segments of a text from the spans of its blocks."""
    return tuple(
        Segment(text[start:end], block) for block, (start, end) in zip(blocks, spans, strict=True)
    )


def marks(plan: Plan, *, expected_reads: float = 1.0, ttl: int = 0) -> tuple[int, ...]:
    """Return the places of the segments after which a cache mark stands, rising.

    `ttl` is the place of a lifetime in the capability's list. None are set for a provider that
    takes none, before a prefix that is too short, or where reads would not pay for the write.
    """
    row = plan.capability
    if not row.breakpoints or row.min_cacheable_tokens is None:
        return ()
    write = row.write_permille[min(ttl, len(row.write_permille) - 1)]
    if write - 1000 >= expected_reads * (1000 - row.read_permille):
        return ()
    ends = _zone_ends(plan)
    kept = [end for end in _within_lookback(ends, plan) if _long_enough(plan, end)]
    return tuple(kept[-row.breakpoints :])


def _zone_ends(plan: Plan) -> list[int]:
    ends: dict[Stability, int] = {}
    for place, segment in enumerate(plan.segments):
        if segment.stability in ZONES:
            ends[segment.stability] = place
    return [ends[zone] for zone in ZONES if zone in ends]


def _within_lookback(ends: list[int], plan: Plan) -> list[int]:
    """Move the last mark but one into a history that outgrows the lookback."""
    lookback = plan.capability.lookback_blocks
    if lookback is None or len(ends) < 2:
        return ends
    reach = lookback - LOOKBACK_MARGIN
    if ends[-1] - ends[-2] > reach and len(ends) == plan.capability.breakpoints:
        return [*ends[:-2], ends[-1] - reach, ends[-1]]
    return ends


def _long_enough(plan: Plan, end: int) -> bool:
    prefix = "".join(segment.text for segment in plan.segments[: end + 1])
    return plan.counter.lower_bound(prefix) >= (plan.capability.min_cacheable_tokens or 0)
