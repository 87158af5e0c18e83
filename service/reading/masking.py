"""Masking: personal data is shown to whom it is about, and to the roles that the policy names.

A masked object is there, with its condition, its times and its place in a timeline; what it says is
`[masked]`, and it is neither found nor ranked by what it says. Whoever wrote it in the own user
scope, the person it is about (whose `external_ids.user` is the caller) and the roles of
`policy.compile.show_personal_to` see it whole; who merely says that a person is they does not
(`store.port.vouched`). Clearance hides whole objects; this does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ...resolution.known import Lookup
from ...schema.claim import EMPTY_CONTENT, Version, is_personal, masked_for
from ...schema.policy import Policy
from ...schema.principal import Principal
from ...store.port.store import Reader
from ...store.port.vouched import NOBODY, OwnIds, own_ids_in

MASK: Final = "[masked]"


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
