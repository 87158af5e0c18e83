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
from ...schema.entity import SUGGESTION, Review
from ...schema.principal import Principal, Sight
from ...store.port.receipts import candidates_with_names
from ...store.port.store import Reader
from .review_page import sides_of
from .review_queue import parts


def visible_cases(reader: Reader, cases: Iterable[Review], principal: Principal) -> list[Review]:
    """The cases that a caller may know of, in their order, as they may be told to it."""
    sight = principal.sight()
    cases_in_scope = [case for case in cases if case.scope_id in sight.scopes]

    visible: list[Review] = []
    for part in parts(cases_in_scope):
        assertions = reader.assertions([case.object_id for case in part])
        register = _register_of(reader, part)
        names = _names_of(reader, register, part, sight)
        for case in part:
            # What a write was is erased with it. A steward asks about two that he may see, and his
            # case has the write that made the younger: what it says of them are their names.
            assertion = assertions.get(case.object_id)
            entity = register.entity(case.entity_id)
            is_about_entity = entity is not None and entity.created_by == case.object_id
            is_suggested = case.reason == SUGGESTION and is_about_entity
            is_named = is_suggested and case.mention in names[case.entity_id]
            if assertion is None or assertion.is_visible(sight) or is_named:
                told_candidates = candidates_with_names(case.candidates, names)
                visible.append(replace(case, candidates=told_candidates))
    return visible


def renamed_case(reader: Reader, case: Review, principal: Principal) -> Review:
    """A case that its caller has just been told of, with candidates called as they may be told."""
    names = _names_of(reader, _register_of(reader, [case]), [case], principal.sight())
    return replace(case, candidates=candidates_with_names(case.candidates, names))


def _register_of(reader: Reader, cases: Sequence[Review]) -> Register:
    """What is known of the entities of some cases."""
    return Register(reader.entities(sorted(sides_of(cases)), tx_us=reader.clock().last_us))


def _names_of(
    reader: Reader, register: Register, cases: Sequence[Review], sight: Sight
) -> Mapping[str, tuple[str, ...]]:
    """The names that may be seen of the entities of some cases, by raw id."""
    ids = sides_of(cases)
    members = sorted(register.members_of(ids))
    rows = reader.name_rows(members, tx_us=reader.clock().last_us)
    names = visible_names(rows, register, sight)
    return {raw: names.get(register.root(raw), ()) for raw in ids}
