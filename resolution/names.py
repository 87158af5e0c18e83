"""Which name of an entity a caller is shown, and how far it may be trusted.

A name is a row: an entity, a surface, a scope, and the write that taught it. Its level and its
classification are those of that write, as they are today. A caller sees the strongest name among
the rows of its scopes that it may read, and where there is none the head of the entity's id. A
write that is quarantined shows its name to nobody; one that was taken back gives way to equals, and
one of level 4 to every stronger one. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..schema.claim import Permissions
from ..schema.entity import Alias
from ..schema.principal import Scope, Sight
from ..schema.quick_init import quick_init
from ..schema.vocabulary import Authority, EntityState
from .known import Known
from .register import UNTRUSTED_LEVEL, Register

SHOWN_LENGTH: Final = 120
"""Characters of a name that are shown; more are stored and bound."""
_ID_LENGTH: Final = 8


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class NameRow:
    """A name of a raw entity with what its teacher may say."""

    entity_id: str
    surface: str
    scope_id: str
    tx_start: int
    object_id: str
    """The write that taught it."""
    level: int
    """Of that write: 0 to 4, `STEWARD_LEVEL` without one, `UNTRUSTED_LEVEL` in quarantine."""
    is_live: bool
    """Whether that write still stands somewhere, today; True without one."""
    permissions: Permissions
    """Of that write, today."""

    def is_visible(self, sight: Sight) -> bool:
        """Whether a caller may be shown the name."""
        return (
            self.scope_id in sight.scopes
            and self.level < UNTRUSTED_LEVEL
            and self.permissions.admits(sight)
        )


def with_visible_names(known: Known, rows: Iterable[NameRow], sight: Sight) -> Known:
    """The entities under the names that a caller may see, with the level of each name.

    All members of a cluster have one name. An erased entity has none and stays as it is.
    """
    best: dict[str, NameRow] = {}
    ranks: dict[str, tuple[int, int, int, int, str, str]] = {}
    for row in rows:
        root = known.canonical.get(row.entity_id, row.entity_id)
        if not row.is_visible(sight) or root not in known.entities:
            continue

        # Of equals, what nobody took back stands first, then the name it was made with.
        specificity = Scope.parse(row.scope_id).specificity
        demerits = (not row.is_live) * 2 + (row.surface != known.entities[root].name)
        rank = (row.level, -specificity, demerits, row.tx_start, row.entity_id, row.surface)
        if root not in best or rank < ranks[root]:
            best[root], ranks[root] = row, rank

    entities = dict(known.entities)
    levels: dict[str, int] = {}
    for raw, entity in known.entities.items():
        if entity.state is EntityState.ERASED:
            continue
        best_row = best.get(known.canonical.get(raw, raw))
        name = short_id(raw) if best_row is None else shown_name(best_row.surface)
        if name != entity.name:
            entities[raw] = replace(entity, name=name)
        if best_row is not None:
            levels[raw] = best_row.level
    return replace(known, entities=entities, name_levels=levels)


def with_visible_aliases(known: Known, rows: Iterable[NameRow], sight: Sight) -> Known:
    """What is known without the names that a caller may not see, so that they decide nothing."""
    visible_keys: set[tuple[str, str, str]] = set()
    for row in rows:
        if row.is_visible(sight):
            visible_keys.add((row.entity_id, row.surface, row.scope_id))

    aliases: list[Alias] = []
    for alias in known.aliases:
        if (alias.entity_id, alias.surface, alias.scope_id) in visible_keys:
            aliases.append(alias)
    return replace(known, aliases=tuple(aliases))


def with_visible_identifiers(known: Known, sight: Sight) -> Known:
    """What is known without the identifiers that a caller may not know."""
    if not known.identifiers:
        return known
    identifiers = tuple([row for row in known.identifiers if known.shows(row, sight)])
    return replace(known, identifiers=identifiers)


def visible_names(
    rows: Iterable[NameRow], register: Register, sight: Sight
) -> dict[str, tuple[str, ...]]:
    """The names of each entity that a caller may see, by canonical id; an entity without is out.

    What pages and tools call an entity is shown only while nobody stronger names it.
    """
    names: dict[str, dict[str, None]] = {}
    trusted_roots: set[str] = set()
    # The trusted come first, so that whether a later name counts is known when it is met.
    for row in sorted(rows, key=lambda row: (row.level >= Authority.RETRIEVED, row.surface)):
        root = register.root(row.entity_id)
        if not row.is_visible(sight):
            continue
        if row.level < Authority.RETRIEVED:
            trusted_roots.add(root)
        elif root in trusted_roots:
            continue
        names.setdefault(root, {})[row.surface] = None

    return {root: tuple(surfaces) for root, surfaces in names.items()}


def shown_name(surface: str) -> str:
    r"""A name on one line, and no longer than is shown.

    >>> shown_name("Globex\tInc")
    'Globex Inc'
    """
    if not surface.isprintable():
        surface = "".join(c if c.isprintable() else " " for c in surface)
    line = " ".join(surface.split())
    return line if len(line) <= SHOWN_LENGTH else line[: SHOWN_LENGTH - 1] + "…"


def short_id(entity_id: str) -> str:
    """What stands for an entity whose names the caller may not see."""
    return entity_id[:_ID_LENGTH]
