"""What one tenant may try with another's ids: a case for each method of the port.

Two tenants of one store are filled: `THEIRS` holds one of everything, each text with the word
SECRET in it, and `MINE` knows nothing but a claim of its own. Each case calls one method as `MINE`
with the ids of `THEIRS`. What it answers must not depend on whether the other tenant is there.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from tenure.resolution.known import Lookup
from tenure.schema.claim import Edge, Permissions
from tenure.schema.entity import Identifier, Review
from tenure.schema.interval import INF_US, MIN_US, Interval
from tenure.schema.principal import Sight
from tenure.schema.vocabulary import (
    ActionKind,
    Classification,
    EdgeKind,
    EntityState,
    ObjectType,
    Op,
    ReviewState,
)
from tenure.store.commit.sessions import append_events
from tenure.store.port import store as port
from tenure.store.port.importing import Importing
from tenure.store.port.records import (
    ActionClosing,
    Closing,
    Flag,
    NextReads,
    PermissionChange,
    ScopeTurns,
    SessionPlace,
    SessionRecord,
    SessionText,
    SubjectSpan,
    Tombstone,
)
from tenure.store.port.store import (
    ActionRecord,
    Ask,
    Batch,
    CandidateReads,
    ClaimReads,
    IdentityReads,
    Point,
    Reader,
    RecordKind,
    SlotRead,
    Store,
    VectorRow,
    WriteTx,
)
from tenure.store.port.tables import ACTIONS, EVENTS, MENTIONS, RECEIPTS, REVIEWS, SLOTS, USAGE
from tenure.store.transfer.transfer import export_lines
from tenure.tests.store.builders import Say, add, after, alias, commit, entity, event
from tenure.tests.store.contract.test_port_identity import judgement

MINE, THEIRS = "mine", "theirs"
KEY = b"k" * 32
SIGHT = Sight(scopes=("tenant",), tags=("*",), clearance=3)
POINT = Point(5, 1_000)
SEEN: dict[str, Any] = {"sight": SIGHT, "point": POINT}
WHOLE = Interval(MIN_US, INF_US)
SLOT = Say(object_id="x", subject="t-e1").slot_key
IDS = ("t-a", "t-b")
ENTITIES = ("t-e1", "t-e2")
LOOKUP = Lookup(
    identifiers=(("hr", "1"),),
    norms=("secret kim",),
    entity_ids=ENTITIES,
    block_keys=(("t:secret", 1_000),),
)


def fill_theirs(store: Store) -> None:
    """Write one of everything; every text says SECRET."""
    store.ensure(THEIRS, key=KEY)
    says = [
        Say(object_id="t-a", subject="t-e1", value="SECRET Rome", text="SECRET rome", key="t-key"),
        Say(object_id="t-b", subject="t-e2", value="SECRET Oslo", value_entity="t-e1"),
        Say(
            object_id="t-c",
            subject="t-e1",
            slot="secret_style",
            object_type=ObjectType.PREFERENCE,
        ),
    ]
    commit(store, says, tenant=THEIRS, tx=10)
    people = tuple(entity(e, name=f"SECRET {e}") for e in ENTITIES)
    add(
        store,
        tenant=THEIRS,
        tx=20,
        entities=people,
        aliases=(alias("t-e1", "SECRET Kim"), alias("t-e2", "SECRET Kim", ordinal=1)),
        identifiers=(Identifier(entity_id="t-e1", scheme="hr", value="1", tx_start=20),),
        block_keys={"secret kim": (("t:secret", "token"),)},
        judgements=(judgement("t-j", "t-e1", "t-e2", tx=20),),
        canonical=(("t-e1", "t-e1"), ("t-e2", "t-e1")),
        reviews=(a_review(),),
        actions=(an_action(),),
        flags=(Flag("t-a", "stale", True, 20),),
    )
    told = SessionRecord(
        session="session=t,user=ann",
        seq=1,
        kind="turn_started",
        actor="ann",
        last_us=0,
        recorded_us=1_001,
        body='{"parts":["SECRET"]}',
        texts=(SessionText("SECRET talk"),),
    )
    store.transact(THEIRS, lambda tx: append_events(tx, told.session, 0, (told,), "SECRET"))
    store.define(THEIRS, after=0, definition='{"define":"slot","name":"SECRET"}')
    store.put_vectors(THEIRS, [VectorRow("t-a", "enc", "0", b"\x01\x00")])
    store.put_manifest(
        THEIRS, envelope_id="t-env", manifest='"SECRET"', objects=["t-a"], pack='"SECRET"'
    )
    store.log_usage(THEIRS, ["t-a"], at_us=7)


def fill_mine(store: Store) -> None:
    """Write one claim, known to nobody else."""
    store.ensure(MINE, key=KEY)
    commit(store, [Say(object_id="m-a", subject="m-e1", value="own")], tenant=MINE, tx=10)
    add(store, tenant=MINE, tx=20, entities=(entity("m-e1", name="Own"),))


def a_review() -> Review:
    return Review(
        review_id="t-review",
        entity_id="t-e1",
        mention="SECRET",
        type="person",
        scope_id="tenant",
        candidates=(),
        reason="SECRET",
        object_id="t-a",
        state=ReviewState.OPEN,
        version=1,
        opened_tx=20,
    )


def an_action() -> ActionRecord:
    return ActionRecord(
        action_id="t-action",
        kind=ActionKind.SETTLE_TIE,
        object_id="t-a",
        slot_key=SLOT,
        interval=WHOLE,
        members=("t-a",),
        detail='{"why":"SECRET"}',
        tx_start=20,
        tx_end=INF_US,
    )


def reading(use: Callable[[Reader], object]) -> Callable[[Store], object]:
    def case(store: Store) -> object:
        with store.reading(MINE) as reader:
            return settled(use(reader))

    return case


def writing(use: Callable[[WriteTx], object]) -> Callable[[Store], object]:
    def case(store: Store) -> object:
        with store.writing(MINE) as tx:
            tx.lock()
            return settled(use(tx))

    return case


def applied(**fields: Any) -> Callable[[Store], object]:
    """A batch of one event with these fields."""

    def use(tx: WriteTx) -> object:
        clock = tx.lock()
        told = event(clock, tx=100, ids=IDS)
        rows = len(fields.get("rows", ()))
        tx.apply(Batch(clock=after(clock, [told], rows=rows), events=(told,), **fields))
        return None

    return writing(use)


def settled(found: object) -> object:
    """Take what only counts while the snapshot is open."""
    return list(found) if isinstance(found, Iterator) else found


def claimed(**stated: Any) -> Callable[[Store], object]:
    """A claim of mine that points at theirs."""
    say = Say(object_id="m-new", **stated)

    def use(store: Store) -> object:
        commit(store, [say], tenant=MINE, tx=100)
        return None

    return use


def transacted(store: Store) -> object:
    def work(tx: WriteTx) -> object:
        tx.lock()
        return tx.rows_of(IDS)

    return store.transact(MINE, work)


ASKED_BY_BOTH: Mapping[str, Callable[[Any], object]] = {
    "ClaimReads.objects_of": lambda r: r.objects_of(ENTITIES),
    "ClaimReads.objects_with": lambda r: r.objects_with(["offic"]),
    "ClaimReads.assertions": lambda r: r.assertions(IDS),
    "ClaimReads.review": lambda r: r.review("t-review"),
    "IdentityReads.judgements": lambda r: r.judgements(entity_ids=ENTITIES),
    "IdentityReads.judgements, of a merge": lambda r: r.judgements(merge_id="merge-t-j"),
    "IdentityReads.known": lambda r: r.known(LOOKUP, scopes=("tenant",), tx_us=1_000),
    "IdentityReads.entities": lambda r: r.entities(ENTITIES, tx_us=1_000),
    "IdentityReads.name_rows": lambda r: r.name_rows(ENTITIES, tx_us=1_000),
    "IdentityReads.relations": lambda r: r.relations(ENTITIES, **SEEN, limit=9),
}
"""What a reader is asked, and a writer under the lock."""

ASKED_OF_READERS: Mapping[str, Callable[[Any], object]] = {
    "IdentityReads.known_each": lambda r: r.known_each([(LOOKUP, ("tenant",))], tx_us=1_000),
    "Reader.clock": lambda r: r.clock(),
    "Reader.definitions": lambda r: r.definitions(),
    "Reader.versions": lambda r: r.versions(Ask(), **SEEN),
    "Reader.versions, of objects": lambda r: r.versions(Ask(objects=IDS, heads=False), **SEEN),
    "Reader.versions, of subjects": lambda r: r.versions(Ask(subjects=ENTITIES), **SEEN),
    "Reader.versions, of pairs": lambda r: r.versions(
        Ask(subjects=ENTITIES, slots=("office",)), **SEEN
    ),
    "Reader.versions, of turns": lambda r: r.versions(
        Ask(turns=(ScopeTurns("tenant", (1, 2)),)), **SEEN
    ),
    "Reader.decided_value": lambda r: r.decided_value(
        Ask(subjects=ENTITIES[:1], slots=("office",)), **SEEN
    ),
    "CandidateReads.matching": lambda r: r.matching(["secret", "rome"], **SEEN, limit=9),
    "CandidateReads.text_pool": lambda r: r.text_pool(
        ["secret", "rome"], **SEEN, limit=9, unless=0
    ),
    "CandidateReads.standing": lambda r: r.standing(**SEEN, scopes=("tenant",)),
    "CandidateReads.standing_subjects": lambda r: r.standing_subjects(
        ("secret_style",), **SEEN, span=SubjectSpan("tenant", "", 9)
    ),
    "CandidateReads.around": lambda r: r.around(ENTITIES, **SEEN, limit=9),
    "Reader.changes": lambda r: r.changes(0, 1_000, sight=SIGHT),
    "Reader.changes, of subjects": lambda r: r.changes(0, 1_000, sight=SIGHT, subjects=ENTITIES),
    "Reader.session_events": lambda r: r.session_events("session=t,user=ann"),
    "Reader.session_snapshot": lambda r: r.session_snapshot("session=t,user=ann"),
    "Reader.sessions": lambda r: r.sessions(),
    "Reader.edges": lambda r: r.edges(IDS, tx_us=1_000),
    "ClaimReads.find, receipts": lambda r: r.find(RECEIPTS, "object_id", IDS),
    "ClaimReads.find, events": lambda r: r.find(EVENTS, "tx", [1, 2, 3, 1_000]),
    "ClaimReads.find, usage": lambda r: r.find(USAGE, "object_id", IDS),
    "Reader.actions": lambda r: r.actions(open_only=False, tx_us=1_000),
    "Reader.events_in": lambda r: r.events_in(0, 10**9, actor=None, limit=100),
    "Reader.reviews": lambda r: r.reviews(),
    "Reader.entity_ids": lambda r: r.entity_ids(),
    "Reader.object_ids": lambda r: r.object_ids("", limit=100),
    "ClaimReads.find, mentions": lambda r: r.find(MENTIONS, "object_id", IDS),
    "Reader.expect": lambda r: r.expect(lambda: NextReads(**SEEN, entity_ids=ENTITIES)),
    "Reader.slot_in_use": lambda r: r.slot_in_use("seat"),
    "Reader.decaying": lambda r: r.decaying(point=POINT),
    "Reader.vectors": lambda r: r.vectors("enc", 0),
    "Reader.near": lambda r: r.near("enc"),
    "Reader.erased_since": lambda r: r.erased_since(0),
    "Reader.manifest": lambda r: r.manifest("t-env"),
    "Reader.manifests": lambda r: r.manifests(),
    "Reader.envelopes_of": lambda r: r.envelopes_of(["t-a"]),
    "Reader.policy_pack": lambda r: r.policy_pack(hashlib.sha256(b'"SECRET"').hexdigest()),
    "Reader.keys": lambda r: r.keys(),
    "Reader.records": lambda r: [record for kind in RecordKind for record in r.records(kind)],
    "Store.reading": lambda r: r.keys(),
}

ASKED_OF_WRITERS: Mapping[str, Callable[[Any], object]] = {
    "WriteTx.lock": lambda t: t.lock(),
    "WriteTx.vocabulary_version": lambda t: t.vocabulary_version(),
    "WriteTx.open_rows": lambda t: t.open_rows([SlotRead((SLOT,), WHOLE, True)]),
    "WriteTx.rows_of": lambda t: t.rows_of(IDS),
    "WriteTx.slot_claims": lambda t: t.slot_claims([SLOT]),
    "WriteTx.live_objects": lambda t: t.live_objects("user", "ann"),
    "WriteTx.dependants": lambda t: t.dependants(IDS),
    "WriteTx.waiting": lambda t: t.waiting("ann", "user://chat", limit=9),
    "ClaimReads.find, under the lock": lambda t: t.find(RECEIPTS, "idempotency_key", ["t-key"]),
    "ClaimReads.find, slots": lambda t: t.find(SLOTS, "slot_key", [SLOT]),
    "ClaimReads.find, slots of subjects": lambda t: t.find(SLOTS, "subject_id", ENTITIES),
    "ClaimReads.find, actions of slots": lambda t: t.find(
        ACTIONS, "slot_key", [SLOT], open_only=True
    ),
    "ClaimReads.find, actions of objects": lambda t: t.find(ACTIONS, "object_id", IDS),
    "ClaimReads.find, an action": lambda t: t.find(ACTIONS, "action_id", ["t-action"]),
    "ClaimReads.find, cases": lambda t: t.find(REVIEWS, "entity_id", ENTITIES),
    "WriteTx.session_head": lambda t: t.session_head("session=t,user=ann"),
    "WriteTx.reader": lambda t: t.reader().versions(Ask(objects=IDS, heads=False), **SEEN),
    "WriteTx.empty_session_texts": lambda t: t.empty_session_texts(
        [SessionPlace("session=t,user=ann", 1, 0)]
    ),
    "WriteTx.put_session_snapshot": lambda t: t.put_session_snapshot("session=t,user=ann", "mine"),
    "WriteTx.empty": lambda t: t.empty(IDS, ENTITIES),
    "Store.writing": lambda t: t.find(RECEIPTS, "object_id", IDS),
}

CASES: Mapping[str, Callable[[Store], object]] = {
    **{name: reading(use) for name, use in {**ASKED_BY_BOTH, **ASKED_OF_READERS}.items()},
    **{f"{name}, under the lock": writing(use) for name, use in ASKED_BY_BOTH.items()},
    **{name: writing(use) for name, use in ASKED_OF_WRITERS.items()},
    "WriteTx.apply, closing their row": applied(close=(Closing(2, 100),)),
    "WriteTx.apply, an edge to their claim": applied(
        edges=(
            Edge(
                kind=EdgeKind.SUPERSEDES,
                src="m-a",
                dst="t-a",
                interval=WHOLE,
                reason="newer_valid_from",
                relation="equals",
                tx=100,
            ),
        )
    ),
    "WriteTx.apply, merging with their entity": applied(
        judgements=(judgement("m-j", "m-e1", "t-e1", tx=100),),
        canonical=(("t-e1", "m-e1"), ("m-e1", "m-e1")),
    ),
    "WriteTx.apply, undoing their merge": applied(closed_judgements=(("t-j", 100),)),
    "WriteTx.apply, an alias of their entity": applied(
        aliases=(alias("t-e1", "Mine", tx=100),),
        block_keys={"mine": (("t:mine", "token"),)},
    ),
    "WriteTx.apply, closing their alias": applied(
        closed_aliases=((alias("t-e1", "SECRET Kim"), 100),)
    ),
    "WriteTx.apply, an identifier of their entity": applied(
        identifiers=(Identifier(entity_id="t-e1", scheme="hr", value="2", tx_start=100),)
    ),
    "WriteTx.apply, their entity under another name": applied(
        entities=(entity("t-e1", name="Taken", state=EntityState.PENDING),)
    ),
    "WriteTx.apply, their permissions": applied(
        permissions=(
            PermissionChange(
                "t-a", Permissions(classification=Classification.PUBLIC), 100, "mallory"
            ),
        )
    ),
    "WriteTx.apply, a mark on their claim": applied(flags=(Flag("t-a", "stale", False, 100),)),
    "WriteTx.apply, closing their action": applied(
        closed_actions=(ActionClosing("t-action", 100, "accepted", "mallory"),)
    ),
    "WriteTx.apply, a tombstone over theirs": applied(
        tombstones=(
            Tombstone(
                erasure_id="m-erasure",
                tx=100,
                actor="mallory",
                reason="none",
                object_ids=IDS,
                entity_ids=ENTITIES,
            ),
        )
    ),
    "WriteTx.apply, a claim about their entity": claimed(subject="t-e1", value_entity="t-e2"),
    "WriteTx.apply, a claim under their id's slot": claimed(
        subject="t-e1", op=Op.DELETE, value=None
    ),
    # Store
    "Store.ensure": lambda store: store.ensure(MINE, key=KEY),
    "Store.migrate": lambda store: store.migrate(MINE, dry_run=True),
    "Store.transact": transacted,
    "Store.name_rows": lambda store: store.name_rows(MINE, ENTITIES),
    "Store.newest": lambda store: store.newest(MINE, 0),
    "Store.define": lambda store: store.define(
        MINE, after=0, definition='{"define":"slot","name":"mine"}'
    ),
    "Store.put_vectors": lambda store: store.put_vectors(
        MINE, [VectorRow("t-a", "enc", "0", b"\x09\x00")]
    ),
    "Store.put_manifest": lambda store: store.put_manifest(
        MINE, envelope_id="t-env", manifest="{}", objects=["t-a"], pack="{}"
    ),
    "Store.log_usage": lambda store: store.log_usage(MINE, IDS, at_us=9),
    "Store.expect_reads": lambda store: store.expect_reads(MINE),
    "Importing.expect_import": lambda store: store.expect_import(MINE),
    "Importing.import_step": lambda store: store.import_step(MINE, lambda tx, journal: journal),
    "Importing.abort_import": lambda store: store.abort_import(MINE),
    "Store.check": lambda store: store.check(MINE),
}
"""What is tried, by the method of the port that it is tried with."""

OF_NO_TENANT = {
    "Store.url": "names the server or the file",
    "Importing.writes_elsewhere": "says where all tenants are written",
    "Store.used_bytes": "adds up what the process keeps of all tenants",
    "Store.close": "ends everything",
    "Reader.home": "names the server or the file that the snapshot is of",
}
"""The members of the port that no tenant is named to, each with the reason."""


def port_members() -> set[str]:
    """Return every method and property of the port's protocols."""
    protocols: list[type] = [
        CandidateReads,
        ClaimReads,
        IdentityReads,
        Importing,
        Reader,
        Store,
        WriteTx,
    ]
    return {
        f"{protocol.__name__}.{name}"
        for protocol in protocols
        for name, value in vars(protocol).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
    }


def protocols_of_port() -> set[str]:
    """Return the names of the protocols that the port's module makes."""
    return {
        name
        for name, value in vars(port).items()
        if isinstance(value, type)
        and value.__module__ == port.__name__
        and Protocol in value.__mro__
    }


def exported(store: Store, tenant: str) -> list[str]:
    """Return all that a tenant holds, keys included."""
    with store.reading(tenant) as reader:
        return list(export_lines(reader, tenant=tenant, keys=True))
