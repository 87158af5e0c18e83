"""Signing in to the pages at an issuer: there, back, and all that must not open a session."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from tenure.faces.http.sign_in import ATTEMPT_SECONDS
from tenure.service.settings import IssuerSignIn, OidcIssuer
from tenure.tests.faces.http.issuer import CLIENT, SECRET, Issuer, running_issuer
from tenure.tests.faces.http.site import BASE, PORT, Site, site_over

CALLBACK = f"{BASE}/sign-in/issuer/callback"
PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as issuer:
        issuer.callbacks.add(CALLBACK)
        yield issuer


@pytest.fixture(autouse=True)
def usual_claims(issuer: Issuer) -> Iterator[None]:
    issuer.claims = {"groups": ["memory-stewards"]}
    yield
    issuer.codes.clear()


def oidc(issuer: Issuer, folder: Path, **changes: Any) -> OidcIssuer:
    secret = folder / "client-secret"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    addresses = {
        "authorization_url": f"{issuer.url}/authorize",
        "token_url": f"{issuer.url}/token",
        "client_secret_file": str(secret),
    }
    return OidcIssuer(
        issuer=issuer.url,
        audience="tenure",
        jwks_url=f"{issuer.url}/keys",
        tenant="demo",
        roles_claim="groups",
        roles={"memory-stewards": "steward"},
        sign_in=IssuerSignIn(client_id=CLIENT, **(addresses | changes)),
    )


@pytest.fixture
def own_site(site: Site, issuer: Issuer, tmp_path: Path) -> Site:
    return site_over(site.memory, tmp_path, oidc=oidc(issuer, tmp_path))


def leave(browser: TestClient, target: str = "/") -> str:
    """Go to the issuer, and return the address that it sends back to."""
    answer = browser.get("/sign-in/issuer", params={"next": target})
    assert answer.status_code == 303
    back = httpx2.get(answer.headers["location"], follow_redirects=False)
    assert back.status_code == 302
    return str(back.headers["location"])


def is_signed_in(browser: TestClient) -> bool:
    return browser.get("/documents", headers=PAGE).status_code == 200


def test_a_person_of_the_issuer_signs_in_and_comes_back(own_site: Site, issuer: Issuer) -> None:
    browser = own_site.stranger()
    form = browser.get("/sign-in?next=/reviews")
    assert 'href="/sign-in/issuer?next=%2Freviews"' in form.text
    assert not is_signed_in(browser)

    answer = browser.get(leave(browser, "/reviews"), headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 200
    assert 'content="0; url=/reviews"' in answer.text
    cookies = answer.headers.get_list("set-cookie")
    assert any(f"tenure-{PORT}=" in c and "SameSite=strict" in c for c in cookies)
    assert is_signed_in(browser)
    session = own_site.control.session(browser.cookies[f"tenure-{PORT}"])
    assert session is not None
    assert session[0] == '["demo", "ann"]'
    assert browser.get("/reviews", headers=PAGE).status_code == 200


def test_the_cookie_of_the_way_is_lax_short_and_gone_afterwards(own_site: Site) -> None:
    browser = own_site.stranger()
    answer = browser.get("/sign-in/issuer")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"tenure-issuer-{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert f"Max-Age={ATTEMPT_SECONDS}" in cookie

    # Nothing that the issuer is told can be read out of the cookie.
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    ticket = browser.cookies[f"tenure-issuer-{PORT}"]
    assert all(query[name][0] not in ticket for name in ("state", "nonce", "code_challenge"))
    browser.get(leave(browser))
    assert f"tenure-issuer-{PORT}" not in browser.cookies


def test_two_ways_share_neither_state_nor_nonce_nor_verifier(own_site: Site) -> None:
    browser = own_site.stranger()
    places = [browser.get("/sign-in/issuer").headers["location"] for _ in range(2)]
    first, second = (parse_qs(urlsplit(place).query) for place in places)
    assert all(first[n] != second[n] for n in ("state", "nonce", "code_challenge"))


def test_a_way_that_another_browser_began_opens_nothing(own_site: Site, issuer: Issuer) -> None:
    stranger, victim = own_site.stranger(), own_site.stranger()
    address = leave(stranger)
    before = issuer.exchanges
    assert victim.get(address).status_code == 403
    assert not is_signed_in(victim)

    # Not even where the victim is on a way of its own: the state is another's.
    leave(victim)
    assert victim.get(address).status_code == 403
    assert not is_signed_in(victim)
    assert issuer.exchanges == before


def test_a_code_is_good_once(own_site: Site) -> None:
    browser = own_site.stranger()
    address = leave(browser)
    ticket = browser.cookies[f"tenure-issuer-{PORT}"]
    assert browser.get(address).status_code == 200

    again = own_site.stranger()
    again.cookies.set(f"tenure-issuer-{PORT}", ticket)
    answer = again.get(address)
    assert answer.status_code == 403
    assert "gave no token" in answer.text
    assert not is_signed_in(again)


@pytest.mark.parametrize(
    "change",
    [
        lambda ticket: ticket[:-4] + "AAAA",
        lambda ticket: "." + ticket.partition(".")[2],
        lambda ticket: ticket.partition(".")[0] + ".99999999999." + ticket.rpartition(".")[2],
        lambda _: "",
        lambda _: "a.b.c",
    ],
)
def test_an_edited_cookie_matches_no_state(own_site: Site, change: Any) -> None:
    browser = own_site.stranger()
    address = leave(browser, "/reviews?state=open")
    ticket = browser.cookies[f"tenure-issuer-{PORT}"]
    browser.cookies.clear()
    browser.cookies.set(f"tenure-issuer-{PORT}", change(ticket))
    assert browser.get(address).status_code == 403
    assert not is_signed_in(browser)


def test_a_way_ends_after_ten_minutes(own_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = own_site.stranger()
    address = leave(browser)
    now = own_site.control.now()
    monkeypatch.setattr(own_site.control, "_clock", lambda: now + ATTEMPT_SECONDS + 1)
    assert browser.get(address).status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": ""},
        {"aud": "tenure"},
        {"aud": [CLIENT, "other"], "azp": "other"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"sub": 7},
    ],
)
def test_a_token_that_was_not_made_for_this_opens_nothing(
    own_site: Site, issuer: Issuer, claims: dict[str, Any]
) -> None:
    issuer.claims = claims
    browser = own_site.stranger()
    answer = browser.get(leave(browser))
    assert answer.status_code == 403
    assert "named no person" in answer.text
    assert not is_signed_in(browser)


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_the_way_back_leads_to_our_own_pages_alone(own_site: Site, target: str) -> None:
    browser = own_site.stranger()
    answer = browser.get(leave(browser, target))
    assert 'content="0; url=/"' in answer.text
    assert "evil" not in answer.text


def test_a_host_that_is_not_ours_begins_no_way(own_site: Site) -> None:
    answer = own_site.stranger().get("/sign-in/issuer", headers={"host": "evil.example"})
    assert answer.status_code == 421


def test_code_and_secret_follow_no_redirect(site: Site, issuer: Issuer, tmp_path: Path) -> None:
    settings = oidc(issuer, tmp_path, token_url=f"{issuer.url}/elsewhere")
    own_site = site_over(site.memory, tmp_path, oidc=settings)
    before = issuer.exchanges
    browser = own_site.stranger()
    assert browser.get(leave(browser)).status_code == 403
    assert issuer.exchanges == before


def test_an_issuer_that_does_not_answer_is_told(site: Site, issuer: Issuer, tmp_path: Path) -> None:
    settings = oidc(issuer, tmp_path, client_secret_file=str(tmp_path / "missing"))
    browser = site_over(site.memory, tmp_path, oidc=settings).stranger()
    answer = browser.get(leave(browser))
    assert answer.status_code == 403
    assert "gave no token" in answer.text


def test_without_an_issuer_there_is_no_such_way(site: Site) -> None:
    browser = site.stranger()
    assert browser.get("/sign-in/issuer").status_code == 404
    assert browser.get("/sign-in/issuer/callback?code=a&state=b").status_code == 404
    assert "issuer" not in browser.get("/sign-in").text


def test_behind_https_the_cookie_of_the_way_is_sent_by_https_alone(
    site: Site, issuer: Issuer, tmp_path: Path
) -> None:
    settings = oidc(issuer, tmp_path)
    browser = site_over(site.memory, tmp_path, https=True, oidc=settings).stranger()
    answer = browser.get("/sign-in/issuer")
    assert answer.headers["set-cookie"].startswith("__Host-tenure-issuer=")
    assert "Secure" in answer.headers["set-cookie"]
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert query["redirect_uri"] == [CALLBACK.replace("http:", "https:")]


def test_ways_to_an_issuer_are_private() -> None:
    url = "https://id.example/token"
    assert IssuerSignIn(client_id="a", authorization_url=url, token_url=url)
    with pytest.raises(ValidationError, match="https"):
        IssuerSignIn(client_id="a", authorization_url=url, token_url="http://id.example/token")


def test_many_people_sign_in_at_once(own_site: Site) -> None:
    failures: list[int] = []

    def one_person() -> None:
        browser = own_site.stranger()
        browser.get(leave(browser))
        if not is_signed_in(browser):
            failures.append(1)

    threads = [threading.Thread(target=one_person) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
