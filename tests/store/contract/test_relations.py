"""What relates entities to others: which rows count, who sees them, and what a hub is."""

import json
from collections.abc import Sequence
from itertools import pairwise, permutations
from pathlib import Path

import pytest

from tenure import EntityRef, Memory, NotFound, Principal, Receipt, Resolution, Write
from tenure.schema.claim import Permissions
from tenure.schema.policy import Policy, ReadPolicy
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, Op
from tenure.store.commit.surroundings import VisibleRelations
from tenure.store.port.records import RelatedEnds
from tenure.store.port.store import Point, Store
from tenure.tests.store.builders import ALL, TENANT, Open, Say, add, commit, entity

NOW = Point(5, 1_000)


def related(store: Store, *ids: str, sight: Sight = ALL, point: Point = NOW) -> RelatedEnds:
    """Ask a reader and a writer, which answer alike."""
    with store.reading(TENANT) as reader:
        found = reader.relations(ids, sight=sight, point=point, limit=2)
    with store.writing(TENANT) as write:
        write.lock()
        assert write.relations(ids, sight=sight, point=point, limit=2) == found
    return found


def link(object_id: str, subject: str, value: str, slot: str = "works_with", **more: object) -> Say:
    return Say(object_id=object_id, subject=subject, slot=slot, value_entity=value, **more)  # type: ignore[arg-type]


def known(store: Store, *ids: str) -> None:
    add(store, entities=tuple(entity(one, name=one) for one in ids), tx=1)


def test_both_ends_know_a_relation_and_each_pair_comes_once(store: Store) -> None:
    known(store, "e1", "e2", "e3")
    commit(store, [link("a", "e1", "e2"), link("b", "e3", "e1"), Say(object_id="c")], tx=2)
    commit(store, [link("d", "e1", "e2", slot="manager")], tx=3)
    assert related(store, "e1", "e1") == RelatedEnds((("e1", "e2"), ("e3", "e1")))
    assert related(store, "e2", "e3") == RelatedEnds((("e1", "e2"), ("e3", "e1")))
    assert related(store, "e9") == related(store) == RelatedEnds(())


def test_only_what_is_true_and_believed_at_the_point_relates(store: Store) -> None:
    known(store, "e1", "e2", "e3", "e4")
    commit(store, [link("a", "e1", "e2", until=10)], tx=2)
    commit(store, [link("b", "e1", "e3", slot="manager", op=Op.DENY)], tx=3)
    commit(store, [link("c", "e1", "e4", slot="owner", quarantine="poisoned")], tx=4)
    assert related(store, "e1") == RelatedEnds((("e1", "e2"),))
    assert related(store, "e1", point=Point(10, 1_000)) == RelatedEnds(())
    assert related(store, "e1", point=Point(5, 1)) == RelatedEnds(())
    commit(store, [link("d", "e1", "e2", op=Op.RETRACT)], tx=5)
    assert related(store, "e1") == RelatedEnds(())
    assert related(store, "e1", point=Point(5, 4)) == RelatedEnds((("e1", "e2"),))


def test_what_a_caller_may_not_see_relates_nothing(store: Store) -> None:
    known(store, "e1", "e2", "e3", "e4")
    secret = Permissions(classification=Classification.HIGHLY_RESTRICTED)
    commit(store, [link("a", "e1", "e2", permissions=secret)], tx=2)
    commit(store, [link("b", "e1", "e3", scope=Scope(user="ann"))], tx=3)
    assert related(store, "e1") == RelatedEnds((("e1", "e2"),))
    assert related(store, "e1", sight=Sight(("tenant",), ("*",), 0)) == RelatedEnds(())
    ann = Sight(("tenant", "user=ann"), ("*",), 3)
    assert related(store, "e1", sight=ann) == RelatedEnds((("e1", "e2"), ("e1", "e3")))


def test_a_hub_is_named_and_brings_no_relation(store: Store) -> None:
    known(store, "hub", "e1", "e2", "e3")
    commit(store, [link(f"o{n}", f"e{n}", "hub") for n in (1, 2)], tx=2)
    assert related(store, "hub") == RelatedEnds((("e1", "hub"), ("e2", "hub")))
    commit(store, [link("o3", "e3", "hub")], tx=3)
    assert related(store, "hub") == RelatedEnds((), ("hub",))
    assert related(store, "e3", "hub") == RelatedEnds((("e3", "hub"),), ("hub",))


@pytest.mark.parametrize(
    ("most", "names", "cut"),
    [
        (2, {"Ann Lee", "Bob Ray", "Eve Fox"}, True),
        (3, {"Ann Lee", "Bob Ray", "Eve Fox", "Kim Sun"}, False),
    ],
)
def test_a_walk_reads_around_as_many_entities_as_the_policy_allows(
    open_memory: Open, most: int, names: set[str], cut: bool
) -> None:
    memory = open_memory(policy=Policy(read=ReadPolicy(neighbourhood_entities=most)))
    people = ("Ann Lee", "Bob Ray", "Eve Fox", "Kim Sun")
    for person, manager in pairwise(people):
        memory.write(
            subject=person, slot="manager", value=manager, valid_from="2026-01-01T00:00:00Z"
        )

    around = memory.as_of().neighbourhood("Ann Lee", hops=3)
    assert {entity.name for entity in around.entities} == names
    assert around.truncated is cut


# ---- What stands in one fact with a mention is evidence of whom it means, and never decides alone.


def person(name: str) -> EntityRef:
    return EntityRef(name=name, type="person")


def overlap(found: Resolution | None) -> list[tuple[float, float]]:
    """Return score and weight of the neighbour evidence of the best candidate."""
    assert found is not None
    features = found.candidates[0].features if found.candidates else ()
    return [(f.score, f.weight) for f in features if f.name == "neighbour_overlap"]


def resolution(receipt: Receipt) -> Resolution:
    assert receipt.resolution is not None
    return receipt.resolution


def ready(opened: Memory) -> Memory:
    words = opened.vocabulary
    words.define_slot("noted", description="what was noted")
    words.define_slot("worked_with", description="who", value_type="entity", cardinality="many")
    return opened


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    return ready(open_memory())


def nova(memory: Memory) -> str:
    made = memory.write(EntityRef(name="Nova", type="project"), "noted", "x")
    assert made.entity is not None
    return made.entity


def test_the_other_end_of_a_fact_is_evidence_for_its_subject(memory: Memory) -> None:
    around = nova(memory)
    sam = memory.write(person("Samuel Rivera"), "worked_with", around)
    bare = memory.write(person("Sam Rivera"), "noted", "y", dry_run=True)
    assert resolution(bare).decision == "review"
    assert not overlap(bare.resolution)
    near = memory.write(person("Sam Rivera"), "worked_with", around)
    assert (near.entity, resolution(near).decision) == (sam.entity, "bind")
    assert overlap(near.resolution) == [(1.0, 1.5)]
    assert resolution(near).candidates[0].source == "neighbourhood"
    assert memory.doctor() == ()


def test_the_other_end_of_a_fact_is_evidence_for_its_value(memory: Memory) -> None:
    around = nova(memory)
    sam = memory.write(around, "worked_with", person("Samuel Rivera"))
    memory.write("Nova", "worked_with", person("Sam Rivera"))
    found = memory.entities.list("person")
    assert [one.name for one in found] == ["Samuel Rivera"]
    assert len(found[0].members) == 2
    assert sam.entity == around


def test_the_order_of_a_batch_changes_nothing(open_memory: Open) -> None:
    seen = set()
    for order in permutations(range(3)):
        memory = ready(open_memory())
        around = nova(memory)
        memory.write(person("Samuel Rivera"), "worked_with", around)
        lines = [
            Write(subject=person("Sam Rivera"), slot="noted", value="y"),
            Write(subject=person("Sam Rivera"), slot="worked_with", value=around),
            Write(subject=person("Ann Bell"), slot="worked_with", value=person("Sam Rivera")),
        ]
        receipts = memory.write_many([lines[place] for place in order])
        people = memory.entities.list("person")
        seen.add(tuple(sorted(one.name for one in people)))
        sam = [r for r in receipts if r.resolution and r.resolution.reason == "scored"]
        assert all(overlap(r.resolution) == [(1.0, 1.5)] for r in sam)
    assert seen == {("Ann Bell", "Samuel Rivera")}


def test_lines_of_one_file_count_as_if_they_were_written_alone(
    open_memory: Open, tmp_path: Path
) -> None:
    lines: Sequence[tuple[str, str]] = (
        ("Samuel Rivera", "Nova"),
        ("Samuel Rivera", "Orion"),
        ("Sam Rivera", "Orion"),
        ("Sam Rivera", "Nova"),
        ("Samuel Rivers", "Orion"),
    )
    found = []
    for together in (False, True):
        memory = ready(open_memory())
        for name in ("Nova", "Orion"):
            memory.write(EntityRef(name=name, type="project"), "noted", "x")
        if together:
            held = [
                {"subject": {"name": name, "type": "person"}, "slot": "worked_with", "value": value}
                for name, value in lines
            ]
            path = tmp_path / "lines.jsonl"
            path.write_text("".join(json.dumps(one) + "\n" for one in held), encoding="utf-8")
            memory.ingest(path)
        else:
            for name, value in lines:
                memory.write(person(name), "worked_with", value)
        found.append([(e.name, len(e.members), e.state) for e in memory.entities.list("person")])
    assert sorted(found[0]) == sorted(found[1])


def test_a_neighbourhood_alone_binds_nobody(memory: Memory) -> None:
    around = nova(memory)
    memory.write(person("Samuel Rivera"), "worked_with", around)
    other = memory.write(person("Karl Lang"), "worked_with", around)
    assert resolution(other).decision == "new"
    initial = memory.write(person("S. Rivera"), "worked_with", around)
    assert resolution(initial).decision == "review"


def test_what_a_fact_relates_is_not_one(memory: Memory) -> None:
    sam = memory.write(person("Samuel Rivera"), "noted", "x").entity
    assert sam is not None
    son = memory.write(person("Samuel Riverra"), "worked_with", sam)
    assert son.entity != sam
    assert "direct_edge" in resolution(son).candidates[0].vetoes


def test_what_the_writer_may_not_see_is_no_evidence(memory: Memory) -> None:
    tenant = memory.principal.tenant
    ann = memory.bind(Principal(tenant=tenant, user="ann", roles=frozenset({"agent"})))
    around = nova(memory)
    memory.write(person("Samuel Rivera"), "noted", "x")
    ann.write(person("Samuel Rivera"), "worked_with", around, layer="user")
    hidden = memory.write(person("Samuel Riverra"), "worked_with", around, dry_run=True)
    assert not overlap(hidden.resolution)
    shown = ann.write(person("Samuel Riverra"), "worked_with", around, layer="user", dry_run=True)
    assert overlap(shown.resolution) == [(1.0, 1.5)]


def test_a_hub_in_common_tells_nothing(open_memory: Open) -> None:
    memory = ready(open_memory(policy=Policy(read=ReadPolicy(neighbourhood_fanout=2))))
    around = nova(memory)
    for name in ("Samuel Rivera", "Ann Bell"):
        memory.write(person(name), "worked_with", around)
    assert overlap(
        memory.write(person("Sam Rivera"), "worked_with", around, dry_run=True).resolution
    )
    memory.write(person("Karl Lang"), "worked_with", around)
    found = memory.write(person("Sam Rivera"), "worked_with", around, dry_run=True)
    assert resolution(found).decision == "review"
    assert not overlap(found.resolution)


def test_a_candidate_with_too_many_relations_has_nothing_in_common(open_memory: Open) -> None:
    memory = ready(open_memory(policy=Policy(read=ReadPolicy(neighbourhood_fanout=2))))
    for name in ("Nova", "Orion", "Vela"):
        memory.write(EntityRef(name=name, type="project"), "noted", "x")
        memory.write(person("Samuel Rivera"), "worked_with", name)
    assert not overlap(memory.write(person("Sam Rivera"), "worked_with", "Nova").resolution)


def test_an_end_that_is_refused_stands_around_nothing(memory: Memory) -> None:
    memory.write(person("Samuel Rivera"), "noted", "x")
    with pytest.raises(NotFound):
        memory.write(person("Sam Rivera"), "worked_with", "00000000-0000-4000-8000-000000000000")


def test_nothing_around_is_read_where_exact_names_decide(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = nova(memory)
    memory.write(person("Samuel Rivera"), "worked_with", around)

    def read(*_: object) -> None:
        raise AssertionError("an exact name needs no neighbours")

    monkeypatch.setattr(VisibleRelations, "read", read)
    assert memory.write(person("Samuel Rivera"), "worked_with", "Nova").outcome == "confirmed"
    assert memory.write(person("Karl Lang"), "noted", "z").outcome == "accepted"


def test_one_neighbour_that_many_have_is_no_evidence(memory: Memory) -> None:
    around = nova(memory)
    for name in ("Samuel Rivera", "Ann Bell", "Karl Lang", "Mia Ito", "Omar Haddad"):
        memory.write(person(name), "worked_with", around)
    rare = memory.write(person("Sam Rivera"), "worked_with", around, dry_run=True)
    assert overlap(rare.resolution)

    memory.write(person("Jon Berg"), "worked_with", around)
    common = memory.write(person("Sam Rivera"), "worked_with", around, dry_run=True)
    assert not overlap(common.resolution)
    assert resolution(common).decision == "review"
