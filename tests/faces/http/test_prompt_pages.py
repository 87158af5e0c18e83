"""The pages that ask prompts again: under a decision, and under other circumstances."""

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
