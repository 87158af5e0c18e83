"""The review queue under pressure: floods, groups, bulk decisions and a second steward."""

import threading
from typing import Any

import pytest

from tenure import (
    Conflict,
    EntityRef,
    Forbidden,
    InvalidInput,
    Memory,
    Policy,
    Principal,
    Unavailable,
    Write,
)
from tenure.schema.errors import NotFound
from tenure.schema.policy import ResolutionPolicy
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused


def opened(open_memory: Open, **rules: Any) -> Memory:
    memory = open_memory(policy=Policy(resolution=ResolutionPolicy(**rules)))
    memory.vocabulary.define_slot("noted", description="what was noted")
    return memory


def say(memory: Memory, name: str, **more: Any) -> Any:
    return memory.write(EntityRef(name=name, type="person"), "noted", name, **more)


PEOPLE = ("Sam Rivera", "Tom Becker", "Lena Vogel", "Nora Klein")
SHORT = ("S. Rivera", "T. Becker", "L. Vogel", "N. Klein")


def as_user(memory: Memory, user: str, role: str) -> Memory:
    tenant = memory.principal.tenant
    return memory.bind(Principal(tenant=tenant, user=user, roles=frozenset({role})))


def test_a_flood_of_doubtful_names_is_held_back(open_memory: Open) -> None:
    """Abuse case 24: quotas, grouping by source, backpressure."""
    memory = opened(open_memory, source_backlog=2)
    for name in PEOPLE:
        say(memory, name)
    mallory, ann = as_user(memory, "mallory", "agent"), as_user(memory, "ann", "agent")
    flood: dict[str, Any] = {"source_origin": "tool://scraper"}
    for name in SHORT[:2]:
        say(mallory, name, **flood)
    with refused(Unavailable, "review_backlog") as caught:
        say(mallory, SHORT[2], **flood)
    assert caught.value.data["waiting"] == 2
    assert say(mallory, "Zoe Quinn", **flood).outcome == "accepted"  # new names go on
    assert say(mallory, SHORT[0], **flood).outcome == "pending_review"  # and known doubts
    assert say(ann, SHORT[2], **flood).reviews  # another writer is not held back
    assert {(g.value, g.cases) for g in memory.reviews.groups("source")} == {("tool://scraper", 3)}
    memory.reviews.reject(memory.reviews.list()[0].review_id)
    (first, *_) = memory.reviews.matching(source="tool://scraper")
    memory.reviews.reject(first.review_id)
    assert say(mallory, SHORT[3], **flood).reviews  # what was decided makes room
    assert memory.doctor() == ()


def test_a_flood_in_one_transaction_is_held_back_as_a_whole(open_memory: Open) -> None:
    memory = opened(open_memory, source_backlog=2)
    for name in PEOPLE:
        say(memory, name)
    before = memory.as_of().tx
    with pytest.raises(Unavailable):
        memory.write_many(
            [
                Write(subject=EntityRef(name=name, type="person"), slot="noted", value="x")
                for name in SHORT
            ]
        )
    assert memory.as_of().tx == before
    assert memory.reviews.list() == ()


def test_cases_are_grouped_and_decided_in_bulk(open_memory: Open) -> None:
    memory = opened(open_memory)
    for name in PEOPLE:
        say(memory, name)
    for number, name in enumerate(SHORT):
        say(memory, name, source_origin=f"import://{'crm' if number else 'hr'}")
    assert [(g.value, g.cases) for g in memory.reviews.groups("source")] == [
        ("import://crm", 3),
        ("import://hr", 1),
    ]
    assert {g.value for g in memory.reviews.groups()} == set(SHORT)
    assert [g.cases for g in memory.reviews.groups("type")] == [4]
    with refused(InvalidInput, "unknown_vocabulary"):
        memory.reviews.groups("colour")
    preview = memory.reviews.matching(source="import://crm")
    assert len(memory.reviews.decide_all(preview, "accept")) == 3
    assert [case.mention for case in memory.reviews.list()] == ["S. Rivera"]


def test_a_second_steward_must_agree_where_the_policy_says_so(open_memory: Open) -> None:
    memory = opened(open_memory, second_steward=True)
    sam = say(memory, "Sam Rivera").entity
    say(memory, "S. Rivera")
    ann, ben = as_user(memory, "ann", "steward"), as_user(memory, "ben", "steward")
    (case,) = memory.reviews.list()
    first = ann.reviews.accept(case.review_id, version=case.version)
    assert first.merge is None
    assert first.review.decided_by == "ann"
    (case,) = memory.reviews.list()
    with refused(Forbidden, "second_approval_required"):
        ann.reviews.accept(case.review_id)
    with pytest.raises(Forbidden):
        ann.entities.merge(sam, case.entity_id)
    done = ben.reviews.accept(case.review_id, version=case.version)
    assert done.merge is not None
    assert done.canonical_id == sam
    ben.reviews.undo(case.review_id)
    assert ann.reviews.accept(case.review_id).merge is None  # the word counts anew
    memory.reviews.accept(case.review_id)  # the owner decides alone
    assert memory.as_of().entity("S. Rivera").entity_id == sam
    assert memory.doctor() == ()


def test_only_a_steward_teaches_a_name(open_memory: Open) -> None:
    """Abuse case 21: a name like "the boss" attached to the attacker's entity."""
    memory = opened(open_memory)
    mine = say(memory, "Mallory Smith").entity
    with refused(Forbidden, "privilege_required"):
        as_user(memory, "mallory", "agent").entities.add_alias(mine, "the boss")


def test_a_page_says_what_would_tip_it_and_what_is_in_the_way(open_memory: Open) -> None:
    memory = opened(open_memory)
    memory.vocabulary.define_slot("works_with", description="a relation", value_type="entity")
    sam = say(memory, "Sam Rivera").entity
    short = say(memory, "S. Rivera")
    (case,) = memory.reviews.list()
    assert any("same e-mail" in tip for tip in memory.reviews.get(case.review_id).tips)
    for one in (sam, short.entity):
        memory.write(one, "works_with", EntityRef(name="Nova", type="project"))
    page = memory.reviews.get(case.review_id)
    assert any("lifts nickname_only" in tip for tip in page.tips)
    assert page.impact is not None
    assert page.impact.common == ("Nova",)
    assert page.impact.standing == ()
    before = memory.reviews.progress()
    assert (before.waiting, before.decided, before.agreement) == (1, 0, None)
    memory.reviews.reject(case.review_id)
    after = memory.reviews.progress()
    assert (after.waiting, after.oldest, after.decided, after.agreement) == (0, None, 1, 0.0)
    assert memory.reviews.get(case.review_id).impact.standing == ()  # its own judgement
    other = say(memory, "Zed Zulu").entity
    memory.entities.unmerge(memory.entities.merge(other, sam).merge_id)
    memory.entities.merge(other, short.entity)
    (standing,) = memory.reviews.get(case.review_id).impact.standing
    assert standing.startswith("service (human)")


def test_of_two_stewards_at_once_one_decides(open_memory: Open) -> None:
    """Abuse case 26: the second is told that the case has moved on."""
    memory = opened(open_memory)
    say(memory, "Sam Rivera")
    say(memory, "S. Rivera")
    (case,) = memory.reviews.list()
    ready, said = threading.Barrier(4), []

    def decide(user: str, accept: bool) -> None:
        mine = as_user(memory, user, "steward").reviews
        ready.wait()
        try:
            done = (mine.accept if accept else mine.reject)(case.review_id, version=case.version)
            said.append(done.review.decided_by)
        except Conflict as refused:
            said.append(refused.code)

    threads = [
        threading.Thread(target=decide, args=(user, user < "c")) for user in ("a", "b", "c", "d")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said.count("stale_version") == 3
    assert len([one for one in said if one in ("a", "b", "c", "d")]) == 1
    assert memory.reviews.progress().decided == 1
    assert memory.doctor() == ()


def test_what_was_unsure_is_asked_again_when_something_new_is_said(memory: Memory) -> None:
    for name in ("Sam Rivera", "S. Rivera"):
        memory.write(EntityRef(name=name, type="person"), "skill", name)
    (case,) = memory.reviews.list()
    memory.reviews.unsure(case.review_id)
    assert memory.reviews.list() == ()
    assert len(memory.reviews.list("unsure")) == 1

    memory.write("Tomas Novak", "skill", "chess")
    assert memory.reviews.list() == ()
    for name in ("Sam Rivera", "S. Rivera"):
        memory.write(name, "email", "sam@acme.example")
    (again,) = memory.reviews.list()
    assert (again.review_id, again.state) == (case.review_id, "unsure")
    assert memory.reviews.list("unsure") == ()

    candidate = again.candidates[0]
    assert candidate.log_odds > case.candidates[0].log_odds
    assert "email" in {feature.name for feature in candidate.features}
    assert "unsure" in candidate.vetoes
    assert memory.reviews.get(case.review_id).review.candidates == again.candidates
    memory.reviews.accept(case.review_id)
    assert memory.reviews.list() == ()


def test_an_open_case_is_scored_by_what_is_known_today(memory: Memory) -> None:
    for name in ("Sam Rivera", "S. Rivera"):
        memory.write(EntityRef(name=name, type="person"), "skill", name)
    (case,) = memory.reviews.list()
    assert memory.reviews.list() == (case,)
    for name, day in (("Sam Rivera", "1980-04-02"), ("S. Rivera", "1991-12-24")):
        memory.write(name, "birthday", day)
    (rescored,) = memory.reviews.list()
    assert "attribute_conflict" in rescored.candidates[0].vetoes
    assert rescored.candidates[0].log_odds < case.candidates[0].log_odds
    assert rescored.version == case.version


def test_a_page_shows_first_whom_accepting_means(memory: Memory) -> None:
    for name in ("Samuel Rivera", "Samantha Rivera", "S. Rivera"):
        memory.write(EntityRef(name=name, type="person"), "skill", name)
    (case,) = memory.reviews.list()
    later = next(row for row in case.candidates if row.entity != case.candidates[0].entity)
    for name in (later.name, "S. Rivera"):
        memory.write(name, "email", "s@acme.example")
    page = memory.reviews.get(case.review_id)
    assert page.candidates[0].entity_id == later.entity
    receipt = memory.reviews.accept(case.review_id)
    assert receipt.review.decided_entity == later.entity


def test_of_equal_cases_the_one_whose_people_prompts_read_comes_first(memory: Memory) -> None:
    facts = {"Smythe": ("office", "Rome"), "Walden": ("response_style", "terse")}
    for surname, fact in facts.items():
        for name in ("Jonathan", "Jon"):
            memory.write(EntityRef(name=f"{name} {surname}", type="person"), *fact)
    first, second = (case.mention for case in memory.reviews.list())

    question = {"Jon Smythe": "Which office?", "Jon Walden": "Which response style?"}[second]
    for number in range(3):
        memory.compile("assistant", f"{question} {number}", budget_tokens=600)
    memory.flush()

    assert [case.mention for case in memory.reviews.list()] == [second, first]


def test_two_stewards_make_two_stored_entities_one(open_memory: Open) -> None:
    memory = opened(open_memory, second_steward=True)
    ids = [say(memory, name).entity for name in ("Elisabeth Braun", "Lis Meyer")]
    ann, ben = as_user(memory, "ann", "steward"), as_user(memory, "ben", "steward")
    with pytest.raises(Forbidden, match="a case that both accept"):
        ann.entities.merge(*ids)

    case = ann.reviews.open(*ids, reason="married in May")
    assert (case.mention, case.candidates[0].name) == ("Lis Meyer", "Elisabeth Braun")
    assert case.candidates[0].features
    assert ben.reviews.open(*reversed(ids)).review_id == case.review_id
    assert [row.review_id for row in ann.reviews.list(kind="possible_same_as")] == [case.review_id]

    assert ann.reviews.accept(case.review_id).merge is None
    assert ben.reviews.accept(case.review_id).merge is not None
    assert memory.as_of().entity("Lis Meyer").entity_id == ids[0]
    for pair in (ids, [ids[0], ids[0]]):
        with refused(Conflict, "already_decided"):
            ann.reviews.open(*pair)

    ben.reviews.undo(case.review_id)
    assert ann.reviews.open(*ids).state == "undone"


def test_only_a_steward_opens_a_case_and_only_about_somebody(open_memory: Open) -> None:
    memory = opened(open_memory)
    sam = say(memory, "Sam Rivera").entity
    with pytest.raises(Forbidden):
        as_user(memory, "mia", "member").reviews.open(sam, sam)
    with refused(NotFound, "unknown_entity"):
        memory.reviews.open(sam, "00000000-0000-0000-0000-00000000000f")
