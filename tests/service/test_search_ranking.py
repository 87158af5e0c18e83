"""A search answers in the order of a compile: what a question asks comes first, nobody's guess."""

from collections.abc import Iterator
from typing import Any

import pytest

import tenure
from tenure import Memory
from tenure.schema.entity import EntityRef
from tenure.tests.service.toy_encoder import ToyEncoder

RELATIONS = {
    "kept_by": ("keeps", "keeper", "kept"),
    "captain": ("leads", "leader"),
}
VALUES = {
    "moored_at": ("moored", "harbour"),
    "tonnage": ("weight", "weighs"),
    "birth_town": ("born",),
}
FACTS = (
    ("lantern-dock", "kept_by", "crew-north"),
    ("lantern-dock", "moored_at", "Pier Nine"),
    ("anchor-dock", "kept_by", "crew-south"),
    ("crew-north", "captain", "Ida Voss"),
    ("crew-south", "captain", "Olav Lund"),
    ("Ida Voss", "birth_town", "Tromso"),
    ("Olav Lund", "birth_town", "Kiel"),
    ("anchor-dock", "tonnage", "300 tons"),
)


@pytest.fixture(params=[False, True], ids=["words", "vectors"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    encoder = ToyEncoder() if request.param else None
    with tenure.connect(":memory:", encoder=encoder) as store:
        for slot, synonyms in {**RELATIONS, **VALUES}.items():
            kind = "entity" if slot in RELATIONS else "string"
            store.vocabulary.define_slot(
                slot, value_type=kind, synonyms=synonyms, description=slot.replace("_", " ")
            )
        for subject, slot, value in FACTS:
            store.write(subject, slot, value)
        store.flush()
        yield store


def found(memory: Memory, text: str, **filters: Any) -> list[str]:
    hits = memory.as_of().search(text, **filters).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.object.normalized_claim for hit in hits]


def test_the_end_of_an_asked_chain_comes_before_the_steps_that_lead_to_it(memory: Memory) -> None:
    first, second, third = found(memory, "Where was the leader of who keeps lantern-dock born?")[:3]
    # It shares no word with the question but that of its slot.
    assert first == "Ida Voss birth town: Tromso"
    assert {second, third} == {
        "crew-north captain: Ida Voss",
        "lantern-dock kept by: crew-north",
    }


def test_a_chain_is_followed_against_the_direction_of_its_relation(memory: Memory) -> None:
    assert found(memory, "What is the tonnage of what crew-south keeps?")[0] == (
        "anchor-dock tonnage: 300 tons"
    )


def test_a_name_is_found_with_a_space_for_its_hyphen(memory: Memory) -> None:
    assert found(memory, "Where is the lantern dock moored?")[0] == (
        "lantern-dock moored at: Pier Nine"
    )


@pytest.mark.parametrize(
    "question", ["What is the tonnage of lantern-dock?", "Where is Zorro Blake moored?"]
)
def test_a_slot_that_nobody_filled_and_a_name_that_nobody_bears_find_nothing(
    memory: Memory, question: str
) -> None:
    assert found(memory, question) == []


def test_a_text_with_a_further_word_of_the_question_is_found_all_the_same(memory: Memory) -> None:
    memory.write(content="Lantern-dock will be weighed in spring.", why_it_matters="plans")
    assert found(memory, "What is the tonnage of lantern-dock in spring?") == [
        "Lantern-dock will be weighed in spring."
    ]


def test_of_texts_that_match_alike_the_newer_come_first(memory: Memory) -> None:
    for since in ("2026-02-01", "2026-03-01", "2026-01-01"):
        memory.write(content="Winch tested.", valid_from=since, source_origin=f"doc://{since}")
    memory.flush()
    hits = memory.as_of().search("winch").hits
    assert [hit.object.source_origin[-5:-3] for hit in hits] == ["03", "02", "01"]


def test_both_sides_of_a_dispute_are_found(memory: Memory) -> None:
    at = {"valid_from": "2026-01-01"}
    for value, source in (("blue", "doc://left"), ("green", "doc://right")):
        memory.write("Ida Voss", "specialty", value, source_origin=source, **at)
    assert len(found(memory, "specialty of Ida Voss")) == 2


def test_what_is_kept_for_another_task_type_is_found(memory: Memory) -> None:
    memory.write(
        EntityRef(name="crew-north"),
        "specialty",
        "night watches",
        applicable_task_types=["code_generation"],
    )
    assert found(memory, "night watches")[0] == "crew-north specialty: night watches"


def test_a_wish_of_the_caller_is_found_by_its_words_alone() -> None:
    with tenure.connect(":memory:") as store:
        reader = tenure.Principal(tenant="default", user="mira", roles=frozenset({"owner"}))
        mira = store.bind(reader)
        mira.observe("I prefer short answers.")
        mira.write("Kiln", "status", "cold")
        assert found(mira, "status of Kiln") == ["Kiln status: cold"]
        assert any("short" in text for text in found(mira, "short answers"))


def test_filters_hold_and_the_limit_counts_after_them(memory: Memory) -> None:
    names = found(memory, "captain of the crew", entity="crew-south", limit=1)
    assert names == ["crew-south captain: Olav Lund"]
