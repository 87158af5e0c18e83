"""Diagnosis: what in an envelope can have made an answer wrong, and which part is to blame.

A wrong answer comes from context that is missing, poisoned, buried, conflicting or overloaded
. Each suspicion names its cause, the part of the system it points to
(retrieval, compilation or entity mapping), the measure that says so and the objects concerned.
It is read off the trace and the quality metrics alone; nothing here looks at an answer, and an
envelope without a suspicion can still be wrong. Checklist C-113, C-175.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from ...schema.compile_terms import PriorityTier, Reason
from ..trace.metrics import MetricTarget, Quality
from ..trace.trace import OmittedObject, Trace
from .charts import plural


class Cause(StrEnum):
    """How context fails."""

    MISSING = "missing"
    POISONED = "poisoned"
    BURIED = "buried"
    CONFLICTING = "conflicting"
    OVERLOADED = "overloaded"


class Part(StrEnum):
    """Which part of the system to look at first."""

    RETRIEVAL = "retrieval"
    COMPILATION = "compilation"
    ENTITY_MAPPING = "entity_mapping"


class Suspicion(NamedTuple):
    """One thing that can have made an answer wrong."""

    cause: Cause
    part: Part
    why: str
    subjects: tuple[str, ...] = ()
    """Objects, gaps or mentions that it is about."""


LOW_PRECISION: Final = 0.45
"""Below it the texts say little about the question: what tells the right meeting from a wrong one
best (`bench/bench_quality.py`)."""

_LIMITS: Final = frozenset(
    {
        Reason.OVER_BUDGET.value,
        Reason.SECTION_CAP.value,
        Reason.SECTION_DROPPED.value,
        Reason.ITEM_LARGER_THAN_SECTION.value,
        Reason.RETRIEVAL_DEFERRED.value,
    }
)
_NEEDED_TIERS: Final = frozenset({PriorityTier.CRITICAL.value, PriorityTier.IMPORTANT.value})
_METRICS: Final[Mapping[str, Cause]] = {
    "staleness_index": Cause.POISONED,
    "injection_surface": Cause.POISONED,
    "provenance_coverage": Cause.POISONED,
    "compression_fidelity": Cause.MISSING,
    "signal_density": Cause.BURIED,
    "duplication_rate": Cause.BURIED,
    "constraint_density": Cause.OVERLOADED,
    "budget_utilisation": Cause.OVERLOADED,
}


def diagnosis(trace: Trace, quality: Quality) -> tuple[Suspicion, ...]:
    """The suspicions, in the order of the five causes."""
    ranks = tuple(Cause)
    suspicions = _suspicions(trace, quality)
    return tuple(sorted(suspicions, key=lambda suspicion: ranks.index(suspicion.cause)))


def _suspicions(trace: Trace, quality: Quality) -> Iterator[Suspicion]:
    yield from _missing(trace)
    yield from _conflicting(trace)

    suspects = _ids(trace, Reason.INJECTION_SUSPECTED.value)
    if suspects:
        reason = f"{plural(len(suspects), 'text')} quarantined: it looks like an injection"
        yield Suspicion(Cause.POISONED, Part.RETRIEVAL, reason, suspects)

    precision = trace.metrics["context_precision"]
    if precision < LOW_PRECISION:
        reason = (
            f"context_precision is {precision:g}: much of the text says little about the request"
        )
        yield Suspicion(Cause.BURIED, Part.COMPILATION, reason)

    for name in quality.alerts:
        value, target = quality.metrics[name], quality.targets[name]
        reason = outside_target(name, value, target)
        yield Suspicion(_cause(name, value, target), Part.COMPILATION, reason)


def _cause(name: str, value: float, target: MetricTarget) -> Cause:
    """What a metric points to; tokens that were left free are missing context."""
    free = name == "budget_utilisation" and value < target.floor
    return Cause.MISSING if free else _METRICS[name]


def outside_target(name: str, value: float, target: MetricTarget) -> str:
    """Return in words that a metric is outside its target.

    >>> outside_target("staleness_index", 0.4, MetricTarget(0.0, 0.2))
    'staleness_index is 0.4, outside 0 to 0.2'
    """
    return f"{name} is {value:g}, outside {target.floor:g} to {target.ceiling:g}"


def _missing(trace: Trace) -> Iterator[Suspicion]:
    recall = trace.metrics["context_recall"]
    if recall < 1:
        reason = (
            f"context_recall is {recall:g}: something asked for has no object that speaks to it"
        )
        yield Suspicion(Cause.MISSING, Part.RETRIEVAL, reason)

    # A gap is what the compile itself knows to be missing; recall only measures.
    if trace.gaps:
        details = tuple(f"{gap.code.value}: {gap.subject}" for gap in trace.gaps)
        reason = f"{plural(len(details), 'gap')}: the envelope should hold more than it does"
        yield Suspicion(Cause.MISSING, Part.RETRIEVAL, reason, details)

    casualties = tuple(o.object_id for o in trace.omitted_objects if _cut(o))
    if casualties:
        reason = f"{plural(len(casualties), 'needed object')} did not fit the budget"
        yield Suspicion(Cause.MISSING, Part.COMPILATION, reason, casualties)

    # Of rows that stay secret only their number is told, and that only to who may know it.
    withheld = sum(trace.withheld.values())
    if withheld:
        reason = f"{plural(withheld, 'object')} may not be seen by this caller"
        yield Suspicion(Cause.MISSING, Part.RETRIEVAL, reason)


def _cut(omission: OmittedObject) -> bool:
    return omission.reason in _LIMITS and omission.priority_tier in _NEEDED_TIERS


def _conflicting(trace: Trace) -> Iterator[Suspicion]:
    ties = _ids(trace, Reason.CONFLICTING_CLAIM_UNRESOLVED.value)
    if ties:
        reason = (
            f"{plural(len(ties), 'claim')} in a contradiction that none wins; settle it in actions"
        )
        yield Suspicion(Cause.CONFLICTING, Part.RETRIEVAL, reason, ties)

    ambiguities = int(trace.metrics["entity_resolution_conflicts"])
    if ambiguities:
        reason = f"{plural(ambiguities, 'name')} ambiguous or waiting for a review"
        yield Suspicion(Cause.CONFLICTING, Part.ENTITY_MAPPING, reason)


def _ids(trace: Trace, reason: str) -> tuple[str, ...]:
    object_ids: list[str] = []
    for verdict in trace.quarantined_objects:
        if verdict.reason == reason:
            object_ids.append(verdict.object_id)
    return tuple(object_ids)
