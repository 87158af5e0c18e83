"""Personal data is whole for whom it is about and for named roles, and masked in every read."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tenure import EntityRef, Forbidden, Memory
from tenure.schema.policy import DEFAULT
from tenure.schema.values import whole_repr
from tenure.tests.store.builders import Open, caller
from tenure.tests.support.refusals import refused

ADDRESS = "QUOKKAROAD 7"
ANN = EntityRef(name="Ann Lee", type="person", external_ids={"user": "ann"})


def answers(memory: Memory, object_id: str) -> str:
    """Everything that every read says of an object, as one text."""
    view = memory.as_of()
    return whole_repr(
        [
            view.slot("Ann Lee", "office"),
            view.value("Ann Lee", "office"),
            view.facts("Ann Lee"),
            view.timeline("Ann Lee", "office"),
            view.neighbourhood("Ann Lee"),
            view.search("QUOKKAROAD"),
            view.object(object_id),
            memory.history("Ann Lee", "office"),
            memory.diff("-infinity", "infinity"),
            memory.explain(object_id),
            memory.entities.get("Ann Lee"),
            memory.compile("code_generation", "the office of Ann Lee").text,
        ]
    )


def test_personal_data_is_masked_in_every_read(memory: Memory) -> None:
    object_id = memory.write(ANN, "office", ADDRESS, sensitivity=["personal"]).object_id
    for reader in (memory, caller(memory, user="bob"), caller(memory, roles={"admin"})):
        text = answers(reader, object_id)
        assert "QUOKKAROAD" not in text
        assert "[masked]" in text
        assert reader.as_of().search("QUOKKAROAD").hits == ()
        with pytest.raises(Forbidden):
            reader.rehydrate(object_id)


def test_whom_it_is_about_sees_it_whole(memory: Memory) -> None:
    object_id = memory.write(ANN, "office", ADDRESS, sensitivity=["personal"]).object_id
    ann = caller(memory, user="ann")
    assert ann.as_of().value("Ann Lee", "office") == ADDRESS
    assert [hit.object.object_id for hit in ann.as_of().search("QUOKKAROAD").hits] == [object_id]
    assert ADDRESS in ann.rehydrate(object_id).data.decode()


def test_a_compile_for_whom_it_is_about_holds_it_whole(memory: Memory) -> None:
    memory.write(ANN, "office", ADDRESS, sensitivity=["personal"])
    memory.write("Bo Park", "office", "QUOKKALANE 9", sensitivity=["personal"])
    ann, bob = caller(memory, user="ann"), caller(memory, user="bob")
    question = "the office of Ann Lee and of Bo Park"
    own = ann.compile("code_generation", question, entities=["Ann Lee", "Bo Park"])
    assert ADDRESS in own.text
    assert "QUOKKALANE" not in own.text
    assert ann.replay(own).text == own.text
    assert ADDRESS in ann.compile("code_generation", "QUOKKAROAD").text.replace("QUOKKAROAD\n", "")

    other = bob.compile("code_generation", question, entities=["Ann Lee", "Bo Park"])
    assert "QUOKKA" not in other.text
    assert other.text.count("[masked]") == 2


def test_a_merged_entity_is_still_whom_it_is_about(memory: Memory) -> None:
    memory.write(ANN, "office", ADDRESS, sensitivity=["personal"])
    memory.write("Annabel Lee", "email", "quokka@example.org", sensitivity=["personal"])
    ids = {entity.name: entity.entity_id for entity in memory.entities.list()}
    memory.entities.merge(ids["Ann Lee"], ids["Annabel Lee"], reason="one person")
    ann = caller(memory, user="ann")
    envelope = ann.compile("code_generation", "office and email", entities=["Annabel Lee"])
    assert "quokka@example.org" in envelope.text
    assert ADDRESS in envelope.text
    assert ann.replay(envelope).text == envelope.text


def test_who_says_that_a_known_person_is_they_sees_no_more_of_it(memory: Memory) -> None:
    object_id = memory.write(
        {"name": "Ann Lee", "type": "person"}, "office", ADDRESS, sensitivity=["personal"]
    ).object_id
    mallory = caller(memory, user="mallory", roles={"member"})
    claimed = EntityRef(name="Ann Lee", type="person", external_ids={"user": "mallory"})
    receipt = mallory.write(claimed, "title", "director")
    assert receipt.entity == memory.as_of().entity("Ann Lee").entity_id

    assert "QUOKKAROAD" not in answers(mallory, object_id)
    envelope = mallory.compile("code_generation", "the title of Ann Lee", entities=["Ann Lee"])
    assert "director" in envelope.text
    assert mallory.replay(envelope).text == envelope.text


def test_who_makes_a_person_first_sees_not_whole_what_others_write_of_the_name(
    memory: Memory,
) -> None:
    mallory = caller(memory, user="mallory", roles={"member"})
    claimed = EntityRef(name="Ann Lee", type="person", external_ids={"user": "mallory"})
    personal: dict[str, Any] = {"sensitivity": ["personal"]}
    made = mallory.write(claimed, "title", "director", scope={}, **personal)
    object_id = memory.write("Ann Lee", "office", ADDRESS, **personal).object_id
    assert memory.as_of().entity("Ann Lee").entity_id == made.entity

    assert "QUOKKAROAD" not in answers(mallory, object_id)
    assert mallory.as_of().value("Ann Lee", "office") == "[masked]"
    # What they wrote of themselves is theirs to read, and nobody else's.
    assert mallory.as_of().value("Ann Lee", "title") == "director"
    assert caller(memory, user="bob").as_of().value("Ann Lee", "title") == "[masked]"
    envelope = mallory.compile(
        "code_generation", "office and title of Ann Lee", entities=["Ann Lee"]
    )
    assert "director" in envelope.text
    assert ADDRESS not in envelope.text
    assert mallory.replay(envelope).text == envelope.text

    # Somebody who may say so says that it is they.
    hr = caller(memory, user="hr", roles={"member"}, source_kinds={"system_of_record"})
    hr.write(claimed, "team", "sales", source_origin="record://hr")
    assert mallory.as_of().value("Ann Lee", "office") == ADDRESS


@pytest.mark.parametrize(
    ("writer", "origin"),
    [
        ({"user": "eve", "roles": {"steward"}}, "user://eve"),
        ({"user": "hr", "authority_level": 1}, "user://hr"),
        ({"user": "hr", "roles": {"member"}, "source_kinds": {"system_of_record"}}, "record://hr"),
    ],
    ids=["a steward", "a writer of level 1", "a system of record"],
)
def test_whom_others_may_say_it_is_sees_it_whole(
    memory: Memory, writer: dict[str, Any], origin: str
) -> None:
    memory.write({"name": "Ann Lee", "type": "person"}, "office", ADDRESS, sensitivity=["personal"])
    ann = caller(memory, user="ann")
    assert ann.as_of().value("Ann Lee", "office") == "[masked]"

    caller(memory, **writer).write(ANN, "title", "director", source_origin=origin)
    assert ann.as_of().value("Ann Lee", "office") == ADDRESS
    envelope = ann.compile("code_generation", "the office of Ann Lee", entities=["Ann Lee"])
    assert ADDRESS in envelope.text
    assert ann.replay(envelope).text == envelope.text


def test_the_own_scope_and_named_roles_see_it_whole(open_memory: Open) -> None:
    shown = replace(DEFAULT, compile=replace(DEFAULT.compile, show_personal_to=("hr",)))
    memory = open_memory(policy=shown)
    own = {"scope": {"user": "eve"}}
    caller(memory, user="eve").write("Bo Park", "office", ADDRESS, sensitivity=["personal"], **own)
    assert caller(memory, user="eve").as_of().value("Bo Park", "office") == ADDRESS
    object_id = memory.write(ANN, "office", ADDRESS, sensitivity=["personal"]).object_id
    assert "QUOKKAROAD" in answers(caller(memory, roles={"hr"}), object_id)
    assert "QUOKKAROAD" not in answers(memory, object_id)


def test_masking_hides_no_other_data(memory: Memory) -> None:
    memory.write(ANN, "office", ADDRESS, sensitivity=["commercial_secret"])
    value = json.dumps(caller(memory, user="bob").as_of().value("Ann Lee", "office"))
    assert "masked" not in value


def test_a_replay_shows_nobody_what_is_masked_for_them(memory: Memory) -> None:
    memory.write(ANN, "office", ADDRESS, sensitivity=["personal"])
    ann = caller(memory, user="ann")
    envelope = ann.compile("code_generation", "the office of Ann Lee", entities=["Ann Lee"])
    assert ADDRESS in envelope.text

    auditor = caller(memory, user="eve", roles={"auditor"})
    with refused(Forbidden, "personal_data") as refusal:
        auditor.replay(envelope)
    assert ADDRESS not in str(refusal.value)
    with pytest.raises(Forbidden):
        auditor.what_if(envelope.envelope_id)


def test_a_replay_that_masks_it_may_be_looked_at(memory: Memory) -> None:
    memory.write(ANN, "office", ADDRESS, sensitivity=["personal"])
    bob = caller(memory, user="bob")
    envelope = bob.compile("code_generation", "the office of Ann Lee", entities=["Ann Lee"])
    assert "[masked]" in envelope.text

    auditor = caller(memory, user="eve", roles={"auditor"})
    assert auditor.replay(envelope).text == envelope.text


def test_a_role_that_sees_it_whole_may_replay_it(open_memory: Open) -> None:
    shown = replace(DEFAULT, compile=replace(DEFAULT.compile, show_personal_to=("hr",)))
    memory = open_memory(policy=shown)
    memory.write(ANN, "office", ADDRESS, sensitivity=["personal"])
    envelope = caller(memory, user="ann").compile("code_generation", "office", entities=["Ann Lee"])

    clerk = caller(memory, user="eve", roles={"auditor", "hr"})
    assert clerk.replay(envelope).text == envelope.text
