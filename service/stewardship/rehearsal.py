"""What accepting a case would do, told by doing it: the decision runs and is taken back.

A preview that is computed apart from the merge drifts from it. So the decision itself runs in a
write transaction that never commits, and the slots of both sides are read before and after it
inside that transaction. Writers wait for it as for any write. Of values only those are told
that the caller may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from ...resolution.clusters import WAITING, non_matches_between
from ...schema.answers import EntityView, ReviewReceipt
from ...schema.entity import EntityCandidate, Review
from ...schema.errors import TenureError
from ...schema.interval import ALL_TIME, Interval
from ...schema.values import moment
from ...schema.vocabulary import Status
from ...store.operations.change import Mandate
from ...store.operations.review import accept
from ...store.port.store import Reader, SlotRead, SlotRecord, WriteTx
from ...store.port.tables import SLOTS
from ..backend.caller import Caller
from ..reading.entities import described_entity
from ..reading.objects import Mask, shown_value, values_as_said, visible_rows
from ..reading.view import View, sight_of
from ..visual.text import value_text
from .relations import RelationCheck
from .review_page import Impact, ReviewBelief, SlotChange

SlotName = tuple[str, str]
"""Slot and scope id."""


class _TakenBackError(Exception):
    """Ends a rehearsal, so that its transaction leaves no trace."""


class _Piece(NamedTuple):
    """A stretch of valid time in which an object decides, or disputes, a slot."""

    object_id: str
    interval: Interval
    status: Status


PiecesOfRecords = Sequence[tuple[SlotRecord, frozenset[_Piece]]]
"""The open rows of each stored slot; the slots of several members are read together."""


class Rehearsal(NamedTuple):
    """What a decision did before it was taken back."""

    receipt: ReviewReceipt
    before: PiecesOfRecords
    after: PiecesOfRecords
    warnings: tuple[str, ...]
    """What relates the two."""


@dataclass(frozen=True, slots=True)
class Rehearsals(Caller):
    """Decisions on cases, tried without being made."""

    view: View

    def impact(
        self, reader: Reader, case: Review, subject: EntityView, best: EntityCandidate
    ) -> Impact:
        """What accepting a case would do; nothing, and why, where the store would refuse it."""
        last_us = reader.clock().last_us
        candidate = described_entity(reader, best.entity, sight_of(self.principal, None), last_us)
        known = reader.entities((*subject.members, *candidate.members), tx_us=last_us)
        judgements = non_matches_between(known.judgements, subject.members, candidate.members)
        standing: list[str] = []
        for row in judgements:
            # What the case itself has said before may be lifted by it.
            if row.merge_id is None or row.merge_id != case.merge_id:
                ends = f"{row.left_id} and {row.right_id}"
                standing.append(f"{row.actor} ({row.judged_by.value}): {ends} differ")

        common = self._neighbour_names(subject) & self._neighbour_names(candidate)
        empty_impact = Impact(
            moves=0,
            slots=(),
            conflicts=(),
            surviving=candidate.entity_id,
            members=len(candidate.members),
            standing=tuple(standing),
            common=tuple(sorted(common)),
        )
        # A decided case would be refused: no writer has to wait for that to be found out.
        if case.state not in WAITING:
            return empty_impact

        rehearsals: list[Rehearsal] = []
        try:
            with suppress(_TakenBackError), self._backend.store.writing(self._tenant) as tx:
                rehearsals.append(self._accept(tx, case, subject, candidate))
                raise _TakenBackError
        except TenureError as refusal:
            # Why the store would refuse stands where the judgements stand that forbid it.
            return replace(empty_impact, standing=tuple(standing) or (str(refusal),))

        (rehearsal,) = rehearsals
        # Read once for both sides: a merge moves objects and makes none.
        ids = _object_ids(rehearsal.before) | _object_ids(rehearsal.after)
        mask = Mask(self.principal, self._backend.policy)
        versions = visible_rows(mask.over(reader, self._rows_of(reader, sorted(ids))))
        values = values_as_said(reader, versions, sight_of(self.principal, None))
        # The values that may be seen as one reads them: entities by name.
        texts: dict[str, str] = {}
        for version in versions:
            texts[version.row.claim.object_id] = value_text(shown_value(version, values))

        changes = _changes(rehearsal, texts)
        moved_ids: set[str] = set()
        for record, pieces in rehearsal.before:
            if record.subject_id in subject.members:
                moved_ids.update([piece.object_id for piece in pieces if piece.object_id in texts])

        return replace(
            empty_impact,
            standing=(*standing, *rehearsal.warnings),
            moves=len(moved_ids),
            slots=tuple([change.slot for change in changes]),
            conflicts=tuple([change.conflict for change in changes if change.conflict]),
            surviving=rehearsal.receipt.canonical_id,
            members=len({*subject.members, *candidate.members}),
            changes=changes,
        )

    def _accept(
        self, tx: WriteTx, case: Review, subject: EntityView, candidate: EntityView
    ) -> Rehearsal:
        """Accept a case, with the rows of its slots before and after.

        Raises:
            TenureError: what the decision would be refused with.
        """
        tx.lock()
        # A slot without a name is one of texts, which decide nothing between them.
        records: list[SlotRecord] = []
        for record in tx.find(SLOTS, "subject_id", (*subject.members, *candidate.members)):
            if record.slot is not None:
                records.append(record)

        before = _pieces(tx, records)
        mandate = Mandate(
            operation_id=self._backend.ids(), actor=self._actor, now_us=self._backend.now_us()
        )
        relations = RelationCheck(self._backend, self.principal)
        warnings = relations.warnings(tx, case.entity_id, candidate.entity_id)
        receipt = accept(
            tx,
            case.review_id,
            mandate=mandate,
            policy=self._backend.policy.resolution,
            entity=candidate.entity_id,
        )
        if isinstance(receipt, TenureError):
            raise receipt
        return Rehearsal(receipt, before, _pieces(tx, records), warnings)

    def _neighbour_names(self, entity: EntityView) -> set[str]:
        """The names of what stands one step from an entity."""
        neighbourhood = self.view.neighbourhood(entity.entity_id, hops=1)
        names: set[str] = set()
        for neighbour in neighbourhood.entities:
            # The neighbourhood has the entity itself in its middle.
            if neighbour.entity_id != entity.entity_id:
                names.add(neighbour.name)
        return names


def _changes(rehearsal: Rehearsal, texts: Mapping[str, str]) -> tuple[SlotChange, ...]:
    """The slots whose answer would change, as far as the caller may see it; texts by object id."""
    before, after = _by_slot(rehearsal.before), _by_slot(rehearsal.after)

    changes: list[SlotChange] = []
    for name in sorted(before.keys() | after.keys()):
        earlier_pieces = before.get(name, frozenset[_Piece]())
        later_pieces = after.get(name, frozenset[_Piece]())
        visible_before = _review_beliefs(earlier_pieces, texts)
        visible_after = _review_beliefs(later_pieces, texts)
        # A slot that changes in nothing that may be seen is not so much as named.
        if visible_before == visible_after:
            continue

        slot, scope_id = name
        changes.append(
            SlotChange(slot=slot, scope=scope_id, before=visible_before, after=visible_after)
        )
    return tuple(changes)


def _pieces(tx: WriteTx, records: Sequence[SlotRecord]) -> PiecesOfRecords:
    """The open rows of each slot that decide or dispute it."""
    reads = [SlotRead((record.slot_key,), ALL_TIME, full=False) for record in records]
    pieces: list[tuple[SlotRecord, frozenset[_Piece]]] = []
    for record, rows in zip(records, tx.open_rows(reads), strict=True):
        members: set[_Piece] = set()
        for row in rows:
            # What another row overtook answers nobody.
            if row.look.head:
                members.add(_Piece(row.claim.object_id, row.interval, row.look.status))
        pieces.append((record, frozenset(members)))
    return pieces


def _by_slot(pieces: PiecesOfRecords) -> Mapping[SlotName, frozenset[_Piece]]:
    """The rows by slot and scope, those of several members together; none without a row."""
    by_slot: dict[SlotName, frozenset[_Piece]] = {}
    for record, members in pieces:
        if members:
            name = record.slot or "", record.scope_id
            by_slot[name] = by_slot.get(name, frozenset()) | members
    return by_slot


def _object_ids(pieces: PiecesOfRecords) -> frozenset[str]:
    object_ids: set[str] = set()
    for _, members in pieces:
        object_ids.update(map(attrgetter("object_id"), members))
    return frozenset(object_ids)


def _review_beliefs(pieces: Iterable[_Piece], texts: Mapping[str, str]) -> tuple[ReviewBelief, ...]:
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
