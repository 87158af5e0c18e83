"""A view of an earlier time sees the identity that was believed then, waiting included."""

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure import Conflict, EntityRef, InvalidInput, Memory, NotFound
from tenure.tests.store.builders import Open

NAMES = ("Order Service AG", "Order Service GmbH", "Order Service Ltd")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["accept", "reject", "unsure", "undo", "merge", "unmerge"]),
        st.integers(0, 2),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=6,
)


def ready(opened: Memory) -> Memory:
    opened.vocabulary.define_slot("noted", description="what was noted")
    return opened


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    return ready(open_memory())


def say(memory: Memory, name: str) -> Any:
    return memory.write(EntityRef(name=name, type="organization"), "noted", "x")


def seen(view: Any, ids: list[str]) -> dict[str, tuple[str, str]]:
    """Return the canonical id and the state of every id that is known."""
    found = {}
    for raw in ids:
        with contextlib.suppress(NotFound):
            one = view.entity(raw)
            found[raw] = (one.entity_id, one.state)
    return found


def test_a_decided_case_still_waits_in_a_view_of_the_time_before(memory: Memory) -> None:
    say(memory, "Order Service AG")
    held = say(memory, "Order Service GmbH")
    (case,) = memory.reviews.list()
    rejected = memory.reviews.reject(case.review_id)
    undone = memory.reviews.undo(case.review_id)
    accepted = memory.reviews.accept(case.review_id)
    say(memory, "Something Else")
    states = [
        memory.as_of(tx=tx).entity(held.entity).state
        for tx in (held.tx, rejected.tx, undone.tx, accepted.tx)
    ]
    assert states == ["pending", "active", "pending", "active"]
    assert memory.as_of(tx=undone.tx).entity(held.entity).entity_id == held.entity
    assert memory.as_of(tx=accepted.tx).entity(held.entity).entity_id != held.entity


def test_both_sides_of_a_merge_are_active_before_it(memory: Memory) -> None:
    one, two = say(memory, "Alder"), say(memory, "Beech")
    merged = memory.entities.merge(one.entity, two.entity, reason="one")
    say(memory, "Cedar")
    for raw in (one.entity, two.entity):
        assert memory.as_of(tx=two.tx).entity(raw).state == "active"
        assert memory.as_of(tx=two.tx).entity(raw).entity_id == raw
        assert memory.as_of(tx=merged.tx).entity(raw).entity_id == merged.canonical_id


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_every_earlier_view_shows_what_was_shown_then(
    open_memory: Open, steps: list[tuple[str, int, int]]
) -> None:
    memory = ready(open_memory())
    ids: list[str] = []
    shown = []
    for name in NAMES:
        receipt = say(memory, name)
        ids.append(receipt.entity)
        shown.append((receipt.tx, seen(memory.as_of(), ids)))
    merges: list[str] = []
    done: Any
    cases = [case.review_id for case in memory.reviews.list()]
    for step, first, second in steps:
        with contextlib.suppress(Conflict, InvalidInput, NotFound):
            if step == "merge":
                done = memory.entities.merge(ids[first], ids[second], reason="one")
                merges.append(done.merge_id)
            elif step == "unmerge":
                done = memory.entities.unmerge(merges.pop() if merges else ids[0])
            else:
                done = getattr(memory.reviews, step)(cases[first % len(cases)])
            shown.append((done.tx, seen(memory.as_of(), ids)))
    say(memory, "Something Else")
    for tx, states in shown:
        assert seen(memory.as_of(tx=tx), ids[: len(states)]) == states
    assert memory.doctor() == ()
