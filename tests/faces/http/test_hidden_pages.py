"""What a steward's pages show stays as it was, whatever others do that the steward may not see."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tenure
from tenure.tests.faces.http.site import Site, site_over

SECRET = {"security_classification": "highly_restricted"}
FIRMS = ("Order Service AG", "Alder Works AG", "Order Service GmbH", "Alder Works GmbH")
STEWARD = tenure.Principal(tenant="demo", user="stu", roles=frozenset({"steward"}))
DRAWN = re.compile(r'name="(form_token|shown_ms)" value="[^"]*"|, trace [0-9a-f]{32}')


class Tenant:
    """A tenant with two cases that all may see, and somebody who may see more."""

    def __init__(self, folder: Path) -> None:
        self.owner = tenure.connect(
            ":memory:",
            principal=tenure.Principal(
                tenant="demo",
                roles=frozenset({"owner"}),
                authority_level=0,
                clearance="highly_restricted",
            ),
            clock=lambda: 1_767_225_600_000_000,
        )
        self.site: Site = site_over(self.owner, folder)
        self.ann = self.owner.bind(tenure.Principal(tenant="demo", user="ann"))
        self.hal = self.owner.bind(
            tenure.Principal(
                tenant="demo",
                user="hal",
                roles=frozenset({"steward"}),
                clearance="highly_restricted",
            )
        )
        organizations = ("organization",)
        self.owner.vocabulary.define_slot("seat", subject_types=organizations, description="where")
        for firm in FIRMS:
            self.ann.write({"name": firm, "type": "organization"}, "seat", "Rome")
        self.site.sign_in_as(STEWARD)

    def ask(self, asker: tenure.Memory, firm: str, *words: str) -> None:
        """Compile prompts about a firm, and wait until they are kept."""
        for word in words:
            asker.compile("assistant", f"The {word} of {firm}?", entities=[firm])
        self.owner.flush()

    def page(self, path: str) -> str:
        answer = self.site.browser.get(path, headers={"accept": "text/html"})
        assert answer.status_code < 500, path
        return DRAWN.sub("", answer.text)

    def pages(self) -> dict[str, str]:
        """Every page that links lead to from the first one."""
        waiting = [
            "/",
            "/?q=office",
            "/actions",
            "/quarantine",
            "/health",
            "/envelopes",
            "/reviews",
            "/documents",
        ]
        pages: dict[str, str] = {}
        while waiting:
            path = waiting.pop(0)
            # A plane shows the last stamp of the tenant, whoever wrote then.
            is_of_tenant = "/plane/" in path
            if path in pages or is_of_tenant or path.startswith(("/static", "#", "data:", "http")):
                continue
            pages[path] = self.page(path)
            waiting += map(html.unescape, re.findall(r'href="([^"]*)"', pages[path]))
        return pages


@pytest.fixture
def tenant(tmp_path: Path) -> Iterator[Tenant]:
    tenant = Tenant(tmp_path)
    yield tenant
    tenant.owner.close()


def test_nothing_that_is_hidden_moves_or_counts_on_a_page(tenant: Tenant) -> None:
    for firm in FIRMS[2:]:
        tenant.ask(tenant.owner.bind(STEWARD), firm, "lease")
    before = tenant.pages()

    # Facts and prompts that would make the last case the most pressing.
    for place in range(3):
        words = f"The plan of the move, part {place}."
        tenant.hal.write(FIRMS[-1], content=words, object_type="retrieved_passage", **SECRET)
        # A name, and from the second place on two values of equal weight.
        tenant.hal.write("Hidden Yard", "status", f"open, gate {place}", **SECRET)
    tenant.ask(tenant.hal, FIRMS[-1], *(f"new {place}" for place in range(3)))

    assert tenant.pages() == before


def test_who_may_open_the_prompts_of_others_is_led_by_them(tenant: Tenant) -> None:
    first, last = (case.review_id for case in tenant.owner.reviews.list())
    tenant.ask(tenant.hal, FIRMS[-1], "rents", "lifts")
    assert [case.review_id for case in tenant.owner.reviews.list()] == [last, first]
