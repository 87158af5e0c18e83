"""Leads: what the candidates of a compile lead to beside themselves.

A slot may have another head in another scope, and an instruction's template may name other slots
of its subject: both are asked for, so that a value is never shown without its rivals and a
template never without its values. Pure: asks for the store, made of what was found.
Sources: settled 8 and 10; checklist C-076.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...schema.claim import slot_key
from ...store.port.store import Ask
from ..ir.context import Setting
from ..ir.snapshot import Proposed
from ..text.templates import placeholders


def rival_ask(rows: Iterable[Proposed], setting: Setting) -> Ask | None:
    """Return the ask for the heads of the candidates' slots in the other visible scopes."""
    keys: set[str] = set()
    held: set[str] = set()
    for proposed in rows:
        held.add(proposed.version.row.claim.slot_key)
        details = proposed.version.details
        subject, slot, own = details.subject_id, details.slot, details.scope.scope_id
        if slot is not None and subject is not None:
            keys |= {slot_key(subject, slot, other) for other in setting.scopes if other != own}
    missing = tuple(sorted(keys - held))
    return Ask(keys=missing) if missing else None


def placeholder_ask(rows: Iterable[Proposed], setting: Setting) -> Ask | None:
    """Return the ask for the slots that instruction templates of the candidates name."""
    about: dict[str, set[str]] = {}
    for proposed in rows:
        details = proposed.version.details
        if details.slot is not None and details.subject_id is not None:
            about.setdefault(details.slot, set()).add(details.subject_id)
    named = {slot: _placeholders_of(setting, slot) for slot in about}
    wanted = {name for names in named.values() for name in names}
    if not wanted:
        return None
    subjects = {subject for slot, names in named.items() if names for subject in about[slot]}
    return Ask(subjects=tuple(sorted(subjects)), slots=tuple(sorted(wanted)))


def _placeholders_of(setting: Setting, slot: str) -> tuple[str, ...]:
    """Return the other slots that a slot's template of the active task names, in order."""
    definition = setting.vocabulary.slots.get(slot)
    template = definition.template(setting.task_types) if definition else None
    if template is None:
        return ()
    return tuple(name for name in placeholders(template) if name not in ("value", slot))
