"""`Memory` over HTTP: the classes of the client, whose methods another process answers.

Each method of a remote class has the signature of the method it stands for, and is made from
its row in the table of calls: it binds the arguments, sends them under their names, and reads
the answer back as the record that the embedded client returns. A refusal becomes the same error
with the same code.
"""

from __future__ import annotations

import inspect
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast
from urllib.parse import urlencode, urlsplit

from ...schema import errors
from ...schema.errors import InvalidInput, TenureError, Unavailable
from ...schema.principal import Principal
from ...schema.write import Moment
from ...service.backend.caller import ClientPart
from ...service.backend.files import needs_extra
from ...service.calls.parts import PARTS, RENAMED, part_class
from ...service.calls.run import answer_adapter, request_json
from ...service.calls.table import (
    BY_NAME,
    CALLS,
    DECISIONS,
    EMBEDDED_ONLY,
    RAW_BODIES,
    Call,
    EnvelopeRecord,
    PointInTime,
    path_of,
)
from ...service.client.memory import Memory

if TYPE_CHECKING:
    import httpx2

    from ...service.documents.records import SyncReport
    from ...service.documents.terms import SyncFields
    from ...service.reading.view import View

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
TIMEOUT_S: Final = 60.0
_WHATEVER_STANDS: Final = "*"
"""The `If-Match` of a decision that names no version."""
_TRIES: Final = 3
"""Of a request that no answer came to; a writing one carries its key, so it is done once."""
_PAUSE_S: Final = 1.0
"""Between two questions for the answer of a request that still runs."""

_ERRORS: Final[dict[str, type[TenureError]]] = {
    kind.__name__: kind
    for kind in (
        errors.Conflict,
        errors.ContextBudgetExhausted,
        errors.Fault,
        errors.Forbidden,
        errors.InvalidInput,
        errors.NotFound,
        errors.Unavailable,
    )
}
_BY_STATUS: Final[dict[int, type[TenureError]]] = {404: errors.NotFound, 500: errors.Fault}
"""For problems that no error of ours made."""


@dataclass(frozen=True, slots=True)
class RemoteLink:
    """The way to a server: an HTTP client and the token that it sends."""

    http: httpx2.Client
    token: str

    def call(self, call: Call, arguments: dict[str, Any]) -> Any:
        """Ask a server for a call.

        Raises:
            TenureError: what the server refused with, as its own class and code.
            Unavailable: `server_unreachable`.
        """
        headers: dict[str, str] = {}
        if call.writes:
            headers["idempotency-key"] = str(arguments.get("idempotency_key") or uuid.uuid4())
        if call.name in DECISIONS:
            # Without a version: whatever stands, as for the embedded client.
            version = arguments.pop("version", None)
            headers["if-match"] = _WHATEVER_STANDS if version is None else str(version)

        path, raw = path_of(call), RAW_BODIES.get(call.name, "")
        content = arguments.get(raw)
        # A password is for no log of addresses, and a scope is no text.
        if isinstance(content, bytes) and not (arguments.get("scope") or arguments.get("password")):
            texts: dict[str, Any] = json.loads(request_json(call, {**arguments, raw: ""}))
            fields = {k: v for k, v in texts.items() if k != raw and v not in (None, [])}
            path, body = f"{path}?{urlencode(fields, doseq=True)}", content
            headers["content-type"] = "application/octet-stream"
        else:
            body = request_json(call, arguments)
        answer = self._response_body("POST", path, body, headers)
        value = answer_adapter(call).validate_json(answer)
        return value.envelope() if isinstance(value, EnvelopeRecord) else value

    def token_for(self, fields: dict[str, Any]) -> str:
        """A short token for another user or session of the key."""
        answer = self._response_body("POST", "/v1/tokens", json.dumps(fields).encode(), {})
        return str(json.loads(answer)["token"])

    def caller(self) -> Principal:
        """Whom the token stands for."""
        answer = self._response_body("GET", "/v1/caller", b"", {})
        return Principal(**json.loads(answer)["principal"])

    def _response_body(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        import httpx2

        headers = {
            "content-type": "application/json",
            **headers,
            "authorization": f"Bearer {self.token}",
        }
        for attempt in range(_TRIES):
            try:
                response = self.http.request(method, path, content=body, headers=headers)
                # No answer came to the try before, and the server works on it still.
                end_s = time.monotonic() + TIMEOUT_S
                while attempt and _runs(response) and time.monotonic() < end_s:
                    time.sleep(_PAUSE_S)
                    response = self.http.request(method, path, content=body, headers=headers)
            except httpx2.TransportError as error:
                if attempt + 1 < _TRIES:
                    continue
                raise Unavailable(
                    f"{self.http.base_url} does not answer: {error}; look whether it is served",
                    code="server_unreachable",
                ) from error
            if response.status_code >= 400:
                raise _refusal(response)
            return response.content
        raise AssertionError("the last try returns or raises")


def _runs(response: httpx2.Response) -> bool:
    """Whether a request is answered by word that an earlier one with its key still runs."""
    return response.status_code == 409 and '"in_progress"' in response.text


def _refusal(response: httpx2.Response) -> TenureError:
    try:
        body: dict[str, Any] = response.json()
        code, detail = str(body["code"]), str(body["detail"])
    except (ValueError, KeyError, TypeError):
        # A proxy before the server refuses in words of its own.
        return Unavailable(
            f"the server answered {response.status_code} without a reason; is it tenure?",
            code="server_unreachable",
        )

    by_status = _BY_STATUS.get(response.status_code, InvalidInput)
    kind = _ERRORS.get(str(body.get("kind")), by_status)
    return kind(detail, code=code, **_facts(body))


def _facts(body: dict[str, Any]) -> dict[str, Any]:
    """The data of the error that a problem stands for, with the id by which a log has it."""
    facts: dict[str, Any] = {"trace_id": str(body.get("trace_id", ""))}
    data = body.get("data")
    return facts | cast("dict[str, Any]", data) if isinstance(data, dict) else facts


def _method(call: Call) -> Any:
    """The method of a remote class that stands for a call."""
    if isinstance(call.function, property):

        def read(self: Any) -> Any:
            return self._link.call(call, {})

        return property(read, doc=call.function.__doc__)

    function = cast("Callable[..., Any]", call.function)
    signature = inspect.signature(function)

    @wraps(function)
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs).arguments
        arguments = {name: value for name, value in bound.items() if name != "self"}
        for name, parameter in signature.parameters.items():
            # What a method takes as `**fields` travels beside the other arguments.
            if parameter.kind is parameter.VAR_KEYWORD:
                arguments |= arguments.pop(name, {})
        return self._link.call(call, self._point() | arguments)

    return ask


def _refusing(message: str, code: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise InvalidInput(message, code=code)

    return refuse


def _methods(part: str) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for name, reason in EMBEDDED_ONLY.items():
        owner, _, method = name.rpartition(".")
        if owner == part:
            message = f"{name} works only where the store is open: {reason}"
            methods[method] = _refusing(message, "embedded_only")
    for name, new_name in RENAMED.items():
        owner, dot, method = name.rpartition(".")
        if dot and owner == part:
            message = f"no call `{name}`; use `{new_name}`"
            methods["__call__" if owner == method else method] = _refusing(message, "renamed")
    for call in CALLS:
        if call.part == part:
            methods[call.method] = _method(call)
    return methods


class RemotePart(ClientPart):
    """A part of the memory: how it is reached, and where in time it stands."""

    def __init__(self, link: RemoteLink) -> None:
        self._link = link

    def _point(self) -> dict[str, Any]:
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._link.http.base_url)!r})"


def _part_class(part: str) -> type[RemotePart]:
    part_type = part_class(part)
    members = {"__doc__": part_type.__doc__, **_methods(part)}
    return type(f"Remote{part_type.__name__}", (RemotePart,), members)


_CLASSES: Final = {part: _part_class(part) for part in PARTS}


_ViewMethods: Any = _CLASSES["view"]
_MemoryMethods: Any = _CLASSES[""]
_DocumentMethods: Any = _CLASSES["documents"]


class RemoteView(_ViewMethods):  # type: ignore[misc]
    """A view whose point the server resolved once, so that all of its answers are of one moment."""

    def __init__(self, link: RemoteLink, point: PointInTime) -> None:
        # The methods come from a class that no checker sees, so `super` has no type.
        RemotePart.__init__(self, link)
        self.valid, self.tx = point

    def _point(self) -> dict[str, Any]:
        # None would mean now, which moves from call to call; a view stands still.
        return {"valid": self.valid or "infinity", "tx": self.tx or "-infinity"}


class RemoteMemory(_MemoryMethods):  # type: ignore[misc]
    """A memory on a server, as the bearer of a token sees it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @cached_property
    def principal(self) -> Principal:
        """Who asks: the server says so once, for a token never changes whom it stands for."""
        return cast("RemoteLink", self._link).caller()

    def close(self) -> None:
        """Let the connections go."""
        self._link.http.close()

    def flush(self) -> None:
        """Do nothing: what a server acknowledged, it keeps."""

    def as_of(self, valid: Moment = None, tx: Moment = None) -> View:
        """Return the view of (valid, tx); None means now."""
        point = self._link.call(BY_NAME["as_of"], {"valid": valid, "tx": tx})
        return cast("View", RemoteView(self._link, point))

    def bind(self, principal: Principal) -> Memory:
        """The same server for another user or session, by a short token of this key.

        Raises:
            Forbidden: `permission_required` for a key that issues no tokens;
                `above_key_permission`.
        """
        fields: dict[str, Any] = {
            "user": principal.user,
            "session": principal.session,
            "roles": sorted(principal.roles),
            "projects": sorted(principal.projects),
            "clearance": principal.clearance.value,
            "authority_level": int(principal.authority_level),
        }
        token = self._link.token_for(fields)
        return cast("Memory", RemoteMemory(replace(self._link, token=token)))


class RemoteDocuments(_DocumentMethods):  # type: ignore[misc]
    """The documents of a server, and the folders of this machine that go there."""

    def sync(self, folder: str | Path, **options: Unpack[SyncFields]) -> SyncReport:
        """Send what has changed in a folder since the last run, as the embedded client keeps it.

        Raises:
            NotFound: `no_such_folder`.
            Conflict: `sync_running`.
            InvalidInput: `bad_rules`, `bad_name`.
        """
        from ...service.documents.sync import ServerTarget, sync_folder

        link = cast("RemoteLink", self._link)
        key = json.dumps([str(link.http.base_url), link.caller().tenant])
        return sync_folder(ServerTarget(self, key), folder, **options)


_CLASSES["documents"] = RemoteDocuments


def _reader_of(part: str) -> property:
    return property(lambda self: _CLASSES[part](self._link), doc=part_class(part).__doc__)


for _part in set(PARTS) - {"", "view"}:
    setattr(RemoteMemory, _part, _reader_of(_part))


def open_remote(url: str, token: str) -> Memory:
    """The memory of a server.

    Raises:
        InvalidInput: `bad_settings` without a token.
        Unavailable: `extra_missing`.
    """
    if not token:
        raise InvalidInput(
            "a server asks for a key; state it, as in connect(url, token=…)", code="bad_settings"
        )
    if url.startswith("http://") and urlsplit(url).hostname not in _LOOPBACK:
        raise InvalidInput(
            "a key that travels in the open belongs to everybody; use https", code="bad_settings"
        )
    with needs_extra("client"):
        import httpx2

    # The trust store is read for https alone; it takes longer than a request.
    http = httpx2.Client(base_url=url, timeout=TIMEOUT_S, verify=url.startswith("https:"))
    return cast("Memory", RemoteMemory(RemoteLink(http, token)))
