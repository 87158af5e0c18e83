"""Each of the five features of a rescue counts by its own weight, and only then."""

from typing import Any

import pytest

from tenure.tests.compiler.fake_reader import Bench, texts_of, uid

FILLER = "Nothing else of note stands here at all. " * 20
APT = "The alpha vault opens at noon."


def affinity(feature: int, **stated: Any) -> int | None:
    """Return the affinity of a sentence when one feature alone has weight; None: not rescued."""
    weights = tuple(float(place == feature) for place in range(5))
    bench = Bench().rules(
        relevance_floor=0.6, rescue_weights=weights, rescue_affinity=0.001, relevance_weight=1.0
    )
    asked = stated.pop("asked", "alpha vault")
    near = stated.pop("near", "alpha vault")
    if near:
        bench.world.add("near", text=near, claim=near, origin="doc://same")
    page = {"level": 4, "origin": "doc://page", "object_type": "retrieved_passage", "why": "vault"}
    bench.world.add("page", text=f"{FILLER}{APT} {FILLER}", **{**page, **stated})
    envelope = bench.compile(query=asked, entities=["Nova"])
    found = {o.object_id: o for o in envelope.trace.compiled_objects}
    if uid("page") not in found:
        return None
    assert APT in texts_of(envelope, "evidence")
    return found[uid("page")].score // 1000


def test_how_much_of_the_question_a_sentence_answers() -> None:
    assert affinity(0) == 1000
    assert affinity(0, asked="alpha vault window garden") == 500


@pytest.mark.parametrize(
    ("tasks", "expected"), [(("code_generation",), 1000), ((), 500), (("data_extraction",), None)]
)
def test_whether_its_source_is_meant_for_the_task(
    tasks: tuple[str, ...], expected: int | None
) -> None:
    assert affinity(1, tasks=tasks) == expected


def test_how_relevant_the_selected_neighbour_is() -> None:
    assert affinity(2, demoted=True) == 1000
    assert affinity(2, demoted=True, near="") is None


def test_whether_both_come_from_one_source() -> None:
    assert affinity(3, origin="doc://same") == 1000
    assert affinity(3) is None


def test_whether_it_speaks_of_an_entity_of_the_request() -> None:
    assert affinity(4, subject="Nova", type="system") == 1000
    assert affinity(4) is None


@pytest.mark.parametrize("limits", [{"rescue_keep": 2}, {"rescue_pool": 2}], ids=repr)
def test_the_pool_and_the_number_of_rescues_are_bounded(limits: dict[str, int]) -> None:
    bench = Bench().rules(relevance_floor=0.6, relevance_weight=1.0, **limits)
    bench.world.add("near", text="alpha vault", claim="alpha vault", origin="doc://same")
    page = {"level": 4, "object_type": "retrieved_passage", "why": "vault"}
    for number in range(4):
        filler = f"Of chapter {number} page {number * 7} says nothing at all. " * 40
        text = f"{filler}{APT} It is gate {number}."
        bench.world.add(f"page {number}", text=text, origin=f"doc://{number}", **page)
    reasons = [reason for reason, _ in bench.omitted(bench.compile(query="alpha vault")).values()]
    assert sorted(reasons) == ["below_floor"] * 2 + ["parent_remainder"] * 2
