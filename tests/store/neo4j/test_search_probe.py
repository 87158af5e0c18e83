"""The words of a search are weighed in one call or counted one by one: the answer is the same."""

import random
import re

import pytest

from tenure.store.neo4j import versions
from tenure.store.port.store import Page, Point
from tenure.tests.store.apart import ApartStore
from tenure.tests.store.builders import ALL, TENANT, Say, commit

WORDS = [f"word{number}" for number in range(30)]
TEXTS = 60


def fill(store: ApartStore, chance: random.Random) -> None:
    """Texts of few words each: the first words stand in many of them, the last in few."""
    says: list[Say] = []
    for number in range(TEXTS):
        words = [word for rank, word in enumerate(WORDS, 1) if chance.random() < 1.5 / rank]
        says.append(Say(object_id=f"t{number}", slot=None, text=" ".join(["all", *words])))

    commit(store, says, tx=1)


@pytest.mark.integration
def test_words_weigh_the_same_in_one_call_and_counted_one_by_one(
    store: ApartStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    fill(store, chance)
    searches: list[tuple[list[str], int]] = []
    for most in (1, 3, 8, 20, versions.PROBE_CLAUSES, len(WORDS)):
        for limit in (2, 40):
            searches.append((chance.sample(WORDS, most), limit))

    def answers() -> list[Page]:
        pages: list[Page] = []
        for terms, limit in searches:
            with store.reading(TENANT) as reader:
                point = Point(5, 1_000)
                page = reader.matching(terms, sight=ALL, point=point, limit=limit)
                pages.append(page)
        return pages

    in_one_call = answers()
    monkeypatch.setattr(versions, "PROBE_HITS", 0)
    assert answers() == in_one_call
    assert any(page.versions for page in in_one_call)


def test_each_word_of_a_probe_scores_a_bit_of_its_own() -> None:
    terms = [f"word{number}" for number in range(versions.PROBE_CLAUSES)]
    search = versions.search_of(terms, sight=ALL, limit=10, live=True)
    assert search is not None
    (probe,) = search.question("acme")["probes"]
    bits = [2**place for place in range(versions.PROBE_CLAUSES)]
    assert re.findall(r"\^(\d+)", probe) == ["0", *map(str, bits)]  # the tenant's word adds nothing


def test_more_words_than_a_score_can_tell_apart_are_not_probed() -> None:
    terms = [f"word{number}" for number in range(versions.PROBE_CLAUSES + 1)]
    search = versions.search_of(terms, sight=ALL, limit=10, live=True)
    assert search is not None
    assert search.question("acme")["probes"] == []
