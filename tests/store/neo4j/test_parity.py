"""The same history in both stores: the same lines of an export, and the same bytes of an envelope.

A real history is replayed into each, under one tenant name, one secret key and one clock, because
ids and boundaries are made from them. Then it goes from the embedded store to the server and back.
"""

import random
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import pytest

from tenure import Memory, connect
from tenure.resolution.blocking import KIND_WEIGHT, hit_weight
from tenure.schema.errors import ContextBudgetExhausted
from tenure.schema.principal import OWNER
from tenure.schema.values import whole_repr
from tenure.store.neo4j.cypher import register
from tenure.tests import random_requests
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_server import Server
from tenure.tests.service.test_congress import SAMPLE
from tenure.tests.service.toy_encoder import ToyEncoder
from tenure.tests.store.tenancy import exported

pytestmark = pytest.mark.integration

KEY = b"\x07" * 32
NOW = 1_600_000_000_000_000
REQUESTS_AT_RANDOM = 60
THEN = "2014-01-01T00:00:00Z"
REQUESTS: list[dict[str, Any]] = [
    {"task": "data_extraction", "query": "Which seat has Joe Barton?", "budget_tokens": 1_500},
    {"task": "analytical_reporting", "query": "office and phone of Steny Hoyer", "goal": "a list"},
    {"task": "data_extraction", "query": "party of Edward Markey", "tx": "2015-06-01T00:00:00Z"},
    {"task": "data_extraction", "query": "seat of Harold Rogers"},
]


def told(memory: Memory) -> list[tuple[str, str, str]]:
    """Compile every request: digest, text and trace of each."""
    found = []
    for request in REQUESTS:
        envelope = memory.compile(**{"budget_tokens": 2_000, "valid": THEN, **request})
        found.append((envelope.digest, envelope.text, whole_repr(envelope.trace)))
    return found


@pytest.mark.parametrize("encoder", [None, pytest.param("toy", marks=pytest.mark.slow)], ids=str)
def test_one_history_gives_the_same_bytes_in_both_stores_and_on_the_way_back(
    neo4j_server: Server,
    neo4j_driver: neo4j.Driver,
    tenant: str,
    tmp_path: Path,
    encoder: str | None,
) -> None:
    options: dict[str, Any] = {
        "principal": replace(OWNER, tenant=tenant),
        "clock": lambda: NOW,
        "tenant_key": KEY,
        "encoder": ToyEncoder() if encoder else None,
    }
    with ExitStack() as stack:

        def embedded(name: str) -> Memory:
            return stack.enter_context(connect(str(tmp_path / name), **options))

        def served() -> Memory:
            given = {**options, "auth": neo4j_server.auth}
            return stack.enter_context(connect(neo4j_server.uri, **given))

        first, server = embedded("first.db"), served()
        for memory in (first, server):
            memory.ingest(SAMPLE, replay=True)
            memory.flush()
        lines = exported(first._backend.store, tenant)
        assert len(lines) > 1_000
        assert exported(server._backend.store, tenant) == lines
        said = told(first)
        assert len({digest for digest, *_ in said}) == len(REQUESTS)
        assert all(" | " in text for _, text, _ in said), "an envelope holds no fact"
        assert told(server) == said
        server.close()
        wipe(neo4j_driver, tenant)

        first.export(tmp_path / "out.jsonl")
        there = served()
        there.import_file(tmp_path / "out.jsonl")
        assert told(there) == said
        there.export(tmp_path / "back.jsonl")
        back = embedded("back.db")
        back.import_file(tmp_path / "back.jsonl")
        assert told(back) == said
        assert back.doctor() == there.doctor() == ()


def test_random_requests_over_odd_texts_give_the_same_bytes_in_both_stores(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, tenant: str, tmp_path: Path
) -> None:
    """Texts that are hard to index and to count, over a history that went from file to server."""
    options: dict[str, Any] = {"principal": replace(OWNER, tenant=tenant), "tenant_key": KEY}
    with ExitStack() as stack:
        first = stack.enter_context(connect(str(tmp_path / "first.db"), **options))
        random_requests.fill(first, random.Random(23), 200)
        first.export(tmp_path / "out.jsonl")
        server = stack.enter_context(connect(neo4j_server.uri, auth=neo4j_server.auth, **options))
        server.import_file(tmp_path / "out.jsonl")
        seen = 0
        for seed in range(REQUESTS_AT_RANDOM):
            given = random_requests.random_request(random.Random(seed))
            given["valid"] = first.as_of().valid.isoformat()
            try:
                here = first.compile(**given)
            except ContextBudgetExhausted:
                with pytest.raises(ContextBudgetExhausted):
                    server.compile(**given)
                continue
            there = server.compile(**given)
            assert (there.digest, there.envelope_id) == (here.digest, here.envelope_id), seed
            assert whole_repr(there.trace) == whole_repr(here.trace), seed
            seen += bool(here.trace.compiled_objects)
        assert seen > REQUESTS_AT_RANDOM // 2


def test_the_server_weighs_blocking_keys_as_this_process_does(neo4j_driver: neo4j.Driver) -> None:
    rng = random.Random(5)
    weights = sorted(set(KIND_WEIGHT.values()))
    questions = [(rng.choice(weights), rng.randint(1, 3_000)) for _ in range(100_000)]
    rows = [[weight, held, held + int(10 ** rng.uniform(0, 7))] for weight, held in questions]
    text = register.BLOCK_MATCHES
    formula = text[text.index("toInteger(") : text.index(" AS key_weight")]
    records, _, _ = neo4j_driver.execute_query(
        "UNWIND $rows AS row WITH row[0] AS kind_weight, row[1] AS postings, row[2] AS total"
        f" RETURN {formula} AS weight",  # type: ignore[arg-type]
        rows=rows,
    )
    expected = [hit_weight("token", row[0], postings=row[1], total=row[2]) for row in rows]
    assert [record["weight"] for record in records] == expected
