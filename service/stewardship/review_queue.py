"""The queue of reviews: which cases stand in it, and which have been answered elsewhere.

Values and look-ups alone; nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...resolution.clusters import WAITING
from ...schema.entity import AUDIT, Review
from ...schema.errors import InvalidInput
from ...schema.vocabulary import ReviewState
from ...store.port.store import Reader
from .review_page import best_of

AT_ONCE = 500
"""Cases whose entities and facts are looked up together."""


def states_of(status: str) -> frozenset[str]:
    """The states that a status of a list means.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if status == "all":
        return frozenset(state.value for state in ReviewState)
    if status not in {state.value for state in ReviewState}:
        words = ", ".join(("all", *sorted(state.value for state in ReviewState)))
        raise InvalidInput(f"status {status!r}: known: {words}", code="unknown_vocabulary")

    state = ReviewState(status)
    states = {ReviewState.OPEN, ReviewState.UNDONE} if state is ReviewState.OPEN else {state}

    return frozenset(member_state.value for member_state in states)


def is_of_kind(case: Review, kind: str) -> bool:
    """Whether a list of this kind has a case: `blocking`, `all`, or the reason of the case."""
    if kind == "blocking":
        return case.blocking
    return kind in ("all", case.reason)


def parts(cases: Sequence[Review]) -> Iterator[Sequence[Review]]:
    """The cases in parts that are looked up together."""
    for first in range(0, len(cases), AT_ONCE):
        yield cases[first : first + AT_ONCE]


def answered_elsewhere(reader: Reader, cases: Sequence[Review]) -> set[str]:
    """The suggestions that have been answered elsewhere: their pair is judged."""
    suggestions = [c for c in cases if not (c.blocking or c.reason == AUDIT) and c.state in WAITING]
    answered_ids: set[str] = set()
    for part in parts(suggestions):
        ids: set[str] = set()
        for case in part:
            ids.add(case.entity_id)
            ids.update(candidate.entity for candidate in case.candidates)

        known = reader.entities(sorted(ids), tx_us=reader.clock().last_us)
        judged_pairs = {frozenset((j.left_id, j.right_id)) for j in known.judgements}
        for case in part:
            root = known.canonical.get(case.entity_id, case.entity_id)
            best = best_of(case)
            candidate_root = known.canonical.get(best.entity, best.entity) if best else ""
            if (
                root == candidate_root
                or frozenset((case.entity_id, candidate_root)) in judged_pairs
            ):
                answered_ids.add(case.review_id)

    return answered_ids
