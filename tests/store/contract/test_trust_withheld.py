"""What a caller may not see is counted nowhere: a guessed word finds out nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tenure import Memory, Principal
from tenure.schema.principal import OWNER

Open = Callable[..., Memory]
RIGHT, WRONG = "where does the zanzibar convoy meet?", "where does the xylophone convoy meet?"


def bound(memory: Memory, *roles: str) -> Memory:
    return memory.bind(
        Principal(tenant=memory.principal.tenant, user="bob", roles=frozenset(roles))
    )


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    opened = open_memory(principal=OWNER)
    for number in range(3):
        opened.write(
            content=f"The zanzibar convoy meets at gate {number}.",
            why_it_matters="where convoys meet",
            security_classification="highly_restricted",
        )
    opened.write("Sam Rivera", "office", "zanzibar", deny_roles=["viewer", "engineer"])
    return opened


@pytest.mark.parametrize("role", ["engineer", "viewer"])
def test_a_right_guess_and_a_wrong_one_are_told_the_same(memory: Memory, role: str) -> None:
    bob = bound(memory, role)
    searches = [bob.as_of().search(text) for text in (RIGHT, WRONG)]
    assert [(s.withheld, s.truncated) for s in searches] == [(False, False)] * 2
    right, wrong = (bob.compile("analytical_reporting", text) for text in (RIGHT, WRONG))
    assert right.trace.withheld == wrong.trace.withheld == {}
    assert right.manifest.withheld == wrong.manifest.withheld == ()
    counts = [e.trace.retrieval_metadata["retrieved_candidate_count"] for e in (right, wrong)]
    assert counts[0] == counts[1]


def test_of_a_named_entity_one_is_told_that_something_is_hidden_and_not_how_much(
    memory: Memory,
) -> None:
    viewer = bound(memory, "viewer")
    memory.write("Sam Rivera", "email", "sam@example.org", deny_roles=["viewer"])
    envelope = viewer.compile("analytical_reporting", "office", entities=["Sam Rivera"])
    assert envelope.trace.withheld == {"store_slot": 1}
    assert viewer.as_of().neighbourhood("Sam Rivera").withheld is True


def test_an_auditor_is_told_the_numbers(memory: Memory) -> None:
    auditor = bound(memory, "auditor", "viewer")
    assert auditor.as_of().search(RIGHT).withheld is True
    envelope = auditor.compile("analytical_reporting", RIGHT)
    assert envelope.trace.withheld["store_text"] == 4
