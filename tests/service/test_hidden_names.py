"""Names that others use where the caller may not see it: they show, count and bind nowhere."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tenure
from tenure.store.sqlite.reader import SqliteReader
from tenure.tests.support.refusals import refused

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
    for name in ("known", "versions", "around", "name_rows", "changes", "find"):
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


# ---- What a case tells of a write that its reader may not see: nothing, not even that there is
# one.


class World:
    """A tenant in which a role writes what other members may not see."""

    def __init__(self) -> None:
        self.owner = tenure.connect(
            ":memory:",
            principal=tenure.Principal(
                roles=frozenset({"owner"}), authority_level=0, clearance="highly_restricted"
            ),
        )
        self.ann = self.owner.bind(tenure.Principal(user="ann"))
        self.steward = self.owner.bind(tenure.Principal(user="stu", roles=frozenset({"steward"})))
        self.hal = self.owner.bind(
            tenure.Principal(
                user="hal", roles=frozenset({"legal", "steward"}), clearance="highly_restricted"
            )
        )


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.owner.close()


def open_hidden_case(world: World) -> str:
    """A case that a hidden write opened, about a name near to one that all may see."""
    note(world.ann, "Nightshade Release Plan")
    receipt = note(world.hal, "Nightshade Release", security_classification="highly_restricted")
    (review_id,) = receipt.reviews
    return review_id


def test_a_case_of_a_hidden_write_is_in_no_list(world: World) -> None:
    review_id = open_hidden_case(world)
    assert [case.review_id for case in world.hal.reviews.list()] == [review_id]

    for reader in (world.ann, world.steward):
        assert reader.reviews.list("all", kind="all") == ()
        assert reader.reviews.groups() == ()
        assert reader.reviews.matching(type="project") == ()
        assert (
            reader.reviews.progress()
            == world.owner.bind(
                tenure.Principal(tenant="other", roles=frozenset({"owner"}))
            ).reviews.progress()
        )
        with refused(tenure.NotFound, "unknown_review"):
            reader.reviews.get(review_id)


def test_nobody_decides_a_case_that_is_hidden_from_them(world: World) -> None:
    review_id = open_hidden_case(world)

    for decision in (
        world.steward.reviews.accept,
        world.steward.reviews.reject,
        world.steward.reviews.unsure,
    ):
        with pytest.raises(tenure.NotFound):
            decision(review_id)


def test_decided_cases_count_for_those_alone_who_may_see_them(world: World) -> None:
    scope = {"user": "hal"}
    note(world.hal, "Nightshade Release Plan", scope=scope)
    (review_id,) = note(world.hal, "Nightshade Release", scope=scope).reviews
    deciding = world.owner.bind(tenure.Principal(user="hal", roles=frozenset({"owner"})))
    deciding.reviews.reject(review_id)

    assert world.hal.reviews.progress().decided == 1
    assert world.ann.reviews.progress().decided == 0


def test_a_candidate_goes_by_a_name_that_may_be_seen(world: World) -> None:
    note(world.hal, SECRET, security_classification="highly_restricted")
    note(world.owner, "Nightshade Quoka")

    def said(reader: tenure.Memory) -> str:
        cases = reader.reviews.list("all", kind="all")
        (candidate,) = [candidate for case in cases for candidate in case.candidates]
        return candidate.name + "".join(feature.detail for feature in candidate.features)

    assert SECRET in said(world.hal)
    for reader in (world.ann, world.steward):
        assert SECRET not in said(reader)


def test_a_page_tells_of_no_slot_that_is_hidden(world: World) -> None:
    plan = note(world.ann, "Nightshade Release Plan")
    question = note(world.ann, "Nightshade Release")
    for receipt, day in ((plan, 1), (question, 2)):
        assert receipt.entity is not None
        deadline = f"2026-05-0{day}T00:00:00Z"
        world.hal.write(receipt.entity, "deadline", deadline, scope={"user": "hal"})

    def impact(reader: tenure.Memory) -> tuple[int, tuple[str, ...]]:
        page = reader.reviews.get(question.reviews[0])
        assert page.impact is not None
        return page.impact.moves, page.impact.slots

    assert impact(world.hal) == (1, ("deadline",))
    assert impact(world.ann) == (0, ())


def test_a_name_that_is_hidden_is_no_later_evidence(world: World) -> None:
    plan = note(world.ann, "Nightshade Release Plan")
    (review_id,) = note(world.ann, "Nightshade Release").reviews
    before = world.ann.reviews.get(review_id).review

    stu = world.owner.bind(tenure.Principal(user="stu", roles=frozenset({"admin"})))
    assert plan.entity is not None
    stu.entities.add_alias(plan.entity, "Belladonna", scope={"user": "stu"})
    assert world.ann.reviews.get(review_id).review == before


def test_a_name_that_two_share_is_told_to_who_may_see_it(world: World) -> None:
    note(world.ann, "Nightshade")
    note(world.ann, "Belladonna")
    world.hal.write(
        {"name": "Belladonna", "type": "project", "aliases": ["Nightshade"]},
        content="It begins in May.",
        object_type="retrieved_passage",
        why_it_matters="planning",
        scope={"user": "hal"},
    )

    def mentions(reader: tenure.Memory) -> list[str]:
        return [case.mention for case in reader.reviews.list("all", kind="all")]

    assert mentions(world.hal) == ["Belladonna"]
    assert mentions(world.ann) == []
