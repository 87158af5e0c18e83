"""Equal claims of one slot: how many may stand against each other before nobody can choose.

Every member of a tie is told against every other one, in its receipt and by an edge that an
explanation follows; so the n-th equal claim costs n, and n of them n x n, under the lock that
all writers of the tenant wait for. Two or twenty such claims are a question to a person; hundreds
are a slot that should hold many values, or a feed without its times. They are refused with that
advice.

A replay is exempt: it is privileged, and must tell a history as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...schema.claim import Claim, Key, Row
from ...schema.errors import Conflict
from ...schema.limits import TIED_CLAIMS
from ...schema.write import Submission
from ..timeline.ledger import PlanningSlot
from .admission import AdmittedClaim
from .work import CommitWork, Result

_Saying = tuple[bool, str]
"""Whether a claim denies, and its value."""
_Tie = set[_Saying]
_Sayings = dict[tuple[PlanningSlot, Key], _Tie]
"""What is said in a slot by claims of one key."""


def refuse_crowded_ties(group: Sequence[Submission], work: CommitWork) -> dict[int, Result]:
    """The refusals of writes that would join a tie of more than `TIED_CLAIMS` members, by place.

    Asked when the slots' open rows are read and nothing is planned.
    """
    refusals: dict[int, Result] = {}
    sayings: _Sayings = {}
    for place, _, claims in work.admissions:
        if group[place].stated_tx is not None:
            continue
        additions: list[tuple[_Tie, _Saying]] = []
        for admission in claims:
            rows = work.ledger.slots.get(admission.planning, ())
            tie, saying = _tie_of(admission, rows, sayings), admission.assertion.claim.says
            if tie is None or saying in tie:
                continue
            tie.add(saying)
            additions.append((tie, saying))
            if len(tie) > TIED_CLAIMS:
                refusals[place] = _refusal(admission, len(tie) - 1)
                break

        # What is refused is not written, so that it counts against nobody behind it.
        for tie, saying in additions if place in refusals else ():
            tie.discard(saying)

    return refusals


def answers_beside(
    refusals: Mapping[int, Result],
    group: Sequence[Submission],
    commit_others: Callable[[Sequence[Submission]], Sequence[Result]],
) -> list[Result]:
    """The answers of a group of which some are refused, and the others committed without them."""
    accepted_group: list[Submission] = []
    for place, submission in enumerate(group):
        if place not in refusals:
            accepted_group.append(submission)

    answers = iter(commit_others(accepted_group))
    return [refusals.get(place) or next(answers) for place in range(len(group))]


def _tie_of(admission: AdmittedClaim, rows: Sequence[Row], sayings: _Sayings) -> _Tie | None:
    """What claims of one key say where this one is written; None for one that joins no tie."""
    claim = admission.assertion.claim
    if admission.slot.many or admission.assertion.quarantine or claim.op.withdraws:
        return None

    key = (admission.planning, claim.key)
    if key not in sayings:
        sayings[key] = _stored_sayings(rows, claim)
    return sayings[key]


def _stored_sayings(rows: Sequence[Row], claim: Claim) -> _Tie:
    # Most slots hold a row or two: no key of theirs is worked out.
    if len(rows) < TIED_CLAIMS // 2:
        return set()

    sayings_of_key: _Tie = set()
    for row in rows:
        if row.look.head and row.claim.key == claim.key:
            sayings_of_key.add(row.claim.says)
    return sayings_of_key


def _refusal(admission: AdmittedClaim, members: int) -> Conflict:
    slot = admission.slot.slot
    return Conflict(
        f"{members} claims about {slot!r} that begin at one time are equally strong already, and "
        f"{TIED_CLAIMS} are the most; settle their action (tenure actions), state when each "
        f"begins to hold, write `correct`, or define {slot!r} with cardinality many",
        code="tie_too_large",
        slot=slot,
        members=members,
    )
