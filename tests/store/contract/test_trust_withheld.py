"""What a caller may not see is counted nowhere: a guessed word finds out nothing."""

import json
from uuid import UUID

import pytest

from tenure import Forbidden, Memory, NotFound, Principal
from tenure.compiler.envelope.compare import diff_envelopes
from tenure.schema.principal import OWNER
from tenure.schema.values import whole_repr
from tenure.tests.store.builders import Open

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


def test_a_hidden_entity_is_refused_in_the_words_of_one_that_is_not_there(memory: Memory) -> None:
    entity = memory.as_of().entity("Sam Rivera").entity_id
    view = bound(memory, "viewer").as_of()
    messages: list[str] = []
    for mention in ("Sam Rivera", entity, {"name": "Sam Rivera"}, "Pat Doe", {"name": "Pat Doe"}):
        with pytest.raises(NotFound) as refusal:
            view.entity(mention)
        name = mention["name"] if isinstance(mention, dict) else mention
        messages.append(str(refusal.value).replace(name, "NAME"))
    assert len(set(messages)) == 1
    assert entity not in messages[0]


def test_the_id_of_a_hidden_entity_resolves_to_no_more_than_an_unknown_one(memory: Memory) -> None:
    entity = memory.as_of().entity("Sam Rivera").entity_id
    assert memory.entities.resolve(entity).entity == entity
    viewer, unknown = bound(memory, "viewer"), str(UUID(int=7))
    messages: list[str] = []
    for mention in (entity, unknown):
        with pytest.raises(NotFound) as refusal:
            viewer.entities.resolve(mention)
        messages.append(str(refusal.value).replace(mention, "ID"))
    assert messages[0] == messages[1]


def test_a_slot_of_a_hidden_name_is_answered_as_one_of_a_wrong_guess(memory: Memory) -> None:
    view = bound(memory, "viewer").as_of()
    right, wrong = view.slot("Sam Rivera", "title"), view.slot("Pat Doe", "title")
    assert right == wrong
    assert right.reason == "unknown_entity"
    assert memory.as_of().slot("Sam Rivera", "title").reason == "no_value"


def test_an_auditor_is_told_the_numbers(memory: Memory) -> None:
    auditor = bound(memory, "auditor", "viewer")
    assert auditor.as_of().search(RIGHT).withheld is True
    envelope = auditor.compile("analytical_reporting", RIGHT)
    assert envelope.trace.withheld["store_text"] == 4


@pytest.fixture
def hidden(open_memory: Open) -> tuple[Memory, list[str]]:
    """A store in which the role `viewer` may not see what decides a slot, and the ids of that."""
    opened = open_memory(principal=OWNER)
    opened.write("Sam Rivera", "office", "Rome", authority_level=3)
    opened.write("Sam Rivera", "manager", "Eve Park")
    receipts = [
        opened.write("Sam Rivera", "office", "Vault", deny_roles=["viewer"]),
        opened.write("Sam Rivera", "email", "sam@example.org", deny_roles=["viewer"]),
        opened.write(
            content="The zanzibar convoy meets at gate 9.",
            why_it_matters="where convoys meet",
            security_classification="highly_restricted",
        ),
    ]
    return opened, [receipt.object_id for receipt in receipts]


def test_no_id_of_what_is_hidden_stands_in_what_a_caller_is_given(
    hidden: tuple[Memory, list[str]],
) -> None:
    opened, ids = hidden
    viewer = bound(opened, "viewer")
    question = "office, manager and email of Sam Rivera; the zanzibar convoy"
    first = viewer.compile("analytical_reporting", question, entities=["Sam Rivera"])
    other = viewer.compile("analytical_reporting", "manager", entities=["Sam Rivera"])
    viewer.flush()
    assert "Eve Park" in first.text
    assert "Rome" not in first.text  # the next best is no answer

    replica = viewer.replay(first.envelope_id)
    assert (replica.text, replica.digest) == (first.text, first.digest)
    assert replica.trace == first.trace
    assert replica.manifest == first.manifest

    shown = [
        json.dumps(first.trace.to_dict()), first.manifest.to_json(), first.to_html(),
        whole_repr(viewer.envelopes.get(first.envelope_id)), whole_repr(viewer.envelopes.list()),
        whole_repr(diff_envelopes(first, other)), whole_repr(viewer.diff("-infinity", "infinity")),
        whole_repr(viewer.log()), whole_repr(viewer.history("Sam Rivera", "office")),
        whole_repr(replica.trace),
    ]  # fmt: skip
    for text in shown:
        assert not [object_id for object_id in ids if object_id in text]


def test_who_is_no_auditor_any_more_opens_nothing_that_names_the_hidden(
    hidden: tuple[Memory, list[str]],
) -> None:
    opened, ids = hidden
    auditor, viewer = bound(opened, "auditor", "viewer"), bound(opened, "viewer")
    envelope = auditor.compile("analytical_reporting", "office", entities=["Sam Rivera"])
    auditor.flush()
    assert ids[0] in envelope.manifest.to_json()
    assert auditor.replay(envelope.envelope_id).trace == envelope.trace

    assert viewer.envelopes.list() == ()
    with pytest.raises(NotFound):
        viewer.envelopes.get(envelope.envelope_id)
    with pytest.raises(Forbidden):
        viewer.replay(envelope.envelope_id)
