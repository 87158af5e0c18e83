"""What is masked for a caller is not found, scored, quoted or counted either."""

from typing import Any

from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench, NearIndex, uid

SECRET = "+1 555 0100"


def bench(role: str = "engineer", **rules: Any) -> Bench:
    found = Bench(principal=Principal(user="ann", roles=frozenset({role})))
    found.rules(show_personal_to=("hr",), **rules)
    found.world.add("phone", subject="Sam", slot="phone", value=SECRET, sensitivity=["personal"])
    found.world.add(
        "page",
        text=f"Old stories. Sam can be reached under {SECRET} zebra at night.",
        level=4,
        origin="doc://page",
        object_type="retrieved_passage",
        why="zebra stories",
        sensitivity=["personal"],
        demoted=True,
    )
    return found


def test_a_guess_of_a_masked_value_finds_nothing_and_moves_no_number() -> None:
    right, wrong = bench().compile(query=SECRET), bench().compile(query="+1 555 0199")
    assert right.trace.omitted_objects == wrong.trace.omitted_objects == ()
    assert right.trace.withheld == wrong.trace.withheld
    counts = [e.trace.retrieval_metadata["retrieved_candidate_count"] for e in (right, wrong)]
    assert counts == [0, 0]
    assert uid("phone") not in right.manifest.to_json()


def test_who_may_see_it_finds_it_by_its_value() -> None:
    found = bench(role="hr")
    envelope = found.compile(query=SECRET)
    assert found.compiled(envelope)["phone"] == "turn_memory"
    assert SECRET in "".join(b.text for b in envelope.blocks if b.section == "turn_memory")


def test_a_masked_value_scores_by_its_slot_alone() -> None:
    found = bench()
    asked = found.compile(query="phone of Sam", entities=["Sam"])
    guessed = found.compile(query=f"phone of Sam {SECRET}", entities=["Sam"])
    assert "phone = [masked]" in asked.text
    scores = [
        {o.object_id: o.score for o in e.trace.compiled_objects}[uid("phone")]
        for e in (asked, guessed)
    ]
    assert scores[0] == scores[1]


def test_a_masked_passage_is_never_quoted_by_a_rescue() -> None:
    envelope = bench(rescue_affinity=0.2).compile(query="zebra night")
    assert SECRET not in envelope.text
    assert SECRET in bench(role="hr", rescue_affinity=0.2).compile(query="zebra night").text


def test_strictness_omit_shows_not_even_that_there_is_a_value() -> None:
    found = bench(personal="omit")
    envelope = found.compile(query="phone of Sam", entities=["Sam"])
    assert "masked" not in envelope.text
    assert found.compiled(envelope) == {}
    assert found.compiled(bench(role="hr", personal="omit").compile(query="phone of Sam"))


def test_the_vector_of_masked_words_leads_nowhere() -> None:
    found = bench()
    found.index = NearIndex(found.world, {"phone": (15_000_000, 0)})
    assert found.compiled(found.compile(query="alpha", query_vector=[1.0])) == {}
    found.index = NearIndex(found.world, {"phone": (15_000_000, 8_000_000)})
    envelope = found.compile(query="alpha", query_vector=[1.0])
    assert found.omitted(envelope)["phone"] == ("irrelevant_to_active_task", "score")
    both = found.compile(query="alpha phone", query_vector=[1.0])
    words = {o.object_id: o.score for o in both.trace.compiled_objects}[uid("phone")]
    found.index = None
    alone = found.compile(query="alpha phone")
    assert {o.object_id: o.score for o in alone.trace.compiled_objects}[uid("phone")] == words
