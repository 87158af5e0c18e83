"""A case's preview is the decision itself: what it says is what accepting does, on both stores."""

from typing import Any

import pytest

from tenure import Memory, Principal, Unavailable
from tenure.schema.entity import EntityRef
from tenure.schema.values import whole_repr
from tenure.service.stewardship.review_page import ReviewPage

JANUARY, MARCH = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"

SCENARIOS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the same": ({"value": "Rome"}, {"value": "Rome"}),
    "one after the other": (
        {"value": "Rome", "valid_from": JANUARY},
        {"value": "Oslo", "valid_from": MARCH},
    ),
    "backwards": (
        {"value": "Rome", "valid_from": MARCH},
        {"value": "Oslo", "valid_from": JANUARY},
    ),
    "a tie": (
        {"value": "Rome", "valid_from": JANUARY, "source_origin": "user://chat/1"},
        {"value": "Oslo", "valid_from": JANUARY, "source_origin": "user://chat/2"},
    ),
    "in the past alone": (
        {"value": "Rome", "valid_from": JANUARY, "valid_until": MARCH},
        {"value": "Oslo", "valid_from": JANUARY, "source_origin": "user://chat/2"},
    ),
}


def written(memory: Memory, name: str, fields: dict[str, Any]) -> None:
    memory.write(subject=EntityRef(name=name, type="person"), slot="office", **fields)


def case_of(memory: Memory) -> str:
    (case,) = memory.reviews.list()
    return case.review_id


Answer = frozenset[tuple[Any, bool]]
"""Values of one instant, each with whether it is disputed."""


def answered(memory: Memory) -> dict[Any, Answer]:
    """What the slot answers at the start of each stretch of valid time."""
    answers: dict[Any, Answer] = {}
    for segment in memory.as_of().timeline("Jonathan Smythe", "office"):
        candidates = segment.state.candidates
        pairs = [(candidate.value, candidate.status == "disputed") for candidate in candidates]
        answers[segment.valid_from] = frozenset(pairs)
    return answers


def foretold(page: ReviewPage, moment: Any) -> Answer:
    """What the preview said that the slot would answer at a moment."""
    assert page.impact is not None
    (change,) = page.impact.changes
    return frozenset(
        (belief.value, belief.disputed)
        for belief in change.after
        if belief.valid_from <= moment
        and (belief.valid_until is None or moment < belief.valid_until)
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_slot_answers_after_accepting_as_the_preview_said(memory: Memory, name: str) -> None:
    first, second = SCENARIOS[name]
    written(memory, "Jonathan Smythe", first)
    written(memory, "Jon Smythe", second)
    page = memory.reviews.get(case_of(memory))
    receipt = memory.reviews.accept(page.review.review_id)

    assert page.impact is not None
    assert page.impact.surviving == receipt.canonical_id
    assert page.impact.moves == 1
    answers = answered(memory)
    assert {moment: foretold(page, moment) for moment in answers} == answers
    disputed = {
        value for answer in answers.values() for value, is_disputed in answer if is_disputed
    }
    assert bool(page.impact.conflicts) == bool(disputed)


def test_a_preview_leaves_no_trace(memory: Memory) -> None:
    for name, fields in zip(("Jonathan Smythe", "Jon Smythe"), SCENARIOS["a tie"], strict=True):
        written(memory, name, fields)
    log, history = memory.log(), memory.history("Jon Smythe", "office")
    for _ in range(3):
        page = memory.reviews.get(case_of(memory))

    assert page.impact is not None
    assert page.impact.conflicts == ("office: Rome / Oslo",)
    assert memory.log() == log
    assert memory.history("Jon Smythe", "office") == history
    assert memory.reviews.get(case_of(memory)).review == page.review
    assert memory.actions.list() == ()
    assert memory.doctor() == ()
    written(memory, "Jon Smythe", {"value": "Bern"})


def test_a_preview_tells_no_value_that_the_steward_may_not_see(memory: Memory) -> None:
    secret = {"value": "Zanzibar", "valid_from": JANUARY}
    written(memory, "Jonathan Smythe", {**secret, "security_classification": "highly_restricted"})
    written(memory, "Jon Smythe", {"value": "Oslo", "valid_from": JANUARY})
    steward = memory.bind(
        Principal(
            tenant=memory.principal.tenant,
            user="sue",
            roles=frozenset({"steward"}),
            clearance="restricted",
        )
    )
    page = steward.reviews.get(case_of(memory))
    assert "Zanzibar" not in whole_repr(page.impact)
    assert "Zanzibar" in whole_repr(memory.reviews.get(case_of(memory)).impact)


def test_a_decided_case_is_shown_without_a_writer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, fields in zip(("Jonathan Smythe", "Jon Smythe"), SCENARIOS["a tie"], strict=True):
        written(memory, name, fields)
    review_id = case_of(memory)
    memory.reviews.reject(review_id)
    monkeypatch.setattr(memory._backend.store, "writing", None)
    impact = memory.reviews.get(review_id).impact
    assert impact is not None
    assert impact.changes == ()


def test_a_store_that_takes_no_write_shows_a_case_and_why_nothing_is_foretold(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, fields in zip(("Jonathan Smythe", "Jon Smythe"), SCENARIOS["a tie"], strict=True):
        written(memory, name, fields)
    review_id = case_of(memory)

    def refuse(_: str) -> None:
        raise Unavailable("the store is read-only", code="store_read_only")

    monkeypatch.setattr(memory._backend.store, "writing", refuse)
    impact = memory.reviews.get(review_id).impact
    assert impact is not None
    assert impact.standing == ("the store is read-only",)
    assert impact.moves == 0


def test_a_value_that_is_an_entity_reads_by_its_name(memory: Memory) -> None:
    for name, manager in (("Jonathan Smythe", "Eve Park"), ("Jon Smythe", "Ida Wells")):
        memory.write(
            subject=EntityRef(name=name, type="person"),
            slot="manager",
            value=manager,
            valid_from=JANUARY,
        )
    cases = [case for case in memory.reviews.list() if case.mention == "Jon Smythe"]
    page = memory.reviews.get(cases[0].review_id)
    assert page.impact is not None
    (change,) = page.impact.changes
    assert {belief.value for belief in change.before} == {"Eve Park", "Ida Wells"}
