"""`/v1`: one route for each row of the table of calls, and what only HTTP has.

Reading calls answer GET with query parameters and POST with a JSON body; writing calls take POST
with an `Idempotency-Key`. Who asks comes from the bearer token and nothing else: a cookie opens
nothing here, so that no page of another site can call it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ...schema.documents import json_of, utf8_of
from ...schema.errors import InvalidInput
from ...schema.operation import SweepReceipt
from ...schema.version import VERSION
from ..backend.caller import backend_of
from ..calls.models import request_model
from ..calls.run import answer_json, run, run_json, stated_arguments
from ..calls.table import CALLS, DECISIONS, Call, path_of
from ..client.memory import Memory
from ..stewardship.operations import SWEPT_AT_ONCE, Steward
from .bearer_watch import BearerWatch
from .bearers import Bearers, check_tenant
from .control import ControlFile
from .idempotency import AnswerBook, StoredAnswer, erased_names
from .identity import principal_fields
from .memories import Memories
from .metrics import CountedRoute
from .openapi import description
from .paging import FIELDS, NDJSON, EntryTexts, Pager, PageRequest, is_listing
from .problems import problem, problem_response
from .progress import LONG_CALLS, Tell, respond

JSON: Final = "application/json"
_ERASING: Final = frozenset({"erase", "erase_session", "artifacts.erase"})
_KEY_LIMIT: Final = 200
"""Characters of an Idempotency-Key."""


@dataclass(frozen=True, slots=True)
class Api:
    """The routes over open memories."""

    bearers: Bearers
    memories: Memories
    answers: AnswerBook
    control: ControlFile

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
            body = await request.body()
            if call.name in LONG_CALLS:
                work = partial(self._answer, call, request, body)
                return await respond(request, work, BearerWatch(self.bearers, request))
            return await run_in_threadpool(self._answer, call, request, body)

        return handle

    def _answer(
        self, call: Call, request: Request, body: bytes, tell: Tell | None = None
    ) -> Response:
        credential = self.bearers.of_request(request)
        credential.require(call.permit)
        arguments = _arguments(call, request, body)
        check_tenant(request, arguments, credential)

        memory = self.memories.bound(credential.principal)
        if is_listing(call):
            return self._list_answer(call, request, memory, arguments)
        if not call.writes:
            return Response(run_json(memory, call, arguments), media_type=JSON)
        return self._write_answer(call, request, memory, arguments, tell)

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

        if call.name in _ERASING:
            self.answers.forget(caller.tenant, _erased_names(call, arguments, answer))
        self.answers.finish(caller, key, StoredAnswer(200, answer))
        return Response(answer, media_type=JSON)

    async def _issue(self, request: Request) -> Response:
        credential = self.bearers.of_request(request)
        fields = _json_object(await request.body())
        token, ends_s = await run_in_threadpool(self.bearers.ring.issue, credential, fields)
        return JSONResponse({"token": token, "expires_at": ends_s})

    async def _caller(self, request: Request) -> Response:
        return await run_in_threadpool(self._caller_answer, request)

    def _caller_answer(self, request: Request) -> Response:
        """Whom the bearer stands for, and what it allows: every check of a call, and no read."""
        credential = self.bearers.of_request(request)
        check_tenant(request, {}, credential)
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
        target = fields.get("object_id"), fields.get("entity")

        def watch_step(step: str, count: int) -> None:
            tell({"step": step, "emptied": count})

        return answer_json(call, steward.erase(*target, fields["reason"], watch=watch_step))

    def watch(receipt: SweepReceipt) -> None:
        tell({"retired": receipt.touched, "examined": receipt.examined})

    terms: dict[str, Any] = {"dry_run": False, "limit": SWEPT_AT_ONCE, **fields}
    return answer_json(call, steward.sweep(**terms, watch=watch))


def _erased_names(call: Call, arguments: dict[str, Any], answer: bytes) -> set[str]:
    """The ids that an erasure took, by which kept answers name it."""
    if call.name == "artifacts.erase":
        return erased_names(artifacts=[str(arguments.get("address"))])
    receipt = json.loads(answer)
    if call.name == "erase_session":
        return erased_names(object_ids=receipt)
    return erased_names(
        object_ids=receipt["object_ids"],
        entity_ids=receipt["entity_ids"],
        artifacts=receipt["artifacts"],
        envelopes=receipt["envelopes"],
    )


def _arguments(call: Call, request: Request, body: bytes) -> dict[str, Any]:
    if request.method == "POST":
        return _json_object(body)

    # Query parameters are texts, and of two of one name nobody knows which was meant.
    arguments: dict[str, Any] = {}
    for name, text in _query_pairs(request):
        if name in _repeated_fields(call):
            arguments.setdefault(name, []).append(text)
        elif name in arguments:
            raise InvalidInput(
                f"{name} stands twice in the query; state it once", code="bad_request", field=name
            )
        else:
            arguments[name] = text

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


def build_api(control: ControlFile, memories: Memories, bearers: Bearers) -> Api:
    """The routes of a server."""
    return Api(bearers, memories, AnswerBook(control), control)
