"""`/v1` and `/mcp` on a real server: routes, refusals, retries, and two callers who never meet."""

import asyncio
import json
import logging
import uuid
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

import tenure
from tenure.faces.http.api import KEEP_SECONDS, AnswerBook
from tenure.faces.http.openapi import description
from tenure.faces.mcp.server import build_server
from tenure.schema.principal import OWNER
from tenure.service.calls.table import BY_NAME, CALLS, DECISIONS, path_of
from tenure.tests.faces.http.served import RunningServer, client
from tenure.tests.source_tree import ROOT
from tenure.tests.support.refusals import refused

FACT = {"subject": "Sam Rivera", "slot": "office", "value": "Chicago"}


def post(http: httpx2.Client, path: str, body: Any, key: str | None = "", **headers: str) -> Any:
    idempotency = {"idempotency-key": key or str(uuid.uuid4())} if key is not None else {}
    return http.post(path, json=body, headers={**idempotency, **headers})


def code(response: Any) -> str:
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    return str(body["code"])


def test_the_description_is_the_committed_one() -> None:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    assert document == json.loads(json.dumps(description())), "write it anew: see docs/http.md"


def test_every_reference_of_the_description_leads_somewhere(owner: httpx2.Client) -> None:
    document = owner.get("/v1/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    names = set(document["components"]["schemas"])
    text = json.dumps(document)
    assert text.count("#/components/schemas/") > 100
    for part in text.split("#/components/schemas/")[1:]:
        assert part.partition('"')[0] in names
    assert owner.get("/v1/version").json() == {"version": tenure.__version__}


def test_reading_by_query_and_by_body(owner: httpx2.Client) -> None:
    assert post(owner, "/v1/write", FACT).json()["outcome"] in ("accepted", "confirmed")
    question = {"entity": "Sam Rivera", "slot": "office"}
    by_query = owner.get("/v1/view/slot", params=question)
    assert by_query.json()["value"] == "Chicago"
    assert owner.post("/v1/view/slot", json=question).json()["value"] == "Chicago"
    assert owner.get("/v1/log", params={"limit": "1"}).json()[0]["actor"] == "olga"
    hits = owner.get("/v1/view/search", params={"text": "Chicago", "limit": 5}).json()
    assert hits["hits"]


def test_the_same_key_is_done_once(owner: httpx2.Client, server: RunningServer) -> None:
    fact = {**FACT, "subject": "Retry Person"}
    first = post(owner, "/v1/write", fact, key="k-1")
    retry = post(owner, "/v1/write", fact, key="k-1")
    assert retry.content == first.content
    assert retry.headers["idempotent-replayed"] == "true"
    assert code(post(owner, "/v1/write", {**fact, "value": "Rome"}, key="k-1")) == (
        "idempotency_mismatch"
    )
    assert code(post(owner, "/v1/write", fact, key=None)) == "idempotency_key_required"
    assert len(server.memory.history("Retry Person", "office")) == 1

    # Another caller's key of the same name is its own.
    with client(server, server.key(user="lee")) as lee:
        lees = post(lee, "/v1/write", {**fact, "value": "Oslo", "scope": {}}, key="k-1")
        assert lees.status_code == 200
        assert lees.json()["object_id"] != first.json()["object_id"]

    # The book may be lost with its process: the store knows the key, too.
    server.control.rows("DELETE FROM answers")
    assert post(owner, "/v1/write", fact, key="k-1").json()["replayed"] is True


def test_an_erasure_empties_the_answers_that_name_it_and_no_others(
    owner: httpx2.Client, server: RunningServer
) -> None:
    secret = {**FACT, "subject": "Erased Person"}
    first = post(owner, "/v1/write:batch", {"writes": [secret]}, key="e-1")
    with client(server, server.key(user="lee")) as lee:
        post(lee, "/v1/write:batch", {"writes": [{**FACT, "scope": {}}]}, key="e-1")
        object_id = first.json()[0]["object_id"]
        post(owner, "/v1/erase", {"object_id": object_id, "reason": "asked"}, key="e-2")

        # It was done, and is not done again: the retry would bring back what was erased.
        refusal = post(owner, "/v1/write:batch", {"writes": [secret]}, key="e-1")
        assert (refusal.status_code, code(refusal)) == (409, "answer_erased")
        assert code(post(owner, "/v1/write:batch", {"writes": []}, key="e-1")) == (
            "idempotency_mismatch"
        )
        # By a retry nobody learns that something else was erased.
        retry = post(lee, "/v1/write:batch", {"writes": [{**FACT, "scope": {}}]}, key="e-1")
        assert retry.headers["idempotent-replayed"] == "true"
    bodies = server.control.rows("SELECT body FROM answers WHERE key = 'e-1'")
    assert object_id not in str(bodies)


def test_a_window_is_looked_into_and_tidied_from_outside(server: RunningServer) -> None:
    session = server.memory.bind(tenure.Principal(user="paul")).session("desk", window=20_000)
    for number in range(12):
        session.on_turn_start(f"What about order ORDER-{number:05}? " + "well then " * 200)
        session.on_turn_end("It is on its way.")
    with client(server, server.key(user="paul", roles=frozenset())) as http:
        view = http.get("/v1/sessions/show", params={"name": "desk"}).json()
        assert (view["turn"], view["closed"]) == (12, False)
        page = {"name": "desk", "request": view["units"][0]["address"]}
        decision = post(http, "/v1/sessions/compact", {"name": "desk", "to": 200}).json()
        assert "ORDER-00000" in http.get("/v1/sessions/rehydrate", params=page).text
        request = http.post("/v1/sessions/compile", json={"name": "desk", "target": "openai"})
        assert "ORDER-00000" in str(request.json()["messages"])
        undone = post(http, "/v1/sessions/undo", {"name": "desk", "edit": decision["edit"]}).json()
        assert undone["reading"]["tokens"] > decision["reading"]["tokens"]

        # A misspelt name begins no session.
        assert code(http.get("/v1/sessions/show", params={"name": "trip"})) == "unknown_session"
        assert [row[0] for row in http.get("/v1/sessions/list").json()] == ["desk"]


def test_the_erasure_of_a_session_empties_the_answers_that_name_its_checkpoints(
    owner: httpx2.Client, server: RunningServer
) -> None:
    olga = server.memory.bind(tenure.Principal(user="olga"))
    session = olga.session("trip", goal="Rebook the flight", window=20_000)
    session.note("decision", "the flight at noon")
    session.checkpoint()
    (row,) = session.checkpoints()

    narrowed = {"object_id": row.object_id, "deny_roles": ["agent"]}
    fact = {**FACT, "subject": "Session Person"}
    with client(server, server.key(user="olga", session="trip", roles={"admin"})) as traveller:
        assert post(traveller, "/v1/reclassify", narrowed, key="s-1").status_code == 200
        first = post(traveller, "/v1/write", fact, key="s-2")
        erasure = {"name": "trip", "reason": "asked"}
        assert post(owner, "/v1/erase_session", erasure, key="s-3").json() == [row.object_id]

        refusal = post(traveller, "/v1/reclassify", narrowed, key="s-1")
        assert (refusal.status_code, code(refusal)) == (409, "answer_erased")
        assert post(traveller, "/v1/write", fact, key="s-2").content == first.content
    # A retry of the erasure is answered by its own answer, which the erasure did not empty.
    assert post(owner, "/v1/erase_session", erasure, key="s-3").json() == [row.object_id]


def test_a_first_request_that_runs_is_told(server: RunningServer) -> None:
    book, caller = AnswerBook(server.control), tenure.Principal(user="zoe")
    assert book.begin(caller, "k", b"request") is None
    with refused(tenure.Conflict, "in_progress"):
        book.begin(caller, "k", b"request")
    book.give_up(caller, "k")
    assert book.begin(caller, "k", b"other") is None
    assert KEEP_SECONDS == 86_400


def test_a_batch_is_all_or_nothing(owner: httpx2.Client) -> None:
    writes = [{**FACT, "subject": "Batch Person"}, {**FACT, "slot": "ofice"}]
    assert code(post(owner, "/v1/write:batch", {"writes": writes})) == "unknown_vocabulary"
    question = {"entity": "Batch Person", "slot": "office"}
    assert owner.get("/v1/view/slot", params=question).json()["status"] == "unknown"
    assert len(post(owner, "/v1/write:batch", {"writes": writes[:1]}).json()) == 1


def test_a_decision_states_the_version(owner: httpx2.Client) -> None:
    for name in DECISIONS:
        body = {"review_id": "nothing"}
        assert code(post(owner, path_of(BY_NAME[name]), body)) == "version_required"
        assert code(post(owner, path_of(BY_NAME[name]), body, **{"if-match": '"1"'})) == (
            "unknown_review"
        )
    any_version = post(owner, "/v1/reviews/accept", {"review_id": "x"}, **{"if-match": "*"})
    assert code(any_version) == "unknown_review"
    wrong = post(owner, "/v1/reviews/accept", {"review_id": "x"}, **{"if-match": "new"})
    assert code(wrong) == "bad_request"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/history", b"{", 422),
        ("/v1/history", b"[1]", 422),
        ("/v1/history", b"[" * 100_000, 422),
        ("/v1/history", b'{"entity": "a"}', 422),
        ("/v1/history", b'{"entity": "a", "slot": "office", "more": 1}', 422),
        ("/v1/explain", b'{"object_id": "nothing"}', 404),
        ("/v1/nothing", b"{}", 404),
    ],
)
def test_what_cannot_be_taken_is_a_problem(
    owner: httpx2.Client, path: str, body: bytes, status: int
) -> None:
    response = owner.post(path, content=body)
    assert response.status_code == status
    assert code(response)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_every_route_asks_for_a_key_and_its_permit(server: RunningServer, call: Any) -> None:
    with client(server) as anonymous:
        refusal = anonymous.post(path_of(call), json={})
        assert (refusal.status_code, code(refusal)) == (401, "sign_in_needed")
        cookies = {"cookie": "tenure-8765=anything"}
        assert anonymous.post(path_of(call), json={}, headers=cookies).status_code == 401
        if call.writes:
            assert anonymous.get(path_of(call)).status_code in (401, 405)

    second = next(p for p in ("memory:read", "context:compile") if p != call.permit)
    with client(server, server.key(second, user="ann")) as http:
        assert code(post(http, path_of(call), {})) == "permission_required"


def test_a_tenant_comes_from_the_key_alone(owner: httpx2.Client) -> None:
    question = {"entity": "Sam Rivera", "slot": "office"}
    foreign = owner.post("/v1/history", json=question, headers={"x-tenant-id": "other"})
    assert (foreign.status_code, code(foreign)) == (403, "tenant_mismatch")
    assert (
        code(owner.post("/v1/history", json={**question, "tenant": "other"})) == "tenant_mismatch"
    )
    assert owner.post("/v1/history", json={**question, "tenant": "default"}).status_code == 200


def test_tokens_are_issued_to_keys_that_may(server: RunningServer, owner: httpx2.Client) -> None:
    with client(server, server.key(roles={"member"})) as service:
        token = service.post("/v1/tokens", json={"user": "ann"}).json()["token"]
        assert code(service.post("/v1/tokens", json={"roles": ["owner"]})) == "above_key_permission"
    with client(server, token) as ann:
        assert post(ann, "/v1/write", {**FACT, "subject": "Token Person"}).status_code == 200
        assert ann.get("/v1/log").json()[0]["actor"] == "ann"
        assert code(ann.post("/v1/tokens", json={})) == "permission_required"


def test_a_key_tells_whom_it_stands_for(server: RunningServer) -> None:
    with client(server, server.key(user="ann", roles={"member"})) as ann:
        answer = ann.get("/v1/caller").json()
        assert tenure.Principal(**answer["principal"]) == tenure.Principal(
            user="ann", roles={"member"}
        )
        assert "memory:read" in answer["permits"]
        assert code(ann.get("/v1/caller", headers={"x-tenant": "other"})) == "tenant_mismatch"
    with client(server, "tnr_nobody_nothing") as nobody:
        assert nobody.get("/v1/caller").status_code == 401


CANARY = "zq-canary-93"


def test_no_route_shows_what_is_another_s(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="tenure")
    root = server.memory
    victims = (
        root.bind(tenure.Principal(user="ann", tenant="default")),
        root.bind(tenure.Principal(**{**owner_fields(), "tenant": "other"})),
    )
    known_ids: list[str] = []
    kept_ids: list[str] = []
    for victim in victims:
        receipt = victim.write(
            "Sam Rivera", "plan", CANARY, scope={"user": str(victim.principal.user)}
        )
        envelope = victim.compile("assistant", f"What is the plan {CANARY}?")
        artifact = victim.artifacts.put(CANARY, scope={"user": str(victim.principal.user)})
        victim.flush()
        known_ids += [receipt.object_id]
        kept_ids += [envelope.envelope_id, artifact.address]

    # Every field of a request is tried with the names and ids that an attacker may have learnt.
    words = ["Sam Rivera", *known_ids]
    takes_kept_ids = ("replay", "rehydrate", "envelopes.", "artifacts.")
    with client(server, server.key(user="lee")) as http:
        for call in CALLS:
            more_words = kept_ids if call.name.startswith(takes_kept_ids) else []
            for word in (*words, *more_words):
                response = post(http, path_of(call), guess(call, word), **{"if-match": "1"})
                assert response.status_code < 500, (call.name, response.text)
                assert CANARY not in response.text, call.name
                assert CANARY not in str(response.headers), call.name
    assert CANARY not in caplog.text


def owner_fields() -> dict[str, Any]:
    return {"user": "boss", "roles": OWNER.roles, "clearance": OWNER.clearance}


def guess(call: Any, word: str) -> dict[str, Any]:
    """A request that states one word in every required field."""
    from tenure.service.calls.run import request_model

    schema = request_model(call).model_json_schema()
    body: dict[str, Any] = {}
    for name in schema.get("required", ()):
        body[name] = "plan" if name == "slot" else [word] if name == "events" else word
    if call.name == "compile":
        body = {"task": "assistant", "query": word, "entities": [word]}
    if call.name == "diff":
        body = {"tx1": "-infinity", "tx2": "infinity"}
    return body


# ---- agents over HTTP


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_agents_use_the_tools_on_the_same_port(server: RunningServer, mode: str) -> None:
    key = server.key(user="ann", roles={"member"})
    second = server.key(user="lee", roles={"member"})

    async def use(token: str, tool: str, **arguments: Any) -> Any:
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, verify=False) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as session:
                return await session.call_tool(tool, arguments)

    async def work() -> None:
        fact = {"subject": f"Agent {mode}", "slot": "response_style", "value": CANARY}
        receipt = await use(key, "remember", **fact)
        assert receipt.structured_content["items"][0]["outcome"] == "accepted"
        question = {"entity": f"Agent {mode}"}
        answer, foreign = await asyncio.gather(
            use(key, "as_of", **question), use(second, "as_of", **question)
        )
        assert CANARY in answer.content[0].text
        assert CANARY not in foreign.model_dump_json()

    asyncio.run(work())


def test_agents_need_a_key_with_the_permits(server: RunningServer) -> None:
    assert build_server(lambda: server.memory)
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with client(server) as anonymous:
        refusal = anonymous.post("/mcp", json=request)
        assert (refusal.status_code, code(refusal)) == (401, "sign_in_needed")
        assert refusal.headers["www-authenticate"] == "Bearer"
    with client(server, server.key("memory:read", user="ann")) as reader:
        assert code(reader.post("/mcp", json=request)) == "permission_required"
    with client(server, server.owner_key()) as http:
        foreign = http.post("/mcp", json=request, headers={"host": "evil.example"})
        assert (foreign.status_code, code(foreign)) == (421, "unknown_host")
        other = http.post("/mcp", json=request, headers={"x-tenant": "other"})
        assert (other.status_code, code(other)) == (403, "tenant_mismatch")
