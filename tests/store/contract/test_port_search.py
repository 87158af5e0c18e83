"""Text, neighbourhood and decay: what is proposed, in which order, and where it is cut."""

from __future__ import annotations

from tenure.schema.layers import DecayRule
from tenure.schema.vocabulary import ObjectType, Op
from tenure.store.port.store import Page, Point, Reader, Store
from tenure.tests.store.builders import ALL, TENANT, Say, commit

NOW = Point(5, 1_000)
PASSAGE = ObjectType.RETRIEVED_PASSAGE


def ids(found: Page) -> list[str]:
    return [v.row.claim.object_id for v in found.versions]


def match(reader: Reader, *terms: str, point: Point = NOW, limit: int = 10) -> Page:
    return reader.matching(terms, sight=ALL, point=point, limit=limit)


def test_most_shared_terms_come_first_then_the_newest_claim(store: Store) -> None:
    for tx, text in enumerate(("red fox", "red hen", "blue fox", "red fox runs", "owl"), start=1):
        commit(store, [Say(object_id=f"t{tx}", slot=None, text=text)], tx=tx)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "red", "fox")) == ["t4", "t1", "t3", "t2"]
        assert ids(match(reader, "red", "fox", "red")) == ["t4", "t1", "t3", "t2"]
        cut = match(reader, "red", "fox", limit=3)
        assert (ids(cut), cut.cut) == (["t4", "t1", "t3"], True)
        assert not match(reader, "red", "fox", limit=4).cut
        assert ids(match(reader, "wolf")) == []
        assert ids(match(reader)) == []


def test_hits_that_stand_together_come_before_a_lone_one(store: Store) -> None:
    stretch, lone = {3: "red fox", 4: "red", 6: "red"}, {20: "red fox"}
    texts = stretch | lone
    for tx in range(1, 24):
        say = Say(object_id=f"t{tx}", slot=None, text=texts.get(tx, "owl"), object_type=PASSAGE)
        commit(store, [say], tx=tx)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "red", "fox")) == ["t20", "t3", "t6", "t4"]
        lifted = reader.matching(["red", "fox"], sight=ALL, point=NOW, limit=10, lift=True)
        assert ids(lifted) == ["t3", "t4", "t6", "t20"]
        cut = reader.matching(["red", "fox"], sight=ALL, point=NOW, limit=2, lift=True)
        assert (ids(cut), cut.cut) == (["t3", "t4"], True)
        page = reader.matching(["red"], sight=ALL, point=NOW, limit=10, lift=True)
        assert ids(page) == ["t4", "t3", "t6", "t20"]
        assert ids(reader.matching([], sight=ALL, point=NOW, limit=10, lift=True)) == []


def test_facts_that_were_written_in_turn_lift_nothing(store: Store) -> None:
    for tx in (2, 3, 9):
        commit(store, [Say(object_id=f"t{tx}", slot=None, text="fox")], tx=tx)
    with store.reading(TENANT) as reader:
        lifted = reader.matching(["fox"], sight=ALL, point=NOW, limit=10, lift=True)
        assert ids(lifted) == ["t9", "t3", "t2"]


def test_what_is_hidden_lifts_nothing(store: Store) -> None:
    from tenure.schema.claim import Permissions
    from tenure.schema.vocabulary import Classification

    secret = Permissions(classification=Classification.HIGHLY_RESTRICTED)
    for tx in range(1, 12):
        is_hit, permissions = tx in (2, 3, 9), secret if tx == 3 else Permissions()
        text = "fox" if is_hit else "owl"
        say = Say(object_id=f"t{tx}", slot=None, text=text, object_type=PASSAGE,
                  permissions=permissions)  # fmt: skip
        commit(store, [say], tx=tx)
    low = type(ALL)(scopes=("tenant",), tags=("*",), clearance=0)
    with store.reading(TENANT) as reader:
        of_all = reader.matching(["fox"], sight=ALL, point=NOW, limit=10, lift=True)
        assert ids(of_all) == ["t3", "t2", "t9"]
        of_low = reader.matching(["fox"], sight=low, point=NOW, limit=10, lift=True)
        assert ids(of_low) == ["t9", "t2"]


def test_terms_match_whole_and_odd_ones_match_nothing(store: Store) -> None:
    commit(store, [Say(object_id="a", slot=None, text="東京 café naïve fox_trot")], tx=1)
    with store.reading(TENANT) as reader:
        for term, found in (
            ("fox", ["a"]),
            ("fo", []),
            ("東", ["a"]),
            ("東京", ["a"]),
            ("cafe", ["a"]),
            ('"', []),
            ("fox trot", []),
            ("fox*", []),
            ("NOT", []),
            ("", []),
            ("\x00", []),
        ):
            assert ids(match(reader, term)) == found, term


def test_now_finds_what_shows_now_and_the_past_what_showed_then(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome", start=0)], tx=10)
    commit(store, [Say(object_id="b", value="Oslo", start=0, op=Op.CORRECT)], tx=20)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "rome")) == []
        assert ids(match(reader, "oslo")) == ["b"]
        assert ids(match(reader, "rome", point=Point(5, 19))) == ["a"]
        assert ids(match(reader, "oslo", point=Point(5, 19))) == []
        assert ids(match(reader, "oslo", point=Point(-5, 20))) == []
    commit(store, [Say(object_id="c", value="Oslo", start=0, op=Op.RETRACT)], tx=30)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "oslo")) == []
        assert ids(match(reader, "oslo", point=Point(5, 29))) == ["b"]


def test_a_revived_claim_is_found_again(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome", start=0)], tx=10)
    commit(store, [Say(object_id="b", value="Oslo", start=0, level=1)], tx=20)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "rome")) == []
    commit(store, [Say(object_id="c", value="Oslo", start=0, level=1, op=Op.RETRACT)], tx=30)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "rome")) == ["a"]
    assert store.check(TENANT) == ()


def test_hidden_claims_do_not_use_up_the_limit(store: Store) -> None:
    from tenure.schema.claim import Permissions
    from tenure.schema.vocabulary import Classification

    secret = Permissions(classification=Classification.HIGHLY_RESTRICTED)
    for tx in range(1, 40):
        permissions = secret if tx > 5 else Permissions()
        say = Say(object_id=f"t{tx}", slot=None, text="fox", permissions=permissions)
        commit(store, [say], tx=tx)
    low = type(ALL)(scopes=("tenant",), tags=("*",), clearance=0)
    with store.reading(TENANT) as reader:
        found = reader.matching(["fox"], sight=low, point=NOW, limit=3)
    assert ids(found) == ["t5", "t4", "t3"]
    assert found.cut
    assert found.withheld == 34


def test_around_finds_what_is_about_an_entity_and_what_points_at_it(store: Store) -> None:
    commit(
        store,
        [
            Say(object_id="about"),
            Say(object_id="text", slot=None),
            Say(object_id="points", subject="e2", slot="manager", value_entity="e1"),
            Say(object_id="far", subject="e3"),
        ],
        tx=1,
    )
    commit(store, [Say(object_id="loser", value="Rome", start=-9, level=3)], tx=2)
    with store.reading(TENANT) as reader:
        for point in (NOW, Point(5, 1)):
            found = reader.around(["e1", "e1"], sight=ALL, point=point, limit=9)
            assert ids(found) == ["about", "text", "points"]
            assert not found.cut
        both = reader.around(["e1", "e2"], sight=ALL, point=NOW, limit=9)
        assert ids(both) == ["about", "text", "points"]
        assert ids(reader.around(["nobody"], sight=ALL, point=NOW, limit=9)) == []


def test_around_keeps_the_strongest_of_each_entity(store: Store) -> None:
    commit(
        store,
        [
            Say(object_id="a", slot="s1", level=3),
            Say(object_id="b", slot="s2", level=1, trust=100),
            Say(object_id="c", slot="s3", level=2, trust=900),
            Say(object_id="d", slot="s4", level=2, trust=900),
            Say(object_id="e", subject="e2", level=4),
        ],
        tx=1,
    )
    with store.reading(TENANT) as reader:
        found = reader.around(["e1", "e2"], sight=ALL, point=NOW, limit=2)
    assert ids(found) == ["b", "c", "e"]
    assert found.cut


def test_ties_are_not_around(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome")], tx=1)
    commit(store, [Say(object_id="b", value="Oslo")], tx=2)
    with store.reading(TENANT) as reader:
        assert ids(reader.around(["e1"], sight=ALL, point=NOW, limit=9)) == []
        assert sorted(ids(match(reader, "office", "offic"))) == ["a", "b"]


def test_decaying_gives_clean_heads_with_a_rule_whoever_may_see_them(store: Store) -> None:
    from tenure.schema.claim import Permissions
    from tenure.schema.principal import Scope

    rule = DecayRule(30, 0.5)
    commit(
        store,
        [
            Say(object_id="a", decay=rule, scope=Scope(user="ann")),
            Say(object_id="b", slot="team"),
            Say(object_id="c", slot="seat", decay=rule, permissions=Permissions(allow=("x",))),
        ],
        tx=1,
    )
    commit(store, [Say(object_id="d", slot="seat", value="9", decay=rule, level=1)], tx=2)
    with store.reading(TENANT) as reader:
        now = reader.decaying(point=NOW)
        then = reader.decaying(point=Point(5, 1))
    assert [v.row.claim.object_id for v in now] == ["a", "d"]
    assert [v.row.claim.object_id for v in then] == ["a", "c"]
    assert all(v.visible and v.content and v.details.decay_rule == rule for v in (*now, *then))


def test_a_rare_word_counts_more_than_two_that_many_share(store: Store) -> None:
    common = [Say(object_id=f"c{n:03}", slot=None, text="red fox") for n in range(64)]
    commit(store, common, tx=1)
    commit(store, [Say(object_id="rare", slot=None, text="heron")], tx=2)
    commit(store, [Say(object_id="two", slot=None, text="red fox moor")], tx=3)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "red", "fox", "heron", "moor", limit=2)) == ["two", "rare"]
        assert ids(match(reader, "red", "heron", limit=3)) == ["rare", "two", "c063"]
