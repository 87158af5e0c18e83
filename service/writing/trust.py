"""How far a write is trusted, and in which scope it may be stored.

A derived object is never more trusted or more open than its sources. Its authority is that of the
weakest source, its classification the highest, its permission the intersection, its origins the
union. All ids that isolate its sources isolate it as well; only `memory.promote` widens it.

An origin may lower authority, never raise it. A kind that would raise it must be granted to the
caller (`Principal.source_kinds`), or the origin counts as `other` with the warning
`origin_unproven`. A stated level is never stronger than the caller's ceiling; a `model` origin is
always level 4.

Every member may write tenant-wide facts, which are data for others. Rules, tools, preferences and
directives for everyone need a writer of level 0 or 1, or with a directive role.
Checklist: C-017, C-018, C-090, C-099.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, NamedTuple

from ...compiler.safety.detect import TextChannel
from ...resolution.names import KnownNames
from ...schema.claim import Assertion, Authorship, Details, Permissions
from ...schema.errors import Forbidden, InvalidInput
from ...schema.policy import Policy
from ...schema.principal import EVERYONE_TAG, TENANT_SCOPE, Principal, Scope
from ...schema.record_json import from_plain
from ...schema.slots import (
    RULE_KINDS,
    RULE_TYPES,
    UNPROVEN,
    Slot,
    SourceKind,
    Vocabulary,
    kind_of,
)
from ...schema.vocabulary import (
    Authority,
    Classification,
    Precedence,
    Sensitivity,
    SlotKind,
    StateLayer,
    parse,
    parse_level,
)
from ...schema.write import Write
from ..backend.caller import share

_TOOL_KINDS: Final = frozenset({"workspace", "platform"})
"""Granted sources that may bring callable tools."""
INGEST_CHANNELS: Final = {
    "web": TextChannel.WEB,
    "tool": TextChannel.TOOL,
    "model": TextChannel.MODEL,
    "agent": TextChannel.AGENT,
    "document": TextChannel.DOCUMENT,
}
"""By kind of source, the channel whose thresholds hold for its texts."""
_RULE_LAYERS: Final = frozenset({StateLayer.POLICY, StateLayer.TOOL})
_READING_ROLES: Final = frozenset({"viewer", "auditor"})

_OWNER_ALONE = "owner"
"""Whom an empty intersection leaves: the owner of the tenant."""


class Source(NamedTuple):
    """What a derived claim takes over from an object that it is derived from."""

    details: Details
    permissions: Permissions
    source_authority: int
    """In thousandths."""


@dataclass(frozen=True, slots=True)
class References:
    """What a write refers to, as the caller may see it."""

    target: Assertion | None = None
    """The object that is addressed instead of subject and slot."""
    sources: tuple[Source, ...] = ()
    """What it is derived from."""
    names: KnownNames = field(default_factory=KnownNames)
    """The names of the entities that it names by id, or that its target is about."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What sanitising knows in addition to the write."""

    principal: Principal
    vocabulary: Vocabulary
    policy: Policy
    widens: bool = False
    """Whether this is a promotion, which may leave the scope of its source."""
    outlines: bool = False
    """Whether it is the document use-case, which alone writes outlines."""


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """One write, with what it is checked against."""

    write: Write
    context: WriteContext
    object_id: str
    references: References


@dataclass(frozen=True, slots=True)
class Channel:
    """What the authenticated channel says of a write's source."""

    kind: SourceKind
    authority: Authority
    source_authority: float
    warnings: tuple[str, ...]


def channel(write: Write, context: WriteContext) -> Channel:
    """Kind, level and trust of a write from its origin and its caller.

    Raises:
        InvalidInput: `bad_origin`, `out_of_range`.
        Forbidden: `authority_above_ceiling`.
    """
    origin, ceiling = write.source_origin, context.principal.authority_level
    if not isinstance(origin, str) or "://" not in origin or len(origin) > 2048:
        raise InvalidInput(
            f"source_origin {origin!r:.80} is no URI; write user://chat or record://crm/7",
            code="bad_origin",
        )
    kind = kind_of(origin, context.vocabulary.source_kinds)
    warnings: list[str] = []
    # Anybody can write `hr://` before an origin. Only a granted kind is believed; else the
    # write counts as one of unknown origin, with a warning instead of a refusal.
    if kind.granted and kind.name not in context.principal.source_kinds:
        kind = UNPROVEN
        warnings.append("origin_unproven")

    level = write.authority_level
    stated_level = None if level is None else parse_level(level)
    if stated_level is not None and stated_level < ceiling:
        raise Forbidden(
            f"authority_level {int(stated_level)} is above this caller's ceiling {int(ceiling)}; "
            "state a weaker level or none",
            code="authority_above_ceiling",
            stated=int(stated_level),
            ceiling=int(ceiling),
        )

    level = _level(kind, ceiling, stated_level)
    if level > (max(ceiling, Authority.USER) if stated_level is None else stated_level):
        warnings.append("authority_lowered")

    # Stated trust may lower what the kind gives, and raise it only for a proven origin.
    trust = kind.source_authority
    if write.source_authority is not None:
        trust = share(write.source_authority, "source_authority")
    if kind.name == "model" or "origin_unproven" in warnings:
        trust = min(trust, kind.source_authority)

    return Channel(kind, level, trust, tuple(warnings))


def _level(kind: SourceKind, ceiling: Authority, stated_level: Authority | None) -> Authority:
    if kind.name == "model":
        return Authority.RETRIEVED
    if stated_level is not None:
        return stated_level
    if kind.default_level is None:
        return ceiling

    return Authority(max(ceiling, kind.default_level))


def effective_level(level: Authority, kind_rank: int, precedence: Precedence) -> int:
    """The first part of a conflict key, as a rising number: lower is stronger.

    On a `source_rank` slot levels 0 and 1 stay, and 2 to 4 become 2 plus the rank of the
    source kind, so that a system of record beats a remark but never a platform rule.

    >>> effective_level(Authority.USER, 0, Precedence.SOURCE_RANK)
    2
    """
    if precedence is Precedence.AUTHORITY or level <= Authority.DEVELOPER:
        return int(level)
    return 2 + kind_rank


def trust_of(request: WriteRequest, source: Channel) -> float:
    """Return the trust, which an untrusted channel cannot state above its kind's."""
    # What comes from pages and tools may state a lower trust, and none above that of its kind.
    open_kind = source.kind.default_level == Authority.RETRIEVED
    is_untrusted = open_kind and not request.context.principal.privileged
    ceiling = min(source.source_authority, source.kind.source_authority) if is_untrusted else None
    shares = [s.source_authority / 1000 for s in request.references.sources]

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
    if details.directs:
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


def _rank(source: Source, kinds: Mapping[str, SourceKind]) -> int:
    # A kind that the vocabulary does not have counts as the weakest of all.
    kind = kinds.get(source.details.source_kind)
    return kind.rank if kind else max(k.rank for k in kinds.values())


def _common_roles(allow: set[str], second: set[str]) -> set[str]:
    """Return the roles that two allow lists share; `*` is everyone."""
    if EVERYONE_TAG in allow:
        return second
    return allow if EVERYONE_TAG in second else (allow & second) or {_OWNER_ALONE}


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
    rule = details.object_type in RULE_TYPES or (slot is not None and slot.kind in RULE_KINDS)
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


def derived_scope(sources: Sequence[Source]) -> Scope:
    """The scope that holds all ids of the sources' scopes.

    Raises:
        InvalidInput: `derived_too_wide` for sources of two users, projects or sessions: no
            scope belongs to both.
    """
    ids: dict[str, str] = {}
    for source in sources:
        for part in fields(Scope):
            value = getattr(source.details.scope, part.name)
            if value is None:
                continue
            if ids.setdefault(part.name, value) != value:
                raise InvalidInput(
                    f"the sources belong to two {part.name}s, and no scope is inside of both; "
                    "promote one of them first (memory.promote)",
                    code="derived_too_wide",
                    field="derived_from",
                )

    return Scope(**ids)


def check_narrow(scope: Scope, sources: Sequence[Source]) -> None:
    """Refuse a stated scope that is wider than where the sources stand.

    Raises:
        InvalidInput: `derived_too_wide`.
    """
    narrowest = derived_scope(sources)
    if not scope.is_within(narrowest):
        raise InvalidInput(
            f"scope {scope.scope_id} is wider than {narrowest.scope_id}, the scope of the sources; "
            "leave scope out, or widen the object afterwards with memory.promote",
            code="derived_too_wide",
            field="scope",
        )


def check_outline(slot: Slot | None, context: WriteContext) -> None:
    """Refuse an outline of a document that the document use-case did not make.

    Raises:
        InvalidInput: `reserved_slot`.
    """
    if slot is not None and slot.kind is SlotKind.STRUCTURE and not context.outlines:
        raise InvalidInput(
            f"slot {slot.name!r} holds what documents.put makes of a file; put or remove the "
            "document instead",
            code="reserved_slot",
        )
