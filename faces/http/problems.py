"""Errors of a server: problem details (RFC 9457) for programs, a page with a way out for people.

A problem has our stable `code`, the sentence of the error, and a `trace_id` that the log has too.
What nobody foresaw says no more than that: its text may hold what somebody wrote.
"""

from __future__ import annotations

import difflib
import logging
import uuid
from collections.abc import Mapping
from typing import Final

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ...schema.errors import (
    Conflict,
    ContextBudgetExhausted,
    Fault,
    Forbidden,
    InvalidInput,
    NotFound,
    TenureError,
    Unavailable,
)
from ...service.backend.caller import error_text
from ...service.calls.parts import RENAMED
from ...service.calls.run import field_problem
from ...service.calls.table import CALLS, path_of
from .connections import TOO_MANY
from .identity import SIGN_IN, bearer_token
from .pages import page, sign_in_address

MEDIA_TYPE: Final = "application/problem+json"

_STATUS: Final[Mapping[type[TenureError], int]] = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    Forbidden: 403,
    Unavailable: 503,
    ContextBudgetExhausted: 422,
    Fault: 500,
}
_STATUS_OF_CODE: Final[Mapping[str, int]] = {
    SIGN_IN: 401,
    "credential_ended": 401,
    "bad_cursor": 400,
    "stale_version": 412,
    TOO_MANY: 429,
    "idempotency_mismatch": 422,
}

_TITLES: Final[Mapping[int, str]] = {
    400: "Not complete",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not there",
    405: "Not done this way",
    409: "Something moved",
    412: "Changed meanwhile",
    413: "Too large",
    421: "Not served under this name",
    422: "Not understood",
    428: "Not without a version",
    429: "Too often",
    500: "An error of tenure",
    503: "Not available now",
}
_PROGRAMS: Final = ("/v1", "/mcp", "/healthz", "/readyz")
"""Paths that answer programs, whatever they accept."""

_READING: Final = ("GET", "HEAD")

_FACTS: Final = ("field", "write", "shortfall", "budget_tokens", "total", "refused")
"""What of an error's data a program acts on; the rest may name paths of this machine."""

_SENDER_GONE: Final = 499
"""What proxies count such a request as; no standard has a number for it."""

_LOG = logging.getLogger("tenure.server")


def status_of(error: TenureError) -> int:
    """The HTTP status of an error."""
    by_class = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
    return _STATUS_OF_CODE.get(error.code, by_class)


def problem(
    status: int, code: str, detail: str, *, errors: list[dict[str, str]] | None = None
) -> dict[str, object]:
    """The body of a problem.

    >>> problem(404, "unknown_object", "there is no such object")["type"]
    'urn:tenure:problem:unknown_object'
    """
    body: dict[str, object] = {
        "type": f"urn:tenure:problem:{code}",
        "title": _TITLES.get(status, "Refused"),
        "status": status,
        "code": code,
        "detail": detail,
        "trace_id": uuid.uuid4().hex,
    }
    return body | ({"errors": errors} if errors else {})


def problem_response(request: Request, body: Mapping[str, object]) -> Response:
    """A problem in the form that its reader takes."""
    status = int(str(body["status"]))
    if request.url.path.startswith(_PROGRAMS) or not wants_page(request):
        return JSONResponse(dict(body), status_code=status, media_type=MEDIA_TYPE)
    return page(request, "problem.jinja", status=status, problem=body)


def refuse(request: Request, error: Exception) -> Response:
    """Answer an error of tenure."""
    assert isinstance(error, TenureError)
    is_person = wants_page(request) and bearer_token(request) is None
    if error.code == SIGN_IN and request.method in _READING and is_person:
        return RedirectResponse(sign_in_address(request), status_code=303)
    response = problem_response(request, problem_of(error))
    if "retry_after" in error.data:
        response.headers["retry-after"] = str(error.data["retry_after"])
    return response


def problem_of(error: TenureError) -> dict[str, object]:
    """The body of a problem that an error of tenure is."""
    # The class tells a program who must act; the client raises it again.
    body = problem(status_of(error), error.code, error_text(error)) | {"kind": type(error).__name__}
    facts = {name: error.data[name] for name in _FACTS if name in error.data}
    return body | ({"data": facts} if facts else {})


def refuse_malformed(request: Request, error: Exception) -> Response:
    """Answer a request whose parts are not what the route takes; values are not repeated."""
    assert isinstance(error, RequestValidationError)
    errors: list[dict[str, str]] = []
    for entry in error.errors():
        pointer = "/" + "/".join(str(part) for part in entry["loc"])
        errors.append({"pointer": pointer, "detail": field_problem(entry)})
    body = problem(422, "bad_request", "the request is malformed; see errors", errors=errors)
    return problem_response(request, body)


def refuse_unserved(request: Request, error: Exception) -> Response:
    """Answer what no route takes."""
    assert isinstance(error, HTTPException)
    code, detail = "bad_request", str(error.detail)
    if error.status_code == 404:
        code = "unknown_page"
        detail = _call_advice(request) if request.url.path.startswith("/v1/") else "no such page"
    elif error.status_code == 405:
        methods = sorted((error.headers or {}).get("Allow", "").split(", "))
        detail = f"{request.method} is not taken at this address; use {' or '.join(methods)}"
    response = problem_response(request, problem(error.status_code, code, detail))
    # A 405 says by `Allow` what is done instead.
    response.headers.update(error.headers or {})
    return response


def _call_advice(request: Request) -> str:
    """Which calls have an address like the one that nothing answers."""
    if request.url.path in RENAMED:
        return f"no call has this address; use {RENAMED[request.url.path]}"
    addresses = map(path_of, CALLS)
    neighbours = difflib.get_close_matches(request.url.path, addresses, n=3, cutoff=0.8)

    advice = f"did you mean {' or '.join(neighbours)}? " if neighbours else ""
    return f"no call has this address; {advice}GET /v1/openapi.json has all of them"


def drop(request: Request, error: Exception) -> Response:
    """End a request whose sender went away in the middle of its body: nobody reads the answer."""
    return Response(status_code=_SENDER_GONE)


def refuse_missing(request: Request, error: Exception) -> Response:
    """Answer a call that needs a package which this server does not have."""
    assert isinstance(error, ModuleNotFoundError)
    if (error.name or "tenure").startswith("tenure"):
        return refuse_unexpected(request, error)
    text = f"{error.name} is not installed where the server runs; install the extra that has it"
    return refuse(request, Unavailable(text, code="extra_missing"))


def refuse_unexpected(request: Request, error: Exception) -> Response:
    """Answer an error that nobody foresaw."""
    return problem_response(request, unexpected_problem(request, error))


def unexpected_problem(request: Request, error: Exception) -> dict[str, object]:
    """The body of a problem that nobody foresaw; the log has the error under its trace id."""
    body = problem(500, "unexpected", "tenure met an error of its own; the log has its trace id")
    fields = {"trace_id": body["trace_id"], "op": request.url.path}
    _LOG.error("unexpected", extra=fields, exc_info=error)
    return body


def wants_page(request: Request) -> bool:
    """Whether the reader is a browser."""
    return "text/html" in request.headers.get("accept", "")
