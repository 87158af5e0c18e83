"""A server over a store, and browsers that are signed in."""

import weakref
from pathlib import Path
from typing import NamedTuple

from starlette.testclient import TestClient

import tenure
from tenure.faces.http.app import build_app
from tenure.faces.http.command import steward_of
from tenure.faces.http.config import ServerSettings
from tenure.faces.http.control import ControlFile
from tenure.faces.http.identity import person_name, principal_json
from tenure.schema.principal import Principal
from tenure.service.settings import Settings

PORT = 8765
BASE = f"http://127.0.0.1:{PORT}"
OWN = {"origin": BASE}


class Site(NamedTuple):
    """A server, its owner's memory, its control file and a browser that is signed in."""

    memory: tenure.Memory
    control: ControlFile
    browser: TestClient
    settings: ServerSettings

    def stranger(self) -> TestClient:
        """Return a browser of its own that nobody signed in."""
        base = str(self.browser.base_url)
        return TestClient(self.browser.app, base_url=base, follow_redirects=False)

    def sign_in_as(self, principal: Principal) -> None:
        """Make the signed-in browser somebody else's."""
        person = person_name(principal.tenant, principal.user)
        token = self.control.open_session(person, principal_json(principal))
        self.browser.cookies.clear()
        self.browser.cookies.set(f"tenure-{PORT}", token)

    def form_token(self) -> str:
        """Return what a form of the signed-in browser carries."""
        return self.control.form_token(self.browser.cookies[f"tenure-{PORT}"])

    def post(self, path: str, **fields: object):
        """Send a form as a page of ours would."""
        data = {"form_token": self.form_token(), **fields}
        return self.browser.post(path, data=data, headers=OWN)


def sign_in(browser: TestClient, control: ControlFile, tenant: str = "demo"):
    code = control.new_code(tenant)
    origin = str(browser.base_url).rstrip("/")
    return browser.post("/sign-in", data={"code": code}, headers={"origin": origin})


def site_over(memory: tenure.Memory, folder: Path, **more: object) -> Site:
    control = ControlFile(folder / "control.db")
    steward = steward_of(Settings(tenant="demo"), is_demo=True)
    settings = ServerSettings(memory=memory, control=control, steward=steward, port=PORT, **more)
    base = BASE.replace("http:", "https:") if settings.https else BASE
    browser = TestClient(build_app(settings), base_url=base, follow_redirects=False)
    assert sign_in(browser, control).status_code == 303
    # Many tests make a site of their own: its file is closed once nobody browses it any more.
    weakref.finalize(browser, control.close)
    return Site(memory, control, browser, settings)
