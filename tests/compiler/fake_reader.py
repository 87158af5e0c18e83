"""Test data of the compiler: a small world of versions behind the reader's methods.

`World` holds whole versions and answers as a store would, filtered by sight and point. It has no
reconciliation: a test states how each row looks.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenure.compiler.compile import compile_snapshot, context_of
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.gathering.gather import gather
from tenure.compiler.gathering.mentions import ExactBinder
from tenure.compiler.ir.context import Circumstances, CompileContext
from tenure.compiler.ir.records import Neighbours, Snapshot
from tenure.compiler.request.parse import parse_request
from tenure.compiler.request.request import CompileRequest
from tenure.resolution.keys import alias_key
from tenure.resolution.known import Known, Lookup
from tenure.resolution.names import NameRow
from tenure.schema.claim import (
    Authorship,
    Claim,
    Content,
    Details,
    Look,
    Permissions,
    Row,
    Version,
    is_turn,
    milli,
    slot_key,
    text_key,
)
from tenure.schema.entity import Alias, Entity, Identifier
from tenure.schema.interval import INF_US, MIN_US, Interval
from tenure.schema.layers import OBJECT_TYPES, DecayRule
from tenure.schema.policy import DEFAULT, Policy
from tenure.schema.principal import Principal, Scope, Sight
from tenure.schema.signing import sign_scope, signed_manifest
from tenure.schema.slots import BUILT_IN_KINDS, Vocabulary, kind_of, object_type_of
from tenure.schema.terms import terms
from tenure.schema.values import canonical_json
from tenure.schema.vocabulary import (
    ActionKind,
    Authority,
    Classification,
    EntityState,
    ObjectType,
    Op,
    Sensitivity,
    StateLayer,
    Status,
)
from tenure.service.extraction.shipped_language import shipped_language
from tenure.store.port.records import ScopeTurns, TextPool
from tenure.store.port.store import ActionRecord, Ask, Clock, NextReads, Page, Point
from tenure.store.port.vectors import VectorScore
from tenure.store.search.term_weights import PoolRow, VisibleHits, pool_of

KEY = b"0123456789abcdef0123456789abcdef"
NOW = 1_000_000_000_000_000
DAY = 86_400_000_000
_KINDS = {kind.name: kind for kind in BUILT_IN_KINDS}


def uid(name: str) -> str:
    """Return a stable uuid for a readable name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def entity(name: str, type: str = "person", *, pending: bool = False, **ids: str) -> Entity:
    """Return an entity whose id follows from its name; identifiers stand in `World.add_entity`."""
    state = EntityState.PENDING if pending else EntityState.ACTIVE
    return Entity(
        entity_id=uid("entity " + name),
        name=name,
        type=type,
        state=state,
        scope_id="tenant",
        tx_start=1,
        created_by=uid("made " + name),
    )


@dataclass
class World:
    """What a tenant holds."""

    rows: list[Version] = field(default_factory=list)
    entities: dict[str, Entity] = field(default_factory=dict)
    identifiers: list[Identifier] = field(default_factory=list)
    canonical: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Readable name by object id."""
    calls: list[str] = field(default_factory=list)
    tx: int = 1_000

    def person(self, name: str, type: str = "person", *, pending: bool = False, **ids: str) -> str:
        """Add an entity and return its id."""
        made = entity(name, type, pending=pending)
        self.entities[made.entity_id] = made
        for scheme, value in ids.items():
            held = Identifier(entity_id=made.entity_id, scheme=scheme, value=value, tx_start=1)
            self.identifiers.append(held)
        return made.entity_id

    def entity_id(self, name: str, type: str = "person") -> str:
        """Return the id of an entity by name, adding it when it is new."""
        known = uid("entity " + name)
        return known if known in self.entities else self.person(name, type)

    def merge(self, *names: str) -> None:
        """Make entities one; the first is canonical."""
        root = uid("entity " + names[0])
        for name in names:
            self.canonical[uid("entity " + name)] = root

    def add(self, name: str, **stated: Any) -> str:
        """Add a row and return its object id; every field has an ordinary default."""
        self.tx += 1
        stated = {"tx": self.tx, **stated}
        version = _version(name, vid=len(self.rows) + 1, world=self, **stated)
        if is_turn(version.details):
            earlier = [v for v in self.rows if v.turn and v.details.scope == version.details.scope]
            version = replace(version, turn=len(earlier) + 1)
        self.rows.append(version)
        self.names[version.row.claim.object_id] = name
        return version.row.claim.object_id

    def name_of(self, object_id: str) -> str:
        """Return the readable name of an object."""
        return self.names.get(object_id, object_id)

    # --- the reader's methods

    def expect(self, questions: Callable[[], NextReads | None]) -> None:
        """Hear what comes next: no answer depends on it."""
        questions()

    def clock(self) -> Clock:
        return Clock(len(self.rows), self.tx, len(self.rows) + 1, 0)

    def keys(self) -> tuple[bytes, ...]:
        return (KEY,)

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        return tuple(
            NameRow(
                entity_id=e.entity_id,
                surface=e.name,
                scope_id="tenant",
                tx_start=int(self.canonical.get(e.entity_id, e.entity_id) != e.entity_id),
                object_id="",
                level=2,
                is_live=True,
                permissions=Permissions(),
                is_first=True,
            )
            for e in self.entities.values()
            if e.entity_id in entity_ids
        )

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        self.calls.append("known")
        pairs = set(lookup.identifiers)
        owners = {i.entity_id for i in self.identifiers if (i.scheme, i.value) in pairs}
        aliases = tuple(
            Alias(
                entity_id=e.entity_id,
                surface=e.name,
                norm=alias_key(e.name),
                type=e.type,
                scope_id=e.scope_id,
                ordinal=0,
                valid_from=MIN_US,
                valid_until=INF_US,
                tx_start=1,
            )
            for e in self.entities.values()
            if alias_key(e.name) in lookup.norms
        )
        ids = {a.entity_id for a in aliases} | owners
        ids |= set(lookup.entity_ids) & self.entities.keys()
        return replace(self._known(ids), aliases=aliases)

    def entities_of(self, ids: Iterable[str]) -> Known:
        return self._known(ids)

    def _known(self, ids: Iterable[str]) -> Known:
        roots = {self.canonical.get(i, i) for i in ids}
        members = {i for i in self.entities if self.canonical.get(i, i) in roots}
        merged = {i: r for i, r in self.canonical.items() if r in roots}
        return Known(
            entities={i: self.entities[i] for i in sorted(members)},
            identifiers=tuple(i for i in self.identifiers if i.entity_id in members),
            canonical=merged,
        )

    def decided_value(self, ask: Ask, *, sight: Sight, point: Point) -> None:
        """Never know without the versions."""

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Page:
        self.calls.append("versions")
        rows = [
            v
            for v in self._in_sight(sight, point, at_tx=ask.at_tx)
            if (not ask.subjects or v.details.subject_id in ask.subjects)
            and (not ask.slots or v.details.slot in ask.slots)
            and (not ask.objects or v.row.claim.object_id in ask.objects)
            and (not ask.sources or not {*ask.sources}.isdisjoint(v.details.derived_from))
            and (not ask.keys or v.row.claim.slot_key in ask.keys)
            and (not (ask.vids or ask.turns) or v.row.vid in ask.vids or _is_among(v, ask.turns))
            and (not ask.heads or v.row.look.head)
            and (not ask.at_valid or point.valid_us in v.row.interval)
        ]
        veiled = [v if v.visible else replace(v, content=None) for v in rows]
        return Page(tuple(veiled), sum(not v.visible for v in rows))

    def matching(self, terms_: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        self.calls.append("matching")
        asked = set(terms_)
        hits = [
            (len(asked & set(v.content.terms.split())), v)
            for v in self._heads(sight, point)
            if v.content is not None
        ]
        best = sorted(
            ((shared, v) for shared, v in hits if shared),
            key=lambda pair: (-pair[0], -pair[1].row.claim.tx),
        )
        seen = [v for _, v in best if v.visible]
        return Page(tuple(seen[:limit]), len(best) - len(seen), len(seen) > limit)

    def text_pool(
        self, terms_: Sequence[str], *, sight: Sight, point: Point, limit: int, unless: int
    ) -> TextPool | None:
        page = self.matching(terms_, sight=sight, point=point, limit=limit)
        if len(page.versions) <= unless:
            return None
        rows: list[PoolRow] = []
        for version in page.versions:
            assert version.content is not None
            words = set(version.content.terms.split())
            mask = sum(1 << place for place, term in enumerate(terms_) if term in words)
            size = len(version.content.terms)
            is_fact = version.details.slot is not None
            scope_id = version.details.scope.scope_id
            rows.append(PoolRow(version.row.vid, mask, size, scope_id, version.turn, is_fact))
        return pool_of(VisibleHits(rows, page.withheld, page.cut), terms_)

    def actions(
        self, *, open_only: bool, tx_us: int, kind: ActionKind | None = None
    ) -> tuple[ActionRecord, ...]:
        """Return a review for each quarantined row, as a store opens one."""
        self.calls.append("actions")
        return tuple(
            ActionRecord(
                action_id=uid("review " + v.row.claim.object_id),
                kind=ActionKind.REVIEW_QUARANTINE,
                object_id=v.row.claim.object_id,
                slot_key=v.row.claim.slot_key,
                interval=v.row.interval,
                members=(v.row.claim.object_id,),
                detail="{}",
                tx_start=v.row.tx_start,
                tx_end=INF_US,
            )
            for v in self.rows
            if kind in (None, ActionKind.REVIEW_QUARANTINE)
            and v.row.look.status is Status.QUARANTINED
            and v.row.tx_start <= tx_us
        )

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Page:
        self.calls.append("standing")
        kept = [v for v in self._heads(sight, point) if _stands(v, set(scopes))]
        seen = tuple(v for v in kept if v.visible)
        return Page(seen, len(kept) - len(seen))

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Page:
        self.calls.append("around")
        found: dict[int, Version] = {}
        for each in entity_ids:
            near = [
                v
                for v in self._heads(sight, point)
                if v.visible
                and v.row.look.status is Status.CLEAN
                and each in (v.details.subject_id, v.details.value_entity_id)
            ]
            near.sort(
                key=lambda v: (v.details.authority_level, -v.row.claim.source_authority, v.row.vid)
            )
            found.update((v.row.vid, v) for v in near[:limit])
        return Page(tuple(found[vid] for vid in sorted(found)), 0)

    def _in_sight(self, sight: Sight, point: Point, *, at_tx: bool = True) -> list[Version]:
        return [
            replace(v, visible=_may_see(v, sight))
            for v in self.rows
            if v.details.scope.scope_id in sight.scopes
            and (not at_tx or v.row.tx_start <= point.tx_us < v.row.tx_end)
        ]

    def _heads(self, sight: Sight, point: Point) -> list[Version]:
        return [
            v
            for v in self._in_sight(sight, point)
            if v.row.look.head and point.valid_us in v.row.interval
        ]


class Reading:
    """The reader over a world: `entities` is a method there and a field here."""

    def __init__(self, world: World) -> None:
        self._world = world

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        self._world.calls.append("entities")
        return self._world.entities_of(entity_ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)


def _is_among(v: Version, turns: Sequence[ScopeTurns]) -> bool:
    return any(v.details.scope.scope_id == t.scope_id and v.turn in t.numbers for t in turns)


def _may_see(v: Version, sight: Sight) -> bool:
    p = v.permissions
    return v.visible and sight.may_see(
        classification=p.classification.rank, allow=p.allow, deny=p.deny
    )


def _stands(v: Version, scopes: set[str]) -> bool:
    kind, level = v.details.object_type, v.details.authority_level
    if kind is ObjectType.TOOL_SCHEMA or (kind is ObjectType.POLICY_RULE and level <= 1):
        return True
    wanted = {ObjectType.PREFERENCE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.PROJECT_DECISION}
    return kind in wanted and v.details.scope.scope_id in scopes


def _version(name: str, *, vid: int, world: World, **s: Any) -> Version:
    object_id = s.get("object_id") or uid(name)
    slot, subject = s.get("slot"), s.get("subject")
    subject_id = None if subject is None else world.entity_id(subject, s.get("type", "person"))
    level = int(s.get("level", 2))
    origin = s.get("origin", "user://chat")
    definition = Vocabulary().slots.get(slot or "") or world_slot(s, slot)
    object_type = (
        ObjectType(s["object_type"])
        if "object_type" in s
        else object_type_of(definition.kind if definition else None, level)
    )
    scope = Scope(**s.get("scope", {}))
    value = s.get("value")
    text = s.get("text", "")
    target = s.get("value_entity")
    shown = "" if value is None else str(value)
    claim_text = s.get("claim", f"{subject} {slot}: {shown}" if slot else "")
    key = slot_key(subject_id, slot, scope.scope_id) if slot and subject_id else text_key(object_id)
    start, end = s.get("valid", (MIN_US, INF_US))
    interval = Interval(start, end)
    claim = Claim(
        object_id=object_id,
        slot_key=key,
        op=Op(s.get("op", "assert")),
        value_key="" if s.get("gap") else f"s:{shown}" if slot else "",
        interval=interval,
        since_us=s.get("since", start),
        level=s.get("effective", level),
        source_authority=milli(s.get("trust", 0.8)),
        confidence=milli(s.get("confidence", 0.8)),
        tx=s["tx"],
        ordinal=0,
    )
    status = Status(s.get("status", "clean"))
    look = Look(status, s.get("reason", ""), s.get("head", status is not Status.QUARANTINED))
    body = " ".join(x for x in (text, claim_text) if x)
    author = s.get("author", Authorship(user="ann", directs=level <= 1))
    source_kind = kind_of(origin, _KINDS).name
    offered = level <= 1 or author.directs or (level < 4 and source_kind == "workspace")
    if object_type is ObjectType.TOOL_SCHEMA and s.get("signed", offered):
        text = signed_manifest(text, KEY, object_id=object_id, scope_id=scope.scope_id)
    return Version(
        row=Row(vid, claim, interval, look, s["tx"], s.get("tx_end", INF_US)),
        details=Details(
            scope=scope,
            slot=slot,
            subject_id=subject_id,
            value_entity_id=world.entity_id(target) if target else None,
            authority_level=Authority(level),
            source_origin=origin,
            source_kind=source_kind,
            object_type=object_type,
            layer=StateLayer(s.get("layer", OBJECT_TYPES[object_type].layer)),
            applicable_task_types=tuple(s.get("tasks", ())),
            sensitivity=tuple(Sensitivity(x) for x in s.get("sensitivity", ())),
            decay_rule=DecayRule(*s["decay"]) if "decay" in s else None,
            retirement_rule=OBJECT_TYPES[object_type].retirement,
            update_path="",
            derived_from=tuple(map(uid, s.get("derived_from", ()))),
            origins=tuple(s.get("origins", (origin,))),
            planned=False,
            actor="test",
            resolved_via="exact",
            authorship=author,
        ),
        content=None
        if s.get("erased")
        else Content(
            value_json=canonical_json(value),
            text=text,
            normalized_claim=claim_text,
            why_it_matters=s.get("why", "" if definition is None else definition.description),
            behavioral_implication=s.get("implication"),
            enforcement=canonical_json(s["enforcement"]) if "enforcement" in s else None,
            terms=" ".join(terms(body)),
        ),
        permissions=Permissions(
            classification=Classification(s.get("classification", "public")),
            allow=tuple(s.get("allow", ("*",))),
            deny=tuple(s.get("deny", ())),
        ),
        visible=s.get("visible", True),
        erased=bool(s.get("erased")),
        last_confirmed_us=s.get("confirmed"),
        demoted=s.get("demoted", False),
        stale=s.get("stale", False),
        confirm_due=s.get("confirm_due", False),
        signature=s.get("signature", sign_scope(KEY, object_id, scope.scope_id)),
    )


def world_slot(stated: dict[str, Any], slot: str | None) -> Any:
    """Return the definition a test states for a slot of its own."""
    vocabulary: Vocabulary | None = stated.get("vocabulary")
    return vocabulary.slots.get(slot or "") if vocabulary is not None else None


@dataclass(kw_only=True)
class Bench:
    """A world with the circumstances of a compile."""

    world: World = field(default_factory=World)
    principal: Principal = field(default_factory=lambda: Principal(user="ann"))
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    policy: Policy = DEFAULT
    now: int = NOW
    tx: int = NOW
    encoder_id: str | None = None
    index: Any = None

    def rules(self, **changes: Any) -> Bench:
        """Change numbers of the compiler's policy."""
        self.policy = replace(self.policy, compile=replace(self.policy.compile, **changes))
        return self

    def context(self, request: CompileRequest) -> CompileContext:
        """Return the context of a request."""
        return context_of(
            request,
            Circumstances(
                principal=self.principal,
                vocabulary=self.vocabulary,
                policy=self.policy,
                point=Point(self.now, self.tx),
                keys=(KEY,),
                encoder_id=self.encoder_id,
                language=shipped_language(),
            ),
        )

    def snapshot(self, context: CompileContext) -> Snapshot:
        """Return the snapshot of a context."""
        reader: Any = Reading(self.world)
        binder = ExactBinder(reader, context.scopes, context.point.tx_us)
        return gather(context, reader, bind=binder, index=self.index)

    def compile(self, task: str = "code_generation", **given: Any) -> Envelope:
        """Compile a request over the world."""
        context = self.context(parse_request(task, **given))
        return compile_snapshot(self.snapshot(context), context)

    def proposed(self, **given: Any) -> dict[str, int]:
        """Return hops by readable name of what a request finds in the store."""
        snapshot = self.snapshot(self.context(parse_request("code_generation", **given)))
        return {self.world.names[p.version.row.claim.object_id]: p.hop for p in snapshot.proposals}

    def names(self, ids: Iterable[str]) -> list[str]:
        """Return readable names of objects."""
        return [self.world.name_of(i) for i in ids]

    def compiled(self, envelope: Envelope) -> dict[str, str]:
        """Return section by readable name of what was compiled from the store."""
        return {
            self.world.names[o.object_id]: o.section
            for o in envelope.trace.compiled_objects
            if o.object_id in self.world.names
        }

    def omitted(self, envelope: Envelope) -> dict[str, tuple[str, str]]:
        """Return (reason, detail) by readable name of what was left out."""
        trace = envelope.trace
        left = {o.object_id: (o.reason, o.detail) for o in trace.omitted_objects}
        left |= {o.object_id: (o.reason, o.detail) for o in trace.quarantined_objects}
        return {self.world.name_of(object_id): why for object_id, why in left.items()}


class NearIndex:
    """An index that finds the same claims for every query, each with its two scores."""

    def __init__(self, world: World, hits: Mapping[str, tuple[int, int]]) -> None:
        self.world, self.hits = world, hits

    def prefetch(self, query: Any, *, limit: int) -> None:
        """Nothing is worth to be looked up ahead."""

    def facts(self, query: Any, *, limit: int) -> Neighbours:
        """No facts are told apart."""
        return Neighbours([], [])

    def nearest(self, query: Any, *, limit: int) -> Neighbours:
        """The claims of this index, by name."""
        ids = {uid(name) for name in self.hits}
        rows = [row for row in self.world.rows if row.row.claim.object_id in ids]
        return Neighbours([VectorScore(uid(name), *both) for name, both in self.hits.items()], rows)

    def scores(self, query: Any, object_ids: Any) -> list[VectorScore]:
        """Nothing else has a score."""
        return []


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def texts_of(envelope: Envelope, *sections: str) -> list[str]:
    """The texts of an envelope, one a piece, of some sections or all."""
    texts: list[str] = []
    for block in envelope.blocks:
        if not sections or block.section in sections:
            texts += [piece.text for piece in block.pieces] or [block.text]
    return texts
