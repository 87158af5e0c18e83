"""The resolver queue at the edge: ties to settle, confirmations due, texts quarantined."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, get_args

from ...schema.answers import Action, ActionReceipt
from ...schema.claim import UNKNOWN_AUTHOR, Authorship, Version
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...schema.interval import INF_US
from ...schema.principal import ERASE, STEWARD
from ...schema.slots import ActionStatus
from ...schema.values import moment, stamp_time
from ...schema.vocabulary import ActionKind, Authority, Op
from ...schema.write import Receipt, Write
from ...store.operations.actions import Powers, reopen, resolve
from ...store.operations.change import Mandate
from ...store.port.store import ActionRecord, Reader, WriteTx
from ...store.port.tables import EVENTS
from ...store.timeline.state import plain_value
from ..artifacts.artifacts import ArtifactKeeper
from ..backend.caller import Caller, argument_checks, instant, unknown_object
from ..reading.view import sight_of
from ..writing.trust import authorship_of
from ..writing.write import Writer
from .reviews import visible_names_of
from .visible_receipts import VisibleReceipts

_STATUSES = get_args(ActionStatus)
_UNDOABLE = frozenset(ActionKind) - {ActionKind.RETIRE_APPROVAL, ActionKind.MERGE_CONFLICT}


@argument_checks
@dataclass(frozen=True, slots=True)
class Actions(Caller):
    """The queue of one tenant, as one caller sees it."""

    def __call__(self, status: ActionStatus = "open") -> tuple[Action, ...]:
        """The same as `list`, for `memory.actions()`."""
        return self.list(status)

    def list(self, status: ActionStatus = "open") -> tuple[Action, ...]:
        """Return the actions, oldest first; `status` is `open`, `closed` or `all`.

        Raises:
            InvalidInput: `unknown_vocabulary` for another status.
        """
        if status not in _STATUSES:
            raise InvalidInput(
                f"status {status!r}: known: {', '.join(_STATUSES)}", code="unknown_vocabulary"
            )

        with self._reading() as reader:
            last_us = reader.clock().last_us
            records = reader.actions(open_only=status == "open", tx_us=last_us)
            subjects = sorted({record.object_id for record in records})
            rows = self._rows_of(reader, subjects)
            visible_ends = self._named_entities(reader, records)

        visible = {row.row.claim.object_id for row in rows if row.visible}
        actions: list[Action] = []
        for record in records:
            # A merge that a judgement forbids is about two entities, not about an object.
            is_merge = record.kind is ActionKind.MERGE_CONFLICT
            is_told = not is_merge or visible_ends.issuperset(record.members)
            if is_told and (record.object_id in visible or is_merge):
                actions.append(_action(record))
        if status == "closed":
            actions = [action for action in actions if action.closed is not None]

        return tuple(actions)

    def _named_entities(self, reader: Reader, records: Sequence[ActionRecord]) -> frozenset[str]:
        """The entities of refused merges of which the caller may see a name."""
        merges = (r.members for r in records if r.kind is ActionKind.MERGE_CONFLICT)
        ids = set(chain.from_iterable(merges))
        return frozenset(visible_names_of(reader, sorted(ids), sight_of(self.principal, None)))

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
        confirmer = self._confirmer(action_id)
        if confirmer is None:
            self.principal.require(STEWARD)
        if accept is None:
            return self._settle(action_id, winner, value)

        powers = Powers(
            may_erase=self.principal.holds(ERASE),
            confirmer=confirmer or UNKNOWN_AUTHOR,
        )

        def work(tx: WriteTx, mandate: Mandate) -> ActionReceipt | Conflict:
            return resolve(
                tx,
                action_id,
                accept=accept,
                mandate=mandate,
                policy=self._backend.policy.resolution,
                powers=powers,
            )

        receipt = self._operate(work)
        if receipt.erasure is not None:
            self._backend.forget_answers(self._tenant, receipt.erasure.object_ids)
            keeper = ArtifactKeeper(self._backend, self.principal)
            keeper.erase_with(receipt.erasure.object_ids, reason=receipt.erasure.reason)

        return VisibleReceipts(self._backend, self.principal).action(receipt)

    def undo(self, action_id: str) -> ActionReceipt:
        """Take a decision back: retract what it wrote, and ask the question again.

        The receipt holds the id of the question that is open now. The settled one stays in the
        history.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `wrong_action` for an action that is open, for an erasure, which cannot
                be undone, and for a merge, which `entities.unmerge` undoes.
            NotFound: `unknown_action`.
        """
        if self._confirmer(action_id) is None:
            self.principal.require(STEWARD)
        action = self._find(action_id)
        if action.closed is None or action.kind not in _UNDOABLE:
            raise InvalidInput(
                f"a {action.kind.value} that is {action.outcome or 'open'} cannot be undone here; "
                "an erasure is final, and `tenure unmerge` undoes a merge",
                code="wrong_action",
                kind=action.kind.value,
            )

        closed_us = instant(action.closed, field="closed")
        with self._reading() as reader:
            events = reader.find(EVENTS, "tx", [closed_us])
            written_ids: set[str] = set()
            for event in events:
                written_ids.update(event.object_ids)
            rows = self._rows_of(reader, sorted(written_ids.difference(action.members)))

        writer = Writer(self._backend, self.principal)
        open_rows = [row for row in rows if row.row.tx_end == INF_US]
        for object_id in dict.fromkeys(row.row.claim.object_id for row in open_rows):
            writer.write_many([Write(op="retract", object_id=object_id)])
        return self._operate(lambda tx, mandate: reopen(tx, action_id, mandate=mandate))

    def _confirmer(self, action_id: str) -> Authorship | None:
        """As whom the caller confirms a directive; None for who may not, and for other actions.

        A steward confirms it for all who read it, and a user what is kept for this user alone.
        """
        record = next((a for a in self("all") if a.action_id == action_id), None)
        if record is None or record.kind is not ActionKind.CONFIRM_DIRECTIVE:
            return None

        # An agent that acts for a user is no person who confirms.
        principal = self.principal
        if principal.authority_level > Authority.USER:
            raise Forbidden(
                "an agent confirms no directive: a person does, on the page of actions",
                code="privilege_required",
            )
        with self._reading() as reader:
            scope = self._visible_rows(reader, record.object_id)[-1].details.scope
        is_own = principal.user is not None and scope.user == principal.user
        if not is_own and not principal.holds(STEWARD):
            return None
        return authorship_of(principal, self._backend.policy, scope)

    def _find(self, action_id: str) -> Action:
        action = next((action for action in self("all") if action.action_id == action_id), None)
        if action is None:
            raise NotFound(
                f"there is no action {action_id}; "
                "list them with `tenure actions list --status all` "
                "(actions.list('all'))",
                code="unknown_action",
            )
        return action

    def _settle(self, action_id: str, winner: str | None, value: Any) -> Receipt:
        action = self._find(action_id)
        _check_settles(action, winner, value)

        # Without a winner the value is new, and any member says of whom and when it holds.
        model = self._claim(winner or action.members[0])
        denial = winner is not None and model.row.claim.op is Op.DENY
        if denial:
            value = None
        elif winner is not None:
            value = plain_value(model)

        write = Write(
            object_id=model.row.claim.object_id,
            op="deny" if denial else "correct",
            value=value,
            valid_from=action.valid_from or "-infinity",
            valid_until=action.valid_until,
            source_authority=1.0 if denial else None,
            confidence=1.0,
        )
        writer = Writer(self._backend, self.principal)
        if winner is None:
            return writer.write_many([write])[0]

        # Whoever settles a tie chooses between the words of others and does not say them.
        return writer.write_for(write, model)

    def _claim(self, object_id: str) -> Version:
        with self._reading() as reader:
            rows = self._visible_rows(reader, object_id)

        open_rows = (row for row in rows if row.row.tx_end == INF_US)
        claim = next(open_rows, None)
        if claim is None:
            raise unknown_object(object_id)

        return claim


def _check_settles(action: Action, winner: str | None, value: Any) -> None:
    if action.closed is not None:
        raise Conflict(
            f"action {action.action_id} was settled already ({action.outcome})",
            code="already_decided",
        )

    if action.kind is not ActionKind.SETTLE_TIE or (winner is None) is (value is None):
        raise InvalidInput(
            "settle a tie with winner= or value=, and any other action with accept=",
            code="wrong_action",
            kind=action.kind.value,
        )

    if winner is not None and winner not in action.members:
        raise InvalidInput(
            f"{winner} is no member of this tie; it has {', '.join(action.members)}",
            code="not_a_member",
        )


def _action(record: ActionRecord) -> Action:
    detail = json.loads(record.detail)
    is_merge = record.kind is ActionKind.MERGE_CONFLICT
    return Action(
        action_id=record.action_id,
        kind=record.kind,
        object_id=record.object_id,
        slot_key=record.slot_key,
        entity=record.members[0] if is_merge else detail.get("entity"),
        slot=detail.get("slot"),
        members=record.members,
        valid_from=moment(record.interval.start_us),
        valid_until=moment(record.interval.end_us),
        opened=stamp_time(record.tx_start),
        closed=moment(record.tx_end),
        outcome=record.outcome,
        closed_by=record.closed_by,
        detail=detail,
    )
