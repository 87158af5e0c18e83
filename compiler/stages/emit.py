"""Stage 10, emit: the envelope with its trace and manifest, checked once more.

The text is parsed again and must give the same blocks; the budget, the required pieces and the
provenance of every block are asserted, so that an envelope that breaks an invariant cannot
leave. The digest is the SHA-256 of the text; the trace is the verdicts of all stages.
Sources: settled 6 and 10; checklist C-086, C-104 to C-112, C-135, C-168.
"""

from __future__ import annotations

import hashlib
from functools import cache, partial
from typing import Any

from ...schema.compile_terms import GapCode, Reason
from ...schema.errors import Fault, InvalidInput
from ..envelope.checks import HardConstraint
from ..envelope.envelope import Envelope
from ..format.grammar import check_reparse
from ..ir.candidate import Candidate
from ..ir.context import Setting
from ..ir.outputs import Ordered
from ..render.cache_plan import Plan, segments_of
from ..tokens.capabilities import capability
from ..trace.collect import Findings, cache_key, findings, media_named, trace_of
from ..trace.manifest import Recorded, TruncationEvent, pinned
from ..trace.metrics import TARGETS, quality

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


def emit(ordered: Ordered, setting: Setting) -> Envelope:
    """Return the envelope.

    Raises:
        Fault: `envelope_reparse_failed`, `invariant_broken`.
        InvalidInput: `quality_rejected`, under a safety-critical policy.
    """
    assembled = ordered.assembled
    check_reparse(assembled.text, assembled.blocks)
    _check(ordered, setting)
    found = findings(ordered, setting)
    manifest = pinned(
        setting,
        **_recorded(ordered),
        compiled=found.compiled,
        digest=hashlib.sha256(assembled.text.encode()).hexdigest(),
        valid=not any(gap.code is GapCode.ACCEPTANCE_MISSING for gap in found.gaps),
        model=setting.request.model,
        window=capability(setting.request.model).window,
        layer_budgets=tuple(sorted((use.name, use.tokens) for use in found.sections)),
        truncation_events=_truncations(found),
        artifact_uris=_originals(ordered, setting),
    )
    _reject(ordered, setting)
    plan = Plan(
        segments=segments_of(
            assembled.text, assembled.blocks, assembled.spans, shown=media_named(ordered, setting)
        ),
        model=setting.request.model,
        capability=capability(setting.request.model),
        counter=setting.counter,
        cache_key=cache_key(ordered, setting),
    )
    told = partial(trace_of, ordered, setting, found, plan=plan, envelope_id=manifest.envelope_id)
    return Envelope(
        envelope_id=manifest.envelope_id,
        text=assembled.text,
        tokens=found.tokens,
        tokens_upper=ordered.tokens,
        digest=manifest.digest,
        blocks=assembled.blocks,
        sections=found.sections,
        constraints=_constraints(ordered),
        manifest=manifest,
        gaps=found.gaps,
        plan=plan,
        _tell=cache(told),
        _measure=lambda: quality(ordered, setting),
    )


def _originals(ordered: Ordered, setting: Setting) -> tuple[str, ...]:
    """Return the originals that the text stands for: media, and artifacts it was taken from."""
    media = {each.uri for each in setting.request.media if each.uri}
    given = {each.origin for each in (*setting.request.evidence, *setting.request.pinned)}
    laid = ordered.assembled.in_order
    stored = {piece.placed.candidate.origin for piece in laid if piece.placed is not None}
    return tuple(sorted(media | {uri for uri in given | stored if uri.startswith("artifact://")}))


def _check(ordered: Ordered, setting: Setting) -> None:
    """Assert what must hold of every envelope (C-135)."""
    placed = set(map(id, ordered.assembled.in_order))
    missing = [p for p in ordered.contained.pieces if p.required and id(p) not in placed]
    broken = {
        "the text is above its budget": ordered.tokens > setting.budget,
        "a required piece is missing": bool(missing),
        "a block has no origin": any(not block.origin for block in ordered.assembled.blocks),
        "an object stands in the text twice": len(set(ordered.assembled.anchors.values()))
        != len(ordered.assembled.anchors),
    }
    for what, holds in broken.items():
        if holds:
            raise Fault(f"the envelope cannot leave: {what}", code="invariant_broken")


def _reject(ordered: Ordered, setting: Setting) -> None:
    """Refuse an envelope below a mandatory quality target where safety is at stake (C-187)."""
    if not setting.rules.safety_critical:
        return
    found = quality(ordered, setting)
    if found.failed:
        missed = {name: found.metrics[name] for name in found.alerts if TARGETS[name].mandatory}
        raise InvalidInput(
            f"the envelope misses {', '.join(missed)} and this policy is safety-critical: "
            "confirm or leave out what has aged, send less untrusted text, or grant more tokens",
            code="quality_rejected",
            metrics=missed,
        )


def _recorded(ordered: Ordered) -> dict[str, Any]:
    """Return what the manifest records of the candidates and the snapshot."""
    ranking = ordered.contained.converted.rescued.ranking
    resolved = ranking.validated.gated.resolved
    snapshot = resolved.snapshot
    texts, withheld = dict(ranking.scores), ranking.validated.gated.details()
    rows: list[Recorded] = []
    for proposed in snapshot.proposed:
        row = proposed.version.row
        object_id = row.claim.object_id
        vector = snapshot.vectors.get(object_id)
        content, why = (vector.content, vector.why) if vector is not None else (None, None)
        rows.append(
            Recorded(
                object_id,
                row.vid,
                proposed.via,
                proposed.hop,
                texts.get(object_id, 0),
                content,
                why,
                withheld.get((object_id, row.vid), "") if withheld else "",
                snapshot.reranked.get(object_id),
            )
        )
    given = (each for each in ranking.items if each.placed.candidate.given is not None)
    rows += [_given(each.placed.candidate, each.text) for each in given if each.text]
    return {
        "candidates": tuple(rows),
        "named": tuple((b.mention, tuple(b.entities), b.pending) for b in snapshot.named),
        "spoken": tuple((b.mention, tuple(b.entities), b.pending) for b in snapshot.spoken),
        "own": tuple(sorted(snapshot.own.items())),
        "expansion": snapshot.expansion,
        "withheld": snapshot.withheld,
        "cut": snapshot.cut,
        "capped": snapshot.capped,
    }


def _given(candidate: Candidate, text: int) -> Recorded:
    return Recorded(candidate.object_id, 0, 0, 0, text, None, None, "")


def _truncations(found: Findings) -> tuple[TruncationEvent, ...]:
    """Return what limits left out, by section and reason (C-203)."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for verdict in found.verdicts:
        if verdict.reason in _LIMITS:
            key = found.section_of.get(verdict.object_id, ""), verdict.reason.value
            grouped.setdefault(key, []).append(verdict.object_id)
    return tuple(
        TruncationEvent(layer, reason, tuple(sorted(grouped[layer, reason])))
        for layer, reason in sorted(grouped)
    )


def _constraints(ordered: Ordered) -> tuple[HardConstraint, ...]:
    """Return the rules that code can check on the answer, in the order of the text."""
    return tuple(
        HardConstraint(piece.object_id, piece.text, piece.carrier)
        for piece in ordered.assembled.in_order
        if piece.carrier is not None
    )
