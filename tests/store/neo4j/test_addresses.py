"""`bolt://` and `neo4j://`: the same product over a direct and over a routed connection."""

from dataclasses import replace

import pytest

from tenure import Memory, Write, connect
from tenure.schema.principal import OWNER
from tenure.service.encoders.encoder import Progress
from tenure.service.stewardship.operations import re_embed
from tenure.store.port.store import VectorRow
from tenure.tests.neo4j_server import Server
from tenure.tests.service.toy_encoder import ToyEncoder

pytestmark = pytest.mark.integration

PASSAGES = 300


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_every_part_of_the_client_works_over_both_schemes(
    neo4j_server: Server, tenant: str, scheme: str
) -> None:
    if scheme == "neo4j" and neo4j_server.provider != "maven":
        pytest.skip("only our own server is sure to advertise an address that is ours to reach")
    uri = neo4j_server.uri.replace("bolt://", f"{scheme}://")
    owner = replace(OWNER, tenant=tenant)
    with connect(uri, auth=neo4j_server.auth, principal=owner) as memory:
        for number in range(3):  # each read sees the write before it
            memory.write(subject="Sam Rivera", slot="office", value=f"city {number}")
            assert memory.as_of().value("Sam Rivera", "office") == f"city {number}"
        envelope = memory.compile(
            task="data_extraction", query="office of Sam", budget_tokens=2_000
        )
        assert memory.replay(envelope.manifest).digest == envelope.digest
        assert len(memory.history("Sam Rivera", "office")) >= 3
        assert memory.doctor() == ()
    with connect(uri, auth=neo4j_server.auth, principal=owner) as again:
        assert again.as_of().value("Sam Rivera", "office") == "city 2"


def stored(memory: Memory) -> list[VectorRow]:
    with memory._backend.store.reading(memory.principal.tenant) as reader:
        return list(reader.vectors("toy@1", 0)[1])


def test_a_large_import_is_embedded_in_a_second_pass_that_can_be_stopped(
    neo4j_server: Server, tenant: str
) -> None:
    owner = replace(OWNER, tenant=tenant)
    with connect(neo4j_server.uri, auth=neo4j_server.auth, principal=owner) as memory:
        memory.write_many(
            [
                Write(content=f"Passage number{n} of the handbook.", source_origin="doc://h")
                for n in range(PASSAGES)
            ]
        )
        encoder, steps = ToyEncoder(), list[Progress]()

        def show(progress: Progress) -> None:
            steps.append(progress)
            encoder.broken = len(steps) == 1  # the second batch finds the model gone

        with pytest.raises(OSError, match="the model is gone"):
            re_embed(memory._backend, memory.principal, encoder, progress=show)
        first = len({row.object_id for row in stored(memory)})
        assert 0 < first < PASSAGES
        assert steps == [(first, PASSAGES)]
        encoder.broken, steps[:] = False, [steps[0]]
        done = re_embed(memory._backend, memory.principal, encoder, progress=steps.append)
        assert done == (PASSAGES - first, PASSAGES - first)
        assert steps[-1] == done
        assert len({row.object_id for row in stored(memory)}) == PASSAGES
        assert re_embed(memory._backend, memory.principal, encoder) == (0, 0)
    with connect(
        neo4j_server.uri, auth=neo4j_server.auth, principal=owner, encoder=ToyEncoder()
    ) as found:
        (best, *_) = found.as_of().search("passage number17").hits
        assert "number17 " in (best.object.content or "")
