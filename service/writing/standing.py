"""Where a write may stand: who may speak to the whole tenant, and how wide derived objects are.

Facts may be written tenant-wide by every member: for others they are data. What tells others what
to do (rules, tools, preferences and directives for everyone) needs a writer of level 0 or 1, or
with a directive role. A derived object is isolated by all ids that isolate its sources, so what
was said in one session never becomes something that every user reads; widening is an operation
of its own, `memory.promote`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Final

from ...schema.claim import Assertion, Details
from ...schema.errors import Forbidden, InvalidInput
from ...schema.principal import TENANT_SCOPE, Principal, Scope
from ...schema.slots import Slot
from ...schema.vocabulary import ObjectType, SlotKind, StateLayer
from .trust import WriteRequest, may_direct

_RULE_LAYERS: Final = frozenset({StateLayer.POLICY, StateLayer.TOOL})
_RULE_TYPES: Final = frozenset(
    {
        ObjectType.PREFERENCE,
        ObjectType.ACTIONABLE_CONSTRAINT,
        ObjectType.POLICY_RULE,
        ObjectType.TOOL_SCHEMA,
    }
)
_RULE_KINDS: Final = frozenset({SlotKind.PREFERENCE, SlotKind.DIRECTIVE})
_READING_ROLES: Final = frozenset({"viewer", "auditor"})


def check_standing(request: WriteRequest, details: Details, slot: Slot | None) -> None:
    """Refuse a write that would speak to more people than its writer may.

    Raises:
        Forbidden: `directive_role_required`; `scope_not_yours` for a viewer outside of its own
            user and session.
    """
    principal = request.context.principal
    if may_direct(principal, request.context.policy, details.scope):
        return
    # A viewer with a further role writes as that one.
    if "viewer" in principal.roles and principal.roles <= _READING_ROLES:
        _check_viewer(principal, details.scope)

    tenant_wide = details.scope == TENANT_SCOPE
    rule = details.object_type in _RULE_TYPES or (slot is not None and slot.kind in _RULE_KINDS)
    stated_tenant = request.write.layer == StateLayer.TENANT.value
    if details.layer in _RULE_LAYERS or stated_tenant or (tenant_wide and rule):
        roles = ", ".join(sorted(request.context.policy.write.directive_roles))
        raise Forbidden(
            f"a {details.object_type.value} of layer {details.layer.value} for the whole tenant "
            f"needs one of the roles {roles} or authority level <= 1; give scope= (a user, a "
            "session or a project of yours), or ask one of them; a lead and roles of the policy's "
            "own direct only their projects",
            code="directive_role_required",
            layer=details.layer.value,
        )


def _check_viewer(principal: Principal, scope: Scope) -> None:
    own_user = scope.user is not None and scope.user == principal.user
    own_session = scope.session is not None and scope.session == principal.session
    if not (own_user or own_session):
        raise Forbidden(
            "a viewer writes only in its own user or session scope; give scope={'user': …}",
            code="scope_not_yours",
            ids=[],
        )


def derived_scope(sources: Sequence[Assertion]) -> Scope:
    """The scope that holds all ids of the sources' scopes.

    Raises:
        InvalidInput: `derived_too_wide` for sources of two users, projects or sessions: no
            scope belongs to both.
    """
    ids: dict[str, str] = {}
    for source in sources:
        for field in fields(Scope):
            value = getattr(source.details.scope, field.name)
            if value is None:
                continue
            if ids.setdefault(field.name, value) != value:
                raise InvalidInput(
                    f"the sources belong to two {field.name}s, and no scope is inside of both; "
                    "promote one of them first (memory.promote)",
                    code="derived_too_wide",
                    field="derived_from",
                )

    return Scope(**ids)


def holds(scope: Scope, outer: Scope) -> bool:
    """Whether a scope has every id of another, and so is no wider than it."""
    for field in fields(Scope):
        value = getattr(outer, field.name)
        if value is not None and getattr(scope, field.name) != value:
            return False
    return True


def check_narrow(scope: Scope, sources: Sequence[Assertion]) -> None:
    """Refuse a stated scope that is wider than where the sources stand.

    Raises:
        InvalidInput: `derived_too_wide`.
    """
    narrowest = derived_scope(sources)
    if not holds(scope, narrowest):
        raise InvalidInput(
            f"scope {scope.scope_id} is wider than {narrowest.scope_id}, where the sources stand; "
            "leave scope out, or widen the object afterwards with memory.promote",
            code="derived_too_wide",
            field="scope",
        )
