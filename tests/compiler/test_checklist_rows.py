"""What single rows of the checklist promise of a compile, one test a row.

`tests/test_mutations.py` breaks each feature in one line and asks that its test turns red.
"""

from typing import Any

import pytest

from tenure.compiler.budget.profiles import Layer, section_weights
from tenure.compiler.ir.context import shares_of, weights_of
from tenure.compiler.request.parse import parse_request
from tenure.schema.compile_terms import OverflowPolicy
from tenure.schema.errors import ContextBudgetExhausted
from tenure.schema.policy import DEFAULT
from tenure.tests.compiler.fake_reader import Bench

FILLER = "the weather was mild and the harbour was quiet that week"


def test_an_apt_sentence_of_a_passed_over_source_is_rescued() -> None:
    bench = Bench()
    bench.world.add("selected", text="The vault deploy key rotates nightly.", claim="")
    bench.world.add(
        "old", text=f"{FILLER.capitalize()}. The vault deploy key was rotated in 2019.",
        demoted=True, level=4, origin="doc://old", object_type="retrieved_passage", why="vault",
    )  # fmt: skip
    envelope = bench.compile(query="when does the vault deploy key rotate")
    assert "The vault deploy key was rotated in 2019." in envelope.text
    assert "harbour" not in envelope.text
    assert bench.omitted(envelope)["old"][0] == "parent_remainder"


@pytest.mark.parametrize(("query", "stands"), [("office plan", True), ("weather report", False)])
def test_a_preference_stands_only_where_its_condition_holds(query: str, stands: bool) -> None:
    bench = Bench().rules(activation="strict")
    bench.world.add(
        "wish", text="Draw maps in blue.", claim="Draw maps in blue.", why="about an office",
        object_type="identity_fact", scope={"user": "ann"},
    )  # fmt: skip
    envelope = bench.compile(query=f"{query} with blue maps")
    assert ("wish" in bench.compiled(envelope)) is stands
    if not stands:
        assert bench.omitted(envelope)["wish"] == ("irrelevant_to_active_task", "activation")


@pytest.mark.parametrize(
    ("task", "query", "reason"),
    [
        ("code_generation", "which colour has the office map", None),
        ("data_extraction", "which colour has the office map", "task_type"),
        ("code_generation", "weather report", None),
    ],
)
def test_a_linked_fact_needs_its_task_and_no_shared_word(
    task: str, query: str, reason: str | None
) -> None:
    bench = Bench()
    bench.world.add(
        "wish", text="Maps are blue.", claim="Maps are blue.", why="about an office",
        object_type="identity_fact", tasks=["code_generation"], scope={"user": "ann"},
        subject="Sam", slot="office", value="blue",
    )  # fmt: skip
    envelope = bench.compile(task, query=query, entities=["Sam"])
    assert ("wish" in bench.compiled(envelope)) is (reason is None)
    if reason is not None:
        assert bench.omitted(envelope)["wish"] == ("irrelevant_to_active_task", reason)


def crowded(budget: int, **more: Any) -> dict[str, set[str]]:
    """The texts of each section at a budget, with much more to say than it holds."""
    bench = Bench()
    bench.world.add("fact", text=f"alpha {FILLER}", claim=f"alpha {FILLER}")
    request: dict[str, Any] = {
        "query": "alpha",
        "goal": "Ship alpha",
        "step": "check it",
        "acceptance": ["names the city"],
        "history": [f"turn {n}: {FILLER}" for n in range(6)],
        "evidence": [f"alpha page {n}: {FILLER}. {FILLER}." for n in range(6)],
        "user_request": "Is alpha done?",
        **more,
    }
    texts: dict[str, set[str]] = {}
    for block in bench.compile(**request, budget_tokens=budget).blocks:
        words = {piece.text for piece in block.pieces} or {block.text}
        texts.setdefault(block.section, set()).update(words)
    return texts


def test_essentials_stand_at_every_budget_at_which_there_is_a_compile() -> None:
    smallest = None
    for budget in range(150, 700, 50):
        try:
            texts = crowded(budget)
        except ContextBudgetExhausted:
            assert smallest is None, "a larger budget must not fail"
            continue
        smallest = smallest or texts
        assert texts.keys() >= {"task_contract", "task_progress", "acceptance", "user_request"}
    assert smallest is not None
    assert len(smallest.get("history", ())) + len(smallest.get("evidence", ())) < 12


def test_what_does_not_fit_is_compressed_before_it_is_dropped() -> None:
    long = "\n".join(f"The alpha one stands in line {n}. {FILLER}." for n in range(8))
    bench = Bench().rules(overflow=OverflowPolicy.CASCADE_COMPRESS)
    request: dict[str, Any] = {"query": "alpha one", "evidence": [long]}
    whole = bench.compile(**request, budget_tokens=3_000).tokens_upper
    tight = bench.compile(**request, budget_tokens=whole - 60)
    assert "The alpha one stands in line 0." in tight.text
    assert "[…]" in tight.text
    assert [o.reason for o in tight.trace.omitted_objects] == []


def test_the_oldest_turn_goes_first_and_rules_never() -> None:
    for budget in range(400, 700, 50):
        texts = sorted(crowded(budget).get("history", ()))
        turns = [text for text in texts if text.startswith("turn")]
        assert turns == [f"turn {n}: {FILLER}" for n in range(6 - len(turns), 6)]


def test_of_what_competes_for_room_the_most_relevant_stays() -> None:
    bench = Bench()
    # Ties go by id, so that the order of the request says nothing.
    texts = [f"omega page {n}: {FILLER}" for n in range(5)]
    texts[3] = f"omega alpha beta gamma page: {FILLER}"
    request: dict[str, Any] = {"query": "omega alpha beta gamma", "evidence": texts}
    whole = bench.compile(**request, budget_tokens=2_000).tokens_upper
    envelope = bench.compile(**request, budget_tokens=whole - 30)
    pieces = [p.text for b in envelope.blocks if b.section == "evidence" for p in b.pieces]
    assert texts[3] in pieces
    assert len(pieces) < 5


def test_what_covers_an_acceptance_item_goes_before_what_is_more_relevant() -> None:
    texts: list[dict[str, Any]] = [
        {"text": f"omega alpha page {n}: {FILLER}", "origin": f"doc://{n}"} for n in range(5)
    ]
    texts[3] = {"text": f"omega page: {FILLER}", "origin": "doc://3", "covers": ["has omega"]}
    request: dict[str, Any] = {"query": "omega alpha", "evidence": texts}
    request["acceptance"] = ["has omega"]
    whole = Bench().compile(**request, budget_tokens=2_000).tokens_upper
    envelope = Bench().compile(**request, budget_tokens=whole - 30)
    pieces = [p.text for b in envelope.blocks if b.section == "evidence" for p in b.pieces]
    assert texts[3]["text"] in pieces
    assert len(pieces) < 5
    assert envelope.gaps == ()


def test_a_signal_moves_the_weight_of_its_own_section() -> None:
    for signal, layer in (
        ("risk_weight", Layer.EVIDENCE),
        ("retrieval_hit_rate", Layer.MEMORY),
        ("unresolved_questions", Layer.CONVERSATION),
    ):
        weights = section_weights({signal: 5})
        assert sum(weights.values()) == 1000
        others = [weight for name, weight in weights.items() if name is not layer]
        assert weights[layer] > max(others)

    request = parse_request("code_generation", query="x", signals={"risk_weight": "high"})
    scaled = weights_of(request, DEFAULT.compile)
    assert scaled["evidence"] > scaled["history"]


@pytest.mark.parametrize(
    ("profile", "evidence", "memory", "history"),
    [
        ("research", (550, 650), (200, 250), (100, 150)),
        ("requirements", (450, 550), (250, 300), (150, 200)),
        ("test_cases", (500, 600), (200, 250), (100, 150)),
    ],
)
def test_a_profile_says_the_least_and_the_most_of_each_layer(
    profile: str, evidence: tuple[int, int], memory: tuple[int, int], history: tuple[int, int]
) -> None:
    shares = shares_of(profile, DEFAULT.compile)
    assert tuple(shares["evidence"]) == evidence
    assert tuple(shares["turn_memory"]) == memory
    assert tuple(shares["history"]) == history
    assert shares_of("default", DEFAULT.compile).get("evidence") != shares["evidence"]


def test_a_budget_below_what_is_required_names_the_layers_that_take_it() -> None:
    tools = [{"name": "find", "description": FILLER * 20, "input_schema": {"type": "object"}}]
    request: dict[str, Any] = {"query": "plan", "step": "plan it", "tools": tools}
    with pytest.raises(
        ContextBudgetExhausted, match=r"\(texts: tools \d+, instruction \d+, "
    ) as caught:
        Bench().compile(**request, budget_tokens=100)
    layers: Any = caught.value.data["layers"]
    assert set(layers) == {"instruction", "task", "tools"}

    budget = Bench().compile(**request, budget_tokens=1_000).trace.budget
    assert budget["above_usual"]["tools"] == budget["layers"]["tools"]
