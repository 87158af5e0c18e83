"""Identifiers have a scope and a teacher: who may read a write that taught one knows it."""

from typing import Any

import pytest

from tenure import Conflict, Memory, NotFound, Principal
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused

SAM = "Sam Rivera"
EMAIL = "sam@private.example"


def caller(memory: Memory, user: str, **fields: Any) -> Memory:
    return memory.bind(Principal(tenant=memory.principal.tenant, user=user, **fields))


def person(name: str, **external_ids: str) -> dict[str, Any]:
    return {"name": name, "type": "person", "external_ids": external_ids}


def identifiers(memory: Memory, name: str = SAM) -> dict[str, str]:
    """What a caller is shown of a person's identifiers, by every way that shows any."""
    view = memory.as_of()
    (listed,) = [entity for entity in memory.entities.list() if name in entity.aliases]
    answers = [
        dict(listed.external_ids),
        dict(memory.entities.get(name).entity.external_ids),
        dict(view.entity(name).external_ids),
        dict(view.neighbourhood(name).entities[0].external_ids),
        dict(reversed(listed.identifiers)),
    ]
    for state in view.facts(name).values():
        if state.object is not None:
            answers.append(dict(state.object.external_ids))

    assert all(answer == answers[0] for answer in answers)
    return answers[0]


def test_what_one_user_says_in_private_identifies_nobody_for_others(memory: Memory) -> None:
    ann, bob = caller(memory, "ann"), caller(memory, "bob")
    public = memory.write(person(SAM), "office", "Rome")
    bob.write(person(SAM, email=EMAIL), "title", "CFO", scope={"user": "bob"})

    assert identifiers(bob) == {"email": EMAIL}
    assert identifiers(ann) == {}
    assert bob.as_of().entity(person("Somebody", email=EMAIL)).entity_id == public.entity
    with pytest.raises(NotFound):
        ann.as_of().entity(person("Somebody", email=EMAIL))
    assert ann.entities.resolve(person("Ruth Okafor", email=EMAIL)).decision == "new"


def test_a_wider_write_teaches_a_private_identifier_to_all(memory: Memory) -> None:
    ann, bob = caller(memory, "ann"), caller(memory, "bob")
    memory.write(person(SAM), "office", "Rome")
    bob.write(person(SAM, email=EMAIL), "title", "CFO", scope={"user": "bob"})
    memory.write(person(SAM, email=EMAIL), "skill", "welding")

    assert identifiers(ann) == identifiers(bob) == {"email": EMAIL}
    before = bob.write(person(SAM, email=EMAIL), "skill", "sailing", scope={"user": "bob"})
    assert before.resolution is not None
    assert before.resolution.reason == "exact"


def test_an_identifier_is_told_by_the_permissions_of_its_teacher_today(memory: Memory) -> None:
    ann = caller(memory, "ann")
    memory.write(person(SAM), "office", "Rome")
    teacher = memory.write(person(SAM, email=EMAIL), "title", "CFO")
    assert identifiers(ann) == {"email": EMAIL}

    memory.reclassify(teacher.object_id, security_classification="highly_restricted")
    assert identifiers(ann) == {}
    assert identifiers(memory) == {"email": EMAIL}
    stranger = ann.write(person("Ruth Okafor", email=EMAIL), "office", "Oslo", dry_run=True)
    assert stranger.resolution is not None
    assert stranger.resolution.decision == "new"

    # Who states it for all to read tells it to all.
    memory.write(person(SAM, email=EMAIL), "skill", "welding")
    assert identifiers(ann) == {"email": EMAIL}


def test_a_hidden_number_excludes_nobody(memory: Memory) -> None:
    ann, bob = caller(memory, "ann"), caller(memory, "bob")
    public = memory.write(person(SAM), "office", "Rome")
    bob.write(person(SAM, crm="7"), "title", "CFO", scope={"user": "bob"})
    told = ann.write(person(SAM, crm="8"), "skill", "welding")

    assert told.entity == public.entity
    assert identifiers(ann) == {"crm": "8"}
    assert identifiers(bob) == {"crm": "7"}
    assert dict(memory.entities.get(SAM).entity.external_ids) == {"crm": "8"}


def test_one_number_that_two_users_keep_to_themselves_is_two_people(memory: Memory) -> None:
    ann, bob = caller(memory, "ann"), caller(memory, "bob")
    of_ann = ann.write(person("Sam", crm="7"), "office", "Rome", scope={"user": "ann"})
    of_bob = bob.write(person("Dana", crm="7"), "office", "Oslo", scope={"user": "bob"})
    assert of_ann.entity != of_bob.entity

    # What the tenant says of the number is a third; each goes on with their own.
    of_all = memory.write(person("Eve", crm="7"), "office", "Bern")
    assert of_all.entity not in (of_ann.entity, of_bob.entity)
    for name, user, own, first in (("ann", ann, of_ann, "Sam"), ("bob", bob, of_bob, "Dana")):
        told = user.write(person(f"{first} Brandt", crm="7"), "title", "CFO", scope={"user": name})
        assert told.entity == own.entity
        assert user.as_of().entity(person("The same", crm="7")).entity_id == own.entity
    assert memory.reviews.list() == ()


def test_two_people_of_one_number_in_one_scope_are_never_chosen_between(memory: Memory) -> None:
    ann = caller(memory, "ann", projects=frozenset({"apollo", "nova"}))
    for project, name in (("apollo", "Sam"), ("nova", "Dana")):
        bound = caller(memory, name.casefold(), projects=frozenset({project}))
        bound.write(person(name, crm="7"), "office", "Rome", scope={"project": project})

    with refused(Conflict, "identifier_conflict"):
        ann.write(person("Eve", crm="7"), "office", "Bern", scope={"user": "ann"})


def test_a_user_is_one_person_in_every_session(memory: Memory) -> None:
    ids: set[str | None] = set()
    for session in ("s1", "s2"):
        ann = caller(memory, "ann", session=session)
        scope = {"user": "ann", "session": session}
        told = ann.write(person("Ann Lee", user="ann"), "office", session, scope=scope)
        ids.add(told.entity)
    assert len(ids) == 1


def test_a_copy_keeps_who_taught_an_identifier(open_memory: Open, tmp_path: Any) -> None:
    memory = open_memory()
    memory.write(person(SAM), "office", "Rome")
    caller(memory, "bob").write(person(SAM, email=EMAIL), "title", "CFO", scope={"user": "bob"})
    memory.export(tmp_path / "all.jsonl")

    copy = open_memory()
    copy.import_file(tmp_path / "all.jsonl")
    assert identifiers(caller(copy, "ann")) == {}
    assert identifiers(caller(copy, "bob")) == {"email": EMAIL}


@pytest.mark.parametrize(
    "strangers", [("Vera Stolz", "Ivo Kraan"), ("Vera Stolz", "Ivo Kraan", "Uma Tell")]
)
def test_a_third_stranger_at_an_address_puts_the_binds_that_rested_on_it_in_doubt(
    memory: Memory, strangers: tuple[str, ...]
) -> None:
    jo = memory.write(person("Jo Wend", email="jw@mill.example"), "office", "1")
    bound = memory.write(person("J. Wend", email="jw@mill.example"), "office", "1")
    assert bound.entity == jo.entity
    for name in strangers:
        memory.write(person(name, email="jw@mill.example"), "office", "1")
    doubted = [case.mention for case in memory.reviews.list(kind="all") if case.reason == "doubted"]
    assert doubted == (["J. Wend"] if len(strangers) == 3 else [])
