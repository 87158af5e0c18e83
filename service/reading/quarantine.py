"""Why a text was set apart, and what to do about it: the one account that every surface gives.

The store keeps that a text was set apart and not for which of its words; the detectors are asked
anew, so that a reviewer sees what they see today. A text that its reader may not see whole is read
as the reader sees it, and no quote leaks.
"""

from __future__ import annotations

from ...compiler.safety.detect import TextChannel, scan
from ...schema.answers import AttackSign, Quarantine
from ...schema.context_object import ContextObject

_REMEDY = (
    "it is shown to nobody as truth until a steward decides: tenure actions resolve {id} --accept "
    "lets it in, --reject keeps it out for good (memory.actions.resolve with accept=True or False)"
)


def signs_of(item: ContextObject) -> tuple[AttackSign, ...]:
    """What the detectors see in the texts of an object today, phrases first; each sign once."""
    texts = (
        item.content,
        item.normalized_claim,
        item.why_it_matters,
        item.behavioral_implication,
    )
    # What is longer than its channel allows was refused, so the widest channel is asked: by the
    # limit of another, a long document would be called too long.
    findings = scan("\n".join(dict.fromkeys(filter(None, texts))), TextChannel.DOCUMENT)

    signs: list[AttackSign] = []
    for finding in findings:
        signs.append(AttackSign(attack=finding.attack, code=finding.code, detail=finding.detail))
    return tuple(signs)


def quarantine_of(item: ContextObject, action_id: str) -> Quarantine:
    """Why an object is set apart; `action_id` is the entry of the queue that asks about it."""
    return Quarantine(
        reason=item.status_reason,
        signs=signs_of(item),
        action_id=action_id,
        remedy=_REMEDY.format(id=action_id),
    )
