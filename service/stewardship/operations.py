"""Privileged operations at the edge: erase, reclassify, sweep, close a scope.

Each checks its privilege first, then runs alone in one transaction with its own stamp; an
operation id makes a retry return the first receipt. After an erasure the store is asked to
scrub what the file may still hold. Sources: settled 4 and 5; vocabulary 3.6; D4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ...schema.claim import Permissions
from ...schema.errors import InvalidInput, NotFound, TenureError
from ...schema.operation import ErasureReceipt, ReclassifyReceipt, SweepReceipt
from ...schema.principal import ERASE, EVERYONE, OPERATE, Principal
from ...schema.vocabulary import Classification, parse
from ...store.operations.change import Mandate
from ...store.operations.erase import erase
from ...store.operations.reclassify import reclassify
from ...store.operations.sweep import SweepRules, close_scope, sweep
from ...store.port.store import Ask, Point, WriteTx
from ..artifacts.artifacts import Artifacts
from ..backend.backend import Backend
from ..reading.view import Who, find, sight_of

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Stewarding:
    """The privileged operations of one caller."""

    backend: Backend
    principal: Principal

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
        self.backend.settle()
        receipt = self.alone(
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
        words = self.backend.vocabulary(self.principal.tenant)
        held = self._permissions(object_id)
        wanted = replace(
            held,
            classification=held.classification
            if classification is None
            else parse(Classification, classification),
            allow=held.allow
            if allow is None
            else tuple(sorted(words.check("role", tuple(allow)))) or (EVERYONE,),
            deny=held.deny if deny is None else tuple(sorted(words.check("role", tuple(deny)))),
        )
        return self.alone(lambda tx, mandate: reclassify(tx, object_id, wanted, mandate=mandate))

    def sweep(self, *, dry_run: bool, limit: int) -> SweepReceipt:
        """Retire what has decayed, batch by batch, until nothing is due.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(OPERATE)
        rules = SweepRules(
            may_erase=not self.principal.roles.isdisjoint(ERASE.roles),
            limit=limit,
            decay=self.backend.policy.decay,
        )

        def batch(tx: WriteTx, mandate: Mandate) -> SweepReceipt:
            return sweep(tx, mandate=mandate, rules=rules, dry_run=dry_run)

        total = self.alone(batch)
        while total.remaining and not dry_run:
            total = _sum(total, self.alone(batch))
        if not dry_run:
            Artifacts(self.backend, self.principal).erase_with(total.erased, reason="retired")
        return total

    def close_scope(self, kind: str, scope: str) -> SweepReceipt:
        """Retire what lived only until a session, task or project closed.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(OPERATE)
        return self.alone(lambda tx, mandate: close_scope(tx, kind, scope, mandate=mandate))

    def alone(self, work: Callable[[WriteTx, Mandate], Done], reason: str = "") -> Done:
        """Run an operation in a transaction of its own, under a new operation id."""
        mandate = Mandate(
            operation_id=self.backend.ids(),
            actor=self.principal.user or "service",
            now_us=self.backend.now_us(),
            reason=reason,
        )
        done: Done | TenureError = self.backend.alone(
            self.principal.tenant, lambda tx: work(tx, mandate)
        )
        if isinstance(done, TenureError):
            raise done
        return done

    def _entity(self, entity: Who) -> str:
        with self.backend.store.reading(self.principal.tenant) as reader:
            sight = sight_of(self.principal, None)
            found, _ = find(reader, entity, sight, reader.clock().last_us)
        if len(found) != 1:
            raise NotFound(
                f"{entity!r} names {len(found)} entities; give an entity id",
                code="unknown_entity",
            )
        return found[0]

    def _permissions(self, object_id: str) -> Permissions:
        ask = Ask(objects=(object_id,), heads=False, at_valid=False, at_tx=False)
        with self.backend.store.reading(self.principal.tenant) as reader:
            point = Point(self.backend.now_us(), reader.clock().last_us)
            found = reader.versions(ask, sight=self.principal.sight(), point=point).versions
        if not found:
            raise NotFound(f"there is no object {object_id}", code="unknown_object")
        return found[0].permissions


def _sum(a: SweepReceipt, b: SweepReceipt) -> SweepReceipt:
    return replace(
        b,
        archived=a.archived + b.archived,
        demoted=a.demoted + b.demoted,
        asked=a.asked + b.asked,
        erased=a.erased + b.erased,
        approvals=a.approvals + b.approvals,
    )
