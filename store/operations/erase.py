"""Erase: withdraw for the law, empty what was said, and keep who, when and why.

The objects leave their slots through the fold, so hidden claims resurface and a dominated
claim comes back. What repeats a value on its behalf goes with it: withdrawals of that value
alone, and objects derived from it alone or holding its words. Independent claims of the same
value stay and are listed. The rows stay where they were: at an earlier transaction time the
slot reads *erased*, never something wrong.
Sources: DESIGN 3; settled 5; bitemporal 4 (row 18); neo4j 7; checklist C-031.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from ...resolution.clusters import WAITING
from ...resolution.keys import entity_id as derived_entity_id
from ...schema.artifact import is_address
from ...schema.claim import Assertion, Claim
from ...schema.entity import Entity, Review
from ...schema.errors import NotFound
from ...schema.operation import ErasureReceipt
from ...schema.values import NOTHING, canonical_json, micros, stamped
from ...schema.vocabulary import EntityState, Op, ReviewState, Status
from ..port.store import Clock, Tombstone, WriteTx
from ..timeline.reconcile import Reach
from .change import Change, Mandate, begin, first_receipt, unknown_object
from .replan import Group, Why, flag_dependants, groups_for, history_of, reach_of, replan


def erase(
    tx: WriteTx, *, object_id: str | None = None, entity: str | None = None, mandate: Mandate
) -> ErasureReceipt:
    """Erase one object, or an entity with all that is said about it under every merged id.

    A retry under the same `mandate.operation_id` returns the first receipt.

    Raises:
        NotFound: `unknown_object`, `unknown_entity`; also for what is erased already.
    """
    clock = tx.lock()
    held = first_receipt(tx, mandate.operation_id)
    if held:
        return _decode(held)
    if entity is None:
        return erase_objects(tx, clock, () if object_id is None else (object_id,), mandate)[0]
    known = tx.entities((entity,), tx_us=clock.last_us).entities
    if entity not in known or known[entity].state is EntityState.ERASED:
        raise NotFound(
            f"there is no entity {entity}, or it was erased; look it up with entities.list()",
            code="unknown_entity",
            entity=entity,
        )
    objects = tx.objects_of(tuple(sorted(known)))
    return erase_objects(tx, clock, objects, mandate, entities=known)[0]


def erase_objects(
    tx: WriteTx,
    clock: Clock,
    object_ids: Sequence[str],
    mandate: Mandate,
    *,
    entities: Mapping[str, Entity] | None = None,
) -> tuple[ErasureReceipt, Clock]:
    """Erase objects and entities under counters that are locked already.

    Raises:
        NotFound: `unknown_object`.
    """
    change = begin(clock, mandate, "erase")
    doom = _Doom(tx, clock.last_us)
    doom.take(object_ids, named=entities is None)
    doomed = sorted(doom.held)
    for row in tx.rows_of(doomed):
        if row.look.status is Status.QUARANTINED:
            change.closed_rows.append(row)
    replan(tx, change, doom.groups, reach=doom.reach, why=Why("erased"), without=frozenset(doomed))
    stale = flag_dependants(tx, change, also=doomed, without=frozenset(doomed))
    change.close_actions(tx.open_actions(object_ids=doomed), "erased")
    _entities(tx, change, entities or {})
    change.objects += doomed
    receipt = ErasureReceipt(
        erasure_id=mandate.operation_id,
        tx=change.at,
        actor=mandate.actor,
        reason=mandate.reason,
        object_ids=tuple(doomed),
        entity_ids=tuple(sorted(entities or {})),
        independent=tuple(sorted(doom.independent() - set(doomed))),
        stale=stale,
        actions=tuple(action.action_id for action in change.actions),
        originals=_originals(doom.held.values()),
    )
    change.tombstones.append(_tombstone(receipt))
    change.keep(mandate.operation_id, _encode(receipt))
    batch = change.batch()
    tx.apply(batch)
    tx.empty(receipt.object_ids, receipt.entity_ids)
    return receipt, batch.clock


@dataclass(slots=True)
class _Doom:
    """What an erasure takes with it; grows until nothing more repeats it."""

    tx: WriteTx
    last_us: int
    held: dict[str, Assertion] = field(default_factory=dict[str, Assertion])
    groups: tuple[Group, ...] = ()
    claims: list[Claim] = field(default_factory=list[Claim])
    """Every claim of the slots concerned."""
    _reach: Reach | None = None

    @property
    def reach(self) -> Reach:
        """Return which claims a withdrawal acts on."""
        assert self._reach is not None  # set by take
        return self._reach

    def take(self, object_ids: Iterable[str], *, named: bool) -> None:
        """Take objects, and all that repeats them on their behalf."""
        fresh = list(object_ids)
        while True:
            found = self.tx.assertions(tuple(sorted(fresh)))
            missing = [one for one in fresh if one not in found]
            if missing and named:
                raise unknown_object(missing[0])
            self.held |= found
            named = False
            self._read()
            fresh = sorted({*self._withdrawals(), *self._derived()} - set(self.held))
            if not fresh:
                return

    def _read(self) -> None:
        keys = {held.claim.slot_key for held in self.held.values()}
        self.groups = groups_for(self.tx, keys, self.last_us)
        every = tuple(key for group in self.groups for key in group.keys)
        self.claims = list(self.tx.slot_claims(every))
        subjects = {r.slot_key: r.subject_id for r in self.tx.slots(every) if r.subject_id}
        several = any(len(group.keys) > 1 for group in self.groups)
        history = history_of(self.tx, subjects.values()) if several else ()
        self._reach = reach_of(history, subjects)

    def _withdrawals(self) -> Iterable[str]:
        """Yield withdrawals that name a value and reached no other claim of it."""
        for group in self.groups:
            claims = [c for c in self.claims if c.slot_key in group.keys]
            for w in claims:
                if w.object_id in self.held or not _names_value(w):
                    continue
                met = [c for c in claims if self._acted(w, c)]
                mine = [c for c in met if c.object_id in self.held]
                if mine and len(mine) == len(met):
                    yield w.object_id

    def _acted(self, w: Claim, c: Claim) -> bool:
        return (
            c.op is not Op.RETRACT
            and c.value_key == w.value_key
            and c.order < w.order
            and c.interval.overlaps(w.interval)
            and self.reach(w, c)
        )

    def _derived(self) -> Iterable[str]:
        """Yield objects derived from these alone, or that hold their words."""
        words = _words(self.held.values())
        dependants = self.tx.dependants(tuple(sorted(self.held)))
        for object_id, one in self.tx.assertions(dependants).items():
            alone = set(one.details.derived_from) <= self.held.keys()
            if alone or _repeats(one, words):
                yield object_id

    def independent(self) -> set[str]:
        """Return objects that say the same and stay."""
        values = {
            (held.details.subject_id, held.claim.value_key)
            for held in self.held.values()
            if held.claim.value_key != NOTHING or held.details.slot is None
        }
        words = _words(self.held.values())
        sources = {s for held in self.held.values() for s in held.details.derived_from}
        beside = self.tx.assertions(tuple(sorted(sources - self.held.keys())))
        found = {i for i, one in beside.items() if _repeats(one, words)}
        for subject, value in values:
            found |= {c.object_id for c in self._said_of(subject) if c.value_key == value}
        return found - self.held.keys()

    def _said_of(self, subject: str | None) -> Sequence[Claim]:
        """Return every claim about a subject, quarantined ones included."""
        if subject is None:
            return self.claims
        family = tuple(sorted(self.tx.entities((subject,), tx_us=self.last_us).entities))
        held = self.tx.assertions(self.tx.objects_of(family)).values()
        ends = ((one, one.details.subject_id, one.details.value_entity_id) for one in held)
        return [one.claim for one, *named in ends if not set(family).isdisjoint(named)]


def _names_value(w: Claim) -> bool:
    return w.op is Op.RETRACT or (w.op is Op.DELETE and not w.says_nothing)


def _originals(held: Iterable[Assertion]) -> tuple[str, ...]:
    """Return the artifacts that objects were taken from."""
    named = {one.details.source_origin for one in held}
    return tuple(sorted(filter(is_address, named)))


def _words(held: Iterable[Assertion]) -> frozenset[str]:
    """Return what the objects say, folded, as other texts may repeat it."""
    found: set[str] = set()
    for one in held:
        value = json.loads(one.content.value_json)
        said = "" if one.details.value_entity_id else value if isinstance(value, str) else ""
        if value is not None and not isinstance(value, str):
            said = one.content.value_json
        found |= {said.strip().casefold(), one.content.text.strip().casefold()}
    return frozenset(found - {""})


def _repeats(one: Assertion, words: Collection[str]) -> bool:
    content = one.content
    parts = (content.text, content.normalized_claim, content.why_it_matters, content.value_json)
    said = "\n".join((*parts, content.behavioral_implication or "")).casefold()
    return any(word in said for word in words)


def _entities(tx: WriteTx, change: Change, entities: Mapping[str, Entity]) -> None:
    """Mark entities erased, and end the cases that wait for a word about them."""
    for raw, entity in sorted(entities.items()):
        change.entities.append(replace(entity, state=EntityState.ERASED))
        case = tx.review(review_id(entity))
        if case and case.state in WAITING:
            change.reviews.append(decided(case, ReviewState.REJECTED, change, note="erased"))
        assert raw == entity.entity_id


def review_id(entity: Entity) -> str:
    """Return the id of the case that an entity may have waited for."""
    return derived_entity_id(entity.created_by, "review", entity.entity_id)


def decided(case: Review, state: ReviewState, change: Change, *, note: str = "") -> Review:
    """Return a case with a decision, in its next version."""
    return replace(
        case,
        state=state,
        version=case.version + 1,
        decided_tx=change.stamp,
        decided_by=change.mandate.actor,
        note=note or case.note,
    )


def _tombstone(receipt: ErasureReceipt) -> Tombstone:
    return Tombstone(
        erasure_id=receipt.erasure_id,
        tx=micros(receipt.tx),
        actor=receipt.actor,
        reason=receipt.reason,
        object_ids=receipt.object_ids,
        entity_ids=receipt.entity_ids,
    )


def _encode(receipt: ErasureReceipt) -> str:
    return canonical_json({**asdict(receipt), "tx": micros(receipt.tx)})


def _decode(body: str) -> ErasureReceipt:
    held = json.loads(body)
    return ErasureReceipt(
        erasure_id=held["erasure_id"],
        tx=stamped(held["tx"]),
        actor=held["actor"],
        reason=held["reason"],
        object_ids=tuple(held["object_ids"]),
        entity_ids=tuple(held["entity_ids"]),
        independent=tuple(held["independent"]),
        stale=tuple(held["stale"]),
        actions=tuple(held["actions"]),
        originals=tuple(held.get("originals", ())),
        replayed=True,
    )
