"""The caches of readers: bounded, and never showing what an erasure took."""

from contextlib import closing
from itertools import combinations, islice
from pathlib import Path

import pytest

from tenure import Memory, connect
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import OWNER
from tenure.service.backend.backend import Backend, uuid7, wall_clock
from tenure.store.port.store import Point
from tenure.store.search import caches as two_generation_cache
from tenure.store.search.caches import CacheBounds, Halves, entry_bytes
from tenure.store.sqlite.caches import Caches, body_bytes
from tenure.store.sqlite.partition import Tuning
from tenure.store.sqlite.reader import SqliteReader
from tenure.store.sqlite.store import SqliteStore
from tenure.tests.store.builders import ALL, TENANT, Say, commit

GOALS = 40
MIB = 1 << 20
ROLE_SETS = 500


def letters(_: int, text: str) -> int:
    """The bytes of a plain text that a map keeps."""
    return len(text)


def test_a_map_of_two_halves_is_bounded_and_keeps_what_is_used() -> None:
    cache: Halves[int, str] = Halves(3)
    for number in range(100):
        cache.put(number, str(number))
        assert cache.get(0) == "0"  # used each time, so it survives every turn
    assert sum(cache.get(n) is not None for n in range(100)) <= 6
    assert cache.get(99) == "99"
    assert cache.get(50) is None


def test_what_is_asked_for_together_is_kept_like_what_is_asked_for_alone() -> None:
    cache: Halves[int, str] = Halves(3)
    for number in range(100):
        cache.put(number, str(number))
        assert cache.get_many([0, 1, 200]) == {key: str(key) for key in (0, 1) if key <= number}


def test_a_map_of_two_halves_is_bounded_by_the_bytes_of_its_entries() -> None:
    cache: Halves[int, str] = Halves(1_000, room=10, size_of=letters)

    for number in range(50):
        cache.put(number, "text")

    # a half is turned once it has taken its room: three texts of four letters
    assert len([number for number in range(50) if cache.get(number)]) <= 6
    cache.put(50, "a text that is longer than all the room")
    assert cache.get(50) is not None
    cache.discard(lambda number: number == 50)
    assert cache.get(50) is None
    assert cache.get(49) is not None


def test_what_nobody_asks_for_leaves_a_map_that_is_not_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(two_generation_cache, "monotonic", lambda: now_s)
    cache: Halves[int, str] = Halves(1_000, room=6_400, size_of=letters, idle_s=30)
    for number in range(100):
        cache.put(number, "four")
        now_s += 1

    assert cache.get(0) is None
    now_s += 10_000
    assert cache.get(99) == "four"  # nothing leaves while nothing comes


def test_a_small_map_keeps_what_is_asked_for_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(two_generation_cache, "monotonic", lambda: now_s)
    cache: Halves[int, str] = Halves(1_000, room=64_000, size_of=letters, idle_s=30)
    for number in range(50):
        cache.put(number, "four")
        now_s += 1_000
    assert cache.get(0) == "four"


def test_a_forgotten_entry_gives_its_room_back() -> None:
    cache: Halves[int, str] = Halves(1_000, room=10, size_of=letters)
    for number in range(50):
        cache.put(number, "four")
        cache.forget([number])
    cache.put(0, "four")
    cache.put(1, "four")
    assert cache.get(0) is not None  # no half was turned, let alone twice


def test_a_claim_that_a_write_replaced_leaves_the_decoded_ones(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "team.db", Tuning())
    with Memory(Backend(store, DEFAULT, wall_clock, uuid7), OWNER) as memory:
        for number in range(GOALS):
            memory.write("Sam Rivera", "office", f"Room {number}")
            assert memory.as_of().slot("Sam Rivera", "office").value == f"Room {number}"
        bodies = store._partition("default").caches.bodies(0)
        assert len(bodies.values()) == 1


def decoded_bytes(path: Path, claims_mib: int) -> int:
    """What a process keeps decoded of a file once it has read all goals."""
    store = SqliteStore(path, Tuning(bounds=CacheBounds(claims_mib=claims_mib)))
    with Memory(Backend(store, DEFAULT, wall_clock, uuid7), OWNER) as memory:
        assert len(memory.as_of().slot("Sam Rivera", "goal").values) == GOALS
        bodies = store._partition("default").caches.bodies(0)
        return sum(body_bytes(0, body) for body in bodies.values())


def test_decoded_claims_keep_to_the_memory_that_the_bounds_name(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    with connect(str(path)) as memory:
        for number in range(GOALS):
            memory.write("Sam Rivera", "goal", f"{number} {'plan ' * 10_000}")

    decoded = decoded_bytes(path, 128)
    bounded = decoded_bytes(path, 1)

    largest = 2 * decoded // GOALS
    assert decoded > GOALS * 50_000
    assert bounded <= MIB + largest


def test_an_erasure_starts_the_decoded_claims_anew() -> None:
    caches = Caches()
    before = caches.bodies(0)
    assert caches.bodies(0) is before
    after = caches.bodies(1)
    assert after is not before
    assert caches.bodies(1) is after
    # a reader of the older snapshot keeps to itself what it decodes
    assert caches.bodies(0) not in (before, after)
    assert caches.bodies(1) is after


def test_counts_of_words_are_kept_until_the_next_event() -> None:
    caches = Caches()
    before = caches.word_counts(7, 0)
    assert caches.word_counts(7, 0) is before
    after = caches.word_counts(8, 0)
    assert after is not before
    assert caches.word_counts(8, 0) is after
    assert caches.word_counts(7, 0) not in (before, after)
    assert caches.word_counts(8, 1) is not after


def test_what_another_process_wrote_counts_for_the_words_of_a_question(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    with closing(SqliteStore(path)) as here, closing(SqliteStore(path)) as there:
        here.ensure(TENANT)
        commit(here, [Say(object_id="fox", slot=None, text="fox")], tx=1)
        commit(here, [Say(object_id=f"h{n}", slot=None, text="heron") for n in range(2)], tx=2)
        with here.reading(TENANT) as earlier:
            assert first_hit(earlier, "fox", "heron") == "fox"
            foxes = [Say(object_id=f"f{n:02}", slot=None, text="fox") for n in range(60)]
            commit(there, foxes, tx=3)
            with here.reading(TENANT) as later:
                assert first_hit(later, "fox", "heron") == "h1"
            assert first_hit(earlier, "fox", "heron") == "fox"


def first_hit(reader: SqliteReader, *terms: str) -> str:
    """The object that tells most of some words."""
    page = reader.matching(terms, sight=ALL, point=Point(5, 9), limit=1)
    return page.versions[0].row.claim.object_id


def test_a_map_tells_what_it_takes() -> None:
    cache: Halves[int, str] = Halves(1_000, room=10, size_of=letters)
    for number in range(4):
        cache.put(number, "four")
    assert cache.nbytes == 16
    cache.forget([0])  # stands in the old half
    assert cache.nbytes == 12
    cache.discard(lambda number: number in (1, 3))
    assert cache.nbytes == 4


def test_permission_sets_keep_to_their_memory_and_stay_right() -> None:
    """Each object has a set of its own, and all of them together are larger than the bound."""
    store = SqliteStore(":memory:", Tuning(bounds=CacheBounds(permissions_mib=1)))
    backend = Backend(store, DEFAULT, wall_clock, uuid7)
    with Memory(backend, OWNER) as memory:
        others = set(memory.vocabulary.values("role")) - {"owner"}
        some = islice(combinations(sorted(others), 5), ROLE_SETS)
        sets = [tuple(sorted((*roles, "owner"))) for roles in some]
        receipts = [
            memory.write(content=f"Goal {number}", why_it_matters="a goal", allow_roles=roles)
            for number, roles in enumerate(sets)
        ]
        for _ in range(2):
            objects = [memory.as_of().object(receipt.object_id) for receipt in receipts]
            allowed = [tuple(each.permission_scope["allow_roles"]) for each in objects]
            assert allowed == sets
        used = store.used_bytes["permissions"]

    assert 0 < used <= MIB


def test_what_is_kept_of_look_ups_counts_their_texts() -> None:
    assert entry_bytes("x" * 1_000) - entry_bytes("") == 1_000
    assert entry_bytes(("a", "b")) > entry_bytes(("a",)) > entry_bytes(())


@pytest.mark.parametrize("bound", [0, -1])
def test_a_cache_without_memory_is_refused(bound: int) -> None:
    with pytest.raises(InvalidInput, match=r"caches\.names_mib"):
        CacheBounds(names_mib=bound)
