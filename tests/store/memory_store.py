"""A store in dictionaries, for tests alone: it honours the port and checks what it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tenure.resolution.known import Known, Lookup
from tenure.schema.claim import EMPTY_CONTENT, Assertion, Claim, Edge, MentionLink, Row, Version
from tenure.schema.entity import Alias, Entity, Identifier, Judgement, Review
from tenure.schema.interval import INF_US, MIN_US
from tenure.schema.principal import Sight
from tenure.schema.vocabulary import ActionKind, EdgeKind, EntityState, Op, Status
from tenure.store.port.store import (
    ActionRecord,
    Ask,
    Batch,
    Clock,
    Flag,
    Page,
    PermissionChange,
    Point,
    SlotRead,
    SlotRecord,
    StoredReceipt,
    Tombstone,
    TxEvent,
)


@dataclass
class State:
    clock: Clock = field(default_factory=lambda: Clock(0, MIN_US, 1, 0))
    events: list[TxEvent] = field(default_factory=list)
    entities: dict[str, Entity] = field(default_factory=dict)
    aliases: list[Alias] = field(default_factory=list)
    identifiers: list[Identifier] = field(default_factory=list)
    slots: dict[str, SlotRecord] = field(default_factory=dict)
    claims: dict[str, Assertion] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    mentions: list[MentionLink] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    judgements: dict[str, Judgement] = field(default_factory=dict)
    reviews: dict[str, Review] = field(default_factory=dict)
    canonical: list[tuple[str, str, int]] = field(default_factory=list)
    actions: dict[str, ActionRecord] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    permissions: list[PermissionChange] = field(default_factory=list)
    tombstones: list[Tombstone] = field(default_factory=list)
    receipts: dict[str, StoredReceipt] = field(default_factory=dict)

    def copy(self) -> State:
        held: dict[str, Any] = {f.name: copy(getattr(self, f.name)) for f in fields(self)}
        return State(**held)


def live(thing: Alias | Identifier | Judgement | Row | ActionRecord, tx_us: int) -> bool:
    return thing.tx_start <= tx_us < thing.tx_end


class MemoryReads:
    def __init__(self, state: State) -> None:
        self.state = state

    def root(self, raw: str, tx_us: int) -> str:
        moves = [root for member, root, tx in self.state.canonical if member == raw and tx <= tx_us]
        return moves[-1] if moves else raw

    def _known(self, ids: set[str], aliases: list[Alias], tx_us: int) -> Known:
        state = self.state
        roots = {self.root(raw, tx_us) for raw in ids}
        members = {
            raw
            for raw, entity in state.entities.items()
            if entity.tx_start <= tx_us and (raw in ids or self.root(raw, tx_us) in roots)
        }
        canonical = {raw: self.root(raw, tx_us) for raw in sorted(members)}
        shared = [r for r in canonical.values() if list(canonical.values()).count(r) > 1]
        return Known(
            identifiers=tuple(
                i for i in state.identifiers if i.entity_id in members and live(i, tx_us)
            ),
            aliases=tuple(aliases),
            entities={raw: state.entities[raw] for raw in sorted(members)},
            judgements=tuple(
                j
                for _, j in sorted(state.judgements.items())
                if live(j, tx_us) and {j.left_id, j.right_id} <= members
            ),
            canonical={raw: root for raw, root in canonical.items() if root in shared},
        )

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        state = self.state
        aliases = [
            a
            for a in state.aliases
            if a.norm in lookup.norms and a.scope_id in scopes and live(a, tx_us)
        ]
        held = [
            i
            for i in state.identifiers
            if (i.scheme, i.value) in lookup.identifiers and i.scope_id in scopes and live(i, tx_us)
        ]
        ids = {a.entity_id for a in aliases} | {i.entity_id for i in held}
        known = self._known(ids | set(lookup.entity_ids), aliases, tx_us)
        seen = tuple(i for i in known.identifiers if i.scope_id in scopes)
        return replace(known, identifiers=seen)

    def known_each(
        self, asked: Sequence[tuple[Lookup, Sequence[str]]], *, tx_us: int
    ) -> Sequence[Known]:
        return [self.known(lookup, scopes=scopes, tx_us=tx_us) for lookup, scopes in asked]

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        found = self._known(set(entity_ids), [], tx_us)
        aliases = [
            a for a in self.state.aliases if a.entity_id in found.entities and live(a, tx_us)
        ]
        return replace(found, aliases=tuple(aliases))

    def _confirmed(self, object_id: str, tx_us: int) -> int | None:
        return max(
            (
                e.tx
                for e in self.state.edges
                if e.kind is EdgeKind.CONFIRMS and e.dst == object_id and e.tx <= tx_us
            ),
            default=None,
        )

    def _flag(self, object_id: str, kind: str, tx_us: int) -> bool:
        marks = [
            f
            for f in self.state.flags
            if f.object_id == object_id and f.kind == kind and f.tx <= tx_us
        ]
        return bool(marks) and marks[-1].on

    def _permitted(self, held: Assertion) -> Assertion:
        changes = [c for c in self.state.permissions if c.object_id == held.claim.object_id]
        return replace(held, permissions=changes[-1].permissions) if changes else held

    def _version(self, row: Row, tx_us: int, *, visible: bool = True) -> Version:
        object_id = row.claim.object_id
        held = self._permitted(self.state.claims[object_id])
        return Version(
            row=row if row.tx_end <= tx_us else replace(row, tx_end=INF_US),
            details=held.details,
            content=held.content if visible and not held.erased else None,
            permissions=held.permissions,
            visible=visible,
            erased=held.erased,
            last_confirmed_us=self._confirmed(object_id, tx_us),
            demoted=self._flag(object_id, "demoted", tx_us),
            stale=self._flag(object_id, "stale", tx_us),
            confirm_due=self._flag(object_id, "confirm_due", tx_us),
        )

    def objects_of(self, entity_ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            sorted(
                i
                for i, held in self.state.claims.items()
                if not held.erased
                and {
                    held.details.subject_id,
                    held.details.value_entity_id,
                    *(m.entity_id for m in self.state.mentions if m.object_id == i),
                }
                & set(entity_ids)
            )
        )

    def objects_with(self, words: Sequence[str]) -> tuple[str, ...]:
        ids = [
            i
            for i, held in self.state.claims.items()
            if not held.erased and set(words) <= set(held.content.terms.split())
        ]
        return tuple(sorted(ids))

    def assertions(self, object_ids: Sequence[str]) -> Mapping[str, Assertion]:
        held = {i: self.state.claims[i] for i in object_ids if i in self.state.claims}
        return {i: self._permitted(a) for i, a in held.items() if not a.erased}

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        return tuple(
            self._version(row, point.tx_us)
            for _, row in sorted(self.state.rows.items())
            if live(row, point.tx_us)
            and row.look.head
            and row.look.status is Status.CLEAN
            and point.valid_us in row.interval
            and self.state.claims[row.claim.object_id].details.decay_rule is not None
        )


class MemoryReader(MemoryReads):
    home = "memory"

    def clock(self) -> Clock:
        return self.state.clock

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Page:
        found, withheld = [], 0
        for _, row in sorted(self.state.rows.items()):
            held = self._permitted(self.state.claims[row.claim.object_id])
            details = held.details
            known = row.tx_start <= point.tx_us
            if (
                details.scope.scope_id not in sight.scopes
                or not (live(row, point.tx_us) if ask.at_tx else known)
                or (ask.heads and not row.look.head)
                or (ask.at_valid and point.valid_us not in row.interval)
                or (ask.subjects and details.subject_id not in ask.subjects)
                or (ask.slots and details.slot not in ask.slots)
                or (ask.objects and row.claim.object_id not in ask.objects)
                or (ask.keys and row.claim.slot_key not in ask.keys)
            ):
                continue
            may = held.permissions
            visible = sight.may_see(
                classification=may.classification.rank, allow=may.allow, deny=may.deny
            )
            withheld += not visible
            found.append(self._version(row, point.tx_us, visible=visible))
        return Page(tuple(found), withheld)

    def edges(self, object_ids: Sequence[str], *, tx_us: int) -> tuple[Edge, ...]:
        ids = set(object_ids)
        return tuple(e for e in self.state.edges if ids & {e.src, e.dst} and e.tx <= tx_us)

    def receipts(self, object_ids: Sequence[str]) -> tuple[StoredReceipt, ...]:
        return tuple(r for i, r in sorted(self.state.receipts.items()) if i in object_ids)

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        known = [a for a in self.state.actions.values() if a.tx_start <= tx_us]
        known.sort(key=lambda a: (a.tx_start, a.action_id))
        asked = [a for a in known if kind is None or a.kind is kind]
        return tuple(a for a in asked if not open_only or live(a, tx_us))

    def reviews(self, *, state: str | None = None) -> tuple[Review, ...]:
        cases = sorted(self.state.reviews.values(), key=lambda r: (r.opened_tx, r.review_id))
        return tuple(r for r in cases if state is None or r.state == state)

    def entity_ids(
        self,
        *,
        type: str | None = None,
        after: str = "",
        most: int | None = None,
        scopes: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        found = sorted(self.state.entities.items())
        ids = [i for i, e in found if type in (None, e.type) and i > after]
        if scopes is not None:
            named = {a.entity_id for a in self.state.aliases if a.scope_id in scopes}
            named.update(canonical_id for _, canonical_id, _ in self.state.canonical)
            ids = [i for i in ids if i in named]
        return tuple(ids[:most])

    def object_ids(self, beginning: str, *, after: str = "", limit: int) -> tuple[str, ...]:
        ids = sorted(i for i in self.state.claims if i.startswith(beginning) and i > after)
        return tuple(ids[:limit])


class MemoryTx(MemoryReads):
    def lock(self) -> Clock:
        return self.state.clock

    def receipts(
        self, keys: Sequence[str], object_ids: Sequence[str] = ()
    ) -> tuple[StoredReceipt, ...]:
        return tuple(
            r
            for i, r in sorted(self.state.receipts.items())
            if i in object_ids or (r.idempotency_key and r.idempotency_key in keys)
        )

    def open_rows(self, reads: Sequence[SlotRead]) -> tuple[tuple[Row, ...], ...]:
        return tuple(tuple(self._open(read)) for read in reads)

    def _open(self, read: SlotRead) -> Iterator[Row]:
        for _, row in sorted(self.state.rows.items()):
            if (
                row.live
                and row.claim.slot_key in read.slot_keys
                and row.interval.overlaps(read.span)
                and row.look.status is not Status.QUARANTINED
                and (read.full or row.look.head or row.claim.op is Op.DENY)
            ):
                yield row

    def rows_of(self, object_ids: Sequence[str]) -> tuple[Row, ...]:
        return tuple(
            row
            for _, row in sorted(self.state.rows.items())
            if row.live and row.claim.object_id in object_ids
        )

    def slot_claims(self, slot_keys: Sequence[str]) -> tuple[Claim, ...]:
        found = [
            held.claim
            for held in self.state.claims.values()
            if held.claim.slot_key in slot_keys and not held.quarantine and not held.erased
        ]
        return tuple(sorted(found, key=lambda c: c.order))

    def slots(self, slot_keys: Sequence[str]) -> tuple[SlotRecord, ...]:
        return tuple(r for k, r in sorted(self.state.slots.items()) if k in slot_keys)

    def slots_of(self, entity_ids: Sequence[str]) -> tuple[SlotRecord, ...]:
        return tuple(r for _, r in sorted(self.state.slots.items()) if r.subject_id in entity_ids)

    def live_objects(self, kind: str, value: str) -> tuple[str, ...]:
        return tuple(
            sorted(
                {
                    row.claim.object_id
                    for row in self.state.rows.values()
                    if row.live
                    and getattr(self.state.claims[row.claim.object_id].details.scope, kind) == value
                }
            )
        )

    def dependants(self, object_ids: Sequence[str]) -> tuple[str, ...]:
        reached = set(object_ids)
        while True:
            more = {
                e.src
                for e in self.state.edges
                if e.kind is EdgeKind.DERIVED_FROM and e.dst in reached
            } - reached
            if not more:
                return tuple(sorted(reached - set(object_ids)))
            reached |= more

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        return tuple(
            j
            for _, j in sorted(self.state.judgements.items())
            if {j.left_id, j.right_id} & set(entity_ids)
            or (merge_id is not None and j.merge_id == merge_id)
        )

    def open_actions(
        self, *, slot_keys: Sequence[str] = (), object_ids: Sequence[str] = ()
    ) -> tuple[ActionRecord, ...]:
        return tuple(
            a
            for _, a in sorted(self.state.actions.items())
            if a.tx_end == INF_US and (a.slot_key in slot_keys or a.object_id in object_ids)
        )

    def action(self, action_id: str) -> ActionRecord | None:
        return self.state.actions.get(action_id)

    def review(self, review_id: str) -> Review | None:
        return self.state.reviews.get(review_id)

    def cases(self, entity_ids: Sequence[str]) -> tuple[Review, ...]:
        found = sorted(self.state.reviews.items())
        return tuple(r for _, r in found if r.entity_id in entity_ids and r.blocking)

    def waiting(self, actor: str, origin: str, *, limit: int) -> int:
        held = [
            self.state.claims[r.object_id].details
            for r in self.state.reviews.values()
            if r.blocking and r.state in ("open", "undone")
        ]
        return min(limit, sum((d.actor, d.source_origin) == (actor, origin) for d in held))

    def apply(self, batch: Batch) -> None:
        state, clock = self.state, batch.clock
        assert [e.seq for e in batch.events] == list(range(state.clock.seq + 1, clock.seq + 1))
        stamps = [state.clock.last_us, *(e.tx for e in batch.events)]
        assert stamps == sorted(set(stamps))
        assert not batch.events or stamps[-1] == clock.last_us
        state.events += batch.events
        state.entities |= {e.entity_id: e for e in batch.entities}
        self._aliases(batch)
        for held in batch.identifiers:
            assert not any(
                (i.scheme, i.value, i.tx_end) == (held.scheme, held.value, INF_US)
                and self.root(i.entity_id, INF_US) == self.root(held.entity_id, INF_US)
                for i in state.identifiers
            )
            state.identifiers.append(held)
        for record in batch.slots:
            assert state.slots.setdefault(record.slot_key, record) == record
        for assertion in batch.claims:
            assert assertion.claim.object_id not in state.claims
            assert assertion.claim.slot_key in state.slots
            state.claims[assertion.claim.object_id] = assertion
        for link in batch.mentions:
            assert link.object_id in state.claims
            assert link.entity_id in state.entities
        state.mentions += batch.mentions
        self._rows(batch)
        state.edges += batch.edges
        self._judgements(batch)
        for review in batch.reviews:
            before = state.reviews.get(review.review_id)
            assert before is None or review.version > before.version
            state.reviews[review.review_id] = review
        state.canonical += [(raw, root, clock.last_us) for raw, root in batch.canonical]
        for action in batch.actions:
            assert action.action_id not in state.actions, action
            state.actions[action.action_id] = action
        for closing in batch.closed_actions:
            action = state.actions[closing.action_id]
            assert action.tx_end == INF_US
            state.actions[closing.action_id] = replace(
                action, tx_end=closing.tx, outcome=closing.outcome, closed_by=closing.closed_by
            )
        state.flags += batch.flags
        state.permissions += batch.permissions
        state.tombstones += batch.tombstones
        for receipt in batch.receipts:
            assert receipt.object_id not in state.receipts
            state.receipts[receipt.object_id] = receipt
        state.clock = clock

    def _aliases(self, batch: Batch) -> None:
        state = self.state
        for alias, tx in batch.closed_aliases:
            place = state.aliases.index(alias)
            state.aliases[place] = replace(alias, tx_end=tx)
        state.aliases += batch.aliases
        keys = [
            (a.scope_id, a.type, a.norm, a.ordinal) for a in state.aliases if a.tx_end == INF_US
        ]
        assert len(keys) == len(set(keys)), "two live aliases of one key"

    def _rows(self, batch: Batch) -> None:
        state = self.state
        for closing in batch.close:
            row = state.rows[closing.vid]
            assert row.live
            assert row.tx_start < closing.tx
            state.rows[closing.vid] = replace(row, tx_end=closing.tx)
        for row in batch.rows:
            assert state.clock.next_vid <= row.vid < batch.clock.next_vid
            assert row.vid not in state.rows
            assert row.tx_start < row.tx_end
            assert row.claim.object_id in state.claims
            state.rows[row.vid] = row

    def _judgements(self, batch: Batch) -> None:
        state = self.state
        for judgement_id, tx in batch.closed_judgements:
            found = state.judgements[judgement_id]
            assert found.tx_end == INF_US
            state.judgements[judgement_id] = replace(found, tx_end=tx)
        for judgement in batch.judgements:
            assert judgement.left_id < judgement.right_id
            assert judgement.judgement_id not in state.judgements
            state.judgements[judgement.judgement_id] = judgement
        pairs = [(j.left_id, j.right_id) for j in state.judgements.values() if j.tx_end == INF_US]
        assert len(pairs) == len(set(pairs)), "two live judgements of one pair"

    def empty(
        self,
        object_ids: Sequence[str],
        entity_ids: Sequence[str],
        nameless_ids: Sequence[str] = (),
    ) -> None:
        state = self.state
        for object_id in object_ids:
            held = state.claims[object_id]
            bare = replace(held.claim, value_key="")
            scheme = held.details.source_origin.partition("://")[0]
            details = replace(
                held.details, update_path="", origins=(), source_origin=f"{scheme}://"
            )
            state.claims[object_id] = replace(
                held, claim=bare, details=details, content=EMPTY_CONTENT, erased=True
            )
            for vid, row in state.rows.items():
                if row.claim.object_id == object_id:
                    state.rows[vid] = replace(row, claim=bare)
            if object_id in state.receipts:
                state.receipts[object_id] = replace(state.receipts[object_id], body="")
        for action_id, action in state.actions.items():
            if {action.object_id, *action.members} & set(object_ids):
                state.actions[action_id] = replace(action, detail="{}")
        for entity_id in entity_ids:
            state.entities[entity_id] = replace(
                state.entities[entity_id], name="", state=EntityState.ERASED
            )
        state.aliases = [
            a
            for a in state.aliases
            if a.entity_id not in entity_ids
            and not (a.tx_end < INF_US and a.object_id in object_ids)
        ]
        state.identifiers = [i for i in state.identifiers if i.entity_id not in entity_ids]
        for review_id, review in state.reviews.items():
            if review.entity_id in entity_ids:
                state.reviews[review_id] = replace(review, mention="", candidates=())


class MemoryStore:
    """One tenant is enough for the drivers."""

    def __init__(self) -> None:
        self.state = State()

    @contextmanager
    def writing(self, tenant: str = "default") -> Iterator[MemoryTx]:
        tx = MemoryTx(self.state.copy())
        yield tx
        self.state = tx.state

    @contextmanager
    def reading(self, tenant: str = "default") -> Iterator[MemoryReader]:
        yield MemoryReader(self.state.copy())
