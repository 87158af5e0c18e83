"""A relation between two who are to be merged: told by name before it is lost.

Merged, a person would be their own manager. So what a steward may see of such a relation refuses
the merge like a standing judgement, and its action merges all the same. What the steward may not
see does not count: a refusal would tell it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...resolution.clusters import WAITING, blocking, non_matches_between
from ...resolution.names import short_id, visible_names
from ...resolution.register import Register
from ...schema.claim import Assertion, masked_for
from ...schema.entity import Review
from ...schema.errors import Conflict
from ...schema.vocabulary import JudgedBy
from ...store.operations.change import Mandate
from ...store.operations.merge import ask_about_relation, members_of_root, relations_between
from ...store.operations.replan import check_types
from ...store.port.store import WriteTx
from ..backend.caller import Caller
from .review_page import best_of

_MOST_NAMED = 3


class RelationCheck(Caller):
    """What relates entities, as one steward may know of it."""

    __slots__ = ()

    def refusal(self, tx: WriteTx, a: str, b: str, mandate: Mandate) -> Conflict | None:
        """Why two are not simply made one, with its action recorded; None where nothing relates.

        Raises:
            InvalidInput: `incompatible_types`.
        """
        clock = tx.lock()
        known = tx.entities((a, b), tx_us=clock.last_us)
        # Nobody is there, they are one already, or somebody said that they differ: not for us.
        if not {a, b} <= known.entities.keys():
            return None
        ids = known.canonical.get(a, a), known.canonical.get(b, b)
        if ids[0] == ids[1]:
            return None
        sides = members_of_root(known, ids[0]), members_of_root(known, ids[1])
        if blocking(non_matches_between(known.judgements, *sides), JudgedBy.HUMAN):
            return None
        check_types(known.entities[sides[0][0]], known.entities[sides[1][0]])

        now_us = max(mandate.now_us, clock.last_us)
        relations = relations_between(tx, sides, since_us=now_us, counts=self._counts)
        if not relations:
            return None

        names = self._names(tx, (*sides[0], *sides[1]), clock.last_us)
        ask_about_relation(tx, ids, relations, mandate=mandate)
        return _refusal(relations, names)

    def refusal_of_case(
        self, tx: WriteTx, case: Review | None, entity: str | None, mandate: Mandate
    ) -> Conflict | None:
        """The same of the entity of a case that waits and a candidate, by default the best one."""
        if case is None or case.state not in WAITING:
            return None
        best = best_of(case)
        target = entity or (best.entity if best else None)
        if target is None or self._is_proposal(case, target):
            return None
        return self.refusal(tx, case.entity_id, target, mandate)

    def _is_proposal(self, case: Review, target: str) -> bool:
        """Whether the word would be the first of two, so that nothing is merged by it."""
        needs_second = self._backend.policy.resolution.second_steward
        is_alone = "owner" in self.principal.roles
        return needs_second and not is_alone and case.decided_entity != target

    def _counts(self, claim: Assertion) -> bool:
        roles = self._backend.policy.compile.show_personal_to
        is_masked = masked_for(self.principal, claim.details, roles=roles)
        return claim.is_visible(self.principal.sight()) and not is_masked

    def _names(self, tx: WriteTx, members: Sequence[str], tx_us: int) -> Mapping[str, str]:
        """What the steward calls each raw entity."""
        register = Register(tx.entities(members, tx_us=tx_us))
        rows = tx.name_rows(members, tx_us=tx_us)
        names = visible_names(rows, register, self.principal.sight())
        return {
            raw: next(iter(names.get(register.root(raw), ())), short_id(raw)) for raw in members
        }


def _refusal(relations: Sequence[Assertion], names: Mapping[str, str]) -> Conflict:
    sentences: list[str] = []
    for relation in relations[:_MOST_NAMED]:
        details = relation.details
        subject = names.get(details.subject_id or "", "")
        value = names.get(details.value_entity_id or "", "")
        slot = (details.slot or "").replace("_", " ")
        sentences.append(f"{value} is the {slot} of {subject} ({relation.claim.object_id})")

    return Conflict(
        f"{'; '.join(sentences)}: no entity has this relation to itself. If the two are one, "
        "accept its merge_conflict action (`tenure actions list`), or retract what is wrong",
        code="related_entities",
        objects=tuple(relation.claim.object_id for relation in relations),
    )
