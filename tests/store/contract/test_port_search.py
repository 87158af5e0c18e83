"""Text, neighbourhood and decay: what is proposed, in which order, and where it is cut."""

from dataclasses import replace

import pytest

from tenure.schema.claim import Permissions
from tenure.schema.layers import DecayRule
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, ObjectType, Op, StateLayer
from tenure.store.port.records import TextPool
from tenure.store.port.store import Page, Point, Reader, Store
from tenure.store.search import term_weights
from tenure.tests.store.builders import ALL, TENANT, Say, commit

NOW = Point(5, 1_000)
PASSAGE = ObjectType.RETRIEVED_PASSAGE


def ids(found: Page) -> list[str]:
    return [v.row.claim.object_id for v in found.versions]


def match(
    reader: Reader, *terms: str, sight: Sight = ALL, point: Point = NOW, limit: int = 10
) -> Page:
    return reader.matching(terms, sight=sight, point=point, limit=limit)


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


def pool(reader: Reader, *terms: str, sight: Sight = ALL, **limits: int) -> TextPool | None:
    asked = {"limit": 10, "unless": 1} | limits
    return reader.text_pool(terms, sight=sight, point=NOW, **asked)


def test_a_pool_tells_of_each_hit_how_long_it_is_and_what_it_holds(store: Store) -> None:
    talk = {"object_type": PASSAGE, "layer": StateLayer.USER}
    commit(store, [Say(object_id="a", slot=None, text="red fox red hen", **talk)], tx=1)
    commit(store, [Say(object_id="b", slot=None, text="fox", object_type=PASSAGE)], tx=2)
    commit(store, [Say(object_id="c", slot=None, text="owl", **talk)], tx=3)
    commit(store, [Say(object_id="d", text="fox den")], tx=4)
    with store.reading(TENANT) as reader:
        found = pool(reader, "red", "fox", "wolf", "", "re", "red hen")
        assert found is not None
        # The rarest word comes first; one that nobody holds, and what is no word, is not told of.
        assert found.terms == ("red", "fox")
        assert found.masks == (0b11, 0b10, 0b10)
        assert (found.turns, set(found.scopes)) == ((1, 0, 0), {"tenant"})
        assert found.is_fact == (False, False, True)
        assert found.sizes == (15, 3, 7)
        assert found.vids == tuple(sorted(v.row.vid for v in match(reader, "fox").versions))
        assert (found.withheld, found.cut) == (0, False)


def test_a_pool_tells_which_hits_hold_a_common_word_which_proposes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_weights, "_FLOOR", 4)
    for tx in range(1, 11):
        text = "red fox" if tx in (3, 5) else "fox" if tx in (7, 8) else "red"
        commit(store, [Say(object_id=f"t{tx}", slot=None, text=text)], tx=tx)
    with store.reading(TENANT) as reader:
        found = pool(reader, "fox", "red", limit=2, unless=1)
        assert found is not None
        assert (found.terms, found.cut) == (("fox", "red"), True)
        four = reader.text_pool(["fox", "red"], sight=ALL, point=NOW, limit=2, unless=0)
        assert four == found
        assert found.masks == (0b01, 0b01)  # the newest of equal weight
        common = pool(reader, "red", limit=2, unless=1)
        assert common is not None
        assert (common.terms, common.masks) == (("red",), (1, 1))


def test_a_pool_tells_so_many_words_apart_and_no_more(store: Store) -> None:
    words = [f"w{number:02}" for number in range(30)]
    for tx in range(1, 4):
        commit(store, [Say(object_id=f"t{tx}", slot=None, text=" ".join(words[tx:]))], tx=tx)
    with store.reading(TENANT) as reader:
        found = pool(reader, *words)
        assert found is not None
        assert len(found.terms) == term_weights.POOL_TERMS
        assert found.terms[:3] == ("w01", "w02", "w03")
        everything = (1 << term_weights.POOL_TERMS) - 1
        assert found.masks == (everything, everything - 1, everything - 3)


def test_a_pool_of_few_hits_is_none_and_a_cut_one_says_so(store: Store) -> None:
    for tx in range(1, 7):
        commit(store, [Say(object_id=f"t{tx}", slot=None, text="fox")], tx=tx)
    with store.reading(TENANT) as reader:
        assert pool(reader, "fox", unless=6) is None
        assert pool(reader, "owl", unless=0) is None
        assert pool(reader, unless=0) is None
        whole = pool(reader, "fox", limit=6, unless=5)
        assert whole is not None
        assert (len(whole.vids), whole.cut) == (6, False)
        cut = pool(reader, "fox", limit=4, unless=2)
        assert cut is not None
        newest = tuple(v.row.vid for v in match(reader, "fox", limit=4).versions)
        assert (cut.vids, cut.cut) == (tuple(sorted(newest)), True)


def test_a_pool_holds_nothing_of_what_is_hidden_and_counts_it(store: Store) -> None:
    secret = Permissions(classification=Classification.HIGHLY_RESTRICTED)
    for tx in range(1, 10):
        permissions = secret if tx in (4, 8, 9) else Permissions()
        say = Say(object_id=f"t{tx}", slot=None, text="fox", permissions=permissions)
        commit(store, [say], tx=tx)
    low = type(ALL)(scopes=("tenant",), tags=("*",), clearance=0)
    with store.reading(TENANT) as reader:
        of_low = pool(reader, "fox", sight=low)
        assert of_low is not None
        assert (len(of_low.vids), of_low.withheld, of_low.cut) == (6, 3, False)
        # What is hidden takes no place of what may be seen, and is counted up to the cut alone.
        three = pool(reader, "fox", sight=low, limit=3)
        assert three is not None
        assert (three.vids, three.withheld, three.cut) == (of_low.vids[-3:], 3, True)
        assert pool(reader, "fox", sight=low, unless=6) is None


def test_a_pool_of_the_past_holds_what_showed_then(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome", start=0)], tx=10)
    commit(store, [Say(object_id="p", slot=None, text="Rome")], tx=15)
    commit(store, [Say(object_id="b", value="Oslo", start=0, op=Op.CORRECT)], tx=20)
    with store.reading(TENANT) as reader:
        now = reader.text_pool(["rome"], sight=ALL, point=Point(5, 30), limit=9, unless=0)
        then = reader.text_pool(["rome"], sight=ALL, point=Point(5, 19), limit=9, unless=0)
        assert now is not None
        assert then is not None
        assert (len(now.vids), len(then.vids)) == (1, 2)


def test_what_is_common_among_strangers_still_tells_a_user_what_is_meant(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_weights, "_FLOOR", 4)
    for tx in range(1, 13):
        user = Scope(user=f"u{tx % 6}")
        text = "Oslo" if tx == 3 else "dinner was fine"
        commit(store, [Say(object_id=f"t{tx}", slot=None, text=text, scope=user)], tx=tx)
    commit(store, [Say(object_id="t0", slot=None, text="dinner at noon")], tx=13)
    u1 = sight_of("tenant", "user=u1")
    with store.reading(TENANT) as reader:
        # In the tenant eleven texts say "dinner", which would propose nothing beside "oslo".
        assert ids(match(reader, "dinner", "oslo", sight=u1)) == ["t0", "t7", "t1"]
        assert ids(match(reader, "dinner", "oslo", sight=u1, limit=2)) == ["t0", "t7"]
        columns = pool(reader, "dinner", "oslo", sight=u1)
        assert columns is not None
        assert (columns.terms, len(columns.vids)) == (("dinner",), 3)
        assert match(reader, "fine", sight=sight_of("user=u1"), limit=1).cut
        assert ids(match(reader, "dinner", sight=sight_of("user=nobody"))) == []
    then = Point(5, 6)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "dinner", "oslo", sight=u1, point=then)) == ["t1"]


def test_who_sees_more_scopes_than_a_search_names_finds_what_stands_in_them(store: Store) -> None:
    scopes = [Scope(project=f"p{number}") for number in range(80)]
    says = [
        Say(object_id=f"t{place}", slot=None, text="fox", scope=scope)
        for place, scope in enumerate((*scopes[:2], scopes[79], Scope(user="bob")))
    ]
    commit(store, says, tx=1)
    many = sight_of(*(scope.scope_id for scope in scopes))
    few = sight_of(*(scope.scope_id for scope in scopes[:64]))
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "fox", sight=many)) == ["t2", "t1", "t0"]
        assert ids(match(reader, "fox", sight=few)) == ["t1", "t0"]


def test_what_is_written_into_a_new_scope_is_searched_from_then_on(store: Store) -> None:
    both = sight_of("user=ann", "user=bob")
    for tx, user in enumerate(("ann", "eve", "bob"), start=1):
        commit(store, [Say(object_id=user, slot=None, text="fox", scope=Scope(user=user))], tx=tx)
        with store.reading(TENANT) as reader:
            shown = ids(match(reader, "fox", sight=both))
        assert shown == [["ann"], ["ann"], ["bob", "ann"]][tx - 1]


def sight_of(*scopes: str) -> Sight:
    return Sight(scopes=scopes, tags=("*",), clearance=3)


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


def test_around_counts_the_relations_of_an_entity_that_a_limit_cut(store: Store) -> None:
    fact = Say(object_id="a", subject="e2", slot="manager", value_entity="e1")
    second = replace(fact, object_id="b", subject="e3")
    owned = replace(fact, object_id="c", slot="owner")
    hidden = replace(fact, object_id="d", subject="e4", permissions=Permissions(allow=("chief",)))
    denied = replace(fact, object_id="e", subject="e5", op=Op.DENY)
    commit(store, [fact, second, owned, hidden, denied, Say(object_id="own")], tx=1)
    with store.reading(TENANT) as reader:
        for point in (NOW, Point(5, 1)):
            page = reader.around(["e1", "e5"], sight=ALL, point=point, limit=2)
            assert page.fans == (("e1", "manager", 2), ("e1", "owner", 1))
        assert reader.around(["e1"], sight=ALL, point=NOW, limit=9).fans == ()


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


def test_what_a_word_tells_follows_each_write(store: Store) -> None:
    commit(store, [Say(object_id="fox", slot=None, text="fox")], tx=1)
    commit(store, [Say(object_id=f"h{n}", slot=None, text="heron") for n in range(2)], tx=2)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "fox", "heron", limit=1)) == ["fox"]

    more = [Say(object_id=f"f{n:02}", slot=None, text="fox") for n in range(60)]
    commit(store, more, tx=3)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "fox", "heron", limit=1)) == ["h1"]


def test_where_every_word_is_common_one_that_is_held_proposes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_weights, "_FLOOR", 4)
    ann = Scope(user="ann")
    commit(store, [Say(object_id="anns", slot=None, text="red fox", scope=ann)], tx=1)
    commit(store, [Say(object_id=f"c{n}", slot=None, text="red fox") for n in range(9)], tx=2)
    anns = Sight(scopes=(ann.scope_id,), tags=("*",), clearance=3)
    for words in (("any", "fox", "red"), (*(f"a{n}" for n in range(40)), "red")):
        with store.reading(TENANT) as reader:
            assert ids(reader.matching(words, sight=anns, point=NOW, limit=1)) == ["anns"]


def test_a_rare_word_counts_more_than_two_that_many_share(store: Store) -> None:
    common = [Say(object_id=f"c{n:03}", slot=None, text="red fox") for n in range(200)]
    commit(store, common, tx=1)
    commit(store, [Say(object_id="rare", slot=None, text="heron")], tx=2)
    commit(store, [Say(object_id="two", slot=None, text="red fox moor")], tx=3)
    with store.reading(TENANT) as reader:
        assert ids(match(reader, "red", "fox", "heron", "moor", limit=2)) == ["two", "rare"]
        assert ids(match(reader, "red", "heron", limit=3)) == ["rare", "two", "c199"]
