"""Nobody learns of another's memory over the wire: each answer is the same with it and without it.

The law of `test_noninterference`, over a server with a key for each user: status, headers, body,
cursors, streams, tools and pages. The other user sends the same Idempotency-Keys.

Not compared beyond what that law leaves out, also where a page says it: the date, the length of a
body, which has what is left out, and what is drawn anew for each answer (trace ids, seals, form
tokens).
"""

import asyncio
import hashlib
import html
import itertools
import json
import random
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

import tenure
from tenure.faces.http.identity import principal_json
from tenure.tests.faces.http.served import serving
from tenure.tests.service.two_worlds import (
    IDENTIFIERS,
    NAMES,
    SLOTS,
    WORDS,
    World,
    differences,
    hidden_step_of,
    outcome,
    step_of,
    subject_of,
)
from tenure.tests.support.sampling import part

UNTOLD_HEADERS = frozenset({"date", "content-length"})
ACCEPTS = ("application/json", "application/x-ndjson", "text/event-stream")
ANN = {"user": "ann", "session": "s1", "projects": frozenset({"apollo"})}
BOB = {"user": "bob", "session": "s1", "projects": frozenset({"nova"})}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TOLD = "<p><small>Something that this caller may not see.</small></p>"
DRAWN = re.compile(r'name="(form_token|shown_ms)" value="[^"]*"|, trace [0-9a-f]{32}')


class ServedWorld(World):
    """A world behind a server, with clients of both users."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__()
        stack.callback(self.owner.close)
        folder.mkdir()
        # A limit that the other's calls would pass, and the compared calls of one user do not.
        self.server = stack.enter_context(serving(self.owner, folder, calls_per_minute=100_000))
        self.tokens = {
            "ann": self.server.key(**ANN),
            "steward": self.server.key(**ANN, roles={"steward"}),
            "bob": self.server.key(**BOB),
            "owner": self.server.owner_key(),
        }
        self.http = stack.enter_context(httpx2.Client(base_url=self.server.url, timeout=30))

    def told(self, user: str, method: str, path: str, **options: Any) -> Any:
        """What a request is answered with, as plain values."""
        headers = {"authorization": f"Bearer {self.tokens[user]}", **options.pop("headers", {})}
        answer = self.http.request(method, path, headers=headers, **options)
        return {
            "status": answer.status_code,
            "headers": {k: v for k, v in answer.headers.items() if k not in UNTOLD_HEADERS},
            "body": body_of(answer.text),
        }


def body_of(text: str) -> Any:
    """The body of an answer: JSON, lines of it, or events, with its cursors opened."""
    values: list[Any] = []
    for line in text.splitlines():
        try:
            values.append(json.loads(line.removeprefix("data: ")))
        except ValueError:
            values.append(line)
    for value in values:
        if isinstance(value, dict) and "sidecar" in value:
            del value["sidecar"]["compilation_latency_ms"]
        if isinstance(value, dict) and value.get("next_cursor"):
            cursor = value["next_cursor"]
            token = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            position, _, point = json.loads(token[16:])
            # The digest is of the entry, which is compared itself.
            value["next_cursor"] = [position, point]
    return values


def wire_step_of(draw: random.Random, user: str) -> Callable[[ServedWorld], Any]:
    """A request of a user with an Idempotency-Key that the other may have stated, too."""
    key = f"key-{draw.randrange(4)}"
    subject = subject_of(draw)
    scope = draw.choice(({"user": user}, {"user": user, "session": "s1"}))
    body = {"subject": subject, "slot": "office", "value": draw.choice(("Rome", "Oslo")),
            "scope": scope}  # fmt: skip
    requests = (
        ("/v1/write", body),
        ("/v1/write:batch", {"writes": [body, body]}),
        ("/v1/artifacts/put", {"data": "YnVkZ2V0", "name": "a.txt", "scope": scope}),
        ("/v1/observe", {"text": "I live in Rome and work at Acme."}),
        ("/v1/close_scope", {"kind": "session", "scope": "s1"}),
        ("/v1/tokens", {"user": "bob", "session": "s1"}),
    )
    path, content = draw.choice(requests)
    headers = {"idempotency-key": key, "accept": draw.choice(ACCEPTS)}
    return lambda world: world.told(user, "POST", path, json=content, headers=headers)


def steward_step_of(draw: random.Random) -> Callable[[ServedWorld], Any]:
    """A word of the first user's steward about what that steward may see."""
    place, key = draw.random(), f"steward-{draw.randrange(10**9)}"
    decision = draw.choice(("accept", "reject", "unsure", "undo", "open", "merge", "alias"))
    headers = {"idempotency-key": key, "if-match": "*"}

    def decide(world: ServedWorld) -> Any:
        told = partial(world.told, "steward", "POST", headers=headers)
        if decision in ("accept", "reject", "unsure", "undo"):
            cases = told("/v1/reviews/list", json={"status": "all", "kind": "all"})["body"][0]
            if not cases:
                return None
            review_id = sorted(case["review_id"] for case in cases)[int(place * len(cases))]
            return told(f"/v1/reviews/{decision}", json={"review_id": review_id})

        entities = told("/v1/entities/list", json={})["body"][0]
        ids = [entity["entity_id"] for entity in entities if entity["type"] == "person"]
        if len(ids) < 2:
            return None
        left, right = random.Random(place).sample(ids, 2)
        if decision == "alias":
            return told("/v1/entities/add_alias", json={"entity": left, "alias": "Sandy"})
        path = "/v1/reviews/open" if decision == "open" else "/v1/entities/merge"
        return told(path, json={"a": left, "b": right})

    return decide


def hidden_word_of(draw: random.Random) -> Callable[[ServedWorld], Any]:
    """What the other user's steward, or the owner, does about what the first user cannot see."""
    kind, place = draw.choice(("merge", "decide", "page", "erase")), draw.random()
    if place < 0.2:
        kind = "session"

    def act(world: ServedWorld) -> Any:
        if kind == "erase":
            known = {name for entry in world.ann.log(limit=500) for name in entry.objects}
            entries = world.bob.log(limit=500)
            hidden = [name for entry in entries for name in entry.objects if name not in known]
            ids = sorted(filter(UUID.fullmatch, hidden))
            if not ids:
                return None
            headers = {"idempotency-key": f"erase-{place}"}
            body = {"object_id": ids[int(place * len(ids))], "reason": "asked"}
            return world.told("owner", "POST", "/v1/erase", json=body, headers=headers)

        if kind == "session":
            world.bob.session("s1", window=20_000).on_turn_start("The budget of Sam Rivera.")
            headers = {"idempotency-key": f"session-{place}"}
            body = {"name": "s1", "user": "bob", "reason": "asked"}
            return world.told("owner", "POST", "/v1/erase_session", json=body, headers=headers)

        if kind == "merge":
            visible = {view.entity_id for view in world.ann.entities.list()}
            views = [v for v in world.bob.entities.list() if v.entity_id not in visible]
            if len(views) < 2:
                return None
            left, right = random.Random(place).sample(views, 2)
            return world.steward.entities.merge(left.entity_id, right.entity_id)

        visible_cases = {c.review_id for c in world.ann.reviews.list("all", kind="all")}
        all_cases = world.steward.reviews.list("all", kind="all")
        cases = [case for case in all_cases if case.review_id not in visible_cases]
        if not cases:
            return None
        case = cases[int(place * len(cases))]
        if kind == "decide":
            return world.steward.reviews.reject(case.review_id)
        with browser_of(world, **BOB, roles=frozenset({"steward"})) as browser:
            path = f"/reviews/{case.review_id}"
            form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', browser.get(path).text))
            return browser.post(f"{path}/reject", data=form, headers={"origin": world.server.url})

    return act


def reads_of(world: ServedWorld, ids: tuple[str, ...], strange: tuple[str, ...]) -> Iterator[Any]:
    """The requests that a user reads by, each with what it is called here."""

    def read(path: str, *, user: str = "ann", accept: str = ACCEPTS[0], **body: Any) -> Any:
        ask = partial(world.told, user, "POST", f"/v1/{path}", json=body)
        return f"{user} {path} {accept} {body}", partial(ask, headers={"accept": accept})

    def query(path: str, *, user: str = "ann", **parameters: Any) -> Any:
        name = f"{user} GET {path} {parameters}"
        return name, partial(world.told, user, "GET", f"/v1/{path}", params=parameters)

    for name in NAMES:
        yield read("view/facts", entity=name)
        yield read("view/entity", mention=name)
        yield read("view/neighbourhood", entity=name)
        yield read("entities/get", entity=name)
        yield read("entities/resolve", mention=name)
        yield query("log", entity=name, page_size=3)
        yield query("reviews/matching", user="steward", mention=name)
        for slot in SLOTS:
            yield read("view/slot", entity=name, slot=slot)
            yield read("view/timeline/grid", entity=name, slot=slot)
            yield query("history", entity=name, slot=slot, page_size=1)
    for scheme, values in IDENTIFIERS.items():
        for value in values:
            person = {"name": "Somebody", "type": "person", "external_ids": {scheme: value}}
            yield read("entities/resolve", mention=person)
    for word in WORDS:
        yield read("view/search", text=word, limit=50)
        question = f"What of the {word} of Sam Rivera?"
        yield read("compile", task="analytical_reporting", query=question, budget_tokens=2_000)
    for object_id in (*ids, *strange):
        yield query("explain", object_id=object_id)
        yield query("view/object", object_id=object_id)
        yield query("view/entity", mention=object_id)
        yield query("reviews/get", user="steward", review_id=object_id)
        yield query("envelopes/get", envelope_id=object_id)
    for word in WORDS:
        address = "artifact://sha256/" + hashlib.sha256(word.encode()).hexdigest()
        yield query("artifacts/exists", address=address)
        yield query("artifacts/info", address=address)
        yield query("artifacts/text", address=address)
    for user, accept in itertools.product(("ann", "steward"), ACCEPTS):
        ask = partial(read, user=user, accept=accept)
        yield ask("entities/list")
        yield ask("entities/relations")
        yield ask("diff", tx1="2000-01-01T00:00:00Z", tx2="2030-01-01T00:00:00Z")
        yield ask("log", limit=500)
        yield ask("sessions/list")
        yield ask("artifacts/list")
        yield ask("actions/list", status="all")
        yield ask("reviews/list", status="all", kind="all")
        yield ask("reviews/progress")
        yield ask("envelopes/list")
    for path in ("reviews/list", "reviews/groups", "actions/actions", "resolution/xref",
                 "resolution/labels", "resolution/audit", "caller", "version", "openapi.json",
                 "as_of", "policy", "doctor", "export", "vocabulary/slots", "vocabulary/tools",
                 "nothing"):  # fmt: skip
        yield query(path, user="steward")
        yield query(path)
    for path in ("log", "entities/list", "sessions/list", "reviews/list", "envelopes/list"):
        yield f"pages {path}", partial(pages_of, world, path)
    yield "tools", lambda: asyncio.run(tools_of(world, (*ids[:6], *strange[:6])))
    for user, roles in (("ann", None), ("steward", frozenset({"steward"}))):
        yield f"pages of {user}", partial(crawl_of, world, roles, strange)


def pages_of(world: ServedWorld, path: str) -> Any:
    """Every page of a list, two entries each."""
    pages: list[Any] = []
    parameters: dict[str, str] = {"page_size": "2"}
    headers = {"authorization": f"Bearer {world.tokens['ann']}"}
    while True:
        answer = world.http.get(f"/v1/{path}", params=parameters, headers=headers)
        pages.append(body_of(answer.text))
        cursor = answer.json().get("next_cursor")
        if not cursor:
            return pages
        parameters["cursor"] = cursor


async def tools_of(world: ServedWorld, ids: tuple[str, ...]) -> Any:
    """What the tools of an agent answer."""
    headers = {"authorization": f"Bearer {world.tokens['ann']}"}
    calls: list[tuple[str, dict[str, Any]]] = [("list_reviews", {})]
    calls += [("recall", {"query": word}) for word in WORDS]
    calls += [("as_of", {"entity": name}) for name in NAMES]
    calls += [(tool, {"object_id": name}) for name in ids for tool in ("explain", "forget")]
    answers: list[Any] = []
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(f"{world.server.url}/mcp", http_client=http)
        async with Client(transport) as client:
            for tool, arguments in calls:
                answer = await client.call_tool(tool, arguments)
                answers.append(answer.model_dump(mode="json", exclude_none=True))
    return answers


def crawl_of(world: ServedWorld, roles: frozenset[str] | None, strange: tuple[str, ...]) -> Any:
    """Every page that links lead to from the first one, and those of ids that were guessed."""
    further = {} if roles is None else {"roles": roles}
    port = world.server.url.rpartition(":")[2]
    guesses = [f"/{kind}/{name}" for name in strange for kind in
               ("entities", "claims", "people", "reviews", "envelopes")]  # fmt: skip
    waiting = ["/", "/?q=budget", "/actions", "/quarantine", "/health", "/envelopes", *guesses]
    pages: dict[str, Any] = {}
    with browser_of(world, **ANN, **further) as browser:
        while waiting:
            path = waiting.pop(0)
            # One plane of a slot is enough: its picture has all points.
            is_repeated = "/plane/" in path and "?" in path
            if path in pages or is_repeated or path.startswith(("/static", "#", "data:", "http")):
                continue
            answer = browser.get(path, headers={"accept": "text/html"})
            assert answer.status_code < 500, path
            text = DRAWN.sub("", answer.text).replace(port, "PORT").replace(f"{TOLD}\n", "")
            is_file = answer.headers["content-type"] == ACCEPTS[0]
            body = json.loads(text) if is_file else text.splitlines()
            pages[path] = {"status": answer.status_code, "body": body}
            waiting += map(html.unescape, re.findall(r'href="([^"]*)"', answer.text))
    return pages


def browser_of(world: ServedWorld, **principal: Any) -> httpx2.Client:
    """A browser that somebody is signed in with."""
    record = principal_json(tenure.Principal(**principal))
    token = world.server.control.open_session(record, record)
    port = world.server.url.rpartition(":")[2]
    return httpx2.Client(base_url=world.server.url, cookies={f"tenure-{port}": token})


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in part(range(1, 6)))]
)
def test_what_another_user_hides_changes_no_answer_of_a_server(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    own_scopes: tuple[Any, ...] = ({"user": "ann"}, {"user": "ann", "session": "s1"}, {}, {})
    leaks: list[str] = []

    with ExitStack() as stack:
        worlds = [ServedWorld(tmp_path / name, stack) for name in ("without", "with")]
        for step in range(2, 160, 2):
            if draw.random() < 0.5:
                secret = hidden_step_of(draw)
                request = wire_step_of(draw, "bob")
                hidden = draw.choice((secret, secret, request, request, hidden_word_of(draw)))
                outcome(partial(hidden, worlds[1].at(step)))
                continue
            action = step_of(draw, own_scopes, hides=False)
            request = draw.choice((wire_step_of(draw, "ann"), steward_step_of(draw)))
            on_wire = draw.random() < 0.5
            answers: list[Any] = []
            for world in worlds:
                world.at(step - 1).ann.write("Mark", "title", f"{step}", scope={"user": "ann"})
                world.at(step)
                call = partial(request, world) if on_wire else partial(action, world.ann)
                answers.append(outcome(call))
            leaks += [f"step {step}{where}" for where in differences(*answers)]

        for world in worlds:
            world.at(161).ann.write("Mark", "title", "last", scope={"user": "ann"})
            world.at(162)
        entries = worlds[0].ann.log(limit=500)
        ids = tuple(sorted({name for entry in entries for name in entry.objects}))
        hidden_entries = worlds[1].bob.log(limit=500)
        strange = {name for entry in hidden_entries for name in entry.objects} - {*ids}
        strange |= {view.entity_id for view in worlds[1].bob.entities.list()}
        strange -= {view.entity_id for view in worlds[0].ann.entities.list()}
        guessed = tuple(sorted(filter(UUID.fullmatch, strange)))

        left_reads, right_reads = (reads_of(world, ids, guessed) for world in worlds)
        for (name, left), (_, right) in zip(left_reads, right_reads, strict=True):
            for world in worlds:
                world.at(162)
            answer = outcome(left)
            # What is no request proves nothing.
            assert "pages" in name or "bad_request" not in str(answer), (name, answer)
            leaks += [f"{name}{where}" for where in differences(answer, outcome(right))]

    assert leaks == []
