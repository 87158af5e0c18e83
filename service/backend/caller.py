"""A store as one caller sees it: what every use-case of the edge begins with.

A use-case is a frozen class that extends `Caller` and costs nothing to make. Who asks is part of
the value, so no read and no write can be stated without a principal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ...schema.errors import NotFound, TenureError
from ...schema.interval import INF_US
from .backend import Backend
from .parsing import check_reason

if TYPE_CHECKING:
    from ...schema.claim import Version
    from ...schema.principal import Principal, Sight
    from ...schema.slots import Vocabulary
    from ...store.operations.change import Mandate
    from ...store.port.store import Names, Reader, WriteTx

FAR_US = INF_US - 1
"""The last instant there is: a read that is about no valid time in particular."""

Result = TypeVar("Result")


class ClientPart:
    """What a caller is handed to ask questions of, here or over a wire."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A dataclass keeps a `__repr__` of its own class: all fields of a part would be pages.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Which part it is, over which store, for whom; what else it holds its methods tell."""
        words = [repr(getattr(self, "_backend", None))]
        principal: Principal | None = getattr(self, "principal", None)
        if principal is not None:
            words += [f"tenant={principal.tenant!r:.40}", f"user={principal.user!r:.40}"]
        return f"{type(self).__name__}({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Caller(ClientPart):
    """A store, seen by one principal."""

    _backend: Backend
    principal: Principal

    @property
    def _tenant(self) -> str:
        """The tenant whose partition every call of this caller stays in."""
        return self.principal.tenant

    @property
    def _actor(self) -> str:
        """The name under which what this caller does is recorded."""
        return self.principal.user or "service"

    def _words_now(self) -> Vocabulary:
        """The tenant's newest vocabulary."""
        return self._backend.vocabulary(self._tenant)

    def _reading(self, names: Names | None = None) -> AbstractContextManager[Reader]:
        """Open one consistent snapshot of the tenant; `names` are looked up on the way."""
        return self._backend.store.reading(self._tenant, names)

    def _rows_of(
        self, reader: Reader, object_ids: Sequence[str], *, sight: Sight | None = None
    ) -> tuple[Version, ...]:
        """Every row of these objects at any time, those that the caller may not see marked so."""
        if not object_ids:
            return ()

        # Opening a store loads nothing that only its reads need.
        from ...store.port.store import Ask, Point

        ask = Ask(objects=tuple(object_ids), heads=False, at_valid=False, at_tx=False)
        point = Point(FAR_US, reader.clock().last_us)
        return reader.versions(ask, sight=sight or self.principal.sight(), point=point).versions

    def _visible_rows(self, reader: Reader, object_id: str) -> list[Version]:
        """Every row of an object that the caller may see.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        visible = [row for row in self._rows_of(reader, [object_id]) if row.visible]
        if not visible:
            raise unknown_object(object_id)

        return visible

    def _transact(self, work: Callable[[WriteTx], Result | TenureError]) -> Result:
        """Run work with a write transaction to itself.

        Raises:
            TenureError: what the work refused with; nothing of it was written.
        """
        outcome: Result | TenureError = self._backend.queue(self._tenant).submit(work)
        if isinstance(outcome, TenureError):
            raise outcome

        return outcome

    def _operate(
        self, work: Callable[[WriteTx, Mandate], Result | TenureError], reason: str = ""
    ) -> Result:
        """Run an operation in a transaction of its own, under a new operation id."""
        from ...store.operations.change import Mandate

        check_reason(reason)
        operation_id = self._backend.ids()

        def operate(tx: WriteTx) -> Result | TenureError:
            # The time is that of its turn, not of the call: it may have waited for other writers.
            mandate = Mandate(
                operation_id=operation_id,
                actor=self._actor,
                now_us=self._backend.now_us(),
                reason=reason,
            )
            return work(tx, mandate)

        return self._transact(operate)


def backend_of(caller: Caller) -> Backend:
    """The store behind a caller, for the parts of the edge that are not handed to users."""
    return caller._backend  # pyright: ignore[reportPrivateUsage]


def unknown_object(object_id: str) -> NotFound:
    """The error of an object that is not there, or not for this caller: nobody can tell which."""
    return NotFound(
        f"there is no object {object_id}; take the id from a receipt or a search",
        code="unknown_object",
        object_id=object_id,
    )
