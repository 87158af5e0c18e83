"""Stage 10, emit: the envelope with its trace and manifest, checked once more.

The text is parsed again and must give the same blocks; the budget, the required pieces and the
provenance of every block are asserted, so that an envelope that breaks an invariant cannot
leave. The digest is the SHA-256 of the text; the trace is the verdicts of all stages.
Checklist C-086, C-104 to C-112, C-135, C-168.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

from ...schema.compile_terms import GapCode, Reason, Stage
from ...schema.errors import Fault, InvalidInput
from ...schema.vocabulary import Enforcement
from ..envelope.checks import HardConstraint
from ..envelope.envelope import Envelope
from ..format.grammar import check_reparse
from ..ir.context import CompileContext
from ..ir.outputs import Passes
from ..ir.records import PERSON, Bound
from ..ranking.answers import finished
from ..render.answer_schema import answer_schema
from ..render.cache_plan import BlockSegment, RenderPlan
from ..request.enforcement import schema_of
from ..request.request import Turn
from ..tokens.capabilities import capability
from ..trace.collect import (
    Findings,
    cache_key,
    findings,
    may_audit,
    media_named,
    refusal_count,
    trace_of,
)
from ..trace.manifest import RecordedRow, TruncationEvent, pin_manifest
from ..trace.metrics import quality

_LIMITS = frozenset(
    {
        Reason.OVER_BUDGET,
        Reason.SECTION_CAP,
        Reason.SECTION_DROPPED,
        Reason.ITEM_LARGER_THAN_SECTION,
        Reason.RETRIEVAL_DEFERRED,
        Reason.NEXT_PAGE,
    }
)


def emit(passes: Passes, context: CompileContext) -> Envelope:
    """Return the envelope.

    Raises:
        Fault: `envelope_reparse_failed`, `invariant_broken`.
        InvalidInput: `quality_rejected`, under a safety-critical policy.
    """
    assembled = passes.ordered.assembled
    check_reparse(assembled.text, assembled.blocks)
    _check(passes, context)

    model = capability(context.request.model)
    account = findings(passes, context)
    manifest = pin_manifest(
        context,
        **_recorded_inputs(passes, context),
        compiled=account.compiled_ids,
        digest=hashlib.sha256(assembled.text.encode()).hexdigest(),
        valid=not any(gap.code is GapCode.ACCEPTANCE_MISSING for gap in account.gaps),
        model=context.request.model,
        window=model.window,
        layer_budgets=tuple(sorted((use.name, use.tokens) for use in account.sections)),
        truncation_events=_truncations(account),
        artifact_uris=_originals(passes, context),
    )
    _reject(passes, context)

    constraints: list[HardConstraint] = []
    for piece in passes.pieces:
        if piece.enforcement is not None:
            constraints.append(HardConstraint(piece.object_id, piece.text, piece.enforcement))
    plan = RenderPlan(
        segments=_segments(passes, context),
        model=context.request.model,
        capability=model,
        counter=context.counter,
        cache_key=cache_key(passes, context),
        answer_schema=answer_schema(_schemas(constraints)) if constraints else None,
    )

    # Few callers read the trace, and it takes as long as a stage: it is told when asked for.
    tell = partial(trace_of, passes, context, account, plan=plan, envelope_id=manifest.envelope_id)
    return Envelope(
        envelope_id=manifest.envelope_id,
        text=assembled.text,
        tokens=account.tokens,
        tokens_upper=passes.ordered.tokens,
        digest=manifest.digest,
        blocks=assembled.blocks,
        sections=account.sections,
        constraints=tuple(constraints),
        manifest=manifest,
        gaps=account.gaps,
        asked=finished(
            passes.answers,
            passes.pieces,
            passes.contained.pieces,
            passes.ordered.tokens,
            context,
        ),
        unmatched=passes.ranked.unmatched,
        plan=plan,
        _tell=cache(tell),
        _measure=cache(partial(quality, passes, context)),
        _anchors=assembled.anchors,
    )


def _originals(passes: Passes, context: CompileContext) -> tuple[str, ...]:
    """Return the originals that the text represents: media, and artifacts it was taken from."""
    request = context.request
    originals = {media.uri for media in request.media if media.uri}

    origins = {evidence.origin for evidence in (*request.evidence, *request.pinned)}
    for piece in passes.pieces:
        if piece.candidate is not None:
            origins.add(piece.candidate.origin)

    for origin in origins:
        if origin.startswith("artifact://"):
            originals.add(origin)
    return tuple(sorted(originals))


def _check(passes: Passes, context: CompileContext) -> None:
    """Assert what must hold of every envelope (C-135)."""
    assembled = passes.ordered.assembled
    # By identity: an equal piece that stands twice must not hide one that was lost.
    present = set(map(id, passes.pieces))
    lacking = any(p.required and id(p) not in present for p in passes.contained.pieces)
    anchors = assembled.anchors
    faults = {
        "the text is above its budget": passes.ordered.tokens > context.budget,
        "a required piece is missing": lacking,
        "a block has no origin": not all(block.has_origin for block in assembled.blocks),
        "an object stands in the text twice": len(set(anchors.values())) != len(anchors),
    }
    for fault, holds in faults.items():
        if holds:
            raise Fault(f"the envelope cannot leave: {fault}", code="invariant_broken")


def _reject(passes: Passes, context: CompileContext) -> None:
    """Refuse an envelope below a mandatory quality target where safety is at stake (C-187)."""
    if not context.rules.safety_critical:
        return

    report = quality(passes, context)
    if report.failed:
        misses: dict[str, float] = {}
        for name in report.alerts:
            if report.targets[name].mandatory:
                misses[name] = report.metrics[name]
        raise InvalidInput(
            f"the envelope misses {', '.join(misses)} and this policy is safety-critical: "
            "confirm or leave out what has aged, send less untrusted text, or grant more tokens",
            code="quality_rejected",
            metrics=misses,
        )


def _recorded_inputs(passes: Passes, context: CompileContext) -> dict[str, Any]:
    """Return what the manifest records of the candidates and the snapshot."""
    snapshot = passes.snapshot
    own_entities = list(snapshot.own_subjects.items())
    for entity_id in snapshot.people:  # several, of whose wishes none is known to apply
        own_entities.append((PERSON, entity_id))
    return {
        "candidates": tuple(_recorded_rows(passes, names_refused=may_audit(context.principal))),
        "named": tuple(map(_plain, snapshot.subjects)),
        "spoken": tuple(map(_plain, snapshot.query_subjects)),
        "own": tuple(sorted(own_entities)),
        "expansion": snapshot.expansion,
        "withheld": (*snapshot.withheld, *_gate_withheld(passes, context)),
        "cut": snapshot.cut,
        "hubs": snapshot.hubs,
        "withheld_slots": tuple(
            (record.subject, record.slot) for record in passes.answers if record.state == "withheld"
        ),
        "capped": snapshot.capped_ids,
    }


def _gate_withheld(passes: Passes, context: CompileContext) -> tuple[tuple[str, int], ...]:
    """Return that the gate refused something, where the rows themselves are not recorded."""
    count = refusal_count(passes, context.principal)
    return ((Stage.GATE.value, count),) if count and not may_audit(context.principal) else ()


def _plain(bound: Bound) -> tuple[str, tuple[str, ...], bool]:
    return bound.mention, tuple(bound.entities), bound.pending


def _recorded_rows(passes: Passes, *, names_refused: bool) -> list[RecordedRow]:
    snapshot, winner_ids = passes.snapshot, passes.validated.outranked
    scores, refusals = dict(passes.ranked.scores), passes.gated.details()
    rows: list[RecordedRow] = []
    for version, via, hop in snapshot.proposals:
        vid, object_id = version.row.vid, version.row.claim.object_id
        refusal = refusals.get((object_id, vid), "")
        # Not even the id: the caller, who may not see the row, is handed the manifest.
        if refusal and not names_refused:
            continue

        vector = snapshot.vectors.get(object_id)
        rows.append(
            RecordedRow(
                object_id,
                vid,
                via,
                hop,
                scores.get(object_id, 0),
                None if vector is None else vector.content,
                None if vector is None else vector.why,
                refusal,
                snapshot.rerank_scores.get(object_id),
                winner_ids.get((object_id, vid), ""),
            )
        )

    for candidate in passes.ranked.candidates:
        if candidate.request_item is not None and candidate.lexical:
            lexical = candidate.lexical
            rows.append(RecordedRow(candidate.object_id, 0, 0, 0, lexical, None, None, ""))
    return rows


def _truncations(account: Findings) -> tuple[TruncationEvent, ...]:
    """Return what limits left out, by section and reason (C-203)."""
    groups: dict[tuple[str, str], list[str]] = {}
    for verdict in account.verdicts:
        if verdict.reason in _LIMITS:
            key = account.section_of.get(verdict.object_id, ""), verdict.reason.value
            groups.setdefault(key, []).append(verdict.object_id)

    events: list[TruncationEvent] = []
    for (layer, reason), object_ids in sorted(groups.items()):
        events.append(TruncationEvent(layer, reason, tuple(sorted(object_ids))))
    return tuple(events)


def _segments(passes: Passes, context: CompileContext) -> tuple[BlockSegment, ...]:
    """The text of each block, with the media item that it names and the call that it belongs to."""
    assembled = passes.ordered.assembled
    entries = media_named(passes, context)
    segments: list[BlockSegment] = []
    for place, (block, span) in enumerate(zip(assembled.blocks, assembled.spans, strict=True)):
        piece = assembled.pieces[place][0]
        turn = None if piece.item is None else piece.item.part
        tool = turn.name if isinstance(turn, Turn) else ""
        text = assembled.text[slice(*span)]
        segments.append(BlockSegment(text, block, entries.get(place), piece.pair, tool))
    return tuple(segments)


def _schemas(constraints: Iterable[HardConstraint]) -> Iterator[object]:
    """Yield the JSON Schemas that an answer is held to."""
    for constraint in constraints:
        rule = constraint.enforcement
        if rule.kind in (Enforcement.SCHEMA, Enforcement.GRAMMAR):
            yield schema_of(json.loads(rule.spec))
