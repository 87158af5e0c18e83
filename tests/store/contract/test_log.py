"""Who did what and when, on both stores: the actors of versions, and the log."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenure import Memory, Write
from tenure.faces.http.api import AFTER, STAMP
from tenure.service.backend.caller import backend_of
from tenure.tests.faces.http.served import client, serving
from tenure.tests.faces.mcp.test_transports import over_http
from tenure.tests.store.builders import Open, caller

SAM = "Sam Rivera"
JAN = "2026-01-01T00:00:00Z"
JUN = "2026-06-01T00:00:00Z"


@pytest.fixture
def offices(open_memory: Open) -> Memory:
    """Ann says where Sam works, Lee moves him, and the owner says what Ann may not see."""
    memory = open_memory()
    caller(memory, user="ann").write(SAM, "office", "Chicago", valid_from=JAN, scope={})
    caller(memory, user="lee").write(SAM, "office", "Boston", valid_from=JUN, scope={})
    memory.write(
        SAM,
        "office",
        "Reno",
        valid_from="2026-09-01T00:00:00Z",
        op="correct",
        allow_roles=("owner",),
        authority_level=0,
    )
    return memory


def test_every_version_says_who_made_it(offices: Memory) -> None:
    rows = offices.history(SAM, "office")
    by_value = {(row.value, row.actor) for row in rows}
    assert {("Chicago", "ann"), ("Boston", "lee"), ("Reno", "service")} <= by_value

    changes = offices.diff("-infinity", "infinity")
    opened = {(change.value, change.actor) for change in changes if change.kind == "opened"}
    assert ("Chicago", "ann") in opened
    closed = [change.actor for change in changes if change.kind == "closed"]
    assert closed
    assert set(closed) <= {"lee", "service"}

    (chicago,) = {row.object_id for row in rows if row.value == "Chicago"}
    assert offices.explain(chicago).rows[0].actor == "ann"


def test_a_hidden_write_hides_who_made_it(offices: Memory) -> None:
    rows = caller(offices, user="ann").history(SAM, "office")
    assert {row.value for row in rows} == {"Chicago", "Boston"}
    assert {row.actor for row in rows} <= {"ann", "lee", ""}
    assert any(not row.actor for row in rows)


def test_the_log_tells_everything_to_who_may_audit(offices: Memory) -> None:
    entries = offices.log()
    assert [entry.actor for entry in entries] == ["service", "lee", "ann"]
    assert [entry.sentences for entry in entries] == [
        ("Sam Rivera: corrected office = Reno",),
        ("Sam Rivera: office = Boston",),
        ("Sam Rivera: office = Chicago",),
    ]
    assert [entry.tx for entry in offices.log(limit=1)] == [entries[0].tx]
    assert [entry.actor for entry in offices.log(entries[1].tx)] == ["service"]
    assert [entry.actor for entry in offices.log(until=entries[1].tx)] == ["lee", "ann"]


def test_others_read_their_own(offices: Memory) -> None:
    assert [entry.actor for entry in caller(offices, user="ann").log()] == ["ann"]
    assert [entry.actor for entry in caller(offices, user="ann").log(entity=SAM)] == ["ann"]
    assert caller(offices, user="zoe").log() == ()
    assert caller(offices).log() == ()  # the owner's "Reno" is not told to another service
    auditor = caller(offices, user="zoe", roles={"auditor"})
    assert [entry.actor for entry in auditor.log()] == ["service", "lee", "ann"]
    assert auditor.log()[0].sentences == ()


def test_the_log_of_an_entity(offices: Memory) -> None:
    offices.write("Kim Lee", "office", "Oslo")
    offices.write(slot=None, content="The pantry is out of coffee.", why_it_matters="coffee")
    assert len(offices.log()) == 5
    assert offices.log()[0].sentences == ("The pantry is out of coffee.",)
    (entry,) = offices.log(entity="Kim Lee")
    assert entry.sentences == ("Kim Lee: office = Oslo",)
    assert offices.log(entity="Nobody Known") == ()


def test_the_log_of_an_entity_tells_nothing_of_its_neighbours(open_memory: Open) -> None:
    memory = open_memory()
    terms = [(f"{year}-01-01T00:00:00Z", f"{year}-06-01T00:00:00Z") for year in (2020, 2021, 2022)]
    writes = [
        Write(subject=SAM, slot="office", value="Austin", valid_from=start, valid_until=end)
        for start, end in terms
    ]
    memory.write_many([*writes, Write(subject="Kim Lee", slot="office", value="Oslo")])

    (whole,) = memory.log()
    assert whole.sentences == ("Sam Rivera: office = Austin (3 times)", "Kim Lee: office = Oslo")
    (entry,) = memory.log(entity=SAM)
    assert entry.sentences == ("Sam Rivera: office = Austin (3 times)",)
    assert len(entry.objects) == 3


def test_operations_are_told_by_the_names_of_their_entities(open_memory: Open) -> None:
    memory = open_memory()
    left = memory.write(SAM, "office", "Chicago").entity
    right = memory.write("Sammy R", "office", "Chicago").entity
    memory.entities.merge(left, right, reason="the same desk")
    entry = memory.log()[0]
    assert entry.op == "merge"
    assert sorted(entry.sentences) == sorted((SAM, "Sammy R"))

    receipt = memory.write("Kim Lee", "office", "Oslo")
    object_id = receipt.object_id
    memory.erase(object_id, reason="asked to")
    assert memory.log()[0].op == "erase"
    # The only claim that taught the name is gone, and the name with it.
    assert memory.log()[0].sentences == (f"{str(receipt.entity)[:8]}: (erased)",)


def test_a_retraction_is_told_by_what_it_took_back(open_memory: Open) -> None:
    memory = open_memory()
    object_id = memory.write(SAM, "office", "Chicago").object_id
    caller(memory, user="lee").write(op="retract", object_id=object_id, authority_level=2)
    entry = memory.log()[0]
    assert (entry.actor, entry.sentences) == ("lee", ("took back Sam Rivera: office = Chicago",))
    closed = [row.actor for row in caller(memory, user="ann").diff("-infinity", "infinity")]
    assert "lee" in closed


def test_a_bulk_write_is_cut(open_memory: Open) -> None:
    from tenure import Write

    memory = open_memory()
    memory.write_many(
        [Write(subject=f"Person {n} Tester", slot="office", value="Rome") for n in range(23)]
    )
    (entry,) = memory.log()
    assert len(entry.sentences) == 21
    assert entry.sentences[-1] == "and 3 more"
    assert len(entry.objects) == 23


# ---- A read that states a stamp is never answered from before it, whichever process wrote.

QUESTION = {"entity": "Sam Rivera", "slot": "office"}
VALUE = "/v1/view/value"
WRITER = """
import json, sys, time
from dataclasses import replace
from tenure import connect
from tenure.schema.principal import OWNER

url, auth, tenant = json.loads(sys.argv[1])
options = {"auth": tuple(auth)} if auth else {}
with connect(url, principal=replace(OWNER, tenant=tenant), **options) as memory:
    # A server plans the statements of a first write for seconds.
    memory.write("Robin Vale", "office", "Lima")
    print("ready", flush=True)
    for place in sys.stdin:
        time.sleep(0.3)
        receipt = memory.write("Sam Rivera", "office", place.strip())
        print(receipt.tx.isoformat(), flush=True)
"""


class Neighbour:
    """Another process over the same store."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self.line() == "ready"

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def begin_write(self, office: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{office}\n")
        self._process.stdin.flush()

    def write(self, office: str) -> str:
        self.begin_write(office)
        return self.line()


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    memory = open_memory()
    memory.write("Sam Rivera", "office", "Chicago")
    return memory


@pytest.fixture
def neighbour(memory: Memory, request: pytest.FixtureRequest) -> Iterator[Neighbour]:
    url = backend_of(memory).store.url
    auth = request.getfixturevalue("neo4j_server").auth if "://" in url else None
    place = json.dumps([url, auth, memory.principal.tenant])
    with subprocess.Popen(
        [sys.executable, "-P", "-c", WRITER, place],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        yield Neighbour(process)
        process.stdin.close()


@pytest.fixture
def http(memory: Memory, tmp_path: Path) -> Iterator[httpx2.Client]:
    with serving(memory, tmp_path) as server, client(server, server.owner_key()) as http:
        yield http


def soon() -> str:
    """A stamp that comes before the one of a write that was just begun elsewhere."""
    return (datetime.now(UTC) + timedelta(milliseconds=100)).isoformat()


def ask(http: httpx2.Client, after: str) -> httpx2.Response:
    return http.post("/v1/view/value", json=QUESTION, headers={AFTER: after})


def test_a_read_sees_the_write_of_another_process_whose_stamp_it_states(
    http: httpx2.Client, neighbour: Neighbour
) -> None:
    answer = ask(http, neighbour.write("Boston"))
    assert answer.json() == "Boston"


def test_a_read_waits_for_a_write_that_comes_within_the_time(
    http: httpx2.Client, neighbour: Neighbour
) -> None:
    neighbour.begin_write("Boston")
    answer = ask(http, soon())
    assert answer.json() == "Boston"
    assert datetime.fromisoformat(neighbour.line()) <= datetime.fromisoformat(answer.headers[STAMP])


def test_a_read_of_a_stamp_that_does_not_come_gets_no_older_answer(http: httpx2.Client) -> None:
    answer = ask(http, "2100-01-01T00:00:00Z")
    assert (answer.status_code, answer.json()["code"]) == (503, "not_yet")


def test_a_stamp_that_is_no_time_is_refused(http: httpx2.Client) -> None:
    answer = ask(http, "the newest")
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_time")


def test_a_receipt_and_a_read_after_it_carry_the_stamp_of_the_write(http: httpx2.Client) -> None:
    fact = {"subject": "Sam Rivera", "slot": "office", "value": "Boston"}
    written = http.post("/v1/write", json=fact, headers={"idempotency-key": "one"})
    assert written.headers[STAMP] == written.json()["tx"]
    assert ask(http, written.headers[STAMP]).headers[STAMP] == written.headers[STAMP]


def test_a_tool_waits_for_the_stamp_and_answers_with_the_newest(
    memory: Memory, neighbour: Neighbour, tmp_path: Path
) -> None:
    async def tell() -> tuple[Any, Any]:
        async with over_http(memory, tmp_path, "2026-07-28") as agent:
            neighbour.begin_write("Boston")
            seen = await agent.call_tool("as_of", QUESTION, meta={"tenure/after": soon()})
            late = {"tenure/after": "2100-01-01T00:00:00Z"}
            return seen, await agent.call_tool("as_of", QUESTION, meta=late)

    seen, refused = asyncio.run(tell())
    assert "Boston" in seen.content[0].text
    assert seen.meta["tenure/stamp"] >= neighbour.line()[:19]
    assert refused.is_error
    assert refused.structured_content["code"] == "not_yet"
