"""Pages need the permits that `/v1` needs, take no keys, and count in the same limit of calls."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import tenure
from tenure.faces.http import heavy_calls
from tenure.faces.http.heavy_calls import HEAVY
from tenure.faces.http.identity import HEAVY_PAGE, OF_ISSUER
from tenure.faces.http.keys import KeyRing
from tenure.schema.principal import OWNER
from tenure.service.calls.table import BY_NAME, Permit
from tenure.service.settings import IssuerSignIn, OidcIssuer
from tenure.tests.faces.http.served import ALL_PERMITS
from tenure.tests.faces.http.site import OWN, PORT, Site, site_over

OPEN = ("/sign-in", "/sign-out", "/healthz", "/readyz")
"""Beginnings of paths that need no session, or end it."""

CALLS_OF_PAGES = {
    ("GET", "/"): ("view.search", "entities.list", "reviews.list", "actions.list"),
    ("GET", "/find"): ("view.entity",),
    ("GET", "/claims/{object_id}"): ("explain",),
    ("GET", "/health"): ("doctor", "reviews.progress", "log"),
    ("GET", "/entities/{entity_id}"): ("entities.get", "log"),
    ("GET", "/entities/{entity_id}/plane/{slot}"): ("view.plane",),
    ("POST", "/merges/{merge_id}/undo"): ("entities.unmerge",),
    ("GET", "/reviews"): ("reviews.list", "reviews.progress"),
    ("GET", "/decided"): ("reviews.list",),
    ("GET", "/reviews/{review_id}"): ("reviews.get", "reviews.matching"),
    # Where somebody decided before, the page shows the case.
    ("POST", "/reviews/{review_id}/{decision}"): ("reviews.accept", "reviews.get"),
    ("POST", "/reviews/{review_id}/alike/{decision}"): ("reviews.decide_all",),
    ("GET", "/envelopes"): ("envelopes.list",),
    ("GET", "/envelopes/{envelope_id}"): ("replay", "envelopes.list"),
    ("GET", "/envelopes/{envelope_id}/what-if"): ("what_if",),
    ("GET", "/compare"): ("replay",),
    ("GET", "/documents"): ("documents.list",),
    ("GET", "/documents/{document_id}"): ("documents.get", "documents.versions"),
    ("GET", "/actions"): ("actions.list",),
    ("GET", "/quarantine"): ("actions.list",),
    ("POST", "/actions/{action_id}"): ("actions.resolve",),
    ("POST", "/actions/{action_id}/undo"): ("actions.undo",),
    ("GET", "/people/{entity_id}"): ("entities.get", "history"),
    ("GET", "/people/{entity_id}/export"): ("entities.get", "history"),
    ("POST", "/people/{entity_id}/erase"): ("entities.get", "erase"),
}
"""The calls of the table that each page makes."""

FIELDS = {
    **{
        name: str(uuid.uuid4())
        for name in ("object_id", "entity_id", "review_id", "action_id", "document_id")
    },
    "merge_id": "m",
    "slot": "office",
    "decision": "accept",
    "answer": "accept",
    "envelope_id": "0" * 64,
}
QUERY = {"name": "Sam", "a": "0" * 64, "b": "1" * 64}
FORM = {"entity_id": str(uuid.uuid4()), "version": "1", "reason": "asked for", "confirm": "Sam"}

ISSUER = OidcIssuer(
    issuer="https://id.demo",
    audience="tenure",
    jwks_url="https://id.demo/keys",
    tenant="demo",
    roles_claim="groups",
    roles={"all": "owner"},
    sign_in=IssuerSignIn(
        client_id="pages", authorization_url="https://id.demo/a", token_url="https://id.demo/t"
    ),
)


@pytest.fixture(scope="module")
def site(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    store = folder / "store.db"
    store.write_bytes(demo_file.read_bytes())
    principal = tenure.Principal(tenant="demo", roles=OWNER.roles, authority_level=0)
    with tenure.connect(str(store), principal=principal) as memory:
        yield site_over(memory, folder, oidc=ISSUER)


def signed_in(site: Site, *permits: str) -> TestClient:
    """Return a browser of somebody whom the issuer signed in with just these scopes."""
    claims = {"sub": "ann", "groups": ["all"], "scope": " ".join(permits)}
    token = site.control.open_session("ann", OF_ISSUER + json.dumps(claims))
    browser = site.stranger()
    browser.cookies.set(f"tenure-{PORT}", token)
    return browser


def ask(site: Site, browser: TestClient, page: tuple[str, str], **headers: str) -> Any:
    method, pattern = page
    token = browser.cookies.get(f"tenure-{PORT}", "")
    form = FORM | {"form_token": site.control.form_token(token)} if method == "POST" else None
    return browser.request(
        method, pattern.format(**FIELDS), params=QUERY, data=form, headers=OWN | headers
    )


def test_every_page_says_which_calls_it_makes(site: Site) -> None:
    app: Any = site.browser.app
    pages: set[tuple[str, str]] = set()
    for router in app.routes:
        for route in getattr(getattr(router, "original_router", None), "routes", ()):
            if not route.path.startswith(OPEN):
                pages |= {(method, route.path) for method in route.methods - {"HEAD"}}
    assert pages == set(CALLS_OF_PAGES)


@pytest.mark.parametrize("page", CALLS_OF_PAGES, ids=" ".join)
def test_a_page_needs_the_permit_of_each_call_that_it_makes(
    site: Site, page: tuple[str, str]
) -> None:
    needed = {BY_NAME[name].permit.value for name in CALLS_OF_PAGES[page]}
    for permit in needed:
        others = sorted(set(ALL_PERMITS) - {permit, Permit.ADMIN.value})
        answer = ask(site, signed_in(site, *others), page)
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_required"), permit

    answer = ask(site, signed_in(site, *needed), page)
    assert "permission_required" not in answer.text
    assert answer.status_code != 401


@pytest.mark.parametrize("page", CALLS_OF_PAGES, ids=" ".join)
def test_a_key_opens_no_page_whatever_cookie_it_brings(site: Site, page: tuple[str, str]) -> None:
    key = KeyRing(site.control).create(tenure.Principal(tenant="demo"), ALL_PERMITS)
    for token in ("made-up", site.browser.cookies[f"tenure-{PORT}"]):
        browser = site.stranger()
        browser.cookies.set(f"tenure-{PORT}", token)
        for accept in ("*/*", "text/html"):
            answer = ask(site, browser, page, authorization=f"Bearer {key}", accept=accept)
            assert answer.status_code == 401
            assert "form_token" not in answer.text


def test_a_session_that_never_was_has_no_form_token(site: Site) -> None:
    browser = site.stranger()
    browser.cookies.set(f"tenure-{PORT}", "made-up")
    assert "form_token" not in browser.get("/sign-in").text
    assert "form_token" not in browser.get("/nowhere", headers={"accept": "text/html"}).text
    for page in (("POST", "/sign-out"), ("POST", "/people/{entity_id}/erase")):
        assert ask(site, browser, page).status_code == 401


def test_pages_count_in_the_limit_of_calls(demo_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(demo_file.read_bytes())
    principal = tenure.Principal(tenant="demo", roles=OWNER.roles, authority_level=0)
    with tenure.connect(str(store), principal=principal) as memory:
        site = site_over(memory, tmp_path, calls_per_minute=3)
        steward = site.settings.steward
        key = KeyRing(site.control).create(steward, ALL_PERMITS)
        assert [site.browser.get(path).status_code for path in ("/", "/actions")] == [200, 200]
        headers = {"authorization": f"Bearer {key}"}
        assert site.stranger().get("/v1/log", headers=headers).status_code == 200

        answer = site.browser.get("/reviews", headers={"accept": "text/html"})
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert site.post("/actions/" + FIELDS["action_id"], accept="no").status_code == 429


def test_a_page_that_makes_a_heavy_call_takes_a_place_among_them(site: Site) -> None:
    app: Any = site.browser.app
    light: set[tuple[str, str]] = set()
    for router in app.routes:
        for route in getattr(getattr(router, "original_router", None), "routes", ()):
            if not any(place in route.dependencies for place in HEAVY_PAGE):
                light |= {(method, route.path) for method in route.methods}
    assert {page for page in CALLS_OF_PAGES if HEAVY & set(CALLS_OF_PAGES[page])} & light == set()
    assert ("GET", "/find") in light


def test_a_page_waits_for_a_place_and_then_says_when_to_come_back(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_calls, "MOST_IN_ALL", 0)
    monkeypatch.setattr(heavy_calls, "WAIT_S", 0.05)
    browser = signed_in(site, *ALL_PERMITS)
    answer = browser.get("/health")
    assert (answer.status_code, answer.json()["code"]) == (503, "too_busy")
    assert answer.headers["retry-after"] == "0.05"
    assert browser.get("/actions").status_code == 200
    assert site.stranger().get("/health").status_code == 401
