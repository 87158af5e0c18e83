"""Stage 8, contain: external text can neither leave its block nor pose as ours.

Every text is made canonical: invalid Unicode is refused, hidden characters are stripped. Level-4
texts of the request are scanned, and a suspicious one is quarantined, because the scan at ingest
never saw it. Channels that the policy names are datamarked or put into base64 before anything is
counted. Anonymous text of level 4 is refused. The type makes level-4 blocks data: `block.Block` has
no other constructor.

Invariant: no finding of a detector loosens containment. Checklist C-084, C-091, C-163 to C-168.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...schema.compile_terms import BlockKind, InjectionPolicy, Reason, SectionName, Stage
from ...schema.errors import InvalidInput
from ...schema.slots import BUILT_IN_KINDS, kind_of
from ..ir.context import CompileContext
from ..ir.outputs import Contained, Converted
from ..ir.records import Piece, Verdict
from ..request.request import Media
from ..safety.canonical_text import canonicalise
from ..safety.detect import ScanVerdict as Advice
from ..safety.detect import TextChannel, scan, thresholds_of, verdict
from ..safety.isolation import Isolation, encode

_CHANNELS: Final = {
    "web": TextChannel.WEB,
    "tool": TextChannel.TOOL,
    "model": TextChannel.MODEL,
    "agent": TextChannel.AGENT,
}

_SEPARATE_SECTIONS: Final = frozenset(
    {SectionName.HISTORY, SectionName.TOOLS, SectionName.USER_REQUEST}
)
"""Sections whose texts never share a block."""

_SHARED_LINES: Final = 3
"""A longer text stands alone."""

_STRUCTURE: Final = re.compile(r"```|\t|[\[{]\s*[\[{\"]|^\s*\|", re.MULTILINE)
"""Code, records and tables stand alone, as they are."""
_STRUCTURE_SIGNS: Final = "`\t[{|"
"""Each of the above begins with one of these."""

_KINDS: Final = {kind.name: kind for kind in BUILT_IN_KINDS}


def contain(converted: Converted, context: CompileContext) -> Contained:
    """Return the pieces with the texts that may be rendered.

    Raises:
        InvalidInput: `injection_rejected`, where the policy rejects instead of setting apart.
    """
    pieces: list[Piece] = []
    verdicts: list[Verdict] = []
    isolation: dict[str, Isolation] = {}
    for piece in converted.pieces:
        canonical = canonicalise(piece.text)
        clean = _with_words(piece, canonical.text, _clean(piece.label), _clean(piece.cell))
        fault = (
            (Reason.INVALID_ENCODING, "") if canonical.refusal else _fault(clean, piece, context)
        )
        if fault is not None:
            _refuse_injection(fault, context)
            verdicts.append(Verdict(Stage.CONTAIN, piece.object_id, *fault))
            continue

        # Encoded before the budget is counted: marks and base64 make a text longer.
        if clean.kind is BlockKind.DATA and clean.level >= 4:
            method = isolation_of(clean.origin, context)
            isolation[clean.object_id] = method
            clean = _with_words(clean, encode(clean.text, method), clean.label, clean.cell)
            if method is Isolation.TYPED_SLOT and _may_share(clean):
                clean = clean._replace(shared=True)
        pieces.append(clean)

    complete_pieces = _whole_pairs(converted.pieces, pieces, verdicts)
    return Contained(tuple(complete_pieces), tuple(sorted(isolation.items())), tuple(verdicts))


def _whole_pairs(
    before: Sequence[Piece], pieces: Sequence[Piece], verdicts: list[Verdict]
) -> list[Piece]:
    """Take out what belongs to a tool call of which a part was quarantined.

    A call without its result reads as if it still ran, and a result without its call answers
    nothing: providers refuse both.
    """
    refused_ids = {verdict.object_id for verdict in verdicts}
    broken_pairs: set[str] = set()
    for piece in before:
        if piece.pair and piece.object_id in refused_ids:
            broken_pairs.add(piece.pair)
    if not broken_pairs:
        return list(pieces)

    complete_pieces: list[Piece] = []
    for piece in pieces:
        if piece.pair in broken_pairs:
            reason = Reason.POLICY_HOLD
            verdicts.append(Verdict(Stage.CONTAIN, piece.object_id, reason, "tool_pair"))
        else:
            complete_pieces.append(piece)
    return complete_pieces


def _may_share(piece: Piece) -> bool:
    """Tell whether a text may be a line among others: short prose that represents one object.

    Turns keep blocks of their own, so that a new one leaves the bytes of the others alone, and
    so do what tools gave back and media.
    """
    if piece.candidate is None or len(piece.object_ids) != 1 or piece.section in _SEPARATE_SECTIONS:
        return False
    if kind_of(piece.origin, _KINDS).name == "tool":
        return False
    if piece.item is not None and isinstance(piece.item.part, Media):
        return False
    return len(piece.text.splitlines()) <= _SHARED_LINES and not _has_structure(piece.text)


def _has_structure(text: str) -> bool:
    """Whether a text holds code, records or a table."""
    # Nearly all prose has none of these signs, and looking for them costs next to nothing.
    signed = any(sign in text for sign in _STRUCTURE_SIGNS)
    return signed and _STRUCTURE.search(text) is not None


def _refuse_injection(fault: tuple[Reason, str], context: CompileContext) -> None:
    """Refuse the whole compile where the policy rejects injected instructions."""
    rejects = context.policy.write.injection is InjectionPolicy.REJECT
    if rejects and fault[0] is Reason.INJECTION_SUSPECTED:
        raise InvalidInput(
            f"an item of the request looks like an injected instruction ({fault[1]}) and the "
            "policy rejects such text; leave it out",
            code="injection_rejected",
        )


def _with_words(piece: Piece, text: str, label: str, cell: str) -> Piece:
    """Return a piece with these words: itself where they are its own."""
    if (text, label, cell) == (piece.text, piece.label, piece.cell):
        return piece
    return piece._replace(text=text, label=label, cell=cell)


def _clean(text: str) -> str:
    return canonicalise(text).text if text else ""


def _fault(clean: Piece, raw: Piece, context: CompileContext) -> tuple[Reason, str] | None:
    """Return why an untrusted piece may not be rendered."""
    if clean.level < 4:
        return None
    if not clean.origin:
        return Reason.PROVENANCE_MISSING, ""

    from_request = raw.item is not None
    if not from_request or clean.section is SectionName.USER_REQUEST:
        return None

    # The raw words are scanned: hidden characters, which `clean` has lost, are findings too.
    channel = channel_of(clean.origin)
    thresholds = thresholds_of(context.policy.write.detectors)
    findings = scan(raw.text, channel, thresholds=thresholds)
    if verdict(findings, channel, thresholds=thresholds) is Advice.QUARANTINE:
        codes = {finding.code for finding in findings}
        return Reason.INJECTION_SUSPECTED, " ".join(sorted(codes))
    return None


def channel_of(origin: str) -> TextChannel:
    """Return the ingest channel of an origin's kind."""
    kind = kind_of(origin, _KINDS).name
    return _CHANNELS.get(kind, TextChannel.DOCUMENT)


def isolation_of(origin: str, context: CompileContext) -> Isolation:
    """Return how the policy isolates untrusted text of an origin."""
    kind = kind_of(origin, context.source_kinds).name
    if kind in context.rules.base64_kinds:
        return Isolation.BASE64
    return Isolation.DATAMARK if kind in context.rules.datamark_kinds else Isolation.TYPED_SLOT
