"""The pieces of the request's own items: turns, evidence, tools, rules, notes, media."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ...schema.compile_terms import SECTIONS, Conversion, Ladder, PriorityTier, SectionName
from ...schema.errors import InvalidInput
from ...schema.uncertainty import allow_unknown
from ...schema.values import canonical_json, fields_of
from ...schema.vocabulary import Enforcement
from ..ir.candidate import Candidate
from ..ir.context import CompileContext
from ..ir.piece import EnforcementRule, Piece
from ..ir.request_items import RequestItem
from ..ir.variation import Variation
from ..ir.verdicts import TextChange, Verdict
from ..request.request import Constraint, Media, Turn
from ..text.relevance import FULL
from .placement import block_level, item_key, kind_of_block
from .untrusted_tools import tool_pieces

_S = SectionName

_VERBATIM = frozenset({_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.HISTORY, _S.USER_REQUEST})

_LADDER_OF = {
    _S.TOOLS: Ladder.NORMALIZED_FACT,
    _S.SKILLS: Ladder.BEHAVIORAL_GUIDANCE,
    _S.TASK_CONTRACT: Ladder.TASK_CONTEXT,
    _S.ERRORS: Ladder.TASK_CONTEXT,
    _S.TASK_PROGRESS: Ladder.TASK_CONTEXT,
    _S.ACCEPTANCE: Ladder.BEHAVIORAL_GUIDANCE,
}

_LABELS = {
    (True, True): "Constraint",
    (True, False): "Prohibition",
    (False, True): "Wish",
    (False, False): "Wish to avoid",
}
"""By whether a constraint binds, and whether it says what to do (C-146)."""


def item_pieces(
    candidates: Iterable[Candidate], context: CompileContext
) -> tuple[list[Piece], list[TextChange], list[Verdict]]:
    """Return the pieces of the request's own items.

    Raises:
        InvalidInput: `bad_request`, for a constraint that nothing enforces where safety counts.
    """
    pieces: list[Piece] = []
    changes: list[TextChange] = []
    verdicts: list[Verdict] = []
    for candidate in candidates:
        item = candidate.request_item
        if item is None:
            continue

        piece = _piece(candidate, item, context)
        if isinstance(item.part, Media):
            changes += _media_changes(item, context)
        if item.section is _S.TOOLS:
            pieces += tool_pieces(piece, candidate.level, verdicts)
        else:
            pieces.append(piece)
    return pieces, changes, verdicts


def _piece(candidate: Candidate, item: RequestItem, context: CompileContext) -> Piece:
    level = block_level(item.section, item.level)
    ladder, enforcement = _form(item, level, context)
    key = item_key(item.position, item.object_id)
    # What the request states counts in full; only evidence has to compete for its place.
    value, tier = FULL, PriorityTier.CRITICAL
    if item.section is _S.EVIDENCE:
        key = (candidate.score, *key[1:])
        value, tier = candidate.score, candidate.tier
    return Piece(
        object_ids=(item.object_id,),
        section=item.section,
        kind=kind_of_block(item.section, level),
        level=level,
        origin=item.origin,
        text=_wording(item, context.variation),
        ladder=ladder,
        tier=tier,
        value=value,
        key=key,
        required=SECTIONS[item.section].required,
        alone=level >= 4 or item.section in _VERBATIM,
        pair=item.part.call_id if isinstance(item.part, Turn) else "",
        enforcement=enforcement,
        candidate=candidate,
        relevance=candidate.relevance,
    )


def _media_changes(item: RequestItem, context: CompileContext) -> list[TextChange]:
    """Say what stands in for a media item, or how it was made smaller."""
    media = context.media_entry(item.position)
    if media.reference or media.withheld:
        return [TextChange(item.object_id, Conversion.EXTERNALIZED, media.item.method)]

    details: list[str] = []
    if media.region:
        details.append("cropped")
    if media.size:
        details.append("downsampled")
    if media.note:
        details.append(media.note)
    return [TextChange(item.object_id, Conversion.TRUNCATED, detail) for detail in details]


def _form(
    item: RequestItem, level: int, context: CompileContext
) -> tuple[Ladder, EnforcementRule | None]:
    """Return the form of an item: a hard constraint where code can hold the answer to it."""
    data = _LADDER_OF.get(item.section, Ladder.RAW_OBSERVATION)
    constraint = item.part
    if not isinstance(constraint, Constraint) or level > 2 or not constraint.binds:
        return data, None

    # An acceptance item says what is judged in the end, which code need not hold the answer to.
    only_stated = constraint.enforcement is Enforcement.STATED
    if item.section is _S.ACCEPTANCE and only_stated:
        return data, None
    if context.rules.safety_critical and only_stated:
        raise InvalidInput(
            f"constraint {constraint.text!r:.80} is only stated and this policy is "
            "safety-critical: give it an enforcement (schema, grammar, pattern or tool_policy)",
            code="bad_request",
        )
    return Ladder.HARD_CONSTRAINT, EnforcementRule(constraint.enforcement, _spec(constraint))


def _spec(constraint: Constraint) -> str:
    """Return what an enforcement needs; its schema with ways out where it says so."""
    schematic = constraint.enforcement in (Enforcement.SCHEMA, Enforcement.GRAMMAR)
    if not constraint.uncertain or not schematic:
        return constraint.spec

    spec = fields_of(json.loads(constraint.spec))
    if fields_of(spec.get("schema")):
        return canonical_json({**spec, "schema": allow_unknown(fields_of(spec["schema"]))})
    return canonical_json(allow_unknown(spec))


def _wording(item: RequestItem, shapes: Variation) -> str:
    """Return the words an item is shown with."""
    if item.section is _S.TASK_PROGRESS and item.part is None:
        return item.text.replace("Now", shapes.shape("label"), 1)
    if item.section is _S.TASK_PROGRESS:
        return shapes.wording("progress", item.text)
    if item.section is _S.ERRORS:
        return shapes.wording("list", item.text)
    if item.section is _S.TASK_CONTRACT:
        if isinstance(item.part, Constraint):
            return f"{_LABELS[item.part.binds, item.part.positive]}: {item.text}"
        return f"Goal: {item.text}"
    return item.text
