"""Ranking by columns: of thousands of hits the best are read, as if all had been."""

from tenure.compiler.gathering.text_pool import BestRows, background_of, best_rows
from tenure.compiler.text.relevance import FULL, Background, lexical
from tenure.schema.policy import CompilePolicy
from tenure.store.port.records import TextPool
from tenure.store.search.term_weights import PoolRow, VisibleHits, pool_of
from tenure.tests.compiler.fake_reader import Bench

RULES = CompilePolicy()
TERMS = ["budget", "fifty"]
FEW = {"text_candidates": 3, "talk_candidates": 12}


def ranked(found: TextPool, limit: int, *, room: int = 1_000) -> BestRows:
    return best_rows(found, background_of(found), RULES, limit=limit, room=room)


def best(found: TextPool, limit: int, *, room: int = 1_000) -> list[int]:
    return ranked(found, limit, room=room).vids


def pool(*rows: tuple[int, bool, str], scope_id: str = "tenant") -> TextPool:
    hits: list[PoolRow] = []
    for vid, was_said, words in rows:
        mask = sum(1 << place for place, term in enumerate(TERMS) if term in words)
        hits.append(PoolRow(vid, mask, len(words), scope_id, vid if was_said else 0, is_fact=False))
    return pool_of(VisibleHits(hits, 0, False), TERMS)


def test_the_turn_that_answers_and_those_around_it_come_first() -> None:
    common = [(vid, True, "budget") for vid in range(100, 160, 2)]
    rows = ranked(pool(*common, (500, True, "budget fifty"), scope_id="user=ann"), 9)
    assert rows.vids[0] == 500
    assert {("user=ann", number) for number in (499, 501)} <= set(rows.neighbours)


def test_turns_lift_those_of_their_own_scope_whatever_number_others_have() -> None:
    hits = [
        PoolRow(vid, mask, 9, scope_id, turn, is_fact=False)
        for vid, mask, scope_id, turn in (
            (8, 3, "user=ann", 1),
            (9, 1, "user=ann", 40),
            (4, 1, "b", 2),
        )
    ]
    rows = ranked(pool_of(VisibleHits(hits, 0, False), TERMS), 6)
    assert rows.vids[0] == 8
    assert set(rows.neighbours) <= {("user=ann", number) for number in range(2, 64)}
    assert ("user=ann", 2) in rows.neighbours


def test_a_text_that_is_no_talk_has_its_own_worth_and_lifts_nothing() -> None:
    rows = ranked(pool((7, False, "budget fifty"), (40, True, "budget")), 60)
    assert rows.vids == [7, 40]
    assert {("tenant", 39), ("tenant", 41)} <= set(rows.neighbours)
    assert not {("tenant", 6), ("tenant", 8)} & set(rows.neighbours[:20])
    documents = best(pool((7, False, "fifty"), (8, False, "budget fifty")), 9)
    assert documents == [8, 7]


def test_of_equal_hits_the_newest_is_read() -> None:
    equal = [(vid, False, "budget") for vid in range(1, 9)]
    assert best(pool(*equal), 3) == [8, 7, 6]
    nothing = pool(*((vid, False, "owl") for vid in range(1, 9)))
    assert best(nothing, 2) == [1, 2]


def test_pages_beyond_their_room_stand_behind_the_facts_and_talk_does_not() -> None:
    def kinds(**rows: tuple[int, int, bool]) -> TextPool:
        hits = [PoolRow(int(n[1:]), 1, size, "a", *kind) for n, (size, *kind) in rows.items()]
        return pool_of(VisibleHits(hits, 0, False), TERMS)

    page, fact, turn = (10, 0, False), (30, 0, True), (10, 1, False)
    found = kinds(p1=page, p2=page, f3=fact, p5=page, f6=fact)
    assert best(found, 3, room=30) == [5, 2, 1]
    assert best(found, 3, room=20) == [5, 2, 6]
    assert best(found, 3, room=0) == [6, 3, 5]
    assert best(found, 9, room=0) == [6, 3, 5, 2, 1]
    assert best(kinds(p1=page, p2=page), 2, room=0) == [2, 1]  # no fact is left
    assert best(kinds(t9=turn, f3=fact), 1, room=0) == [9]


def test_a_pool_says_how_many_hold_each_word() -> None:
    three = pool((1, False, "budget budget"), (2, False, "budget fifty"), (3, True, "fifty"))
    assert background_of(three) == Background(3, {"budget": 2, "fifty": 2})


def test_a_word_is_as_common_as_in_all_hits_not_in_those_that_were_chosen_for_it() -> None:
    documents = [("fifty budget",), ("fifty",), ("budget",), ("fifty",)]
    without = lexical(TERMS, documents, k1=1.2, b=0.0)
    assert without[2] > without[1]  # most of the chosen hold "fifty", so it looks common
    among = Background(1_000, {"fifty": 5, "budget": 900})
    assert lexical(TERMS, documents, k1=1.2, b=0.0, background=among)[1] > 10 * FULL // 11
    smaller = Background(2, {"fifty": 1})  # conditions may hold more than the hits did
    everywhere = lexical(TERMS, documents, k1=1.2, b=0.0, background=smaller)
    assert everywhere[0] == FULL
    assert set(everywhere[1:]) <= {FULL // 2, FULL // 2 + 1}

    # A word that no hit holds stands in conditions alone: those that were chosen say how often.
    unknown = Background(1_000, {"fifty": 5})
    weak = lexical(TERMS, documents, k1=1.2, b=0.0, background=unknown)
    assert 0 < weak[2] < weak[1]


def bench_of_years() -> Bench:
    bench = Bench()
    for number in range(300):
        text = "The budget is fixed" if number == 200 else f"the plan {number}"
        if number == 201:
            text = "fifty thousand"
        turn = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}
        bench.world.add(f"turn {number}", text=text, **turn)
    return bench


def test_of_more_hits_than_are_read_the_best_and_what_stands_beside_them_enter() -> None:
    bench = bench_of_years()
    bench.rules(**FEW)
    envelope = bench.compile(query="budget plan", budget_tokens=2_000)
    sections = bench.compiled(envelope)
    assert {"turn 200", "turn 201", "turn 199"} <= set(sections)
    assert len(envelope.manifest.candidates) <= 15
    assert envelope.manifest.cut


def test_turns_of_another_talk_do_not_come_along() -> None:
    bench = Bench()
    text = {"object_type": "retrieved_passage"}
    for number in range(20):
        bench.world.add(f"page {number}", text="the plan", layer="corpus", origin="doc://a", **text)
    for name, words, origin in (("before", "um", "a"), ("turn", "budget plan", "b")):
        bench.world.add(name, text=words, layer="user", origin=f"chat://{origin}", **text)
    bench.rules(**FEW)
    sections = bench.compiled(bench.compile(query="budget plan", budget_tokens=2_000))
    assert "turn" in sections
    assert "before" not in sections


def test_a_larger_budget_reads_on_in_the_same_ranking() -> None:
    read: list[set[str]] = []
    for budget in (1_000, 2_000, 4_000):
        bench = Bench().rules(text_candidates=3, talk_candidates=60)
        for number in range(90):
            page = {"object_type": "retrieved_passage", "layer": "corpus", "origin": "doc://a"}
            bench.world.add(f"page {number}", text=f"the plan {'b ' * number}", **page)
        envelope = bench.compile(query="plan", budget_tokens=budget)
        read.append({row.object_id for row in envelope.manifest.candidates if row.vid})
    assert read[0] < read[1] < read[2]
    assert len(read[2]) == 63


def test_facts_that_rank_below_many_pages_are_read_too() -> None:
    def shown(pages: int, words: int) -> set[str]:
        bench = Bench().rules(text_candidates=10, talk_candidates=0)
        for number in range(pages):
            page = {"object_type": "retrieved_passage", "layer": "corpus", "origin": "doc://a"}
            bench.world.add(f"page {number}", text="budget plan " + "word " * words, **page)
        for number in range(9):
            claim = "plan of a far and quiet year in which nobody spent a coin"
            fact = {"subject": f"s{number}", "slot": "note", "value": "plan", "claim": claim}
            bench.world.add(f"fact {number}", **fact)
        sections = bench.compiled(bench.compile(query="budget plan", budget_tokens=1_000))
        return {name for name in sections if name.startswith("fact")}

    assert len(shown(pages=40, words=60)) == 7  # three pages fill a quarter of the budget
    assert shown(pages=40, words=4) == set()


def test_few_candidates_score_as_they_do_among_all() -> None:
    wide, narrow = bench_of_years(), bench_of_years()
    narrow.rules(**FEW)
    scores = []
    for bench in (wide, narrow):
        envelope = bench.compile(query="budget plan", budget_tokens=2_000)
        scores.append({o.object_id: o.score for o in envelope.trace.compiled_objects})
    of_all, of_few = scores
    best = max(of_all, key=of_all.__getitem__)
    assert of_few[best] == of_all[best]


def test_few_turns_bring_those_around_them_and_many_only_what_is_near_the_best() -> None:
    two = pool((100, True, "budget fifty"), (300, True, "budget"))
    near = {place for hit in (100, 300) for place in range(hit - 25, hit + 26)}
    rows = ranked(two, 200)
    assert rows.vids == [100, 300]
    assert {number for _, number in rows.neighbours} <= near - {100, 300}
    first = [number for _, number in rows.neighbours]
    assert set(first[:2]) == {99, 101}
    assert first.index(299) < first.index(298)

    many = [(vid, True, "budget") for vid in range(1_000, 9_000, 200)]
    rows = ranked(pool((100, True, "budget fifty"), *many), 12)
    assert rows.vids[0] == 100
    assert {number for _, number in rows.neighbours[:2]} <= {99, 101}
