"""Who sees what: scopes, clearance and roles in every read, and what is counted instead."""

import pytest

from tenure.schema.claim import Permissions, Version
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, ObjectType, Op
from tenure.store.port.records import NextReads, PermissionChange, SubjectSpan, Walk
from tenure.store.port.store import Ask, Point, Store
from tenure.tests.store.builders import ALL, TENANT, Say, add, commit
from tenure.tests.store.contract.test_port_erasure import erase

HERE = Point(5, 100)
OFFICE = Ask(subjects=("e1",), slots=("office",))

SECRET = Permissions(classification=Classification.CONFIDENTIAL)
FINANCE = Permissions(allow=("finance",))
NOT_INTERNS = Permissions(allow=("*",), deny=("intern",))


def sight(*tags: str, clearance: int = 3, scopes: tuple[str, ...] = ("tenant",)) -> Sight:
    return Sight(scopes=scopes, tags=tuple(sorted(("*", *tags))), clearance=clearance)


@pytest.mark.parametrize(
    ("permissions", "who", "seen"),
    [
        (Permissions(), sight(clearance=0), True),
        (SECRET, sight(clearance=2), True),
        (SECRET, sight(clearance=1), False),
        (FINANCE, sight("finance"), True),
        (FINANCE, sight("sales"), False),
        (NOT_INTERNS, sight("finance"), True),
        (NOT_INTERNS, sight("finance", "intern"), False),
        (Permissions(allow=("a", "b"), deny=("c",)), sight("b"), True),
        (Permissions(allow=("a", "b"), deny=("b",)), sight("b"), False),
    ],
)
def test_permissions_decide_who_sees_an_object(
    store: Store, permissions: Permissions, who: Sight, seen: bool
) -> None:
    commit(store, [Say(object_id="a", permissions=permissions, value_entity="e5")], tx=1)
    with store.reading(TENANT) as reader:
        found = reader.versions(OFFICE, sight=who, point=HERE)
        (version,) = found.versions
        assert version.visible is seen
        assert found.withheld == (0 if seen else 1)
        assert (version.content is not None) is seen
        assert version.row.claim.value_key == ("s:Chicago" if seen else "")
        assert version.details.value_entity_id == ("e5" if seen else None)
        for other in (
            reader.matching(["chicago"], sight=who, point=HERE, limit=9),
            reader.around(["e1"], sight=who, point=HERE, limit=9),
            reader.around(["e5"], sight=who, point=HERE, limit=9),
            reader.changes(0, 100, sight=who),
        ):
            assert (len(other.versions), other.withheld) == ((1, 0) if seen else (0, 1))


def test_a_hidden_version_still_says_how_it_decides(store: Store) -> None:
    commit(store, [Say(object_id="a", permissions=SECRET)], tx=1)
    with store.reading(TENANT) as reader:
        (version,) = reader.versions(OFFICE, sight=sight(clearance=0), point=HERE).versions
        again = reader.versions(Ask(objects=("a",)), sight=sight(clearance=0), point=HERE)
    assert version.row.look.head
    assert version.row.claim.object_id == "a"
    assert not version.erased
    assert again.versions == (version,)


def test_what_one_caller_read_is_not_shown_to_another(store: Store) -> None:
    commit(store, [Say(object_id="a", permissions=SECRET)], tx=1)
    for who in (ALL, sight(clearance=0), ALL):
        with store.reading(TENANT) as reader:
            (version,) = reader.versions(OFFICE, sight=who, point=HERE).versions
        assert version.visible is (who is ALL)
        assert (version.content is None) is (who is not ALL)


def test_rows_of_other_scopes_are_never_returned_but_counted(store: Store) -> None:
    mine, theirs = Scope(user="ann"), Scope(user="bob")
    says = [
        Say(object_id="mine", scope=mine),
        Say(object_id="theirs", scope=theirs),
        Say(object_id="ours"),
    ]
    commit(store, says, tx=1)
    who = sight(scopes=("tenant", "user=ann"))
    with store.reading(TENANT) as reader:
        for found in (
            reader.versions(OFFICE, sight=who, point=HERE),
            reader.versions(Ask(subjects=("e1",)), sight=who, point=HERE),
            reader.versions(Ask(), sight=who, point=HERE),
            reader.versions(Ask(objects=("mine", "theirs", "ours")), sight=who, point=HERE),
            reader.around(["e1"], sight=who, point=HERE, limit=9),
            reader.changes(0, 9, sight=who),
        ):
            assert sorted(ids(found.versions)) == ["mine", "ours"]
            assert found.withheld == 1


def test_a_search_counts_what_strangers_wrote_for_auditors(store: Store) -> None:
    says = [Say(object_id=user, scope=Scope(user=user)) for user in ("ann", "bob")]
    commit(store, says, tx=1)
    scopes = ("tenant", "user=ann")
    with store.reading(TENANT) as reader:
        page = reader.matching(["chicago"], sight=sight(scopes=scopes), point=HERE, limit=9)
        assert ids(page.versions) == ["ann"]
        for role in ("auditor", "admin"):
            auditor = sight(role, scopes=scopes)
            page = reader.matching(["chicago"], sight=auditor, point=HERE, limit=9)
            assert (ids(page.versions), page.withheld) == (["ann"], 1)


def ids(versions: tuple[Version, ...]) -> list[str]:
    return [v.row.claim.object_id for v in versions]


def test_reclassifying_acts_on_all_times_at_once(store: Store) -> None:
    commit(store, [Say(object_id="a", value="Rome")], tx=1)
    commit(store, [Say(object_id="b", value="Oslo", start=50)], tx=2)
    low = sight(clearance=0)
    with store.reading(TENANT) as reader:
        assert reader.versions(OFFICE, sight=low, point=Point(5, 1)).versions[0].visible
    add(store, tx=3, permissions=(PermissionChange("a", SECRET, 3, "ann"),))
    with store.reading(TENANT) as reader:
        for tx in (1, 2, 3):
            (version,) = reader.versions(OFFICE, sight=low, point=Point(5, tx)).versions
            assert not version.visible
            assert version.permissions == SECRET
        assert reader.versions(OFFICE, sight=low, point=Point(60, 3)).versions[0].visible
    add(store, tx=4, permissions=(PermissionChange("a", Permissions(), 4, "ann"),))
    with store.reading(TENANT) as reader:
        assert reader.versions(OFFICE, sight=low, point=Point(5, 1)).versions[0].visible
    with store.writing(TENANT) as tx_:
        tx_.lock()
        assert tx_.assertions(["a"])["a"].permissions == Permissions()


def test_a_new_permission_set_is_seen_by_the_next_reader(store: Store) -> None:
    who = sight("finance")
    commit(store, [Say(object_id="a")], tx=1)
    with store.reading(TENANT) as reader:
        assert reader.versions(OFFICE, sight=who, point=HERE).withheld == 0
    commit(store, [Say(object_id="b", slot="team", permissions=FINANCE)], tx=2)
    commit(store, [Say(object_id="c", slot="seat", permissions=SECRET)], tx=3)
    with store.reading(TENANT) as reader:
        found = reader.versions(
            Ask(subjects=("e1",)), sight=sight("finance", clearance=0), point=HERE
        )
        assert {v.row.claim.object_id: v.visible for v in found.versions} == {
            "a": True,
            "b": True,
            "c": False,
        }


def test_standing_objects_are_fetched_by_scope_and_type(store: Store) -> None:
    ann = Scope(user="ann")
    says = [
        Say(object_id="rule", slot=None, level=1, object_type=ObjectType.POLICY_RULE),
        Say(object_id="weak-rule", slot=None, level=2, object_type=ObjectType.POLICY_RULE),
        Say(object_id="tool", slot=None, level=4, object_type=ObjectType.TOOL_SCHEMA),
        Say(object_id="likes", scope=ann, slot="style", object_type=ObjectType.PREFERENCE),
        Say(object_id="ours", slot="style", object_type=ObjectType.PREFERENCE),
        Say(object_id="fact", scope=ann, slot="office"),
        Say(object_id="bob", scope=Scope(user="bob"), object_type=ObjectType.PREFERENCE),
        Say(
            object_id="secret",
            slot=None,
            level=0,
            object_type=ObjectType.POLICY_RULE,
            permissions=SECRET,
        ),
    ]
    commit(store, says, tx=1)
    who = sight(clearance=0, scopes=("tenant", "user=ann"))
    with store.reading(TENANT) as reader:
        found = reader.standing(sight=who, point=HERE, scopes=("user=ann", "user=bob"))
        assert ids(found.versions) == ["rule", "tool", "likes"]
        assert found.withheld == 1
        later = reader.standing(sight=who, point=Point(-5, 1), scopes=("user=ann",))
        assert later.versions == ()


@pytest.mark.parametrize("who", [ALL, sight(clearance=0), sight(scopes=("user=ann",))])
@pytest.mark.parametrize("point", [HERE, Point(5, 2)])
def test_a_walk_that_was_told_answers_as_one_that_was_not(
    store: Store, who: Sight, point: Point
) -> None:
    says = [
        Say(object_id="a", value_entity="e2"),
        Say(object_id="b", slot="boss", value_entity="e3", permissions=SECRET),
        Say(object_id="c", slot="team", value_entity="e4", scope=Scope(user="ann")),
        Say(object_id="d", slot="friend", value_entity="e4"),
    ]
    commit(store, says, tx=1)
    commit(store, [Say(object_id=f"of-{n}", subject=f"e{n}") for n in range(2, 5)], tx=2)
    commit(store, [Say(object_id="later", subject="e2", slot="lead", value_entity="e5")], tx=3)
    with store.reading(TENANT) as forecast_reader, store.reading(TENANT) as plain_reader:
        steps = Walk(("e1",), limit=2, room=2)
        forecast_reader.expect(lambda: NextReads(sight=who, point=point, walk=steps))
        first = forecast_reader.around(["e1"], sight=who, point=point, limit=2)
        assert first == plain_reader.around(["e1"], sight=who, point=point, limit=2)
        ends = [v.details.value_entity_id for v in first.versions]
        met = [e for e in ends if e][:2]
        second = forecast_reader.around(met, sight=who, point=point, limit=2)
        assert second == plain_reader.around(met, sight=who, point=point, limit=2)


STYLE = {"slot": "style", "object_type": ObjectType.PREFERENCE}


def about(
    store: Store,
    *slots: str,
    who: Sight = ALL,
    point: Point = HERE,
    after: str = "",
    limit: int = 9,
) -> tuple[str, ...]:
    """Whom the tenant's scope wishes something for."""
    span = SubjectSpan("tenant", after, limit)
    with store.reading(TENANT) as reader:
        return reader.standing_subjects(slots, sight=who, point=point, span=span)


def test_the_subjects_of_wishes_are_told_in_their_order_and_each_once(store: Store) -> None:
    for tx, value in enumerate(("terse", "long", "dry"), start=1):
        says = [
            Say(object_id=f"{who}-{tx}", subject=who, value=value, **STYLE)
            for who in ("e3", "e1", "e2")
        ]
        tone = {**STYLE, "slot": "tone"}
        says += [Say(object_id=f"tone-{who}-{tx}", subject=who, **tone) for who in ("e2", "e4")]
        commit(store, says, tx=tx)

    assert about(store, "style") == ("e1", "e2", "e3")
    assert about(store, "tone", "style") == ("e1", "e2", "e3", "e4")
    assert about(store, "style", "tone", limit=2) == ("e1", "e2")
    assert about(store, "style", "tone", after="e2", limit=2) == ("e3", "e4")
    assert about(store, "style", "tone", after="e4") == ()
    assert about(store, "office") == about(store) == ()


def test_only_what_stands_tells_whom_it_is_about(store: Store) -> None:
    says = [
        Say(object_id="bars", subject="e1", slot="style", object_type=ObjectType.PROJECT_DECISION),
        Say(object_id="fact", subject="e2", slot="style"),
        Say(object_id="own", subject="e3", scope=Scope(user="ann"), **STYLE),
        Say(object_id="held", subject="e4", quarantine="injection", **STYLE),
        Say(object_id="text", subject="e5", slot=None, object_type=ObjectType.PREFERENCE),
        Say(object_id="nobody", subject=None, slot=None, object_type=ObjectType.PREFERENCE),
    ]
    commit(store, says, tx=1)
    assert about(store, "style", who=sight(scopes=("tenant", "user=ann"))) == ("e1",)


def test_what_is_hidden_or_erased_tells_of_nobody(store: Store) -> None:
    says = [
        Say(object_id="open", subject="e1", **STYLE),
        Say(object_id="secret", subject="e2", permissions=SECRET, **STYLE),
        Say(object_id="gone", subject="e3", **STYLE),
    ]
    commit(store, says, tx=1)
    erase(store, 2, objects=("gone",))
    for point in (HERE, Point(5, 1)):
        assert about(store, "style", point=point) == ("e1", "e2")
        assert about(store, "style", point=point, who=sight(clearance=0)) == ("e1",)
        assert about(store, "style", point=point, who=sight(scopes=("user=ann",))) == ()


def test_the_subjects_of_wishes_are_those_of_both_times(store: Store) -> None:
    commit(store, [Say(object_id="a", subject="e1", until=10, **STYLE)], tx=1)
    commit(store, [Say(object_id="b", subject="e2", start=10, **STYLE)], tx=2)
    commit(store, [Say(object_id="c", subject="e1", op=Op.RETRACT, **STYLE)], tx=3)

    assert about(store, "style", point=Point(5, 2)) == ("e1",)
    assert about(store, "style", point=Point(5, 3)) == ()
    assert about(store, "style", point=Point(15, 1)) == ()
    assert about(store, "style", point=Point(15, 3)) == ("e2",)
