"""Retries: which stored receipts answer a write that was made before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...schema.errors import Conflict, NotFound, TenureError
from ...schema.write import Receipt
from ..port.receipts import decode
from ..port.store import StoredReceipt, WriteTx
from .admission import Submission


def find_older_keys(
    tx: WriteTx,
    group: Sequence[Submission],
    receipts: Sequence[StoredReceipt],
    by_object: dict[str, StoredReceipt],
) -> None:
    """Find what a draft's key wrote before keys were kept as digests of their caller.

    A migration has made digests of such keys; those of an older export are there as they were.
    """
    by_key = {receipt.idempotency_key: receipt for receipt in receipts}
    for submission in group:
        for draft in submission.drafts:
            if draft.plain_key is None or draft.object_id in by_object:
                continue
            receipt = by_key.get(draft.idempotency_key) or by_key.get(draft.plain_key)
            if receipt is None:
                continue

            # The same key of another caller is another key, and none of that caller's business.
            claim = tx.assertions((receipt.object_id,)).get(receipt.object_id)
            if claim is None or claim.details.actor == submission.actor:
                by_object[draft.object_id] = receipt


def receipts_of(
    submission: Submission, receipts: Mapping[str, StoredReceipt]
) -> list[StoredReceipt]:
    """The stored receipts of a submission's drafts, by their object ids."""
    ids = (draft.object_id for draft in submission.drafts)
    return [receipts[object_id] for object_id in ids if object_id in receipts]


def retry_answer(
    submission: Submission, receipts: Sequence[StoredReceipt]
) -> tuple[Receipt, ...] | TenureError:
    """What a retry is answered: the first receipts, or why it is none."""
    prints = sorted(receipt.fingerprint for receipt in receipts)
    same = prints == sorted(draft.fingerprint for draft in submission.drafts)
    ids = sorted(receipt.object_id for receipt in receipts)
    if not all(receipt.body for receipt in receipts):
        return NotFound(
            "what this idempotency key wrote was erased; take a new key to write again",
            code="unknown_object",
            object_ids=ids,
        )

    if same:
        return tuple(decode(receipt.body, replayed=True) for receipt in receipts)
    return Conflict(
        "this idempotency key was used for another request; retry the first body, or take a "
        "new key",
        code="idempotency_mismatch",
        object_ids=ids,
    )
