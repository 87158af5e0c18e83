"""What a case tells of a write that its reader may not see: nothing, not even that there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tenure

SECRET = "Nightshade Quokka"


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

    def note(self, writer: tenure.Memory, name: str, **fields: str) -> tenure.Receipt:
        """A text about a project."""
        return writer.write(
            {"name": name, "type": "project"},
            content="It begins in May.",
            object_type="retrieved_passage",
            why_it_matters="planning",
            **fields,
        )


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.owner.close()


def open_hidden_case(world: World) -> str:
    """A case that a hidden write opened, about a name near to one that all may see."""
    world.note(world.ann, "Nightshade Release Plan")
    receipt = world.note(
        world.hal, "Nightshade Release", security_classification="highly_restricted"
    )
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
        with pytest.raises(tenure.NotFound) as refusal:
            reader.reviews.get(review_id)
        assert refusal.value.code == "unknown_review"


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
    world.note(world.hal, "Nightshade Release Plan", scope=scope)
    (review_id,) = world.note(world.hal, "Nightshade Release", scope=scope).reviews
    deciding = world.owner.bind(tenure.Principal(user="hal", roles=frozenset({"owner"})))
    deciding.reviews.reject(review_id)

    assert world.hal.reviews.progress().decided == 1
    assert world.ann.reviews.progress().decided == 0


def test_a_candidate_goes_by_a_name_that_may_be_seen(world: World) -> None:
    world.note(world.hal, SECRET, security_classification="highly_restricted")
    world.note(world.owner, "Nightshade Quoka")

    def said(reader: tenure.Memory) -> str:
        cases = reader.reviews.list("all", kind="all")
        (candidate,) = [candidate for case in cases for candidate in case.candidates]
        return candidate.name + "".join(feature.detail for feature in candidate.features)

    assert SECRET in said(world.hal)
    for reader in (world.ann, world.steward):
        assert SECRET not in said(reader)


def test_a_page_tells_of_no_slot_that_is_hidden(world: World) -> None:
    plan = world.note(world.ann, "Nightshade Release Plan")
    question = world.note(world.ann, "Nightshade Release")
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
    plan = world.note(world.ann, "Nightshade Release Plan")
    (review_id,) = world.note(world.ann, "Nightshade Release").reviews
    before = world.ann.reviews.get(review_id).review

    stu = world.owner.bind(tenure.Principal(user="stu", roles=frozenset({"admin"})))
    assert plan.entity is not None
    stu.entities.add_alias(plan.entity, "Belladonna", scope={"user": "stu"})
    assert world.ann.reviews.get(review_id).review == before


def test_a_name_that_two_share_is_told_to_who_may_see_it(world: World) -> None:
    world.note(world.ann, "Nightshade")
    world.note(world.ann, "Belladonna")
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
