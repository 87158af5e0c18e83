"""Follow-up reads: what the candidates of a compile lead to, and which passages are history.

A slot may have another head in another scope, and a template may name other slots of its subject.
Both are asked for, so a value is never shown without its rivals or a template without its values.
This module is pure: it makes the asks, and the caller reads. C-076.

A passage stays when the claims extracted from it expire, are superseded or retracted. It is marked
as history when all its claims ended or were taken back, and is ranked behind current candidates. It
is not marked if it denies a value of an asked slot in which nothing holds, if it has
words of the question that none of its claims has, or if the policy shows history unmarked. A
passage that says no more than its claims is marked as well, so that it can be left out. The marks
are stored in the manifest for replays. Checklist C-074, C-098.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ...schema.claim import Content, Details, Version, slot_key
from ...schema.terms import content_terms
from ...schema.vocabulary import ObjectType, Op, Status
from ...store.port.store import Ask, Point
from ..ir.context import CompileContext, question
from ..ir.records import Proposal, Via
from ..ranking.asked import asked_slots
from ..text.templates import placeholders


def derived_ask(rows: Iterable[Proposal], context: CompileContext) -> Ask | None:
    """Return the ask for what was derived from the passages among the candidates."""
    passages: set[str] = set()
    for version, _, _ in rows:
        if is_passage(version):
            passages.add(version.row.claim.object_id)
    if not passages:
        return None
    return Ask(sources=tuple(sorted(passages)), heads=False, at_valid=False, at_tx=False)


def is_passage(version: Version) -> bool:
    """Tell whether a row is text that is quoted, not a fact that is stated."""
    details = version.details
    return details.slot is None and details.object_type is ObjectType.RETRIEVED_PASSAGE


def mark_passages(
    rows: dict[tuple[str, int], Proposal], derived: Iterable[Version], context: CompileContext
) -> None:
    """Mark passages by what became of the claims that were derived from them: see the module."""
    claims = tuple(version for version in derived if version.details.slot)
    claims_of: dict[str, list[Version]] = {}
    for version in claims:
        for source in version.details.derived_from:
            claims_of.setdefault(source, []).append(version)

    versions = (*(proposal.version for proposal in rows.values()), *claims)
    standing_values = _standing_values(versions, context)
    open_slots = _open_slots(rows.values(), context)
    terms = question(context)
    for key, proposal in list(rows.items()):
        own_claims = claims_of.get(key[0])
        content = proposal.version.content
        if not own_claims or content is None:
            continue

        words = content_terms(content.text)
        claim_texts = [
            claim.content.normalized_claim for claim in own_claims if claim.content is not None
        ]
        claimed_words = content_terms("\n".join(claim_texts))
        via = proposal.via
        answers = any(_denies(claim, open_slots, context.point) for claim in own_claims)
        if not answers:
            via |= Via.CLAIMED
        if not words <= claimed_words:
            via |= Via.SAYS_MORE
        asks_further = not terms.isdisjoint(words - claimed_words)
        asks_further |= any(_names_value(claim, terms) for claim in own_claims)
        holds = any(_holds(c, standing_values, terms, context.point) for c in own_claims)
        if not (answers or asks_further or holds):
            via |= Via.OUTDATED
        rows[key] = proposal._replace(via=via)


def _names_value(claim: Version, terms: frozenset[str]) -> bool:
    """Whether the question names what a claim says: then it is asked for, ended or not."""
    if claim.content is None:
        return False
    value = _value_terms(claim.content, claim.details)
    return bool(value) and value <= terms


def _open_slots(rows: Iterable[Proposal], context: CompileContext) -> frozenset[str]:
    """The asked slots in which nothing holds of anybody who denied something in them."""
    asked = asked_slots(context)
    filled: set[str] = set()
    for version, _, _ in rows:
        is_value = version.row.claim.op is not Op.DENY
        if version.details.slot in asked and is_value and _decides(version, context.point):
            filled.add(version.details.slot)
    return frozenset(asked) - filled


def _denies(claim: Version, open_slots: AbstractSet[str], point: Point) -> bool:
    """Whether a claim denies what an asked slot had, and nothing else is in it."""
    is_denial = claim.row.claim.op is Op.DENY and _decides(claim, point)
    return is_denial and claim.details.slot in open_slots


def _holds(
    claim: Version,
    standing_values: AbstractSet[tuple[str, str]],
    terms: frozenset[str],
    point: Point,
) -> bool:
    """Whether a claim says what holds, or takes back what the question names."""
    if claim.row.look.status is Status.QUARANTINED or _value_of(claim) in standing_values:
        return True
    if not _decides(claim, point):
        return False
    if claim.row.claim.op is not Op.DENY:
        return True
    return claim.content is None or _value_terms(claim.content, claim.details) <= terms


def _standing_values(versions: Iterable[Version], context: CompileContext) -> set[tuple[str, str]]:
    """Return the values that hold at the compile's point, whoever said them last."""
    values: set[tuple[str, str]] = set()
    for version in versions:
        claim, is_valid = version.row.claim, context.point.valid_us in version.row.interval
        is_fact = bool(version.details.slot) and claim.op is not Op.DENY
        is_clean = version.row.look.status is not Status.QUARANTINED
        if is_fact and is_clean and is_valid and _decides(version, context.point):
            values.add(_value_of(version))
    return values


def _value_of(version: Version) -> tuple[str, str]:
    claim = version.row.claim
    return claim.slot_key, claim.value_key


def _value_terms(content: Content, details: Details) -> frozenset[str]:
    """The words of a value; an entity's name comes after the slot's in the claim."""
    if details.value_entity_id is None:
        return content_terms(content.value_json)
    return content_terms(content.normalized_claim.rpartition(": ")[2])


def _decides(version: Version, point: Point) -> bool:
    """Tell whether a row decides its slot at the point, alone or in a tie, or did not begin yet.

    What is only announced is no history. A denied row stands where it decided, and decides no more.
    A denial of what nobody had said heads no slot, and is the newest word of it all the same.
    """
    row = version.row
    is_last = row.look.head or row.claim.op is Op.DENY
    leads = is_last and row.look.status is not Status.OVERRIDDEN
    is_believed = row.tx_start <= point.tx_us < row.tx_end
    return is_believed and leads and point.valid_us < row.interval.end_us


def rival_ask(rows: Iterable[Proposal], context: CompileContext) -> Ask | None:
    """Return the ask for the heads of the candidates' slots in the other visible scopes."""
    keys: set[str] = set()
    known: set[str] = set()
    for version, _, _ in rows:
        known.add(version.row.claim.slot_key)
        details = version.details
        subject, slot, own_scope = details.subject_id, details.slot, details.scope.scope_id
        if slot is None or subject is None:
            continue
        for scope in context.scopes:
            if scope != own_scope:
                keys.add(slot_key(subject, slot, scope))

    missing = tuple(sorted(keys - known))
    return Ask(keys=missing) if missing else None


def placeholder_ask(rows: Iterable[Proposal], context: CompileContext) -> Ask | None:
    """Return the ask for the slots that instruction templates of the candidates name."""
    subjects_of: dict[str, set[str]] = {}
    for version, _, _ in rows:
        details = version.details
        if details.slot is not None and details.subject_id is not None:
            subjects_of.setdefault(details.slot, set()).add(details.subject_id)

    slots: set[str] = set()
    subjects: set[str] = set()
    for slot, members in subjects_of.items():
        names = _placeholders_of(context, slot)
        if names:
            slots.update(names)
            subjects |= members
    if not slots:
        return None
    return Ask(subjects=tuple(sorted(subjects)), slots=tuple(sorted(slots)))


def _placeholders_of(context: CompileContext, slot: str) -> tuple[str, ...]:
    """Return the other slots that a slot's template of the active task names, in order."""
    definition = context.vocabulary.slots.get(slot)
    template = definition.template(context.task_types) if definition else None
    if template is None:
        return ()

    # What the instruction itself says is at hand, so only the other slots are asked for.
    return tuple(name for name in placeholders(template) if name not in ("value", slot))
