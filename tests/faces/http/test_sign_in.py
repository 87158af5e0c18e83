"""Signing in: codes, cookies, forms of other sites, hosts and sizes."""

import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure.faces.cli.main import app
from tenure.faces.http.config import ServerSettings, require_protection
from tenure.faces.http.control import (
    CODE_SECONDS,
    IDLE_SECONDS,
    SESSION_SECONDS,
    ControlFile,
)
from tenure.faces.http.identity import principal_from_json, principal_json
from tenure.schema.errors import InvalidInput, Unavailable
from tenure.schema.principal import OWNER, Principal
from tenure.tests.faces.http.site import BASE, OWN, PORT, Site, sign_in, site_over


def test_who_is_not_signed_in_is_led_to_the_form_and_back(site: Site) -> None:
    stranger = site.stranger()
    answer = stranger.get("/?q=Sam", headers={"accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2F%3Fq%3DSam")

    form = stranger.get(answer.headers["location"])
    assert 'value="/?q=Sam"' in form.text
    code = site.control.new_code("demo")
    answer = stranger.post("/sign-in", data={"code": code, "next": "/?q=Sam"}, headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=Sam")
    assert stranger.get("/?q=Sam").status_code == 200


def test_a_program_without_a_credential_gets_a_problem(site: Site) -> None:
    answer = site.stranger().get("/")
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "sign_in_needed"


def test_a_cookie_is_for_this_site_alone_and_kept_as_a_hash(site: Site) -> None:
    answer = sign_in(site.stranger(), site.control)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("tenure-8765=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    token = cookie.partition("=")[2].partition(";")[0]
    assert len(token) >= 43
    assert token.encode() not in site.control.path.read_bytes()


def test_behind_https_the_cookie_is_sent_by_https_alone(site: Site, tmp_path: Path) -> None:
    secure_site = site_over(site.memory, tmp_path, https=True)
    cookie = sign_in(secure_site.stranger(), secure_site.control).headers["set-cookie"]
    assert cookie.startswith("__Host-tenure=")
    assert "Secure" in cookie
    assert "Path=/" in cookie


OpenControl = Callable[..., ControlFile]


@pytest.fixture
def open_control(tmp_path: Path) -> Iterator[OpenControl]:
    with ExitStack() as files:

        def control(**options: Any) -> ControlFile:
            return files.enter_context(closing(ControlFile(tmp_path / "control.db", **options)))

        yield control


def test_a_code_is_good_once(open_control: OpenControl) -> None:
    control = open_control()
    code = control.new_code("demo")
    assert control.take_code("other", code) is None
    assert control.take_code("demo", code.lower().replace("-", " ")) == ""
    assert control.take_code("demo", code) is None


def test_a_code_ends_after_ten_minutes_and_by_no_wrong_one(open_control: OpenControl) -> None:
    now_s = 0.0
    control = open_control(clock=lambda: now_s)
    code = control.new_code("demo")
    now_s += CODE_SECONDS
    assert control.take_code("demo", code) is None

    code, other = control.new_code("demo"), control.new_code("demo", "bob")
    for _ in range(20):
        assert control.take_code("demo", "AAAAA-AAAAA") is None
    assert control.take_code("demo", code) == ""
    assert control.take_code("demo", other) == "bob"


def test_a_newer_code_of_the_same_person_ends_the_older(open_control: OpenControl) -> None:
    control = open_control()
    older, other, newer = (control.new_code("demo", person) for person in ("", "bob", ""))
    assert control.take_code("demo", older) is None
    assert (control.take_code("demo", newer), control.take_code("demo", other)) == ("", "bob")


def test_a_session_ends_when_it_is_idle_after_a_day_and_when_it_is_left(
    open_control: OpenControl,
) -> None:
    now_s = 0.0
    control = open_control(clock=lambda: now_s)
    token = control.open_session("bob", "{}")
    for _ in range(2):
        now_s += IDLE_SECONDS - 1
        assert control.session(token) == ("bob", "{}")
    used_daily = control.open_session("ann")
    now_s += IDLE_SECONDS + 1
    assert control.session(token) is None
    assert control.session("") is None
    assert control.session("0") is None

    now_s = 0.0
    used_daily = control.open_session("ann", "{}")
    while now_s < SESSION_SECONDS:
        assert control.session(used_daily) is not None
        now_s += IDLE_SECONDS / 2
    assert control.session(used_daily) is None

    token = control.open_session("bob", "{}")
    control.close_session(token)
    assert control.session(token) is None


def test_roles_of_a_person_change_in_sessions_that_are_open(open_control: OpenControl) -> None:
    control = open_control()
    token = control.open_session("bob", "steward")
    control.new_code("demo", "bob", "viewer")
    assert control.session(token) == ("bob", "viewer")


def test_people_without_a_session_or_code_are_forgotten(open_control: OpenControl) -> None:
    now_s = 0.0
    control = open_control(clock=lambda: now_s)
    control.open_session("bob", "{}")
    control.new_code("demo", "eve", "{}")
    now_s += IDLE_SECONDS + 1
    control.open_session("ann", "{}")
    control.new_code("demo")
    assert control.rows("SELECT person FROM people") == [("ann",)]


def test_wrong_codes_wait_longer_each_time_and_end_no_right_one(own_site: Site) -> None:
    browser = own_site.stranger()
    code = own_site.control.new_code("demo")
    times_s = []
    for _ in range(6):
        start_s = time.monotonic()
        answer = browser.post("/sign-in", data={"code": "wrong"}, headers=OWN)
        times_s.append(time.monotonic() - start_s)
        assert answer.status_code == 403
    assert times_s[5] > 1.5
    assert times_s[5] > 2 * times_s[3]

    start_s = time.monotonic()
    assert browser.post("/sign-in", data={"code": code}, headers=OWN).status_code == 303
    assert time.monotonic() - start_s < times_s[5]


def test_after_a_wrong_code_the_terminal_shows_one_where_none_waits(own_site: Site) -> None:
    lines: list[str] = []
    browser = own_site.stranger()
    served_app: Any = browser.app
    served_app.state.tenure.announce = lines.append
    for _ in range(2):
        browser.post("/sign-in", data={"code": "wrong"}, headers=OWN)
    assert len(lines) == 1
    code = lines[0].rpartition(" ")[2]
    assert browser.post("/sign-in", data={"code": code}, headers=OWN).status_code == 303


def test_a_code_of_a_user_signs_in_that_user(own_site: Site) -> None:
    def new_code(role: str) -> str:
        flags = ["--tenant", "demo", "--user", "bob", "--role", role]
        environment = {"TENURE_SERVER__CONTROL": str(own_site.control.path)}
        result = CliRunner().invoke(app, [*flags, "serve", "code"], env=environment)
        assert f"signs in bob ({role})" in result.stderr
        return result.stdout.strip()

    browser = own_site.stranger()
    data = {"code": new_code("steward")}
    assert browser.post("/sign-in", data=data, headers=OWN).status_code == 303
    assert "bob in demo" in browser.get("/", headers={"accept": "text/html"}).text

    def decide(decision: str) -> Any:
        token = own_site.control.form_token(browser.cookies[f"tenure-{PORT}"])
        data = {"version": "1" if decision == "unsure" else "2", "form_token": token}
        return browser.post(f"/reviews/{review_id}/{decision}", data=data, headers=OWN)

    review_id = own_site.memory.reviews.list()[0].review_id
    assert decide("unsure").status_code == 303
    assert own_site.memory.log(limit=1)[0].actor == "bob"

    # Other roles count in the session that is open.
    new_code("viewer")
    answer = decide("reject")
    assert (answer.status_code, answer.json()["code"]) == (403, "privilege_required")


def test_roles_without_a_user_get_no_code() -> None:
    result = CliRunner().invoke(app, ["--role", "auditor", "serve", "code"])
    assert result.exit_code == 1
    assert "--user" in result.stderr


def test_signing_out_ends_the_session(own_site: Site) -> None:
    assert own_site.post("/sign-out").status_code == 303
    assert own_site.browser.get("/").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_of_another_site_is_refused(site: Site, headers: dict[str, str]) -> None:
    data = {"form_token": site.form_token()}
    answer = site.browser.post("/sign-out", data=data, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site_form")
    assert site.browser.get("/").status_code == 200


@pytest.mark.parametrize("token", ["", "00", "é"])
def test_a_form_without_the_session_s_token_is_refused(site: Site, token: str) -> None:
    answer = site.browser.post("/sign-out", data={"form_token": token}, headers=OWN)
    assert answer.json()["code"] == "cross_site_form"


def test_a_form_of_the_same_site_without_an_origin_is_taken(own_site: Site) -> None:
    answer = own_site.browser.post(
        "/sign-out",
        data={"form_token": own_site.form_token()},
        headers={"sec-fetch-site": "same-origin"},
    )
    assert answer.status_code == 303


def test_a_link_from_another_site_is_opened_again_from_here(site: Site) -> None:
    answer = site.stranger().get(
        "/sign-in?next=/%3Fq%3DSam", headers={"sec-fetch-site": "cross-site"}
    )
    assert '<meta http-equiv="refresh" content="0; url=/?q=Sam">' in answer.text


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil", "x"])
def test_signing_in_leads_nowhere_else(site: Site, target: str) -> None:
    data = {"code": site.control.new_code("demo"), "next": target}
    answer = site.stranger().post("/sign-in", data=data, headers=OWN)
    assert answer.headers["location"] == "/"


def test_a_bearer_token_nobody_knows_is_not_helped_by_a_cookie(site: Site) -> None:
    answer = site.browser.get("/", headers={"authorization": "Bearer tnr_x_y"})
    assert answer.status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8765", "", "[::2]"])
def test_a_foreign_host_is_told_the_setting(site: Site, host: str) -> None:
    answer = site.browser.get("/healthz", headers={"host": host})
    assert answer.status_code == 421
    assert "server.hosts" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_loopback_is_served(site: Site, host: str) -> None:
    assert site.browser.get("/healthz", headers={"host": host}).json() == {"status": "ok"}


def test_every_answer_carries_the_policy(site: Site) -> None:
    for path in ("/", "/sign-in", "/healthz", "/static/tenure.css", "/nowhere"):
        headers = site.browser.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_too_large_a_body_is_refused_while_it_comes(site: Site) -> None:
    def chunks():
        for _ in range(9):
            yield b"code=" + b"x" * 1_000_000

    headers = OWN | {"content-type": "application/x-www-form-urlencoded"}
    answer = site.browser.post("/sign-in", content=chunks(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_readiness_asks_the_store(site: Site) -> None:
    answer = site.browser.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_a_closed_store_is_not_ready(demo_file: Path, own_site: Site) -> None:
    own_site.memory.close()
    answer = own_site.browser.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "store_unreachable"})


def test_an_unknown_page_is_told_to_people_as_a_page(site: Site) -> None:
    assert site.browser.get("/nowhere").json()["code"] == "unknown_page"
    answer = site.browser.get("/nowhere", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "<h1>Not there</h1>" in answer.text


def test_an_unknown_call_names_its_neighbours(site: Site) -> None:
    detail = site.browser.post("/v1/writes").json()["detail"]
    assert "did you mean /v1/write" in detail
    assert site.browser.get("/v1/zzz").json()["detail"] == (
        "no call has this address; GET /v1/openapi.json has all of them"
    )
    renamed = site.browser.post("/v1/view/plane").json()["detail"]
    assert renamed == "no call has this address; use /v1/view/timeline/grid"


def test_what_a_route_cannot_take_is_told_without_repeating_it(site: Site) -> None:
    answer = site.browser.get("/", params={"q": "canary" * 100})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/query/q"
    assert "canary" not in answer.text


def test_the_control_file_is_its_owner_s(tmp_path: Path) -> None:
    path = tmp_path / "control.db"
    path.write_bytes(b"")
    path.chmod(0o644)
    ControlFile(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with closing(ControlFile(path)) as control:
        assert repr(control) == f"ControlFile({str(path)!r})"


def test_a_control_file_that_cannot_be_opened_says_so_and_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*args: Any, **options: Any) -> sqlite3.Connection:
        connections.append(connect(*args, **options))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", recorded)
    (tmp_path / "control.db").write_text("this is no database, nor was it ever one")
    with pytest.raises(Unavailable, match="--control"):
        ControlFile(tmp_path / "control.db")

    (connection,) = connections
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_a_principal_comes_back_as_it_went() -> None:
    for principal in (OWNER, Principal(tenant="a", user="ann", roles={"steward"}, projects={"x"})):
        assert principal_from_json(principal_json(principal)) == principal


def test_nobody_of_level_one_signs_in_by_a_browser(site: Site) -> None:
    with pytest.raises(InvalidInput, match="level 0 or 1"):
        ServerSettings(memory=site.memory, control=site.control, steward=OWNER)


def test_beyond_loopback_it_needs_keys_and_https(open_control: OpenControl) -> None:
    control = open_control()
    for host in ("127.0.0.1", "::1", "localhost"):
        require_protection(host, control, https=False, published_on_loopback=False)
    require_protection("0.0.0.0", control, https=False, published_on_loopback=True)
    require_protection("0.0.0.0", control, https=True, published_on_loopback=False, has_issuer=True)
    with pytest.raises(InvalidInput, match="create a key first"):
        require_protection("0.0.0.0", control, https=True, published_on_loopback=False)

    with control.transaction() as connection:
        connection.execute("CREATE TABLE keys (id TEXT)")
        connection.execute("INSERT INTO keys VALUES ('k')")
    require_protection("0.0.0.0", control, https=True, published_on_loopback=False)
    with pytest.raises(InvalidInput, match="https"):
        require_protection("0.0.0.0", control, https=False, published_on_loopback=False)


def test_the_address_of_the_tests_is_the_server_s(site: Site) -> None:
    assert f"http://{site.settings.host}:{site.settings.port}" == BASE
