"""The resolver queue at the edge: ties to settle, confirmations due, texts set apart.

Source: API "Reading" (`memory.actions`); vocabulary 3.5; settled 5.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..schema.answers import Action
from ..schema.errors import InvalidInput
from ..schema.interval import INF_US
from ..schema.principal import Principal
from ..schema.values import moment
from ..store.port import ActionRecord, Ask, Point
from ..store.reading import stamp
from .backend import Backend


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
        opened=stamp(record.tx_start),
        closed=moment(record.tx_end),
        outcome=record.outcome,
        closed_by=record.closed_by,
        detail=detail,
    )
