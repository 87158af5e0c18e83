"""The pages that ask prompts again: under a decision, and under other circumstances."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.tests.faces.http.site import Site

QUESTION = "What do we know of this person, and how should an answer read?"


def asked(site: Site, entity: str) -> str:
    """An envelope of the steward about an entity."""
    steward = site.memory.bind(site.settings.steward)
    envelope = steward.compile("assistant", QUESTION, entities=[entity])
    site.memory.flush()
    return envelope.envelope_id


def test_the_review_page_leads_to_what_agents_would_have_read(own_site: Site) -> None:
    case = own_site.memory.reviews.list()[0]
    best = max(case.candidates, key=lambda candidate: candidate.score)
    own_site.memory.write(case.entity_id, "response_style", "in rhymes")
    envelope_id = asked(own_site, best.entity)

    page = own_site.browser.get(f"/reviews/{case.review_id}").text
    address = f"/reviews/{case.review_id}/prompts"
    assert f'href="{address}"' in page

    # Every candidate has a key of its own, and a decision without conflicts says so in words.
    assert 'data-key="n"' in page
    assert "Nothing conflicts." in page

    fragment = own_site.browser.get(address)
    assert fragment.status_code == 200
    assert 'id="prompts"' in fragment.text
    assert "1 prompt would change" in fragment.text
    assert "in rhymes" in fragment.text
    assert f"/envelopes/{envelope_id}" in fragment.text


def test_the_page_of_a_case_that_is_not_there_says_so(site: Site) -> None:
    nobody = "00000000-0000-0000-0000-000000000000"
    assert site.browser.get(f"/reviews/{nobody}/prompts").status_code == 404


def test_what_if_shows_both_texts_and_where_a_cache_ends(own_site: Site) -> None:
    path = f"/envelopes/{asked(own_site, 'Sam Rivera')}"
    assert 'action="' + path + "/what-if" in own_site.browser.get(path).text

    same = own_site.browser.get(f"{path}/what-if").text
    assert "The texts are the same" in same
    before = own_site.browser.get(f"{path}/what-if?budget=900&tx=2020-01-01T00:00:00Z").text
    assert "a budget of 900" in before
    assert "a cache keeps the" in before


def test_an_envelope_says_what_it_lacks_with_names(own_site: Site) -> None:
    steward = own_site.memory.bind(own_site.settings.steward)
    memory = own_site.memory
    memory.vocabulary.define_slot("favourite_tea", kind="preference", description="the tea")
    for person in ("Ann Lee", "Bob Ray"):
        memory.write(subject=f"person:{person}", slot="favourite_tea", value="green")
    envelope = steward.bind(replace(steward.principal, user=None)).compile("assistant", QUESTION)
    memory.flush()
    page = own_site.browser.get(f"/envelopes/{envelope.envelope_id}").text
    gap = page.partition("nobody says whose wishes count")[2].partition("</li>")[0]
    assert "Ann Lee" in gap
    assert "Bob Ray" in gap


@pytest.mark.parametrize("query", ["budget=much", "budget=12345678", "valid=soon"])
def test_circumstances_that_are_none_are_refused(own_site: Site, query: str) -> None:
    path = f"/envelopes/{asked(own_site, 'Sam Rivera')}"
    assert own_site.browser.get(f"{path}/what-if?{query}").status_code == 422
