"""Shown: what a picture or a page of an envelope is made from.

`Shown` is what a page needs of an envelope, stated here so that the envelope can draw itself.
`entries` are its blocks in the order of the text, each with its zone, tier and tokens. Nothing
depends on the run: the sidecar (latency, run id, wall time) is no part of a page, so the same
envelope has the same page, byte for byte.
Checklist C-176.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ...schema.compile_terms import PriorityTier, Stability
from ..format.block import Block
from ..ir.verdicts import Gap
from ..render.cache_plan import Plan
from ..trace.manifest import Manifest
from ..trace.metrics import Quality
from ..trace.trace import CompiledObject, SectionUse, Trace

_TIERS = tuple(tier.value for tier in PriorityTier)


class Shown(Protocol):
    """An envelope, as far as a page looks at it."""

    @property
    def envelope_id(self) -> str:
        """Return its identity."""
        ...

    @property
    def digest(self) -> str:
        """Return the SHA-256 of its text."""
        ...

    @property
    def tokens(self) -> int:
        """Return the tokens of the text."""
        ...

    @property
    def tokens_upper(self) -> int:
        """Return the upper bound that keeps to the budget."""
        ...

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks in the order of the text."""
        ...

    @property
    def sections(self) -> tuple[SectionUse, ...]:
        """Return the sections in the order of the text."""
        ...

    @property
    def trace(self) -> Trace:
        """Return what was decided, and why."""
        ...

    @property
    def manifest(self) -> Manifest:
        """Return the pinned inputs."""
        ...

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return what is missing."""
        ...

    @property
    def plan(self) -> Plan:
        """Return the blocks with their zones."""
        ...

    @property
    def quality(self) -> Quality:
        """Return the eight metrics."""
        ...


class Entry(NamedTuple):
    """A block as a page shows it."""

    number: int
    """Its place in the text, from 1."""
    block: Block
    zone: Stability
    tier: str
    """Of its most important object; empty for what the compiler says itself."""
    tokens: int
    """Of the block with its heading and boundary lines."""
    objects: tuple[CompiledObject, ...]


def entries(shown: Shown) -> tuple[Entry, ...]:
    """Return the blocks in the order of the text."""
    return tuple(_entries(shown))


def _entries(shown: Shown) -> Iterator[Entry]:
    anchored = {each.anchor: each for each in shown.trace.compiled_objects}
    for number, segment in enumerate(shown.plan.segments, 1):
        ids = segment.block.object_ids
        objects = tuple(anchored[anchor] for anchor in ids if anchor in anchored)
        tiers = sorted((each.priority_tier for each in objects), key=_TIERS.index)
        yield Entry(
            number,
            segment.block,
            segment.stability,
            tiers[0] if tiers else "",
            shown.plan.counter.count(segment.text),
            objects,
        )
