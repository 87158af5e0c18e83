"""The cache plan: an envelope's blocks as provider-neutral segments with their zones.

A segment is the text of one block, its section's heading included, with its stability and with
who says it. `marks` tells after which segments a cache boundary is worth setting: at the end
of each of the four zones, when the prefix up to there is long enough by the lower bound of the
count and its expected reads pay for the write. Provider rules come from the capability table.

Invariant: the segments joined are the envelope's text. Checklist C-087, C-319.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ...schema.compile_terms import SECTIONS, CacheHitStatus, SectionName, Stability
from ...schema.errors import InvalidInput, unknown
from ...schema.records import short_repr
from ...schema.values import fields_of
from ..format.grammar import Block
from ..media.plan import MediaEntry
from ..tokens.capabilities import GENERIC, CacheProvider, Capability
from ..tokens.counting import TokenCounter

ZONES: Final = (Stability.STATIC, Stability.SCOPE, Stability.SESSION, Stability.HISTORY)
LOOKBACK_MARGIN: Final = 5
"""Blocks of a provider's lookback that are left unused, so that a mark is always found."""
CONTRACTS: Final[Mapping[str, tuple[Stability, ...]]] = MappingProxyType(
    {"system": (Stability.STATIC, Stability.SCOPE), "payload": (Stability.STATIC,)}
)
"""Zones of the system text by contract option: A, all rules; B, the platform's alone."""
SPEAKERS: Final = frozenset({"user", "assistant", "system"})


@dataclass(frozen=True, slots=True)
class BlockSegment:
    """One block as it is in the text."""

    __repr__ = short_repr

    text: str
    """With heading, boundary lines and final newline."""
    block: Block
    media_entry: MediaEntry | None = None
    """The media item that the block names, if any."""
    call_id: str = ""
    """What joins a tool call of the history to its result; empty for everything else."""
    tool: str = ""
    """The name of the tool that is called."""

    @property
    def stability(self) -> Stability:
        """How long its bytes stay."""
        return SECTIONS[SectionName(self.block.section)].stability

    @property
    def speaker(self) -> str:
        """Return `user`, `assistant` or `system` for a turn of dialogue, else empty."""
        scheme = self.block.origin.partition("://")[0]
        dialogue = self.block.kind.value == "dialogue" and self.block.section == "history"
        return scheme if dialogue and scheme in SPEAKERS else ""

    def said_by(self, role: str) -> str:
        """A turn's own words for a message of its speaker, else the framed block.

        A turn without words is framed too: providers refuse an empty text.
        """
        is_own_turn = self.speaker == role and self.block.text.strip()
        return self.block.text if is_own_turn else self.text

    @property
    def is_call(self) -> bool:
        """Whether the assistant calls a tool here."""
        return bool(self.call_id) and self.speaker == "assistant"

    @property
    def call_input(self) -> Mapping[str, Any]:
        """What a tool is called with; words that are no JSON object under a name of their own."""
        # From the block and not from the request: what the text masks stays masked.
        words = self.block.text.removeprefix(f"-> {self.tool}").strip()
        try:
            value = json.loads(words)
        except (ValueError, RecursionError):
            value = words
        fields = fields_of(value)
        return fields if fields or words in ("", "{}") else {"input": value}

    def around_media(self) -> tuple[str, str]:
        """The text before and behind what is sent for its media item.

        That is laid before the closing line: untrusted data of any kind is between the
        boundary lines of its block.
        """
        before, _, closing = self.text[:-1].rpartition("\n")
        return f"{before}\n", f"{closing}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPlan:
    """What a renderer works from."""

    __repr__ = short_repr

    segments: tuple[BlockSegment, ...]
    model: str
    capability: Capability
    counter: TokenCounter
    cache_key: str
    answer_schema: Mapping[str, Any] | None = None
    """The JSON Schema that a hard constraint holds the answer to, if one does."""

    @property
    def media_tokens(self) -> int:
        """The tokens of the pictures, recordings and films that are sent with the text."""
        return sum(entry.attachment_tokens for entry in self.attachments.values())

    @property
    def attachments(self) -> dict[int, MediaEntry]:
        """What is sent with the text, by the place of the segment that names it."""
        entries: dict[int, MediaEntry] = {}
        for place, segment in enumerate(self.segments):
            if segment.media_entry is not None and segment.media_entry.attachment_tokens:
                entries[place] = segment.media_entry
        return entries

    def zone_segments(self, *stabilities: Stability) -> tuple[BlockSegment, ...]:
        """The segments of some zones, in order."""
        return tuple(s for s in self.segments if s.stability in stabilities)

    def text_of(self, *stabilities: Stability, tools: bool = True) -> str:
        """The text of some zones, with or without the tools."""
        text = ""
        for segment in self.zone_segments(*stabilities):
            if tools or segment.block.section != "tools":
                text += segment.text
        return text


def capability_for(plan: RenderPlan, provider: CacheProvider) -> Capability:
    """The plan's capability when its model is of this provider, else that of no provider.

    A request may be rendered for a gateway that speaks another provider's protocol; what the
    model itself cannot do is then not asked for.
    """
    return plan.capability if plan.capability.provider is provider else GENERIC


def in_system(segment: BlockSegment, contract: str) -> bool:
    """Whether a segment belongs to the request's system text (C-198, C-208).

    Contract `system` (option A) puts the rules of tenant and project there too; `payload`
    (option B) sends them at the head of the payload, so that one system text serves many
    tenants. The order of the text is the same, so both cache alike.

    Raises:
        InvalidInput: `unknown_vocabulary`, for another word.
    """
    if contract not in CONTRACTS:
        raise unknown("contract", contract, CONTRACTS)

    return segment.stability in CONTRACTS[contract]


def marks(plan: RenderPlan, *, expected_reads: float = 1.0, ttl: int = 0) -> tuple[int, ...]:
    """The places of the segments after which a cache mark stands, rising.

    `ttl` is the place of a lifetime in the capability's list. None are set for a provider that
    takes none, before a prefix that is too short, or where reads would not pay for the write.
    """
    row = plan.capability
    if not row.breakpoints or not pays(row, expected_reads=expected_reads, ttl=ttl):
        return ()

    # Of more ends than marks the last ones count: each caches all that comes before it.
    ends = _within_lookback(_zone_ends(plan), plan)
    least = row.min_cacheable_tokens or 0
    return tuple(end for end in ends if prefix_tokens(plan, end) >= least)[-row.breakpoints :]


def ttl_place(row: Capability, ttl_s: int) -> int:
    """The place of a lifetime in a capability's list; 0 where none are on offer.

    Raises:
        InvalidInput: `bad_request`, naming the lifetimes of the model.
    """
    if not row.ttls_s:
        return 0

    if ttl_s not in row.ttls_s:
        lifetimes = " or ".join(map(str, row.ttls_s))
        raise InvalidInput(
            f"{row.pattern} caches for {lifetimes} seconds, not {ttl_s}", code="bad_request"
        )

    return row.ttls_s.index(ttl_s)


def pays(row: Capability, *, expected_reads: float, ttl: int = 0) -> bool:
    """Whether so many expected reads of a prefix pay for writing it to the cache."""
    write = row.write_permille[min(ttl, len(row.write_permille) - 1)]
    return write - 1000 < expected_reads * (1000 - row.read_permille)


def expected_cached_tokens(plan: RenderPlan) -> int:
    """The tokens that the next request of the same conversation should read from a cache.

    That is the longest prefix which stays and which the provider keeps: up to the last mark
    where it takes marks, else all four zones, rounded down to its steps. By the lower bound of
    the count; 0 without a provider or for a prefix that is too short.
    """
    row = plan.capability
    if row.min_cacheable_tokens is None:
        return 0

    ends = marks(plan) if row.breakpoints else tuple(_zone_ends(plan))
    if not ends:
        return 0

    tokens = prefix_tokens(plan, ends[-1])
    if tokens < row.min_cacheable_tokens:
        return 0

    return tokens - tokens % row.granularity_tokens


def hit_status(cached_tokens: int, expected_tokens: int) -> CacheHitStatus:
    """What a provider's report of cached tokens means, compared with what was expected (C-111).

    >>> hit_status(1_024, 4_096).value
    'PARTIAL_HIT'
    """
    if not cached_tokens:
        return CacheHitStatus.NONE

    return (
        CacheHitStatus.FULL_HIT if cached_tokens >= expected_tokens else CacheHitStatus.PARTIAL_HIT
    )


def _zone_ends(plan: RenderPlan) -> list[int]:
    ends: dict[Stability, int] = {}
    for place, segment in enumerate(plan.segments):
        if segment.stability in ZONES:
            ends[segment.stability] = place
    return [ends[zone] for zone in ZONES if zone in ends]


def _within_lookback(ends: list[int], plan: RenderPlan) -> list[int]:
    """Move the last mark but one into the history when one turn outgrows the lookback."""
    lookback = plan.capability.lookback_blocks
    if lookback is None or len(ends) < plan.capability.breakpoints:
        return ends

    # Providers look back over so many blocks from a mark. A turn with more calls than that would
    # leave the last mark of the old request out of sight, and all would be written again.
    reach = lookback - LOOKBACK_MARGIN
    if added_blocks(plan) > reach:
        return [*ends[:-2], ends[-1] - reach, ends[-1]]

    return ends


def added_blocks(plan: RenderPlan) -> int:
    """How many blocks of the history its last turn added: from the user's words on."""
    history = plan.zone_segments(Stability.HISTORY)
    for number, segment in enumerate(reversed(history), start=1):
        if segment.speaker == "user":
            return number
    return len(history)


def prefix_tokens(plan: RenderPlan, end: int) -> int:
    """The tokens up to and with a segment, by the lower bound."""
    return plan.counter.lower_bound("".join(s.text for s in plan.segments[: end + 1]))
