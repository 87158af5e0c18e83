"""Keep-scores: six policies and the cost of relevance, over the same signals."""

import json
from dataclasses import replace

import pytest

from tenure.schema.layers import DecayKind
from tenure.schema.window_policy import EvictionPolicy, WindowPolicy
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.events import EventKind
from tenure.window.keep import SCORES, Signals, keep_scores, leaving_order, stale_units


def talk_of(*results: str) -> Conversation:
    talk = Conversation(limit=100_000)
    for number, result in enumerate(results):
        talk.exchange(number, result)
    return talk


def scores(talk: Conversation, policy: EvictionPolicy, focus: str = "") -> dict[int, int]:
    stale = stale_units(talk.state.units)
    return keep_scores(talk.state, WindowPolicy(eviction=policy), focus, stale)


def test_every_policy_scores_every_unit_between_1_and_1000() -> None:
    talk = talk_of("alpha AB12", "beta", "alpha AB12")
    talk.put(EventKind.NOTED, {"category": "goal"}, ("keep me",))
    assert set(SCORES) == set(EvictionPolicy)
    for policy in EvictionPolicy:
        values = scores(talk, policy)
        assert set(values) == {unit.number for unit in talk.state.units}
        assert all(1 <= value <= 1000 for value in values.values())


@pytest.mark.parametrize("policy", [EvictionPolicy.FIFO, EvictionPolicy.LRU])
def test_longer_idle_never_scores_higher(policy: EvictionPolicy) -> None:
    talk = talk_of(*(f"text number {n}" for n in range(12)))
    values = [scores(talk, policy)[unit.number] for unit in talk.state.units]
    assert values == sorted(values)


def test_a_unit_whose_identifier_is_used_again_is_young_again() -> None:
    talk = talk_of("the booking JG7FMM", *(f"plain {n}" for n in range(8)))
    before = scores(talk, EvictionPolicy.LRU)[3]
    talk.user("what about JG7FMM?")
    assert scores(talk, EvictionPolicy.LRU)[3] > before


@pytest.mark.parametrize("policy", [EvictionPolicy.HYBRID, EvictionPolicy.PRIORITY])
def test_what_is_used_more_often_is_kept_longer(policy: EvictionPolicy) -> None:
    """Of two results of one age that were last used in one turn."""
    talk = Conversation(limit=100_000)
    talk.user("both, please")
    talk.call("c1", number=1)
    talk.result("c1", "seat JG7FMM")
    talk.call("c2", number=2)
    talk.result("c2", "seat KH8GNN")
    for number in range(3):
        talk.user(f"ask {number}")
        talk.model("JG7FMM")
    talk.user("JG7FMM or KH8GNN?")
    often, once = (unit.number for unit in talk.state.units if unit.results)
    values = scores(talk, policy)
    assert values[often] > values[once]


def test_what_stays_close_to_the_focus_is_kept() -> None:
    talk = talk_of("refund of the ticket", "weather in Oslo")
    values = scores(talk, EvictionPolicy.PRIORITY, "ticket refund")
    assert values[3] > values[8]


def test_repeated_words_leave_first_under_the_merging_policy() -> None:
    talk = talk_of("one two three four", "five six", "one two three four")
    values = scores(talk, EvictionPolicy.SEMANTIC_MERGE)
    assert values[3] < values[8]


def test_types_have_lifetimes() -> None:
    talk = talk_of(*(f"plain {n}" for n in range(9)))
    values = scores(talk, EvictionPolicy.TYPE_BASED)
    assert values[3] == 1  # a result of eight turns ago
    assert values[2] > 500  # a user message of the same turn


def test_relevance_cost_lets_the_largest_irrelevant_unit_go_first() -> None:
    talk = talk_of("long " * 600, "short")
    values = scores(talk, EvictionPolicy.RELEVANCE_COST)
    assert values[3] < values[8]

    base = Signals(0, 0, 0, 0, 0, 0, 0, tokens=0, lifetime=1)
    cost = SCORES[EvictionPolicy.RELEVANCE_COST]
    worth = {
        (semantic, tokens): cost(replace(base, semantic=semantic, tokens=tokens))
        for semantic, tokens in ((0, 200), (0, 1_000), (500, 1_000), (1_000, 9_000), (0, 9_000))
    }
    assert worth == {
        (0, 200): 900,
        (0, 1_000): 500,
        (500, 1_000): 750,
        (1_000, 9_000): 1_000,
        (0, 9_000): 0,
    }


MIDDLING = Signals(
    age=1,
    idle=0,
    recency=800,
    semantic=400,
    source=500,
    reuse=200,
    duplication=300,
    tokens=10,
    lifetime=8,
    density=500,
)


def test_hybrid_is_the_weighted_sum_of_five_signals() -> None:
    assert SCORES[EvictionPolicy.HYBRID](MIDDLING) == 240 + 100 + 100 + 30 + 70


def test_turn_factors_are_density_closeness_recency_decision_and_correction() -> None:
    score = SCORES[EvictionPolicy.TURN_FACTORS]
    plain = score(MIDDLING)
    assert plain == 100 + 100 + 200
    assert score(replace(MIDDLING, decides=True)) == plain + 150
    assert score(replace(MIDDLING, corrects=True)) == plain + 150


def test_a_correction_outlasts_what_was_said_before_and_behind_it() -> None:
    talk = Conversation(limit=100_000)
    for words in ("The train goes Monday.", "No, I meant Tuesday.", "It leaves at noon.", "Go."):
        talk.user(words)
        talk.model("Noted.")
    values = scores(talk, EvictionPolicy.TURN_FACTORS)
    before, correction, behind, _ = (values[u.number] for u in talk.state.units if u.is_user)
    assert correction > max(before, behind)


def test_a_call_made_again_makes_its_first_result_stale() -> None:
    talk = Conversation(limit=100_000)
    for number, (error, text) in enumerate(((True, "timeout"), (False, "old"), (False, "new"))):
        talk.user("again")
        talk.call(f"c{number}", "get", id="A1")
        talk.result(f"c{number}", text, is_error=error)
    talk.user("other")
    talk.call("c9", "get", id="B2")
    talk.result("c9", "else")

    stale = stale_units(talk.state.units)
    assert list(stale.values()) == ["superseded", "error_invalidated"]
    fresh = max(unit.number for unit in talk.state.units if "new" in unit.text)
    values = scores(talk, EvictionPolicy.FIFO)
    assert values[min(stale)] * 3 < values[fresh]


def test_an_open_call_makes_nothing_stale() -> None:
    talk = Conversation(limit=100_000)
    talk.user("go")
    talk.call("c1", "get", id=1)
    talk.result("c1", json.dumps({"a": 1}))
    talk.call("c2", "get", id=1)
    assert stale_units(talk.state.units) == {}


def test_results_may_fade_faster_than_what_users_said() -> None:
    talk = Conversation(limit=90_000)
    for number in range(5):
        talk.exchange(number, f"reservation RES{number:04d} is confirmed")
    usual = keep_scores(talk.state, WindowPolicy(eviction=EvictionPolicy.LRU), "", ())
    rates = WindowPolicy(eviction=EvictionPolicy.LRU, result_rate=0.3, speech_rate=0.05)
    faded = keep_scores(talk.state, rates, "", ())

    speech, result = (talk.state.units[place].number for place in (0, 1))
    assert faded[speech] > usual[speech]
    assert faded[result] < usual[result]
    # exp(-0.3 x 4) and exp(-0.05 x 4), in permille.
    assert (faded[result], faded[speech]) == (301, 819)


@pytest.mark.parametrize(("curve", "score"), [(DecayKind.STEP, 1000), (DecayKind.SIGMOID, 998)])
def test_a_curve_may_keep_a_unit_whole_and_then_drop_it(curve: DecayKind, score: int) -> None:
    talk = Conversation(limit=90_000)
    for number in range(21):
        talk.user(f"question number {number}")
    policy = WindowPolicy(eviction=EvictionPolicy.LRU, fading=curve)
    scores = keep_scores(talk.state, policy, "", ())
    by_age = [scores[unit.number] for unit in reversed(talk.state.units)]
    assert by_age[4] >= score
    assert by_age[20] <= 100


def test_what_loses_least_leaves_first_under_every_policy() -> None:
    talk = Conversation(limit=100_000)
    talk.user("I prefer an aisle seat, always.")
    talk.exchange(1, "the timetable of the harbour ferries " * 9)
    for number in (1, 2):
        talk.call(f"same{number}", "get", id="A1")
        talk.result(f"same{number}", f"version {number} of the booking and what it costs " * 9)
    talk.model("Sure, let me check that.")
    talk.user("The crane is what matters.")
    for policy in EvictionPolicy:
        values = scores(talk, policy)
        stale = stale_units(talk.state.units)
        order = leaving_order(talk.state, values, stale, "crane")
        texts = [unit.text for unit in order]

        def place(words: str, texts: list[str] = texts) -> int:
            return next(n for n, text in enumerate(texts) if words in text)

        assert place("version 1") < place("Sure") < place("ferries") < place("crane")
