"""An envelope on its way between processes: everything of it, worked out, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ...compiler.envelope.checks import HardConstraint
from ...compiler.envelope.envelope import Envelope
from ...compiler.format.grammar import parse_envelope
from ...compiler.ir.verdicts import Gap
from ...compiler.render.cache_plan import BlockSegment, RenderPlan
from ...compiler.tokens.capabilities import Capability
from ...compiler.tokens.counting import counter_for
from ...compiler.trace.manifest import Manifest
from ...compiler.trace.metrics import Quality
from ...compiler.trace.trace import SectionUse, Trace
from ...schema.short_repr import short_repr

_OF_PLAN: Final = frozenset({"segments", "capability", "model", "cache_key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeRecord:
    """An envelope with its trace and figures."""

    __repr__ = short_repr

    envelope_id: str
    text: str
    tokens: int
    tokens_upper: int
    digest: str
    sections: tuple[SectionUse, ...]
    constraints: tuple[HardConstraint, ...]
    manifest: Manifest
    gaps: tuple[Gap, ...]
    segments: tuple[BlockSegment, ...]
    capability: Capability
    model: str
    cache_key: str
    sidecar: Mapping[str, Any]
    trace: Trace
    quality: Quality

    @classmethod
    def from_envelope(cls, envelope: Envelope) -> EnvelopeRecord:
        """The record of an envelope."""
        # Trace and quality are worked out when they are asked for; here is the last place that can.
        fields: dict[str, Any] = {}
        for name in cls.__dataclass_fields__:
            holder = envelope.plan if name in _OF_PLAN else envelope
            fields[name] = getattr(holder, name)

        return cls(**fields)

    def envelope(self) -> Envelope:
        """The envelope again; its further pages stay where it was compiled."""
        return Envelope(
            envelope_id=self.envelope_id,
            text=self.text,
            tokens=self.tokens,
            tokens_upper=self.tokens_upper,
            digest=self.digest,
            blocks=parse_envelope(self.text),
            sections=self.sections,
            constraints=self.constraints,
            manifest=self.manifest,
            gaps=self.gaps,
            plan=RenderPlan(
                segments=self.segments,
                model=self.model,
                capability=self.capability,
                counter=counter_for(self.model),
                cache_key=self.cache_key,
            ),
            sidecar=_with_moment(self.sidecar),
            _tell=lambda: self.trace,
            _measure=lambda: self.quality,
        )


def _with_moment(sidecar: Mapping[str, Any]) -> Mapping[str, Any]:
    """The sidecar with the time of the compile as a datetime again, if it came as text."""
    stamp = sidecar.get("at")
    return {**sidecar, "at": datetime.fromisoformat(stamp)} if isinstance(stamp, str) else sidecar
