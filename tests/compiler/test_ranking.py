"""The sum of signals, the walk over links, what a question asks, and the order of turns."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.ir.records import Neighbours as Hits
from tenure.compiler.ranking.asked import BY_SYNONYM, slots_of
from tenure.compiler.ranking.signals import WEIGHTS, summed
from tenure.compiler.ranking.talk import SpokenTurn, named_speaker, order_turns
from tenure.compiler.text.relevance import COSINE_FULL, FULL
from tenure.schema.language import Language
from tenure.schema.slots import Slot, Vocabulary
from tenure.schema.vocabulary import Sensitivity
from tenure.service.extraction.shipped_language import shipped_language
from tenure.store.port.vectors import VectorScore
from tenure.tests.compiler.fake_reader import Bench, uid
from tenure.tests.compiler.neighbour_worlds import ask, filled_store, worlds

SHARES = st.lists(st.tuples(st.sampled_from(sorted(WEIGHTS)), st.integers(0, FULL)), max_size=6)


@given(SHARES, st.sampled_from(sorted(WEIGHTS)), st.integers(0, FULL))
def test_the_sum_rises_with_every_signal_and_never_passes_one(
    shares: list[tuple[str, int]], name: str, value: int
) -> None:
    before = summed(shares)
    assert before <= summed([*shares, (name, value)]) <= FULL


@given(st.integers(0, FULL), st.integers(0, FULL), st.integers(0, FULL))
def test_equal_further_signals_keep_the_order_of_the_texts(one: int, two: int, near: int) -> None:
    low, high = sorted((one, two))
    assert summed([("text", low), ("near", near)]) <= summed([("text", high), ("near", near)])


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world["world"])
def test_the_facts_around_what_a_question_names_are_shown_and_no_strangers(
    world: dict[str, Any],
) -> None:
    with filled_store(world) as memory:
        results = [(case["query"], ask(memory, case)) for case in world["cases"]]
    for query, result in results:
        assert (result.found, result.wrong) == (result.needed, 0), (query, result.lines)
        assert result.needed != 1 or len(result.lines) <= 3


def linked_bench(**row: Any) -> Bench:
    bench = Bench()
    add = bench.world.add
    add("link", subject="api", type="system", slot="owner", value="Kim", value_entity="Kim",
        claim="api owner: Kim", **row)  # fmt: skip
    add("team", subject="Kim", slot="team", value="Core", claim="Kim team: Core")
    add("other", subject="Zed", slot="team", value="Edge", claim="Zed team: Edge")
    return bench


def test_what_lies_behind_a_link_comes_with_it() -> None:
    bench = linked_bench()
    assert set(bench.compiled(bench.compile(query="Brief me on api"))) == {"link", "team"}


def test_a_link_that_the_caller_may_not_see_leads_nowhere() -> None:
    bench = linked_bench(visible=False)
    assert set(bench.compiled(bench.compile(query="Brief me on api"))) == set()


def test_an_asked_slot_of_a_stranger_stays_out() -> None:
    bench = linked_bench()
    assert set(bench.compiled(bench.compile(query="Which team is behind api?"))) == {"link", "team"}
    assert set(bench.compiled(bench.compile(query="What is the team of Mirko Dahl?"))) == set()


def test_a_slot_is_asked_by_its_name_a_synonym_or_two_words() -> None:
    own = Slot(name="gate", description="the way in", synonyms=("door", "way in"))
    words = Vocabulary().define("slot", own)
    language = Language(synonyms={"home": ("live", "near me"), "phone": ("=call",)})

    def asked(text: str) -> dict[str, int]:
        found = slots_of(text, frozenset({"owner"}), words, language)
        return {slot: trigger.surely for slot, trigger in found.items()}

    assert asked("Which gate?") == {"gate": FULL}
    assert asked("Which door?") == {"gate": BY_SYNONYM}
    assert asked("Is there a way in?") == {"gate": FULL}
    assert asked("A shop near me") == {"home": FULL}
    assert asked("Where does owner live?") == {"home": BY_SYNONYM}
    assert slots_of("Where is it?", frozenset(), words, Language()) == {}
    assert asked("Whom do I Call?") == {"phone": BY_SYNONYM}
    assert asked("What is it called?") == {}


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Where do I work?", "employer"),
        ("Who is my boss?", "manager"),
        ("Wo wohne ich?", "home"),
        ("Wer ist mein Chef?", "manager"),
        ("Who wrote it?", "author"),
        ("Am I allergic to nuts?", "allergy"),
    ],
)
def test_the_shipped_words_ask_built_in_slots(question: str, slot: str) -> None:
    assert slot in slots_of(question, frozenset(), Vocabulary(), shipped_language())
    assert "employer" not in slots_of(
        "What stops working?", frozenset(), Vocabulary(), shipped_language()
    )


@pytest.mark.parametrize(
    ("question", "is_past"),
    [
        ("Where did she live before?", True),
        ("Which towns has Olga called home?", True),
        ("Who was the owner in March?", True),
        ("Wo hat sie früher gewohnt?", True),
        ("Where does she live?", False),
        ("What do I eat before a run?", False),
        ("Wo wohnt sie jetzt?", False),
    ],
)
def test_the_shipped_patterns_tell_a_question_about_the_past(question: str, is_past: bool) -> None:
    assert shipped_language().is_about_past(question) is is_past


def test_related_words_are_found_both_ways_and_none_is_its_own() -> None:
    language = shipped_language()
    assert language.related_terms(frozenset({"career"}))["job"] == {"career"}
    assert language.related_terms(frozenset({"study"}))["studi"] == {"study"}
    assert "job" not in language.related_terms(frozenset({"job", "career"}))
    assert not language.related_terms(frozenset({"toy", "zeta"}))
    assert language.unspoken_terms(frozenset({"career", "leav"}), {"quit", "job"}) == [
        "career",
        "leav",
    ]


def turn(size: int = 9, cosine: int | None = None, **counts: int) -> SpokenTurn:
    return SpokenTurn(counts, size, cosine)


def test_a_turn_that_answers_leads_those_around_it_and_they_lead_the_rest() -> None:
    turns = [turn() for _ in range(9)]
    turns[4] = turn(table=1, colour=1)
    scores = order_turns(turns, [range(9)])
    assert scores[4] == FULL
    assert scores[3] == scores[5] > scores[2] == scores[6]
    assert min(scores) >= 1


def test_turns_around_weak_hits_do_not_pass_a_strong_hit() -> None:
    turns = [turn(table=int(place % 5 == 2)) for place in range(60)]
    turns = [replace_counts(each) for each in turns]
    turns.append(turn(table=1, painted=1))
    scores = order_turns(turns, [range(60), [60]])
    assert scores[60] == max(scores) == FULL


def replace_counts(each: SpokenTurn) -> SpokenTurn:
    return each._replace(counts={term: n for term, n in each.counts.items() if n})


def test_the_speaker_whom_the_question_names_leads_among_equals() -> None:
    turns = [turn(plan=1), turn(), turn(), turn(plan=1)._replace(by_named=True)]
    scores = order_turns(turns, [[0], [1], [2], [3]])
    assert scores[3] > scores[0]


def test_a_long_answer_takes_a_share_of_its_question_and_no_other_neighbour_does() -> None:
    question = turn(90, plan=1)._replace(is_question=True)
    turns = [turn(90), question, turn(90), turn(90)]
    scores = order_turns(turns, [range(4)])
    assert scores[1] > scores[2] > scores[3] == scores[0]


def test_nearness_finds_turns_without_a_word_and_far_ones_find_none() -> None:
    far, near = COSINE_FULL // 5, COSINE_FULL // 2
    assert order_turns([turn(cosine=far), turn(cosine=0)], [[0, 1]]) == [0, 0]
    scores = order_turns([turn(cosine=far), turn(cosine=near)], [[0], [1]])
    assert scores[1] == FULL > scores[0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 80)), min_size=1, max_size=30))
def test_scores_of_turns_are_shares_of_the_best(rows: list[tuple[int, int]]) -> None:
    turns = [turn(size, **({"a": count} if count else {})) for count, size in rows]
    scores = order_turns(turns, [range(len(turns))])
    assert max(scores) == (FULL if any(count for count, _ in rows) else 0)
    assert all(0 <= score <= FULL for score in scores)


def test_a_speaker_is_named_by_a_full_name_or_a_capital_inside_the_sentence() -> None:
    names = ["Ann Lee", "Will Ek", "Bo"]
    assert named_speaker("what did ann lee say?", names) == "Ann Lee"
    assert named_speaker("What does Will think?", names) == "Will Ek"
    assert named_speaker("Will it rain?", names) == ""
    assert named_speaker("Do Ann and Bo agree?", names) == ""


def test_a_tenants_own_slot_limits_answers_as_a_built_in_one() -> None:
    slot = Slot(name="taboo", description="what must not be said", limits=True)
    bench = Bench()
    bench.vocabulary = replace(bench.vocabulary, slots={**bench.vocabulary.slots, "taboo": slot})
    bench.world.person("Ann", user="ann")
    bench.world.add("limit", subject="Ann", slot="taboo", value="age", claim="Ann taboo: age",
                    vocabulary=bench.vocabulary)  # fmt: skip
    assert "limit" in bench.compiled(bench.compile(query="Draft a greeting"))


# ---- What wins a slot from another scope is found by whatever finds what it beat.

MINE = {"scope": {"user": "ann"}}


def bench(**winner: Any) -> Bench:
    """Return a world whose tenant says Rome and whose user Ann says otherwise."""
    made = Bench()
    made.world.person("Sam Rivera")
    made.world.add(
        "rome", subject="Sam Rivera", slot="office", value="Rome", text="near the colosseum",
        why="marble quarry", level=2,
    )  # fmt: skip
    made.world.add(
        "oslo", subject="Sam Rivera", slot="office", value="Oslo", text="by the fjord",
        why="salmon trade", level=2, **{**MINE, **winner},
    )  # fmt: skip
    return made


def ids(made: Bench, envelope: Envelope) -> list[str]:
    return [made.world.name_of(o.object_id) for o in envelope.trace.compiled_objects]


def test_words_of_the_loser_find_the_winner() -> None:
    made = bench()
    envelope = made.compile(query="Rome marathon")
    assert "oslo" in ids(made, envelope)
    assert "rome" not in ids(made, envelope)
    (winner,) = (o for o in envelope.trace.compiled_objects if o.stands_for)
    assert [made.world.name_of(i) for i in winner.stands_for] == ["rome"]
    assert winner.score > 500_000
    lost = {made.world.name_of(o.object_id): o for o in envelope.trace.omitted_objects}
    assert (lost["rome"].reason, lost["rome"].detail) == ("overridden", "other_scope")


def test_a_winner_that_matches_by_itself_needs_no_loser() -> None:
    made = bench()
    assert "oslo" in ids(made, made.compile(query="Oslo marathon"))


def test_where_neither_matches_neither_enters() -> None:
    made = bench()
    envelope = made.compile(query="unrelated glacier")
    assert not {"oslo", "rome"} & set(ids(made, envelope))


def test_a_winner_for_another_task_type_still_stays_out() -> None:
    made = bench(tasks=("data_extraction",))
    assert not {"oslo", "rome"} & set(ids(made, made.compile(query="Rome marathon")))


def test_a_gap_or_denial_that_wins_shows_nothing() -> None:
    made = bench(op="deny")
    assert not {"oslo", "rome"} & set(ids(made, made.compile(query="Rome marathon")))


class Near:
    """An index that finds what the tenant says."""

    def __init__(self, made: Bench) -> None:
        self.rows = [v for v in made.world.rows if v.row.claim.object_id == uid("rome")]

    def prefetch(self, query: Any, *, limit: int) -> None:
        return None

    def facts(self, query: Any, *, limit: int) -> Hits:
        return Hits([], [])

    def nearest(self, query: Any, *, limit: int) -> Hits:
        return Hits([VectorScore(uid("rome"), 14_000_000, 9_000_000)], self.rows)

    def scores(self, query: Any, object_ids: Any) -> list[VectorScore]:
        return [VectorScore(i, 1_000_000, 1_000) for i in object_ids if i == uid("oslo")]


def test_a_vector_that_finds_the_loser_finds_the_winner() -> None:
    made = bench()
    made.index, made.encoder_id = Near(made), "toy"
    envelope = made.compile(query="glacier", query_vector=[1.0])
    assert "oslo" in ids(made, envelope)
    (winner,) = (o for o in envelope.trace.compiled_objects if o.stands_for)
    masked = bench(sensitivity=())
    masked.world.rows[0] = replace(
        masked.world.rows[0],
        details=replace(masked.world.rows[0].details, sensitivity=(Sensitivity.PERSONAL,)),
    )
    masked.rules(show_personal_to=("hr",))
    masked.index, masked.encoder_id = Near(masked), "toy"
    hidden = masked.compile(query="glacier", query_vector=[1.0])
    scores = [o.score for o in hidden.trace.compiled_objects if o.stands_for]
    assert scores == [] or scores[0] < winner.score
