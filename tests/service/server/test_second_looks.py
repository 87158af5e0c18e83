"""Second looks at decided cases: which come again, what their pages hide, and what is counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tenure
from tenure.schema.policy import Policy, ResolutionPolicy
from tenure.schema.principal import OWNER, Principal
from tenure.service.backend.caller import backend_of
from tenure.service.stewardship.second_looks import BlindCases
from tenure.tests.service.server.site import Site, site_over
from tenure.tests.service.server.test_pages import read

STEWARD = Principal(tenant="demo", user="adelheid", roles=frozenset({"steward"}))


@pytest.fixture
def asked_twice(tmp_path: Path) -> Iterator[Site]:
    """Two blocking cases, and a policy that draws every decision."""
    policy = Policy(resolution=ResolutionPolicy(audit_share=1.0))
    principal = replace(OWNER, tenant="demo")
    with tenure.connect(":memory:", policy=policy, principal=principal) as memory:
        for name, room in (("Jonathan Smythe", "Oslo"), ("Jonathan Baker", "Bonn")):
            memory.write(tenure.EntityRef(name=name, type="person"), "office", room)
        for name, room in (("Jon Smythe", "Rome"), ("Jon Baker", "Graz")):
            memory.write(tenure.EntityRef(name=name, type="person"), "office", room)
        site = site_over(memory, tmp_path)
        site.sign_in_as(STEWARD)
        yield site


def blind_links(site: Site) -> list[str]:
    return re.findall(r'href="(/reviews/[0-9a-f-]+/again)"', read(site, "/reviews"))


def fields_of(page: str, answer: str) -> dict[str, str]:
    form = page.partition(f'/again/{answer}"')[2].partition("</form>")[0]
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_a_decided_case_comes_again_as_it_stood_and_its_answer_is_compared(
    asked_twice: Site,
) -> None:
    memory, site = asked_twice.memory, asked_twice
    as_ada = memory.bind(STEWARD)
    first, second = as_ada.reviews.list()
    before = read(site, f"/reviews/{first.review_id}")
    assert blind_links(site) == []
    as_ada.reviews.accept(first.review_id)
    memory.write(first.candidates[0].name, "office", "Paris")

    (link,) = blind_links(site)
    page = read(site, link)
    who = re.compile(r'<section aria-labelledby="who">.*?</table>', re.DOTALL)
    text = who.search(before)
    # The same records as before the merge, and none of what the merge or later writes brought.
    assert text is not None and text[0] in page
    for hint in ("Paris", "Decided", "accepted", "adelheid", "What then"):
        assert hint not in page, hint

    answered = site.post(f"{link}/accept", **fields_of(page, "accept"))
    assert answered.status_code == 303 and answered.headers["location"] == "/reviews"
    queue = read(site, "/reviews")
    assert "1 case asked twice, 100% of those by one" in queue
    assert blind_links(site) == []

    # Another steward's answer is counted apart, and changes nothing.
    as_ada.reviews.reject(second.review_id)
    state = memory.reviews.get(second.review_id).review
    site.sign_in_as(replace(STEWARD, user="bob"))
    (link,) = blind_links(site)
    site.post(f"{link}/accept", **fields_of(read(site, link), "accept"))
    assert memory.reviews.get(second.review_id).review == state
    queue = read(site, "/reviews")
    assert "2 cases asked twice, 0% of those by two stewards in agreement, 100%" in queue


def test_a_second_look_is_refused_where_none_is_due(asked_twice: Site) -> None:
    site, memory = asked_twice, asked_twice.memory
    review = memory.reviews.list()[0]
    address = f"/reviews/{review.review_id}/again"
    assert site.browser.get(address).status_code == 404  # nobody has decided it
    memory.reviews.reject(review.review_id)
    page = read(site, address)
    stale = fields_of(page, "reject") | {"version": review.version}
    assert site.post(f"{address}/reject", **stale).status_code == 404
    foreign = site.browser.post(f"{address}/reject", data=fields_of(page, "reject"))
    assert foreign.status_code == 403
    site.sign_in_as(replace(STEWARD, roles=frozenset({"member"})))
    assert site.browser.get(address).status_code == 403
    site.sign_in_as(replace(STEWARD, tenant="other"))
    assert site.browser.get(address).status_code == 404


def test_as_many_are_drawn_as_the_policy_says_and_those_of_others_come_first(
    asked_twice: Site,
) -> None:
    memory = asked_twice.memory
    for user, review in zip(("adelheid", "bob"), memory.reviews.list(), strict=True):
        memory.bind(replace(STEWARD, user=user)).reviews.reject(review.review_id)
    backend = backend_of(memory)
    drawn = BlindCases(backend, STEWARD).sample()
    assert [case.decided_by for case in drawn] == ["bob", "adelheid"]
    backend.policy = Policy(resolution=ResolutionPolicy(audit_share=0.0))
    assert BlindCases(backend, STEWARD).sample() == ()
