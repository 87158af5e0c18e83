"""Un-merge: what a merge joined is apart again, and each slot has what it would have had alone.

It closes the rows of that merge, writes NON_MATCH across the cut and closes the aliases that the
merge taught. When the sides stay connected through other merges it refuses and names them. It is
idempotent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ...resolution.clusters import Clusters, canonical_id
from ...resolution.keys import is_id
from ...resolution.known import Known
from ...schema.entity import Judgement
from ...schema.errors import NotFound
from ...schema.interval import ALL_TIME
from ...schema.operation import UnmergeReceipt
from ...schema.vocabulary import JudgedBy, JudgementVerdict
from ..port.store import WriteTx
from .change import Mandate, OperationChange, begin, derived_id, judgement_of, kept_receipt
from .merge import replan_shared, still_connected, take_canonical
from .replan import ReplanCause
from .standing import restate

_OPERATION: Final = "unmerge"


def unmerge(
    tx: WriteTx, merge_id: str, *, mandate: Mandate, judged_by: JudgedBy = JudgedBy.HUMAN
) -> UnmergeReceipt:
    """Take a merge back; later merges stay, and a second call returns the first receipt.

    Raises:
        NotFound: `unknown_merge`.
        Conflict: `still_connected`, with the merges that hold the sides together.
    """
    clock = tx.lock()
    if not is_id(merge_id):
        raise _unknown_merge(merge_id)
    receipt = kept_receipt(tx, UnmergeReceipt, derived_id(merge_id, _OPERATION), withheld=False)
    if receipt:
        return receipt

    change = begin(clock, mandate, _OPERATION)
    receipt = unmerge_into(tx, change, merge_id, judged_by)
    tx.apply(change.batch())
    return receipt


def unmerge_into(
    tx: WriteTx,
    change: OperationChange,
    merge_id: str,
    judged_by: JudgedBy,
    *,
    apart: bool = True,
) -> UnmergeReceipt:
    """Take a merge back inside a change, whose decisions say who waits again.

    `apart` says of the two sides that they differ; without it nothing is said of them.
    """
    rows: list[Judgement] = []
    ends: set[str] = set()
    for row in tx.judgements(merge_id=merge_id):
        if row.verdict is JudgementVerdict.MATCH and row.tx_end == ALL_TIME.end_us:
            rows.append(row)
            ends |= {row.left_id, row.right_id}
    if not rows:
        raise _unknown_merge(merge_id)
    known = tx.entities(tuple(sorted(ends)), tx_us=change.clock.last_us)

    closed = sorted(row.judgement_id for row in rows)
    other_rows = [row for row in known.judgements if row.judgement_id not in closed]
    # Before anything is taken into the change: without a way to part them nothing is written.
    _check_apart(rows, other_rows)

    change.closed_judgements += closed
    for row in rows if apart else ():
        ids = row.left_id, row.right_id
        judgement = judgement_of(change, ids, JudgementVerdict.NON_MATCH, judged_by, _OPERATION)
        # The row belongs to the merge it takes back, so that every un-merge of it has one id.
        judgement_id = derived_id(merge_id, "/".join((_OPERATION, *ids)))
        change.judgements.append(replace(judgement, judgement_id=judgement_id, merge_id=merge_id))

    parts = _parts(Clusters(other_rows), known)
    canonical: dict[str, str] = {}
    for part, top in parts.items():
        canonical |= dict.fromkeys(part, top)
    take_canonical(change, known, canonical)
    restate(tx, change, known.entities, canonical)
    change.objects += sorted(ends)
    for alias in known.aliases:
        if alias.merge_id == merge_id:
            change.closed_aliases.append(alias)

    cause = ReplanCause("entity_unmerged", merge_id)
    slots = replan_shared(tx, change, canonical, cause, root_of=canonical.__getitem__)
    receipt = UnmergeReceipt(
        merge_id=merge_id,
        parts=tuple(sorted(map(_top_first, parts, parts.values()))),
        replanned_slots=slots,
        tx=change.at,
        actions=change.action_ids,
    )
    change.keep_receipt(derived_id(merge_id, _OPERATION), receipt)
    return receipt


def _unknown_merge(merge_id: str) -> NotFound:
    return NotFound(
        f"there is no merge {merge_id} that stands; see the entity's history for its merges "
        "(`tenure entities NAME`)",
        code="unknown_merge",
        merge_id=merge_id,
    )


def _check_apart(rows: Iterable[Judgement], other_rows: Sequence[Judgement]) -> None:
    """Refuse when other merges still join the ends of these rows, and name all of them."""
    obstacles: list[Judgement] = []
    for row in rows:
        judgements = list(other_rows)
        # A path at a time, each taken out before the next is looked for: whoever wants them apart
        # is told every merge to undo, and not one more with each try.
        while chain := Clusters(judgements).path(row.left_id, row.right_id):
            obstacles += chain
            judgements = [judgement for judgement in judgements if judgement not in chain]
    if obstacles:
        raise still_connected(obstacles)


def _parts(clusters: Clusters, known: Known) -> dict[tuple[str, ...], str]:
    """The parts of what was one cluster, each with its canonical id."""
    parts: dict[tuple[str, ...], str] = {}
    for part in sorted(set(map(clusters.of, known.entities))):
        parts[part] = canonical_id([known.entities[raw] for raw in part])
    return parts


def _top_first(part: tuple[str, ...], top: str) -> tuple[str, ...]:
    other_members = [raw for raw in part if raw != top]
    return (top, *other_members)
