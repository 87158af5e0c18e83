"""What a store knows about mentions: one batched look-up, one value back.

Resolution asks for everything it needs at once (`Lookup`) and decides over the answer
(`Known`) without another word to the store, so that a decision is a pure function and a
store answers a whole group of writes in one round trip.

Only aliases and identifiers of scopes that the caller may see are ever returned, filtered before
any cut. Whether the write that taught one may be read is asked of the answer.
Checklist C-047, C-055.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from ..schema.claim import Permissions
from ..schema.entity import Alias, Entity, Identifier, Judgement
from ..schema.principal import Sight

NearTest = Callable[[Collection[str]], AbstractSet[str]]
"""Tells which of some surfaces are near a mention; all are shown at once."""


class FamilyName(NamedTuple):
    """A family name whose bearers a store counts."""

    key: str
    """The blocking key of the word."""
    ending: str
    """How the light exact key of a bearer's name ends, with the space before it."""
    limit: int
    """Bearers from which no more are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What to look up for a group of mentions."""

    identifiers: tuple[tuple[str, str], ...] = ()
    """(scheme, value) pairs, sorted."""
    norms: tuple[str, ...] = ()
    """Light exact keys of names and aliases, sorted."""
    entity_ids: tuple[str, ...] = ()
    """Ids that callers named themselves."""
    names_only: bool = False
    """Whether entities and clusters are enough: a store may then leave out who identifies them
    and how they were judged."""
    block_keys: tuple[tuple[str, int], ...] = ()
    """Blocking keys with their kind weight in thousandths; empty: no fuzzy candidates."""
    limit: int = 50
    """The most fuzzy candidates, by weight, then alias."""
    near: NearTest | None = None
    """Tells from their surfaces which fuzzy candidates are worth the rest of the look-up.

    Asked after the cut, so it never lets another candidate in; a norm stays when any of its
    surfaces is near.
    """
    family: FamilyName | None = None
    """Whose visible bearers are counted, where anybody proposed is near."""


class Teacher(NamedTuple):
    """Who stated an identifier."""

    actor: str
    vouches: bool
    """Whether the write may say of others who they are."""


class Restriction(NamedTuple):
    """Who of its scope may know what a write has taught."""

    permissions: Permissions
    """Of the write, today."""
    actor: str
    """Who wrote it, and knows it without being among its readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The answer, as of one transaction time."""

    identifiers: tuple[Identifier, ...] = ()
    """Open visible identifiers: those asked for, and all of the entities below."""
    aliases: tuple[Alias, ...] = ()
    """Open visible aliases with one of the norms, and those the blocking keys proposed."""
    weights: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """Blocking weight by (entity id, norm), for proposed aliases."""
    bearers: int = 0
    """Visible people of the family name that the look-up counts, as far as its limit."""
    entities: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    """Every raw entity that the rest mentions, with all members of its cluster."""
    judgements: tuple[Judgement, ...] = ()
    """Open judgements between these entities."""
    canonical: Mapping[str, str] = field(default_factory=dict[str, str])
    """Canonical id by raw id, only of clusters of two or more: every member, root included."""
    taught_levels: Mapping[str, int] = field(default_factory=dict[str, int])
    """Level of the writes that taught `aliases`, by object id; a quarantined one has 5."""
    name_levels: Mapping[str, int] = field(default_factory=dict[str, int])
    """Level of the names that `with_visible_names` put into `entities`, by raw id."""
    teachers: Mapping[str, Teacher] = field(default_factory=dict[str, Teacher])
    """Who stated the identifiers, by the object that did."""
    restrictions: Mapping[str, Restriction] = field(default_factory=dict[str, Restriction])
    """Of the writes that taught aliases or identifiers, by object id: of those alone that not
    everybody of their scope may read."""

    def shows(self, lesson: Alias | Identifier, sight: Sight) -> bool:
        """Whether a caller may know a name or an identifier: by its scope, and by its teacher."""
        restriction = self.restrictions.get(lesson.object_id)
        is_open = restriction is None or restriction.permissions.admits(sight)
        return is_open and lesson.scope_id in sight.scopes


def worth_it(proposals: Collection[tuple[str, str]], lookup: Lookup) -> frozenset[str]:
    """The norms that a look-up wants of proposed (surface, norm) pairs."""
    if lookup.near is None:
        return frozenset(norm for _, norm in proposals)

    near_surfaces = lookup.near({surface for surface, _ in proposals})
    return frozenset(norm for surface, norm in proposals if surface in near_surfaces)


def alias_order(alias: Alias) -> tuple[str, str, str, str, int, int]:
    """The place of an alias in `Known.aliases`: the same from every store."""
    return (
        alias.norm,
        alias.entity_id,
        alias.scope_id,
        alias.type,
        alias.ordinal,
        alias.valid_from,
    )


def identifier_order(identifier: Identifier) -> tuple[str, str, str, int, str, str]:
    """The place of an identifier in `Known.identifiers`: the same from every store."""
    return (
        identifier.entity_id,
        identifier.scheme,
        identifier.value,
        identifier.tx_start,
        identifier.scope_id,
        identifier.object_id,
    )


def merge_known(answers: Sequence[Known]) -> Known:
    """Several answers of one transaction time as one; weights and counts belong to each alone."""
    parts = [part for part in answers if part.entities or part.aliases or part.identifiers]
    if len(parts) == 1:
        return replace(parts[0], weights={}, bearers=0)

    # Keyed by themselves: an answer repeats what another one brought, and order must survive.
    mappings: dict[str, Any] = {}
    for name in ("entities", "canonical", "taught_levels", "teachers", "restrictions"):
        mappings[name] = dict(chain.from_iterable(getattr(part, name).items() for part in parts))
    return Known(
        identifiers=tuple(dict.fromkeys(row for part in parts for row in part.identifiers)),
        aliases=tuple(dict.fromkeys(row for part in parts for row in part.aliases)),
        judgements=tuple(
            {row.judgement_id: row for part in parts for row in part.judgements}.values()
        ),
        **mappings,
    )
