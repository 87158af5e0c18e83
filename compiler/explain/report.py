"""The report: what a picture or a page of an envelope is made from.

`EnvelopeReport` is what a page needs of an envelope, stated here so that the envelope can draw
itself. `entries` are its blocks in the order of the text, each with its zone, tier and tokens.
Nothing depends on the run: the sidecar (latency, run id, wall time) is no part of a page, so the
same envelope has the same page, byte for byte. Checklist C-176.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ...schema.compile_terms import PriorityTier, Stability
from ..format.block import Block
from ..ir.verdicts import Gap
from ..render.cache_plan import RenderPlan
from ..trace.manifest import Manifest
from ..trace.metrics import Quality
from ..trace.trace import CompiledObject, SectionUse, Trace

_TIERS = tuple(tier.value for tier in PriorityTier)


class EnvelopeReport(Protocol):
    """An envelope, as far as a page looks at it."""

    @property
    def envelope_id(self) -> str:
        """Its identity."""
        ...

    @property
    def digest(self) -> str:
        """The SHA-256 of its text."""
        ...

    @property
    def tokens(self) -> int:
        """The tokens of the text."""
        ...

    @property
    def tokens_upper(self) -> int:
        """The upper bound that keeps to the budget."""
        ...

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks in the order of the text."""
        ...

    @property
    def sections(self) -> tuple[SectionUse, ...]:
        """The sections in the order of the text."""
        ...

    @property
    def trace(self) -> Trace:
        """What was decided, and why."""
        ...

    @property
    def manifest(self) -> Manifest:
        """The pinned inputs."""
        ...

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What is missing."""
        ...

    @property
    def plan(self) -> RenderPlan:
        """The blocks with their zones."""
        ...

    @property
    def quality(self) -> Quality:
        """The eight metrics."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A block as a page shows it."""

    number: int
    """Its position in the text, from 1."""
    block: Block
    zone: Stability
    tier: str
    """Of its most important object; empty for what the compiler says itself."""
    tokens: int
    """Of the block with its heading and boundary lines."""
    objects: tuple[CompiledObject, ...]


def entries(report: EnvelopeReport) -> tuple[Entry, ...]:
    """The blocks in the order of the text."""
    return tuple(_entries(report))


def _entries(report: EnvelopeReport) -> Iterator[Entry]:
    by_anchor = {source.anchor: source for source in report.trace.compiled_objects}
    for number, segment in enumerate(report.plan.segments, 1):
        anchors = segment.block.object_ids
        objects = tuple(by_anchor[anchor] for anchor in anchors if anchor in by_anchor)
        tiers = sorted((source.priority_tier for source in objects), key=_TIERS.index)
        yield Entry(
            number,
            segment.block,
            segment.stability,
            tiers[0] if tiers else "",
            report.plan.counter.count(segment.text),
            objects,
        )
