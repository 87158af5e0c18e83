"""Which cases a caller may know of, and how their candidates are called to it.

A case quotes the name that a write used and those it was compared with. It is there for whoever may
see that write; one that makes nobody wait also for whoever knows its entity by that name. A
candidate goes by a name that the caller may see, as in a receipt. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...resolution.names import visible_names
from ...resolution.register import Register
from ...schema.claim import Assertion
from ...schema.entity import SUGGESTION, Review
from ...schema.principal import Principal, Sight
from ...store.port.receipts import candidates_with_names
from ...store.port.store import Reader
from .review_queue import parts


def visible_cases(reader: Reader, cases: Iterable[Review], principal: Principal) -> list[Review]:
    """The cases that a caller may know of, in their order, as they may be told to it."""
    sight = principal.sight()
    cases_in_scope = [case for case in cases if case.scope_id in sight.scopes]

    visible: list[Review] = []
    for part in parts(cases_in_scope):
        assertions = reader.assertions([case.object_id for case in part])
        names = _names_of(reader, part, sight)
        for case in part:
            # What a write was is erased with it; a steward asks about two that he may see.
            assertion = assertions.get(case.object_id)
            is_named = case.reason == SUGGESTION and case.mention in names[case.entity_id]
            if assertion is None or is_visible(assertion, sight) or is_named:
                told_candidates = candidates_with_names(case.candidates, names)
                visible.append(replace(case, candidates=told_candidates))
    return visible


def is_visible(assertion: Assertion, sight: Sight) -> bool:
    """Whether a caller may see a claim, by its scope and its permissions of today."""
    permissions = assertion.permissions
    return assertion.details.scope.scope_id in sight.scopes and sight.may_see(
        classification=permissions.classification.rank,
        allow=permissions.allow,
        deny=permissions.deny,
    )


def _names_of(
    reader: Reader, cases: Sequence[Review], sight: Sight
) -> Mapping[str, tuple[str, ...]]:
    """The names that may be seen of the entities of some cases, by raw id."""
    ids: set[str] = set()
    for case in cases:
        ids.add(case.entity_id)
        ids.update([candidate.entity for candidate in case.candidates])

    last_us = reader.clock().last_us
    register = Register(reader.entities(sorted(ids), tx_us=last_us))
    rows = reader.name_rows(sorted(register.members_of(ids)), tx_us=last_us)
    names = visible_names(rows, register, sight)
    return {raw: names.get(register.root(raw), ()) for raw in ids}
