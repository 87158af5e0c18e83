"""Who reads a page, by the cookie of a web session, and what a credential allows.

Pages take no bearer token: `/v1` and `/mcp` do. Pages need the permits that `/v1` needs for the
same reads and writes, and count in the same limit of calls.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncGenerator
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from ...schema.errors import Forbidden
from ...schema.principal import STEWARD, Principal
from ...service.calls.table import Permit
from .credential import ALL_PERMITS, Credential
from .state import state_of

if TYPE_CHECKING:
    from ...service.client.memory import Memory

SIGN_IN: Final = "sign_in_needed"
"""Code of a request by nobody; pages lead to the form, everything else answers 401."""

_KEPT_PRINCIPALS: Final = 1_024
"""Callers whose JSON is not taken apart again; whether a key is known is asked each time."""


OF_ISSUER: Final = "issuer "
"""What the record of a person begins with whose claims an issuer made; they are read each time."""


def reader_of(request: HTTPConnection) -> Credential | None:
    """The credential of a web session that has not ended; looked up once a request."""
    if "tenure.reader" not in request.scope:
        request.scope["tenure.reader"] = _reader(request)
    return cast("Credential | None", request.scope["tenure.reader"])


def _reader(request: HTTPConnection) -> Credential | None:
    token = session_token(request)
    if not token or bearer_token(request) is not None:
        return None
    state = state_of(request)
    person, record = state.settings.control.session(token) or ("", "")
    # The steward of another server that shares the control file may hold other roles.
    if person == principal_json(state.settings.steward):
        return Credential(state.settings.steward, ALL_PERMITS)
    if record.startswith(OF_ISSUER):
        claims = json.loads(record.removeprefix(OF_ISSUER))
        return None if state.id_tokens is None else state.id_tokens.reader(claims)
    return Credential(principal_from_json(record), ALL_PERMITS) if record else None


def may_decide(request: HTTPConnection) -> bool:
    """Whether the reader may decide entities and actions."""
    reader = reader_of(request)
    return reader is not None and reader.principal.holds(STEWARD)


def bearer_token(request: HTTPConnection) -> str | None:
    """The token of a request's header; None where it states no bearer."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def memory_of(request: HTTPConnection, *permits: Permit) -> Memory:
    """The memory as the reader of a page sees it; without `permits` to read in.

    Raises:
        Forbidden: `sign_in_needed`, `permission_required`.
        Unavailable: `too_many_requests`.
    """
    reader = reader_of(request)
    if reader is None:
        raise _sign_in_needed()

    state = state_of(request)
    state.pace.count(reader.principal)
    for permit in permits or (Permit.READ,):
        reader.require(permit)
    return state.settings.memory.bind(reader.principal)


def _sign_in_needed() -> Forbidden:
    return Forbidden(
        "open this page in a browser and enter the code that `tenure serve` printed; "
        "a key opens /v1 and /mcp",
        code=SIGN_IN,
    )


def cookie_name(request: HTTPConnection) -> str:
    """The name of the session's cookie.

    Ports do not keep cookies apart, so that on loopback the port stands in the name.
    """
    settings = state_of(request).settings
    return "__Host-tenure" if settings.https else f"tenure-{settings.port}"


def session_token(request: HTTPConnection) -> str:
    """The token of the web session; empty without one."""
    return request.cookies.get(cookie_name(request), "")


def check_form(request: HTTPConnection, form_token: str) -> None:
    """Refuse a form that no page of ours made for this session.

    Raises:
        Forbidden: `cross_site_form`; `sign_in_needed` for a session that ended or never was.
    """
    check_origin(request)
    if reader_of(request) is None:
        raise _sign_in_needed()
    expected_token = state_of(request).settings.control.form_token(session_token(request))
    if not hmac.compare_digest(form_token.encode(), expected_token.encode()):
        raise Forbidden(
            "this form belongs to another session; load the page again and repeat it",
            code="cross_site_form",
        )


def check_origin(request: HTTPConnection) -> None:
    """Refuse what a page of another site sends.

    Raises:
        Forbidden: `cross_site_form`.
    """
    scheme = "https" if state_of(request).settings.https else "http"
    own_origin = f"{scheme}://{request.headers.get('host', '')}"
    origin = request.headers.get("origin")

    # Some browsers leave Origin out of a form of the same site, none its fetch metadata.
    is_ours = (
        origin == own_origin
        if origin is not None
        else request.headers.get("sec-fetch-site") == "same-origin"
    )
    if not is_ours:
        raise Forbidden(
            "a page of another site sent this; open the page here and repeat it",
            code="cross_site_form",
        )


def person_name(tenant: str, user: str | None) -> str:
    """How the control file names a person of its web sessions."""
    return json.dumps([tenant, user])


def principal_json(principal: Principal) -> str:
    """A principal as the control file keeps it."""
    return json.dumps(principal_fields(principal))


def principal_fields(principal: Principal) -> dict[str, object]:
    """A principal as a plain record, from which it can be made again."""
    record: dict[str, object] = {}
    for item in fields(principal):
        value: Any = getattr(principal, item.name)
        # JSON knows no sets; a principal takes any collection of words.
        record[item.name] = sorted(value) if item.type == "frozenset[str]" else value
    return record


@lru_cache(_KEPT_PRINCIPALS)
def principal_from_json(text: str) -> Principal:
    """The principal that `principal_json` wrote.

    The same value for the same text, so that what a store keeps by caller is found by identity.
    """
    return Principal(**json.loads(text))


async def _hold_place(request: HTTPConnection) -> AsyncGenerator[None]:
    """Hold a place while a page is made; without a session the page itself refuses."""
    reader = await run_in_threadpool(reader_of, request)
    if reader is None:
        yield
        return
    async with state_of(request).heavy_calls.place(reader.principal):
        yield


HEAVY_PAGE: Final = (Depends(_hold_place),)
"""For a page that compiles, searches, exports or erases: the places of `HEAVY` are its places."""
