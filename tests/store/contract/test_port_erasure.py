"""Erasure: nothing of the text stays, everything else does, and every reader says so."""

from dataclasses import replace

from tenure.resolution.known import Lookup
from tenure.schema.claim import EMPTY_CONTENT
from tenure.schema.entity import EntityCandidate, Identifier, Review
from tenure.schema.interval import INF_US, Interval
from tenure.schema.vocabulary import ActionKind, CandidateSource, EntityState, ReviewState
from tenure.store.port.records import Closing, Tombstone
from tenure.store.port.store import ActionRecord, Ask, Batch, Point, RecordKind, Store, VectorRow
from tenure.store.port.tables import RECEIPTS
from tenure.tests.store.builders import ALL, TENANT, Say, add, after, alias, commit, entity, event
from tenure.tests.store.contract.test_port_identity import judgement

OFFICE = Ask(subjects=("e1",), slots=("office",))


def erase(
    store: Store, tx_us: int, *, objects: tuple[str, ...] = (), entities: tuple[str, ...] = ()
) -> None:
    """Close what is open of the objects, leave a tombstone, and empty."""
    with store.writing(TENANT) as tx:
        clock = tx.lock()
        told = event(clock, tx=tx_us, ids=objects, op="erase")
        stone = Tombstone(
            erasure_id=f"erasure{tx_us}",
            tx=tx_us,
            actor="ann",
            reason="asked to",
            object_ids=objects,
            entity_ids=entities,
        )
        close = tuple(Closing(row.vid, tx_us) for row in tx.rows_of(objects))
        tx.apply(
            Batch(clock=after(clock, [told]), events=(told,), close=close, tombstones=(stone,))
        )
        tx.empty(objects, entities)


def settled(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Zanzibar", key="k")], tx=10)
    commit(store, [Say(object_id="b", slot="team", value="Blue")], tx=11)
    store.put_vectors(TENANT, [VectorRow(o, "mini", "why", b"\x01\x00") for o in ("a", "b")])
    for envelope, objects in (("env1", ["a", "b"]), ("env2", ["b"])):
        store.put_manifest(
            TENANT, envelope_id=envelope, manifest='{"q":"Zanzibar"}', objects=objects, pack="{}"
        )
    plain = ActionRecord(
        action_id="act",
        kind=ActionKind.SETTLE_TIE,
        object_id="b",
        slot_key=None,
        interval=Interval(0, 5),
        members=("a", "b"),
        detail='{"v":"Zanzibar"}',
        tx_start=12,
        tx_end=INF_US,
    )
    add(store, tx=12, actions=(plain, replace(plain, action_id="act2", members=("b",))))


def test_an_erased_object_says_so_at_every_tx(store: Store) -> None:
    settled(store)
    with store.reading(TENANT) as reader:
        assert reader.versions(OFFICE, sight=ALL, point=Point(5, 10)).versions[0].content
    erase(store, 20, objects=("a",))
    with store.reading(TENANT) as reader:
        assert reader.versions(OFFICE, sight=ALL, point=Point(5, 20)).versions == ()
        (then,) = reader.versions(OFFICE, sight=ALL, point=Point(5, 12)).versions
    assert then.erased
    assert then.content is None
    assert then.visible
    assert then.row.claim.value_key == ""
    assert then.row.interval == Interval(0, INF_US)
    assert store.check(TENANT) == ()


def test_nothing_of_the_text_is_left_in_any_record(store: Store) -> None:
    settled(store)
    erase(store, 20, objects=("a",))
    with store.reading(TENANT) as reader:
        for kind in RecordKind:
            left = [str(r) for r in reader.records(kind) if "anzibar" in str(r)]
            kept = ["env2"] if kind is RecordKind.MANIFEST else []
            kept += ["act2"] if kind is RecordKind.ACTION else []
            assert len(left) == len(kept), (kind, left)
        for point in (Point(5, 12), Point(5, 20)):
            assert reader.matching(["zanzibar"], sight=ALL, point=point, limit=9).versions == ()
            assert reader.matching(["blue"], sight=ALL, point=point, limit=9).versions != ()
        assert [v.object_id for v in reader.vectors("mini", 0)[1]] == ["b"]
        assert reader.manifest("env1") == ""
        assert reader.manifest("env2") == '{"q":"Zanzibar"}'
        details = {a.action_id: a.detail for a in reader.actions(open_only=False, tx_us=20)}
        assert details == {"act": "{}", "act2": '{"v":"Zanzibar"}'}
        (gone,) = reader.find(RECEIPTS, "object_id", ["a"])
        assert (gone.body, gone.fingerprint, gone.idempotency_key) == ("", "", "k")


def test_an_erased_claim_is_left_out_of_plans(store: Store) -> None:
    settled(store)
    erase(store, 20, objects=("a",))
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.assertions(["a", "b"]).keys() == {"b"}
        assert tx.slot_claims([Say(object_id="x").slot_key]) == ()
        assert tx.rows_of(["a"]) == ()
    with store.reading(TENANT) as reader:
        (stated,) = (
            r
            for r in reader.records(RecordKind.CLAIM)
            if r.claim.object_id == "a"  # type: ignore[attr-defined]
        )
    assert stated.erased  # type: ignore[attr-defined]
    assert stated.content == EMPTY_CONTENT  # type: ignore[attr-defined]


def test_vectors_cannot_come_back(store: Store) -> None:
    settled(store)
    erase(store, 20, objects=("a",))
    store.put_vectors(TENANT, [VectorRow("a", "mini", "why", b"\x07\x00")])
    with store.reading(TENANT) as reader:
        assert [v.object_id for v in reader.vectors("mini", 0)[1]] == ["b"]


def test_erasures_are_found_by_the_stamp_after_which_they_happened(store: Store) -> None:
    settled(store)
    erase(store, 20, objects=("a",))
    erase(store, 30, objects=("b",))
    with store.reading(TENANT) as reader:
        assert reader.erased_since(0) == ("a", "b")
        assert reader.erased_since(3) == ("a", "b")
        assert reader.erased_since(4) == ("b",)
        assert reader.erased_since(5) == ()
    assert store.check(TENANT) == ()


def test_emptying_twice_is_emptying_once(store: Store) -> None:
    settled(store)
    erase(store, 20, objects=("a",))
    with store.writing(TENANT) as tx:
        tx.lock()
        tx.empty(["a"], [])
    assert store.check(TENANT) == ()


def test_an_erased_entity_loses_every_name(store: Store) -> None:
    candidate = EntityCandidate(
        entity="e1", name="Sam Rivera", score=0.8, log_odds=1.0, source=CandidateSource.ALIAS
    )
    case = Review(
        review_id="r",
        entity_id="e2",
        mention="Sam R.",
        type="person",
        scope_id="tenant",
        candidates=(candidate,),
        reason="scored",
        object_id="o",
        state=ReviewState.OPEN,
        version=1,
        opened_tx=1,
        note="looks like Sam Rivera",
    )
    add(
        store,
        tx=1,
        entities=(entity("e1"), entity("e2", name="Kim")),
        aliases=(alias("e1"), alias("e2", "Kim"), alias("e2", "Sam Rivera", ordinal=1)),
        identifiers=(Identifier(entity_id="e1", scheme="hr", value="HR-1", tx_start=1),),
        block_keys={"sam rivera": (("t:sam", "token"),), "kim": (("t:kim", "token"),)},
        judgements=(judgement("j", "e1", "e2", tx=1),),
        canonical=(("e1", "e1"), ("e2", "e1")),
        reviews=(case,),
    )
    erase(store, 20, entities=("e1",))
    with store.reading(TENANT) as reader:
        known = reader.entities(["e1"], tx_us=20)
        assert known.entities["e1"].name == ""
        assert known.entities["e1"].state is EntityState.ERASED
        assert [a.entity_id for a in known.aliases] == ["e2", "e2"]
        assert [i.value for i in known.identifiers] == []
        assert [j.evidence for j in known.judgements] == ["{}"]
        (left,) = reader.reviews()
        assert (left.mention, left.candidates, left.note) == ("", (), "")
        lookup = Lookup(identifiers=(("hr", "HR-1"),), norms=("sam rivera",))
        found = reader.known(lookup, scopes=["tenant"], tx_us=5)
        assert [a.entity_id for a in found.aliases] == ["e2"]
    erase(store, 30, entities=("e2",))
    with store.reading(TENANT) as reader:
        for kind in RecordKind:
            assert not [r for r in reader.records(kind) if "sam" in str(r).lower()], kind
        assert list(reader.records(RecordKind.BLOCK_KEYS)) == []
    assert store.check(TENANT) == ()
