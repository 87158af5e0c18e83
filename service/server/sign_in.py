"""Signing in: a one-time code from the terminal, a cookie for the browser, and the way out."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.principal import Principal
from .headed_route import HeadedRoute
from .identity import check_form, check_origin, cookie_name, principal_json, session_token
from .pages import page
from .state import ServerState, state_of

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
def sign_in(
    request: Request,
    code: Annotated[str, Form(max_length=100)] = "",
    next: Annotated[str, Form(max_length=4000)] = "/",
) -> Response:
    """Take a code and open a session, or say that it was wrong."""
    check_origin(request)
    state, target = state_of(request), local_path(next)
    settings = state.settings
    # Wrong, used and too old are answered alike: which it was would help who guesses alone.
    if not settings.control.take_code(settings.steward.tenant, code):
        announce_code(state)
        problem = "This code is wrong, used or too old. The terminal shows the one that counts."
        return form_page(request, target, problem)

    response = RedirectResponse(target, status_code=303)
    open_session(request, response, settings.steward)
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


def open_session(request: Request, response: Response, principal: Principal) -> None:
    """Sign a browser in: its next requests are this caller's."""
    settings = state_of(request).settings
    token = settings.control.open_session(principal_json(principal))
    response.set_cookie(
        cookie_name(request), token, httponly=True, samesite="strict", secure=settings.https
    )


def announce_code(state: ServerState) -> None:
    """Print a code where none waits: at the start, and after the last wrong try."""
    tenant = state.settings.steward.tenant
    if not state.settings.control.has_code(tenant):
        state.announce(
            f"Sign-in code (10 minutes, once): {state.settings.control.new_code(tenant)}"
        )


def local_path(target: str) -> str:
    r"""A path of this server; anything else becomes the first page.

    >>> local_path("/entity?name=Sam"), local_path("//evil.example"), local_path("/\\evil")
    ('/entity?name=Sam', '/', '/')
    """
    # Browsers read both `//host` and `/\\host` as the address of another site.
    is_local = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_local and target.isprintable() else "/"
