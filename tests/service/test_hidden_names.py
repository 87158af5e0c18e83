"""Names that others use where the caller may not see it: they show, count and bind nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tenure
from tenure.store.sqlite.reader import SqliteReader

SECRET = "Nightshade Quokka"


@pytest.fixture
def owner() -> Iterator[tenure.Memory]:
    principal = tenure.Principal(
        roles=frozenset({"owner"}), authority_level=0, clearance="highly_restricted"
    )
    with tenure.connect(":memory:", principal=principal) as memory:
        yield memory


def member(owner: tenure.Memory, user: str, **fields: object) -> tenure.Memory:
    """The memory of a user of the tenant."""
    return owner.bind(tenure.Principal(user=user, **fields))  # type: ignore[arg-type]


def note(
    writer: tenure.Memory, name: str, type: str = "project", **fields: object
) -> tenure.Receipt:
    """A text about something."""
    return writer.write(
        {"name": name, "type": type},
        content="It begins in May.",
        object_type="retrieved_passage",
        why_it_matters="planning",
        **fields,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("guess", ["Nightshade", "Nightshade Quoka", SECRET])
def test_no_guess_finds_a_name_in_a_higher_classification(owner: tenure.Memory, guess: str) -> None:
    note(owner, SECRET, security_classification="highly_restricted", authority_level=2)
    resolution = member(owner, "ann").entities.resolve({"name": guess, "type": "project"})

    assert resolution.entity is None
    assert resolution.candidates == ()
    assert owner.entities.resolve({"name": guess, "type": "project"}).candidates != ()


def test_what_others_call_an_entity_among_themselves_keeps_no_name_from_binding(
    owner: tenure.Memory,
) -> None:
    ann, bob = member(owner, "ann"), member(owner, "bob")
    note(ann, "Acme Corp", "organization")

    def decision() -> str:
        return ann.entities.resolve({"name": "Acme", "type": "organization"}).decision.value

    assert decision() == "bind"
    for name in ("ACME Corporation", "Acme Corp.", "Acme Co"):
        note(bob, name, "organization", scope={"user": "bob"})
    assert decision() == "bind"


def test_a_write_that_others_do_not_see_changes_no_type_for_them(owner: tenure.Memory) -> None:
    ann, bob = member(owner, "ann"), member(owner, "bob")
    note(ann, "Nightshade", "unknown")
    note(bob, "Nightshade", "project", scope={"user": "bob"})
    assert ann.as_of().entity("Nightshade").type == "unknown"

    note(bob, "Nightshade", "project")
    assert ann.as_of().entity("Nightshade").type == "project"


def test_a_private_entity_learns_its_type_from_its_owner(owner: tenure.Memory) -> None:
    ann = member(owner, "ann")
    note(ann, "Nightshade", "unknown", scope={"user": "ann"})
    note(ann, "Nightshade", "project", scope={"user": "ann"})
    assert ann.as_of().entity("Nightshade").type == "project"


def test_an_entity_is_told_without_the_ids_that_others_made(owner: tenure.Memory) -> None:
    ann, bob = member(owner, "ann"), member(owner, "bob")
    entity_id = note(ann, "Acme Corp", "organization").entity
    note(bob, "ACME Corporation", "organization", scope={"user": "bob"})
    assert len(bob.as_of().entity("Acme Corp").members) == 2

    view = ann.as_of()
    for entity_view in (
        view.entity("Acme Corp"),
        view.neighbourhood("Acme Corp").entities[0],
        ann.entities.get("Acme Corp").entity,
        *ann.entities.list(),
    ):
        assert entity_view.members == (entity_id,)


def test_around_a_guessed_name_nobody_is_told(owner: tenure.Memory) -> None:
    hidden = note(owner, SECRET, security_classification="highly_restricted", authority_level=2)
    view = member(owner, "ann").as_of()

    assert hidden.entity is not None
    for guess in (SECRET, hidden.entity):
        answer = view.neighbourhood(guess)
        assert (answer.entities, answer.facts, answer.edges) == ((), (), ())
    assert owner.as_of().neighbourhood(SECRET).entities != ()


READS = {
    "slot": lambda memory, entity: memory.as_of().slot(entity, "office"),
    "facts": lambda memory, entity: memory.as_of().facts(entity),
    "timeline": lambda memory, entity: memory.as_of().timeline(entity, "office"),
    "history": lambda memory, entity: memory.history(entity, "office"),
    "log": lambda memory, entity: memory.log(entity=entity),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_an_unknown_id_takes_the_reads_of_a_hidden_one(
    owner: tenure.Memory,
    read: Callable[[tenure.Memory, str], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hidden = member(owner, "ann").write("Zoe Park", "office", "Rome", scope={"user": "ann"})
    bob = member(owner, "bob")
    reads: list[str] = []
    for name in ("known", "versions", "around", "name_rows", "changes", "events_at"):
        method = getattr(SqliteReader, name)

        def noting(*args: Any, _name: str = name, _method: Any = method, **options: Any) -> Any:
            reads.append(_name)
            return _method(*args, **options)

        monkeypatch.setattr(SqliteReader, name, noting)

    answers: list[tuple[object, list[str]]] = []
    for entity in (hidden.entity, "00000000-0000-4000-8000-000000000000"):
        reads.clear()
        answers.append((read(bob, entity), list(reads)))
    assert answers[0] == answers[1]
    assert len(answers[0][1]) > 1
