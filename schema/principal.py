"""Who asks, and what isolates an object: principals, scopes and what a caller may see.

A `Principal` comes from the authenticated channel; a payload never changes it. A `Scope`
holds the ids that isolate an object; its canonical text is what stores compare. `Sight` is
the part of a principal that every read statement carries: without one no read can be stated.
Checklist C-020, C-021, C-041.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final, cast

from .errors import Forbidden, InvalidInput
from .layers import LAYERS
from .limits import check_text
from .records import short_repr
from .slots import BUILT_IN_KINDS
from .vocabulary import Authority, Classification, ObjectType, StateLayer, parse, parse_level

EVERYONE_TAG: Final = "*"
"""The tag that every principal holds; an empty allow list means this."""

SCOPE_ID_MAX: Final = 512
"""Characters of a user, project, session, role or origin: they are in every index key."""


def _set_of_texts(field: str, stated_set: object) -> frozenset[str]:
    if isinstance(stated_set, str):
        # Its letters would be taken for roles, without a word.
        raise InvalidInput(
            f"{field} is a set, not the text {stated_set!r}; write {{{stated_set!r}}}",
            code="bad_principal",
            field=field,
        )
    if not isinstance(stated_set, Iterable):
        raise InvalidInput(f"{field} is a set of texts", code="bad_principal", field=field)

    texts: set[str] = set()
    for member in cast("Iterable[object]", stated_set):
        if not isinstance(member, str):
            raise InvalidInput(f"{field} is a set of texts", code="bad_principal", field=field)
        check_text(member, field, most=SCOPE_ID_MAX)
        texts.add(member)
    return frozenset(texts)


@dataclass(frozen=True, slots=True)
class Scope:
    """The ids that isolate an object inside its tenant; None does not isolate."""

    __repr__ = short_repr

    user: str | None = None
    project: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        for name in ("user", "project", "session"):
            value = getattr(self, name)
            if value is None:
                continue
            check_text(value, name, most=SCOPE_ID_MAX)
            if not value or any(c in value for c in ",=\n"):
                raise InvalidInput(
                    f"scope id {name}={value!r} must not be empty or hold ',', '=' or a newline",
                    code="bad_scope",
                )

    @property
    def scope_id(self) -> str:
        """The canonical text: `tenant`, or the ids joined in a fixed order.

        >>> Scope(user="ann", project="nova").scope_id
        'project=nova,user=ann'
        """
        if not (self.project or self.user or self.session):
            return "tenant"
        ids = (("project", self.project), ("user", self.user), ("session", self.session))
        return ",".join(f"{name}={value}" for name, value in ids if value)

    @classmethod
    def parse(cls, scope_id: str) -> Scope:
        """The scope of a canonical text."""
        if scope_id == "tenant":
            return cls()

        known = {item.name for item in fields(cls)}
        pairs = [part.partition("=") for part in scope_id.split(",")]
        if any(name not in known or not value for name, _, value in pairs):
            raise InvalidInput(f"{scope_id!r} is no scope id", code="bad_scope")

        scope = cls(**{name: value for name, _, value in pairs})
        if scope.scope_id != scope_id:
            raise InvalidInput(
                f"{scope_id!r} is not canonical; it reads {scope.scope_id!r}", code="bad_scope"
            )

        return scope

    @property
    def specificity(self) -> int:
        """3 for a session, 2 for a project, 1 for a user, 0 for the tenant."""
        if self.session:
            return 3
        return 2 if self.project else int(bool(self.user))

    def is_within(self, outer: Scope) -> bool:
        """Whether it has every id of another scope, and so is no wider than it.

        >>> Scope(user="ann").is_within(Scope()), Scope().is_within(Scope(user="ann"))
        (True, False)
        """
        return all(
            getattr(outer, name) in (None, getattr(self, name))
            for name in ("user", "project", "session")
        )


TENANT_SCOPE: Final = Scope()


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An authenticated caller; required by every call."""

    __repr__ = short_repr

    tenant: str = "default"
    user: str | None = None
    roles: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    session: str | None = None
    clearance: Classification = Classification.RESTRICTED
    """The highest classification this caller may read."""
    authority_level: Authority = Authority.USER
    """The ceiling: the strongest level this caller may write."""
    origins: frozenset[str] = frozenset()
    """Web hosts and tools whose remembered claims may be compiled for this caller (C-092)."""
    source_kinds: frozenset[str] = frozenset()
    """Source kinds beyond the open ones that this caller may speak for."""

    if TYPE_CHECKING:
        # Any collection of words may be stated; the value keeps it as a set.
        def __init__(
            self,
            *,
            tenant: str = ...,
            user: str | None = ...,
            roles: Collection[str] = ...,
            projects: Collection[str] = ...,
            session: str | None = ...,
            clearance: Classification = ...,
            authority_level: Authority = ...,
            origins: Collection[str] = ...,
            source_kinds: Collection[str] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, str) or not 0 < len(self.tenant) <= 256:
            raise InvalidInput("a tenant id has 1 to 256 characters", code="bad_tenant")
        check_text(self.tenant, "tenant")

        put = object.__setattr__  # a frozen value normalises what it was given, once
        for name in ("roles", "projects", "origins", "source_kinds"):
            put(self, name, _set_of_texts(name, getattr(self, name)))

        put(self, "clearance", parse(Classification, self.clearance))
        put(self, "authority_level", parse_level(self.authority_level))

        for project in (None, *self.projects):
            Scope(user=self.user, project=project, session=self.session)

    @property
    def privileged(self) -> bool:
        """Whether the caller may name any scope: owner, admin, or level 0 to 1."""
        return self.authority_level <= 1 or not self.roles.isdisjoint({"owner", "admin"})

    def holds(self, privilege: Privilege) -> bool:
        """Whether the caller has a privilege by one of its roles or by its level."""
        if privilege.level is not None and self.authority_level <= privilege.level:
            return True
        return not self.roles.isdisjoint(privilege.roles)

    def require(self, privilege: Privilege) -> None:
        """Refuse the call unless this caller holds the privilege.

        Raises:
            Forbidden: `privilege_required`.
        """
        if self.holds(privilege):
            return

        levels = "" if privilege.level is None else f" or authority level <= {privilege.level}"
        roles = ", ".join(sorted(privilege.roles))
        raise Forbidden(
            f"{privilege.call} needs one of the roles {roles}{levels}",
            code="privilege_required",
            call=privilege.call,
        )

    def sight(self, scopes: Iterable[str] | None = None) -> Sight:
        """What this caller may read, over its own scopes or the ones given."""
        return Sight(
            scopes=tuple(sorted(visible_scopes(self) if scopes is None else scopes)),
            tags=tuple(sorted({EVERYONE_TAG, *self.roles})),
            clearance=self.clearance.rank,
        )


def check_principal(principal: object) -> None:
    """Refuse what is no caller: a name alone, or the fields of one.

    Raises:
        InvalidInput: `bad_principal`.
    """
    if not isinstance(principal, Principal):
        raise InvalidInput(
            f"a caller is a Principal, not {type(principal).__name__}; write Principal(user=…)",
            code="bad_principal",
        )


@dataclass(frozen=True, slots=True)
class Privilege:
    """What a call needs beyond membership of the tenant."""

    call: str
    roles: frozenset[str]
    level: int | None = None


_ADMIN = frozenset({"admin", "owner"})
DEFINE: Final = Privilege("defining vocabulary", _ADMIN, 1)
PROMOTE: Final = Privilege("widening the scope of an object", _ADMIN | {"steward"}, 1)
STEWARD: Final = Privilege("deciding entities and actions", _ADMIN | {"steward"}, 1)
OPERATE: Final = Privilege("this operation", _ADMIN, 1)
ERASE: Final = Privilege("erasing", _ADMIN)
AUDIT: Final = Privilege("naming withheld objects", _ADMIN | {"auditor"})

OWNER: Final = Principal(
    roles=frozenset({"owner"}),
    clearance=Classification.HIGHLY_RESTRICTED,
    authority_level=Authority.PLATFORM,
    source_kinds=frozenset(kind.name for kind in BUILT_IN_KINDS),
)
"""The principal of an embedded store that was opened without one."""


def own_identifier(principal: Principal) -> tuple[str, str] | None:
    """The (scheme, value) that the entity of this caller bears; None for a caller who is nobody.

    Who opened a store of his own and gave no user is a person too: the one that its talk is with.
    """
    if principal.user:
        return "user", principal.user
    if "owner" in principal.roles and principal.session is None:
        return "owner", "self"
    return None


@dataclass(frozen=True, slots=True)
class Sight:
    """What every read statement carries: scopes, tags and clearance of the caller."""

    scopes: tuple[str, ...]
    """Canonical scope ids, sorted."""
    tags: tuple[str, ...]
    """The caller's roles and `*`, sorted."""
    clearance: int
    """Rank of the highest classification that may be read, 0 to 3."""

    def may_see(self, *, classification: int, allow: Iterable[str], deny: Iterable[str]) -> bool:
        """Whether permissions let this caller see an object; deny wins (C-020)."""
        tags = set(self.tags)
        allowed_tags = set(allow) or {EVERYONE_TAG}
        # Deny wins over allow, also for a caller who holds both roles.
        if tags & set(deny):
            return False

        return classification <= self.clearance and bool(tags & allowed_tags)


@lru_cache(maxsize=1024)  # every write and every read asks it of its caller
def visible_scopes(principal: Principal, *, project: str | None = None) -> frozenset[str]:
    """The scope ids a caller reads by default: its own and the tenant's.

    With `project` only that project's scopes are among them.

    Raises:
        Forbidden: `scope_not_yours` for a project that is not the caller's own.
    """
    _check_ownership(principal, Scope(project=project))
    return _scope_ids(principal, sorted(principal.projects) if project is None else [project])


def scopes_beside_projects(principal: Principal) -> frozenset[str]:
    """The scope ids a caller reads where no project is meant: those that are bound to none."""
    return _scope_ids(principal, ())


def _scope_ids(principal: Principal, projects: Iterable[str]) -> frozenset[str]:
    # Every combination of the ids that the caller holds is a scope it may read; none represents
    # "not bound to that axis", so the tenant-wide scope is always among them.
    axes = product((None, *projects), {None, principal.user}, {None, principal.session})
    return frozenset(Scope(user=u, project=p, session=s).scope_id for p, u, s in axes)


def write_scope(
    principal: Principal, layer: StateLayer, *, stated_scope: Scope | None, object_type: ObjectType
) -> Scope:
    """The scope of a write: the stated one, else the layer's.

    Raises:
        Forbidden: `scope_not_yours` for an id that is not the caller's own.
        InvalidInput: `scope_missing`.
    """
    if stated_scope is not None:
        _check_ownership(principal, stated_scope)
        return stated_scope

    profile = LAYERS[layer]
    ids: dict[str, str | None] = {}
    if "session" in profile.takes:
        ids["session"] = principal.session

    if "project" in profile.takes:
        ids["project"] = only_project(principal)

    if "user" in profile.takes:
        ids["user"] = principal.user

    if profile.needs and not ids[profile.needs]:
        raise InvalidInput(
            f"a write to the {layer.value} layer needs a {profile.needs} id; give scope= or bind "
            f"a principal that has one ({object_type.value})",
            code="scope_missing",
            layer=layer.value,
        )

    return Scope(**ids)


def only_project(principal: Principal) -> str | None:
    """The caller's only project, None when there is none or more than one."""
    # With two projects a guess would put a write where nobody looks for it.
    return next(iter(principal.projects)) if len(principal.projects) == 1 else None


def _check_ownership(principal: Principal, scope: Scope) -> None:
    if principal.privileged:
        return

    foreign = [
        name
        for name, value, owners in (
            ("user", scope.user, {principal.user}),
            ("project", scope.project, principal.projects),
            ("session", scope.session, {principal.session}),
        )
        if value is not None and value not in owners
    ]

    if foreign:
        raise Forbidden(
            f"the scope names a {foreign[0]} that is not this caller's; "
            "write to your own scope or ask an administrator",
            code="scope_not_yours",
            ids=foreign,
        )
