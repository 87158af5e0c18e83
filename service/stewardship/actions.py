"""The resolver queue at the edge: ties to settle, confirmations due, texts set apart.

Source: API "Reading" (`memory.actions`); vocabulary 3.5; settled 5.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ...schema.answers import Action
from ...schema.claim import Version
from ...schema.errors import Conflict, InvalidInput, NotFound
from ...schema.interval import INF_US
from ...schema.operation import ActionReceipt
from ...schema.principal import ERASE, STEWARD, Principal
from ...schema.values import moment, stamped
from ...schema.vocabulary import ActionKind, Op
from ...schema.write import Receipt, Write
from ...store.operations.actions import Powers, resolve
from ...store.operations.change import Mandate
from ...store.port.store import ActionRecord, Ask, Point, WriteTx
from ...store.timeline.state import plain_value
from ..artifacts.artifacts import Artifacts
from ..backend.backend import Backend
from ..writing.write import Writing
from .operations import Stewarding


@dataclass(frozen=True, slots=True)
class Actions:
    """The queue of one tenant, as one caller sees it."""

    backend: Backend
    principal: Principal

    def __call__(self, status: str = "open") -> list[Action]:
        """Return the actions, oldest first; `status` is `open`, `closed` or `all`.

        Raises:
            InvalidInput: `unknown_vocabulary` for another status.
        """
        if status not in ("open", "closed", "all"):
            raise InvalidInput(
                f"status {status!r}: known: open, closed, all", code="unknown_vocabulary"
            )
        with self.backend.store.reading(self.principal.tenant) as reader:
            last = reader.clock().last_us
            found = reader.actions(open_only=status == "open", tx_us=last)
            ask = Ask(
                objects=tuple(sorted({a.object_id for a in found})),
                heads=False,
                at_valid=False,
                at_tx=False,
            )
            sight = self.principal.sight()
            seen: set[str] = set()
            if found:
                versions = reader.versions(ask, sight=sight, point=Point(INF_US - 1, last)).versions
                seen = {v.row.claim.object_id for v in versions if v.visible}
        shown = [_action(a) for a in found if a.object_id in seen]
        return [a for a in shown if status != "closed" or a.closed is not None]

    def resolve(
        self,
        action_id: str,
        *,
        winner: str | None = None,
        value: Any = None,
        accept: bool | None = None,
    ) -> ActionReceipt | Receipt:
        """Settle an action: a tie by its winner or a value, any other by accepting or not.

        A tie is settled by an ordinary `correct` at the caller's level, over the tie's
        interval, and its receipt is returned.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `wrong_action` when the wrong one of the three is stated.
            NotFound: `unknown_action`.
            Conflict: `already_decided`.
        """
        self.principal.require(STEWARD)
        if accept is None:
            return self._settle(action_id, winner, value)
        stewarding = Stewarding(self.backend, self.principal)
        powers = Powers(may_erase=not self.principal.roles.isdisjoint(ERASE.roles))

        def work(tx: WriteTx, mandate: Mandate) -> ActionReceipt | Conflict:
            return resolve(
                tx,
                action_id,
                accept=accept,
                mandate=mandate,
                policy=self.backend.policy.resolution,
                powers=powers,
            )

        done = stewarding.alone(work)
        if isinstance(done, Conflict):
            raise done
        if done.erasure is not None:
            artifacts = Artifacts(self.backend, self.principal)
            artifacts.erase_with(done.erasure.object_ids, reason=done.erasure.reason)
        return done

    def _settle(self, action_id: str, winner: str | None, value: Any) -> Receipt:
        found = next((a for a in self("all") if a.action_id == action_id), None)
        if found is None:
            raise NotFound(f"there is no action {action_id}", code="unknown_action")
        if found.closed is not None:
            raise Conflict(
                f"action {action_id} was settled already ({found.outcome})", code="already_decided"
            )
        if found.kind is not ActionKind.SETTLE_TIE or (winner is None) is (value is None):
            raise InvalidInput(
                "settle a tie with winner= or value=, and any other action with accept=",
                code="wrong_action",
                kind=found.kind.value,
            )
        if winner is not None and winner not in found.members:
            raise InvalidInput(
                f"{winner} is no member of this tie; it has {', '.join(found.members)}",
                code="not_a_member",
            )
        like = self._claim(winner or found.members[0])
        denies = winner is not None and like.row.claim.op is Op.DENY
        stated = Write(
            object_id=like.row.claim.object_id,
            op="deny" if denies else "correct",
            value=None if denies else value if winner is None else plain_value(like),
            valid_from=found.valid_from or "-infinity",
            valid_until=found.valid_until,
            source_authority=1.0 if denies else None,
            confidence=1.0,
        )
        return Writing(self.backend, self.principal).write(stated, dry_run=False)

    def _claim(self, object_id: str) -> Version:
        ask = Ask(objects=(object_id,), heads=False, at_valid=False)
        with self.backend.store.reading(self.principal.tenant) as reader:
            point = Point(INF_US - 1, reader.clock().last_us)
            found = reader.versions(ask, sight=self.principal.sight(), point=point).versions
        seen = [v for v in found if v.visible]
        if not seen:
            raise NotFound(f"there is no object {object_id}", code="unknown_object")
        return seen[0]


def _action(record: ActionRecord) -> Action:
    detail = json.loads(record.detail)
    return Action(
        action_id=record.action_id,
        kind=record.kind,
        object_id=record.object_id,
        slot_key=record.slot_key,
        entity=detail.get("entity"),
        slot=detail.get("slot"),
        members=record.members,
        valid_from=moment(record.interval.start_us),
        valid_until=moment(record.interval.end_us),
        opened=stamped(record.tx_start),
        closed=moment(record.tx_end),
        outcome=record.outcome,
        closed_by=record.closed_by,
        detail=detail,
    )
