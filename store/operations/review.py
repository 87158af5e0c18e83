"""Reviews: is a pending entity one of its candidates? A person says, and may take it back.

Accept merges the pending entity into a candidate; reject makes it an entity of its own and
says so by NON_MATCH rows; unsure records that somebody looked. Undo takes back what was said,
without a time limit, and says nothing else: two who are no longer called one are not called
different, and an automatic bind that was rejected stands again. The entity waits again and the
case may be decided again. A decision on an older version is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import combinations

from ...resolution.clusters import WAITING, pair
from ...resolution.keys import alias_key
from ...resolution.known import Known
from ...schema.answers import ReviewReceipt
from ...schema.entity import AUDIT, DOUBTED, NAMESAKES, EntityCandidate, Judgement, Review
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...schema.interval import INF_US
from ...schema.policy import ResolutionPolicy
from ...schema.principal import TENANT_SCOPE
from ...schema.vocabulary import JudgedBy, JudgementVerdict, ReviewState
from ..port.store import WriteTx
from .change import Mandate, OperationChange, begin, judgement_of
from .erase import decided_case
from .merge import bind_again, merge_at, rejoin_into
from .naming import alias_of_case, teach_again
from .replan import restate
from .split import claim_groups, members_of, split, unmerge_into


class Remember(StrEnum):
    """What an accepted case teaches about its surface."""

    SCOPE = "scope"
    """It names the entity in its own scope from now on."""
    ALL = "all"
    """It names the entity in every scope."""
    NO = "no"
    """It is no alias for later mentions."""


def accept(
    tx: WriteTx,
    review_id: str,
    *,
    mandate: Mandate,
    policy: ResolutionPolicy,
    entity: str | None = None,
    remember: Remember = Remember.SCOPE,
    version: int | None = None,
    alone: bool = True,
) -> ReviewReceipt | Conflict:
    """Merge the pending entity into a candidate, by default the best one.

    `mandate.operation_id` becomes the merge id. Unless the judge may decide `alone`, a policy
    of two stewards takes the first word as a proposal.

    Raises:
        Forbidden: `second_approval_required` for a second word of the same person.
        NotFound: `unknown_review`, `unknown_entity`.
        Conflict: `stale_version`, `already_decided`, `cluster_too_large`; a standing NON_MATCH
            is returned, because its action is recorded.
        InvalidInput: `entity_required` when the case has no candidate, `same_entity` for the
            entity of the case itself, `incompatible_types` for a person and a project.
    """
    change = begin(tx.lock(), mandate, "review_accept")
    case = _case(tx, review_id, version)
    if policy.second_steward and not alone:
        proposal = _propose(tx, change, case, entity or _best(case))
        if proposal:
            return proposal

    if case.reason == NAMESAKES and entity is None and not case.candidates:
        known = tx.entities((case.entity_id,), tx_us=change.clock.last_us)
        return _decide(tx, change, case, known, ReviewState.ACCEPTED)

    return _accept(tx, change, case, entity or _best(case), policy=policy, remember=remember)


def open_case(tx: WriteTx, proposal: Review, *, mandate: Mandate) -> Review:
    """Record a case about two stored entities; one that waits about them is answered as it is.

    Nothing waits for it: both entities stay what they are until it is decided.

    Raises:
        NotFound: `unknown_entity`.
        Conflict: `already_decided` when the two are one, or their case has been decided.
    """
    change = begin(tx.lock(), mandate, "review_open")
    candidate = proposal.candidates[0].entity
    known = tx.entities((proposal.entity_id, candidate), tx_us=change.clock.last_us)
    for raw in (proposal.entity_id, candidate):
        if raw not in known.entities:
            raise NotFound(f"there is no entity {raw}; look it up", code="unknown_entity")

    # Two that are one now have nothing to be asked about, whichever of their ids was given.
    roots = {known.canonical.get(raw, raw) for raw in (proposal.entity_id, candidate)}
    earlier = tx.review(proposal.review_id)
    if len(roots) == 1 or (earlier is not None and earlier.state not in WAITING):
        raise Conflict(
            "these two have been decided about; undo that decision, or unmerge them, first",
            code="already_decided",
            entities=sorted(roots),
        )
    if earlier is not None:
        return earlier

    case = replace(proposal, opened_tx=change.stamp, note=mandate.reason)
    change.reviews.append(case)
    change.objects.append(case.entity_id)
    tx.apply(change.batch())
    return case


def _accept(
    tx: WriteTx,
    change: OperationChange,
    case: Review,
    target: str,
    *,
    policy: ResolutionPolicy,
    remember: Remember,
) -> ReviewReceipt | Conflict:
    if target == case.entity_id:
        raise InvalidInput(
            f"{target} is the entity that the case is about; name one of its candidates, or "
            "reject the case if it is nobody else",
            code="same_entity",
        )

    merge_id = change.mandate.operation_id
    review = _record(change, case, ReviewState.ACCEPTED, decided_entity=target, merge_id=merge_id)
    _lift_doubt(tx, change, case)
    _remember(tx, change, case, remember)

    # A case that waits again is decided over the judgements of its own earlier decision.
    receipt = merge_at(
        tx,
        change.clock,
        case.entity_id,
        target,
        mandate=change.mandate,
        policy=policy,
        judged_by=JudgedBy.HUMAN,
        judgement_ids=_row_ids(_judgements(tx, case)),
        base_change=change,
    )
    if isinstance(receipt, Conflict):
        return receipt
    if receipt.replayed:  # they were one already, so the merge has written nothing
        tx.apply(change.batch())
    return ReviewReceipt(
        review=review, tx=change.at, canonical_id=receipt.canonical_id, merge=receipt
    )


def _record(
    change: OperationChange, case: Review, state: ReviewState, **fields: str | None
) -> Review:
    """The next version of a case, as the change decides it with its reason."""
    review = decided_case(case, state, change, note=change.mandate.reason, **fields)
    change.reviews.append(review)
    return review


def _judgements(tx: WriteTx, case: Review) -> tuple[Judgement, ...]:
    """The rows that the last decision of a case wrote."""
    return tuple(tx.judgements(merge_id=case.merge_id)) if case.merge_id else ()


def _row_ids(rows: Iterable[Judgement]) -> list[str]:
    return [row.judgement_id for row in rows]


def _ids_of(case: Review) -> tuple[str, ...]:
    """The entity that waits, and its candidates, as the case names them."""
    ids = [case.entity_id]
    for candidate in case.candidates:
        ids.append(candidate.entity)
    return tuple(ids)


def _propose(
    tx: WriteTx, change: OperationChange, case: Review, target: str
) -> ReviewReceipt | None:
    """Record the first steward's word; None when another one has said the same before."""
    actor = change.mandate.actor
    if case.decided_entity == target and case.decided_by != actor:
        return None
    if case.decided_entity == target:
        raise Forbidden(
            f"{actor} has proposed this already; another steward must agree",
            code="second_approval_required",
        )

    review = _record(change, case, case.state, decided_entity=target)
    return _apply(tx, change, review, case.entity_id)


def _apply(tx: WriteTx, change: OperationChange, review: Review, root: str) -> ReviewReceipt:
    """Write a change that ends in a new version of its case."""
    change.objects.append(review.entity_id)
    tx.apply(change.batch())
    return ReviewReceipt(review=review, tx=change.at, canonical_id=root)


def reject(
    tx: WriteTx,
    review_id: str,
    *,
    mandate: Mandate,
    version: int | None = None,
    parts: Sequence[Sequence[str]] = (),
) -> ReviewReceipt:
    """Make the pending entity one of its own, different from every candidate.

    A case of namesakes is split: `parts` names the claims of each person, by default as the
    claims contradict each other. A rejected audit or doubt takes the automatic bind back.

    Raises:
        NotFound: `unknown_review`.
        Conflict: `stale_version`, `already_decided`, `still_connected`.
        InvalidInput: `not_a_member`.
    """
    change = begin(tx.lock(), mandate, "review_reject")
    case = _case(tx, review_id, version)
    if case.reason == NAMESAKES:
        known = tx.entities((case.entity_id,), tx_us=change.clock.last_us)
        if not parts and len(members_of(tx, case)) > 1:
            return _split_again(tx, change, case)
        split(tx, change, case, parts or claim_groups(tx, case))
        return _decide(tx, change, case, known, ReviewState.REJECTED)

    merge_id = _automatic_merge(tx, change, case)
    if merge_id:
        # The rows that part them belong to the automatic merge; an undo finds them by its id. The
        # decision comes before the un-merge, which states who waits.
        review = _record(change, case, ReviewState.REJECTED, decided_entity=None, merge_id=merge_id)
        unmerge_receipt = unmerge_into(tx, change, merge_id, JudgedBy.HUMAN)
        receipt = _apply(tx, change, review, case.entity_id)
        return replace(receipt, unmerge=unmerge_receipt)

    known = _judge(tx, change, case, JudgementVerdict.NON_MATCH)
    return _decide(tx, change, case, known, ReviewState.REJECTED)


def _split_again(tx: WriteTx, change: OperationChange, case: Review) -> ReviewReceipt:
    """Take the undoing of a split back: the people it had made are apart again."""
    assert case.merge_id is not None  # its rows were found
    people = members_of(tx, case)
    merge_id = change.mandate.operation_id
    # The decision comes before the un-merge, which states who waits.
    review = _record(change, case, ReviewState.REJECTED, decided_entity=None, merge_id=merge_id)
    unmerge_receipt = unmerge_into(tx, change, case.merge_id, JudgedBy.HUMAN)
    # The un-merge judges the rows it closes; a split judges every pair.
    change.judgements.clear()
    for ids in combinations(people, 2):
        change.judgements.append(
            judgement_of(change, ids, JudgementVerdict.NON_MATCH, JudgedBy.HUMAN, "split")
        )
    return replace(_apply(tx, change, review, case.entity_id), unmerge=unmerge_receipt)


def _automatic_merge(tx: WriteTx, change: OperationChange, case: Review) -> str | None:
    """The merge of an automatic bind that an audit looks at, while it stands."""
    if case.reason not in (AUDIT, DOUBTED):
        return None

    ends = set(_ids_of(case))
    known = tx.entities((case.entity_id,), tx_us=change.clock.last_us)
    for row in known.judgements:
        if row.verdict is JudgementVerdict.MATCH and {row.left_id, row.right_id} <= ends:
            return row.merge_id
    return None


def unsure(
    tx: WriteTx, review_id: str, *, mandate: Mandate, version: int | None = None
) -> ReviewReceipt:
    """Record that somebody looked and could not say; the entity stays pending.

    Raises:
        NotFound: `unknown_review`.
        Conflict: `stale_version`, `already_decided`.
    """
    change = begin(tx.lock(), mandate, "review_unsure")
    case = _case(tx, review_id, version)
    known = _judge(tx, change, case, JudgementVerdict.UNSURE)
    return _decide(tx, change, case, known, ReviewState.UNSURE)


def undo(
    tx: WriteTx, review_id: str, *, mandate: Mandate, version: int | None = None
) -> ReviewReceipt:
    """Take the last decision back, however long ago it was.

    Raises:
        NotFound: `unknown_review`.
        Conflict: `stale_version`, `not_decided`, `still_connected`.
    """
    change = begin(tx.lock(), mandate, "review_undo")
    case = _case(tx, review_id, version, waiting=False)
    if case.state in (ReviewState.OPEN, ReviewState.UNDONE):
        raise Conflict(
            f"review {review_id} has no decision to undo; it is {case.state.value}",
            code="not_decided",
            state=case.state.value,
        )
    known = tx.entities((case.entity_id,), tx_us=change.clock.last_us)
    if case.reason == NAMESAKES and case.decided_entity is None:
        return _wait_again(tx, change, case, known)

    # Before the entities are restated: who waits again follows from the decisions of the change.
    review = _record(change, case, ReviewState.UNDONE, decided_entity=None)
    standing = [row for row in _judgements(tx, case) if row.tx_end == INF_US]
    unmerge_receipt = None
    if any(row.verdict is JudgementVerdict.MATCH for row in standing):
        assert case.merge_id is not None  # it has rows
        unmerge_receipt = unmerge_into(tx, change, case.merge_id, JudgedBy.HUMAN, apart=False)
    elif case.state is ReviewState.REJECTED and (bind := _rejected_bind(tx, case)):
        merge = bind_again(tx, change, bind, _row_ids(standing))
        if merge:  # it has written the change
            return ReviewReceipt(
                review=review, tx=change.at, canonical_id=merge.canonical_id, merge=merge
            )
        change.closed_judgements += _row_ids(standing)
        restate(tx, change, known.entities, known.canonical)
    else:
        if case.state is not ReviewState.ACCEPTED:  # an accepted one was un-merged by hand
            change.closed_judgements += _row_ids(standing)
        restate(tx, change, known.entities, known.canonical)

    teach_again(tx, change, case, known)
    return replace(_apply(tx, change, review, case.entity_id), unmerge=unmerge_receipt)


def _rejected_bind(tx: WriteTx, case: Review) -> Judgement | None:
    """The automatic bind that rejecting an audit or a doubt took back."""
    for row in _judgements(tx, case):
        if row.verdict is JudgementVerdict.MATCH and case.reason in (AUDIT, DOUBTED):
            return row
    return None


def _wait_again(tx: WriteTx, change: OperationChange, case: Review, known: Known) -> ReviewReceipt:
    """Undo what was said of namesakes that contradict each other: split, one person, unsure."""
    merge = None
    if case.state is not ReviewState.ACCEPTED:
        people: set[str] = set()
        for row in _judgements(tx, case):
            if row.tx_end == INF_US:
                change.closed_judgements.append(row.judgement_id)
                people |= {row.left_id, row.right_id}
        other_people = sorted(people - {case.entity_id})
        if case.state is ReviewState.REJECTED and other_people:
            merge = rejoin_into(tx, change, (case.entity_id, *other_people))

    merge_id = merge.merge_id if merge else case.merge_id
    review = _record(change, case, ReviewState.UNDONE, merge_id=merge_id)
    if merge is None:
        restate(tx, change, known.entities, known.canonical)
    root = merge.canonical_id if merge else known.canonical.get(case.entity_id, case.entity_id)
    return replace(_apply(tx, change, review, root), merge=merge)


def _case(tx: WriteTx, review_id: str, version: int | None, *, waiting: bool = True) -> Review:
    case = tx.review(review_id)
    if case is None:
        raise NotFound(
            f"there is no review {review_id}; list the open ones with `tenure review` "
            "(reviews.list())",
            code="unknown_review",
        )
    if version is not None and version != case.version:
        raise Conflict(
            f"review {review_id} is at version {case.version}, not {version}; look again",
            code="stale_version",
            version=case.version,
        )
    if waiting and case.state not in WAITING:
        raise Conflict(
            f"review {review_id} was {case.state.value} by {case.decided_by}; undo that first",
            code="already_decided",
            state=case.state.value,
        )
    return case


def _best(case: Review) -> str:
    if not case.candidates:
        raise InvalidInput(
            f"review {case.review_id} has no candidate; say entity=", code="entity_required"
        )
    return min(case.candidates, key=lambda c: (-c.score, -c.log_odds, c.entity)).entity


def _decide(
    tx: WriteTx, change: OperationChange, case: Review, known: Known, state: ReviewState
) -> ReviewReceipt:
    # One person after all: the merge that an undone split had made is what holds them together.
    keeps_merge = case.reason == NAMESAKES and state is ReviewState.ACCEPTED
    merge_id = case.merge_id if keeps_merge else change.mandate.operation_id
    review = _record(change, case, state, decided_entity=None, merge_id=merge_id)
    restate(tx, change, known.entities, known.canonical)
    root = known.canonical.get(case.entity_id, case.entity_id)
    return _apply(tx, change, review, root)


def _judge(tx: WriteTx, change: OperationChange, case: Review, verdict: JudgementVerdict) -> Known:
    """Record the verdict between the pending entity and each candidate it is apart from."""
    _lift_doubt(tx, change, case)
    known = tx.entities(_ids_of(case), tx_us=change.clock.last_us)
    home = known.canonical.get(case.entity_id, case.entity_id)
    row_of = {(row.left_id, row.right_id): row for row in known.judgements}
    for candidate in case.candidates:
        root = known.canonical.get(candidate.entity, candidate.entity)
        if root == home or root not in known.entities:
            continue

        old = row_of.get(pair(case.entity_id, root))
        # What an undone decision of this case has left is said again, so that an undo finds it.
        # Doubt does not lift it.
        is_renewed = verdict is JudgementVerdict.NON_MATCH and old and old.merge_id == case.merge_id
        if old and old.verdict is JudgementVerdict.NON_MATCH and not is_renewed:
            continue
        if old:
            change.closed_judgements.append(old.judgement_id)
        change.judgements.append(_row(change, case, root, candidate, verdict))
    return known


def _lift_doubt(tx: WriteTx, change: OperationChange, case: Review) -> None:
    """Whoever could not say has now been answered, whichever candidate is meant."""
    for row in _judgements(tx, case):
        if row.verdict is JudgementVerdict.UNSURE and row.tx_end == INF_US:
            change.closed_judgements.append(row.judgement_id)


def _row(
    change: OperationChange,
    case: Review,
    root: str,
    candidate: EntityCandidate,
    verdict: JudgementVerdict,
) -> Judgement:
    row = judgement_of(change, (case.entity_id, root), verdict, JudgedBy.HUMAN, "review")
    return replace(
        row, score=candidate.score, log_odds=candidate.log_odds, evidence=candidate.evidence
    )


def _remember(tx: WriteTx, change: OperationChange, case: Review, remember: Remember) -> None:
    """Let the surface of an accepted case name its entity as far as the steward says."""
    norm = alias_key(case.mention)
    known = tx.entities((case.entity_id,), tx_us=change.clock.last_us)
    aliases = [a for a in known.aliases if a.entity_id == case.entity_id and a.norm == norm]
    if remember is Remember.NO:
        change.closed_aliases += aliases

    tenant_wide = TENANT_SCOPE.scope_id
    if remember is Remember.ALL and all(alias.scope_id != tenant_wide for alias in aliases):
        alias = alias_of_case(tx, change, case, tenant_wide)
        change.aliases.append(replace(alias, merge_id=change.mandate.operation_id))
