"""The write use-case: sanitise, resolve, reconcile, apply.

Sanitising happens here, on the caller's thread; resolution, reconciliation and the apply run
under the tenant's write lock in `store.commit`, shared with whoever writes at the same time.
Checklist: C-055.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...schema.claim import Assertion, Authorship, Claim, Version
from ...schema.errors import InvalidInput, NotFound, TenureError
from ...schema.interval import ALWAYS, INF_US
from ...schema.principal import OPERATE, visible_scopes
from ...schema.values import canonical_json
from ...schema.vocabulary import Outcome
from ...schema.write import Draft, Receipt, Write
from ...store.commit.admission import Submission
from ...store.commit.commit import commit
from ...store.port.store import Ask, Point, WriteTx
from ..backend.caller import Caller
from ..backend.ids import event_id, key_id
from .sanitize import sanitize
from .trust import References, WriteContext, recorded_authorship

_FAR = INF_US - 1


@dataclass(frozen=True, slots=True)
class Writer(Caller):
    """The write use-case of one caller."""

    def write(self, write: Write, *, dry_run: bool) -> Receipt:
        """Return the receipt of one write."""
        return self.write_many([write], dry_run=dry_run)[0]

    def write_for(self, write: Write, authorship: Authorship) -> Receipt:
        """The receipt of a write that repeats what another has said, and stays theirs."""
        (draft,) = self.drafts([write])
        return self.submit([_by(draft, authorship)])[0]

    def write_many(
        self, writes: Sequence[Write], *, dry_run: bool = False, ids: Sequence[str] = ()
    ) -> tuple[Receipt, ...]:
        """Return the receipts of writes that share one transaction and one stamp.

        Raises:
            TenureError: what the first write that cannot be taken raises; nothing is written.
        """
        self._check_size(len(writes))
        if not writes:
            return ()
        return self.submit(self.drafts(writes, ids), dry_run=dry_run)

    def replay(
        self, writes: Sequence[Write], *, recorded_us: int, events: Sequence[Mapping[str, Any]]
    ) -> tuple[Receipt, ...]:
        """Return the receipts of a replayed group: one stated stamp, ids from the events.

        Raises:
            InvalidInput: `tx_backwards`.
        """
        self.principal.require(OPERATE)
        self._check_size(len(writes))
        tenant = self._tenant
        ids = [
            event_id(tenant, recorded_us, number, canonical_json(event))
            for number, event in enumerate(events)
        ]
        drafts = [
            _by(draft, recorded_authorship(draft.details, event.get("writer")))
            for draft, event in zip(self.drafts(writes, ids), events, strict=True)
        ]
        return self.submit(drafts, stated_tx=recorded_us)

    def submit(
        self,
        drafts: Sequence[Draft],
        *,
        dry_run: bool = False,
        stated_tx: int | None = None,
    ) -> tuple[Receipt, ...]:
        """Return the receipts of drafts that share one transaction and one stamp."""
        submission = Submission(
            drafts=tuple(drafts),
            scopes=visible_scopes(self.principal) | {d.details.scope.scope_id for d in drafts},
            actor=self._actor,
            stated_tx=stated_tx,
            writer=self.principal,
        )
        tenant = self._tenant
        if dry_run:
            result = self.backend.alone(tenant, lambda tx: self._rehearse(tx, submission))
        else:
            result = self.backend.submit(tenant, submission)
        if isinstance(result, TenureError):
            raise result
        if not dry_run:
            self.embed(drafts, result)
        return tuple(result)

    def embed(self, drafts: Iterable[Draft], receipts: Iterable[Receipt]) -> None:
        """Have vectors made for what was stored; the caller does not wait for them."""
        embedding = self.backend.embedding
        if embedding is None:
            return
        contents = (
            (draft.object_id, draft.content)
            for draft, receipt in zip(drafts, receipts, strict=True)
            if receipt.outcome is not Outcome.REFUSED and not receipt.replayed
        )
        embedding.later(self._tenant, contents)

    def _rehearse(self, tx: WriteTx, submission: Submission) -> Any:
        receipts = commit(
            tx,
            [submission],
            now_us=self.backend.now_us(),
            policy=self.backend.policy,
            scorer=self.backend.scorer,
            dry_run=True,
        )
        return receipts[0]

    def _check_size(self, count: int) -> None:
        limit = self.backend.policy.write.max_batch
        if count > limit:
            raise InvalidInput(
                f"{count} writes in one transaction, the policy allows {limit}; split them, or "
                "raise policy.write.max_batch",
                code="too_large",
            )

    def object_id(self, write: Write) -> str:
        """Return the id the object of a write takes: that of its key, else a new one.

        Raises:
            InvalidInput: `bad_key`.
        """
        if write.idempotency_key is None:
            return self.backend.ids()
        if not 1 <= len(write.idempotency_key) <= 256:
            raise InvalidInput("an idempotency key has 1 to 256 characters", code="bad_key")
        return key_id(self._tenant, write.idempotency_key)

    def drafts(self, writes: Sequence[Write], ids: Sequence[str] = ()) -> list[Draft]:
        """Return the checked drafts of writes; what they refer to is read once.

        Raises:
            TenureError: what the first write that cannot be taken raises.
        """
        ids = ids or [self.object_id(write) for write in writes]
        tenant = self._tenant
        context = WriteContext(self.principal, self.backend.vocabulary(tenant), self.backend.policy)
        targets = self._known_references(writes)
        drafts: list[Draft] = []
        earlier_drafts: dict[str, Draft] = {}
        for write, object_id in zip(writes, ids, strict=True):
            draft = sanitize(
                write,
                context,
                object_id=object_id,
                references=self._refer(write, targets, earlier_drafts),
            )
            earlier_drafts[object_id] = draft
            drafts.append(draft)
        return drafts

    def _known_references(self, writes: Sequence[Write]) -> dict[str, Version]:
        """Return what the writes refer to, as the caller may see it, by object id."""
        object_ids = {str(i) for w in writes for i in (w.object_id, *w.derived_from) if i}
        if not object_ids:
            return {}
        with self._reading() as reader:
            ask = Ask(objects=tuple(sorted(object_ids)), heads=False, at_valid=False, at_tx=False)
            point = Point(_FAR, reader.clock().last_us)
            page = reader.versions(ask, sight=self.principal.sight(), point=point)
        return {v.row.claim.object_id: v for v in page.versions if v.visible and v.content}

    def _refer(
        self, write: Write, versions: Mapping[str, Version], earlier_drafts: Mapping[str, Draft]
    ) -> References:
        target = _assertion(versions, write.object_id) if write.object_id else None
        sources = [
            _of_draft(earlier_drafts[str(i)])
            if str(i) in earlier_drafts
            else _assertion(versions, str(i))
            for i in write.derived_from
        ]
        return References(target, tuple(sources))


def _assertion(versions: Mapping[str, Version], object_id: str) -> Assertion:
    version = versions.get(object_id)
    if version is None or version.content is None:
        raise NotFound(
            f"there is no object {object_id}; take the id from a receipt or a search",
            code="unknown_object",
            object_id=object_id,
        )
    return Assertion(
        claim=version.row.claim,
        details=version.details,
        content=version.content,
        permissions=version.permissions,
    )


def _by(draft: Draft, authorship: Authorship) -> Draft:
    return replace(draft, details=replace(draft.details, authorship=authorship))


def _of_draft(draft: Draft) -> Assertion:
    """Return a draft of the same call as a source of a later one."""
    return Assertion(
        claim=Claim(
            object_id=draft.object_id,
            slot_key="",
            op=draft.op,
            value_key=draft.value_key,
            interval=ALWAYS,
            since_us=ALWAYS.start_us,
            level=draft.level,
            source_authority=draft.source_authority,
            confidence=draft.confidence,
            tx=0,
            ordinal=0,
        ),
        details=draft.details,
        content=draft.content,
        permissions=draft.permissions,
    )
