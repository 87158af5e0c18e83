"""The lattice: a derived object is never more trusted or more open than its sources.

Authority is the weakest of the sources, classification the highest, permission the
intersection, origins the union, so that laundering cannot raise trust.
Checklist: C-090, C-099.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ...schema.claim import Assertion, Authorship, Details, Permissions
from ...schema.errors import InvalidInput
from ...schema.policy import Policy
from ...schema.principal import EVERYONE_TAG, Principal, Scope
from ...schema.record_json import from_plain
from ...schema.slots import Slot, Vocabulary
from ...schema.sources import Channel, SourceKind, effective_level
from ...schema.vocabulary import Authority, Classification, Precedence, Sensitivity, parse
from ...schema.write import Write

_TOOL_KINDS: Final = frozenset({"workspace", "platform"})
"""Granted sources that may bring callable tools."""


@dataclass(frozen=True, slots=True)
class References:
    """What a write refers to, as the caller may see it."""

    target: Assertion | None = None
    """The object that is addressed instead of subject and slot."""
    sources: tuple[Assertion, ...] = ()
    """What it is derived from."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What sanitising knows beside the write."""

    principal: Principal
    vocabulary: Vocabulary
    policy: Policy
    widens: bool = False
    """Whether this is a promotion, which may leave the scope of its source."""


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """One write, with what it is checked against."""

    write: Write
    context: WriteContext
    object_id: str
    references: References


def trust_of(request: WriteRequest, source: Channel) -> float:
    """Return the trust, which an untrusted channel cannot state above its kind's."""
    # What comes from pages and tools may state a lower trust, and none above that of its kind.
    open_kind = source.kind.default_level == Authority.RETRIEVED
    is_untrusted = open_kind and not request.context.principal.privileged
    ceiling = min(source.source_authority, source.kind.source_authority) if is_untrusted else None
    shares = [s.claim.source_authority / 1000 for s in request.references.sources]

    return min([source.source_authority if ceiling is None else ceiling, *shares])


def levels_of(request: WriteRequest, source: Channel, slot: Slot | None) -> tuple[Authority, int]:
    """Return level and effective level, never stronger than any source's (lattice)."""
    # A larger number is a weaker level, so that the maximum is the weakest.
    sources = request.references.sources
    level = max([source.authority, *(s.details.authority_level for s in sources)])
    precedence = slot.precedence if slot else Precedence.AUTHORITY
    kinds = request.context.vocabulary.source_kinds
    ranks = [source.kind.rank, *(_rank(s, kinds) for s in sources)]

    return level, effective_level(level, max(ranks), precedence)


def permissions_of(request: WriteRequest, sensitivity: Iterable[Sensitivity]) -> Permissions:
    """Return who may see the object: the highest class and the common roles (lattice)."""
    write, sources = request.write, request.references.sources
    allow = set(request.context.vocabulary.check("role", tuple(write.allow_roles))) or {
        EVERYONE_TAG
    }
    deny = set(request.context.vocabulary.check("role", tuple(write.deny_roles)))
    classes = [s.permissions.classification for s in sources]
    if write.security_classification is not None:
        classes.append(parse(Classification, write.security_classification))
    # A label closes the object even where nobody thought of classifying it.
    if {Sensitivity.SPECIAL_PERSONAL, Sensitivity.FINANCIAL} & set(sensitivity):
        classes.append(Classification.CONFIDENTIAL)

    for source in sources:
        deny.update(source.permissions.deny)
        allow = _common_roles(allow, set(source.permissions.allow))

    # A correction stays as closed as what it corrects, unless it states roles of its own.
    if request.references.target and not write.allow_roles and not write.deny_roles:
        permissions = request.references.target.permissions
        classes.append(permissions.classification)
        allow, deny = _common_roles(allow, set(permissions.allow)), deny | set(permissions.deny)

    return Permissions(
        classification=max(classes, key=lambda c: c.rank, default=Classification.PUBLIC),
        allow=tuple(sorted(allow)),
        deny=tuple(sorted(deny)),
    )


_TENANT_ROLES: Final = frozenset({"owner", "admin", "steward"})
"""Directive roles whose word reaches the whole tenant; others direct their own projects alone."""


def may_direct(principal: Principal, policy: Policy, scope: Scope) -> bool:
    """Whether what this caller writes in a scope may instruct others who read there."""
    if principal.authority_level <= Authority.DEVELOPER:
        return True

    roles = principal.roles & frozenset(policy.write.directive_roles)
    if not roles.isdisjoint(_TENANT_ROLES):
        return True
    return bool(roles) and scope.project is not None and scope.project in principal.projects


def may_offer_tools(details: Details) -> bool:
    """Whether the store vouches for a tool: its writer directs, or its source was granted."""
    if details.authority_level <= Authority.DEVELOPER or details.authorship.directs:
        return True
    return details.authority_level < Authority.RETRIEVED and details.source_kind in _TOOL_KINDS


def authorship_of(principal: Principal, policy: Policy, scope: Scope) -> Authorship:
    """Who writes, and whether that writer may direct others in this scope."""
    return Authorship(principal.user, principal.session, may_direct(principal, policy, scope))


def recorded_authorship(details: Details, statement: object) -> Authorship:
    """Who wrote a replayed claim: whom its line names, else whom its scope and level prove."""
    directs = details.authority_level <= Authority.DEVELOPER
    return parsed_authorship(statement) or Authorship(details.scope.user, None, directs)


def parsed_authorship(statement: object) -> Authorship | None:
    """The writer that a line of a replay names.

    Raises:
        InvalidInput: `bad_field`.
    """
    if statement is None:
        return None

    try:
        authorship: Authorship = from_plain(Authorship, statement)
    except ValueError as error:
        raise InvalidInput(
            f"writer is an object of user, session and directs: {error}",
            code="bad_field",
            field="writer",
        ) from error

    return authorship


def _rank(source: Assertion, kinds: Mapping[str, SourceKind]) -> int:
    # A kind that the vocabulary does not have counts as the weakest of all.
    kind = kinds.get(source.details.source_kind)
    return kind.rank if kind else max(k.rank for k in kinds.values())


def _common_roles(allow: set[str], second: set[str]) -> set[str]:
    """Return the roles that two allow lists share; `*` is everyone."""
    if EVERYONE_TAG in allow:
        return second
    return allow if EVERYONE_TAG in second else (allow & second) or {_OWNER_ALONE}


_OWNER_ALONE = "owner"
"""Whom an empty intersection leaves: the owner of the tenant."""
