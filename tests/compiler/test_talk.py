"""Talk in a compile: neighbours of a found turn join it, and what was said does not age out."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from tenure.compiler.ranking.signals import _turn_counts
from tenure.schema.claim import Content
from tenure.schema.interval import INF_US
from tenure.schema.policy import CompilePolicy
from tenure.schema.terms import terms
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench, NearIndex

RULES = CompilePolicy()


def bench_of(texts: list[str], **row: Any) -> Bench:
    bench = Bench()
    for number, text in enumerate(texts):
        turn = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a", **row}
        bench.world.add(f"turn {number}", text=text, **turn)
    return bench


def test_turns_beside_a_found_one_are_shown_though_they_share_no_word() -> None:
    bench = bench_of(
        [f"um {n}" for n in range(30)] + ["The budget is fixed", "yes, fifty thousand"]
    )
    shown = bench.compiled(bench.compile(query="budget", budget_tokens=3_000))
    assert shown["turn 31"] == shown["turn 30"] == "evidence"
    little = bench.compiled(bench.compile(query="budget", budget_tokens=300))
    assert "turn 31" in little
    assert "turn 5" not in little


@pytest.mark.parametrize(("name", "leads"), [("Biscuit", True), ("gardener", False)])
def test_a_rare_word_of_the_best_turn_leads_to_what_else_is_said_of_it(
    name: str, leads: bool
) -> None:
    texts = [
        f"On day {n} the gardener watered the beans and swept the long path again."
        for n in range(60)
    ]
    texts[5] = f"We adopted an old tortoise from the shelter, and he is called {name}."
    texts[50] = f"{name} died last night, after a long and quiet life with all of us."
    bench, query = bench_of(texts), "What happened to the tortoise of the family?"
    shown = bench.compiled(bench.compile(query=query, budget_tokens=300))
    assert "turn 5" in shown
    assert ("turn 50" in shown) is leads


def test_a_talk_is_fetched_until_there_are_enough_turns_the_nearest_first() -> None:
    bench = bench_of([*(f"um {n}" for n in range(60)), "The budget is fixed"])
    bench.rules(talk_candidates=10)
    shown = bench.compiled(bench.compile(query="budget", budget_tokens=8_000))
    assert set(shown) == {f"turn {number}" for number in range(55, 61)}  # none follow it
    bench.rules(talk_candidates=400)
    shown = bench.compiled(bench.compile(query="budget", budget_tokens=8_000))
    assert len(shown) == 61


def test_a_turn_that_is_hidden_does_not_join() -> None:
    bench = bench_of(["The budget is fixed", "yes, fifty thousand"])
    turn = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}
    bench.world.add("hidden", text="or was it sixty?", visible=False, **turn)
    assert set(bench.compiled(bench.compile(query="budget"))) == {"turn 0", "turn 1"}


def test_a_turn_that_was_read_before_is_not_read_again() -> None:
    bench = bench_of(["Ann says the budget is fixed", "yes, fifty thousand"], subject="Ann")
    bench.rules(talk_candidates=1)
    shown = bench.compiled(bench.compile(query="budget", entities=["Ann"]))
    assert set(shown) == {"turn 0", "turn 1"}


def test_turns_of_another_scope_never_join_and_of_another_talk_where_few_were_found() -> None:
    bench = bench_of(["The budget is fixed"])
    for name, row in (("talk", {"origin": "chat://b"}), ("scope", {"scope": {"user": "ann"}})):
        bench.world.add(
            name, text="fifty", object_type="retrieved_passage", layer="user",
            **{"origin": "chat://a", **row},
        )  # fmt: skip
    assert set(bench.compiled(bench.compile(query="budget"))) == {"turn 0", "talk"}

    long_talk = bench_of(["The budget is fixed"] + [f"note {number}" for number in range(60)])
    long_talk.world.add("talk", text="fifty", object_type="retrieved_passage", layer="user",
                        origin="chat://b")  # fmt: skip
    assert "talk" not in long_talk.compiled(long_talk.compile(query="budget"))


def test_an_answer_belongs_to_the_talk_that_goes_on_in_its_scope() -> None:
    said: dict[str, Any] = {"object_type": "retrieved_passage", "layer": "user"}
    bench = Bench()
    bench.world.add("hello", text="good morning", origin="agent://assistant", level=3, **said)
    bench.world.add("question", text="How large is the budget?", origin="chat://a", **said)
    bench.world.add("answer", text="fifty thousand", origin="agent://assistant", level=3, **said)
    bench.world.add("thanks", text="thank you", origin="chat://a", **said)
    bench.world.add("elsewhere", text="sixty", origin="chat://b", **said)
    shown = bench.compiled(bench.compile(query="budget"))
    assert set(shown) == {"hello", "question", "answer", "thanks", "elsewhere"}

    # The other way round, too: what was answered brings what was asked.
    shown = bench.compiled(bench.compile(query="thousand"))
    assert {"question", "answer", "thanks"} <= set(shown)


def test_answers_alone_are_a_talk_of_their_own() -> None:
    bench = bench_of(["The budget is fixed", "fifty thousand"], origin="agent://planner", level=3)
    assert len(bench.compiled(bench.compile(query="budget"))) == 2


def test_an_answer_stands_between_what_it_answers_and_what_follows() -> None:
    passage: dict[str, Any] = {"object_type": "retrieved_passage", "layer": "user"}
    bench = Bench()
    turns = [
        ("agent://a", "Shall we speak of the budget?"),
        ("chat://a", "The budget is fixed"),
        ("agent://a", "At how much?"),
        ("chat://a", "Fifty thousand is the budget"),
        ("web://x", "A budget for beginners"),
        ("agent://a", "That budget will do"),
        ("chat://b", "Who signs the budget?"),
        ("agent://a", "Nora signs it"),
    ]
    for day, (origin, text) in enumerate(turns):
        bench.world.add(text, text=text, origin=origin, tx=NOW - (9 - day) * DAY, **passage)

    text = bench.compile(query="budget", budget_tokens=3_000).text
    places = [text.index(line) for _, line in turns]
    first_talk, second_talk = [*places[:4], places[5]], places[6:]
    assert first_talk == sorted(first_talk)
    assert second_talk == sorted(second_talk)
    assert not min(first_talk) < places[4] < max(first_talk)  # a page is no turn

    answers = Bench()
    for number in range(3):
        answers.world.add(f"a {number}", text=f"budget {number}", origin="agent://a", **passage)
    assert "@" in answers.compile(query="budget", budget_tokens=3_000).text


def test_a_document_brings_no_neighbours() -> None:
    bench = bench_of(["The budget is fixed", "fifty"], layer="corpus")
    assert set(bench.compiled(bench.compile(query="budget"))) == {"turn 0"}


def test_what_was_said_does_not_age_out() -> None:
    old = {"tx": NOW - 3_000 * DAY, "decay": (10.0, 0.5)}
    bench = bench_of(["The budget is fixed"], **old)
    assert "turn 0" in bench.compiled(bench.compile(query="budget"))
    document = bench_of(["The budget is fixed"], layer="corpus", **old)
    assert "turn 0" not in document.compiled(document.compile(query="budget"))


def test_twice_the_budget_shows_what_half_of_it_showed() -> None:
    texts: list[str] = []
    for number in range(60):
        words = [f"w{number}x{place}" for place in range(4 + 9 * (number % 4))]
        texts.append(" ".join((f"word{number % 7}", *words)))
    bench = bench_of(texts)
    before: set[str] = set()
    for budget in (500, 1_000, 2_000, 4_000, 8_000):
        shown = set(bench.compiled(bench.compile(query="word3 word5", budget_tokens=budget)))
        assert before <= shown
        before = shown
    assert len(before) > 50


def test_turns_beside_what_meaning_found_are_fetched_too() -> None:
    bench = bench_of([f"um {n}" for n in range(200)])
    bench.world.add("budget", text="The budget is fixed")

    bench.index, bench.encoder_id = NearIndex(bench.world, {"turn 100": (9_000_000, 0)}), "toy"
    bench.rules(talk_candidates=10)
    shown = set(bench.compiled(bench.compile(query="budget", query_vector=[1.0])))
    assert {f"turn {number}" for number in range(95, 106)} <= shown
    assert "turn 94" not in shown


def test_talk_of_many_days_states_each_day_shortly_and_stays_in_the_budget() -> None:
    bench = Bench()
    for number, day in enumerate((0, 0, 1, 40, 41, 500, 900, 901, 1_300)):
        start = NOW - (2_000 - day) * DAY
        bench.world.add(
            f"turn {number}",
            text=f"the budget of item {number}",
            object_type="retrieved_passage",
            layer="user",
            origin="chat://a",
            valid=(start, INF_US),
        )
    whole = bench.compile(query="budget item", budget_tokens=2_000)
    labels = re.findall(r"^\[\d+(?: ([-\d]+))?\]", whole.text, re.MULTILINE)
    assert [len(label) for label in labels[:9]] == [0, 0, 2, 5, 2, 10, 10, 2, 10]

    for budget in range(whole.tokens - 60, whole.tokens + 20):
        envelope = bench.compile(query="budget item", budget_tokens=budget)
        assert envelope.tokens <= envelope.tokens_upper <= budget


def test_the_newest_words_of_who_is_asked_about_fill_what_stays_free() -> None:
    bench = Bench()
    bench.world.person("Ann", user="ann")
    turn = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}
    for number in range(80):
        bench.world.add(f"ann {number}", text=f"remark {number}", subject="Ann", **turn)
        bench.world.add(f"bob {number}", text=f"remark {number}", subject="Bob", **turn)

    ask = {"task": "conversation", "query": "Plan a dinner"}
    shown = bench.compiled(bench.compile(**ask, budget_tokens=700))
    numbers = sorted(int(name.removeprefix("ann ")) for name in shown)
    assert 10 < len(numbers) < 80
    assert numbers == list(range(80 - len(numbers), 80))

    ask["query"] = "Plan a dinner for Bob"
    shown = bench.compiled(bench.compile(**ask, budget_tokens=8_000))
    assert set(shown) == {f"{who} {number}" for who in ("ann", "bob") for number in range(80)}


def test_no_talk_fills_the_context_of_code_nor_of_a_strict_policy() -> None:
    bench = bench_of(["remark"], subject="Ann")
    bench.world.person("Ann", user="ann")
    assert not bench.compiled(bench.compile(query="Rename a class"))
    assert bench.compiled(bench.compile("conversation", query="Rename a class"))
    bench.rules(activation="strict")
    assert not bench.compiled(bench.compile("conversation", query="Rename a class"))


@pytest.mark.parametrize("text", ["The budget is fixed", "The  budget is fixed"])
def test_a_turn_is_as_long_as_what_is_said_in_it(text: str) -> None:
    parts = dict.fromkeys((text, "The budget is fixed", "what Ann said in chat a"))
    content = Content(
        value_json="null",
        text=text,
        normalized_claim="The budget is fixed",
        why_it_matters="what Ann said in chat a",
        behavioral_implication="",
        enforcement=None,
        terms=" ".join(" ".join(terms(part)) for part in parts),
    )
    version: Any = SimpleNamespace(content=content)
    wanted = frozenset({"budget", "chat", "ann"})
    assert _turn_counts(version, wanted, "Ann Lee") == ({"budget": 1, "ann": 1}, 6)
