"""Two processes: one erases and hides between the two round trips of the other."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tenure import connect
from tenure.schema.claim import Version
from tenure.schema.principal import OWNER, Sight
from tenure.schema.values import whole_repr
from tenure.store.neo4j.calls import Reads
from tenure.store.neo4j.cypher import candidates as cypher
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.port.store import Ask, Point
from tenure.tests.neo4j_server import Server

pytestmark = pytest.mark.integration

MEMBER = Sight(scopes=("tenant",), tags=("*",), clearance=1)
FACTS = 20
OTHER_PROCESS = """
import os, sys
from dataclasses import replace
from tenure import connect
from tenure.schema.principal import OWNER

uri, tenant, erased, hidden = sys.argv[1:]
auth = (os.environ["TEST_USER"], os.environ["TEST_PASSWORD"]) if "TEST_USER" in os.environ else None
with connect(uri, auth=auth, principal=replace(OWNER, tenant=tenant)) as memory:
    memory.erase(erased, reason="asked to")
    memory.reclassify(hidden, security_classification="highly_restricted")
"""


def written(server: Server, tenant: str) -> tuple[str, list[str]]:
    """Facts of one person: the raw entity, and the objects by their number."""
    with connect(server.uri, auth=server.auth, principal=replace(OWNER, tenant=tenant)) as memory:
        memory.vocabulary.define_slot("note", description="what is noted", cardinality="many")
        receipts = [
            memory.write(subject="Sam Rivera", slot="note", value=f"secret {number}")
            for number in range(FACTS)
        ]
        return str(receipts[0].entity), [str(receipt.object_id) for receipt in receipts]


def other_process(server: Server, tenant: str, erased: str, hidden: str) -> None:
    user, password = server.auth or ("", "")
    secret = {"TEST_USER": user, "TEST_PASSWORD": password} if server.auth else {}
    command = [sys.executable, "-P", "-c", OTHER_PROCESS, server.uri, tenant, erased, hidden]
    subprocess.run(command, env={**os.environ, **secret}, check=True, timeout=120)


def history(store: Neo4jStore, tenant: str, entity: str) -> tuple[dict[str, Version], int]:
    """A member's versions of all that was ever known, by object, and the round trips."""
    ask = Ask(subjects=(entity,), heads=False, at_valid=False, at_tx=False)
    with store.reading(tenant) as reader:
        opened = reader.round_trips
        page = reader.versions(ask, sight=MEMBER, point=Point(0, reader.clock().last_us))
        by_object = {version.row.claim.object_id: version for version in page.versions}
        return by_object, reader.round_trips - opened


def secrets_of(versions: dict[str, Version]) -> set[str]:
    return {v.content.value_json for v in versions.values() if v.content is not None}


def test_what_another_process_erases_and_hides_between_two_trips_is_not_shown(
    neo4j_server: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entity, objects = written(neo4j_server, tenant)
    erased, hidden = objects[3], objects[7]
    asked = Reads.rows
    interruptions: list[str] = []

    def interrupted(calls: Reads, text: Any, **bound: Any) -> Any:
        if text == cypher.CLAIMS and not interruptions:
            interruptions.append(tenant)
            other_process(neo4j_server, tenant, erased, hidden)
        return asked(calls, text, **bound)

    monkeypatch.setattr(Reads, "rows", interrupted)
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth)

    versions, trips = history(store, tenant, entity)
    assert interruptions
    assert trips == 2
    assert (versions[erased].erased, versions[erased].content) == (True, None)
    assert (versions[hidden].visible, versions[hidden].content) == (False, None)
    assert secrets_of(versions) == {f'"secret {n}"' for n in range(FACTS) if n not in {3, 7}}
    store.close()


def test_what_is_kept_is_neither_shown_nor_held_after_another_process_erased(
    neo4j_server: Server, tenant: str
) -> None:
    entity, objects = written(neo4j_server, tenant)
    erased, hidden = objects[3], objects[7]
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth)
    assert len(secrets_of(history(store, tenant, entity)[0])) == FACTS
    assert history(store, tenant, entity)[1] == 1

    # a reader that was opened before goes on with what it shares
    ask = Ask(subjects=(entity,), heads=False, at_valid=False, at_tx=False)
    with store.reading(tenant) as reader:
        point = Point(0, reader.clock().last_us)
        other_process(neo4j_server, tenant, erased, hidden)
        page = reader.versions(ask, sight=MEMBER, point=point)
        versions = {version.row.claim.object_id: version for version in page.versions}
        assert (versions[erased].erased, versions[erased].content) == (True, None)
        assert (versions[hidden].visible, versions[hidden].content) == (False, None)

    # the next one empties it: of the erased claim nothing is left in memory
    versions, _ = history(store, tenant, entity)
    assert versions[erased].erased
    assert not versions[hidden].visible
    kept = whole_repr(store.link(tenant).claims.bodies.values())
    assert "secret 4" in kept
    assert "secret 3" not in kept
    store.close()
