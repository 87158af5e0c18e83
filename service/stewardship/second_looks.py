"""Second looks: a drawn share of what stewards decided, as it stood before anybody had decided it.

Whoever takes one must not be led by the first answer. A merge shows in names, facts and texts of
both sides, so that all is read as of the moment before the decision; later evidence and the
preview of a merge are left out for the same reason. Nothing here decides or writes.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from ...schema.entity import AUDIT, Review
from ...schema.errors import NotFound
from ...schema.principal import STEWARD
from ...schema.values import stamp_time
from ...schema.vocabulary import ReviewState
from ...store.commit.cases import is_sampled
from ..backend.caller import Caller
from ..reading.entity_views import described_entity
from ..reading.view import View, pinned, sight_of
from .review_page import ReviewPage, page_of, snippet
from .visible_cases import visible_cases

DECIDED = (ReviewState.ACCEPTED, ReviewState.REJECTED)


@dataclass(frozen=True, slots=True)
class UndecidedCase:
    """A decided case as it stood before its decision."""

    decision: Review
    """With its answer, which the page must not show."""
    record: ReviewPage
    """What a steward is shown, the case as if it were open."""
    view: View
    """What was believed then."""


class BlindCases(Caller):
    """The decided cases of a tenant that one caller may decide again, blindly."""

    __slots__ = ()

    def sample(self, done_ids: Container[str] = ()) -> tuple[Review, ...]:
        """The drawn cases but for those in `done_ids`: decisions of others first, then the oldest.

        `resolution.audit_share` is the share. What was decided without a person is drawn apart,
        as an audit.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(STEWARD)
        drawn_cases: list[Review] = []
        with self._reading() as reader:
            for state in DECIDED:
                for case in reader.reviews(state=state.value):
                    if case.review_id not in done_ids and self._is_drawn(case):
                        drawn_cases.append(case)
            cases = visible_cases(reader, drawn_cases, self.principal)

        return tuple(sorted(cases, key=self._order))

    def undecided(self, review_id: str) -> UndecidedCase:
        """A drawn case as it stood before it was decided.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_review`, also for a case that is not drawn.
        """
        self.principal.require(STEWARD)
        with self._reading() as reader:
            case = reader.review(review_id)
            cases = [] if case is None else visible_cases(reader, [case], self.principal)
            case = cases[0] if cases else None
            if case is None or case.decided_tx is None or not self._is_drawn(case):
                raise NotFound(
                    f"there is no second look at review {review_id}; the list of reviews has those "
                    "that wait",
                    code="unknown_review",
                )

            sight, tx_us = sight_of(self.principal, None), case.decided_tx - 1
            moment = stamp_time(tx_us)
            view = pinned(self._backend, self.principal, reader, moment, moment)
            entity = described_entity(reader, case.entity_id, sight, tx_us)
            candidates = [
                described_entity(reader, entry.entity, sight, tx_us) for entry in case.candidates
            ]
            snippets = self._snippets(view, case)

        open_case = replace(
            case,
            state=ReviewState.OPEN,
            decided_tx=None,
            decided_by=None,
            decided_entity=None,
            merge_id=None,
            note="",
        )
        bands = self._backend.policy.resolution.of_type(case.type)
        record = page_of(open_case, bands, entity, candidates, snippets)
        return UndecidedCase(case, record, view)

    def _is_drawn(self, case: Review) -> bool:
        share = self._backend.policy.resolution.audit_share
        is_by_person = case.reason != AUDIT and case.decided_by is not None
        return is_by_person and case.state in DECIDED and is_sampled(case.review_id, share)

    def _order(self, case: Review) -> tuple[bool, int, str]:
        # Agreement with oneself says less than that of two people.
        return case.decided_by == self._actor, case.decided_tx or 0, case.review_id

    def _snippets(self, view: View, case: Review) -> tuple[str, ...]:
        """The text that opened the case; those that came later may tell how it ended."""
        try:
            claim = view.object(case.object_id)
        except NotFound:
            # Erased since, or not for this steward: the records of both sides must do.
            return ()
        words = claim.content or claim.normalized_claim
        return (snippet(claim.source_origin, claim.tx_start, words, case.mention),) if words else ()
