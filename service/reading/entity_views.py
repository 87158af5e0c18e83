"""Entities as a caller may know them: under the names, identifiers and facts that may be seen.

What is asked for by id tells as little of a hidden entity as what is asked for by name: the same
error, whether it is not there or may not be known of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from ...resolution.known import Known
from ...resolution.names import NameRow, visible_names, with_visible_identifiers, with_visible_names
from ...resolution.register import Register
from ...schema.answers import EntityView
from ...schema.errors import NotFound
from ...schema.interval import INF_US
from ...schema.principal import Sight
from ...store.port.store import Ask, Point, Reader
from .context_objects import visible_rows


def entity_view(
    reader: Reader, entity_id: str, sight: Sight, tx_us: int, *, mention: str | None = None
) -> EntityView:
    """An entity of the register as known at a tx, under the strongest name that may be seen.

    Raises:
        NotFound: `unknown_entity`, also when neither a name nor a fact of it may be seen.
    """
    known, root = _known_entity(reader, entity_id, tx_us)
    (view,) = entity_views(reader, known, [root], sight, tx_us)
    members = Register(known).members(root)
    if not view.aliases and not _has_visible_facts(reader, members, sight, tx_us):
        # Whoever asked by a name must not learn its id from the refusal.
        raise unknown_entity(mention or entity_id)
    moved = mention is not None and mention in view.members and mention != view.entity_id
    return replace(view, redirected_from=mention) if moved else view


def described_entity(reader: Reader, entity_id: str, sight: Sight, tx_us: int) -> EntityView:
    """An entity for who handles its case, whatever of it may be seen.

    Raises:
        NotFound: `unknown_entity`.
    """
    known, root = _known_entity(reader, entity_id, tx_us)
    (view,) = entity_views(reader, known, [root], sight, tx_us)
    return view


def _known_entity(reader: Reader, entity_id: str, tx_us: int) -> tuple[Known, str]:
    """What is known of an entity, and its canonical id.

    Raises:
        NotFound: `unknown_entity`.
    """
    known = reader.entities([entity_id], tx_us=tx_us)
    root = known.canonical.get(entity_id, entity_id)
    if root not in known.entities:
        raise unknown_entity(entity_id)
    return known, root


def unknown_entity(entity_id: str) -> NotFound:
    """The error of an entity that is not there, or that the caller may not know of."""
    return NotFound(
        f"{entity_id!r} names no entity that you may see; list those with entities.list() or "
        "`tenure entities`",
        code="unknown_entity",
        entities=[],
    )


def _has_visible_facts(reader: Reader, members: Sequence[str], sight: Sight, tx_us: int) -> bool:
    point = Point(INF_US - 1, tx_us)
    ask = Ask(subjects=tuple(members), heads=False, at_valid=False)
    if visible_rows(reader.versions(ask, sight=sight, point=point).versions):
        return True
    # It may stand only as the value of others' facts.
    return bool(reader.around(members, sight=sight, point=point, limit=1).versions)


def entity_views(
    reader: Reader, known: Known, roots: Iterable[str], sight: Sight, tx_us: int
) -> tuple[EntityView, ...]:
    """Known entities by canonical id, under the names that may be seen.

    An external id says who somebody is, so that it is shown with a visible name only, and to whom
    may read a write that taught it.
    """
    rows = reader.name_rows(sorted(known.entities), tx_us=tx_us)
    visible = with_visible_identifiers(known, sight)
    register = Register(with_visible_names(visible, rows, sight))
    names = visible_names(rows, register, sight)
    visible_ids = visible_raw_ids(known, rows, sight)

    views: list[EntityView] = []
    for root in roots:
        entity = register.entity(root)
        assert entity is not None  # it is known
        views.append(
            EntityView(
                entity_id=root,
                name=entity.name,
                type=entity.type,
                state=entity.state.value,
                members=told_members(root, register, visible_ids),
                aliases=names.get(root, ()),
                external_ids=register.external_ids(root) if root in names else {},
                identifiers=_identifiers(root, register) if root in names else (),
            )
        )
    return tuple(views)


def visible_raw_ids(known: Known, rows: Iterable[NameRow], sight: Sight) -> frozenset[str]:
    """The raw entities that a caller may know of: by a name, or by the scope they were made in."""
    ids = {row.entity_id for row in rows if row.is_visible(sight)}
    for raw, entity in known.entities.items():
        if entity.scope_id in sight.scopes:
            ids.add(raw)
    return frozenset(ids)


def told_members(root: str, register: Register, visible_ids: Set[str]) -> tuple[str, ...]:
    """The raw ids of a cluster without those that others made where the caller sees nothing."""
    return tuple([raw for raw in register.members(root) if raw == root or raw in visible_ids])


def _identifiers(root: str, register: Register) -> tuple[tuple[str, str], ...]:
    identifiers: list[tuple[str, str]] = []
    for scheme, values in sorted(register.held(root).items()):
        for value in values:
            identifiers.append((scheme, value))
    return tuple(identifiers)


def names_by_id(
    reader: Reader, entity_ids: Iterable[str], sight: Sight, tx_us: int
) -> Mapping[str, str]:
    """The names of entities, as today's clusters have them, by the ids that were asked for.

    `tx_us` is when the names were known. An id that stands for no entity is left out.
    """
    # Clusters of today and names of then: what was merged since reads as one also in the past.
    ids = sorted(set(entity_ids))
    known = reader.entities(ids, tx_us=reader.clock().last_us)
    roots = {entity_id: known.canonical.get(entity_id, entity_id) for entity_id in ids}
    present_roots = sorted(set(roots.values()) & known.entities.keys())
    views = entity_views(reader, known, present_roots, sight, tx_us)
    names = {view.entity_id: view.name for view in views}

    # By the ids that were asked for, so that whoever holds a merged-away id finds its name.
    return {entity_id: names[root] for entity_id, root in roots.items() if root in names}
