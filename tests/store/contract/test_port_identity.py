"""What a store knows about mentions: names, identifiers, clusters and blocking, as of a tx."""

from dataclasses import replace

import pytest

from tenure.resolution.blocking import hit_weight
from tenure.resolution.known import FamilyName, Lookup
from tenure.schema.claim import Assertion
from tenure.schema.entity import Alias, EntityCandidate, Feature, Identifier, Judgement, Review
from tenure.schema.errors import TenureError
from tenure.schema.interval import INF_US
from tenure.schema.vocabulary import (
    CandidateSource,
    EntityState,
    JudgedBy,
    JudgementVerdict,
    ReviewState,
)
from tenure.store.port.store import Batch, Reader, Store
from tenure.store.port.tables import REVIEWS
from tenure.tests.store.builders import TENANT, Say, add, alias, commit, entity, waiting_case

SCOPES = ("tenant",)


def judgement(
    name: str,
    left: str,
    right: str,
    *,
    tx: int,
    verdict: JudgementVerdict = JudgementVerdict.MATCH,
) -> Judgement:
    return Judgement(
        judgement_id=name,
        merge_id=f"merge-{name}",
        left_id=left,
        right_id=right,
        verdict=verdict,
        judged_by=JudgedBy.HUMAN,
        actor="ann",
        score=0.97,
        log_odds=3.5,
        evidence='{"why":"same"}',
        model_version="1",
        reason="seen",
        tx_start=tx,
    )


def people(store: Store, count: int = 3) -> None:
    ids = [f"e{n}" for n in range(1, count + 1)]
    add(
        store,
        tx=1,
        entities=tuple(entity(i, name=f"Person {i}") for i in ids),
        aliases=tuple(alias(i, f"Person {i}") for i in ids),
        identifiers=tuple(
            Identifier(entity_id=i, scheme="hr", value=f"HR-{i}", tx_start=1) for i in ids
        ),
    )


def test_names_are_found_in_their_scope_from_their_tx_on(store: Store) -> None:
    add(
        store,
        tx=5,
        entities=(entity("e1"), entity("e2")),
        aliases=(
            alias("e1", tx=5),
            alias("e2", tx=5, scope_id="user=bob"),
        ),
    )
    lookup = Lookup(norms=("nobody", "sam rivera"))
    with store.reading(TENANT) as reader:
        found = reader.known(lookup, scopes=SCOPES, tx_us=5)
        assert [a.entity_id for a in found.aliases] == ["e1"]
        assert set(found.entities) == {"e1"}
        both = reader.known(lookup, scopes=("tenant", "user=bob"), tx_us=5)
        assert [a.entity_id for a in both.aliases] == ["e1", "e2"]
        assert reader.known(lookup, scopes=SCOPES, tx_us=4).aliases == ()
        assert reader.known(lookup, scopes=(), tx_us=5).aliases == ()


def test_a_closed_alias_is_open_to_an_earlier_view(store: Store) -> None:
    add(store, tx=5, entities=(entity("e1"),), aliases=(alias("e1", tx=5),))
    add(store, tx=9, closed_aliases=((alias("e1", tx=5), 9),))
    lookup = Lookup(norms=("sam rivera",))
    with store.reading(TENANT) as reader:
        assert reader.known(lookup, scopes=SCOPES, tx_us=8).aliases == (alias("e1", tx=5),)
        assert reader.known(lookup, scopes=SCOPES, tx_us=9).aliases == ()
    with pytest.raises(TenureError):
        add(store, tx=10, closed_aliases=((alias("e1", tx=5), 10),))


def test_one_open_alias_has_one_owner_unless_the_ordinal_rises(store: Store) -> None:
    people(store)
    with pytest.raises(TenureError):
        add(store, tx=2, aliases=(alias("e2", "Person e1", tx=2),))
    add(store, tx=2, aliases=(alias("e2", "Person e1", tx=2, ordinal=1),))


def test_identifiers_are_found_and_bring_those_of_the_entity(store: Store) -> None:
    people(store)
    add(
        store,
        tx=2,
        identifiers=(Identifier(entity_id="e1", scheme="mail", value="s@x.org", tx_start=2),),
    )
    with store.reading(TENANT) as reader:
        found = reader.known(Lookup(identifiers=(("hr", "HR-e1"),)), scopes=SCOPES, tx_us=9)
        assert [(i.scheme, i.value) for i in found.identifiers] == [
            ("hr", "HR-e1"),
            ("mail", "s@x.org"),
        ]
        assert set(found.entities) == {"e1"}
        early = reader.known(Lookup(identifiers=(("mail", "s@x.org"),)), scopes=SCOPES, tx_us=1)
        assert early.identifiers == ()
        assert early.entities == {}


def test_ids_are_looked_up_and_unknown_ones_left_out(store: Store) -> None:
    people(store)
    with store.reading(TENANT) as reader:
        found = reader.known(Lookup(entity_ids=("e2", "e9")), scopes=SCOPES, tx_us=9)
        assert list(found.entities) == ["e2"]
        assert found.aliases == ()
        whole = reader.entities(["e2"], tx_us=9)
        assert [a.surface for a in whole.aliases] == ["Person e2"]
        assert reader.entity_ids() == ("e1", "e2", "e3")
        assert reader.entity_ids(type="person") == ("e1", "e2", "e3")
        assert reader.entity_ids(type="team") == ()


def test_a_known_entity_takes_another_name_type_or_state(store: Store) -> None:
    people(store)
    changed = replace(
        entity("e1", name="Sam R."), type="team", state=EntityState.PENDING, recorded=True
    )
    add(store, tx=2, entities=(changed,))
    with store.reading(TENANT) as reader:
        assert reader.known(Lookup(entity_ids=("e1",)), scopes=SCOPES, tx_us=2).entities == {
            "e1": changed
        }


def merge(store: Store) -> None:
    people(store)
    judgements = (judgement("a", "e1", "e2", tx=10),)
    add(store, tx=10, judgements=judgements, canonical=(("e1", "e1"), ("e2", "e1")))


def test_clusters_are_those_believed_at_the_tx(store: Store) -> None:
    merge(store)
    add(
        store,
        tx=20,
        judgements=(
            judgement("b", "e2", "e3", tx=20),
            judgement("no", "e1", "e3", tx=20, verdict=JudgementVerdict.NON_MATCH),
        ),
        canonical=(("e1", "e1"), ("e2", "e1"), ("e3", "e1")),
    )
    add(
        store,
        tx=30,
        closed_judgements=(("a", 30),),
        canonical=(("e1", "e1"), ("e2", "e2"), ("e3", "e2")),
    )
    with store.reading(TENANT) as reader:
        clusters = {
            tx: dict(reader.known(Lookup(entity_ids=("e3",)), scopes=SCOPES, tx_us=tx).canonical)
            for tx in (9, 10, 19, 20, 29, 30, 99)
        }
        first = reader.entities(["e2"], tx_us=15)
    all_three = dict.fromkeys(("e1", "e2", "e3"), "e1")
    assert clusters == {
        9: {},
        10: {},
        19: {},
        20: all_three,
        29: all_three,
        30: {"e2": "e2", "e3": "e2"},
        99: {"e2": "e2", "e3": "e2"},
    }
    assert set(first.entities) == {"e1", "e2"}
    assert [j.judgement_id for j in first.judgements] == ["a"]
    assert first.judgements[0].tx_end == INF_US  # closed later than the view knows
    assert [a.entity_id for a in first.aliases] == ["e1", "e2"]
    assert store.check(TENANT) == ()


def test_a_judgement_closes_once(store: Store) -> None:
    merge(store)
    close = {"closed_judgements": (("a", 30),), "canonical": (("e1", "e1"), ("e2", "e2"))}
    add(store, tx=30, **close)
    with pytest.raises(TenureError):
        add(store, tx=40, **close)


def test_blocking_keys_propose_the_heaviest_visible_aliases(store: Store) -> None:
    people(store, 3)
    add(store, tx=2, aliases=(alias("e3", "hidden", tx=2, scope_id="user=bob"),))
    keys = {
        "person e1": (("t:person", "token"), ("t:e1", "token")),
        "person e2": (("t:person", "token"), ("p:pers", "prefix")),
        "hidden": (("t:person", "token"),),
    }
    add(store, tx=3, block_keys=keys)
    lookup = Lookup(block_keys=(("t:person", 4_000), ("t:e1", 4_000), ("p:pers", 1_500)))
    with store.reading(TENANT) as reader:
        found = reader.known(lookup, scopes=SCOPES, tx_us=9)
        one = reader.known(replace(lookup, limit=1), scopes=SCOPES, tx_us=9)
    person = hit_weight("token", 4_000, postings=3, total=3) or 0
    assert found.weights == {
        ("e1", "person e1"): person + (hit_weight("token", 4_000, postings=1, total=3) or 0),
        ("e2", "person e2"): person + (hit_weight("prefix", 1_500, postings=1, total=3) or 0),
    }
    assert [a.entity_id for a in one.aliases] == ["e1"]
    assert set(found.entities) == {"e1", "e2"}


def test_lighter_names_move_up_where_heavier_ones_are_out_of_sight(store: Store) -> None:
    ids = [f"e{number:02}" for number in range(12)]
    hidden = dict.fromkeys(ids[:5], "user=bob")
    add(
        store,
        tx=1,
        entities=tuple(entity(raw) for raw in ids),
        aliases=tuple(alias(r, f"name {r}", scope_id=hidden.get(r, "tenant")) for r in ids),
        block_keys={
            f"name {raw}": (
                ("t:name", "token"),
                *((("f:namee0", "first"),) if raw in hidden else ()),
                *((("p:late", "prefix"),) if raw == ids[-1] else ()),
            )
            for raw in ids
        },
    )
    keys = (("t:name", 4_000), ("f:namee0", 3_000), ("p:late", 1_500), ("t:none", 4_000))
    with store.reading(TENANT) as reader:
        found = reader.known(Lookup(block_keys=keys, limit=3), scopes=SCOPES, tx_us=9)
        every = reader.known(Lookup(block_keys=keys), scopes=SCOPES, tx_us=9)
        assert reader.known(Lookup(block_keys=keys[3:]), scopes=SCOPES, tx_us=9).weights == {}
    assert [a.entity_id for a in found.aliases] == ["e05", "e06", "e11"], "ties by name"
    assert set(every.entities) == set(ids[5:])


def test_a_crowd_takes_no_last_places_beside_enough_heavier_names(store: Store) -> None:
    heavy = [f"heavy e{number}" for number in range(6)]
    crowd = [f"light e{number:02}" for number in range(10, 24)]
    ids = {name: name.split()[1] for name in (*heavy, *crowd)}
    add(
        store,
        tx=1,
        entities=tuple(entity(raw) for raw in ids.values()),
        aliases=tuple(
            alias(raw, name, scope_id="user=bob" if name == "heavy e0" else "tenant")
            for name, raw in ids.items()
        ),
        block_keys={
            name: (("t:one", "token"), *((("t:two", "token"),) if name in heavy else ()))
            for name in ids
        },
    )

    def proposed(limit: int, scopes: tuple[str, ...] = SCOPES) -> list[str]:
        lookup = Lookup(block_keys=(("t:one", 4_000), ("t:two", 4_000)), limit=limit)
        with store.reading(TENANT) as reader:
            return sorted(norm for _, norm in reader.known(lookup, scopes=scopes, tx_us=9).weights)

    assert proposed(12) == heavy[1:], "fourteen tie for six places"
    assert proposed(13) == [*heavy[1:], *crowd[:8]], "for half of them there is a place"
    assert proposed(12, ("user=bob",)) == heavy[:1]
    add(store, tx=2, closed_aliases=tuple((alias(ids[name], name), 2) for name in heavy[1:3]))
    assert proposed(12) == [*heavy[3:], *crowd[:9]], "three are too few to do without"


def test_what_is_not_near_is_left_out_after_the_cut(store: Store) -> None:
    people(store)
    key = (("t:person", "token"),)
    add(store, tx=2, block_keys={f"person e{number}": key for number in (1, 2, 3)})
    lookup = Lookup(
        block_keys=(("t:person", 4_000),),
        limit=2,
        near=lambda surfaces: set(surfaces) - {"Person e1"},
    )
    with store.reading(TENANT) as reader:
        found = reader.known(lookup, scopes=SCOPES, tx_us=9)
    assert [a.entity_id for a in found.aliases] == ["e2"], "e3 does not move up"
    assert set(found.entities) == {"e2"}


def test_a_known_norm_takes_further_keys_and_the_counts_hold(store: Store) -> None:
    people(store, 1)
    add(store, tx=2, block_keys={"person e1": (("t:person", "token"),)})
    add(store, tx=3, block_keys={"person e1": (("t:person", "token"), ("a:pe", "acronym"))})
    lookup = Lookup(block_keys=(("t:person", 4_000), ("a:pe", 5_000)))
    with store.reading(TENANT) as reader:
        found = reader.known(lookup, scopes=SCOPES, tx_us=9)
    assert found.weights == {
        ("e1", "person e1"): (hit_weight("token", 4_000, postings=1, total=1) or 0)
        + (hit_weight("acronym", 5_000, postings=1, total=1) or 0)
    }
    assert store.check(TENANT) == ()


def test_entity_ids_come_in_pages(store: Store) -> None:
    people(store, 4)
    with store.reading(TENANT) as reader:
        assert reader.entity_ids(most=2) == ("e1", "e2")
        assert reader.entity_ids(after="e2", most=9) == ("e3", "e4")
        assert reader.entity_ids(type="person", after="e1", most=2) == ("e2", "e3")
        assert reader.entity_ids(after="e4") == ()


def test_entity_ids_of_scopes_are_those_that_may_have_a_name_there(store: Store) -> None:
    people(store, 5)
    add(
        store,
        tx=2,
        aliases=(
            alias("e1", "Mum", scope_id="user=ann", tx=2),
            alias("e4", "Dad", scope_id="user=bob", tx=2),
        ),
        judgements=(judgement("j", "e2", "e3", tx=2),),
        canonical=(("e2", "e2"), ("e3", "e2")),
    )
    with store.reading(TENANT) as reader:
        assert reader.entity_ids(scopes=("user=ann",)) == ("e1", "e2")
        assert reader.entity_ids(scopes=("user=ann", "user=bob")) == ("e1", "e2", "e4")
        assert reader.entity_ids(scopes=("user=bob",), after="e2", type="person") == ("e4",)
        assert reader.entity_ids(scopes=("user=bob",), most=1) == ("e2",)
        assert reader.entity_ids(scopes=("user=bob",), type="team") == ()
        assert reader.entity_ids(scopes=("tenant",)) == reader.entity_ids()
        assert reader.entity_ids(scopes=()) == ("e2",)


def test_reviews_come_in_their_newest_version(store: Store) -> None:
    people(store)
    opened = Review(
        review_id="r1",
        entity_id="e3",
        mention="Person e3",
        type="person",
        scope_id="tenant",
        candidates=(
            EntityCandidate(
                entity="e1",
                name="Person e1",
                score=0.81,
                log_odds=1.45,
                source=CandidateSource.BLOCKING,
                features=(Feature("name", 0.5, 1.25, "equal"),),
                vetoes=("short_core",),
            ),
        ),
        reason="scored",
        object_id="o1",
        state=ReviewState.OPEN,
        version=1,
        opened_tx=5,
    )
    add(store, tx=5, reviews=(opened,))
    with store.reading(TENANT) as reader:
        assert reader.reviews() == (opened,)
    decided = replace(
        opened,
        state=ReviewState.ACCEPTED,
        version=2,
        decided_tx=6,
        decided_by="ann",
        decided_entity="e1",
        merge_id="m1",
        note="sure",
    )
    add(store, tx=6, reviews=(decided,))
    with store.reading(TENANT) as reader:
        assert reader.reviews() == (decided,)
        assert reader.reviews(state="open") == ()
        assert reader.reviews(state="accepted") == (decided,)
        assert reader.reviews(mention=decided.mention) == (decided,)
        assert reader.reviews(mention=f"{decided.mention} the second") == ()
        assert reader.review("r1") == decided
        assert reader.review("r2") is None
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.review("r1") == decided
        assert tx.review("r2") is None
    with pytest.raises(TenureError):
        add(store, tx=7, reviews=(decided,))
    aside = replace(opened, review_id="r3", reason="audit")
    add(store, tx=7, reviews=(aside, replace(opened, review_id="r0", entity_id="e2")))
    with store.writing(TENANT) as tx:
        tx.lock()
        found = tx.find(REVIEWS, "entity_id", ("e3", "e2", "e3"))
        assert [case.review_id for case in found] == ["r0", "r1", "r3"]
        assert [case.review_id for case in found if case.blocking] == ["r0", "r1"]
        assert tx.find(REVIEWS, "entity_id", ("e3",)) == (decided, aside)
        assert tx.find(REVIEWS, "entity_id", ("e1",)) == tx.find(REVIEWS, "entity_id", ()) == ()


def test_names_of_entities_come_with_their_scopes(store: Store) -> None:
    people(store)
    add(store, tx=2, aliases=(alias("e1", "Samuel", scope_id="user=ann"),))
    with store.reading(TENANT) as reader:
        found = reader.name_rows(("e2", "e1", "e1"), tx_us=2)
        names = {(one.surface, one.scope_id) for one in found}
        assert ("Samuel", "user=ann") in names
        assert {scope for surface, scope in names if surface != "Samuel"} == {"tenant"}
        assert reader.name_rows(("e1",), tx_us=0) == ()
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.name_rows(("e1", "e2"), tx_us=2) == found


def test_a_writer_sees_the_names_that_it_has_just_written_or_emptied(store: Store) -> None:
    people(store)
    with store.writing(TENANT) as tx:
        clock = tx.lock()
        before = [one.surface for one in tx.entities(("e1",), tx_us=clock.last_us).aliases]
        assert before
        tx.apply(Batch(clock=clock, aliases=(alias("e1", "Samuel"),)))
        names = [one.surface for one in tx.entities(("e1",), tx_us=clock.last_us).aliases]
        assert sorted(names) == sorted([*before, "Samuel"])
        assert len(tx.name_rows(("e1",), tx_us=clock.last_us)) == len(names)
        tx.empty((), ("e1",))
        assert tx.entities(("e1",), tx_us=clock.last_us).aliases == ()
        assert tx.name_rows(("e1",), tx_us=clock.last_us) == ()


def test_an_entity_is_in_the_state_that_was_believed(store: Store) -> None:
    held = entity("e2", name="Person e2", tx=2, state=EntityState.PENDING)
    add(store, tx=1, entities=(entity("e1"),))
    add(store, tx=2, entities=(held,), reviews=(waiting_case("e2", tx=2),))
    accepted = replace(
        waiting_case("e2", tx=2), state=ReviewState.ACCEPTED, version=2, decided_tx=4,
        decided_by="ann", decided_entity="e1", merge_id="merge-j",
    )  # fmt: skip
    add(
        store,
        tx=4,
        entities=(replace(held, state=EntityState.MERGED),),
        judgements=(judgement("j", "e1", "e2", tx=4),),
        canonical=(("e1", "e1"), ("e2", "e1")),
        reviews=(accepted,),
    )
    add(store, tx=5)
    with store.reading(TENANT) as reader:
        for tx, states in ((2, "active pending"), (3, "active pending"), (4, "active merged"),
                           (5, "active merged")):  # fmt: skip
            found = reader.entities(("e1", "e2"), tx_us=tx).entities
            assert [found[raw].state.value for raw in ("e1", "e2")] == states.split()
            known = reader.known(Lookup(entity_ids=("e2",)), scopes=SCOPES, tx_us=tx).entities
            assert known["e2"].state.value == states.split()[1]


def test_a_writer_finds_what_the_same_transaction_has_written(store: Store) -> None:
    from tenure.tests.store.builders import after, event

    with store.writing(TENANT) as tx:
        clock = tx.lock()
        told = event(clock, tx=1)
        given: dict[str, tuple[Alias, ...]] = {"aliases": (alias("e1"),)}
        tx.apply(
            Batch(clock=after(clock, [told]), events=(told,), entities=(entity("e1"),), **given)  # type: ignore[arg-type]
        )
        found = tx.known(Lookup(norms=("sam rivera",)), scopes=SCOPES, tx_us=1)
        assert [a.entity_id for a in found.aliases] == ["e1"]
        assert list(tx.entities(["e1"], tx_us=1).entities) == ["e1"]


def test_the_bearers_of_a_family_name_are_people_whom_the_caller_may_see(store: Store) -> None:
    names = {
        "e1": "Ana Rivera",
        "e2": "Anita Rivera",
        "e3": "Leo Rivera",
        "e4": "Rivera Stone",
        "e5": "Kim Rivera",
        "e6": "Rivera",
        "e7": "Casa Rivera",
    }
    types = {"e7": "organization"}
    hidden = {"e5": "user=bob"}
    add(
        store,
        tx=1,
        entities=tuple(
            entity(raw, name=name, type=types.get(raw, "person")) for raw, name in names.items()
        ),
        aliases=tuple(
            alias(
                raw,
                name,
                type=types.get(raw, "person"),
                scope_id=hidden.get(raw, "tenant"),
            )
            for raw, name in names.items()
        ),
        block_keys={name.casefold(): (("t:rivera", "token"),) for name in names.values()},
    )

    def bearers(limit: int, scopes: tuple[str, ...] = SCOPES, near: bool = True) -> int:
        lookup = Lookup(
            block_keys=(("t:rivera", 4_000),),
            near=lambda surfaces: set(surfaces) if near else set(),
            family=FamilyName("t:rivera", " rivera", limit),
        )
        with store.reading(TENANT) as reader:
            return reader.known_each([(Lookup(), scopes), (lookup, scopes)], tx_us=9)[1].bearers

    assert bearers(9) == 3, "no thing, nobody called so first or alone, nobody out of sight"
    assert bearers(9, ("tenant", "user=bob")) == 4
    assert bearers(2) == 2, "counted no further"
    assert bearers(9, near=False) == 0, "nobody is near, so nobody would be asked"

    add(
        store,
        tx=3,
        judgements=(judgement("a", "e1", "e2", tx=3),),
        canonical=(("e1", "e1"), ("e2", "e1")),
    )
    assert bearers(9) == 2, "two names of one person"


def test_the_cases_of_a_source_count_while_they_wait(store: Store) -> None:
    commit(store, [Say(object_id=name, slot=name) for name in ("o1", "o2", "o3")], tx=1)
    with store.reading(TENANT) as reader:
        details = reader_claim(reader, "o1").details
    source = details.actor, details.source_origin
    cases = [waiting_case(f"e{n}", tx=2, object_id=f"o{n}") for n in (1, 2, 3)]
    aside = replace(waiting_case("e9", tx=2, object_id="o1"), reason="audit")
    add(store, tx=2, reviews=(*cases, aside, waiting_case("e8", tx=2, object_id="elsewhere")))
    assert [count_waiting(store, *source, most) for most in (9, 2)] == [3, 2]
    assert count_waiting(store, "somebody", source[1], 9) == 0
    assert count_waiting(store, source[0], "user://elsewhere", 9) == 0
    for number, (state, count) in enumerate(
        ((ReviewState.REJECTED, 2), (ReviewState.UNDONE, 3), (ReviewState.ACCEPTED, 2))
    ):
        case = replace(cases[1], state=state, version=2 + number, decided_tx=3 + number)
        add(store, tx=3 + number, reviews=(case,))
        assert count_waiting(store, *source, 9) == count
    assert store.check(TENANT) == ()


def count_waiting(store: Store, actor: str, origin: str, most: int) -> int:
    with store.writing(TENANT) as tx:
        tx.lock()
        return tx.waiting(actor, origin, limit=most)


def reader_claim(reader: Reader, object_id: str) -> Assertion:
    return reader.assertions([object_id])[object_id]
