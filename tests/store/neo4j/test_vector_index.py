"""The option `vector_index`: the server proposes, exact scores order, permissions still decide."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from tenure import Memory, connect
from tenure.schema.errors import InvalidInput
from tenure.schema.principal import OWNER
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.neo4j.vector_index import IndexedVectors, dialect_of
from tenure.store.port.store import Store, VectorRow
from tenure.store.port.vectors import Vectors, quantise, to16
from tenure.store.search.matrix import Matrices
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server
from tenure.tests.service.toy_encoder import ToyEncoder
from tenure.tests.store.builders import ALL, TENANT, Say, commit
from tenure.tests.store.contract.test_port_erasure import erase
from tenure.tests.store.renamed import Renamed
from tenure.tests.support.refusals import refused

DIMENSIONS, ENCODER, CLAIMS = 64, "toy@1", 300

Opener = Callable[..., Store]


@pytest.fixture(scope="module")
def indexed(neo4j_server: Server, neo4j_driver: neo4j.Driver) -> Iterator[Neo4jStore]:
    """A store with the option; the index is gone afterwards, for all other tests."""
    store = open_store(
        neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings(), vector_index=True
    )
    yield store
    store.close()
    with neo4j_driver.session(database=DATABASE) as session:
        for name in ("vx_near", "vx_near_filtered"):
            session.run(f"DROP INDEX {name} IF EXISTS").consume()


def vector(rng: random.Random) -> list[float]:
    return [rng.gauss(0, 1) for _ in range(DIMENSIONS)]


def filled(store: Store, count: int = CLAIMS, *, seed: int = 1) -> list[VectorRow]:
    """Write claims with one to three chunks each and, for some, a condition."""
    rng = random.Random(seed)
    ids = [f"o{number:04}" for number in range(count)]
    says = [Say(object_id=i, subject=f"s{n}", start=n) for n, i in enumerate(ids)]
    commit(store, says)
    rows = [
        VectorRow(one, ENCODER, part, quantise(vector(rng)))
        for one in ids
        for part in (*map(str, range(rng.choice((1, 1, 3)))), *(["why"] * rng.randint(0, 1)))
    ]
    store.put_vectors(TENANT, rows)
    return rows


def walked(vectors: Vectors, query: Sequence[int], first: int) -> list[tuple[str, int]]:
    chunks = vectors.walk(query, scopes=ALL.scopes, first=first, exact_rows=10**9)
    return [(hit.object_id, hit.score) for chunk in chunks for hit in chunk]


@pytest.mark.integration
def test_what_is_near_is_found_with_its_exact_score(indexed: Neo4jStore, tenant: str) -> None:
    store: Store = Renamed(indexed, {TENANT: tenant})
    store.ensure(TENANT)
    filled(store)
    rng = random.Random(9)
    found = wanted = 0
    for _ in range(10):
        query = to16(vector(rng))
        with store.reading(TENANT) as reader:
            near = reader.near(ENCODER)
            assert isinstance(near, IndexedVectors)
            exact = Matrices().current(tenant, ENCODER, reader)
            best = walked(exact, query, 10)
            proposed = walked(near, query, 10)
        assert len({name for name, _ in proposed}) == len(proposed)
        assert set(proposed) <= set(best)  # scores included: they are the matrix's own
        wanted += 10
        found += len(set(best[:10]) & set(proposed[:50]))
    assert found / wanted >= 0.9


@pytest.mark.integration
def test_scores_of_asked_claims_are_those_of_the_matrix(indexed: Neo4jStore, tenant: str) -> None:
    store: Store = Renamed(indexed, {TENANT: tenant})
    store.ensure(TENANT)
    filled(store, 40)
    ids = ["o0003", "none", "o0001", "o0039"]
    query = to16(vector(random.Random(2)))
    with store.reading(TENANT) as reader:
        near = reader.near(ENCODER)
        assert near is not None
        assert near.scores(query, ids) == Matrices().current(tenant, ENCODER, reader).scores(
            query, ids
        )


@pytest.mark.integration
def test_a_tenant_without_vectors_finds_nothing(indexed: Neo4jStore, tenant: str) -> None:
    indexed.ensure(tenant)
    with indexed.reading(tenant) as reader:
        near = reader.near(ENCODER)
        assert near is not None
        assert walked(near, to16([1.0] * DIMENSIONS), 5) == []


@pytest.mark.integration
def test_vectors_from_before_the_option_are_fed_by_the_first_search(
    indexed: Neo4jStore, neo4j_server: Server, tenant: str
) -> None:
    with_it: Store = Renamed(indexed, {TENANT: tenant})
    plain = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())
    without: Store = Renamed(plain, {TENANT: tenant})
    without.ensure(TENANT)
    rows = filled(without)
    with without.reading(TENANT) as reader:
        assert reader.near(ENCODER) is None
    with with_it.reading(TENANT) as reader:
        near = reader.near(ENCODER)
        assert near is not None
        proposed = walked(near, to16(vector(random.Random(3))), CLAIMS)
    assert {name for name, _ in proposed} == {row.object_id for row in rows}
    plain.close()


@pytest.mark.integration
def test_other_tenants_and_erased_objects_are_never_proposed(
    indexed: Neo4jStore, neo4j_driver: neo4j.Driver, tenant: str
) -> None:
    store: Store = Renamed(indexed, {TENANT: tenant, "other": f"{tenant}-b"})
    query = to16([1.0] + [0.0] * (DIMENSIONS - 1))
    spot = quantise([1.0] + [0.0] * (DIMENSIONS - 1))
    for name, ids in ((TENANT, ["mine", "gone"]), ("other", ["theirs"])):
        store.ensure(name)
        says = [Say(object_id=i, subject=i) for i in ids]
        commit(store, says, tenant=name)
        store.put_vectors(name, [VectorRow(i, ENCODER, "0", spot) for i in ids])
    erase(store, 10_000, objects=("gone",))
    for name, expected in ((TENANT, ["mine"]), ("other", ["theirs"])):
        with store.reading(name) as reader:
            near = reader.near(ENCODER)
            assert near is not None
            assert [hit[0] for hit in walked(near, query, 10)] == expected
            assert near.scores(query, ["gone"]) == ()
    wipe(neo4j_driver, f"{tenant}-b")


@pytest.mark.integration
def test_a_replaced_vector_replaces_its_entry(indexed: Neo4jStore, tenant: str) -> None:
    store: Store = Renamed(indexed, {TENANT: tenant})
    store.ensure(TENANT)
    commit(store, [Say(object_id="a")])
    east, north = ([1.0, 0.0] + [0.0] * 62), ([0.0, 1.0] + [0.0] * 62)
    for one in (east, north):
        store.put_vectors(TENANT, [VectorRow("a", ENCODER, "0", quantise(one))])
    with store.reading(TENANT) as reader:
        near = reader.near(ENCODER)
        assert near is not None
        assert walked(near, to16(north), 5) == [("a", 16_000_000)]


@pytest.mark.integration
def test_the_version_of_the_server_selects_the_statement(
    indexed: Neo4jStore, neo4j_server: Server, tenant: str
) -> None:
    link = indexed.link(tenant)
    filters = link.facts.numbers >= (2026, 2)
    assert ("SEARCH" in dialect_of(link).near) is filters
    assert ("queryNodes" in dialect_of(link).near) is not filters
    old = replace(link, facts=replace(link.facts, version="2025.06.0"))
    assert "queryNodes" in dialect_of(old).near


@pytest.mark.integration
def test_an_encoder_of_another_length_is_told_what_to_do(indexed: Neo4jStore, tenant: str) -> None:
    store: Store = Renamed(indexed, {TENANT: tenant})
    store.ensure(TENANT)
    filled(store, 3)
    with refused(InvalidInput, "bad_vector", match="without vector_index"):
        store.put_vectors(TENANT, [VectorRow("o0001", "wide@1", "0", quantise([1.0] * 8))])


@pytest.mark.integration
def test_the_client_searches_and_compiles_through_it(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, indexed: Neo4jStore, tenant: str
) -> None:
    owner = replace(OWNER, tenant=tenant)
    options: dict[str, Any] = {"auth": neo4j_server.auth, "principal": owner}
    options |= {"encoder": ToyEncoder(), "vector_index": True}
    with connect(neo4j_server.uri, **options) as memory:
        told(memory)
        memory.flush()
        hits = memory.as_of().search("lunch hours").hits
        assert "noon" in (hits[0].object.content or "")
        envelope = memory.compile(task="data_extraction", query="lunch hours", budget_tokens=2_000)
        assert "noon" in envelope.text
        assert memory.replay(envelope.manifest).digest == envelope.digest
        assert memory.doctor() == ()


def told(memory: Memory) -> None:
    for name, slot, value, content in (
        ("Canteen", "opens", "noon", "The canteen opens at noon."),
        ("Garage", "opens", "six", "The garage opens at six."),
    ):
        memory.vocabulary.define_slot(slot, description="when it opens")
        memory.write(
            subject={"name": name, "type": "organization"}, slot=slot, value=value, content=content
        )


@pytest.mark.parametrize(
    "option", [{"vector_index": True}, {"cells": lambda tenant: None}], ids=["index", "cells"]
)
def test_an_embedded_store_refuses_what_only_a_server_has(option: dict[str, Any]) -> None:
    with refused(InvalidInput, "bad_settings", match="option of a Neo4j server"):
        connect(":memory:", **option)
