"""Versions as of a point: both axes, every shape of ask, marks, and what a view never learns."""

from dataclasses import replace

import pytest

from tenure.schema.claim import EMPTY_CONTENT, Edge
from tenure.schema.interval import ALL_TIME, INF_US
from tenure.schema.vocabulary import EdgeKind, Op, Status
from tenure.store.port.records import Flag
from tenure.store.port.store import Ask, Page, Point, Reader, Store
from tenure.tests.store.builders import ALL, TENANT, Say, add, commit

OFFICE = Ask(subjects=("e1",), slots=("office",))


def at(reader: Reader, valid: int, tx: int, ask: Ask = OFFICE) -> Page:
    return reader.versions(ask, sight=ALL, point=Point(valid, tx))


def objects(found: Page) -> list[str]:
    return [v.row.claim.object_id for v in found.versions]


def moved(store: Store) -> None:
    """Rome from 0, Oslo from 50, and a bounded Bonn on [20, 30) of a stronger level."""
    commit(store, [Say(object_id="rome", value="Rome", start=0)], tx=100)
    commit(store, [Say(object_id="oslo", value="Oslo", start=50)], tx=200)
    commit(store, [Say(object_id="bonn", value="Bonn", start=20, until=30, level=1)], tx=300)


@pytest.mark.parametrize(
    ("valid", "tx", "shown"),
    [
        (0, 100, "rome"),
        (25, 100, "rome"),
        (25, 299, "rome"),
        (25, 300, "bonn"),
        (20, 300, "bonn"),
        (30, 300, "rome"),
        (49, 300, "rome"),
        (50, 300, "oslo"),
        (50, 199, "rome"),
        (INF_US - 1, INF_US, "oslo"),
    ],
)
def test_a_point_shows_what_was_believed_then(
    store: Store, valid: int, tx: int, shown: str
) -> None:
    moved(store)
    with store.reading(TENANT) as reader:
        found = at(reader, valid, tx)
    assert objects(found) == [shown]
    assert found.versions[0].row.look.status is Status.CLEAN
    assert found.withheld == 0


def test_a_version_carries_the_whole_claim(store: Store) -> None:
    say = Say(object_id="a", value_entity="e7")
    commit(store, [say], tx=10)
    with store.reading(TENANT) as reader:
        (version,) = at(reader, 5, 10).versions
    stated = say.assertion(10, 0)
    assert version.row.claim == stated.claim
    assert version.details == stated.details
    assert version.content == stated.content
    assert version.permissions == stated.permissions
    assert version.visible
    assert not version.erased
    assert version.row.vid == 1


def test_a_later_closing_is_not_shown_to_an_earlier_view(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome")], tx=10)
    with store.reading(TENANT) as reader:
        before = at(reader, 9, 10)
    commit(store, [Say(object_id="b", value="Oslo", start=5)], tx=20)
    with store.reading(TENANT) as reader:
        assert at(reader, 9, 10) == before
        (whole,) = at(reader, 9, 20, Ask(objects=("a",), heads=False, at_tx=False)).versions[:1]
    assert before.versions[0].row.tx_end == INF_US
    assert whole.row.tx_end == 20


def test_of_what_is_said_about_a_subject_the_newest_texts_come_and_all_slots(store: Store) -> None:
    commit(store, [Say(object_id="rome", value="Rome")], tx=1)
    for tx in range(2, 8):
        commit(store, [Say(object_id=f"t{tx}", slot=None, text=f"fox {tx}")], tx=tx)
    ask = Ask(subjects=("e1",), texts=2, heads=False, at_valid=False)
    with store.reading(TENANT) as reader:
        page = at(reader, 0, 300, ask)
        everything = at(reader, 0, 300, replace(ask, texts=None))
    assert {"rome", "t6", "t7"} <= set(objects(page))  # a store may give more
    assert (
        set(objects(page)) <= set(objects(everything)) == {"rome", *(f"t{n}" for n in range(2, 8))}
    )


@pytest.mark.parametrize("tx", [6, 11, 300])
@pytest.mark.parametrize("valid", [35, 75, 95])
def test_of_a_long_timeline_what_decides_comes_and_the_newest_others(
    store: Store, valid: int, tx: int
) -> None:
    # Every move leaves two rows: what held before, and its loss from the next move on.
    for move in range(1, 11):
        commit(store, [Say(object_id=f"m{move}", value=f"town {move}", start=10 * move)], tx=move)
    commit(store, [Say(object_id="desk", slot="desk", value="7", start=0)], tx=11)
    whole_ask = Ask(subjects=("e1",), heads=False, at_valid=False)
    with store.reading(TENANT) as reader:
        page = at(reader, valid, tx, replace(whole_ask, extras=2))
        whole = at(reader, valid, tx, whole_ask)

    vids = [version.row.vid for version in page.versions]
    assert vids == sorted(set(vids))
    assert set(page.versions) <= set(whole.versions)
    deciding = [v for v in whole.versions if v.row.look.head and valid in v.row.interval]
    others = [v for v in whole.versions if v not in deciding and v.row.claim.object_id != "desk"]
    assert {v.row.vid for v in (*deciding, *others[-2:])} <= set(vids)  # a store may give more


def test_asks_combine_with_and(store: Store) -> None:
    commit(
        store,
        [
            Say(object_id="a"),
            Say(object_id="b", slot="team"),
            Say(object_id="c", subject="e2"),
            Say(object_id="t", slot=None, subject="e1"),
            Say(object_id="u", slot=None, subject=None),
        ],
        tx=1,
    )
    with store.reading(TENANT) as reader:
        for ask, found in (
            (Ask(), "abctu"),
            (Ask(subjects=("e1",)), "abt"),
            (Ask(subjects=("e1", "e2")), "abct"),
            (Ask(slots=("office",)), "ac"),
            (Ask(subjects=("e1", "e2"), slots=("office", "team")), "abc"),
            (Ask(objects=("a", "c", "t")), "act"),
            (Ask(objects=("a", "c", "t"), subjects=("e1",)), "at"),
            (Ask(objects=("a", "b", "t"), slots=("team",)), "b"),
            (Ask(objects=("u", "b", "t", "a"), facts=True), "ab"),
            (Ask(objects=("u", "t"), facts=True), ""),
            (Ask(objects=("nothing",)), ""),
            (Ask(subjects=("nobody",)), ""),
        ):
            assert "".join(sorted(objects(at(reader, 5, 1, ask)))) == found, ask


def test_what_was_derived_from_objects_can_be_asked_for(store: Store) -> None:
    commit(store, [Say(object_id="p", slot=None, subject=None), Say(object_id="o")], tx=1)
    commit(
        store,
        [
            Say(object_id="a", slot="team"),
            Say(object_id="b", slot="city", until=4),
            Say(object_id="c", slot="floor"),
        ],
        tx=2,
    )
    pairs = (("a", "p"), ("b", "p"), ("b", "o"), ("c", "a"))
    edges = tuple(
        Edge(kind=EdgeKind.DERIVED_FROM, src=src, dst=dst, interval=ALL_TIME, reason="",
             relation="", tx=2)
        for src, dst in pairs
    )  # fmt: skip
    add(store, tx=3, edges=edges)
    with store.reading(TENANT) as reader:
        for ask, found in (
            (Ask(sources=("p",)), "a"),
            (Ask(sources=("p", "o"), at_valid=False), "ab"),
            (Ask(sources=("a", "nothing")), "c"),
            (Ask(sources=("nothing",)), ""),
        ):
            assert "".join(sorted(objects(at(reader, 5, 2, ask)))) == found, ask
        assert at(reader, 5, 1, Ask(sources=("p",))).versions == ()


def test_quarantined_rows_are_never_heads_but_can_be_asked_for(store: Store) -> None:
    commit(store, [Say(object_id="q", quarantine="policy_hold")], tx=1)
    with store.reading(TENANT) as reader:
        assert at(reader, 5, 1).versions == ()
        (held,) = at(reader, 5, 1, Ask(objects=("q",), heads=False)).versions
    assert held.row.look.status is Status.QUARANTINED
    assert held.row.look.reason == "policy_hold"


def test_a_confirmation_moves_last_confirmed_from_its_own_tx_on(store: Store) -> None:
    commit(store, [Say(object_id="a", level=1)], tx=1)
    commit(store, [Say(object_id="b", level=2)], tx=5)
    with store.reading(TENANT) as reader:
        assert at(reader, 5, 4).versions[0].last_confirmed_us is None
        assert at(reader, 5, 5).versions[0].last_confirmed_us == 5
        assert objects(at(reader, 5, 5)) == ["a"]


def test_flags_are_a_log_and_the_last_one_of_a_kind_known_at_a_tx_counts(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=1)
    add(store, tx=2, flags=(Flag("a", "stale", True, 2), Flag("a", "demoted", True, 2)))
    add(store, tx=3, flags=(Flag("a", "stale", False, 3), Flag("a", "confirm_due", True, 3)))
    with store.reading(TENANT) as reader:
        marks = [
            (v.stale, v.demoted, v.confirm_due)
            for v in (at(reader, 5, tx).versions[0] for tx in (1, 2, 3, 9))
        ]
    assert marks == [
        (False, False, False),
        (True, True, False),
        (False, True, True),
        (False, True, True),
    ]


def test_a_deep_slot_answers_right_whatever_its_shape(store: Store) -> None:
    stream = [Say(object_id=f"s{n}", value=str(n), start=n * 10, slot="stream") for n in range(60)]
    for tx, say in enumerate(stream, start=1):
        commit(store, [say], tx=tx)
    for n in range(60):
        rewrite = Say(object_id=f"r{n}", value=str(n), start=0, until=10, slot="rewrite")
        commit(store, [Say(**{**_fields(rewrite), "op": Op.CORRECT})], tx=100 + n)
    with store.reading(TENANT) as reader:
        for tx in (30, 60, 99, 200):
            for valid in (-5, 5, 155, 285, 599):
                number = min(valid // 10, tx - 1, 59)
                shown = [] if valid < 0 else [f"s{number}"]
                ask = Ask(subjects=("e1",), slots=("stream",))
                assert objects(at(reader, valid, tx, ask)) == shown, (valid, tx)
        ask = Ask(subjects=("e1",), slots=("rewrite",))
        for tx in (99, 100, 120, 159, 300):
            shown = [] if tx < 100 else [f"r{min(tx - 100, 59)}"]
            assert objects(at(reader, 5, tx, ask)) == shown
            assert objects(at(reader, 50, tx, ask)) == []


def _fields(say: Say) -> dict[str, object]:
    return {name: getattr(say, name) for name in Say.__dataclass_fields__}


def test_changes_are_what_was_opened_or_closed_between_two_stamps(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome")], tx=10)
    commit(store, [Say(object_id="b", value="Oslo", start=5)], tx=20)
    commit(store, [Say(object_id="c", subject="e2")], tx=30)
    with store.reading(TENANT) as reader:
        assert [v.row.claim.object_id for v in reader.changes(0, 10, sight=ALL).versions] == ["a"]
        between = reader.changes(10, 20, sight=ALL).versions
        assert sorted((v.row.claim.object_id, v.row.tx_start, v.row.tx_end) for v in between) == [
            ("a", 10, 20),
            ("a", 20, INF_US),
            ("a", 20, INF_US),
            ("b", 20, INF_US),
        ]
        early = reader.changes(0, 10, sight=ALL).versions
        assert early[0].row.tx_end == INF_US  # what a view at 10 cannot know
        only = reader.changes(0, 30, sight=ALL, subjects=["e2"]).versions
        assert [v.row.claim.object_id for v in only] == ["c"]
        assert reader.changes(30, 99, sight=ALL).versions == ()


def test_edges_are_those_from_or_to_objects_known_at_a_tx(store: Store) -> None:
    moved(store)
    with store.reading(TENANT) as reader:
        late = reader.edges(["rome"], tx_us=300)
        early = reader.edges(["rome"], tx_us=200)
        assert reader.edges(["rome"], tx_us=100) == ()
    assert {(e.src, e.dst) for e in late} == {("oslo", "rome"), ("bonn", "rome")}
    assert set(early) < set(late)


def test_nothing_is_emptied_without_an_erasure(store: Store) -> None:
    moved(store)
    with store.reading(TENANT) as reader:
        for version in at(reader, 0, 300, Ask(heads=False, at_valid=False, at_tx=False)).versions:
            assert version.content not in (None, EMPTY_CONTENT)
    assert store.check(TENANT) == ()


# ---- A slot that changed often is not read whole for what a compile needs of it, in either store.

MOVES = 30


@pytest.mark.parametrize("tx", [MOVES, MOVES - 5])
def test_beside_what_decides_no_more_rows_come_than_were_asked_for(store: Store, tx: int) -> None:
    for move in range(1, MOVES + 1):
        town = Say(object_id=f"m{move}", value=f"town {move}", start=move)
        desk = Say(object_id=f"d{move}", slot="desk", value=str(move), start=move)
        commit(store, [town, desk], tx=move)

    ask = Ask(subjects=("e1",), extras=3, heads=False, at_valid=False)
    with store.reading(TENANT) as reader:
        versions = reader.versions(ask, sight=ALL, point=Point(7, tx)).versions

    by_slot: dict[str, list[bool]] = {}
    for version in versions:
        decides = version.row.look.head and 7 in version.row.interval
        by_slot.setdefault(version.row.claim.slot_key, []).append(decides)
    assert len(by_slot) == 2
    for decisions in by_slot.values():
        assert decisions.count(True) >= 1
        assert decisions.count(False) == 3
