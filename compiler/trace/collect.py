"""Tracing: the verdicts of ten stages account into the trace.

An object that stands in the text under one row may have lost with another; the trace lists an
object as compiled once, and as omitted by its first verdict. Whatever the gate withheld is
counted by reason and named for an auditor alone. Checklist C-104 to C-113.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping
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
    layer_tokens,
    layers_above,
    phase_of,
    strategy_of,
    wire_key,
)
from ...schema.principal import AUDIT, Principal
from ...schema.vocabulary import Authority, Classification
from ..format.grammar import CONTAINMENT_SENTENCE
from ..format.lines import body_of
from ..ir.context import CompileContext
from ..ir.outputs import Passes
from ..ir.records import Candidate, Gap, Piece, Short, TextChange, Verdict, item_of
from ..media.plan import MediaEntry
from ..render.cache_plan import RenderPlan, expected_cached_tokens
from ..request.request import Media
from ..tokens.capabilities import elastic_tokens
from .lint import LintFinding, lint
from .metrics import Quality, core_metrics, cost_of, grade, quality
from .provenance import provenance
from .trace import (
    CompiledObject,
    OmittedObject,
    QuarantinedObject,
    SectionUse,
    Trace,
    omitted_object,
)

_CACHEABLE = (Stability.STATIC, Stability.SCOPE, Stability.SESSION, Stability.HISTORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What an envelope and its trace say alike."""

    compiled_ids: tuple[str, ...]
    """Object ids, in the order of the text."""
    verdicts: tuple[Verdict, ...]
    changes: tuple[TextChange, ...]
    gaps: tuple[Gap, ...]
    sections: tuple[SectionUse, ...]
    section_of: Mapping[str, str]
    """Section by object id, of every piece."""
    tokens: int


def findings(passes: Passes, context: CompileContext) -> Findings:
    """Return what an envelope and its trace say alike, account once."""
    compiled_ids = tuple(piece.object_id for piece in passes.pieces if piece.candidate is not None)
    # All contained pieces, not the placed alone: what an omitted object would have stood in is
    # asked for, too.
    section_of: dict[str, str] = {}
    for piece in passes.contained.pieces:
        section_of[piece.object_id] = piece.section.value

    return Findings(
        compiled_ids=compiled_ids,
        verdicts=tuple(_first_verdicts(passes.verdicts, frozenset(compiled_ids))),
        changes=(*passes.converted.changes, *passes.ordered.changes),
        gaps=tuple(sorted(set(_gaps(passes, context)))),
        sections=tuple(_sections(passes, context)),
        section_of=section_of,
        tokens=context.counter.count(passes.ordered.assembled.text),
    )


def _first_verdicts(verdicts: Iterable[Verdict], compiled_ids: frozenset[str]) -> Iterator[Verdict]:
    """Yield one verdict an object, none for what is compiled but for the rest of a source."""
    # Verdicts come in the order of the stages, so the first is the one that kept an object out;
    # what later stages say of it follows from that.
    known: set[str] = set()
    for verdict in verdicts:
        remainder = verdict.reason is Reason.PARENT_REMAINDER
        stands = verdict.object_id in compiled_ids and not remainder
        if verdict.object_id not in known and not stands:
            known.add(verdict.object_id)
            yield verdict


def _compiled_objects(passes: Passes) -> Iterator[CompiledObject]:
    assembled = passes.ordered.assembled
    anchors = {object_id: anchor for anchor, object_id in assembled.anchors.items()}
    for group in assembled.pieces:
        # A block is as trustworthy as its least trusted piece: levels rise as trust falls.
        level = max(piece.level for piece in group)
        trust = Authority(level).trust.value
        for piece in group:
            if piece.candidate is not None:
                yield _object(piece, piece.candidate, anchors[piece.object_id], trust)


def _object(piece: Piece, candidate: Candidate, anchor: str, trust: str) -> CompiledObject:
    version = candidate.version
    # Without a version it is an item of the request, which its caller vouches for.
    if version is None:
        object_type = item_of(candidate).object_type
        source_authority = confidence = 1.0
        classification = Classification.PUBLIC
    else:
        claim = version.row.claim
        object_type = version.details.object_type
        source_authority, confidence = claim.source_authority / 1000, claim.confidence / 1000
        classification = version.permissions.classification
    return CompiledObject(
        object_id=piece.object_id,
        object_type=object_type.value,
        authority_level=candidate.level,
        source_origin=candidate.origin,
        source_authority=source_authority,
        confidence_score=confidence,
        security_classification=classification.value,
        contradiction_status="clean",
        priority_tier=piece.tier.value,
        compiled_as=piece.ladder.compiled_as.value,
        section=piece.section.value,
        anchor=anchor,
        score=piece.value,
        integrity=trust,
        content_hash=hashlib.sha256((piece.cell or piece.text).encode()).hexdigest()[:16],
        merged=piece.object_ids[1:],
        stands_for=tuple(sorted(rival.object_id for rival in candidate.rivals)),
    )


def _gaps(passes: Passes, context: CompileContext) -> Iterator[Gap]:
    yield from passes.resolved.gaps
    yield from passes.validated.gaps
    yield from passes.ordered.gaps
    for record in passes.answers:
        if record.why == GapCode.UNKNOWN_ENTITY:
            yield Gap(GapCode.UNKNOWN_ENTITY, record.subject)

    request = context.request
    if request.step and not request.acceptance:
        yield Gap(GapCode.ACCEPTANCE_MISSING, request.step)

    # Only where some evidence says what it bears on can an item be told to have none.
    covered_items = {item for evidence in request.evidence for item in evidence.covers}
    if covered_items:
        for item in request.acceptance:
            if item.text not in covered_items:
                yield Gap(GapCode.EVIDENCE_NEEDED, item.text)

    for entry in context.media.entries:
        if entry.withheld:
            yield Gap(GapCode.RETRIEVAL_PENDING, entry.media.uri, entry.note)
    for verdict in passes.validated.verdicts:
        if verdict.reason is Reason.ERASED:
            yield Gap(GapCode.ERASED, verdict.object_id)


def _sections(passes: Passes, context: CompileContext) -> Iterator[SectionUse]:
    assembled = passes.ordered.assembled
    allocations = dict(passes.ordered.allocation)
    spans = section_spans(passes)
    for name in sorted(spans, key=wire_key):
        start, end = spans[name]
        blocks = objects = 0
        for block in assembled.blocks:
            if block.section == name:
                blocks += 1
                objects += len(block.object_ids)

        yield SectionUse(
            name.value,
            SECTIONS[name].stability,
            context.counter.count(assembled.text[start:end]),
            blocks,
            objects,
            allocations.get(name.value),
        )


def section_spans(passes: Passes) -> dict[SectionName, tuple[int, int]]:
    """Return where each section's part of the text begins and ends."""
    spans: dict[SectionName, tuple[int, int]] = {}
    assembled = passes.ordered.assembled
    for block, (start, end) in zip(assembled.blocks, assembled.spans, strict=True):
        name = SectionName(block.section)
        spans[name] = spans.get(name, (start, end))[0], end
    return spans


def trace_of(
    passes: Passes,
    context: CompileContext,
    account: Findings,
    *,
    plan: RenderPlan,
    envelope_id: str,
) -> Trace:
    """Return the trace of an envelope."""
    request, principal = context.request, context.principal
    metrics = core_metrics(passes, context, account.verdicts)
    report = quality(passes, context)
    exclusions: list[Verdict] = []
    for verdict in passes.ranked.verdicts:
        if verdict.reason is Reason.OVERRIDDEN:
            exclusions.append(verdict)
    is_extraction = "data_extraction" in context.task_types
    doubts = lint(passes.pieces, context.language, exclusions, extraction=is_extraction)
    request_id = hashlib.sha256(context.request_json.encode("utf-8", "backslashreplace"))
    refusals = passes.gated.refusals if may_audit(principal) else ()

    omissions: list[OmittedObject] = []
    quarantines: list[QuarantinedObject] = []
    for verdict in account.verdicts:
        if verdict.quarantines:
            tied = verdict.reason is Reason.CONFLICTING_CLAIM_UNRESOLVED
            status = "disputed" if tied else "quarantined"
            quarantines.append(QuarantinedObject(*omitted_object(verdict)[:4], status))
        else:
            omissions.append(omitted_object(verdict))

    return Trace(
        trace_id=envelope_id,
        request_id=request_id.hexdigest(),
        session_id=principal.session,
        tenant_id=principal.tenant,
        user_id=principal.user,
        project_id=context.project,
        active_task=f"{request.task}: {request.step}" if request.step else request.task,
        prompt_tokens=account.tokens,
        compiled_objects=tuple(_compiled_objects(passes)),
        omitted_objects=tuple(omissions),
        quarantined_objects=tuple(quarantines),
        withheld=_withheld_counts(passes, principal),
        withheld_objects=tuple(map(omitted_object, refusals)),
        retrieval_metadata=_retrieval(passes, context, account, metrics["context_precision"]),
        cache_metadata=_cache(plan, account),
        budget={
            **_budget(passes, context, account),
            "cost": cost_of(plan, account.tokens + context.media.tokens, context),
        },
        provenance=provenance(passes.pieces),
        conversions=account.changes,
        gaps=account.gaps,
        metrics=metrics,
        alerts=report.alerts,
        validation_status=_status(account, doubts, report, context),
        lint=doubts,
        variation=context.variation.choices,
        key_epoch=context.epoch,
        counter=context.counter.identity,
    )


def _status(
    account: Findings,
    doubts: tuple[LintFinding, ...],
    report: Quality,
    context: CompileContext,
) -> ValidationStatus:
    if doubts and context.rules.safety_critical:
        return ValidationStatus.FAILED

    over = any(use.tokens > (use.allocated or use.tokens) for use in account.sections)
    has_quarantines = any(verdict.quarantines for verdict in account.verdicts)
    has_warnings = bool(account.gaps or doubts or report.alerts) or over or has_quarantines
    return ValidationStatus.WARNINGS if has_warnings else ValidationStatus.CLEAN


def may_audit(principal: Principal) -> bool:
    """Whether withheld objects may be named to a caller."""
    return not principal.roles.isdisjoint(AUDIT.roles)


def _withheld_counts(passes: Passes, principal: Principal) -> dict[str, int]:
    """What may be told of withheld rows."""
    counts: dict[str, int] = {}
    for name, count in passes.snapshot.withheld:
        counts[f"store_{name}"] = count

    refusal_total = refusal_count(passes, principal)
    if refusal_total:
        counts[Stage.GATE.value] = refusal_total
    return counts


def refusal_count(passes: Passes, principal: Principal) -> int:
    """How many rows the gate refused, for an auditor; 1 for anybody else who may know of some.

    A number of rows that somebody may see nowhere is a fact about them: whoever asks twice with
    other words learns which words they hold. So it is no number, and only of rows that the
    caller may see elsewhere.
    """
    if may_audit(principal):
        return len(passes.gated.refusals)
    return int(passes.gated.admits_refusals or passes.snapshot.refused)


def _retrieval(
    passes: Passes, context: CompileContext, account: Findings, precision: float
) -> dict[str, Any]:
    query = f"{context.request.query}\n{context.request.user_request}"
    return {
        "query_hash": hashlib.sha256(query.encode("utf-8", "backslashreplace")).hexdigest(),
        "retrieved_candidate_count": _retrieval_count(passes),
        "relevant_candidate_count": len(passes.ranked.candidates),
        "compiled_candidate_count": len(account.compiled_ids),
        "candidates_cut": passes.snapshot.cut,
        "context_precision_estimate": precision,
        "entities": sorted(passes.resolved.active),
    }


def _retrieval_count(passes: Passes) -> int:
    """How many rows came that the caller may see and the gate let through."""
    refusals = passes.gated.details()
    count = 0
    for version, _, _ in passes.snapshot.proposals:
        row = version.row.claim.object_id, version.row.vid
        count += version.visible and row not in refusals
    return count


def _cache(plan: RenderPlan, account: Findings) -> dict[str, Any]:
    tokens = {stability.value: 0 for stability in _CACHEABLE}
    for use in account.sections:
        if use.stability in _CACHEABLE:
            tokens[use.stability.value] += use.tokens

    # Sections are counted one by one, the text as a whole: where a boundary merges two tokens
    # the sum may exceed the total by a few.
    prefix = sum(tokens.values())
    return {
        "prompt_cache_key": plan.cache_key,
        "static_prefix_tokens": min(prefix, account.tokens),
        "dynamic_suffix_tokens": max(0, account.tokens - prefix),
        "zones": tokens,
        "provider": plan.capability.provider.value,
        "expected_cached_tokens": expected_cached_tokens(plan),
    }


def cache_key(passes: Passes, context: CompileContext) -> str:
    """Return the provider's routing key: one for a tenant and static prefix (C-089)."""
    # Session and history are left out of the key although they may be cached: a key that
    # changes with each turn would spread one tenant's requests over many machines.
    end_of_prefix = 0
    for name, (_, end) in section_spans(passes).items():
        if SECTIONS[name].stability in (Stability.STATIC, Stability.SCOPE):
            end_of_prefix = max(end_of_prefix, end)

    prefix = passes.ordered.assembled.text[:end_of_prefix]
    body = hashlib.sha256(prefix.encode()).hexdigest()
    key, message = context.keys[context.epoch], f"cache-v1 {context.policy_hash} {body}"
    return hmac.digest(key, message.encode(), "sha256").hex()[:32]


def _evidence_text(context: CompileContext, account: Findings) -> int:
    """Return the tokens of the evidence that are text, tables left out (C-196)."""
    evidence = 0
    for use in account.sections:
        if use.name == SectionName.EVIDENCE.value:
            evidence += use.tokens

    return max(0, evidence - context.media.split()["structured"])


def media_named(passes: Passes, context: CompileContext) -> dict[int, MediaEntry]:
    """Return the media items that blocks name, by the position of the block."""
    entries: dict[int, MediaEntry] = {}
    if not context.media.entries:
        return entries
    for position, group in enumerate(passes.ordered.assembled.pieces):
        item = group[0].item
        if item is not None and isinstance(item.part, Media):
            entries[position] = context.media_entry(item.position)
    return entries


def _media(passes: Passes, context: CompileContext) -> list[dict[str, Any]]:
    """Return the media as the trace lists them: what the text does not name is not sent."""
    named_ids = set(map(id, media_named(passes, context).values()))
    rows: list[dict[str, Any]] = []
    for entry in context.media.entries:
        row = dict(entry.to_dict())
        if id(entry) not in named_ids:
            row["left_out"] = True
        rows.append(row)
    return rows


def _budget(passes: Passes, context: CompileContext, account: Findings) -> dict[str, Any]:
    ordered, uses = passes.ordered, account.sections
    # Rules, contract and request are fixed; evidence, memory and history share what they leave.
    fixed_tokens: list[int] = []
    tokens_of: dict[str, int] = {}
    sections: dict[str, dict[str, int | str | None]] = {}
    for use in uses:
        name = SectionName(use.name)
        tokens_of[use.name] = use.tokens
        sections[use.name] = {
            "allocated": use.allocated,
            "used": use.tokens,
            "phase": phase_of(name).value,
            "cache": strategy_of(name).value,
        }
        if SECTIONS[name].tier <= 1:
            fixed_tokens.append(use.tokens)

    layers = layer_tokens(tokens_of, slack=context.budget - ordered.tokens)
    return {
        "budget_tokens": context.budget,
        "elastic_tokens": elastic_tokens(context.budget, *fixed_tokens),
        "asked_tokens": context.request.budget_tokens,
        "reserve_tokens": context.reserve,
        "used_tokens": ordered.tokens,
        "tokens": _token_kinds(passes, context, account.tokens),
        "shadow_price": ordered.shadow_price,
        "layers": layers,
        "above_usual": layers_above(layers, context.budget),
        "weights": dict(context.weights),
        "sections": sections,
        "media": _media(passes, context),
        "modalities": {**context.media.split(), "text": _evidence_text(context, account)},
        "compression": [_compression(short, context) for short in ordered.shortenings],
    }


def _token_kinds(passes: Passes, context: CompileContext, total: int) -> dict[str, int]:
    """The tokens by what they are for: what is said, what leads to it, and what holds it apart.

    Who said something belongs to what is said; anchors, days and sources lead to it.
    """
    texts: list[str] = []
    references: list[str] = []
    for block in passes.ordered.assembled.blocks:
        for piece in block.pieces:
            texts.append(f"{piece.who}: {piece.text}" if piece.who else piece.text)
        if block.pieces:
            references += _reference_lines(body_of(block.pieces))
        else:
            references.append(f"{' '.join(block.object_ids)} {block.origin}")
            texts += [block.text] if block.text != CONTAINMENT_SENTENCE else []

    count = context.counter.count
    text = min(total, count("\n".join(texts)))
    reference = min(total - text, count("\n".join(references)))
    return {"text": text, "reference": reference, "frame": total - text - reference}


def _reference_lines(body: str) -> list[str]:
    """The anchors, days and sources of a block of lines."""
    references: list[str] = []
    for line in body.splitlines():
        if line.startswith("@"):
            references.append(line)
        elif line.startswith("["):
            references.append(line.partition("]")[0] + "]")
    return references


def _compression(short: Short, context: CompileContext) -> dict[str, Any]:
    return {
        "object_ids": list(short.object_ids),
        "conversion": short.conversion.value,
        "original_tokens": short.original_tokens,
        "compressed_tokens": short.compressed_tokens,
        "fidelity": short.fidelity,
        "grade": grade(short.fidelity, context),
    }
