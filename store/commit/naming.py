"""Naming: which mentions a draft makes, as resolution is asked about them, and what they teach.

A name of unknown type takes the one type that its slot is about. A draft that addresses a
stored object names its subject by id. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from ...resolution.attributes import repeatable_schemes
from ...resolution.bind import MentionOrId
from ...resolution.keys import is_id
from ...resolution.register import Register
from ...schema.claim import slot_key
from ...schema.entity import Entity, EntityRef, Identifier
from ...schema.policy import ResolutionPolicy
from ...schema.slots import UNKNOWN_TYPE
from ...schema.write import Draft


def of_slot_type(mention: MentionOrId, types: Sequence[str]) -> MentionOrId:
    """Let a name of unknown type take the one type its slot is about."""
    if len(types) != 1:
        return mention
    if isinstance(mention, str):
        return mention if is_id(mention) else _typed_reference(mention, types[0])
    return mention if mention.type != UNKNOWN_TYPE else replace(mention, type=types[0])


@lru_cache(maxsize=256)
def _typed_reference(name: str, type_name: str) -> EntityRef:
    # A write asks for its subject's reference at the look-up, at its test and at the binding, and
    # each new one would check every character of the name.
    return EntityRef(name=name, type=type_name)


def subject_mention(draft: Draft) -> MentionOrId | None:
    """Return the mention or the id that a draft is about; None for text about nobody."""
    if draft.subject is not None and draft.slot_key is None:
        return of_slot_type(draft.subject, draft.slot.subject_types if draft.slot else ())
    return draft.details.subject_id


def mentions_of(drafts: Iterable[Draft]) -> list[MentionOrId]:
    """Return every mention of drafts that binding must look up."""
    mentions: list[MentionOrId] = []
    for draft in drafts:
        subject = subject_mention(draft)
        mentions += [mention for mention in (subject, draft.value_mention) if mention is not None]
        mentions += [span.mention for span in draft.mentions]

    return mentions


def cluster_keys(register: Register, raw: str, slot: str, scope_id: str) -> tuple[str, ...]:
    """The keys of a slot for every member of an entity's cluster.

    Claims keep the slot under which they were observed, so that a merge can be taken back: what
    competes stands under the keys of all members.
    """
    keys: list[str] = []
    for member in register.members(raw):
        keys.append(slot_key(member, slot, scope_id))
    return tuple(keys)


def fresh_identifiers(
    ref: EntityRef, entity: Entity, register: Register, bands: ResolutionPolicy, tx: int
) -> list[Identifier]:
    """Return the identifiers of a mention that its entity lacks.

    Of a scheme that gives one value, the first one stays; a second e-mail address is added.
    """
    if not ref.external_ids:
        return []

    repeatable = repeatable_schemes(bands.attributes)
    stored_values = register.held(entity.entity_id)
    identifiers: list[Identifier] = []
    for scheme, value in sorted(ref.external_ids.items()):
        values = stored_values.get(scheme, ())
        if not values or (scheme in repeatable and value not in values):
            identifiers.append(
                Identifier(entity_id=entity.entity_id, scheme=scheme, value=value, tx_start=tx)
            )
    return identifiers
