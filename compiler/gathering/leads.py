"""Leads: what the candidates of a compile lead to beside themselves.

A slot may have another head in another scope, and an instruction's template may name other slots
of its subject: both are asked for, so that a value is never shown without its rivals and a
template never without its values. Pure: asks for the store, made of what was found.
Sources: settled 8 and 10; checklist C-076.

Passages that are history: what was said holds no more, so its words are no evidence of now.

A raw observation stays when the claims that were extracted from it expire or are superseded; as
text it would still say what is no longer so, beside the fact that is. So the claims derived from
the passages among the candidates are looked at, and a passage of which none holds at the
compile's valid time is marked. A passage with a claim that holds, or from which no claim was
ever made, is not; nor does a summary, which has no slot, or a claim that was set apart say anything
about its source.

The claims are only looked at: they are no candidates. The mark is part of how a candidate was
found, so a replay finds it in the manifest. Checklist C-074, C-098; settled 10.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...schema.claim import Version, slot_key
from ...schema.principal import Sight
from ...schema.vocabulary import ObjectType, Status
from ...store.port.store import Ask, Point, Reader
from ..ir.context import CompileContext
from ..ir.snapshot import Proposed, Via
from ..text.templates import placeholders


def derived_ask(rows: Iterable[Proposed], context: CompileContext) -> Ask | None:
    """Return the ask for what was derived from the passages among the candidates."""
    if context.rules.outdated_passages == "show":
        return None
    passages = {each.version.row.claim.object_id for each in rows if _is_passage(each.version)}
    if not passages:
        return None
    return Ask(sources=tuple(sorted(passages)), heads=False, at_valid=False, at_tx=False)


def mark_outdated(
    rows: dict[tuple[str, int], Proposed], reader: Reader, ask: Ask, *, sight: Sight, point: Point
) -> None:
    """Mark the passages of an ask whose claims have all ended."""
    ended = outdated(reader.versions(ask, sight=sight, point=point).versions, ask, point)
    for key in [key for key in rows if key[0] in ended] if ended else ():
        rows[key] = rows[key]._replace(via=rows[key].via | Via.OUTDATED)


def outdated(derived: Iterable[Version], ask: Ask, point: Point) -> frozenset[str]:
    """Return the passages of an ask of which claims were made that all ceased to hold."""
    asked, holds = set(ask.sources), dict[str, bool]()
    for version in derived:
        tells = version.details.slot and version.row.look.status is not Status.QUARANTINED
        for source in version.details.derived_from if tells else ():
            if source in asked:
                holds[source] = holds.get(source, False) or _decides(version, point)
    return frozenset(source for source, held in holds.items() if not held)


def _is_passage(version: Version) -> bool:
    details = version.details
    return details.slot is None and details.object_type is ObjectType.RETRIEVED_PASSAGE


def _decides(version: Version, point: Point) -> bool:
    """Tell whether a row decides its slot at the point, alone or in a tie, or did not begin yet.

    What is only announced is no history.
    """
    row = version.row
    believed = row.tx_start <= point.tx_us < row.tx_end
    return believed and row.look.head and point.valid_us < row.interval.end_us


def rival_ask(rows: Iterable[Proposed], context: CompileContext) -> Ask | None:
    """Return the ask for the heads of the candidates' slots in the other visible scopes."""
    keys: set[str] = set()
    held: set[str] = set()
    for proposed in rows:
        held.add(proposed.version.row.claim.slot_key)
        details = proposed.version.details
        subject, slot, own = details.subject_id, details.slot, details.scope.scope_id
        if slot is not None and subject is not None:
            keys |= {slot_key(subject, slot, other) for other in context.scopes if other != own}
    missing = tuple(sorted(keys - held))
    return Ask(keys=missing) if missing else None


def placeholder_ask(rows: Iterable[Proposed], context: CompileContext) -> Ask | None:
    """Return the ask for the slots that instruction templates of the candidates name."""
    about: dict[str, set[str]] = {}
    for proposed in rows:
        details = proposed.version.details
        if details.slot is not None and details.subject_id is not None:
            about.setdefault(details.slot, set()).add(details.subject_id)
    named = {slot: _placeholders_of(context, slot) for slot in about}
    wanted = {name for names in named.values() for name in names}
    if not wanted:
        return None
    subjects = {subject for slot, names in named.items() if names for subject in about[slot]}
    return Ask(subjects=tuple(sorted(subjects)), slots=tuple(sorted(wanted)))


def _placeholders_of(context: CompileContext, slot: str) -> tuple[str, ...]:
    """Return the other slots that a slot's template of the active task names, in order."""
    definition = context.vocabulary.slots.get(slot)
    template = definition.template(context.task_types) if definition else None
    if template is None:
        return ()
    return tuple(name for name in placeholders(template) if name not in ("value", slot))
