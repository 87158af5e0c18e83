"""The caches of readers: bounded, and never showing what an erasure took."""

from __future__ import annotations

from pathlib import Path

from tenure import Memory, connect
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import OWNER
from tenure.service.backend.backend import Backend
from tenure.service.backend.ids import uuid7, wall_clock
from tenure.store.search.two_generation_cache import Halves
from tenure.store.sqlite.caches import Caches, body_bytes
from tenure.store.sqlite.connection import Tuning
from tenure.store.sqlite.store import SqliteStore

GOALS = 40


def test_a_map_of_two_halves_is_bounded_and_keeps_what_is_used() -> None:
    kept: Halves[int, str] = Halves(3)
    for number in range(100):
        kept.put(number, str(number))
        assert kept.get(0) == "0"  # used each time, so it survives every turn
    assert sum(kept.get(n) is not None for n in range(100)) <= 6
    assert kept.get(99) == "99"
    assert kept.get(50) is None


def test_a_map_of_two_halves_is_bounded_by_the_bytes_of_its_entries() -> None:
    kept: Halves[int, str] = Halves(1_000, room=10, size_of=len)

    for number in range(50):
        kept.put(number, "text")

    # a half is turned once it has taken its room: three texts of four letters
    assert len([number for number in range(50) if kept.get(number)]) <= 6
    kept.put(50, "a text that is longer than all the room")
    assert kept.get(50) is not None
    kept.discard(lambda number: number == 50)
    assert kept.get(50) is None
    assert kept.get(49) is not None


def decoded_bytes(path: Path, claims_kib: int) -> int:
    """What a process keeps decoded of a file once it has read all goals."""
    store = SqliteStore(path, Tuning(claims_kib=claims_kib))
    with Memory(Backend(store, DEFAULT, wall_clock, uuid7), OWNER) as memory:
        assert len(memory.as_of().slot("Sam Rivera", "goal").values) == GOALS
        bodies = store._partition("default").caches.bodies(0)
        return sum(map(body_bytes, {**bodies._old, **bodies._young}.values()))


def test_decoded_claims_keep_to_the_memory_that_the_tuning_names(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    with connect(str(path)) as memory:
        for number in range(GOALS):
            memory.write("Sam Rivera", "goal", f"{number} {'plan ' * 1_000}")

    whole = decoded_bytes(path, 16_384)
    bounded = decoded_bytes(path, 64)

    largest = 2 * whole // GOALS
    assert whole > GOALS * 5_000
    assert bounded <= 64 * 1024 + largest


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
