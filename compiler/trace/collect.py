"""Tracing: the verdicts of ten stages collected into the trace.

An object that stands in the text under one row may have lost with another; the trace lists an
object as compiled once, and as omitted by its first verdict. Whatever the gate withheld is
counted by reason and named for an auditor alone. Checklist C-104 to C-113.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...schema.compile_terms import (
    SECTIONS,
    GapCode,
    Reason,
    SectionName,
    Stability,
    Stage,
    ValidationStatus,
    wire_key,
)
from ...schema.crosswalk import layer_tokens
from ...schema.errors import Forbidden
from ...schema.principal import AUDIT, Principal
from ...schema.vocabulary import Authority
from ..ir.candidate import item_of
from ..ir.context import CompileContext
from ..ir.outputs import Passes
from ..ir.piece import Piece
from ..ir.verdicts import Change, Gap, Verdict
from ..media.entry import Shown
from ..render.cache_plan import Plan, expected_cached_tokens
from ..request.request import Media
from .lint import LintFinding, lint
from .metrics import core_metrics, cost_of, grade
from .provenance import provenance
from .trace import CompiledObject, SectionUse, Trace, omitted, quarantined

_CACHED = (Stability.STATIC, Stability.SCOPE, Stability.SESSION, Stability.HISTORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What an envelope and its trace say alike."""

    compiled_ids: tuple[str, ...]
    """Object ids, in the order of the text."""
    verdicts: tuple[Verdict, ...]
    changes: tuple[Change, ...]
    gaps: tuple[Gap, ...]
    sections: tuple[SectionUse, ...]
    section_of: Mapping[str, str]
    """Section by object id, of every piece."""
    tokens: int


def findings(passes: Passes, context: CompileContext) -> Findings:
    """Return what was found, collected once."""
    laid = passes.pieces
    compiled = tuple(piece.object_id for piece in laid if piece.candidate is not None)
    pieces = passes.contained.pieces
    sections = {piece.object_id: piece.section.value for piece in pieces}
    verdicts = tuple(_first(passes.verdicts, {*compiled}))
    return Findings(
        compiled_ids=compiled,
        verdicts=verdicts,
        changes=(*passes.converted.changes, *passes.ordered.changes),
        gaps=tuple(sorted({*_gaps(passes, context)})),
        sections=tuple(_sections(passes, context)),
        section_of=sections,
        tokens=context.counter.count(passes.ordered.assembled.text),
    )


def _first(verdicts: Iterable[Verdict], here: set[str]) -> Iterable[Verdict]:
    """Yield one verdict an object, none for what is compiled but for the rest of a source."""
    seen: set[str] = set()
    for verdict in verdicts:
        rest = verdict.reason is Reason.PARENT_REMAINDER
        if verdict.object_id in seen or (verdict.object_id in here and not rest):
            continue
        seen.add(verdict.object_id)
        yield verdict


def _compiled(passes: Passes) -> Iterable[CompiledObject]:
    anchors = {object_id: anchor for anchor, object_id in passes.ordered.assembled.anchors.items()}
    for group in passes.ordered.assembled.pieces:
        level = max(piece.level for piece in group)
        trust = Authority(level).trust.value
        for piece in group:
            if piece.candidate is not None:
                yield _object(piece, anchors[piece.object_id], trust)


def _object(piece: Piece, anchor: str, trust: str) -> CompiledObject:
    assert piece.candidate is not None  # what the compiler says itself is no object
    candidate = piece.candidate
    version = candidate.version
    details = version.details if version is not None else item_of(candidate)
    claim = version.row.claim if version is not None else None
    return CompiledObject(
        object_id=piece.object_id,
        object_type=details.object_type.value,
        authority_level=candidate.level,
        source_origin=candidate.origin,
        source_authority=claim.source_authority / 1000 if claim else 1.0,
        confidence_score=claim.confidence / 1000 if claim else 1.0,
        security_classification=(
            version.permissions.classification.value if version is not None else "public"
        ),
        contradiction_status="clean",
        priority_tier=piece.tier.value,
        compiled_as=piece.ladder.compiled_as.value,
        section=piece.section.value,
        anchor=anchor,
        score=piece.value,
        integrity=trust,
        content_hash=hashlib.sha256((piece.cell or piece.text).encode()).hexdigest()[:16],
        merged=piece.object_ids[1:],
        stands_for=tuple(sorted(each.object_id for each in candidate.rivals)),
    )


def _gaps(passes: Passes, context: CompileContext) -> Iterable[Gap]:
    yield from passes.resolved.gaps
    yield from passes.validated.gaps
    yield from passes.ordered.gaps
    request = context.request
    if request.step and not request.acceptance:
        yield Gap(GapCode.ACCEPTANCE_MISSING, request.step)
    covered = {entry for evidence in request.evidence for entry in evidence.covers}
    if covered:
        for item in request.acceptance:
            if item.text not in covered:
                yield Gap(GapCode.EVIDENCE_NEEDED, item.text)
    unsent = (each for each in context.media.shown if each.withheld)
    yield from (Gap(GapCode.RETRIEVAL_PENDING, each.media.uri, each.note) for each in unsent)
    erased = (v for v in passes.validated.verdicts if v.reason is Reason.ERASED)
    yield from (Gap(GapCode.ERASED, verdict.object_id) for verdict in erased)


def _sections(passes: Passes, context: CompileContext) -> Iterable[SectionUse]:
    allocated = dict(passes.ordered.allocated)
    spans = section_spans(passes)
    for name in sorted(spans, key=wire_key):
        start, end = spans[name]
        blocks = [b for b in passes.ordered.assembled.blocks if b.section == name]
        yield SectionUse(
            name.value,
            SECTIONS[name].stability,
            context.counter.count(passes.ordered.assembled.text[start:end]),
            len(blocks),
            sum(len(block.object_ids) for block in blocks),
            allocated.get(name.value),
        )


def section_spans(passes: Passes) -> dict[SectionName, tuple[int, int]]:
    """Return where each section's part of the text begins and ends."""
    found: dict[SectionName, tuple[int, int]] = {}
    assembled = passes.ordered.assembled
    for block, (start, end) in zip(assembled.blocks, assembled.spans, strict=True):
        name = SectionName(block.section)
        found[name] = found.get(name, (start, end))[0], end
    return found


def trace_of(
    passes: Passes, context: CompileContext, found: Findings, *, plan: Plan, envelope_id: str
) -> Trace:
    """Return the trace of an envelope."""
    gated = passes.gated
    request, principal = context.request, context.principal
    auditor = _may(principal)
    faulty = any(use.tokens > (use.allocated or use.tokens) for use in found.sections)
    metrics = core_metrics(passes, context, found.verdicts)
    doubts = _lint(passes, context)
    warned = bool(found.gaps or doubts) or faulty or any(v.quarantines for v in found.verdicts)
    failed = bool(doubts) and context.rules.safety_critical
    status = ValidationStatus.WARNINGS if warned else ValidationStatus.CLEAN
    return Trace(
        trace_id=envelope_id,
        request_id=hashlib.sha256(
            context.request_json.encode("utf-8", "backslashreplace")
        ).hexdigest(),
        session_id=principal.session,
        tenant_id=principal.tenant,
        user_id=principal.user,
        project_id=context.project,
        active_task=f"{request.task}: {request.step}" if request.step else request.task,
        prompt_tokens=found.tokens,
        compiled_objects=tuple(_compiled(passes)),
        omitted_objects=tuple(omitted(v) for v in found.verdicts if not v.quarantines),
        quarantined_objects=tuple(quarantined(v) for v in found.verdicts if v.quarantines),
        withheld=_withheld(passes),
        withheld_objects=tuple(omitted(v) for v in gated.refusals) if auditor else (),
        retrieval_metadata=_retrieval(passes, context, found, metrics["context_precision"]),
        cache_metadata=_cache(plan, found),
        budget={
            **_budget(passes, context, found),
            "cost": cost_of(plan, found.tokens + context.media.tokens, context),
        },
        provenance=provenance(passes.pieces),
        conversions=found.changes,
        gaps=found.gaps,
        metrics=metrics,
        validation_status=ValidationStatus.FAILED if failed else status,
        lint=doubts,
        variation=context.variation.choices,
        key_epoch=context.epoch,
        counter=context.counter.identity,
    )


def _lint(passes: Passes, context: CompileContext) -> tuple[LintFinding, ...]:
    return lint(passes.pieces, extraction="data_extraction" in context.task_types)


def _may(principal: Principal) -> bool:
    try:
        principal.require(AUDIT)
    except Forbidden:
        return False
    return True


def _withheld(passes: Passes) -> dict[str, int]:
    counts = {f"store_{name}": count for name, count in passes.snapshot.withheld}
    if passes.gated.refusals:
        counts[Stage.GATE.value] = len(passes.gated.refusals)
    return counts


def _retrieval(
    passes: Passes, context: CompileContext, found: Findings, precision: float
) -> dict[str, Any]:
    snapshot = passes.snapshot
    asked = f"{context.request.query}\n{context.request.user_request}"
    return {
        "query_hash": hashlib.sha256(asked.encode("utf-8", "backslashreplace")).hexdigest(),
        "retrieved_candidate_count": len(snapshot.proposed),
        "relevant_candidate_count": len(passes.ranked.candidates),
        "compiled_candidate_count": len(found.compiled_ids),
        "candidates_cut": snapshot.cut,
        "context_precision_estimate": precision,
        "entities": sorted(passes.resolved.active),
    }


def _cache(plan: Plan, found: Findings) -> dict[str, Any]:
    tokens = dict.fromkeys((stability.value for stability in _CACHED), 0)
    for use in found.sections:
        if use.stability in _CACHED:
            tokens[use.stability.value] += use.tokens
    prefix = sum(tokens.values())
    return {
        "prompt_cache_key": plan.cache_key,
        "static_prefix_tokens": min(prefix, found.tokens),
        "dynamic_suffix_tokens": max(0, found.tokens - prefix),
        "zones": tokens,
        "provider": plan.capability.provider.value,
        "expected_cached_tokens": expected_cached_tokens(plan),
    }


def cache_key(passes: Passes, context: CompileContext) -> str:
    """Return the provider's routing key: one for a tenant and static prefix (C-089)."""
    spans = section_spans(passes)
    ends = [
        end
        for name, (_, end) in spans.items()
        if SECTIONS[name].stability in (Stability.STATIC, Stability.SCOPE)
    ]
    prefix = passes.ordered.assembled.text[: max(ends, default=0)]
    body = hashlib.sha256(prefix.encode()).hexdigest()
    key, message = context.keys[context.epoch], f"cache-v1 {context.policy_hash} {body}"
    return hmac.digest(key, message.encode(), "sha256").hex()[:32]


def _evidence_text(context: CompileContext, found: Findings) -> int:
    """Return the tokens of the evidence that are text, tables left out (C-196)."""
    evidence = sum(use.tokens for use in found.sections if use.name == SectionName.EVIDENCE.value)
    return max(0, evidence - context.media.split()["structured"])


def media_named(passes: Passes, context: CompileContext) -> dict[int, Shown]:
    """Return the media items that blocks name, by the place of the block."""
    shown: dict[int, Shown] = {}
    if not context.media.shown:
        return shown
    for place, group in enumerate(passes.ordered.assembled.pieces):
        candidate = group[0].candidate
        item = None if candidate is None else candidate.request_item
        if item is not None and isinstance(item.part, Media):
            shown[place] = context.shown(item.position)
    return shown


def _media(passes: Passes, context: CompileContext) -> list[dict[str, Any]]:
    """Return the media as the trace lists them: what the text does not name is not sent."""
    named = {id(each) for each in media_named(passes, context).values()}
    return [
        {**each.to_dict(), **({} if id(each) in named else {"left_out": True})}
        for each in context.media.shown
    ]


def _budget(passes: Passes, context: CompileContext, found: Findings) -> dict[str, Any]:
    return {
        "budget_tokens": context.budget,
        "asked_tokens": context.request.budget_tokens,
        "reserve_tokens": context.reserve,
        "used_tokens": passes.ordered.tokens,
        "shadow_price": passes.ordered.shadow_price,
        "layers": layer_tokens(
            {use.name: use.tokens for use in found.sections},
            slack=context.budget - passes.ordered.tokens,
        ),
        "weights": dict(context.weights),
        "sections": {
            use.name: {"allocated": use.allocated, "used": use.tokens} for use in found.sections
        },
        "media": _media(passes, context),
        "modalities": {**context.media.split(), "text": _evidence_text(context, found)},
        "compression": [
            {
                "object_ids": list(short.object_ids),
                "conversion": short.conversion.value,
                "original_tokens": short.original_tokens,
                "compressed_tokens": short.compressed_tokens,
                "fidelity": short.fidelity,
                "grade": grade(short.fidelity, context),
            }
            for short in passes.ordered.shortened
        ],
    }
