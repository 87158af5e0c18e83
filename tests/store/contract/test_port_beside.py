"""What stands beside history: definitions, vectors, manifests, usage; none takes a stamp."""

import hashlib

import pytest

from tenure.schema.errors import NotFound, Unavailable
from tenure.store.port.records import PlacedVector
from tenure.store.port.store import Clock, Store, Usage, VectorRow
from tenure.store.port.tables import USAGE
from tenure.tests.store.builders import TENANT, Say, commit
from tenure.tests.support.refusals import refused


def test_definitions_are_appended_when_nobody_was_faster(store: Store) -> None:
    assert store.define(TENANT, after=0, definition='{"a":1}')
    assert not store.define(TENANT, after=0, definition='{"b":1}')
    assert store.define(TENANT, after=1, definition='{"b":2}')
    with store.reading(TENANT) as reader:
        assert reader.definitions() == ((1, '{"a":1}'), (2, '{"b":2}'))
        assert reader.definitions(1) == ((2, '{"b":2}'),)
        assert reader.clock().seq == 0
        last_us = reader.clock().last_us
    assert store.newest(TENANT, 1) == (last_us, ((2, '{"b":2}'),))
    assert store.newest(TENANT, 2) == (last_us, ())


def test_vectors_reach_every_cache_in_order_and_replace_their_like(store: Store) -> None:
    commit(store, [Say(object_id="a"), Say(object_id="b", slot="team")], tx=1)
    first = PlacedVector("a", "mini", "why", b"\x01\x00", "tenant")
    second = PlacedVector("b", "mini", "0", b"\x02\x00", "tenant")
    other = PlacedVector("b", "large", "0", b"\x03\x00", "tenant")
    store.put_vectors(TENANT, [first, second])
    store.put_vectors(TENANT, [other])
    with store.reading(TENANT) as reader:
        assert reader.vectors("mini", 0) == (3, (first, second))
        assert reader.vectors("mini", 1) == (3, (second,))
        assert reader.vectors("large", 0) == (3, (other,))
    better = PlacedVector("a", "mini", "why", b"\x09\x00", "tenant")
    store.put_vectors(TENANT, [better])
    store.put_vectors(TENANT, [])
    with store.reading(TENANT) as reader:
        assert reader.vectors("mini", 3) == (4, (better,))
        assert reader.vectors("mini", 0) == (4, (second, better))
        assert reader.clock() == Clock(1, 1, 3, 4)


def test_vectors_of_unknown_objects_are_left_out(store: Store) -> None:
    store.put_vectors(TENANT, [VectorRow("ghost", "mini", "why", b"\x01\x00")])
    with store.reading(TENANT) as reader:
        assert reader.vectors("mini", 0)[1] == ()


def test_manifests_are_kept_with_what_they_compiled(store: Store) -> None:
    pack = '{"write":{}}'
    for number in range(3):
        for _ in range(2):  # idempotent
            store.put_manifest(
                TENANT,
                envelope_id=f"env{number}",
                manifest=f'{{"n":{number}}}',
                objects=["a", f"b{number}", "a"],
                pack=pack,
            )
    with store.reading(TENANT) as reader:
        assert reader.manifest("env1") == '{"n":1}'
        assert reader.manifest("env9") is None
        assert [e for e, _ in reader.manifests()] == ["env2", "env1", "env0"]
        assert reader.manifests(limit=1) == (("env2", '{"n":2}'),)
        assert reader.envelopes_of(["a"]) == ("env0", "env1", "env2")
        assert reader.envelopes_of(["b1"]) == ("env1",)
        assert reader.envelopes_of(["b1", "a", "a"]) == ("env0", "env1", "env2")
        assert reader.envelopes_of(["c"]) == reader.envelopes_of([]) == ()
        assert reader.policy_pack(hashlib.sha256(pack.encode()).hexdigest()) == pack
        assert reader.policy_pack("0") is None


def test_objects_are_found_by_the_beginning_of_their_ids(store: Store) -> None:
    for tx, object_id in enumerate(("ab", "aba", "abb", "ac", "b"), start=1):
        commit(store, [Say(object_id=object_id)], tx=tx)

    with store.reading(TENANT) as reader:
        assert reader.object_ids("ab", limit=9) == ("ab", "aba", "abb")
        assert reader.object_ids("ab", after="ab", limit=1) == ("aba",)
        assert reader.object_ids("c", limit=9) == reader.object_ids("", limit=0) == ()


def test_usage_is_counted_apart(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=1)
    store.log_usage(TENANT, ["a", "b"], at_us=50)
    store.log_usage(TENANT, ["a"], at_us=40)
    with store.reading(TENANT) as reader:
        used = reader.find(USAGE, "object_id", ["a", "b", "c"])
        assert used == (Usage("a", 2, 50), Usage("b", 1, 50))
        assert reader.clock().seq == 1


def test_a_stated_key_is_the_tenant_s_first(store: Store) -> None:
    store.ensure("other", key=b"k" * 32)
    store.ensure("other", key=b"k" * 32)
    with store.reading("other") as reader:
        assert reader.keys() == (b"k" * 32,)


def test_another_key_for_a_known_tenant_is_refused(store: Store) -> None:
    from tenure.schema.errors import Conflict

    store.ensure("other", key=b"k" * 32)
    with refused(Conflict, "key_mismatch"):
        store.ensure("other", key=b"x" * 32)


def test_an_unknown_tenant_is_not_found(store: Store) -> None:
    with refused(NotFound, "unknown_tenant"), store.reading("nobody"):
        pass

    with refused(NotFound, "unknown_tenant"):
        store.put_manifest("nobody", envelope_id="e", manifest="{}", objects=["a"], pack="{}")


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with refused(Unavailable, "store_closed"):
        store.ensure(TENANT)
    with pytest.raises(Unavailable), store.reading(TENANT):
        pass
