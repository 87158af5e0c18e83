"""The caches of readers: bounded, and never showing what an erasure took."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure import Memory, connect
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import OWNER
from tenure.service.backend.backend import Backend
from tenure.service.backend.ids import uuid7, wall_clock
from tenure.store.search import two_generation_cache
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


def test_what_nobody_asks_for_leaves_a_map_that_is_not_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(two_generation_cache, "monotonic", lambda: now_s)
    kept: Halves[int, str] = Halves(1_000, room=6_400, size_of=len, idle_s=30)
    for number in range(100):
        kept.put(number, "four")
        now_s += 1

    assert kept.get(0) is None
    now_s += 10_000
    assert kept.get(99) == "four"  # nothing leaves while nothing comes


def test_a_small_map_keeps_what_is_asked_for_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(two_generation_cache, "monotonic", lambda: now_s)
    kept: Halves[int, str] = Halves(1_000, room=64_000, size_of=len, idle_s=30)
    for number in range(50):
        kept.put(number, "four")
        now_s += 1_000
    assert kept.get(0) == "four"


def test_a_forgotten_entry_gives_its_room_back() -> None:
    kept: Halves[int, str] = Halves(1_000, room=10, size_of=len)
    for number in range(50):
        kept.put(number, "four")
        kept.forget([number])
    kept.put(0, "four")
    kept.put(1, "four")
    assert kept.get(0) is not None  # no half was turned, let alone twice


def test_a_claim_that_a_write_replaced_leaves_the_decoded_ones(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "team.db", Tuning())
    with Memory(Backend(store, DEFAULT, wall_clock, uuid7), OWNER) as memory:
        for number in range(GOALS):
            memory.write("Sam Rivera", "office", f"Room {number}")
            assert memory.as_of().value("Sam Rivera", "office") == f"Room {number}"
        bodies = store._partition("default").caches.bodies(0)
        assert len(bodies.values()) == 1


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
