"""What lies near a question's vector: pages leave room for facts a little farther off."""

from typing import Any

from tenure.compiler.ir.records import Neighbours
from tenure.store.port.vectors import VectorScore
from tenure.tests.compiler.fake_reader import Bench, uid

PAGE = {"object_type": "retrieved_passage", "layer": "corpus", "origin": "doc://a"}


class Index:
    """Pages and facts by name, the nearest first; facts are told apart behind the nearest."""

    def __init__(self, bench: Bench, near: list[str], further: list[str]) -> None:
        self.bench, self.near, self.further = bench, near, further
        self.limits: list[int] = []

    def prefetch(self, query: Any, *, limit: int) -> None:
        return None

    def nearest(self, query: Any, *, limit: int) -> Neighbours:
        return self._of(self.near)

    def facts(self, query: Any, *, limit: int) -> Neighbours:
        self.limits.append(limit)
        return self._of(self.further[:limit])

    def scores(self, query: Any, object_ids: Any) -> list[VectorScore]:
        return []

    def _of(self, names: list[str]) -> Neighbours:
        ids = [uid(name) for name in names]
        rows = [row for row in self.bench.world.rows if row.row.claim.object_id in ids]
        scores = [VectorScore(i, 12_000_000 - place, 0) for place, i in enumerate(ids)]
        return Neighbours(scores, rows)


def world(*, pages: int, words: int, **page: Any) -> tuple[Bench, list[str], list[str]]:
    """So many pages of so many words, three facts near and six farther off."""
    bench = Bench()
    names = [f"page {number}" for number in range(pages)]
    for name in names:
        bench.world.add(name, text=f"{name} " + "word " * words, **{**PAGE, **page})
    facts = [f"fact {number}" for number in range(9)]
    for number, name in enumerate(facts):
        bench.world.add(name, subject=f"s{number}", slot="note", value=f"v{number}")
    return bench, [*names, *facts[:3]], facts[3:]


def candidates(bench: Bench, near: list[str], further: list[str]) -> tuple[set[str], list[int]]:
    bench.index, bench.encoder_id = Index(bench, near, further), "toy"
    envelope = bench.compile(query="owl", query_vector=[1.0], budget_tokens=1_000)
    names = {bench.world.name_of(row.object_id) for row in envelope.manifest.candidates}
    return names & {*near, *further}, bench.index.limits


def test_facts_take_the_place_of_the_farthest_pages_that_find_no_room() -> None:
    bench, near, further = world(pages=8, words=40)
    names, limits = candidates(bench, near, further)
    # A page has about 200 characters, so that four of them are a quarter of the budget.
    assert limits == [4]
    assert names == {*near, *further[:4]} - {f"page {number}" for number in range(4, 8)}


def test_pages_stay_where_there_are_too_few_facts_to_take_their_place() -> None:
    bench, near, further = world(pages=8, words=40)
    names, _ = candidates(bench, near, further[:1])
    assert names == {*near, further[0]} - {"page 7"}
    bench, near, _ = world(pages=8, words=40)
    assert candidates(bench, near, [])[0] == set(near)


def test_pages_that_find_room_and_turns_of_talk_ask_for_no_facts() -> None:
    bench, near, further = world(pages=8, words=5)
    assert candidates(bench, near, further) == (set(near), [])
    bench, near, further = world(pages=8, words=40, layer="user", origin="chat://a")
    assert candidates(bench, near, further) == (set(near), [])


def test_a_page_without_content_fills_no_room() -> None:
    bench, near, further = world(pages=8, words=40, erased=True)
    assert candidates(bench, near, further)[1] == []
