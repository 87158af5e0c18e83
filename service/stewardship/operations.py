"""Privileged operations at the edge: erase, reclassify, sweep, close a scope.

Each checks its privilege first, then runs alone in one transaction with its own stamp; an
operation id makes a retry return the first receipt. After an erasure the store is asked to
scrub what the file may still hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...schema.claim import Permissions
from ...schema.errors import InvalidInput, NotFound
from ...schema.operation import ErasureReceipt, ReclassifyReceipt, SweepReceipt
from ...schema.principal import ERASE, EVERYONE, OPERATE
from ...schema.vocabulary import Classification, parse
from ...store.operations.change import Mandate
from ...store.operations.erase import erase
from ...store.operations.reclassify import reclassify
from ...store.operations.sweep import SweepRules, close_scope, sweep
from ...store.port.store import WriteTx
from ..artifacts.artifacts import Artifacts
from ..backend.caller import Caller, unknown_object
from ..reading.view import Who, find


@dataclass(frozen=True, slots=True)
class Steward(Caller):
    """The privileged operations of one caller."""

    def erase(self, object_id: str | None, entity: Who | None, reason: str) -> ErasureReceipt:
        """Empty an object, or an entity with all that is said about it; a tombstone stays.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `missing_reason`, or when not exactly one of the two is named.
            NotFound: `unknown_object`, `unknown_entity`.
        """
        self.principal.require(ERASE)
        if not reason.strip():
            raise InvalidInput("an erasure needs a reason for its tombstone", code="missing_reason")
        if (object_id is None) is (entity is None):
            raise InvalidInput(
                "name an object_id or an entity, one of them", code="missing_subject"
            )
        root = None if entity is None else self._entity(entity)

        # A manifest still waiting to be stored would bring back what is erased now.
        self.backend.settle()
        receipt = self._operate(
            lambda tx, mandate: erase(tx, object_id=object_id, entity=root, mandate=mandate), reason
        )

        artifacts = Artifacts(self.backend, self.principal)
        return replace(receipt, artifacts=artifacts.erase_with(receipt.object_ids, reason=reason))

    def reclassify(
        self,
        object_id: str,
        classification: str | None,
        allow: Sequence[str] | None,
        deny: Sequence[str] | None,
    ) -> ReclassifyReceipt:
        """Change who may see an object, at all times at once; what is not stated stays.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_object`.
        """
        self.principal.require(OPERATE)
        permissions = self._permissions(object_id)
        words = self._words_now()

        if classification is not None:
            permissions = replace(permissions, classification=parse(Classification, classification))
        if allow is not None:
            roles = tuple(sorted(words.check("role", tuple(allow))))
            permissions = replace(permissions, allow=roles or (EVERYONE,))
        if deny is not None:
            roles = tuple(sorted(words.check("role", tuple(deny))))
            permissions = replace(permissions, deny=roles)

        return self._operate(
            lambda tx, mandate: reclassify(tx, object_id, permissions, mandate=mandate)
        )

    def sweep(self, *, dry_run: bool, limit: int) -> SweepReceipt:
        """Retire what has decayed, `limit` objects a transaction, until nothing is due.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `out_of_range` for a limit below 1.
        """
        self.principal.require(OPERATE)
        if limit < 1:
            # With nothing retired a batch, what remains would never end.
            raise InvalidInput(f"limit {limit}: ask for 1 or more", code="out_of_range")
        rules = SweepRules(
            may_erase=not self.principal.roles.isdisjoint(ERASE.roles),
            limit=limit,
            decay=self.backend.policy.decay,
        )

        def batch(tx: WriteTx, mandate: Mandate) -> SweepReceipt:
            return sweep(tx, mandate=mandate, rules=rules, dry_run=dry_run)

        total = self._operate(batch)
        while total.remaining and not dry_run:
            total = _sum(total, self._operate(batch))

        if not dry_run:
            Artifacts(self.backend, self.principal).erase_with(total.erased, reason="retired")
        return total

    def close_scope(self, kind: str, scope: str) -> SweepReceipt:
        """Retire what lived only until a session, task or project closed.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(OPERATE)
        return self._operate(lambda tx, mandate: close_scope(tx, kind, scope, mandate=mandate))

    def _entity(self, entity: Who) -> str:
        with self._reading() as reader:
            roots, _ = find(reader, entity, self.principal.sight(), reader.clock().last_us)
        if len(roots) != 1:
            raise NotFound(
                f"{entity!r} names {len(roots)} entities; give an entity id",
                code="unknown_entity",
            )
        return roots[0]

    def _permissions(self, object_id: str) -> Permissions:
        """The permissions of an object, also of one that its steward may not read."""
        with self._reading() as reader:
            rows = self._rows_of(reader, [object_id])
        if not rows:
            raise unknown_object(object_id)
        return rows[0].permissions


def _sum(left: SweepReceipt, right: SweepReceipt) -> SweepReceipt:
    return replace(
        right,
        archived=left.archived + right.archived,
        demoted=left.demoted + right.demoted,
        asked=left.asked + right.asked,
        erased=left.erased + right.erased,
        approvals=left.approvals + right.approvals,
    )
