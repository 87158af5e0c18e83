"""What accepting a case would do, told by doing it: the decision runs and is taken back.

A preview that is worked out beside the merge drifts from it. So the decision itself runs in a
write transaction that never commits, and the slots of both sides are read before and after it
inside that transaction. Writers wait for it as for any write. Of values only those are told
that the caller may see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...resolution.clusters import WAITING, non_matches_between
from ...schema.answers import EntityView
from ...schema.claim import Version
from ...schema.entity import EntityCandidate, Review
from ...schema.errors import TenureError
from ...schema.interval import ALL_TIME, Interval
from ...schema.operation import ReviewReceipt
from ...schema.values import moment
from ...schema.vocabulary import Status
from ...store.operations.change import Mandate
from ...store.operations.review import accept
from ...store.port.store import Reader, SlotRead, SlotRecord, Store, WriteTx
from ..backend.caller import Caller
from ..reading.masking import Mask
from ..reading.view import View, described_entity, sight_of
from .review_page import Impact, ReviewBelief, SlotChange

Outcome = TypeVar("Outcome")

SlotName = tuple[str, str]
"""Slot and scope id."""


class _TakenBackError(Exception):
    """Ends a rehearsal, so that its transaction leaves no trace."""


def rehearsed(store: Store, tenant: str, work: Callable[[WriteTx], Outcome]) -> Outcome:
    """What a piece of work returns when it runs in a write transaction that is taken back."""
    outcomes: list[Outcome] = []
    with suppress(_TakenBackError), store.writing(tenant) as tx:
        outcomes.append(work(tx))
        raise _TakenBackError

    return outcomes[0]


class _Piece(NamedTuple):
    """A stretch of valid time in which an object decides, or disputes, a slot."""

    object_id: str
    interval: Interval
    status: Status


Beliefs = Mapping[SlotName, frozenset[_Piece]]


class _Rehearsal(NamedTuple):
    """What a decision did before it was taken back."""

    outcome: ReviewReceipt | TenureError
    before: Beliefs
    after: Beliefs
    moved: frozenset[str]
    """Objects of the mention's own side."""


@dataclass(frozen=True, slots=True)
class Rehearsals(Caller):
    """Decisions on cases, tried without being made."""

    view: View

    def impact(
        self, reader: Reader, case: Review, subject: EntityView, best: EntityCandidate
    ) -> Impact:
        """What accepting a case would do; nothing, and why, where the store would refuse it."""
        candidate = described_entity(
            reader, best.entity, sight_of(self.principal, None), reader.clock().last_us
        )
        rehearsal = rehearsed(
            self.backend.store, self._tenant, lambda tx: self._accept(tx, case, subject, candidate)
        )
        known = reader.entities(
            (*subject.members, *candidate.members), tx_us=reader.clock().last_us
        )
        judgements = non_matches_between(known.judgements, subject.members, candidate.members)
        standing = tuple(
            f"{row.actor} ({row.judged_by.value}): {row.left_id} and {row.right_id} differ"
            for row in judgements
            if row.merge_id is None or row.merge_id != case.merge_id  # its own may be lifted
        )
        common = self._neighbour_names(subject) & self._neighbour_names(candidate)

        receipt = rehearsal.outcome
        if isinstance(receipt, TenureError):
            return Impact(
                moves=0,
                slots=(),
                conflicts=(),
                surviving=candidate.entity_id,
                members=len(candidate.members),
                standing=standing or ((str(receipt),) if case.state in WAITING else ()),
                common=tuple(sorted(common)),
            )

        changes = self._changes(reader, rehearsal)
        return Impact(
            moves=len(rehearsal.moved & _objects(rehearsal.before)),
            slots=tuple(change.slot for change in changes),
            conflicts=tuple(change.conflict for change in changes if change.conflict),
            surviving=receipt.canonical_id,
            members=len({*subject.members, *candidate.members}),
            standing=standing,
            common=tuple(sorted(common)),
            changes=changes,
        )

    def _accept(
        self, tx: WriteTx, case: Review, subject: EntityView, candidate: EntityView
    ) -> _Rehearsal:
        tx.lock()
        records = tx.slots_of((*subject.members, *candidate.members))
        records = tuple(record for record in records if record.slot is not None)
        before = _beliefs(tx, records)
        own = [record for record in records if record.subject_id in subject.members]
        moved = _objects(_beliefs(tx, own))

        mandate = Mandate(
            operation_id=self.backend.ids(), actor=self._actor, now_us=self.backend.now_us()
        )
        outcome: ReviewReceipt | TenureError
        try:
            outcome = accept(
                tx,
                case.review_id,
                mandate=mandate,
                policy=self.backend.policy.resolution,
                entity=candidate.entity_id,
            )
        except TenureError as refusal:
            outcome = refusal

        return _Rehearsal(outcome, before, _beliefs(tx, records), moved)

    def _changes(self, reader: Reader, rehearsal: _Rehearsal) -> tuple[SlotChange, ...]:
        """The slots whose answer would change, with what the caller may see of it."""
        ids = sorted(_objects(rehearsal.before) | _objects(rehearsal.after))
        mask = Mask(self.principal, self.backend.policy)
        versions = mask.over(reader, self._rows_of(reader, ids))
        texts = {
            version.row.claim.object_id: self._text(version)
            for version in versions
            if version.visible
        }

        changes: list[SlotChange] = []
        for name in sorted(rehearsal.before.keys() | rehearsal.after.keys()):
            before, after = (
                rehearsal.before.get(name, frozenset()),
                rehearsal.after.get(name, frozenset()),
            )
            if before != after:
                slot, scope_id = name
                change = SlotChange(
                    slot=slot,
                    scope=scope_id,
                    before=_shown(before, texts),
                    after=_shown(after, texts),
                )
                changes.append(change)
        return tuple(changes)

    def _text(self, version: Version) -> str:
        """The value of a version as one reads it: an entity by its name."""
        named = version.details.value_entity_id
        if named is not None:
            return self.view.entity(named).name
        if version.content is None:
            return "-"
        value = json.loads(version.content.value_json)
        return value if isinstance(value, str) else version.content.value_json

    def _neighbour_names(self, entity: EntityView) -> set[str]:
        """The names of what stands one step from an entity."""
        neighbourhood = self.view.neighbourhood(entity.entity_id, hops=1)
        names = {neighbour.entity_id: neighbour.name for neighbour in neighbourhood.entities}
        names.pop(entity.entity_id, None)
        return set(names.values())


def _beliefs(tx: WriteTx, records: Sequence[SlotRecord]) -> Beliefs:
    """The open rows that decide or dispute the slots, those of several members together."""
    reads = [SlotRead((record.slot_key,), ALL_TIME, full=False) for record in records]
    pieces: dict[SlotName, set[_Piece]] = {}
    for record, rows in zip(records, tx.open_rows(reads), strict=True):
        for row in rows:
            if row.look.head:
                name = record.slot or "", record.scope_id
                piece = _Piece(row.claim.object_id, row.interval, row.look.status)
                pieces.setdefault(name, set()).add(piece)

    return {name: frozenset(members) for name, members in pieces.items()}


def _objects(beliefs: Beliefs) -> frozenset[str]:
    return frozenset(piece.object_id for pieces in beliefs.values() for piece in pieces)


def _shown(pieces: Iterable[_Piece], texts: Mapping[str, str]) -> tuple[ReviewBelief, ...]:
    """The pieces that the caller may see, in order of time."""
    beliefs: list[ReviewBelief] = []
    for piece in sorted(pieces, key=lambda piece: (piece.interval.start_us, piece.object_id)):
        if piece.object_id in texts:
            belief = ReviewBelief(
                value=texts[piece.object_id],
                valid_from=moment(piece.interval.start_us),
                valid_until=moment(piece.interval.end_us),
                disputed=piece.status is Status.DISPUTED,
                object_id=piece.object_id,
            )
            beliefs.append(belief)
    return tuple(beliefs)
