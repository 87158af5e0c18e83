"""Retries: which stored receipts answer a write that was made before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...schema.errors import Conflict, NotFound, TenureError
from ...schema.write import Receipt, Submission
from ..port.receipts import decode
from ..port.store import StoredReceipt, WriteTx


def find_older_keys(
    tx: WriteTx,
    group: Sequence[Submission],
    receipts: Sequence[StoredReceipt],
    by_object: dict[str, StoredReceipt],
) -> None:
    """Find what a draft's key wrote before keys were kept as digests of their caller.

    A migration has made digests of such keys; those of an older export are there as they were.
    """
    by_key: dict[str | None, StoredReceipt] = {}
    for receipt in receipts:
        by_key[receipt.idempotency_key] = receipt

    for submission in group:
        for draft in submission.drafts:
            if draft.plain_key is None or draft.object_id in by_object:
                continue
            older_receipt = by_key.get(draft.idempotency_key) or by_key.get(draft.plain_key)
            if older_receipt is None:
                continue

            # The same key of another caller is another key, and none of that caller's business.
            object_id = older_receipt.object_id
            claim = tx.assertions((object_id,)).get(object_id)
            if claim is None or claim.details.actor == submission.actor:
                by_object[draft.object_id] = older_receipt


def receipts_of(
    submission: Submission, receipts: Mapping[str, StoredReceipt]
) -> list[StoredReceipt]:
    """The stored receipts of a submission's drafts, by their object ids."""
    answers: list[StoredReceipt] = []
    for draft in submission.drafts:
        if draft.object_id in receipts:
            answers.append(receipts[draft.object_id])
    return answers


def retry_answer(
    submission: Submission, receipts: Sequence[StoredReceipt]
) -> tuple[Receipt, ...] | TenureError:
    """What a retry is answered: the first receipts, or why it is none."""
    ids = sorted(receipt.object_id for receipt in receipts)
    for receipt in receipts:
        if not receipt.body:
            return NotFound(
                "what this idempotency key wrote was erased; take a new key to write again",
                code="unknown_object",
                object_ids=ids,
            )

    # The drafts of a submission share their answer, so that they are compared as a whole.
    stored_prints = sorted(receipt.fingerprint for receipt in receipts)
    if stored_prints == sorted(draft.fingerprint for draft in submission.drafts):
        return tuple(decode(receipt.body, replayed=True) for receipt in receipts)
    return Conflict(
        "this idempotency key was used for another request; retry the first body, or take a "
        "new key",
        code="idempotency_mismatch",
        object_ids=ids,
    )
