"""From versions to the context objects that a caller sees.

What stands beside a version is read once for all versions of an answer: the canonical ids, the
names and identifiers of its entities in the caller's scopes, when it was last used and last
confirmed, and which object took its place. Nothing here names what the caller may not see.
Checklist: C-013, C-016, C-023, C-028.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain

from ...resolution.known import Known
from ...resolution.names import visible_names
from ...resolution.register import Register, Rules
from ...schema.claim import EMPTY_CONTENT, Edge, Version
from ...schema.context_object import ContextObject
from ...schema.layers import DecayRule
from ...schema.principal import EVERYONE_TAG, TENANT_SCOPE, Principal, Sight
from ...schema.values import moment, stamp_time
from ...schema.vocabulary import EdgeKind
from ...store.port.store import Ask, Point, Reader, Usage

_WINS = frozenset({EdgeKind.SUPERSEDES, EdgeKind.OVERRIDES})


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
        """Read what stands beside the versions; `register` is what a look-up has found already."""
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

        edges = reader.edges(object_ids, tx_us=point.tx_us) if object_ids else ()
        self._confirmed = _confirmations(edges)
        self._winners = _visible_winners(reader, edges, access, point)
        self._usage: Mapping[str, Usage] = reader.usage(object_ids) if object_ids else {}

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
            content=content.text,
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
            contradiction_status=row.look.status,
            supersession_link=self._winners.get(object_id),
            decay_rule=_fields_of(details.decay_rule),
            update_path=details.update_path,
            retirement_rule=details.retirement_rule,
            authority_level=details.authority_level,
            state_layer=details.layer,
            sensitivity=details.sensitivity,
            slot=details.slot,
            value=json.loads(content.value_json),
            external_ids=dict(sorted(external_ids.items())),
            derived_from=details.derived_from,
            status_reason=row.look.reason,
            source_kind=details.source_kind,
        )


def _fields_of(rule: DecayRule | None) -> dict[str, float] | None:
    return None if rule is None else asdict(rule)


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
        if edge.kind in _WINS and (last is None or (edge.tx, edge.src) > (last.tx, last.src)):
            winners[edge.dst] = edge

    if not winners:
        return {}

    objects = tuple(sorted({edge.src for edge in winners.values()}))
    ask = Ask(objects=objects, heads=False, at_valid=False, at_tx=False)
    visible = visible_object_ids(reader.versions(ask, sight=access, point=point).versions)

    return {loser: edge.src for loser, edge in winners.items() if edge.src in visible}


def closeness(version: Version, point: Point) -> tuple[bool, bool, bool, int]:
    """How near a row of an object is to what a point shows of it; the greatest stands for it."""
    row = version.row
    believed = row.tx_start <= point.tx_us < row.tx_end
    return believed, point.valid_us in row.interval, row.look.head, row.vid
