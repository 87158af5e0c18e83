"""Signing in: a one-time code from the terminal, a cookie for the browser, and the way out.

Signing in at an OIDC issuer: authorisation code with PKCE, from and back to this server.

Nothing is stored until the issuer has vouched: a cookie of ten minutes holds a random text, and
state, nonce and verifier are keyed hashes of it. Whoever sees the address that leads to the
issuer, or the cookie alone, can make none of the three; a cookie that was edited matches no state.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Form
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.errors import NotFound, Unavailable
from .identity import (
    OF_ISSUER,
    check_form,
    check_origin,
    cookie_name,
    person_name,
    principal_json,
    session_token,
)
from .pages import page
from .state import HeadedRoute, ServerState, state_of
from .token_request import CodeExchange, id_token

if TYPE_CHECKING:
    from ...service.settings import IssuerSignIn

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)


@router.get("/sign-in")
def sign_in_form(request: Request, next: str = "/") -> HTMLResponse:
    """Show the form; a link from another site is opened once more from here.

    A cookie with SameSite=Strict does not come along with such a link, so that somebody who is
    signed in would meet the form. The page asks again from our own site.
    """
    target = local_path(next)
    if request.headers.get("sec-fetch-site") == "cross-site":
        return page(request, "same_site.jinja", target=target)
    return form_page(request, target)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    code: Annotated[str, Form(max_length=100)] = "",
    next: Annotated[str, Form(max_length=4000)] = "/",
) -> Response:
    """Take a code and open a session, or say that it was wrong."""
    check_origin(request)
    state, target = state_of(request), local_path(next)
    settings = state.settings
    # Wrong, used and too old are answered alike: which it was would help who guesses alone.
    person = await run_in_threadpool(settings.control.take_code, settings.steward.tenant, code)
    if person is None:
        # Only wrong codes wait: who guesses must not lock out who has the right one.
        await asyncio.sleep(state.pace.wrong_code_pause_s())
        await run_in_threadpool(announce_code, state)
        problem = "This code is wrong, used or too old. The terminal shows the one that counts."
        return form_page(request, target, problem)

    response = RedirectResponse(target, status_code=303)
    open_session(request, response, person or principal_json(settings.steward))
    return response


@router.post("/sign-out")
def sign_out(request: Request, form_token: Annotated[str, Form()] = "") -> Response:
    """End the session."""
    check_form(request, form_token)
    settings = state_of(request).settings
    settings.control.close_session(session_token(request))

    response = RedirectResponse("/sign-in", status_code=303)
    response.delete_cookie(
        cookie_name(request), httponly=True, samesite="strict", secure=settings.https
    )
    return response


def form_page(request: Request, target: str, problem: str = "") -> HTMLResponse:
    """The form, with what was wrong with the last try."""
    oidc = state_of(request).settings.oidc
    has_issuer = oidc is not None and oidc.sign_in is not None
    issuer = urlsplit(oidc.issuer).hostname if oidc and has_issuer else ""
    status = 403 if problem else 200
    return page(
        request, "sign_in.jinja", status=status, target=target, problem=problem, issuer=issuer
    )


def open_session(request: Request, response: Response, person: str, record: str = "") -> None:
    """Sign a browser in: its next requests are this person's."""
    settings = state_of(request).settings
    token = settings.control.open_session(person, record)
    response.set_cookie(
        cookie_name(request), token, httponly=True, samesite="strict", secure=settings.https
    )


def announce_code(state: ServerState) -> None:
    """Print a code of the steward where none waits: at the start, and after a wrong try."""
    steward, control = state.settings.steward, state.settings.control
    person = principal_json(steward)
    if not control.has_code(steward.tenant, person):
        code = control.new_code(steward.tenant, person)
        state.announce(f"Sign-in code (10 minutes, once): {code}")


def local_path(target: str) -> str:
    r"""A path of this server; anything else becomes the first page.

    >>> local_path("/entity?name=Sam"), local_path("//evil.example"), local_path("/\\evil")
    ('/entity?name=Sam', '/', '/')
    """
    # Browsers read both `//host` and `/\\host` as the address of another site.
    is_local = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_local and target.isprintable() else "/"


ATTEMPT_SECONDS: Final = 600
CALLBACK: Final = "/sign-in/issuer/callback"
_LONGEST_TARGET: Final = 2000


class _Attempt(NamedTuple):
    """One way to the issuer and back."""

    state: str
    nonce: str
    verifier: str
    target: str

    @property
    def challenge(self) -> str:
        """What the issuer is told of the verifier before it is shown."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@router.get("/sign-in/issuer")
def leave(request: Request, next: str = "/") -> Response:
    """Lead to the issuer.

    Raises:
        NotFound: `unknown_page` without one.
    """
    client = _client(request)
    settings = state_of(request).settings
    target = local_path(next)[:_LONGEST_TARGET]
    ends_s = int(settings.control.now()) + ATTEMPT_SECONDS
    ticket = (
        f"{secrets.token_urlsafe(32)}.{ends_s}.{base64.urlsafe_b64encode(target.encode()).decode()}"
    )
    attempt = _attempt(request, ticket)

    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": _callback_address(request),
        "scope": client.scope,
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": attempt.challenge,
        "code_challenge_method": "S256",
    }
    # An issuer may keep a query of its own in its address.
    joint = "&" if "?" in client.authorization_url else "?"
    response = RedirectResponse(f"{client.authorization_url}{joint}{urlencode(query)}", 303)
    # Lax: the way back begins at the issuer's site, and a Strict cookie would stay behind.
    response.set_cookie(
        _cookie_name(request),
        ticket,
        max_age=ATTEMPT_SECONDS,
        httponly=True,
        samesite="lax",
        secure=settings.https,
    )
    return response


@router.get(CALLBACK)
def come_back(request: Request, state: str = "", code: str = "") -> Response:
    """Take what the issuer sends back, and sign in whom it vouches for.

    Raises:
        NotFound: `unknown_page` without an issuer.
    """
    client = _client(request)
    attempt = _attempt(request, request.cookies.get(_cookie_name(request), ""))
    # Somebody else's code must not sign this browser in as that somebody (login CSRF).
    is_ours = bool(attempt.state) and hmac.compare_digest(attempt.state.encode(), state.encode())
    if not is_ours or not code:
        return _refusal(request, "This sign-in was not begun here, or too long ago. Begin again.")

    exchange = CodeExchange(client, code, attempt.verifier, _callback_address(request))
    try:
        token = id_token(exchange)
    except Unavailable as error:
        return _refusal(request, str(error))

    id_tokens = state_of(request).id_tokens
    claims, reader = None, None
    if id_tokens is not None:
        claims = id_tokens.claims(token, client_id=client.client_id, nonce=attempt.nonce)
        reader = None if claims is None else id_tokens.reader(claims)
    if reader is None:
        return _refusal(request, "The issuer named no person whom this server knows.")

    # The answer is a page and no redirect: one that began at another site brings no cookie along.
    response = page(request, "same_site.jinja", target=attempt.target)
    person = person_name(reader.principal.tenant, reader.principal.user)
    open_session(request, response, person, OF_ISSUER + json.dumps(claims))
    return _without_ticket(request, response)


def _attempt(request: Request, ticket: str) -> _Attempt:
    """The attempt that a cookie stands for; one without a state where it has ended or is none."""
    control = state_of(request).settings.control
    _, _, place = ticket.partition(".")
    ends_s, _, target = place.partition(".")
    if not ends_s.isdecimal() or not control.now() < int(ends_s[:12]):
        return _Attempt("", "", "", "/")

    # The whole ticket goes into each hash: an edited time or target changes all three.
    state, nonce, verifier = (
        base64.urlsafe_b64encode(control.digest(f"issuer-{part}", ticket)).decode().rstrip("=")
        for part in ("state", "nonce", "verifier")
    )
    try:
        path = base64.urlsafe_b64decode(target).decode()
    except ValueError:
        path = "/"
    return _Attempt(state, nonce, verifier, local_path(path))


def _client(request: Request) -> IssuerSignIn:
    oidc = state_of(request).settings.oidc
    if oidc is None or oidc.sign_in is None:
        raise NotFound("no issuer signs people in here", code="unknown_page")
    return oidc.sign_in


def _callback_address(request: Request) -> str:
    """Where the issuer sends people back to: the host they asked for, which the guard knows."""
    scheme = "https" if state_of(request).settings.https else "http"
    return f"{scheme}://{request.headers['host']}{CALLBACK}"


def _cookie_name(request: Request) -> str:
    settings = state_of(request).settings
    return "__Host-tenure-issuer" if settings.https else f"tenure-issuer-{settings.port}"


def _refusal(request: Request, sentence: str) -> Response:
    return _without_ticket(request, form_page(request, "/", sentence))


def _without_ticket(request: Request, response: Response) -> Response:
    is_secure = state_of(request).settings.https
    response.delete_cookie(_cookie_name(request), httponly=True, samesite="lax", secure=is_secure)
    return response
