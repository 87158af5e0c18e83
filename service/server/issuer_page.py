"""Signing in at an OIDC issuer: authorisation code with PKCE, from and back to this server.

Nothing is stored until the issuer has vouched: a cookie of ten minutes holds a random text, and
state, nonce and verifier are keyed hashes of it. Whoever sees the address that leads to the
issuer, or the cookie alone, can make none of the three; a cookie that was edited matches no state.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ...schema.errors import NotFound, Unavailable
from .headed_route import HeadedRoute
from .pages import page
from .sign_in import form_page, local_path, open_session
from .state import state_of
from .token_request import CodeExchange, id_token

if TYPE_CHECKING:
    from ..settings import IssuerSignIn

router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

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
    principal = None
    if id_tokens is not None:
        principal = id_tokens.person(token, client_id=client.client_id, nonce=attempt.nonce)
    if principal is None:
        return _refusal(request, "The issuer vouches for nobody whom this server knows.")

    # The answer is a page and no redirect: one that began at another site brings no cookie along.
    response = page(request, "same_site.jinja", target=attempt.target)
    open_session(request, response, principal)
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
