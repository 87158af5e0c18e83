"""Conditions, medication and vehicles: who sees them, and what ends them."""

import pytest

import tenure
from tenure.tests.service.daily_talk import Talk

SLOTS = ("health_condition", "medication", "vehicle")


def test_nobody_else_is_shown_or_takes_back_somebody_s_health(talk: Talk) -> None:
    talk.say("I have asthma and take metformin.")
    envelope = talk.memory("bob").compile("conversation", "Which illnesses does ann have?")
    assert "asthma" not in envelope.text

    talk.say("Forget that I have asthma.", "I no longer take metformin.", user="bob")
    assert [talk.values(slot) for slot in SLOTS] == [["asthma"], ["metformin"], []]
    assert talk.values("health_condition", user="bob") == []


def test_a_tenant_may_label_health_as_personal(talk: Talk) -> None:
    talk.store.vocabulary.define_slot("health_condition", sensitivity=("personal",))
    talk.say("I have asthma.")
    assert "health condition = asthma" in talk.context("Which illnesses do I have?")


HEALTH = ("allergy", "diet", "health_condition", "medication")


@pytest.mark.parametrize(
    ("labels", "own", "others"),
    [
        ((), ("nuts",), ("nuts",)),
        (("personal",), ("nuts",), ("[masked]",)),
        (("special_personal",), (), ()),
    ],
)
def test_health_is_masked_where_a_tenant_labels_it_and_by_default_known_to_ones_own_agent(
    memory: tenure.Memory, labels: tuple[str, ...], own: tuple[str, ...], others: tuple[str, ...]
) -> None:
    ann = {"name": "Ann", "type": "person", "external_ids": {"user": "ann"}}
    assert all(not memory.vocabulary.slots()[slot].sensitivity for slot in HEALTH)
    if labels:
        memory.vocabulary.define_slot("allergy", sensitivity=labels)
    agent = memory.bind(tenure.Principal(user="ann"))
    entity = agent.write(ann, "allergy", "nuts", scope={}).entity
    assert entity is not None
    for user, values in (("ann", own), ("bob", others)):
        reader = memory.bind(tenure.Principal(user=user))
        assert reader.as_of().slot(entity, "allergy").values == values
