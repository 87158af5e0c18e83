"""Who asks: the principal of a request, from its cookie or its bearer token and nothing else.

A request that carries a bearer token is that caller's, whatever cookies it has: a page of
another site can make a browser send a cookie, never a header.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import HTTPConnection

from ...schema.errors import Forbidden
from ...schema.principal import STEWARD, Principal
from .state import state_of

if TYPE_CHECKING:
    from ..client.memory import Memory

SIGN_IN: Final = "sign_in_needed"
"""Code of a request by nobody; pages lead to the form, everything else answers 401."""

_KEPT_PRINCIPALS: Final = 1_024
"""Callers whose JSON is not taken apart again; whether a key is known is asked each time."""


def principal_of(request: HTTPConnection) -> Principal:
    """The caller of a request.

    Raises:
        Forbidden: `sign_in_needed`.
    """
    state = state_of(request)
    bearer = bearer_token(request)
    if bearer is not None:
        principal = state.bearer(bearer) if state.bearer else None
    else:
        token = session_token(request)
        body = state.settings.control.session(token) if token else None
        principal = principal_from_json(body) if body else None

    if principal is None:
        raise Forbidden(
            "nobody is signed in: enter the code that `tenure serve` printed, or send a key",
            code=SIGN_IN,
        )
    return principal


def may_decide(request: HTTPConnection) -> bool:
    """Whether who asks may decide entities and actions; nobody may not."""
    try:
        return principal_of(request).holds(STEWARD)
    except Forbidden:
        return False


def bearer_token(request: HTTPConnection) -> str | None:
    """The token of a request's header; None where it states no bearer."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def memory_of(request: HTTPConnection) -> Memory:
    """The memory as the caller of a request sees it.

    Raises:
        Forbidden: `sign_in_needed`.
    """
    return state_of(request).memories.bound(principal_of(request))


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
        Forbidden: `foreign_form`.
    """
    check_origin(request)
    expected_token = state_of(request).settings.control.form_token(session_token(request))
    if not hmac.compare_digest(form_token.encode(), expected_token.encode()):
        raise Forbidden(
            "this form belongs to another session; load the page again and repeat it",
            code="foreign_form",
        )


def check_origin(request: HTTPConnection) -> None:
    """Refuse what a page of another site sends.

    Raises:
        Forbidden: `foreign_form`.
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
            code="foreign_form",
        )


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
