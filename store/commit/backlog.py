"""Backpressure: a source that floods the reviews with doubtful names is held back.

Names tuned to fall between review and bind cost the people who decide, not the one who writes.
So a source, which is a writer with an origin, may leave a fixed number of cases waiting. From
there on its doubtful names are refused, with the number and what to do; names that bind, names
that are new and everybody else's doubts go on. A replay is exempt: it is privileged, and must
tell a history as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from ...schema.errors import Unavailable
from .admission import AdmittedClaim

Waiting = Callable[[str, str], int]
"""How many cases of an actor and an origin are stored and wait, as far as the limit counts."""


def check_backlog(
    waiting: Waiting,
    fresh: Iterable[AdmittedClaim],
    earlier: Iterable[AdmittedClaim],
    *,
    limit: int,
) -> None:
    """Refuse claims that would leave more than `limit` cases of one source waiting.

    `earlier` are the claims that the same transaction has admitted before.

    Raises:
        Unavailable: `review_backlog`.
    """
    new_cases = _cases_by_source(fresh)
    if not new_cases:
        return

    earlier_cases = _cases_by_source(earlier)

    for (actor, origin), count in sorted(new_cases.items()):
        waiting_cases = waiting(actor, origin) + earlier_cases[actor, origin]
        if waiting_cases + count > limit:
            raise Unavailable(
                f"{waiting_cases} doubtful names that {actor} wrote from {origin} wait for a "
                "steward; decide them (tenure review groups), state identifiers, or raise "
                f"policy.resolution.source_backlog above {limit}",
                code="review_backlog",
                origin=origin,
                waiting=waiting_cases,
            )


def _cases_by_source(claims: Iterable[AdmittedClaim]) -> Counter[tuple[str, str]]:
    cases: Counter[tuple[str, str]] = Counter()
    for claim in claims:
        if not claim.reviews:
            continue
        details = claim.assertion.details
        cases[details.actor, details.source_origin] += sum(case.blocking for case in claim.reviews)
    return +cases
