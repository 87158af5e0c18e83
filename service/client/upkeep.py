"""The half of `Memory` that looks back and keeps order: views, history, erasure, upkeep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...schema.principal import Scope
from ...schema.write import Moment
from ..backend.arguments import argument_checks
from ..backend.caller import Caller

if TYPE_CHECKING:  # each use-case is imported when it is first used: `import tenure` stays light
    from ...schema.answers import Change, Explanation, HistoryRow, LogEntry
    from ...schema.operation import ErasureReceipt, ReclassifyReceipt, SweepReceipt
    from ...schema.write import Receipt
    from ..reading.audit import Auditor
    from ..reading.view import EntityLike, View
    from ..stewardship.operations import Steward


@argument_checks
@dataclass(frozen=True, slots=True)
class Upkeep(Caller):
    """What was believed, who did what, and what is taken out or kept in order."""

    def as_of(self, valid: Moment = None, tx: Moment = None) -> View:
        """Return the view of (valid, tx); None means now.

        `as_of()` is what is true now, `as_of(t, t)` what was believed at t, and `as_of(v, k)`
        what was true at v as known at k.
        """
        from ..reading.view import pinned_now

        return pinned_now(self._backend, self.principal, valid, tx)

    def erase(
        self, object_id: str | None = None, *, entity: EntityLike | None = None, reason: str
    ) -> ErasureReceipt:
        """Empty an object, or an entity with all that is said about it; a tombstone stays.

        Now the slots show what resurfaces; at an earlier tx they show `erased`. The reason stays:
        name a case in it.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `missing_reason`, `missing_subject`, `reason_names_erased`.
            NotFound: `unknown_object`, `unknown_entity`.
        """
        return self._steward().erase(object_id, entity, reason)

    def erase_session(self, name: str, *, user: str | None = None, reason: str) -> tuple[str, ...]:
        """Empty every text of a session, this caller's or a user's, and close it.

        The ids of the objects that went with it are returned, sorted: its checkpoints.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_session`.
        """
        scope = Scope(user=user or self.principal.user, session=name)
        return self._steward().erase_session(scope.scope_id, reason)

    def reclassify(
        self,
        object_id: str,
        *,
        security_classification: str | None = None,
        allow_roles: Sequence[str] | None = None,
        deny_roles: Sequence[str] | None = None,
    ) -> ReclassifyReceipt:
        """Change who may see an object, at all times at once; what is not stated stays.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_object`.
        """
        roles = allow_roles, deny_roles
        return self._steward().reclassify(object_id, security_classification, *roles)

    def promote(self, object_id: str, *, scope: Scope | Mapping[str, str]) -> Receipt:
        """Say what an object says in a wider scope; `scope={}` is the whole tenant.

        The promoted object is a new one, derived from the first; retract it to take it back.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `bad_scope`, `source_quarantined`.
            NotFound: `unknown_object`.
        """
        return self._steward().promote(object_id, scope)

    def sweep(self, *, dry_run: bool = False, limit: int = 500) -> SweepReceipt:
        """Retire what has decayed below its threshold, `limit` objects at once; privileged."""
        return self._steward().sweep(dry_run=dry_run, limit=limit)

    def close_scope(self, kind: str, scope: str) -> SweepReceipt:
        """Retire what lived only until a `session`, `task` or `project` closed.

        Who is in a session closes it for its own user; all else is an operator's.
        """
        return self._steward().close_scope(kind, scope)

    def doctor(self) -> tuple[str, ...]:
        """Check every invariant of the tenant; return a sentence for each that is broken."""
        return self._steward().doctor()

    def history(self, entity: EntityLike, slot: str) -> tuple[HistoryRow, ...]:
        """Return every version of a slot on both axes, oldest transaction first."""
        return self._auditor().history(entity, slot)

    def diff(
        self, tx1: Moment, tx2: Moment, entity: EntityLike | None = None
    ) -> tuple[Change, ...]:
        """Return the changes of belief after tx1, up to and with tx2, in order of tx."""
        return self._auditor().diff(tx1, tx2, entity)

    def log(
        self,
        since: Moment = None,
        *,
        until: Moment = None,
        entity: EntityLike | None = None,
        limit: int = 50,
    ) -> tuple[LogEntry, ...]:
        """Who did what and when, newest first: the caller's own transactions.

        Auditors, administrators and owners read those of everybody. `since` is left out of the
        span and `until` is in it; with `entity` only what changed the beliefs about it.
        """
        from ..reading.log import TransactionLog

        return TransactionLog(self._backend, self.principal).entries(since, until, entity, limit)

    def explain(self, object_id: str) -> Explanation:
        """Return where an object comes from, what it met, and what was compiled from it.

        The id of a write that confirmed or took back what stood leads to what stood, and that of
        what another line of the same write replaced to what replaced it.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        return self._auditor().explain(object_id)

    def _steward(self) -> Steward:
        from ..stewardship.operations import Steward

        return Steward(self._backend, self.principal)

    def _auditor(self) -> Auditor:
        from ..reading.audit import Auditor

        return Auditor(self._backend, self.principal, self.as_of())
