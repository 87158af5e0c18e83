"""What agents would have read: past prompts asked again under a decision, on both stores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tenure import Forbidden, InvalidInput, Memory, Principal
from tenure.schema.entity import EntityRef
from tenure.schema.principal import OWNER
from tenure.schema.values import whole_repr
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused

JANUARY = "2026-01-01T00:00:00Z"


def open_case(memory: Memory) -> str:
    """Two people who may be one, each with a fact, and the case about them."""
    for name, slot, value in (
        ("Jonathan Smythe", "office", "Rome"),
        ("Jon Smythe", "response_style", "very short answers"),
    ):
        subject = EntityRef(name=name, type="person")
        memory.write(subject=subject, slot=slot, value=value, valid_from=JANUARY)
    (case,) = memory.reviews.list()
    return case.review_id


def ask(memory: Memory, query: str) -> str:
    envelope = memory.compile("assistant", query, entities=["Jonathan Smythe"])
    memory.flush()
    return envelope.envelope_id


def test_a_prompt_that_a_merge_changes_is_shown_with_what_comes_and_goes(open_memory: Open) -> None:
    memory = open_memory()
    review_id = open_case(memory)
    asked = ask(memory, "Where does Jonathan Smythe work, and how short are the answers he wants?")
    log = memory.log()

    preview = memory.reviews.preview(review_id)
    (prompt,) = preview.prompts
    assert prompt.envelope_id == asked
    assert prompt.query.startswith("Where does Jonathan")
    text = "\n".join(line.sign + line.text for line in prompt.lines)
    assert "+" in {line.sign for line in prompt.lines}
    assert "very short answers" in text
    assert (preview.unchanged_count, preview.withheld_count, preview.skipped_count) == (0, 0, 0)

    # It is told by doing it, and nothing of it stays.
    assert memory.log() == log
    assert memory.doctor() == ()
    memory.reviews.accept(review_id)
    again = memory.compile("assistant", prompt.query, entities=["Jonathan Smythe"])
    assert "very short answers" in again.text


def test_a_prompt_that_stays_as_it_is_is_counted(open_memory: Open) -> None:
    memory = open_memory()
    review_id = open_case(memory)
    memory.compile("assistant", "Rome", entities=["Jonathan Smythe"], budget_tokens=400)
    memory.flush()
    preview = memory.reviews.preview(review_id)
    assert len(preview.prompts) + preview.unchanged_count == 1


def test_a_decided_case_has_none(open_memory: Open) -> None:
    memory = open_memory()
    review_id = open_case(memory)
    ask(memory, "Where does Jonathan Smythe work?")
    memory.reviews.reject(review_id)
    preview = memory.reviews.preview(review_id)
    assert (preview.prompts, preview.unchanged_count) == ((), 0)


def test_what_a_steward_may_not_read_is_counted_and_not_shown(open_memory: Open) -> None:
    memory = open_memory()
    review_id = open_case(memory)
    tenant = memory.principal.tenant
    ann = memory.bind(Principal(tenant=tenant, user="ann"))
    secret = "the canary sings at nine"
    ann.write("Jonathan Smythe", "plan", secret, scope={"user": "ann"})
    ask(ann, "What is the plan of Jonathan Smythe?")

    steward = memory.bind(Principal(tenant=tenant, user="sue", roles={"steward"}))
    preview = steward.reviews.preview(review_id)
    assert secret not in whole_repr(preview)
    assert preview.prompts == ()

    with pytest.raises(Forbidden):
        ann.reviews.preview(review_id)


def test_other_circumstances_give_another_text(open_memory: Open) -> None:
    memory = open_memory()
    open_case(memory)
    memory.write("Jonathan Smythe", "title", "Director", allow_roles=["finance"])
    asked = ask(memory, "What do we know of Jonathan Smythe, his office and his title?")

    same = memory.what_if(asked)
    assert same.same_tokens is None
    assert {line.sign for line in same.lines} == {"="}

    before = memory.what_if(asked, tx="2026-01-01T00:00:00Z")
    assert before.same_tokens is not None
    assert before.removed_ids
    small = memory.what_if(asked, budget_tokens=300)
    assert small.tokens_after <= 300
    assert small.budget_tokens == 300


@pytest.mark.parametrize(
    ("terms", "code"),
    [
        ({"budget_tokens": 10**400}, "out_of_range"),
        ({"budget_tokens": "many"}, "bad_field"),
        ({"budget_tokens": 1.5}, "bad_request"),
        ({"budget_tokens": -1}, "bad_request"),
        ({"roles": "owner"}, "bad_principal"),
        ({"roles": [1]}, "bad_principal"),
        ({"roles": 5}, "bad_principal"),
    ],
)
def test_circumstances_that_are_none_are_refused_by_code(
    open_memory: Open, terms: Any, code: str
) -> None:
    memory = open_memory()
    open_case(memory)
    asked = ask(memory, "Where does Jonathan Smythe work?")
    with refused(InvalidInput, code):
        memory.what_if(asked, **terms)


def test_a_role_shows_no_more_than_its_asker_may_read(open_memory: Open) -> None:
    memory = open_memory()
    open_case(memory)
    tenant = memory.principal.tenant
    memory.write("Jonathan Smythe", "title", "Director", allow_roles=["finance"])
    ann = memory.bind(Principal(tenant=tenant, user="ann"))
    asked = ask(ann, "What is the title of Jonathan Smythe?")
    with refused(Forbidden, "privilege_required"):
        ann.what_if(asked, roles=["finance"])

    wide = memory.bind(replace(OWNER, tenant=tenant, roles=OWNER.roles | {"finance"}))
    assert "Director" in whole_repr(wide.what_if(asked, roles=["finance"]).lines)
