"""Backpressure: a source that floods the reviews with doubtful names is held back.

Names tuned to fall between review and bind cost the people who decide, not the one who writes.
So a source, which is a writer with an origin, may leave a fixed number of cases waiting. From
there on its doubtful names are refused, with the number and what to do; names that bind, names
that are new and everybody else's doubts go on. A replay is exempt: it is privileged, and must
tell a history as it was.

Source: abuse case 24 (quotas, grouping by source, backpressure); resolution 9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from ...schema.errors import Unavailable
from .admission import Admitted

Waiting = Callable[[str, str], int]
"""How many cases of an actor and an origin are stored and wait, as far as the limit counts."""


def check_backlog(
    waiting: Waiting, fresh: Iterable[Admitted], earlier: Iterable[Admitted], *, limit: int
) -> None:
    """Refuse claims that would leave more than `limit` cases of one source waiting.

    `earlier` are the claims that the same transaction has admitted before.

    Raises:
        Unavailable: `review_backlog`.
    """
    asked = _opened(fresh)
    if not asked:
        return
    beside = _opened(earlier)
    for (actor, origin), more in sorted(asked.items()):
        held = waiting(actor, origin) + beside[actor, origin]
        if held + more > limit:
            raise Unavailable(
                f"{held} doubtful names that {actor} wrote from {origin} wait for a steward; "
                "decide them (tenure review groups), state identifiers, or raise "
                f"policy.resolution.source_backlog above {limit}",
                code="review_backlog",
                origin=origin,
                waiting=held,
            )


def _opened(claims: Iterable[Admitted]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for one in claims:
        details = one.assertion.details
        found[details.actor, details.source_origin] += sum(case.blocking for case in one.reviews)
    return +found
