"""Which name of an entity a caller is shown, how far it is trusted, and a cache of derived names.

A name row has an entity, a surface, a scope and the write that taught it, and takes its level and
classification from that write as they are today. A caller sees the strongest name among the rows of
its scopes that it may read, or else the head of the entity's id. A quarantined write shows its name
to no caller. A name of a retracted write ranks below its equals, one of level 4 below all others.

`NameMemory` is bounded in bytes and has two generations: names that were not read during the
younger one leave with the older. A bound on entries alone would fill with unused names and let a
process grow for hours. A generation ends after a count of look-ups or bytes, never by a clock.
Threads may share it: each step is one dictionary operation, and a lost race only costs a second
look-up. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Final, TypeVar, TypeVarTuple, cast

from ..schema.claim import Permissions
from ..schema.principal import Scope, Sight
from ..schema.vocabulary import Authority, EntityState
from .known import Known
from .register import UNTRUSTED_LEVEL, Register

SHOWN_LENGTH: Final = 120
"""Characters of a name that are shown; more are stored and bound."""
_ID_LENGTH: Final = 8

_NOTHING: Final = object()

R = TypeVar("R")
Key = TypeVarTuple("Key")


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
    is_first: bool
    """Whether the entity was made with this name."""

    def rank(self, is_own: bool) -> tuple[int, int, int, int, str, str]:
        """The place among the names of an entity, the best first; its own goes before equals."""
        # Among equals: a name that nobody took back, then the one the entity was made with.
        demerits = (not self.is_live) * 2 + (not is_own)
        specificity = Scope.parse(self.scope_id).specificity
        return self.level, -specificity, demerits, self.tx_start, self.entity_id, self.surface

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

        rank = row.rank(row.surface == known.entities[root].name)
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


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Entities under the names that a writer may see, for sentences that others read."""

    entity_ids: frozenset[str] = frozenset()
    rows: tuple[NameRow, ...] = ()
    sight: Sight | None = None
    _names_by_reader: dict[tuple[Scope, Permissions], Mapping[str, str]] = field(
        default_factory=dict[tuple[Scope, Permissions], Mapping[str, str]]
    )
    """What was worked out before: a batch writes many objects for the same readers."""

    def names_for(self, scope: Scope, permissions: Permissions) -> Mapping[str, str]:
        """Names by raw id, of those that every reader of such an object may see, too."""
        if self.sight is None:
            return {}
        if (scope, permissions) in self._names_by_reader:
            return self._names_by_reader[scope, permissions]

        # Each member by its own name: a sentence must stay right when a merge is undone.
        names = {raw: short_id(raw) for raw in self.entity_ids}
        for row in sorted(self.rows, key=lambda row: row.rank(row.is_first), reverse=True):
            is_wide = scope.is_within(Scope.parse(row.scope_id))
            if is_wide and permissions.is_within(row.permissions) and row.is_visible(self.sight):
                names[row.entity_id] = shown_name(row.surface)
        return self._names_by_reader.setdefault((scope, permissions), names)


def with_visible_aliases(known: Known, rows: Iterable[NameRow], sight: Sight) -> Known:
    """What is known without the names that a caller may not see, so that they decide nothing."""
    visible_keys = {
        (row.entity_id, row.surface, row.scope_id) for row in rows if row.is_visible(sight)
    }

    aliases = tuple(
        alias
        for alias in known.aliases
        if (alias.entity_id, alias.surface, alias.scope_id) in visible_keys
    )
    return replace(known, aliases=aliases)


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
    """What represents an entity whose names the caller may not see."""
    return entity_id[:_ID_LENGTH]


NAMES_KIB: Final = 65_536
"""Memory for what is known of names, in both generations together."""
LOOKUPS: Final = 16_384
"""Look-ups of a generation: a name that comes up once in so many is never worked out again."""


class NameMemory:
    """The generations of all functions that remember names."""

    __slots__ = ("_half_bytes", "_lookups", "_shelves", "lookups", "young_bytes")

    def __init__(self, kib: int = NAMES_KIB, lookups: int = LOOKUPS) -> None:
        self._half_bytes = kib * 1024 // 2
        self._lookups = lookups
        self._shelves: list[_Shelf] = []
        self.lookups = 0
        """Asked for in this generation."""
        self.young_bytes = 0
        """What the younger generation takes."""

    def shelf(self, entry_bytes: int) -> _Shelf:
        """A place for the answers of one function, whose entries take so many bytes."""
        shelf = _Shelf(entry_bytes)
        self._shelves.append(shelf)
        return shelf

    def bound(self, kib: int) -> None:
        """Take at most so much memory from the next answer on."""
        self._half_bytes = kib * 1024 // 2

    @property
    def used_bytes(self) -> int:
        """What the answers of both generations take."""
        return sum(
            shelf.entry_bytes * (len(shelf.young) + len(shelf.old)) for shelf in self._shelves
        )

    def entries(self) -> int:
        """How many answers are remembered; one in both generations counts twice."""
        return sum(len(shelf.young) + len(shelf.old) for shelf in self._shelves)

    def make_room(self, entry_bytes: int) -> None:
        """Begin a generation where this one has had its look-ups, or an entry has no room."""
        is_full = self.young_bytes + entry_bytes > self._half_bytes
        if is_full or self.lookups >= self._lookups:
            self.lookups = self.young_bytes = 0
            for shelf in self._shelves:
                shelf.old, shelf.young = shelf.young, {}
        self.young_bytes += entry_bytes


class _Shelf:
    """The answers of one function, by its arguments."""

    __slots__ = ("entry_bytes", "old", "young")

    def __init__(self, entry_bytes: int) -> None:
        self.entry_bytes = entry_bytes
        self.young: dict[object, object] = {}
        self.old: dict[object, object] = {}


MEMORY: Final = NameMemory()
"""That of the process."""


def name_cache(
    entry_bytes: int, memory: NameMemory = MEMORY
) -> Callable[[Callable[[*Key], R]], Callable[[*Key], R]]:
    """Let a function of names remember its answers; one of them takes so many bytes, as a rule.

    >>> @name_cache(100, NameMemory())
    ... def initial(name: str) -> str:
    ...     return name[:1]
    >>> initial("Acme"), initial("Acme")
    ('A', 'A')
    """

    def remembering(function: Callable[[*Key], R]) -> Callable[[*Key], R]:
        shelf = memory.shelf(entry_bytes)

        @wraps(function)
        def answer(*key: *Key) -> R:
            memory.lookups += 1
            value = shelf.young.get(key, _NOTHING)
            if value is not _NOTHING:
                return cast(R, value)

            value = shelf.old.get(key, _NOTHING)
            if value is _NOTHING:
                value = function(*key)
            memory.make_room(shelf.entry_bytes)
            shelf.young[key] = value
            return cast(R, value)

        return answer

    return remembering
