"""A search of some scopes takes the cheaper of two ways, and both find the same."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.schema.principal import Scope, Sight
from tenure.store.port.store import Point, Reader
from tenure.store.search import term_weights
from tenure.store.sqlite import text_search
from tenure.store.sqlite.store import SqliteStore
from tenure.tests.store.builders import TENANT, Say, commit

NOW = Point(5, 1_000)
WORDS = ("red", "fox", "hen", "owl", "den")
SCOPES = (Scope(), Scope(user="ann"), Scope(user="bob"), Scope(user="eve"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db")
    opened.ensure(TENANT)
    chance = random.Random(4)
    for tx in range(1, 60):
        text = " ".join(chance.choices(WORDS, weights=(9, 6, 4, 2, 1), k=3))
        scope = chance.choice(SCOPES)
        commit(opened, [Say(object_id=f"t{tx}", slot=None, text=text, scope=scope)], tx=tx)
    yield opened
    opened.close()


def answers(reader: Reader) -> list[tuple[object, ...]]:
    """What each caller finds of each question, in order."""
    shown: list[tuple[object, ...]] = []
    for user in ("ann", "bob", "nobody"):
        sight = Sight(scopes=("tenant", f"user={user}"), tags=("*",), clearance=3)
        for count in range(1, len(WORDS) + 1):
            words = WORDS[-count:]
            page = reader.matching(words, sight=sight, point=NOW, limit=7)
            columns = reader.text_pool(words, sight=sight, point=NOW, limit=7, unless=0)
            assert columns is not None
            vids = [version.row.vid for version in page.versions]
            shown.append((vids, page.cut, columns.terms, columns.vids, columns.masks))
    return shown


@pytest.mark.parametrize("few", [0, 3, 1_000])
def test_few_texts_are_looked_up_and_many_are_found_by_their_scope(
    store: SqliteStore, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_weights, "_FLOOR", 8)
    with store.reading(TENANT) as reader:
        by_scope = answers(reader)
    store.close()

    monkeypatch.setattr(text_search, "_LARGE_SCOPES", 1)
    monkeypatch.setattr(text_search, "_LOOKUPS", few)
    again = SqliteStore(store.path_of(TENANT))
    with again.reading(TENANT) as reader:
        assert answers(reader) == by_scope
    again.close()
