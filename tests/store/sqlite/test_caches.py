"""The caches of readers: bounded, and never showing what an erasure took."""

from __future__ import annotations

from tenure.store.search.two_generation_cache import Halves
from tenure.store.sqlite.caches import Caches


def test_a_map_of_two_halves_is_bounded_and_keeps_what_is_used() -> None:
    kept: Halves[int, str] = Halves(3)
    for number in range(100):
        kept.put(number, str(number))
        assert kept.get(0) == "0"  # used each time, so it survives every turn
    assert sum(kept.get(n) is not None for n in range(100)) <= 6
    assert kept.get(99) == "99"
    assert kept.get(50) is None


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
