"""Small builders for store tests: claims, batches and a writer that plans like the product."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenure import Memory, Principal
from tenure.schema.claim import Assertion, Claim, Content, Details, Look, Permissions, Row, slot_key
from tenure.schema.entity import Review
from tenure.schema.interval import INF_US, Interval
from tenure.schema.layers import DecayRule
from tenure.schema.principal import Scope, Sight
from tenure.schema.terms import terms
from tenure.schema.values import canonical_json
from tenure.schema.vocabulary import (
    Authority,
    ObjectType,
    Op,
    RetirementRule,
    ReviewState,
    StateLayer,
    Status,
)
from tenure.store.port.records import Closing, StoredReceipt
from tenure.store.port.store import Batch, Clock, SlotRead, SlotRecord, Store, TxEvent
from tenure.store.timeline import reconcile
from tenure.tests.support.entities import alias as alias
from tenure.tests.support.entities import entity as entity

StoreFactory = Callable[[], Store]
"""Makes stores which share no tenant."""
Open = Callable[..., Memory]
"""Opens a memory over a fresh store."""

TENANT = "acme"
ALL = Sight(scopes=("tenant",), tags=("*",), clearance=3)


def caller(memory: Memory, **principal: Any) -> Memory:
    """The same store for a caller of the same tenant, unless another is named."""
    return memory.bind(Principal(**{"tenant": memory.principal.tenant, **principal}))


def person(name: str, **ids: str) -> dict[str, Any]:
    return {"name": name, "type": "person", "external_ids": ids}


def details(
    *,
    subject: str | None = "e1",
    slot: str | None = "office",
    scope: Scope | None = None,
    level: int = 2,
    object_type: ObjectType = ObjectType.IDENTITY_FACT,
    layer: StateLayer = StateLayer.TENANT,
    value_entity: str | None = None,
    decay: DecayRule | None = None,
    derived_from: tuple[str, ...] = (),
    origin: str = "user://chat",
) -> Details:
    return Details(
        scope=scope or Scope(),
        slot=slot,
        subject_id=subject,
        value_entity_id=value_entity,
        authority_level=Authority(level),
        source_origin=origin,
        source_kind="user_statement",
        object_type=object_type,
        layer=layer,
        applicable_task_types=("planning",),
        sensitivity=(),
        decay_rule=decay,
        retirement_rule=RetirementRule.ARCHIVE,
        update_path="append",
        derived_from=derived_from,
        origins=(origin,),
        planned=False,
        actor="ann",
        resolved_via="",
    )


def content(value: object, text: str) -> Content:
    return Content(
        value_json=canonical_json(value),
        text=text,
        normalized_claim=text,
        why_it_matters="tests",
        behavioral_implication=None,
        enforcement=None,
        terms=" ".join(terms(text)),
    )


@dataclass(frozen=True, kw_only=True)
class Say:
    """A write in the terms of these tests."""

    object_id: str
    value: str | None = "Chicago"
    start: int = 0
    until: int = INF_US
    op: Op = Op.ASSERT
    subject: str | None = "e1"
    slot: str | None = "office"
    level: int = 2
    trust: int = 800
    scope: Scope = field(default_factory=Scope)
    permissions: Permissions = field(default_factory=Permissions)
    object_type: ObjectType = ObjectType.IDENTITY_FACT
    layer: StateLayer = StateLayer.TENANT
    text: str | None = None
    value_entity: str | None = None
    decay: DecayRule | None = None
    quarantine: str = ""
    many: bool = False
    derived_from: tuple[str, ...] = ()
    key: str | None = None

    @property
    def slot_key(self) -> str:
        if self.slot is None:
            return f"text:{self.object_id}"
        return slot_key(self.subject or "", self.slot, self.scope.scope_id)

    @property
    def record(self) -> SlotRecord:
        about = None if self.slot is None else self.subject
        return SlotRecord(self.slot_key, about, self.slot, self.scope.scope_id, self.many)

    def assertion(self, tx: int, ordinal: int) -> Assertion:
        spoken = self.text or f"{self.subject} {self.slot} is {self.value}"
        # What a text without a slot says is the text.
        value = self.value if self.slot or self.value is None else spoken
        return Assertion(
            claim=Claim(
                object_id=self.object_id,
                slot_key=self.slot_key,
                op=self.op,
                value_key="" if value is None else f"s:{value}",
                interval=Interval(self.start, self.until),
                since_us=self.start,
                level=self.level,
                source_authority=self.trust,
                confidence=self.trust,
                tx=tx,
                ordinal=ordinal,
            ),
            details=details(
                subject=self.subject,
                slot=self.slot,
                scope=self.scope,
                level=min(self.level, 4),
                object_type=self.object_type,
                layer=self.layer,
                value_entity=self.value_entity,
                decay=self.decay,
                derived_from=self.derived_from,
            ),
            content=content(value, spoken),
            permissions=self.permissions,
            quarantine=self.quarantine,
        )


def event(
    clock: Clock, *, tx: int | None = None, ids: Sequence[str] = (), op: str = "assert"
) -> TxEvent:
    stamp = max(clock.last_us + 1, 1) if tx is None else tx
    return TxEvent(seq=clock.seq + 1, tx=stamp, actor="ann", op=op, object_ids=tuple(ids))


def after(clock: Clock, events: Sequence[TxEvent], *, rows: int = 0) -> Clock:
    return Clock(
        clock.seq + len(events),
        events[-1].tx if events else clock.last_us,
        clock.next_vid + rows,
        clock.vec_seq,
    )


def receipt(say: Say, tx: int) -> StoredReceipt:
    return StoredReceipt(
        object_id=say.object_id,
        tx=tx,
        body=canonical_json({"object_id": say.object_id, "value": say.value}),
        idempotency_key=say.key,
        fingerprint=f"print of {say.value}",
    )


def commit(
    store: Store, says: Iterable[Say], *, tx: int | None = None, tenant: str = TENANT
) -> int:
    """Write under one stamp, planned as the product plans, and return the stamp.

    The writes of one call must not touch the same slot: nothing is netted here.
    """
    given = list(says)
    with store.writing(tenant) as write:
        clock = write.lock()
        told = event(clock, tx=tx, ids=[say.object_id for say in given])
        batch = Batch(clock=clock)
        for ordinal, say in enumerate(given):
            stated = say.assertion(told.tx, ordinal)
            if say.quarantine:
                look = Look(Status.QUARANTINED, say.quarantine, False)
                rows: tuple[Row, ...] = (
                    Row(0, stated.claim, stated.claim.interval, look, told.tx),
                )
                plan = None
            else:
                read = SlotRead((say.slot_key,), stated.claim.interval, say.op.withdraws)
                (open_rows,) = write.open_rows([read])
                plan = reconcile.plan(open_rows, stated.claim, many=say.many)
                rows = plan.insert
            numbered = tuple(
                replace(row, vid=clock.next_vid + place) for place, row in enumerate(rows)
            )
            events = (told,) if ordinal == 0 else ()
            clock = after(clock, events, rows=len(numbered))
            batch = Batch(
                clock=clock,
                events=events,
                slots=(say.record,),
                claims=(stated,),
                close=tuple(Closing(row.vid, told.tx) for row in plan.close) if plan else (),
                rows=numbered,
                edges=plan.edges if plan else (),
                receipts=(receipt(say, told.tx),),
            )
            write.apply(batch)
        return told.tx


def add(store: Store, *, tenant: str = TENANT, tx: int | None = None, **fields: object) -> int:
    """Apply a batch of one event with these fields, and return its stamp."""
    with store.writing(tenant) as write:
        clock = write.lock()
        told = event(clock, tx=tx)
        write.apply(Batch(clock=after(clock, [told]), events=(told,), **fields))  # type: ignore[arg-type]
        return told.tx


def waiting_case(raw: str, *, tx: int, object_id: str = "o1") -> Review:
    return Review(
        review_id=f"case-{raw}",
        entity_id=raw,
        mention=raw,
        type="person",
        scope_id="tenant",
        candidates=(),
        reason="scored",
        object_id=object_id,
        state=ReviewState.OPEN,
        version=1,
        opened_tx=tx,
    )
