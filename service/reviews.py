"""The review queue at the edge: is a pending entity one of its candidates? A person decides.

Every decision is recorded with who made it, raises the version of the case, and can be
undone without a time limit. Sources: API "Entities and review"; settled 4 and 9; resolution 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..schema.entity import Review
from ..schema.errors import Conflict, NotFound
from ..schema.operation import ReviewReceipt
from ..schema.principal import STEWARD, Principal
from ..schema.vocabulary import ReviewState, parse
from ..store.operations.change import Mandate
from ..store.operations.review import Remember, accept, reject, undo, unsure
from ..store.port import WriteTx
from .backend import Backend
from .stewarding import Stewarding
from .view import sight_of


@dataclass(frozen=True, slots=True)
class Reviews:
    """The cases of one tenant, as one caller sees them."""

    backend: Backend
    principal: Principal

    def list(self, status: str = "open") -> tuple[Review, ...]:
        """Return the cases of a state, or of `all`, oldest first.

        Raises:
            InvalidInput: `unknown_vocabulary`.
        """
        state = None if status == "all" else parse(ReviewState, status).value
        sight = sight_of(self.principal, None)
        with self.backend.store.reading(self.principal.tenant) as reader:
            found = reader.reviews(state=state)
        return tuple(r for r in found if self.principal.privileged or r.scope_id in sight.scopes)

    def get(self, review_id: str) -> Review:
        """Return a case in its newest version.

        Raises:
            NotFound: `unknown_review`, also for what the caller may not see.
        """
        for review in self.list("all"):
            if review.review_id == review_id:
                return review
        raise NotFound(f"there is no review {review_id}", code="unknown_review")

    def accept(
        self,
        review_id: str,
        *,
        entity: str | None = None,
        remember: str = "scope",
        version: int | None = None,
    ) -> ReviewReceipt:
        """Say that it is a candidate: the best one, or the one named by `entity`.

        `remember` says where the mention names it from now on: `scope`, `all` or `no`.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_review`, `unknown_entity`.
            Conflict: `stale_version`, `already_decided`, `standing_non_match`.
        """
        kept = parse(Remember, remember)
        return self._decide(
            lambda tx, mandate: accept(
                tx,
                review_id,
                mandate=mandate,
                policy=self.backend.policy.resolution,
                entity=entity,
                remember=kept,
                version=version,
            )
        )

    def reject(self, review_id: str, *, version: int | None = None) -> ReviewReceipt:
        """Say that it is none of the candidates."""
        return self._decide(
            lambda tx, mandate: reject(tx, review_id, mandate=mandate, version=version)
        )

    def unsure(self, review_id: str, *, version: int | None = None) -> ReviewReceipt:
        """Say that somebody looked and could not tell; the case stays."""
        return self._decide(
            lambda tx, mandate: unsure(tx, review_id, mandate=mandate, version=version)
        )

    def undo(self, review_id: str, *, version: int | None = None) -> ReviewReceipt:
        """Take the last decision of a case back; it waits again."""
        return self._decide(
            lambda tx, mandate: undo(tx, review_id, mandate=mandate, version=version)
        )

    def _decide(
        self, work: Callable[[WriteTx, Mandate], ReviewReceipt | Conflict]
    ) -> ReviewReceipt:
        self.principal.require(STEWARD)
        receipt = Stewarding(self.backend, self.principal).alone(work)
        if isinstance(receipt, Conflict):
            raise receipt
        return receipt
