"""Turn versions into the context objects that a caller sees, with masked values and stored tools.

The details of all versions of an answer are read together: canonical ids, names and identifiers of
their entities in the caller's scopes, last use, last confirmation, and the object that replaced
them. Nothing here names what the caller may not see.

A masked object keeps its condition, times and place in a timeline. Its value is `[masked]`, and it
is neither found nor ranked by it. These see it whole: its writer in the writer's own user scope,
the person it is about (whose `external_ids.user` is the caller; a caller's own claim to be that
person does not count, see `store.port.records`), and the roles of
`policy.compile.show_personal_to`. Clearance hides whole objects; masking does not. Checklist:
C-013, C-016, C-023, C-028.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, Final

from ...resolution.known import Known, Lookup
from ...resolution.names import NameRow, short_id, visible_names, with_visible_names
from ...resolution.register import Register, Rules
from ...schema.claim import EMPTY_CONTENT, Edge, Version, is_personal, masked_for
from ...schema.context_object import ContextObject
from ...schema.entity import Entity, EntityRef
from ...schema.interval import INF_US
from ...schema.policy import Policy
from ...schema.principal import EVERYONE_TAG, TENANT_SCOPE, Principal, Sight
from ...schema.records import short_repr
from ...schema.signing import is_signed, manifest_digest, manifest_fields
from ...schema.values import moment, stamp_time
from ...schema.vocabulary import EdgeKind, ObjectType, Status
from ...store.port.records import NOBODY, OwnIds, own_ids_in
from ...store.port.store import Ask, Point, Reader, Usage
from ...store.port.tables import USAGE
from ...store.timeline.state import plain_value
from ..backend.caller import Caller

WINS = frozenset({EdgeKind.SUPERSEDES, EdgeKind.OVERRIDES})
"""Edges from a claim to what it beat."""

MASK: Final = "[masked]"


class ObjectShaper:
    """Turns the versions of one answer into context objects."""

    def __init__(
        self,
        reader: Reader,
        versions: Iterable[Version],
        *,
        caller: Principal,
        point: Point,
        register: Register | None = None,
    ) -> None:
        """Read what stands next to the versions; `register` is what a look-up has found already."""
        self._tenant = caller.tenant
        access = caller.sight()
        rows = tuple(versions)
        object_ids = sorted({version.row.claim.object_id for version in rows})
        entity_ids = sorted(set(chain.from_iterable(map(entity_ends, rows))))

        # Whoever asked for a fact by a name has met its entity on the way. A value may be another.
        if register is None or not all(map(register.entity, entity_ids)):
            known = reader.entities(entity_ids, tx_us=point.tx_us) if entity_ids else Known()
            register = Register(known)
        self._register = register
        rules = Rules(frozenset(access.scopes), TENANT_SCOPE.scope_id, sight=access)
        self._shows_identifier = rules.identifier_test(register)

        # A note may be about nobody: what there is nothing to ask about is not asked.
        members = sorted(register.members_of(entity_ids))
        name_rows = reader.name_rows(members, tx_us=point.tx_us) if members else ()
        self._names = visible_names(name_rows, self._register, access)
        self._values = named_values(self._register, members, name_rows, access)

        edges = reader.edges(object_ids, tx_us=point.tx_us) if object_ids else ()
        self._confirmed = _confirmations(edges)
        self._winners = _visible_winners(reader, edges, access, point)
        self._usage = usage_of(reader, object_ids)

    def value(self, version: Version) -> Any:
        """What a version says, an entity under a name that may be seen."""
        return shown_value(version, self._values)

    def __call__(self, version: Version) -> ContextObject:
        """The version as a context object."""
        row, details, content = version.row, version.details, version.content or EMPTY_CONTENT
        object_id = row.claim.object_id

        # Dicts for sets that keep their order: subject before value, and names as they rank. An
        # identifier is as telling as a name: who may read no name gets no identifier.
        roots = dict.fromkeys(map(self._register.root, entity_ends(version)))
        aliases: dict[str, None] = {}
        external_ids: dict[str, str] = {}
        for root in roots:
            if root in self._names:
                aliases |= dict.fromkeys(self._names[root])
                external_ids |= self._register.external_ids(root, self._shows_identifier)

        allow = [] if EVERYONE_TAG in version.permissions.allow else list(version.permissions.allow)
        confirmed_us = version.last_confirmed_us or self._confirmed.get(object_id)
        usage = self._usage.get(object_id)

        return ContextObject(
            object_id=object_id,
            content=None if version.erased else content.text,
            normalized_claim=content.normalized_claim,
            object_type=details.object_type,
            canonical_entity_ids=tuple(roots),
            aliases=tuple(aliases),
            source_origin=details.source_origin,
            source_authority=row.claim.source_authority / 1000,
            confidence_score=row.claim.confidence / 1000,
            security_classification=version.permissions.classification,
            permission_scope={"allow_roles": allow, "deny_roles": list(version.permissions.deny)},
            tenant_id=self._tenant,
            user_id=details.scope.user,
            project_id=details.scope.project,
            session_id=details.scope.session,
            valid_from=moment(row.interval.start_us),
            valid_until=moment(row.interval.end_us),
            tx_start=stamp_time(row.tx_start),
            tx_end=moment(row.tx_end),
            last_confirmed=None if confirmed_us is None else moment(confirmed_us),
            last_used=None if usage is None else moment(usage.last_us),
            why_it_matters=content.why_it_matters,
            applicable_task_types=details.applicable_task_types,
            behavioral_implication=content.behavioral_implication,
            contradiction_status=Status.ERASED if version.erased else row.look.status,
            supersession_link=self._winners.get(object_id),
            decay_rule=None if details.decay_rule is None else asdict(details.decay_rule),
            update_path=details.update_path,
            retirement_rule=details.retirement_rule,
            authority_level=details.authority_level,
            state_layer=details.layer,
            sensitivity=details.sensitivity,
            slot=details.slot,
            value=self.value(version),
            external_ids=dict(sorted(external_ids.items())),
            derived_from=details.derived_from,
            status_reason=row.look.reason,
            source_kind=details.source_kind,
            precision=version.precision,
        )


def named_values(
    register: Register, raw_ids: Iterable[str], rows: Iterable[NameRow], sight: Sight
) -> Mapping[str, EntityRef]:
    """Entities as the values of an answer, by raw id, under the strongest name that may be seen."""
    roots = {raw_id: register.root(raw_id) for raw_id in raw_ids}
    entities: dict[str, Entity] = {}
    for root in roots.values():
        known_entity = register.entity(root)
        if known_entity is not None:
            entities[root] = known_entity
    visible_entities = with_visible_names(
        Known(entities=entities, canonical=roots), rows, sight
    ).entities
    refs: dict[str, EntityRef] = {}
    for raw_id, root in roots.items():
        if root in visible_entities:
            entity = visible_entities[root]
            refs[raw_id] = EntityRef(id=root, name=entity.name or short_id(root), type=entity.type)
    return refs


def values_as_said(
    reader: Reader, versions: Iterable[Version], sight: Sight
) -> Mapping[str, EntityRef]:
    """The entities that versions have as values, each by its own name, whatever was merged."""
    raw_ids = sorted({version.details.value_entity_id or "" for version in versions} - {""})
    if not raw_ids:
        return {}
    tx_us = reader.clock().last_us
    entities = replace(reader.entities(raw_ids, tx_us=tx_us), canonical={})
    rows = reader.name_rows(raw_ids, tx_us=tx_us)
    return named_values(Register(entities), raw_ids, rows, sight)


def shown_value(version: Version, refs: Mapping[str, EntityRef]) -> Any:
    """What a version says: plain Python, or the reference of an entity."""
    value = plain_value(version)
    return value if value is None else refs.get(version.details.value_entity_id or "", value)


def entity_ends(version: Version) -> Iterator[str]:
    """The raw ids of the entities that a version is about: its subject, then its value."""
    details = version.details
    if details.subject_id is not None:
        yield details.subject_id
    if details.value_entity_id is not None:
        yield details.value_entity_id


def visible_rows(versions: Iterable[Version]) -> list[Version]:
    """Those of the versions that the caller may see.

    A store hands out the others too, marked so: were they missing, the next one would decide a slot
    and tell what the hidden one does not say.
    """
    return [version for version in versions if version.visible]


def visible_object_ids(versions: Iterable[Version]) -> set[str]:
    """The ids of the objects of which the caller may see a row."""
    return {version.row.claim.object_id for version in versions if version.visible}


def usage_of(reader: Reader, object_ids: Sequence[str]) -> dict[str, Usage]:
    """How often compiles used each of these objects, by id."""
    return {usage.object_id: usage for usage in reader.find(USAGE, "object_id", object_ids)}


def _confirmations(edges: Sequence[Edge]) -> dict[str, int]:
    """When each object was last confirmed, or itself repeated what was already shown."""
    confirmation_times: dict[str, int] = {}
    for edge in edges:
        if edge.kind is EdgeKind.CONFIRMS:
            for object_id in (edge.src, edge.dst):
                confirmation_times[object_id] = max(
                    edge.tx, confirmation_times.get(object_id, edge.tx)
                )

    return confirmation_times


def _visible_winners(
    reader: Reader, edges: Sequence[Edge], access: Sight, point: Point
) -> dict[str, str]:
    """The object that last took the place of each, where the caller may see that one."""
    winners: dict[str, Edge] = {}
    for edge in edges:
        last = winners.get(edge.dst)
        # Edges of one transaction share a stamp: the id breaks the tie, in every store alike.
        if edge.kind in WINS and (last is None or (edge.tx, edge.src) > (last.tx, last.src)):
            winners[edge.dst] = edge

    if not winners:
        return {}

    objects = tuple(sorted({edge.src for edge in winners.values()}))
    ask = Ask(objects=objects, heads=False, at_valid=False, at_tx=False)
    visible = visible_object_ids(reader.versions(ask, sight=access, point=point).versions)

    return {loser: edge.src for loser, edge in winners.items() if edge.src in visible}


def closeness(version: Version, point: Point) -> tuple[bool, bool, bool, int]:
    """How near a row of an object is to what a point shows of it; the greatest represents it."""
    row = version.row
    believed = row.tx_start <= point.tx_us < row.tx_end
    return believed, point.valid_us in row.interval, row.look.head, row.vid


@dataclass(frozen=True, slots=True)
class Mask:
    """What one caller sees of personal data."""

    principal: Principal
    policy: Policy

    def hides(self, reader: Reader, version: Version) -> bool:
        """Whether what a version says is hidden from the caller."""
        roles = self.policy.compile.show_personal_to
        if not masked_for(self.principal, version.details, roles=roles):
            return False

        return not own_entities(reader, self.principal).covers(version.details, self.principal)

    def over(self, reader: Reader, versions: Iterable[Version]) -> tuple[Version, ...]:
        """The versions with what they say masked where it must be."""
        rows = tuple(versions)
        # Hardly any claim is personal, and whom the caller is costs a look-up.
        if not any(is_personal(row.details) for row in rows):
            return rows

        shown_rows: list[Version] = []
        for row in rows:
            shown_rows.append(_without_value(row) if self.hides(reader, row) else row)
        return tuple(shown_rows)

    def without(self, reader: Reader, versions: Iterable[Version]) -> list[Version]:
        """The versions that may be found by what they say."""
        rows: list[Version] = []
        for version in versions:
            # In this order: the second question may read the store, the first is a field.
            if not (is_personal(version.details) and self.hides(reader, version)):
                rows.append(version)
        return rows


def own_entities(reader: Reader, principal: Principal, *, tx_us: int | None = None) -> OwnIds:
    """The entities that are the caller: their identifier is its user.

    As it is known at a tx, or at the last stamp.
    """
    if principal.user is None:
        return NOBODY

    pair = "user", principal.user
    point_us = reader.clock().last_us if tx_us is None else tx_us
    sight = principal.sight()
    known = reader.known(Lookup(identifiers=(pair,)), scopes=sight.scopes, tx_us=point_us)
    return own_ids_in(known, pair, sight)


def _without_value(version: Version) -> Version:
    content = version.content or EMPTY_CONTENT
    return replace(
        version,
        content=replace(
            content,
            value_json=f'"{MASK}"',
            text=MASK,
            normalized_claim=MASK,
            behavioral_implication=None,
            enforcement=None,
            terms="",
        ),
        details=replace(version.details, value_entity_id=None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTool:
    """A tool as it is in the store."""

    __repr__ = short_repr

    name: str
    """Empty for a text that is no manifest."""
    version: str
    object_id: str
    scope: str
    """Where it is offered, such as `tenant` or `project=nova`."""
    task_types: tuple[str, ...]
    """The tasks it is offered for; without any it is offered only when it is pinned."""
    digest: str
    """SHA-256 of the manifest: equal for tools that are the same."""
    signed: bool
    """Whether this store vouches for it as it stands; other tools are data."""


@dataclass(frozen=True, slots=True)
class ToolReader(Caller):
    """The tools that one caller may see."""

    def tools(self) -> tuple[StoredTool, ...]:
        """The tools that stand now, by name, the newest of a name first."""
        with self._reading() as reader:
            keys = reader.keys()
            point = Point(self._backend.now_us(), INF_US - 1)
            # Tools come whatever the scopes are: those are for what a scope prefers and decided.
            page = reader.standing(sight=self.principal.sight(), point=point, scopes=())

        stamps: dict[str, int] = {}
        tools: list[StoredTool] = []
        for version in visible_rows(page.versions):
            if version.details.object_type is ObjectType.TOOL_SCHEMA:
                tool = _tool(version, keys)
                stamps[tool.object_id] = version.row.claim.tx
                tools.append(tool)

        return tuple(
            sorted(tools, key=lambda tool: (tool.name, -stamps[tool.object_id], tool.object_id))
        )


def _tool(version: Version, keys: tuple[bytes, ...]) -> StoredTool:
    text = version.content.text if version.content else ""
    object_id, scope_id = version.row.claim.object_id, version.details.scope.scope_id
    fields = manifest_fields(text)

    return StoredTool(
        name=str(fields.get("name", "")),
        version=str(fields.get("version", "")),
        object_id=object_id,
        scope=scope_id,
        task_types=version.details.applicable_task_types,
        digest=manifest_digest(text),
        signed=is_signed(text, keys, object_id=object_id, scope_id=scope_id),
    )
