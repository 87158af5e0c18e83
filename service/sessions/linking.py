"""Asking the store whether what units of a window stated still holds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...schema.claim import Version
from ...schema.vocabulary import Op
from ...store.port.store import Ask, Point, Reader
from ...store.timeline.state import plain_value
from ...window.events import EventKind
from ...window.links import EndReason
from ..reading.masking import Mask
from ..reading.view import pinned, point_of
from .core import EventDraft, SessionCore


class _Judgement(NamedTuple):
    """A claim that ended, or that holds again when there is no reason."""

    claim: str
    reason: str
    slot: str = ""
    value: str = ""
    successor: str = ""


def judge_claims(core: SessionCore) -> None:
    """Append what the store says of linked claims, where that is another than the log knows."""
    known = {link.claim: link.reason for link in core.state.links}
    if not known:
        return

    judgements = _judgements(core, known)
    if not judgements:
        return

    claims: list[dict[str, str]] = []
    texts: list[str] = []
    for judgement in judgements:
        claims.append({"claim": judgement.claim, "why": judgement.reason, "slot": judgement.slot})
        texts += [judgement.value, judgement.successor]
    core.act([EventDraft(EventKind.CLAIMS_JUDGED, {"claims": claims}, tuple(texts))], edit=False)


def _judgements(core: SessionCore, known: dict[str, str]) -> list[_Judgement]:
    """What changed since the log last heard of these claims."""
    backend, principal = core.log.backend, core.log.principal
    mask, sight = Mask(principal, backend.policy), principal.sight()
    claims = tuple(sorted(known))
    with backend.store.reading(principal.tenant) as reader:
        point = point_of(pinned(backend, principal, reader, None, None))
        page = reader.versions(Ask(objects=claims), sight=sight, point=point)
        holding = {row.row.claim.object_id for row in page.versions if row.visible}

        judgements: list[_Judgement] = []
        ended_claims: list[str] = []
        for claim in claims:
            if claim in holding and known[claim]:
                judgements.append(_Judgement(claim, ""))
            elif claim not in holding and not known[claim]:
                ended_claims.append(claim)

        # Few claims of a window ever end, so only those are looked at closely.
        for rows in _rows_by_claim(reader, mask, ended_claims, point):
            if not _is_to_come(rows, point):
                judgements.append(_ending(reader, mask, rows, point))

    return judgements


def _rows_by_claim(
    reader: Reader, mask: Mask, claims: list[str], point: Point
) -> Iterable[list[Version]]:
    """The visible rows of claims on both axes, those of a claim together."""
    if not claims:
        return ()

    ask = Ask(objects=tuple(claims), heads=False, at_valid=False, at_tx=False)
    page = reader.versions(ask, sight=mask.principal.sight(), point=point)
    by_claim: dict[str, list[Version]] = {}
    for version in mask.over(reader, page.versions):
        if version.visible:
            by_claim.setdefault(version.row.claim.object_id, []).append(version)

    return by_claim.values()


def _is_to_come(rows: Iterable[Version], point: Point) -> bool:
    """Whether a claim decides a time that has not begun."""
    for version in rows:
        row = version.row
        if row.live and row.look.head and row.interval.start_us > point.valid_us:
            return True

    return False


def _ending(reader: Reader, mask: Mask, rows: list[Version], point: Point) -> _Judgement:
    """Why a claim no longer holds, and what holds in its place."""
    claim = rows[0].row.claim
    ask = Ask(keys=(claim.slot_key,))
    page = reader.versions(ask, sight=mask.principal.sight(), point=point)
    successor: Version | None = None
    for version in mask.over(reader, page.versions):
        if version.visible and version.content and version.row.claim.op in (Op.ASSERT, Op.CORRECT):
            successor = version

    # A claim that was withdrawn has no row left that is still believed.
    withdrawn = not any(row.row.live for row in rows)
    if withdrawn or (successor is not None and successor.row.claim.op is Op.CORRECT):
        reason = EndReason.ERROR_INVALIDATED
    else:
        reason = EndReason.PHASE_CHANGE if successor is None else EndReason.SUPERSEDED

    return _Judgement(
        claim=claim.object_id,
        reason=reason.value,
        slot=rows[0].details.slot or "",
        value=_words(plain_value(rows[0])),
        successor="" if successor is None else _words(plain_value(successor)),
    )


def _words(value: Any) -> str:
    """A value as a line shows it: a text as it is, all else as JSON; empty for none."""
    if value is None:
        return ""

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
