"""Erase: withdraw for the law, empty what was said, and keep who, when and why.

The objects leave their slots through the fold, so hidden claims resurface and a dominated
claim comes back. What repeats a value on its behalf goes with it: withdrawals of that value
alone, and objects derived from it alone or holding its words. Independent claims of the same
value stay and are listed. The rows stay where they were: at an earlier transaction time the
slot reads *erased*, never something wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ...resolution.clusters import WAITING
from ...resolution.keys import entity_id as derived_entity_id
from ...schema.answers import ErasedEnvelope, ErasureReceipt
from ...schema.artifact import is_address
from ...schema.claim import Assertion, Claim
from ...schema.entity import Entity, Review
from ...schema.values import NO_VALUE_KEY, micros
from ...schema.vocabulary import EntityState, Op, ReviewState, Status
from ..port.records import Tombstone
from ..port.store import Clock, Reader, WriteTx
from ..port.tables import ACTIONS, SLOTS
from ..timeline.reconcile import Reach
from .change import (
    Mandate,
    OperationChange,
    begin,
    kept_receipt,
    unknown_entity,
    unknown_object,
)
from .naming import refold_names, texts_naming
from .replan import Group, ReplanCause, flag_dependants, groups_for, history_of, reach_of, replan

FindEnvelopes = Callable[[Reader, Sequence[str], Collection[str]], tuple[ErasedEnvelope, ...]]
"""Finds the envelopes that held one of some objects or named one of some entities, by id."""


def erase(
    tx: WriteTx,
    *,
    object_id: str | None = None,
    entity: str | None = None,
    along: Sequence[str] = (),
    envelopes: FindEnvelopes | None = None,
    mandate: Mandate,
) -> ErasureReceipt:
    """Erase one object, or an entity with all that is said about it under every merged id.

    `along` are objects that go with it where they still stand. A retry under the same
    `mandate.operation_id` returns the first receipt.

    Raises:
        NotFound: `unknown_object`, `unknown_entity`; also for what is erased already.
    """
    clock = tx.lock()
    receipt = kept_receipt(
        tx,
        ErasureReceipt,
        mandate.operation_id,
        artifacts=[],
        originals=[],
        envelopes=[],
        recipients=[],
    )
    if receipt:
        return receipt

    object_ids = set(tx.assertions(along))
    if entity is None:
        if object_id is not None:
            object_ids.add(object_id)
        receipt, _ = erase_objects(tx, clock, sorted(object_ids), mandate, envelopes=envelopes)
        return receipt

    known = tx.entities((entity,), tx_us=clock.last_us).entities
    if entity not in known or known[entity].state is EntityState.ERASED:
        raise unknown_entity(entity)
    # A waiting entity that may be this one alone goes along; of others the objects are listed.
    family, proposed_ids = dict(known), set[str]()
    for case in tx.reader().reviews():
        if case.state not in WAITING or not case.blocking:
            continue
        candidate_ids = {candidate.entity for candidate in case.candidates}
        if case.entity_id in known:
            proposed_ids |= candidate_ids
        elif candidate_ids and candidate_ids <= known.keys():
            family |= tx.entities((case.entity_id,), tx_us=clock.last_us).entities
        elif not candidate_ids.isdisjoint(known):
            proposed_ids.add(case.entity_id)

    texts = texts_naming(tx, known, tx_us=clock.last_us)
    object_ids.update(tx.objects_of(tuple(sorted(family))), texts.identifying_ids)
    listed_ids = texts.naming_ids.union(tx.objects_of(tuple(sorted(proposed_ids))))
    receipt, _ = erase_objects(
        tx,
        clock,
        sorted(object_ids),
        mandate,
        entities=family,
        listed_ids=listed_ids,
        envelopes=envelopes,
    )
    return receipt


def erase_objects(
    tx: WriteTx,
    clock: Clock,
    object_ids: Sequence[str],
    mandate: Mandate,
    *,
    entities: Mapping[str, Entity] | None = None,
    listed_ids: Collection[str] = (),
    envelopes: FindEnvelopes | None = None,
) -> tuple[ErasureReceipt, Clock]:
    """Erase objects and entities under counters that are locked already.

    `listed_ids` are objects that may be about the entities; the receipt lists those that stay.

    Raises:
        NotFound: `unknown_object`.
    """
    change = begin(clock, mandate, "erase")
    closure = _Closure(tx, clock.last_us)
    closure.take(object_ids, named=entities is None)
    doomed_ids = sorted(closure.assertions)
    excluded_ids = frozenset(doomed_ids)

    for row in tx.rows_of(doomed_ids):
        if row.look.status is Status.QUARANTINED:
            change.closed_rows.append(row)
    replan(
        tx,
        change,
        closure.groups,
        reach=closure.reach,
        cause=ReplanCause("erased"),
        excluding=excluded_ids,
    )
    stale = flag_dependants(tx, change, sources=doomed_ids, excluding=excluded_ids)

    change.close_actions(tx.find(ACTIONS, "object_id", doomed_ids, open_only=True), "erased")
    for _, entity in sorted((entities or {}).items()):
        change.entities.append(replace(entity, state=EntityState.ERASED))
        case = tx.review(review_id(entity))
        if case and case.state in WAITING:
            change.reviews.append(decided_case(case, ReviewState.REJECTED, change, note="erased"))
    nameless_ids = refold_names(
        tx, change, closure.assertions, erased_ids=frozenset(entities or ())
    )
    change.objects += doomed_ids
    recipients = envelopes(tx.reader(), doomed_ids, entities or ()) if envelopes else ()

    receipt = ErasureReceipt(
        erasure_id=mandate.operation_id,
        tx=change.at,
        actor=mandate.actor,
        reason=mandate.reason,
        object_ids=tuple(doomed_ids),
        entity_ids=tuple(sorted(entities or {})),
        independent=tuple(sorted(closure.independent().union(listed_ids) - excluded_ids)),
        stale=stale,
        actions=change.action_ids,
        originals=_originals(closure.assertions.values()),
        envelopes=tuple(envelope.envelope_id for envelope in recipients),
        recipients=recipients,
    )
    change.tombstones.append(
        Tombstone(
            erasure_id=receipt.erasure_id,
            tx=micros(receipt.tx),
            actor=receipt.actor,
            reason=receipt.reason,
            object_ids=receipt.object_ids,
            entity_ids=receipt.entity_ids,
        )
    )
    change.keep_receipt(mandate.operation_id, receipt)

    # The fold reads the words, so they are emptied last; one transaction holds both.
    batch = change.batch()
    tx.apply(batch)
    tx.empty((*receipt.object_ids, *receipt.envelopes), receipt.entity_ids, nameless_ids)
    return receipt, batch.clock


@dataclass(slots=True)
class _Closure:
    """What an erasure takes with it; grows until nothing more repeats it."""

    tx: WriteTx
    last_us: int
    assertions: dict[str, Assertion] = field(default_factory=dict[str, Assertion])
    groups: tuple[Group, ...] = ()
    claims: list[Claim] = field(default_factory=list[Claim])
    """Every claim of the slots concerned."""
    _reach: Reach | None = None

    @property
    def reach(self) -> Reach:
        """Which claims a withdrawal acts on."""
        assert self._reach is not None  # set by take
        return self._reach

    def take(self, object_ids: Iterable[str], *, named: bool) -> None:
        """Take objects, and all that repeats them on their behalf."""
        frontier = list(object_ids)
        while True:
            assertions = self.tx.assertions(tuple(sorted(frontier)))
            for object_id in frontier:
                if named and object_id not in assertions:
                    raise unknown_object(object_id)

            # What came along, or is under an entity, may have been erased before.
            self.assertions |= assertions
            named = False
            self._read_slots()
            repeats = {*self._withdrawals(), *self._derived()}
            frontier = sorted(repeats - set(self.assertions))
            if not frontier:
                return

    def _read_slots(self) -> None:
        # All of it again each time: an object that came along may lie in another slot.
        keys = {assertion.claim.slot_key for assertion in self.assertions.values()}
        self.groups = groups_for(self.tx, keys, self.last_us)

        slot_keys = tuple(chain.from_iterable(group.keys for group in self.groups))
        self.claims = list(self.tx.slot_claims(slot_keys))

        subjects: dict[str, str] = {}
        for record in self.tx.find(SLOTS, "slot_key", slot_keys):
            if record.subject_id:
                subjects[record.slot_key] = record.subject_id

        # Who was one with whom, and when, matters only where a slot has several parts.
        merged = len(slot_keys) > len(self.groups)
        history = history_of(self.tx, subjects.values()) if merged else ()
        self._reach = reach_of(history, subjects)

    def _withdrawals(self) -> Iterable[str]:
        """Yield withdrawals that name a value and reached no other claim of it."""
        claims_of: dict[str, list[Claim]] = {}
        for claim in self.claims:
            claims_of.setdefault(claim.slot_key, []).append(claim)

        for group in self.groups:
            by_value: dict[str, list[Claim]] = {}
            for key in group.keys:
                for claim in claims_of.get(key, ()):
                    by_value.setdefault(claim.value_key, []).append(claim)
            for withdrawal in chain.from_iterable(by_value.values()):
                is_delete = withdrawal.op is Op.DELETE and not withdrawal.says_nothing
                names_value = withdrawal.op is Op.RETRACT or is_delete
                if withdrawal.object_id in self.assertions or not names_value:
                    continue

                # One that took back another claim of the value as well keeps that one away.
                targets: set[str] = set()
                for claim in by_value[withdrawal.value_key]:
                    is_earlier = claim.op is not Op.RETRACT and claim.order < withdrawal.order
                    overlaps = claim.interval.overlaps(withdrawal.interval)
                    if is_earlier and overlaps and self.reach(withdrawal, claim):
                        targets.add(claim.object_id)
                if targets and targets <= self.assertions.keys():
                    yield withdrawal.object_id

    def _derived(self) -> Iterable[str]:
        """Yield objects derived from these alone, or that hold their words."""
        words = _words(self.assertions.values())
        dependants = self.tx.dependants(tuple(sorted(self.assertions)))
        for object_id, assertion in self.tx.assertions(dependants).items():
            alone = set(assertion.details.derived_from) <= self.assertions.keys()
            if alone or _repeats(assertion, words):
                yield object_id

    def independent(self) -> set[str]:
        """Objects that say the same and stay."""
        words = _words(self.assertions.values())
        values: dict[str | None, set[str]] = {}
        sources: set[str] = set()
        for assertion in self.assertions.values():
            sources |= set(assertion.details.derived_from)
            if assertion.claim.value_key != NO_VALUE_KEY or assertion.details.slot is None:
                subject_values = values.setdefault(assertion.details.subject_id, set())
                subject_values.add(assertion.claim.value_key)

        repeats: set[str] = set()
        source_assertions = self.tx.assertions(tuple(sorted(sources - self.assertions.keys())))
        for object_id, assertion in source_assertions.items():
            if _repeats(assertion, words):
                repeats.add(object_id)
        for claim in self.claims:
            if claim.value_key in values.get(None, ()):
                repeats.add(claim.object_id)
        subjects = filter(None, values)
        return (repeats | self._claims_repeating(sorted(subjects), values)) - set(self.assertions)

    def _claims_repeating(
        self, subjects: Sequence[str], values: Mapping[str | None, Collection[str]]
    ) -> set[str]:
        """Claims about subjects with one of their values, quarantined ones included."""
        if not subjects:
            return set()

        known = self.tx.entities(subjects, tx_us=self.last_us)
        clusters: dict[str, set[str]] = {}
        for raw in known.entities:
            clusters.setdefault(known.canonical.get(raw, raw), set()).add(raw)

        # The claims of a cluster are read once, not once for each value that goes.
        repeats: set[str] = set()
        for members in clusters.values():
            cluster_values: set[str] = set()
            for raw in members:
                cluster_values.update(values.get(raw, ()))
            object_ids = self.tx.objects_of(tuple(sorted(members)))
            for object_id, assertion in self.tx.assertions(object_ids).items():
                details = assertion.details
                is_about = not members.isdisjoint((details.subject_id, details.value_entity_id))
                if is_about and assertion.claim.value_key in cluster_values:
                    repeats.add(object_id)
        return repeats


def _originals(assertions: Iterable[Assertion]) -> tuple[str, ...]:
    """The artifacts that objects were taken from."""
    # Artifacts live outside the store: whoever keeps them learns from the receipt what to delete.
    origins = {assertion.details.source_origin for assertion in assertions}
    return tuple(sorted(filter(is_address, origins)))


def _words(assertions: Iterable[Assertion]) -> frozenset[str]:
    """What the objects say, folded, as other texts may repeat it."""
    words: set[str] = set()
    for assertion in assertions:
        words.add(assertion.content.text.strip().casefold())

        value = json.loads(assertion.content.value_json)
        if value is not None and not isinstance(value, str):
            words.add(assertion.content.value_json.strip().casefold())
        elif value is not None and not assertion.details.value_entity_id:
            words.add(value.strip().casefold())
    return frozenset(words - {""})


def _repeats(assertion: Assertion, words: Collection[str]) -> bool:
    content = assertion.content
    parts = (
        content.text,
        content.normalized_claim,
        content.why_it_matters,
        content.value_json,
        content.behavioral_implication or "",
    )
    text = "\n".join(parts).casefold()
    # Substrings and not words: a name inside a longer text, or in a script without spaces, too.
    return any(word in text for word in words)


def review_id(entity: Entity) -> str:
    """The id of the case that an entity may have waited for."""
    return derived_entity_id(entity.created_by, "review", entity.entity_id)


def decided_case(
    case: Review, state: ReviewState, change: OperationChange, *, note: str = "", **fields: Any
) -> Review:
    """A case with a decision, in its next version; `fields` are what else the decision says."""
    return replace(
        case,
        state=state,
        version=case.version + 1,
        decided_tx=change.stamp,
        decided_by=change.mandate.actor,
        note=note or case.note,
        **fields,
    )
