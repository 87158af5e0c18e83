"""What a process keeps decoded of a tenant's claims: bounded, and never across an erasure."""

from tenure.schema.interval import INF_US
from tenure.store.neo4j import codec
from tenure.store.neo4j.calls import WHOLE_COLD, WHOLE_WARM, BodyKey, ClaimCache, TenantClaims
from tenure.store.neo4j.codec import ClaimBody
from tenure.store.neo4j.cypher.template import LINE_NAMES
from tenure.store.search.caches import claim_bytes
from tenure.tests.store.builders import Say

SEEN: BodyKey = ("a", True, False)


def body(*, tx: int = 10, text: str = "Zanzibar") -> ClaimBody:
    stated = Say(object_id="a", text=text).assertion(tx, 0)
    return ClaimBody(tx, stated.claim, stated.details, stated.content, True, False, "", 0)


def claims_of(cache: ClaimCache, incarnation: str = "one", *, erased_seq: int = 0) -> TenantClaims:
    return cache.claims_of("acme", incarnation, erased_seq=erased_seq, snapshot_us=50)


def test_readers_of_one_tenant_share_what_was_decoded() -> None:
    cache = ClaimCache(64)
    claims_of(cache).put(SEEN, body())
    assert claims_of(cache).get(SEEN, 10) is not None
    other = cache.claims_of("other", "one", erased_seq=0, snapshot_us=50)
    assert other.get(SEEN, 10) is None
    # what the caller may not see is another line, and so is what was erased
    assert claims_of(cache).get(("a", False, False), 10) is None
    assert claims_of(cache).get(("a", True, True), 10) is None


def test_a_claim_of_another_stamp_is_another_claim() -> None:
    # a server that was set back to a backup may meet the same id again
    cache = ClaimCache(64)
    claims_of(cache).put(SEEN, body(tx=10))
    assert claims_of(cache).get(SEEN, 11) is None


def test_an_erasure_empties_the_memory_of_its_tenant_alone() -> None:
    cache = ClaimCache(64)
    before = claims_of(cache)
    before.put(SEEN, body(text="Zanzibar"))
    other = cache.claims_of("other", "one", erased_seq=0, snapshot_us=50)
    other.put(SEEN, body(text="Nairobi"))

    after = claims_of(cache, erased_seq=7)
    texts = [kept.content.text for kept in cache.bodies.values() if kept.content]
    assert texts == ["Nairobi"]

    # a reader from before the erasure goes on, and leaves nothing behind
    before.put(SEEN, body())
    assert before.get(SEEN, 10) is None
    late = claims_of(cache, erased_seq=0)
    late.put(SEEN, body())
    assert after.get(SEEN, 10) is None
    assert len(list(cache.bodies.values())) == 1
    after.put(SEEN, body())
    assert claims_of(cache, erased_seq=7).get(SEEN, 10) is not None


def test_a_tenant_that_was_removed_and_made_anew_starts_with_nothing() -> None:
    cache = ClaimCache(64)
    claims_of(cache, "one").put(SEEN, body())
    assert claims_of(cache, "two").get(SEEN, 10) is None
    assert list(cache.bodies.values()) == []


def test_what_this_process_erases_is_forgotten_at_once() -> None:
    cache = ClaimCache(64)
    reader = claims_of(cache)
    reader.put(SEEN, body())
    cache.forget("acme")
    cache.forget("acme")
    assert list(cache.bodies.values()) == []
    reader.put(SEEN, body())
    assert list(cache.bodies.values()) == []


def test_the_memory_is_bounded_in_bytes() -> None:
    cache = ClaimCache(64)
    claims = claims_of(cache)
    for number in range(200):
        claims.put((str(number), True, False), body(text="plan " * 1_000))
    sizes = [claim_bytes(kept.content) for kept in cache.bodies.values()]
    assert sum(sizes) <= 64 * 1024 + 2 * max(sizes)
    assert claims.get(("199", True, False), 10) is not None


def test_a_reader_asks_at_once_for_what_it_cannot_know() -> None:
    claims = claims_of(ClaimCache(64))
    # nothing was read: no claim counts as newer, and a short answer says everything
    assert claims.bounds == {"whole": WHOLE_COLD, "fresh": INF_US}
    claims.note(lacked=True)
    assert claims.bounds == {"whole": WHOLE_COLD, "fresh": 50}
    claims.note(lacked=False)
    assert claims.bounds == {"whole": WHOLE_WARM, "fresh": 50}


def test_the_newest_snapshot_says_which_claims_are_fresh() -> None:
    cache = ClaimCache(64)
    for snapshot_us in (50, 90, 70):
        cache.claims_of("acme", "one", erased_seq=0, snapshot_us=snapshot_us).note(lacked=False)
    assert claims_of(cache).bounds["fresh"] == 90


def test_a_line_without_its_last_columns_is_veiled() -> None:
    stated = Say(object_id="a", text="Zanzibar").assertion(10, 0)
    row = codec.claim_row(stated, live=True, tenant="acme")["props"] | {"object_id": "a"}
    line = [row.get(name) for name in LINE_NAMES]
    line[LINE_NAMES.index("slot_key")] = stated.claim.slot_key

    seen = codec.body(line)
    assert (seen.claim, seen.details, seen.content) == (
        stated.claim,
        stated.details,
        stated.content,
    )
    veiled = codec.body(line[: LINE_NAMES.index("value_entity_id")])
    assert (veiled.visible, veiled.content) == (False, None)


def test_the_newest_flag_of_a_kind_decides_and_the_last_confirmation_counts() -> None:
    marks = codec.claim_marks(
        [
            ["a", None, 3, "stale", True],
            ["a", None, 4, "stale", False],
            ["a", None, 2, "demoted", True],
            ["b", 20, None, None, None],
            ["b", 10, None, None, None],
        ]
    )
    assert marks["a"] == codec.ClaimMarks(None, demoted=True)
    assert marks["b"] == codec.ClaimMarks(20)
