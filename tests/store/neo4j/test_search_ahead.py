"""A search that is asked with the rest of a compile answers as one that is asked alone."""

import random
from typing import NamedTuple

import pytest

from tenure.schema.claim import Permissions
from tenure.schema.principal import Sight
from tenure.schema.vocabulary import Classification, Op
from tenure.store.neo4j import versions
from tenure.store.neo4j.reader import Neo4jReader
from tenure.store.port.records import NextReads, TextPool
from tenure.store.port.store import Ask, Page, Point
from tenure.tests.store.apart import ApartStore
from tenure.tests.store.builders import ALL, TENANT, Say, commit

pytestmark = pytest.mark.integration

WORDS = [f"word{number}" for number in range(12)]
NOW = Point(5, 1_000)
SECRET = Permissions(classification=Classification.HIGHLY_RESTRICTED)
LOW = Sight(scopes=ALL.scopes, tags=ALL.tags, clearance=0)


class Answer(NamedTuple):
    """What a compile learns of a search, and the round trips after the first one."""

    pool: TextPool | None
    page: Page
    trips: int


def fill(store: ApartStore, texts: int) -> None:
    """Texts of the first words more often than of the last; every fifth is secret."""
    chance, says = random.Random(5), list[Say]()
    for number in range(texts):
        words = [word for rank, word in enumerate(WORDS, 1) if chance.random() < 1.5 / rank]
        permissions = Permissions() if number % 5 else SECRET
        text = " ".join(["all", *words])
        says.append(Say(object_id=f"t{number}", slot=None, text=text, permissions=permissions))

    commit(store, says, tx=1)


def answer(
    reader: Neo4jReader, terms: list[str], sight: Sight, *, unless: int, point: Point = NOW
) -> Answer:
    """What a compile asks: columns, and the rows of the best of these; or else a page of hits."""
    trips = reader.round_trips
    pool = reader.text_pool(terms, sight=sight, point=point, limit=50, unless=unless)
    if pool is None:
        page = reader.matching(terms, sight=sight, point=point, limit=unless)
    else:
        page = reader.versions(Ask(vids=pool.vids[::2]), sight=sight, point=point)
    return Answer(pool, page, reader.round_trips - trips)


def foretell(
    reader: Neo4jReader, terms: list[str], sight: Sight, *, unless: int, point: Point = NOW
) -> None:
    reads = NextReads(sight=sight, point=point, terms=tuple(sorted(terms)), limit=unless)
    reader.expect(lambda: reads)


@pytest.mark.parametrize("sight", [ALL, LOW], ids=["all", "low"])
@pytest.mark.parametrize(
    ("unless", "trips"), [(60, 0), (25, 0), (6, 1)], ids=["page", "two pages", "more"]
)
def test_records_come_at_once_where_few_match_and_columns_where_more_do(
    store: ApartStore, sight: Sight, unless: int, trips: int
) -> None:
    fill(store, 45)
    for terms in (["all", "word3"], [*WORDS, "all", "nobody"]):
        with store.reading(TENANT) as reader:
            expected = answer(reader, terms, sight, unless=unless)
        with store.reading(TENANT) as reader:
            foretell(reader, terms, sight, unless=unless)
            actual = answer(reader, terms, sight, unless=unless)

        assert (actual.pool, actual.page) == (expected.pool, expected.page)
        assert (actual.pool is None) == (unless == 60)
        assert actual.page.versions
        assert actual.trips == trips


def test_more_hits_than_one_call_can_tell_are_asked_for_apart(
    store: ApartStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, 30)
    terms = ["all", "word2"]
    with store.reading(TENANT) as reader:
        expected = answer(reader, terms, LOW, unless=60), answer(reader, terms, ALL, unless=9)

    monkeypatch.setattr(versions, "PROBE_HITS", 20)
    for (pool, page, _), sight, unless in zip(expected, (LOW, ALL), (60, 9), strict=True):
        with store.reading(TENANT) as reader:
            foretell(reader, terms, sight, unless=unless)
            actual = answer(reader, terms, sight, unless=unless)

        assert (actual.pool, actual.page) == (pool, page)
        assert actual.trips > 0


def test_a_question_of_more_words_than_a_score_can_tell_brings_the_few_that_match(
    store: ApartStore,
) -> None:
    fill(store, 5)
    terms = ["all", *(f"nobody{number}" for number in range(versions.PROBE_CLAUSES))]
    with store.reading(TENANT) as reader:
        expected = answer(reader, terms, ALL, unless=6)
    with store.reading(TENANT) as reader:
        foretell(reader, terms, ALL, unless=6)
        assert answer(reader, terms, ALL, unless=6) == expected._replace(trips=0)
    assert len(expected.page.versions) == 5


def test_few_that_may_be_seen_among_many_hidden_ones_are_looked_for_once(store: ApartStore) -> None:
    says = [Say(object_id=f"t{n}", slot=None, text="all", permissions=SECRET) for n in range(20)]
    commit(store, [*says, Say(object_id="open", slot=None, text="all")], tx=1)
    with store.reading(TENANT) as reader:
        expected = answer(reader, ["all"], LOW, unless=1)
    with store.reading(TENANT) as reader:
        foretell(reader, ["all"], LOW, unless=1)
        assert answer(reader, ["all"], LOW, unless=1) == expected._replace(trips=0)
    assert (len(expected.page.versions), expected.page.withheld) == (1, 20)


def test_nothing_that_matches_is_an_empty_page_that_nobody_asks_for_again(
    store: ApartStore,
) -> None:
    fill(store, 3)
    with store.reading(TENANT) as reader:
        foretell(reader, ["nobody"], ALL, unless=5)
        assert answer(reader, ["nobody"], ALL, unless=5) == Answer(None, Page((), 0), 0)


@pytest.mark.parametrize("unless", [0, 9], ids=["columns", "records"])
def test_a_write_that_comes_between_hides_nothing_of_the_snapshot(
    store: ApartStore, unless: int
) -> None:
    says = [Say(object_id=f"a{n}", slot=f"slot{n}", value="Rome") for n in range(4)]
    commit(store, says, tx=10)
    terms, point = ["rome"], Point(5, 10)
    with store.reading(TENANT) as reader:
        expected = answer(reader, terms, ALL, unless=unless, point=point)
    assert len(expected.page.versions) > 1

    with store.reading(TENANT) as reader:
        # What it corrects leaves the index of live claims, and stood when the reader was opened.
        commit(store, [Say(object_id="b", slot="slot1", value="Oslo", op=Op.CORRECT)], tx=20)
        foretell(reader, terms, ALL, unless=unless, point=point)
        actual = answer(reader, terms, ALL, unless=unless, point=point)
    assert (actual.pool, actual.page) == (expected.pool, expected.page)

    with store.reading(TENANT) as reader:
        foretell(reader, terms, ALL, unless=unless, point=point)
        actual = answer(reader, terms, ALL, unless=unless, point=point)
    assert (actual.pool, actual.page) == (expected.pool, expected.page)
