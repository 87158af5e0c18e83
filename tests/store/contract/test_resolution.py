"""Resolution through the public client: what binds, what waits, and how it is undone."""

from collections.abc import Callable
from typing import Any

import pytest

from tenure import Conflict, EntityRef, Forbidden, InvalidInput, Memory, Policy, Principal, Write
from tenure.schema.interval import INF_US
from tenure.schema.policy import ResolutionPolicy, TypeBands
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused

# (first, second, type, what the second becomes): the regression pairs of D2 and section 12.
PAIRS = [
    ("Room 101", "Room 102", "location", "new"),
    ("Invoice 10023", "Invoice 100234", "document", "new"),
    ("Person Number 1", "Person Number 12", "person", "new"),
    ("us-east-1", "us-east-12", "system", "new"),
    ("Deployment Cluster us-east-1", "Deployment Cluster us-east-12", "system", "new"),
    ("Merged PR #260", "Merged PR #480", "task", "new"),
    ("Tigran", "Iran", "unknown", "new"),
    ("Alice, head of the firm", "Sarah, CTO of the firm", "person", "new"),
    ("Mike Rogers (AL)", "Mike Rogers (MI)", "person", "new"),
    ("ABDULLAH BIN OMAR", "OMAR BIN ABDULLAH", "person", "review"),
    ("高石早苗", "高市早苗", "person", "review"),
    ("中科院计算所", "中科院软件所", "organization", "new"),
    ("Acme AG", "Acme GmbH", "organization", "review"),
    ("IBM", "Intel", "organization", "new"),
    ("IBM", "International Business Machines", "organization", "review"),
    ("Siemens", "Siemens Aktiengesellschaft", "organization", "bind"),
    ("Order Service", "OrderService", "system", "bind"),
    ("Order Service", "OrderService", "unknown", "bind"),
    ("DGIA", "DGIA", "organization", "bind"),
    ("Sam Rivera", "S. Rivera", "person", "review"),
    ("Priya Natarajan", "Priya Natrajan", "unknown", "review"),
]


def say(memory: Memory, name: str, type: str = "unknown", value: str = "x", **more: Any) -> Any:
    more.setdefault("slot", "noted")
    return memory.write(subject=EntityRef(name=name, type=type), value=value, **more)


UNSAMPLED = Policy(resolution=ResolutionPolicy(audit_share=0.0))
"""One suggestion in twenty is listed as a sample to audit instead."""


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    opened = open_memory(policy=UNSAMPLED)
    opened.vocabulary.define_slot("noted", description="what was noted")
    opened.vocabulary.define_slot("works_with", description="a relation", value_type="entity")
    return opened


@pytest.mark.parametrize(("first", "second", "type", "becomes"), PAIRS)
def test_a_regression_pair_is_decided_as_it_must(
    memory: Memory, first: str, second: str, type: str, becomes: str
) -> None:
    one, two = say(memory, first, type), say(memory, second, type)
    if becomes == "new" and two.resolution.decision != "new":
        assert two.resolution.score < 0.95  # a review is never an automatic merge
    assert two.resolution.decision == becomes
    assert (two.entity == one.entity) is (becomes == "bind")
    assert memory.doctor() == ()


def test_a_score_binds_by_a_raw_id_of_its_own_and_can_be_taken_back(memory: Memory) -> None:
    one, two = (
        say(memory, "Order Service", "system", "a"),
        say(memory, "OrderService", "system", "b"),
    )
    assert two.resolution.entity != one.entity == two.entity
    assert memory.as_of().value("Order Service", "noted") == "b"
    before = memory.as_of(tx=one.tx)
    (row,) = memory.entities.get(one.entity).judgements
    assert (row.verdict, row.judged_by, row.evidence["vetoes"]) == ("MATCH", "rule", [])
    again = say(memory, "OrderService", "system", "c")
    assert (again.resolution.reason, again.resolution.entity) == ("exact", two.resolution.entity)
    memory.entities.unmerge(row.merge_id, reason="two services")
    now = memory.as_of()
    assert now.value("Order Service", "noted") == "a"
    assert now.value("OrderService", "noted") == "c"
    assert before.value("Order Service", "noted") == "a"
    assert say(memory, "OrderService", "system").entity == two.resolution.entity
    assert memory.doctor() == ()


def test_joined_names_in_one_transaction_share_their_slot(memory: Memory) -> None:
    names = ("OrderService", "Order Service", "Order-Service")
    done = memory.write_many(
        [Write(subject=EntityRef(name=n, type="system"), slot="noted", value="v") for n in names]
    )
    # Two of them have one key, and the third is bound by its score.
    assert len({receipt.resolution.entity for receipt in done}) == 2
    roots = {memory.as_of().entity(name).entity_id for name in names}
    assert len(roots) == 1
    assert memory.doctor() == ()
    assert memory.as_of().slot("Order Service", "noted").status == "clean"


def test_an_identifier_decides_whatever_the_names(memory: Memory) -> None:
    ids = {"hr": "7"}
    one = memory.write(EntityRef(name="Bill Nelson", external_ids=ids), "noted", "a")
    two = memory.write(EntityRef(name="C. William Nelson", external_ids=ids), "noted", "b")
    assert (two.entity, two.resolution.reason) == (one.entity, "same_identifier")
    assert memory.as_of().entity("C. William Nelson").entity_id == one.entity
    other = memory.write(EntityRef(name="Bill Nelson", external_ids={"hr": "8"}), "noted", "c")
    assert other.resolution.decision == "new"
    assert not other.reviews


def test_one_person_has_any_number_of_addresses(memory: Memory) -> None:
    addresses = ("sam@acme.example", "sam@home.example")
    for address in addresses:
        ids = {"email": address, "hr": "S-17"}
        memory.write(EntityRef(name="Sam Rivera", type="person", external_ids=ids), "noted", "a")
    person = memory.as_of().entity("Sam Rivera")
    assert person.identifiers == (*(("email", address) for address in addresses), ("hr", "S-17"))
    assert person.external_ids == {"email": addresses[0], "hr": "S-17"}
    for address in addresses:
        ref = EntityRef(name="Samuel Rivera", type="person", external_ids={"email": address})
        assert memory.entities.resolve(ref).entity == person.entity_id


def test_an_equal_name_with_another_address_is_asked_about(memory: Memory) -> None:
    for address in ("sam@acme.example", "sam@home.example"):
        ref = EntityRef(name="Sam Rivera", type="person", external_ids={"email": address})
        receipt = memory.write(ref, "noted", address)
    assert receipt.outcome == "pending_review"


def test_two_numbers_of_one_register_stay_two_until_a_steward_looks(memory: Memory) -> None:
    for number in ("1", "2"):
        ref = EntityRef(name="Alan Grayson", type="person", external_ids={"bioguide": number})
        memory.write(ref, "noted", number)
    assert memory.reviews.list() == ()
    (case,) = memory.reviews.list(kind="all")
    assert case.candidates[0].vetoes == ("attribute_conflict",)

    receipt = memory.reviews.accept(case.review_id)
    person = memory.as_of().entity("Alan Grayson")
    assert person.entity_id == receipt.canonical_id
    assert person.identifiers == (("bioguide", "1"), ("bioguide", "2"))


def test_bare_names_wait_once_two_people_carry_them(memory: Memory) -> None:
    for place, number in (("AL", "1"), ("MI", "2")):
        ref = EntityRef(name="Mike Rogers", type="person", external_ids={"bioguide": number})
        memory.write(ref, "noted", place)
    bare = say(memory, "Mike Rogers", "person", "?")
    assert (bare.outcome, bare.resolution.reason) == ("pending_review", "ambiguous")
    assert len(bare.resolution.candidates) == 2
    again = say(memory, "Mike Rogers", "person", "!")
    assert again.entity == bare.entity
    assert not again.reviews


def test_bracketed_namesakes_stay_two_and_the_bare_name_is_a_review(memory: Memory) -> None:
    for name in ("Mike Rogers (AL)", "Mike Rogers (MI)"):
        assert say(memory, name, "person").resolution.decision == "new"
    assert say(memory, "Mike Rogers", "person").resolution.decision == "review"


def test_one_first_name_in_two_teams_is_two_people(open_memory: Open) -> None:
    memory = open_memory(policy=Policy(resolution=ResolutionPolicy(person_context_scope="project")))
    memory.vocabulary.define_slot("noted", description="what was noted")
    for project in ("nova", "apollo"):
        caller = memory.bind(
            Principal(
                tenant=memory.principal.tenant,
                user="ann",
                projects=frozenset({project}),
                roles={"agent"},
            )
        )
        say(caller, "Sam", "person", project, scope={"project": project})
        own = say(caller, "Sam", "person", project, scope={"project": project})
        assert own.resolution.decision == "bind"
    assert len(memory.entities.list("person")) <= 2


def test_a_description_names_nobody(memory: Memory) -> None:
    ref = EntityRef(name="Mallory", type="person", aliases=("the boss",))
    memory.write(ref, "noted", "a")
    assert memory.as_of().entity("Mallory").aliases == ("Mallory",)
    holder = say(memory, "the CTO", "role", "Ann")
    assert say(memory, "the CTO", "role", "Bob").entity == holder.entity


def test_retrieved_text_teaches_no_alias(memory: Memory) -> None:
    say(memory, "Acme Robotics", "organization")
    memory.write(
        EntityRef(name="Evil Corp", type="organization", aliases=("Acme",)),
        "noted",
        "a",
        source_origin="https://evil.example/",
    )
    assert memory.as_of().entity("Evil Corp").aliases == ("Evil Corp",)


def test_a_possible_match_leaves_a_suggestion_and_nothing_waits(memory: Memory) -> None:
    one = say(memory, "Customer Data Store", "system")
    two = say(memory, "Customer Data Lake", "system")
    assert (two.outcome, two.resolution.decision) == ("accepted", "new")
    assert "possible_same_as" in two.warnings
    assert not memory.reviews.list()
    found = [c for kind in ("possible_same_as", "audit") for c in memory.reviews.list(kind=kind)]
    assert [c.entity_id for c in found] == [two.entity]
    done = memory.reviews.accept(found[0].review_id)
    assert done.canonical_id == one.entity
    assert not memory.reviews.list(kind="possible_same_as")


# ---- namesakes


def namesakes(memory: Memory, *, op: str = "assert") -> Any:
    states = ("Alabama", "Republican", "3"), ("Michigan", "Republican", "8")
    for slot in ("state", "party_name", "district_no"):
        memory.vocabulary.define_slot(slot, description=slot, subject_types=("person",))
    return memory.write_many(
        [
            Write(
                subject=EntityRef(name="Mike Rogers", type="person"),
                slot=slot,
                value=value,
                op=op,
                valid_from="2003-01-07T00:00:00Z",
                source_origin="import://congress",
            )
            for values in states
            for slot, value in zip(("state", "party_name", "district_no"), values, strict=True)
        ]
    )


def test_two_stories_of_one_name_are_a_review_not_a_tie(memory: Memory) -> None:
    done = namesakes(memory)
    assert {receipt.outcome.value for receipt in done} == {"pending_review"}
    assert len({receipt.entity for receipt in done}) == 1
    (case,) = memory.reviews.list()
    assert case.reason == "namesakes"
    bare = say(memory, "Mike Rogers", "person", "later")
    assert bare.entity == case.entity_id
    assert not bare.reviews
    page = memory.reviews.get(case.review_id)
    assert [len(group) for group in page.groups] == [3, 4]


def test_rejecting_namesakes_splits_their_claims(memory: Memory) -> None:
    done = namesakes(memory)
    (case,) = memory.reviews.list()
    ids = [receipt.object_id for receipt in done]
    memory.reviews.reject(case.review_id, parts=[ids[:3], ids[3:]], reason="two members")
    people = memory.entities.list("person")
    view = memory.as_of()
    told = {
        (view.value(p.entity_id, "state"), view.value(p.entity_id, "district_no")) for p in people
    }
    assert told == {("Alabama", "3"), ("Michigan", "8")}
    assert {view.value(p.entity_id, "party_name") for p in people} == {"Republican"}
    assert say(memory, "Mike Rogers", "person").resolution.reason == "ambiguous"
    assert memory.doctor() == ()


def told_of(memory: Memory, people: Any) -> set[Any]:
    view = memory.as_of()
    return {(view.value(p, "state"), view.value(p, "district_no")) for p in people}


def test_a_split_can_be_undone_and_done_again(memory: Memory) -> None:
    ids = [receipt.object_id for receipt in namesakes(memory)]
    (case,) = memory.reviews.list()
    before = memory.as_of()
    told = before.facts(case.entity_id)
    memory.reviews.reject(case.review_id, parts=[ids[:3], ids[3:]])
    apart = memory.as_of()
    people = [p.entity_id for p in memory.entities.list("person")]
    done = memory.reviews.undo(case.review_id)
    assert done.merge is not None
    assert set(done.merge.members) == set(people)
    (one,) = memory.entities.list("person")
    assert (one.entity_id, one.state) == (case.entity_id, "pending")
    now = memory.as_of().facts(case.entity_id)
    assert {slot: (s.status, s.values) for slot, s in now.items()} == {
        slot: (s.status, s.values) for slot, s in told.items()
    }
    assert {apart.value(p, "state") for p in people} == {"Alabama", "Michigan"}
    assert [c.review_id for c in memory.reviews.list()] == [case.review_id]
    assert sorted(map(len, memory.reviews.get(case.review_id).groups)) == [3, 3]
    later = memory.write(people[-1], "noted", "since then")
    again = memory.reviews.reject(case.review_id)
    assert again.unmerge is not None
    assert told_of(memory, people) == {("Alabama", "3"), ("Michigan", "8")}
    assert memory.as_of().value(people[-1], "noted") == "since then"
    assert later.entity == case.entity_id
    memory.reviews.undo(case.review_id)
    memory.reviews.accept(case.review_id)
    assert memory.as_of().entity(case.entity_id).state == "active"
    memory.reviews.undo(case.review_id)
    assert memory.as_of().entity(case.entity_id).state == "pending"
    ids = [o for group in memory.reviews.get(case.review_id).groups for o in group]
    memory.reviews.reject(case.review_id, parts=[ids[:1], ids[1:]])
    assert len(memory.entities.list("person")) == 2
    assert memory.doctor() == ()


def test_a_split_is_not_undone_over_a_later_merge(memory: Memory) -> None:
    ids = [receipt.object_id for receipt in namesakes(memory)]
    (case,) = memory.reviews.list()
    memory.reviews.reject(case.review_id, parts=[ids[:3], ids[3:]])
    people = [p.entity_id for p in memory.entities.list("person")]
    other = say(memory, "Michael J. Rogers", "person").entity
    merged = memory.entities.merge(next(p for p in people if p != case.entity_id), other)
    with refused(Conflict, "still_connected") as caught:
        memory.reviews.undo(case.review_id)
    assert caught.value.data["merges"] == (merged.merge_id,)
    memory.entities.unmerge(merged.merge_id)
    memory.reviews.undo(case.review_id)
    assert memory.doctor() == ()


def test_one_person_after_all_ties(memory: Memory) -> None:
    namesakes(memory)
    (case,) = memory.reviews.list()
    memory.reviews.accept(case.review_id)
    assert memory.as_of().slot("Mike Rogers", "state").status == "disputed"
    assert memory.as_of().entity("Mike Rogers").state == "active"


def test_a_correction_or_an_identifier_is_no_namesake(memory: Memory) -> None:
    assert not any(receipt.reviews for receipt in namesakes(memory, op="correct"))


# ---- names that may be somebody else's


def suggestions(memory: Memory) -> list[tuple[str, str]]:
    """Return the suggestions: who, and whom it may be."""
    cases = memory.reviews.list(kind="possible_same_as")
    return [(case.mention, case.candidates[0].name) for case in cases]


@pytest.mark.parametrize(
    ("known", "look_alike"),
    [("scope", "\u0455\u0441\u043e\u0440\u0435"), ("paypal", "paypa1"), ("modern", "rnodern")],
)
def test_a_name_that_is_drawn_like_a_known_one_leaves_a_suggestion(
    memory: Memory, known: str, look_alike: str
) -> None:
    first = say(memory, known, "system")
    second = say(memory, look_alike, "system")
    assert second.outcome == "accepted"
    assert second.entity != first.entity
    assert suggestions(memory) == [(look_alike, known)]

    say(memory, look_alike, "system", "another")
    (case,) = memory.reviews.list(kind="possible_same_as")
    assert "look_alike" in [line.name for line in case.candidates[0].features]
    assert memory.doctor() == ()


def named_both(memory: Memory) -> None:
    both = EntityRef(name="Sam Rivera", type="person", aliases=("Ines Moreau",))
    memory.write(both, "noted", "x")


def test_an_alias_that_names_somebody_else_opens_one_review(memory: Memory) -> None:
    sam, ines = (say(memory, name, "person").entity for name in ("Sam Rivera", "Ines Moreau"))
    named_both(memory)
    named_both(memory)
    (case,) = memory.reviews.list()
    assert {candidate.entity for candidate in case.candidates} == {sam, ines}
    memory.reviews.accept(case.review_id, entity=ines)
    assert memory.as_of().entity(ines).entity_id != memory.as_of().entity(sam).entity_id
    assert memory.doctor() == ()


def test_an_alias_of_somebody_who_was_judged_or_numbered_apart_asks_nothing(
    memory: Memory,
) -> None:
    sam, ines = (say(memory, name, "person").entity for name in ("Sam Rivera", "Ines Moreau"))
    memory.entities.unmerge(memory.entities.merge(sam, ines).merge_id)
    named_both(memory)
    assert suggestions(memory) == []
    assert memory.reviews.list() == ()

    for number, name in enumerate(("Otto Braun", "Lena Krause")):
        ref = EntityRef(name=name, type="person", external_ids={"badge": str(number)})
        memory.write(ref, "noted", "x")
    numbered = EntityRef(name="Otto Braun", type="person", aliases=("Lena Krause",))
    memory.write(numbered, "noted", "x")
    assert suggestions(memory) == []
    assert memory.doctor() == ()


# ---- reviews and merges


def waiting(memory: Memory) -> Any:
    say(memory, "Sam Rivera", "person", "a")
    say(memory, "S. Rivera", "person", "b")
    (case,) = memory.reviews.list()
    return case


def test_a_page_shows_what_a_decision_would_do(memory: Memory) -> None:
    case = waiting(memory)
    page = memory.reviews.get(case.review_id)
    assert page.impact.moves == 1
    assert page.impact.slots == ("noted",)
    assert page.impact.surviving == case.candidates[0].entity
    assert page.impact.conflicts == ()  # the later word succeeds the earlier one
    assert page.vetoes
    assert page.waterfall
    assert any(line.startswith("+") for line in page.waterfall)
    assert page.snippets


def test_a_decision_is_taken_once(memory: Memory) -> None:
    case = waiting(memory)
    memory.reviews.accept(case.review_id, version=case.version)
    with refused(Conflict, "stale_version"):
        memory.reviews.reject(case.review_id, version=case.version)
    with refused(Conflict, "already_decided"):
        memory.reviews.reject(case.review_id)
    memory.reviews.undo(case.review_id)
    assert [c.review_id for c in memory.reviews.list()] == [case.review_id]
    assert memory.doctor() == ()


def judged(memory: Memory, raw: str) -> list[tuple[str, str]]:
    """Return the standing judgements of an entity with whom they are about."""
    with memory._backend.store.writing(memory.principal.tenant) as tx:
        tx.lock()
        rows = tx.judgements(entity_ids=(raw,))
    return sorted((row.verdict.value, row.judged_by.value) for row in rows if row.tx_end == INF_US)


def test_an_undone_decision_leaves_nothing_said(memory: Memory) -> None:
    case = waiting(memory)
    sam = memory.as_of().entity("Sam Rivera").entity_id
    reviews = memory.reviews
    decisions: tuple[Callable[[str], Any], ...] = (reviews.accept, reviews.reject, reviews.unsure)
    for decide in (*decisions, *reversed(decisions)):
        decide(case.review_id)
        assert judged(memory, case.entity_id)
        memory.reviews.undo(case.review_id)
        assert judged(memory, case.entity_id) == []
        view = memory.as_of().entity(case.entity_id)
        assert (view.entity_id, view.state) == (case.entity_id, "pending")

    memory.reviews.accept(case.review_id)
    assert memory.as_of().entity(case.entity_id).entity_id == sam
    memory.reviews.undo(case.review_id)
    memory.entities.merge(sam, case.entity_id)  # nothing that was taken back is in the way
    assert memory.as_of().entity("S. Rivera").entity_id == sam
    assert memory.doctor() == ()


def test_an_undone_rejection_of_an_automatic_bind_binds_again(memory: Memory) -> None:
    for name in ("Acme Logistics Ltd", "Acme Logistics", "Acme Logistics LLC"):
        say(memory, name, "organization")
    (doubt,) = (case for case in memory.reviews.list() if case.reason == "doubted")
    root = memory.as_of().entity(doubt.entity_id).entity_id
    (bound,) = judged(memory, doubt.entity_id)

    memory.reviews.reject(doubt.review_id)
    assert [verdict for verdict, _ in judged(memory, doubt.entity_id)] == ["NON_MATCH"]
    memory.reviews.undo(doubt.review_id)
    assert judged(memory, doubt.entity_id) == [bound]
    assert memory.as_of().entity(doubt.entity_id).entity_id == root

    # Something else that parts the two keeps them apart: somebody else has judged a third name.
    memory.reviews.reject(doubt.review_id)
    other = say(memory, "Beech Trading", "organization").entity
    merge = memory.entities.merge(other, root)
    memory.entities.merge(other, say(memory, "Cedar Trading", "organization").entity)
    memory.entities.unmerge(merge.merge_id)
    memory.entities.merge(other, doubt.entity_id)
    assert memory.reviews.undo(doubt.review_id).merge is None
    assert memory.as_of().entity(doubt.entity_id).entity_id != root
    assert memory.doctor() == ()


def test_deciding_needs_a_steward_who_did_not_write_it(memory: Memory) -> None:
    steward = memory.bind(
        Principal(tenant=memory.principal.tenant, user="ann", roles=frozenset({"steward"}))
    )
    say(memory, "Sam Rivera", "person")
    mine = say(steward, "S. Rivera", "person", layer="tenant")
    with refused(Forbidden, "own_submission"):
        steward.reviews.accept(mine.reviews[0])
    agent = memory.bind(
        Principal(tenant=memory.principal.tenant, user="bob", roles=frozenset({"agent"}))
    )
    with pytest.raises(Forbidden):
        agent.reviews.accept(mine.reviews[0])
    other = memory.bind(
        Principal(tenant=memory.principal.tenant, user="cy", roles=frozenset({"steward"}))
    )
    assert other.reviews.accept(mine.reviews[0]).canonical_id


def test_an_audit_can_take_an_automatic_bind_back(open_memory: Open) -> None:
    memory = open_memory(policy=Policy(resolution=ResolutionPolicy(audit_share=1.0)))
    memory.vocabulary.define_slot("noted", description="what was noted")
    one = say(memory, "Order Service", "system", "a")
    two = say(memory, "OrderService", "system", "b")
    assert two.entity == one.entity
    assert not two.reviews
    (case,) = memory.reviews.list(kind="audit")
    memory.reviews.reject(case.review_id)
    assert memory.as_of().value("Order Service", "noted") == "a"
    assert memory.as_of().value("OrderService", "noted") == "b"
    assert memory.doctor() == ()


def test_entities_tell_where_their_names_come_from(memory: Memory) -> None:
    one = say(memory, "Order Service", "system")
    taught = memory.entities.add_alias(one.entity, "OMS")
    page = memory.entities.get("OMS")
    assert page.entity.entity_id == one.entity
    assert taught in page.aliases
    assert page.history
    assert "noted" in page.facts
    found = memory.entities.resolve("OMS platform", "system")
    assert found.candidates
    assert found.model_version
    memory.write(one.entity, "works_with", EntityRef(name="Billing API", type="system"))
    assert "Billing API" in memory.entities.export()
    assert '"edges"' in memory.entities.export(format="json")


def test_a_pending_entity_backs_no_strong_block(memory: Memory) -> None:
    say(memory, "Sam Rivera", "person", "calm")
    held = memory.write(
        EntityRef(name="S. Rivera", type="person"),
        content="Never deploy on Fridays.",
        object_type="actionable_constraint",
        authority_level=2,
        why_it_matters="deploys break on Fridays",
        layer="tenant",
    )
    assert held.outcome == "pending_review"
    envelope = memory.compile("code_generation", "deploy the service on Friday")
    strong = {"system_policy", "tenant_policy", "project_policy", "guidance", "turn_guidance"}
    backed = [b for b in envelope.blocks if b.section in strong and held.object_id in b.object_ids]
    assert not backed


def test_a_name_tuned_against_a_victim_stays_in_the_scope_of_its_writer(memory: Memory) -> None:
    victim = say(memory, "Acme Corporation Holdings", "organization", "good")
    mallory = memory.bind(
        Principal(tenant=memory.principal.tenant, user="mallory", roles=frozenset({"agent"}))
    )
    tuned = say(mallory, "Acme Corporation Holding", "organization", "bad", layer="user")
    if tuned.entity == victim.entity:  # bound by score: a row that a steward can close
        (row,) = memory.entities.get(victim.entity).judgements
        memory.entities.unmerge(row.merge_id)
    assert memory.as_of().value("Acme Corporation Holdings", "noted") == "good"
    assert memory.doctor() == ()


def test_a_chain_of_small_steps_is_checked_against_the_core(memory: Memory) -> None:
    names = ("Zenith Data Group", "Zenit Data Group", "Zeni Data Group", "Zen Data Group")
    made = [say(memory, name, "organization", name) for name in names]
    last = made[-1].resolution
    assert last.decision != "bind" or len({r.entity for r in made}) == 1
    assert made[0].entity != say(memory, "Xen Data Crop", "organization").entity


def test_a_neighbour_is_a_candidate_and_its_relations_are_evidence(memory: Memory) -> None:
    nova = say(memory, "Nova", "project").entity
    sam = say(memory, "Samuel Rivera", "person").entity
    say(memory, "Samuel Rivero", "person")
    memory.write(sam, "works_with", nova)
    found = memory.entities.resolve("Sam Rivera", "person", near=[nova])
    (best, *_) = found.candidates
    assert best.entity == sam
    assert best.source == "neighbourhood"
    assert "neighbour_overlap" in {feature.name for feature in best.features}
    alone = memory.entities.resolve("Sam Rivera", "person")
    assert best.log_odds > alone.candidates[0].log_odds


def test_a_name_of_the_session_is_found_there_first(memory: Memory) -> None:
    tenant = memory.principal.tenant
    ann = memory.bind(
        Principal(tenant=tenant, user="ann", session="s1", roles=frozenset({"owner"}))
    )
    say(ann, "Order Service", "system", layer="session")
    receipt = say(ann, "Order Servce", "system", layer="session")
    assert receipt.resolution.candidates[0].source == "session"


def test_every_source_and_every_unweighed_line_is_shown(memory: Memory) -> None:
    one = EntityRef(name="Sam Rivera", type="person", external_ids={"email": "sam@acme.com"})
    memory.write(one, "noted", "x")
    two = EntityRef(name="S. Rivera", type="person", aliases=("riv@acme.com",))
    receipt = memory.write(two, "noted", "y", authority_level=2)
    lines = {f.name: f for f in receipt.resolution.candidates[0].features}
    assert lines["same_email_domain"].weight == 0.0
    assert lines["source_authority"].detail.startswith("named by a source of level 2")


def test_a_type_that_never_binds_by_a_score(open_memory: Open) -> None:
    rules = ResolutionPolicy(types=(TypeBands(type="system", bind_at=1.0),))
    memory = open_memory(policy=Policy(resolution=rules))
    memory.vocabulary.define_slot("noted", description="what was noted")
    for kind, outcome in (("system", "review"), ("organization", "bind")):
        say(memory, "Siemens Mobility", kind)
        assert say(memory, "SiemensMobility", kind).resolution.decision == outcome
    say(memory, "Siemens Energy Grid", "system")
    assert say(memory, "SiemensEnergy Grid").outcome == "pending_review"


def test_mentions_of_a_text_are_linked_and_create_nothing(memory: Memory) -> None:
    sam = say(memory, "Sam Rivera", "person")
    text = "Yesterday Sam Rivera moved PAY-1432 to the Order Service."
    found = {link.mention.surface: link for link in memory.mentions(text)}
    assert found["Sam Rivera"].resolution.entity == sam.entity
    assert text[found["PAY-1432"].mention.start :].startswith("PAY-1432")
    assert found["PAY-1432"].resolution.entity is None
    assert len(memory.entities.list()) == 1


def test_entities_are_listed_in_pages_that_together_are_the_list(memory: Memory) -> None:
    made = [say(memory, name, "organization") for name in ("Alder", "Beech", "Cedar", "Elm", "Fir")]
    say(memory, "Sam Rivera", "person")
    memory.entities.merge(made[0].entity or "", made[1].entity or "", reason="one tree")
    every = memory.entities.list()
    assert [e.entity_id for e in every] == sorted(e.entity_id for e in every)
    assert len(every) == 5
    (merged,) = [e for e in every if len(e.members) > 1]
    assert set(merged.aliases) == {"Alder", "Beech"}
    pages, after = [], ""
    while page := memory.entities.list(after=after, limit=2):
        pages.append(page)
        after = page[-1].entity_id
    assert [len(page) for page in pages] == [2, 2, 1]
    assert tuple(e for page in pages for e in page) == every
    assert {e.type for e in memory.entities.list("organization", limit=9)} == {"organization"}
    with refused(InvalidInput, "out_of_range"):
        memory.entities.list(limit=0)


def test_the_queue_weighs_each_case_by_what_waits_for_it(memory: Memory) -> None:
    say(memory, "Order Service AG", "organization")
    say(memory, "Alder Works AG", "organization")
    heavy = say(memory, "Order Service GmbH", "organization")
    light = say(memory, "Alder Works GmbH", "organization")
    for slot in ("seen_in", "heard_in"):
        memory.vocabulary.define_slot(slot, description="another fact")
        memory.write(subject=heavy.entity, slot=slot, value="x")
    listed = memory.reviews.list()
    assert [case.entity_id for case in listed] == [heavy.entity, light.entity]
    pages = [memory.reviews.get(case.review_id) for case in listed]
    assert pages[0].priority > pages[1].priority


@pytest.mark.parametrize(
    ("known", "rendering"),
    [("Muhammad", "محمد"), ("김", "Kim"), ("Чайковский", "Tchaikovsky")],
)
def test_a_name_in_another_script_leaves_a_suggestion(
    memory: Memory, known: str, rendering: str
) -> None:
    first = say(memory, known, "person")
    second = say(memory, rendering, "person")
    assert (second.outcome, second.entity == first.entity) == ("accepted", False)
    assert suggestions(memory) == [(rendering, known)]

    say(memory, rendering, "person", "another")
    (case,) = memory.reviews.list(kind="possible_same_as")
    assert "rendering" in [line.name for line in case.candidates[0].features]


def test_a_short_form_that_an_alias_taught_leaves_a_suggestion(memory: Memory) -> None:
    memory.write(EntityRef(name="PostgreSQL", type="system", aliases=("PG",)), "noted", "a")
    say(memory, "PostgreSQL Cluster", "system")
    say(memory, "PG Cluster", "system")
    assert ("PG Cluster", "PostgreSQL Cluster") in suggestions(memory)


def test_a_page_tells_of_undone_merges_and_of_whom_it_is_not(memory: Memory) -> None:
    first = say(memory, "Alpha Works", "organization").entity
    other = say(memory, "Bravo Foods", "organization").entity
    merged = memory.entities.merge(first, other)
    memory.entities.unmerge(merged.merge_id)

    page = memory.entities.get("Alpha Works")
    assert [row.verdict for row in page.judgements] == ["MATCH", "NON_MATCH"]
    assert {page.judgements[0].left_name, page.judgements[0].right_name} == {
        "Alpha Works",
        "Bravo Foods",
    }
    sentences = [sentence for _, sentence in page.history]
    assert sum(merged.merge_id in sentence for sentence in sentences) == 3
    assert any("two entities, by human" in sentence for sentence in sentences)
    assert any("one entity: taken back" in sentence for sentence in sentences)


def test_a_merge_that_a_judgement_forbids_is_listed_and_settled(memory: Memory) -> None:
    first = say(memory, "Alpha Works", "organization").entity
    other = say(memory, "Bravo Foods", "organization").entity
    merged = memory.entities.merge(first, other)
    memory.entities.unmerge(merged.merge_id)
    with refused(Conflict, "existing_non_match"):
        memory.entities.merge(first, other)

    (action,) = memory.actions.list()
    assert (action.kind, set(action.members)) == ("merge_conflict", {first, other})
    memory.actions.resolve(action.action_id, accept=False)
    assert memory.actions.list() == ()
    assert len(memory.entities.list("organization")) == 2

    with pytest.raises(Conflict):
        memory.entities.merge(first, other)
    (again,) = memory.actions.list()
    receipt = memory.actions.resolve(again.action_id, accept=True)
    assert receipt.merge is not None
    assert memory.entities.get(first).entity.entity_id == receipt.merge.canonical_id
    assert len(memory.entities.list("organization")) == 1
    assert memory.doctor() == ()


def test_nonsense_is_not_accepted_and_kin_are_held_back(memory: Memory) -> None:
    ann = say(memory, "Ann Lee", "person").entity
    say(memory, "A. Lee", "person")
    (case,) = memory.reviews.list()
    project = say(memory, "Apollo", "project").entity
    for target, code in ((case.entity_id, "same_entity"), (project, "incompatible_types")):
        with refused(InvalidInput, code):
            memory.reviews.accept(case.review_id, entity=target)
    with pytest.raises(InvalidInput):
        memory.entities.merge(ann, project)
    assert memory.reviews.get(case.review_id).review.state == "open"

    boss = say(memory, "Anne Lee", "person").entity
    memory.write(ann, "manager", boss)
    vetoes = memory.entities.compare(ann, boss).candidate.vetoes
    assert "direct_edge" in vetoes
    assert memory.doctor() == ()


def said_for(user: str, name: str, **fields: Any) -> Write:
    return Write(subject=name, slot="office", scope={"user": user}, **fields)


def test_a_name_of_one_user_binds_no_write_for_another_in_the_same_batch(memory: Memory) -> None:
    ann, bob = memory.write_many(
        [
            said_for("ann", "Greta Vollmer", value="Rome"),
            said_for("bob", "Greta Vollmer", value="Oslo"),
        ]
    )
    assert ann.entity != bob.entity

    # Nor does a name that is only alike: what is scored is scored against the own scope.
    like_bobs, anns = memory.write_many(
        [
            said_for("carl", "Greta Volmer", value="Kyiv"),
            said_for("ann", "Greta Vollmer", value="Lyon"),
        ]
    )
    assert anns.entity == ann.entity
    assert like_bobs.entity not in (ann.entity, bob.entity)
    assert like_bobs.outcome == "accepted"
    assert memory.reviews.list(kind="all") == ()


def test_a_name_for_everybody_binds_the_writes_for_each_user_behind_it(memory: Memory) -> None:
    shared, anns = memory.write_many(
        [
            Write(subject="Greta Vollmer", slot="title", value="CFO"),
            said_for("ann", "Greta Vollmer", value="Rome"),
        ]
    )
    assert shared.entity == anns.entity


def test_what_one_user_relates_is_no_evidence_for_another(memory: Memory) -> None:
    boss = EntityRef(name="Ines Haverkamp", type="person")
    memory.write(boss, "title", "CEO")
    first = memory.write(
        EntityRef(name="Jonathan Merritt", type="person"),
        "manager",
        boss,
        scope={"user": "ann"},
    )
    batch = memory.write_many(
        [
            Write(
                subject=EntityRef(name="Jon Merritt", type="person"),
                slot="manager",
                value=boss,
                scope={"user": user},
            )
            for user in ("ann", "bob")
        ]
    )
    # Whatever is decided for whoever knows Jonathan, nobody else's write is touched by it.
    assert batch[1].entity != first.entity
    assert batch[1].outcome == "accepted"
    assert batch[1].resolution is not None
    assert batch[1].resolution.candidates == ()
