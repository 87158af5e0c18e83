"""What a write teaches of an entity: the identifiers that it states and the entity lacks.

Whoever may read the write knows the identifier. So one that is known in a narrow scope, or to few,
is taught anew by a write of a wider one, and each reader sees the widest row. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..schema.claim import Permissions
from ..schema.entity import EntityRef, Identifier
from ..schema.principal import TENANT_SCOPE, Scope
from .attributes import repeatable_schemes
from .register import Register, Rules

USER_SCHEME: Final = "user"
"""The scheme of the ids by which callers are known to the store."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A write, as far as it teaches names and identifiers."""

    object_id: str
    scope: Scope
    permissions: Permissions
    tx: int
    vouches: bool = False
    """Whether it may say of others who they are."""


def fresh_identifiers(
    ref: EntityRef, entity_id: str, lesson: Lesson, known: Register, rules: Rules
) -> list[Identifier]:
    """The identifiers of a mention that its entity lacks for the readers of a write.

    Where a scheme gives one value, the first one stays; a second e-mail address is added.
    """
    repeatable = repeatable_schemes(rules.bands.attributes)
    visible_values = known.held(entity_id, rules.identifier_test(known))
    identifiers: list[Identifier] = []
    for scheme, value in sorted(ref.external_ids.items()):
        values = visible_values.get(scheme, (value,))
        identifier = Identifier(
            entity_id=entity_id,
            scheme=scheme,
            value=value,
            tx_start=lesson.tx,
            scope_id=identifier_scope(scheme, value, lesson.scope).scope_id,
            object_id=lesson.object_id,
        )
        if value not in values and scheme not in repeatable:
            continue
        if not _is_known(identifier, lesson, known):
            identifiers.append(identifier)
    return identifiers


def identifier_scope(scheme: str, value: str, scope: Scope) -> Scope:
    """Where an identifier is known that a write of a scope has stated.

    Who a user is, that user knows in every session and project of theirs.

    >>> identifier_scope("user", "ann", Scope(user="ann", session="s1")).scope_id
    'user=ann'
    >>> identifier_scope("email", "sam@acme.example", Scope(session="s1")).scope_id
    'session=s1'
    """
    is_own = scheme == USER_SCHEME and value == scope.user
    return Scope(user=scope.user) if is_own else scope


def _is_known(identifier: Identifier, lesson: Lesson, known: Register) -> bool:
    """Whether all who may read the write know the identifier already, as surely as it says so."""
    reach = {identifier.scope_id, TENANT_SCOPE.scope_id}
    for row in known.identifiers_of(identifier.entity_id):
        if (row.scheme, row.value) != (identifier.scheme, identifier.value):
            continue
        restriction = known.restriction(row.object_id)
        is_open = restriction is None or lesson.permissions.is_within(restriction.permissions)
        is_as_sure = not lesson.vouches or known.is_vouched(row.object_id)
        if is_open and is_as_sure and row.scope_id in reach:
            return True
    return False
