"""Turns of talk: numbered by scope as they are written, and read by their numbers."""

from collections.abc import Callable
from dataclasses import replace

from tenure.schema.claim import Permissions
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, ObjectType, StateLayer
from tenure.store.port.records import ScopeTurns
from tenure.store.port.store import Ask, Page, Point, Store
from tenure.store.transfer.restore import restore
from tenure.store.transfer.transfer import export_lines
from tenure.tests.store.builders import TENANT, Say, commit
from tenure.tests.store.contract.test_port_erasure import erase

StoreFactory = Callable[[], Store]
ANN, BOB = Scope(user="ann"), Scope(user="bob")
SIGHT = Sight(scopes=("tenant", "user=ann"), tags=("*",), clearance=1)
PASSAGE = ObjectType.RETRIEVED_PASSAGE


def turn(object_id: str, scope: Scope = ANN, layer: StateLayer = StateLayer.USER) -> Say:
    return Say(object_id=object_id, slot=None, scope=scope, object_type=PASSAGE, layer=layer)


def talk(store: Store) -> None:
    """Two users who talk at once, a fact and a page between, and a batch of both."""
    commit(store, [turn("a1")], tx=10)
    commit(store, [turn("b1", BOB)], tx=20)
    commit(store, [Say(object_id="fact", scope=ANN)], tx=30)
    commit(store, [replace(turn("page"), layer=StateLayer.CORPUS)], tx=40)
    batch = [turn("b2", BOB), turn("a2", layer=StateLayer.SESSION), turn("b3", BOB), turn("a3")]
    commit(store, [*batch, Say(object_id="other", slot="team", scope=ANN)], tx=50)
    commit(store, [turn("t1", Scope())], tx=60)


def read(
    store: Store, *turns: ScopeTurns, sight: Sight = SIGHT, vids: tuple[int, ...] = ()
) -> Page:
    with store.reading(TENANT) as reader:
        return reader.versions(Ask(turns=turns, vids=vids), sight=sight, point=Point(5, 1_000))


def numbers(store: Store, *ids: str) -> dict[str, int]:
    sight = replace(SIGHT, scopes=("tenant", "user=ann", "user=bob"))
    with store.reading(TENANT) as reader:
        page = reader.versions(Ask(objects=ids), sight=sight, point=Point(5, 1_000))
    return {version.row.claim.object_id: version.turn for version in page.versions}


def ids(page: Page) -> list[str]:
    return [version.row.claim.object_id for version in page.versions]


def test_turns_are_numbered_in_their_scope_and_nothing_else_is(store: Store) -> None:
    talk(store)
    assert numbers(store, "a1", "a2", "a3", "b1", "b2", "b3", "t1", "fact", "page", "other") == {
        "a1": 1, "a2": 2, "a3": 3, "b1": 1, "b2": 2, "b3": 3, "t1": 1,
        "fact": 0, "page": 0, "other": 0,
    }  # fmt: skip


def test_turns_are_read_by_their_numbers_where_their_scope_is_in_sight(store: Store) -> None:
    talk(store)
    page = read(store, ScopeTurns("user=ann", (2, 1, 7)), ScopeTurns("tenant", (1,)))
    assert ids(page) == ["a1", "a2", "t1"]
    assert ids(read(store, ScopeTurns("user=ann", (3,)), ScopeTurns("user=bob", (1, 2)))) == ["a3"]
    assert read(store, ScopeTurns("user=bob", (1, 2, 3))) == Page((), 0)


def test_rows_and_turns_are_read_together_each_once(store: Store) -> None:
    talk(store)
    with store.reading(TENANT) as reader:
        page = reader.versions(Ask(objects=("a1", "fact")), sight=SIGHT, point=Point(5, 1_000))
    vids = tuple(version.row.vid for version in page.versions)
    assert ids(read(store, ScopeTurns("user=ann", (1, 2)), vids=vids)) == ["a1", "fact", "a2"]


def test_a_turn_that_may_not_be_seen_is_veiled(store: Store) -> None:
    secret = Permissions(classification=Classification.HIGHLY_RESTRICTED)
    commit(store, [turn("a1"), replace(turn("a2"), permissions=secret), turn("a3")], tx=10)
    page = read(store, ScopeTurns("user=ann", (1, 2, 3)))
    assert [version.visible for version in page.versions] == [True, False, True]
    assert page.versions[1].content is None
    assert page.withheld == 1


def test_an_erased_turn_keeps_its_number(store: Store) -> None:
    talk(store)
    erase(store, 70, objects=("a3",))
    commit(store, [turn("a4")], tx=80)
    assert numbers(store, "a1", "a2", "a4") == {"a1": 1, "a2": 2, "a4": 4}
    assert ids(read(store, ScopeTurns("user=ann", (2, 3, 4)))) == ["a2", "a4"]


def test_a_restored_tenant_has_the_same_numbers(store_factory: StoreFactory) -> None:
    store, other = store_factory(), store_factory()
    store.ensure(TENANT)
    talk(store)
    erase(store, 70, objects=("a2",))
    with store.reading(TENANT) as reader:
        lines = list(export_lines(reader, tenant=TENANT, keys=True))
    restore(lines, other, TENANT)
    commit(other, [turn("a4")], tx=80)
    told = ("a1", "a3", "b1", "b2", "b3", "t1", "fact")
    assert numbers(other, *told) == numbers(store, *told)
    assert numbers(other, "a4") == {"a4": 4}


def test_many_turns_of_a_batch_follow_each_other(store: Store) -> None:
    said = [turn(f"{scope.user}{n}", scope) for n in range(700) for scope in (ANN, BOB)]
    commit(store, said, tx=10)
    page = read(store, ScopeTurns("user=ann", tuple(range(1, 800))))
    assert [version.turn for version in page.versions] == list(range(1, 701))
    assert ids(page) == [f"ann{n}" for n in range(700)]
