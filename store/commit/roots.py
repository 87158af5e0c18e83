"""Roots: entity values as the clusters of a moment have them, for planning and reading.

A claim keeps the raw id of the entity that was said. Two claims name one value when these ids are
one entity at the moment of the plan or the view, so whatever plans or reads passes its rows and
claims through here; no other place compares the stored key of an entity value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ...resolution.known import Known
from ...schema.claim import Claim, Row, Version
from ...schema.values import ENTITY_KEY, canonical_json


class EntityReads(Protocol):
    """The one read that roots need."""

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters, as known at a tx."""
        ...


def no_change(_: str) -> None:
    """Nothing but what is stored says who is one."""


@dataclass(slots=True)
class Roots:
    """Canonical ids of entity values at a moment, read once each."""

    reads: EntityReads
    tx_us: int
    change: Callable[[str], str | None] = no_change
    """The canonical id that a change gives to a raw one; None for what it leaves."""
    _canonical: dict[str, str] = field(default_factory=dict[str, str])

    def root(self, raw: str) -> str:
        """The canonical id of a raw one that was read."""
        return self.change(raw) or self._canonical.get(raw, raw)

    def rows(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows whose claims name the canonical id of their value."""
        rows = tuple(rows)
        self.read(row.claim for row in rows)
        rooted_rows: list[Row] = []
        for row in rows:
            claim = self.claim(row.claim)
            rooted_rows.append(row if claim is row.claim else replace(row, claim=claim))
        return tuple(rooted_rows)

    def claims(self, claims: Iterable[Claim]) -> list[Claim]:
        """Claims that name the canonical id of their value."""
        claims = tuple(claims)
        self.read(claims)
        return list(map(self.claim, claims))

    def claim(self, claim: Claim) -> Claim:
        """A claim whose value was read, under the canonical id."""
        raw = raw_value(claim)
        if raw is None or (root := self.root(raw)) == raw:
            return claim
        return replace(claim, value_key=ENTITY_KEY + root)

    def versions(self, versions: Sequence[Version]) -> tuple[Version, ...]:
        """Versions that show the canonical id of their value."""
        self.read(version.row.claim for version in versions)
        return tuple(map(self._version, versions))

    def _version(self, version: Version) -> Version:
        claim = self.claim(version.row.claim)
        if claim is version.row.claim:
            return version
        content = version.content
        if content is not None:
            content = replace(content, value_json=canonical_json(claim.value_key[2:]))
        return replace(version, row=replace(version.row, claim=claim), content=content)

    def read(self, claims: Iterable[Claim]) -> None:
        """Read the clusters of the values of claims."""
        raw_ids = {raw for raw in map(raw_value, claims) if raw is not None}
        raw_ids -= self._canonical.keys()
        if raw_ids:
            canonical = self.reads.entities(sorted(raw_ids), tx_us=self.tx_us).canonical
            for raw in raw_ids:
                self._canonical[raw] = canonical.get(raw, raw)


def raw_value(claim: Claim) -> str | None:
    """The raw id of the entity that is a claim's value; None for any other value."""
    return claim.value_key[2:] if claim.value_key.startswith(ENTITY_KEY) else None
