"""The trace: every object that went in or stayed out, and why, in the shape of source 003.

Built from the verdicts of the stages. What the caller may not see is counted, never named,
unless the caller is an auditor. Nothing here depends on a clock: run id, wall time and latency
are laid beside it by the service (`Envelope.sidecar`).
Checklist C-104 to C-113, C-137.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ...schema.compile_terms import CacheHitStatus, Reason, Stability, ValidationStatus
from ...schema.records import short_repr
from ..ir.records import Gap, TextChange, Verdict
from .lint import LintFinding
from .provenance import Provenance


class CompiledObject(NamedTuple):
    """An object in the envelope (C-105)."""

    object_id: str
    object_type: str
    authority_level: int
    source_origin: str
    source_authority: float
    confidence_score: float
    security_classification: str
    contradiction_status: str
    priority_tier: str
    compiled_as: str
    section: str
    anchor: str
    """The number that stands for it in the text."""
    score: int
    """In millionths."""
    integrity: str
    """Trust level of its block, for policies on tool calls."""
    content_hash: str
    """SHA-256 of its rendered text, the first 16 digits."""
    merged: tuple[str, ...] = ()
    """Objects whose values its instruction holds."""
    stands_for: tuple[str, ...] = ()
    """Objects of other scopes that it won its slot from: what found them found it."""


class OmittedObject(NamedTuple):
    """An object that stayed out (C-106)."""

    object_id: str
    stage: str
    reason: str
    detail: str
    """Machine-readable: a finer reason, another object, or the instant at which it ended."""
    priority_tier: str
    score: int | None


class QuarantinedObject(NamedTuple):
    """An object that was set apart (C-107)."""

    object_id: str
    stage: str
    reason: str
    detail: str
    contradiction_status: str


@dataclass(frozen=True, slots=True)
class SectionUse:
    """What one section of the text takes."""

    __repr__ = short_repr

    name: str
    stability: Stability
    tokens: int
    """Of its part of the text, heading and frames included."""
    blocks: int
    objects: int
    allocated: int | None
    """What the allocator gave it; None when nothing was scarce."""


_PLAIN_FIELDS: Final = (
    *("trace_id", "request_id", "session_id", "tenant_id", "user_id", "project_id", "active_task"),
    *("cached_tokens_read", "downstream_retries_triggered", "key_epoch", "counter"),
)
"""Fields that the JSON of a trace has as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What a compile decided."""

    __repr__ = short_repr

    trace_id: str
    """The envelope id: the same inputs have the same trace."""
    request_id: str
    session_id: str | None
    tenant_id: str
    user_id: str | None
    project_id: str | None
    active_task: str
    prompt_tokens: int
    compiled_objects: tuple[CompiledObject, ...]
    omitted_objects: tuple[OmittedObject, ...]
    quarantined_objects: tuple[QuarantinedObject, ...]
    withheld: Mapping[str, int]
    """How many objects the caller may not see, by where they were met."""
    withheld_objects: tuple[OmittedObject, ...]
    """Their names, for an auditor; empty for everyone else."""
    retrieval_metadata: Mapping[str, Any]
    cache_metadata: Mapping[str, Any]
    budget: Mapping[str, Any]
    provenance: tuple[Provenance, ...]
    """Of everything that was found, stored or brought."""
    conversions: tuple[TextChange, ...]
    gaps: tuple[Gap, ...]
    metrics: Mapping[str, float]
    alerts: tuple[str, ...]
    """Quality metrics outside the targets of the policy; `envelope.quality` has their values."""
    validation_status: ValidationStatus
    key_epoch: int
    counter: str
    lint: tuple[LintFinding, ...] = ()
    """Contradictions between the rules and the payload."""
    variation: Mapping[str, int] = field(default_factory=dict[str, int])
    """Shape of each varied element; empty when nothing varies."""
    cache_hit_status: CacheHitStatus = CacheHitStatus.UNKNOWN
    cached_tokens_read: int = 0
    downstream_retries_triggered: int = 0

    @property
    def left_out(self) -> tuple[OmittedObject | QuarantinedObject, ...]:
        """What the caller may see and did not get: the omitted, then the quarantined."""
        return self.omitted_objects + self.quarantined_objects

    def to_dict(self, sidecar: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the trace as plain JSON values, with what the service measured beside it."""
        run_facts = dict(sidecar or {})
        metrics = dict(self.metrics)
        # The one metric that hangs on a clock: it is in no hash, so the service measures it.
        if "compilation_latency_ms" in run_facts:
            metrics["compilation_latency_ms"] = run_facts["compilation_latency_ms"]

        plain = {name: getattr(self, name) for name in _PLAIN_FIELDS}
        records = ("provenance", "conversions", "gaps", "lint")
        return {
            **plain,
            **{name: list(map(_plain, getattr(self, name))) for name in records},
            "compiled_prompt_tokens": self.prompt_tokens,
            "cache_hit_status": self.cache_hit_status.value,
            "state_compilation_metadata": {
                "compiled_objects": list(map(_plain, self.compiled_objects)),
                "omitted_objects": list(map(_omission, self.omitted_objects)),
                "quarantined_objects": list(map(_plain, self.quarantined_objects)),
                "withheld": dict(self.withheld),
                "withheld_objects": list(map(_plain, self.withheld_objects)),
                "retrieval_metadata": dict(self.retrieval_metadata),
                "cache_metadata": dict(self.cache_metadata),
            },
            "budget": dict(self.budget),
            "variation": dict(self.variation),
            "alerts": list(self.alerts),
            "validation_status": self.validation_status.value,
            "observability_metrics": metrics,
        }


def _omission(record: OmittedObject) -> dict[str, Any]:
    """Return an omitted object; an expired one says when it ended, as in source 003."""
    plain = _plain(record)
    if record.reason == Reason.EXPIRED_VALID_TIME.value:
        plain["valid_until"] = record.detail
    return plain


def _plain(record: NamedTuple) -> dict[str, Any]:
    # Fields that say nothing are left out: a trace of hundreds of objects is mostly those.
    plain: dict[str, Any] = {}
    for name, value in record._asdict().items():
        if value is None or value == "" or value == ():
            continue
        plain[name] = list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType]
    return plain


def omitted_object(verdict: Verdict) -> OmittedObject:
    """Return a verdict as the trace lists it."""
    return OmittedObject(
        verdict.object_id,
        verdict.stage.value,
        verdict.reason.value,
        verdict.detail,
        verdict.tier,
        verdict.score,
    )
