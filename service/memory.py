"""`Memory`: the client of tenure, the same over every store.

A memory is a store seen by one principal. It is immutable and cheap: `bind` gives the same
store to another caller. Writes return receipts, reads are methods of a `View`, and nothing
here holds state of a request.

>>> from tenure import connect
>>> with connect(":memory:") as memory:
...     receipt = memory.write(subject="Sam Rivera", slot="office", value="Chicago")
...     memory.as_of().value("Sam Rivera", "office")
'Chicago'

Sources: API; DESIGN 9; settled 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from ..schema.answers import Change, Explanation, HistoryRow
from ..schema.layers import DecayRule
from ..schema.policy import Policy
from ..schema.principal import Principal, Scope
from ..schema.write import Moment, Receipt, Write
from ..store.port import Point
from .actions import Actions
from .auditing import Auditing
from .backend import Backend
from .observing import Observing, Said
from .times import instant
from .view import View, Who
from .words import Words
from .writing import Writing


@dataclass(frozen=True, slots=True)
class Memory:
    """A store, seen by one caller."""

    backend: Backend
    principal: Principal

    def bind(self, principal: Principal) -> Memory:
        """Return the same store for another caller."""
        self.backend.open(principal.tenant)
        return Memory(self.backend, principal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what is queued and close the store; nothing acknowledged is lost."""
        self.backend.close()

    @property
    def policy(self) -> Policy:
        """Return the policy pack in force."""
        return self.backend.policy

    @property
    def vocabulary(self) -> Words:
        """Return the tenant's bounded lists, to read and to extend."""
        return Words(self.backend, self.principal)

    def write(
        self,
        subject: Who | None = None,
        slot: str | None = None,
        value: Any = None,
        *,
        op: str = "assert",
        valid_from: Moment = None,
        valid_until: Moment = None,
        object_id: str | None = None,
        content: str | None = None,
        object_type: str | None = None,
        layer: str | None = None,
        scope: Scope | Mapping[str, str] | None = None,
        source_origin: str = "user://chat",
        source_authority: float | None = None,
        confidence: float = 0.8,
        authority_level: int | None = None,
        why_it_matters: str = "",
        applicable_task_types: Sequence[str] = (),
        behavioral_implication: str | None = None,
        security_classification: str | None = None,
        sensitivity: Sequence[str] = (),
        allow_roles: Sequence[str] = (),
        deny_roles: Sequence[str] = (),
        decay_rule: DecayRule | Mapping[str, float] | None = None,
        retirement_rule: str | None = None,
        update_path: str | None = None,
        derived_from: Sequence[str] = (),
        planned: bool = False,
        enforcement: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Write one claim, or one text, and return its receipt.

        The subject is a name, an entity id or an `EntityRef`; it is resolved before the
        write. `valid_from` defaults to the write's own stamp, `valid_until` to open. With
        `dry_run` the receipt says what would happen and nothing is written.

        Raises:
            InvalidInput: for anything malformed, unknown, too large or missing.
            Forbidden: for a level or a scope that is not the caller's.
            Conflict: `idempotency_mismatch`, `identifier_conflict`.
        """
        given = locals()
        stated = {f.name: given[f.name] for f in fields(Write)}
        return self._writing().write(Write(**stated), dry_run=dry_run)

    def write_many(self, writes: Iterable[Write], *, dry_run: bool = False) -> list[Receipt]:
        """Write several claims in order, in one transaction with one stamp: all or nothing."""
        return list(self._writing().write_many(list(writes), dry_run=dry_run))

    def observe(
        self,
        text: str,
        speaker: Who | None = None,
        *,
        source_origin: str = "chat://local",
        at: Moment = None,
        why_it_matters: str | None = None,
        applicable_task_types: Sequence[str] = (),
    ) -> list[Receipt]:
        """Keep a text verbatim and write the claims it makes about its speaker.

        The receipt of the passage comes first, then one for each claim; all share one
        transaction. `at` is when it was said, now by default.
        """
        said = Said(
            text=text,
            speaker=speaker,
            source_origin=source_origin,
            at=at,
            why_it_matters=why_it_matters,
            applicable_task_types=applicable_task_types,
        )
        return Observing(self.backend, self.principal, self.backend.extractor).observe(said)

    def as_of(self, valid: Moment = None, tx: Moment = None) -> View:
        """Return the view of (valid, tx); None means now.

        `as_of()` is what is true now, `as_of(t, t)` what was believed at t, and `as_of(v, k)`
        what was true at v as known at k.
        """
        tenant = self.principal.tenant
        self.backend.open(tenant)
        with self.backend.store.reading(tenant) as reader:
            last = reader.clock().last_us
        asked = last if tx is None else min(instant(tx, what="tx"), last)
        at = max(self.backend.now_us(), last) if valid is None else instant(valid, what="valid")
        return View(self.backend, self.principal, Point(at, asked))

    def history(self, entity: Who, slot: str) -> tuple[HistoryRow, ...]:
        """Return every version of a slot on both axes, oldest transaction first."""
        return self._auditing().history(entity, slot)

    def diff(self, tx1: Moment, tx2: Moment, entity: Who | None = None) -> tuple[Change, ...]:
        """Return the changes of belief after tx1, up to and with tx2, in order of tx."""
        return self._auditing().diff(tx1, tx2, entity)

    def explain(self, object_id: str) -> Explanation:
        """Return where an object comes from, what it met, and what was compiled from it.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        return self._auditing().explain(object_id)

    @property
    def actions(self) -> Actions:
        """Return the resolver queue: `actions()` lists it, `.resolve(id, …)` settles one."""
        return Actions(self.backend, self.principal)

    def _writing(self) -> Writing:
        return Writing(self.backend, self.principal)

    def _auditing(self) -> Auditing:
        return Auditing(self.backend, self.principal, self.as_of())
