"""Moves a large graph of the shape before native times, and kills the process that moves it.

    python -P bench/bench_graph_move.py 100000

Makes a tenant of the old shape with plain Cypher on a server of its own: three rows for two claims,
two of five values an entity. Then it starts `tenure migrate`, kills it, starts it again and counts.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import neo4j

from tenure.schema.interval import INF_US
from tenure.store.neo4j.cypher import schema
from tenure.store.neo4j.store import open_store
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import running_server, wanted_version

TENANT = "moved"
OLD = (
    "CREATE CONSTRAINT u_version IF NOT EXISTS FOR (n:ContextVersion)"
    " REQUIRE (n.tenant_id, n.vid) IS UNIQUE",
    "CREATE CONSTRAINT u_entity IF NOT EXISTS FOR (n:Entity)"
    " REQUIRE (n.tenant_id, n.entity_id) IS UNIQUE",
)
ENTITIES = """
UNWIND range(0, $count / 10) AS n
CALL (n) {
  CREATE (:Entity {tenant_id: $tenant, entity_id: 'e' + n, name: 'Person ' + n}) }
IN TRANSACTIONS OF 5000 ROWS
"""
CLAIMS = """
UNWIND range(1, $count) AS n
CALL (n) {
  WITH n, n * 1000 AS tx, CASE WHEN n % 5 < 2 THEN 'e' + (n * 7 % ($count / 10)) END AS value
  MATCH (e:Entity {tenant_id: $tenant, entity_id: 'e' + (n / 10)})
  CREATE (s:Slot {tenant_id: $tenant, slot_key: 'k' + n, subject_id: 'e' + (n / 10),
    about_id: 'e' + (n / 10), slot: 'slot_' + (n % 10), scope_id: 'tenant', many: false, n: n})
  CREATE (c:Claim {tenant_id: $tenant, object_id: 'o' + n, n: n, tx: tx, op: 'assert',
    slot: s.slot, slot_key: s.slot_key, subject_id: 'e' + (n / 10), value_entity_id: value,
    value_json: '"value ' + n + '"', text: 'Person ' + (n / 10) + ' slot ' + (n % 10)
      + ': value ' + n, scope_id: 'tenant'})-[:ASSERTS]->(s)
  WITH n, tx, e, s, c, value
  OPTIONAL MATCH (o:Entity {tenant_id: $tenant, entity_id: value})
  UNWIND range(0, n % 2) AS piece
  CREATE (v:ContextVersion {tenant_id: $tenant, vid: 2 * n + piece, slot_key: s.slot_key,
    object_id: 'o' + n, valid_from: 0, valid_until: CASE piece WHEN 0 THEN $inf ELSE tx END,
    tx_start: tx, tx_end: CASE WHEN piece < n % 2 THEN tx + 1 ELSE $inf END, status: 'clean',
    head: true, deny: false})
  CREATE (v)-[:VERSION_OF]->(s) CREATE (v)-[:PIECE_OF]->(c)
  CREATE (v)-[:ABOUT {role: 'subject', valid_from: 0}]->(e)
  FOREACH (_ IN CASE WHEN o IS NULL THEN [] ELSE [1] END |
    CREATE (v)-[:ABOUT {role: 'value', valid_from: 0}]->(o)) }
IN TRANSACTIONS OF 2000 ROWS
"""
COUNTS = """
MATCH (n) WHERE n:Fact OR n:ContextVersion
RETURN count(CASE WHEN n:Fact THEN 1 END) AS facts,
  count(CASE WHEN n:ContextVersion THEN 1 END) AS old,
  count(CASE WHEN n:Fact AND (n.title IS NULL OR n.valid_from IS NULL
    OR COUNT { (n)<-[:HAS_FACT]-() } <> 1) THEN 1 END) AS broken,
  COUNT { ()-[:FACT]->() } AS relations, COUNT { ()-[:ABOUT]->() } AS about
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with (
        running_server(wanted_version()) as server,
        neo4j.GraphDatabase.driver(server.uri, auth=server.auth) as driver,
        driver.session(database=DATABASE, notifications_min_severity="OFF") as session,
    ):
        for command in OLD:
            session.run(command).consume()
        bound = {"tenant": TENANT, "count": count, "inf": INF_US}
        for text in (ENTITIES, CLAIMS):
            session.run(text, bound).consume()
        session.run(
            "MERGE (n:SchemaVersion {name: 'tenure'}) SET n.number = $number",
            number=schema.GRAPH_SINCE - 1,
        ).consume()
        print("made", session.run(COUNTS).single(strict=True).data(), flush=True)

        migrate = [sys.executable, "-P", "-m", "tenure", "--store", server.uri, "migrate"]
        began = time.perf_counter()
        process = subprocess.Popen(migrate)
        # Killed while facts are moved, so that both shapes are there.
        while process.poll() is None:
            moved = session.run("MATCH (n:Fact) RETURN count(n) AS n").single(strict=True)["n"]
            if moved > count // 2:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.2)
        process.wait()
        first_s = time.perf_counter() - began
        print(f"killed after {first_s:.1f} s", session.run(COUNTS).single(strict=True).data())

        began = time.perf_counter()
        subprocess.run(migrate, check=True)
        print(f"resumed in {time.perf_counter() - began:.1f} s")
        print("after", session.run(COUNTS).single(strict=True).data())
        open_store(server.uri, auth=server.auth).close()


if __name__ == "__main__":
    main()
