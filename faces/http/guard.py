"""What stands before every route: the list of hosts, the size of a body, the security headers.

One list of names holds for pages, programs and agents alike. A page of another site that makes
its own name resolve to this machine states that name as the host (DNS rebinding), so a foreign
name is refused before anything is looked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...service.documents.blocks import MAX_BYTES
from .config import ServerSettings, host_name
from .problems import problem, problem_response

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Not `no-referrer`: with it a browser states the origin of its own form as "null".
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}

STREAMED: Final = frozenset({"/v1/ingest", "/v1/import"})
"""Paths whose bodies go to a file as they come, from callers who may do anything: no limit, and
never a body that is cut, of which the first half could be taken for the whole."""

_LARGER_BODIES: Final = {"/v1/documents/put": MAX_BYTES}
"""Bytes of a body where that is a file; its caller is known before it is read."""

_SINGLE_HEADERS: Final = (
    *(b"authorization", b"idempotency-key", b"if-match"),
    *(b"x-tenant", b"x-tenant-id", b"tenant"),
)
"""Headers of which no second one may be passed over."""


class Guard:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        guarded_send = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, guarded_send)
            return

        if scope["path"] in STREAMED:
            await self._app(scope, receive, guarded_send)
            return

        most = max(self._settings.max_body_bytes, _LARGER_BODIES.get(scope["path"], 0))
        limit = _BodyLimit(receive, guarded_send, most, scope)
        await self._app(scope, limit.receive, limit.send)

    def _refusal(self, scope: Scope) -> Response | None:
        """What answers a request whose head alone is enough to refuse it."""
        name = host_name(Headers(scope=scope).get("host", ""))
        if name not in self._settings.names:
            text = (
                f"this server is not served as {name!r}; if it should be, add the name to the "
                f"setting server.hosts, or start it with --allow-host {name}"
            )
            return problem_response(Request(scope), problem(421, "unknown_host", text))

        if _has_two_lengths(scope):
            text = "state Content-Length, or Transfer-Encoding in HTTP/1.1, and not both"
            response = problem_response(Request(scope), problem(400, "bad_request", text))
            response.headers["connection"] = "close"
            return response

        double = _double_header(scope)
        if double:
            text = f"the header {double} occurs twice; send it once"
            return problem_response(Request(scope), problem(400, "bad_request", text))
        return None


class _BodyLimit:
    """Counts a body as it comes; beyond the limit the answer is 413, whatever the route says."""

    def __init__(self, receive: Receive, send: Send, limit: int, scope: Scope) -> None:
        self._receive, self._send, self._scope = receive, send, scope
        self._limit = limit
        self._bytes = 0
        self._answered = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes <= self._limit:
            return message
        # The route meets the end of a body that is cut, and what it answers is replaced.
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message: Message) -> None:
        if self._bytes <= self._limit:
            await self._send(message)
            return
        if self._answered:
            return

        self._answered = True
        text = f"a request has at most {self._limit:,} bytes"
        answer = problem_response(Request(self._scope), problem(413, "too_large", text))
        await answer(self._scope, self._receive, self._send)


def _has_two_lengths(scope: Scope) -> bool:
    """Whether a proxy before us may see another end of this request (RFC 9112, 6.3)."""
    names = {name for name, _ in scope["headers"]}
    is_chunked = b"transfer-encoding" in names
    return is_chunked and (b"content-length" in names or scope["http_version"] == "1.0")


def _double_header(scope: Scope) -> str:
    """The first header that decides something and stands twice; empty for none."""
    counts = Counter(name for name, _ in scope["headers"])
    return next((name.decode() for name in _SINGLE_HEADERS if counts[name] > 1), "")


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return send_with_headers
