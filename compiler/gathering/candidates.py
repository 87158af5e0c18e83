"""What the reads of a compile ask for, and have brought so far, each row once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...schema.claim import Claim, Version
from ...schema.policy import Policy
from ...schema.principal import AUDIT, TENANT_SCOPE, Principal, Sight
from ...schema.slots import STRUCTURE_SLOTS
from ...store.port.records import NOBODY, OwnIds
from ...store.port.store import Ask, Page, Point, Reader
from ..ir.context import CompileContext
from ..ir.records import Proposal, Via
from ..request.request import CompileRequest
from ..text.relevance import Background

RowKey = tuple[str, int]
"""(object id, vid)."""
_SLOT_SOURCE: Final = "slot"
"""The read that is about entities and slots which the request names."""


def told_withheld(principal: Principal, counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """What a caller is told of rows that it may not see, by the read that met them.

    A count of what a query met would tell whether a guessed word is in a hidden text. So who
    is no auditor learns at most that something of a named entity is hidden, and never how much.
    """
    if not principal.roles.isdisjoint(AUDIT.roles):
        return tuple(sorted(counts.items()))
    return ((_SLOT_SOURCE, 1),) if counts.get(_SLOT_SOURCE) else ()


@dataclass(slots=True)
class Candidates:
    """The rows that may enter an envelope, and what is said of their reads."""

    context: CompileContext
    reader: Reader
    sight: Sight
    rows: dict[RowKey, Proposal] = field(default_factory=dict[RowKey, Proposal])
    """In the order in which they were first met."""
    withheld: dict[str, int] = field(default_factory=dict[str, int])
    """Rows that may not be seen, by the read that met them."""
    cut: bool = False
    """Whether a limit left something out."""
    background: Background | None = None
    """The hits among which the texts were chosen, where they were more than are read."""
    reads: int = 0
    hubs: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    """(raw id, slot, facts with the entity as their value) where not all were read."""
    own_ids: OwnIds = NOBODY
    """Raw ids of the entity that is the caller."""
    known_ids: frozenset[str] = frozenset()
    """Raw ids of the entities that were read before the candidates, their clusters whole."""

    @property
    def point(self) -> Point:
        """The instant and the state of knowledge that is asked for."""
        return self.context.point

    def add_read(self, source: str, page: Page, via: Via, *, hop: int = 0) -> None:
        """Add what a read brought."""
        self.reads += 1
        self.cut |= page.cut
        if page.withheld:
            self.withheld[source] = self.withheld.get(source, 0) + page.withheld
        self.add(page.versions, via, hop=hop)

    def add(self, versions: Iterable[Version], via: Via, *, hop: int = 0) -> None:
        """Add rows; the ways to a row add up, the fewest hops count."""
        rows, flag = self.rows, via.value
        for version in versions:
            # How a document is built says nothing to a model.
            if version.details.slot in STRUCTURE_SLOTS:
                continue
            row = version.row
            key = row.claim.object_id, row.vid
            known = rows.get(key)
            if known is None:
                rows[key] = Proposal(version, flag, hop)
            else:
                rows[key] = Proposal(known.version, known.via | flag, min(known.hop, hop))

    def add_ask(self, source: str, ask: Ask | None, via: Via) -> None:
        """Add what an ask brings, if there is one."""
        if ask is not None:
            self.add_read(source, self.read(ask), via)

    def read(self, ask: Ask) -> Page:
        """Read an ask with the caller's access, at the compile's point."""
        return self.reader.versions(ask, sight=self.sight, point=self.point)

    def entity_ids(self) -> list[str]:
        """The raw ids that the rows are about or point at and nobody has read yet, sorted."""
        ids: set[str] = set()
        for proposal in self.rows.values():
            details = proposal.version.details
            ids.update(filter(None, (details.subject_id, details.value_entity_id)))
        return sorted(ids - self.known_ids)


def slots_ask(policy: Policy, subjects: Sequence[str]) -> Ask:
    """The ask for the slots of entities: all heads at the instant, and the newest other rows."""
    # A person has some slots, and says things for years.
    return Ask(
        subjects=tuple(subjects),
        texts=policy.compile.subject_texts,
        extras=policy.read.slot_extras,
        heads=False,
        at_valid=False,
    )


def pinned_ask(request: CompileRequest) -> Ask | None:
    """The ask for the objects that the request names itself."""
    return Ask(objects=request.pinned_ids) if request.pinned_ids else None


def own_scopes(sight: Sight) -> tuple[str, ...]:
    """The scopes in which something is for the caller alone."""
    return tuple(scope for scope in sight.scopes if scope != TENANT_SCOPE.scope_id)


def newest_rows(versions: Sequence[Version], ask: Ask) -> list[Version]:
    """The rows of slots, and those of the newest texts: a store may have given more."""
    claims: dict[str, Claim] = {}
    for version in versions:
        if version.details.slot is None:
            claims[version.row.claim.object_id] = version.row.claim
    newest_ids = sorted(claims, key=lambda i: (-claims[i].tx, -claims[i].ordinal))
    text_ids = set(newest_ids[: ask.texts])

    rows: list[Version] = []
    for version in versions:
        if version.details.slot is not None or version.row.claim.object_id in text_ids:
            rows.append(version)
    return rows
