"""What is remembered of names: while it is asked for, and never more than its bytes."""

import gc
import tracemalloc
from hashlib import sha256
from uuid import UUID

import pytest

from tenure import connect
from tenure.resolution import names as name_cache_module
from tenure.resolution.blocking import acronyms, outline
from tenure.resolution.names import LOOKUPS, MEMORY, NameMemory, name_cache
from tenure.resolution.normalize import form_of
from tenure.resolution.scorer import NameScorer
from tenure.schema.entity import EntityRef
from tenure.store.search.caches import CacheBounds

NAMES = 600


def test_a_name_that_is_asked_for_stays_and_one_that_is_not_leaves() -> None:
    memory, asked_names = NameMemory(kib=1_024, lookups=10), list[str]()

    @name_cache(100, memory)
    def length(name: str) -> int:
        asked_names.append(name)
        return len(name)

    length("once")
    for number in range(40):
        assert length("often") == 5
        length(f"new {number}")

    assert asked_names.count("often") == 1
    assert length("once") == 4
    assert asked_names.count("once") == 2
    assert memory.entries() < 30


def test_an_answer_of_nothing_is_remembered_as_one() -> None:
    calls: list[str] = []

    @name_cache(100, NameMemory())
    def nothing(name: str) -> None:
        calls.append(name)

    assert nothing("Acme") is nothing("Acme") is None
    assert calls == ["Acme"]


def test_all_functions_together_keep_to_the_bytes_of_their_memory() -> None:
    memory = NameMemory(kib=8, lookups=10**9)
    upper = name_cache(100, memory)(str.upper)
    lower = name_cache(300, memory)(str.lower)

    for number in range(500):
        assert upper(f"Name {number}") == f"NAME {number}"
        assert lower(f"Name {number}") == f"name {number}"
        assert memory.young_bytes <= 4 * 1024
    assert memory.entries() <= 2 * 2 * 4 * 1024 // 400 + 2


def test_names_take_no_more_than_is_counted_for_them() -> None:
    """The bytes of an entry are what a name of a person or a firm takes, of each function."""
    names = [
        f"Marguerite {UUID(int=number).hex[-6:]} van Rijn-Castellanos" for number in range(NAMES)
    ]
    scorer = NameScorer()
    outline("Warm up", "person")
    MEMORY.lookups = 0
    gc.collect()

    counted_before = MEMORY.young_bytes
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for name in names:
        form_of(name, "person")
        outline(name, "person")
        acronyms(name, "person")
        scorer.keys(EntityRef(name=name, type="person"))
    gc.collect()
    growth = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert MEMORY.lookups < LOOKUPS
    counted = MEMORY.young_bytes - counted_before
    assert counted / 2 < growth < counted * 1.25


def test_writes_of_new_names_come_to_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entities that are named once leave no more behind after many writes than after some."""
    monkeypatch.setattr(MEMORY, "_lookups", 400)
    entries: list[int] = []
    with connect(":memory:") as memory:
        for number in range(240):
            memory.write(f"Passing {sha256(bytes([number])).hexdigest()[:32]}", "office", "Rome")
            entries.append(MEMORY.entries())

    # Nothing of the first names is left, and the last third has no more than the one before it: a
    # generation ends at another write in each run, and names that stayed would make it 1.5 times.
    assert max(entries[160:]) <= 1.25 * max(entries[80:160])
    assert max(entries[80:]) < 4 * 240


def test_a_bound_that_is_set_later_holds_from_the_next_answer_on() -> None:
    memory = NameMemory(kib=1_024)

    @name_cache(1_024, memory)
    def length(name: str) -> int:
        return len(name)

    for number in range(500):
        length(f"name {number}")
    assert memory.used_bytes == 500 * 1_024

    memory.bound(64)
    for number in range(100):
        length(f"other {number}")
    assert memory.used_bytes <= 64 * 1_024


def test_the_bound_of_names_is_the_one_that_a_store_was_opened_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = NameMemory()
    monkeypatch.setattr(name_cache_module, "MEMORY", memory)
    with connect(":memory:", caches=CacheBounds(names_mib=1)):
        assert memory._half_bytes == 512 * 1_024
