"""`/v1`: one route for each row of the table of calls, and what only HTTP has.

Reading calls answer GET with query parameters and POST with a JSON body; writing calls take POST
with an `Idempotency-Key`. Who asks comes from the bearer token and nothing else: a cookie opens
nothing here, so that no page of another site can call it.

The same request with the same key gets the same answer. Answers are kept in the control file for a
day, by caller and keyed hash of the key. An erasure empties those that name what it took; such a
request counts as done and is not done again. The key of a write also goes to the store, where it is
committed with the write, so that a retry after a crash doubles nothing.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ...schema.answers import SweepReceipt
from ...schema.errors import Conflict, InvalidInput
from ...schema.limits import json_of, utf8_of
from ...schema.principal import Principal
from ...schema.version import VERSION
from ...service.backend.caller import backend_of, last_stamp, wait_for_stamp
from ...service.backend.kept_answers import EMPTIED
from ...service.calls.run import (
    QueryTexts,
    answer_json,
    request_model,
    run,
    run_json,
    stated_arguments,
)
from ...service.calls.table import CALLS, DECISIONS, RAW_BODIES, Call, path_of
from ...service.client.memory import Memory
from ...service.stewardship.operations import SWEPT_AT_ONCE, Steward
from .bearer_watch import BearerWatch
from .bearers import Bearers, tenant_mismatch
from .control import ControlFile
from .credential import Credential
from .heavy_calls import HEAVY, HeavyCalls
from .identity import principal_fields, principal_json
from .metrics import CountedRoute
from .openapi import description
from .paging import FIELDS, NDJSON, EntryTexts, Pager, PageRequest, is_listing
from .problems import problem, problem_response
from .progress import LONG_CALLS, Tell, respond
from .state import ServerState

KEEP_SECONDS: Final = 86_400
_ABANDONED_SECONDS: Final = 60
"""After which a request without an answer is taken for one whose process died."""

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS answers (
    caller BLOB NOT NULL, key TEXT NOT NULL, tenant TEXT NOT NULL, fingerprint BLOB NOT NULL,
    made_s REAL NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (caller, key)
) STRICT""",
    # Each writing call drops what is older than a day: without it, it would look at all.
    "CREATE INDEX IF NOT EXISTS answers_by_age ON answers (made_s)",
)


class StoredAnswer(NamedTuple):
    """What a request was answered with."""

    status: int
    body: bytes


class AnswerBook:
    """The answers of one control file."""

    def __init__(self, control: ControlFile) -> None:
        self._control = control
        self._running: set[tuple[bytes, str]] = set()
        """Requests that this process still works on, however long they take."""
        with control.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    def begin(self, caller: Principal, key: str, request: bytes) -> StoredAnswer | None:
        """The answer that was given; None for a first request, which now runs.

        Raises:
            Conflict: `in_progress` while the first still runs; `idempotency_mismatch` for the
                key of another request; `answer_erased`.
        """
        identity, key, now_s = self._identity(caller), self._key(key), self._control.now()
        # Keyed, since it stays where the answer was erased: a guess of the words proves nothing.
        fingerprint = self._control.digest("request", request.decode())

        with self._control.transaction() as connection:
            connection.execute("DELETE FROM answers WHERE made_s < ?", (now_s - KEEP_SECONDS,))
            row = connection.execute(
                "SELECT fingerprint, made_s, status, body FROM answers"
                " WHERE caller = ? AND key = ?",
                (identity, key),
            ).fetchone()
            is_abandoned = (
                row is not None
                and not row[2]
                and row[1] < now_s - _ABANDONED_SECONDS
                and (identity, key) not in self._running
            )
            if row is None or is_abandoned:
                self._running.add((identity, key))
                connection.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, 0, x'')",
                    (identity, key, caller.tenant, fingerprint, now_s),
                )
                return None

        if row[0] != fingerprint:
            raise Conflict(
                "this Idempotency-Key was used for another request; take a new one",
                code="idempotency_mismatch",
            )
        if not row[2]:
            raise Conflict("the first request with this key still runs", code="in_progress")
        if row[2] == EMPTIED:
            raise Conflict(
                "the first request with this key succeeded, and its answer was erased since with "
                "what it named; read the current state",
                code="answer_erased",
            )
        return StoredAnswer(row[2], row[3])

    def finish(self, caller: Principal, key: str, answer: StoredAnswer) -> None:
        """Keep the answer of a request."""
        identity, key = self._identity(caller), self._key(key)
        with self._control.transaction() as connection:
            self._running.discard((identity, key))
            connection.execute(
                "UPDATE answers SET status = ?, body = ? WHERE caller = ? AND key = ?",
                (answer.status, answer.body, identity, key),
            )

    def give_up(self, caller: Principal, key: str) -> None:
        """Forget a request that was refused: the same key may be tried again."""
        identity, key = self._identity(caller), self._key(key)
        with self._control.transaction() as connection:
            self._running.discard((identity, key))
            connection.execute("DELETE FROM answers WHERE caller = ? AND key = ?", (identity, key))

    def _key(self, text: str) -> str:
        """A key as it is kept: a client may have put a name into it."""
        return self._control.digest("idempotency", text).hex()

    def _identity(self, caller: Principal) -> bytes:
        return self._control.digest("caller", principal_json(caller))


JSON: Final = "application/json"
OCTETS: Final = "application/octet-stream"
AFTER: Final = "tenure-after"
STAMP: Final = "tenure-stamp"
_KEY_LIMIT: Final = 200
"""Characters of an Idempotency-Key."""


@dataclass(frozen=True, slots=True)
class Api:
    """The routes over an open store."""

    bearers: Bearers
    memory: Memory
    answers: AnswerBook
    control: ControlFile
    heavy_calls: HeavyCalls

    def routes(self) -> list[CountedRoute]:
        """Every route, in the order of the table."""
        routes: list[CountedRoute] = [
            CountedRoute("/v1/openapi.json", _description, methods=["GET"]),
            CountedRoute("/v1/version", _version, methods=["GET"]),
            CountedRoute("/v1/tokens", self._issue, methods=["POST"]),
            CountedRoute("/v1/caller", self._caller, methods=["GET"]),
        ]
        for call in CALLS:
            methods = ["POST"] if call.writes else ["GET", "POST"]
            routes.append(CountedRoute(path_of(call), self._handler(call), methods=methods))
        return routes

    def _handler(self, call: Call) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            credential: Credential | None = None
            if call.name in RAW_BODIES:
                # Its body may be large, and is not read for a stranger.
                credential = await run_in_threadpool(self.bearers.of_request, request)
            body = await request.body()
            if call.name not in HEAVY:
                work = partial(self._answer, call, request, body=body, credential=credential)
                return await run_in_threadpool(work)

            # Counted first, so that a caller above the limit of calls waits for no place.
            if credential is None:
                credential = await run_in_threadpool(self.bearers.of_request, request)
            place = self.heavy_calls.place(credential.principal)
            work = partial(self._answer, call, request, body=body, credential=credential)
            if call.name in LONG_CALLS:
                return await respond(request, work, BearerWatch(self.bearers, request), place)
            async with place:
                return await run_in_threadpool(work)

        return handle

    def _answer(
        self,
        call: Call,
        request: Request,
        tell: Tell | None = None,
        *,
        body: bytes,
        credential: Credential | None = None,
    ) -> Response:
        credential = credential or self.bearers.of_request(request)
        credential.require(call.permit)
        arguments = _arguments(call, request, body)
        tenant = credential.principal.tenant
        if isinstance(arguments.get("tenant"), str) and arguments.pop("tenant") != tenant:
            raise tenant_mismatch()

        memory = self.memory.bind(credential.principal)
        if AFTER in request.headers:
            wait_for_stamp(memory, request.headers[AFTER])
        if is_listing(call):
            response = self._list_answer(call, request, memory, arguments)
        elif call.writes:
            response = self._write_answer(call, request, memory, arguments, tell)
        else:
            response = Response(run_json(memory, call, arguments), media_type=JSON)
        response.headers[STAMP] = last_stamp(memory)
        return response

    def _list_answer(
        self, call: Call, request: Request, memory: Memory, arguments: dict[str, Any]
    ) -> Response:
        """A page of a list, its entries one a line, or the whole of it."""
        page_request = PageRequest.of_query(request.query_params)
        if page_request is not None:
            page = Pager(self.control, memory).page(call, arguments, page_request)
            return Response(page, media_type=JSON)

        if NDJSON in request.headers.get("accept", ""):
            # Each line is made when the one before it was taken: a slow reader holds no list.
            lines = EntryTexts(call).lines(run(memory, call, arguments))
            watch = BearerWatch(self.bearers, request)
            return StreamingResponse(watch.lines(lines), media_type=NDJSON)
        return Response(run_json(memory, call, arguments), media_type=JSON)

    def _write_answer(
        self,
        call: Call,
        request: Request,
        memory: Memory,
        arguments: dict[str, Any],
        tell: Tell | None,
    ) -> Response:
        key = request.headers.get("idempotency-key", "")
        if not key or len(key) > _KEY_LIMIT:
            body = problem(
                400,
                "idempotency_key_required",
                f"state a new Idempotency-Key of at most {_KEY_LIMIT} characters",
            )
            return problem_response(request, body)
        if call.name in DECISIONS:
            if "if-match" not in request.headers:
                body = problem(428, "version_required", "state the case's version in If-Match")
                return problem_response(request, body)
            version = _version_number(request.headers["if-match"])
            arguments = {**arguments, "version": version}

        caller = memory.principal
        fingerprint = json.dumps([call.name, arguments], sort_keys=True).encode()
        known = self.answers.begin(caller, key, fingerprint)
        if known is not None:
            headers = {"idempotent-replayed": "true"}
            return Response(known.body, known.status, headers, media_type=JSON)

        # The store commits the key with the write: after a crash a retry finds its receipt there.
        if call.name == "write" and not arguments.get("dry_run"):
            arguments.setdefault("idempotency_key", key)
        try:
            answer = _long_answer(memory, call, arguments, tell)
        except BaseException:
            self.answers.give_up(caller, key)
            raise

        self.answers.finish(caller, key, StoredAnswer(200, answer))
        return Response(answer, media_type=JSON)

    async def _issue(self, request: Request) -> Response:
        credential = self.bearers.of_request(request)
        fields = _json_object(await request.body())
        token, ends_s = await run_in_threadpool(self.bearers.ring.issue, credential, fields)
        return JSONResponse({"token": token, "expires_at": ends_s})

    def _caller(self, request: Request) -> Response:
        """Whom the bearer stands for, and what it allows: every check of a call, and no read."""
        credential = self.bearers.of_request(request)
        principal = principal_fields(credential.principal)
        return JSONResponse({"principal": principal, "permits": sorted(credential.permits)})


def _long_answer(memory: Memory, call: Call, arguments: dict[str, Any], tell: Tell | None) -> bytes:
    """The answer of a writing call, which says how far it is where it has steps."""
    if tell is None or call.name not in LONG_CALLS:
        return run_json(memory, call, arguments)

    tell({"begun": call.name})
    steward = Steward(backend_of(memory), memory.principal)
    fields: dict[str, Any] = stated_arguments(call, arguments)
    if call.name == "erase":

        def watch_step(step: str, count: int) -> None:
            tell({"step": step, "emptied": count})

        target: dict[str, Any] = {"object_id": None, "entity": None, **fields}
        return answer_json(call, steward.erase(**target, watch=watch_step))

    def watch(receipt: SweepReceipt) -> None:
        tell({"retired": receipt.touched, "examined": receipt.examined})

    terms: dict[str, Any] = {"dry_run": False, "limit": SWEPT_AT_ONCE, **fields}
    return answer_json(call, steward.sweep(**terms, watch=watch))


def _arguments(call: Call, request: Request, body: bytes) -> dict[str, Any]:
    is_raw = call.name in RAW_BODIES and request.headers.get("content-type") == OCTETS
    if request.method == "POST" and not is_raw:
        return _json_object(body)

    # Query parameters are texts, and of two of one name nobody knows which was meant.
    arguments: dict[str, Any] = QueryTexts()
    for name, text in _query_pairs(request):
        if name in _repeated_fields(call):
            arguments.setdefault(name, []).append(text)
        elif name in arguments:
            raise InvalidInput(
                f"{name} occurs twice in the query; state it once", code="bad_request", field=name
            )
        else:
            arguments[name] = text

    if is_raw:
        arguments[RAW_BODIES[call.name]] = {"base64": b64encode(body).decode()}
    if is_listing(call):
        for name in FIELDS:
            arguments.pop(name, None)
    return arguments


def _query_pairs(request: Request) -> list[tuple[str, str]]:
    """The names and texts of a query, in their order.

    Raises:
        InvalidInput: `bad_request`, for bytes that are no UTF-8: another name would be asked for.
    """
    text: bytes = request.scope["query_string"]
    try:
        return parse_qsl(text.decode("latin-1"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "the query is not UTF-8; write the bytes of UTF-8 as %XX", code="bad_request"
        ) from error


@cache
def _repeated_fields(call: Call) -> frozenset[str]:
    """The fields of a call that take several values, each in a parameter of its own."""
    fields = request_model(call).model_fields
    return frozenset(name for name in fields if "Sequence" in str(fields[name].annotation))


def _json_object(body: bytes) -> dict[str, Any]:
    """The object that a body holds; an empty body is an empty one.

    Raises:
        InvalidInput: `bad_request`, `out_of_range`.
    """
    text = utf8_of(body, "the body", code="bad_request")
    tree: Any = json_of(text or "{}", "the body", code="bad_request")
    if not isinstance(tree, dict):
        raise InvalidInput("the body must be a JSON object", code="bad_request")
    return tree  # pyright: ignore[reportUnknownVariableType]


def _version_number(header: str) -> int | None:
    """The version that a decision is about; None for `*`, whatever stands.

    Raises:
        InvalidInput: `bad_request`.
    """
    if header.strip() == "*":
        return None
    text = header.strip().removeprefix("W/").strip('"')
    if not text.isdecimal() or len(text) > 9:
        raise InvalidInput(
            "If-Match holds the version of the case, a number, or *", code="bad_request"
        )
    return int(text)


async def _description(_: Request) -> Response:
    return JSONResponse(description())


async def _version(_: Request) -> Response:
    return JSONResponse({"version": VERSION})


def build_api(state: ServerState, bearers: Bearers) -> Api:
    """The routes of a server."""
    control = state.settings.control
    return Api(bearers, state.settings.memory, AnswerBook(control), control, state.heavy_calls)
