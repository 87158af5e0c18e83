"""The order of writes decides who waits for a person, never who is one in the end."""

import csv
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations
from pathlib import Path

import pytest

from tenure import EntityRef, Memory, Write, connect
from tenure.resolution.context import PairContext, PersonContext
from tenure.resolution.model import default_model
from tenure.resolution.normalize import normalize
from tenure.resolution.score import score_pair
from tenure.tests.support.sampling import part

SETS = [
    ("organization", "Acme Logistics Ltd/Acme Logistics/Acme Logistics LLC/ACME Logistics GmbH"),
    ("system", "Payments Service/Payment Service/PaymentsService/Payments Service UK"),
    ("system", "Order Service/OrderService/Order Service Test/Order Servise"),
    ("person", "Sam Rivera/Sam Rivera Jr./Rivera, Sam/Samuel Rivera"),
    ("project", "Apollo/Apollo II/Apollo 2/Apollo Program"),
    ("organization", "Rivera Foundation/The Rivera Foundation/Rivera/Riviera Foundation"),
    ("person", "Sasha Petrov/Alexander Petrov/Александр Петров/Alex Petrov"),
    ("organization", "Dept. of Energy/Department of Energy/Energy Department/Energy"),
]
FIVE = [
    (
        "organization",
        "Acme Logistics Ltd|Acme Logistics|Acme Logistics LLC|ACME Logistics GmbH|Acme Logistic",
    ),
    ("document", "src/app/main.py|./src/app/main.py|app/main.py|main.py|src/lib/main.py"),
]
Verdicts = dict[tuple[str, str], str]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.vocabulary.define_slot("noted", description="what was noted", cardinality="many")
        yield opened


def say(memory: Memory, name: str, kind: str) -> str:
    receipt = memory.write(subject=EntityRef(name=name, type=kind), slot="noted", value=name)
    assert receipt.entity is not None
    return receipt.entity


def verdicts(names: Sequence[str], kind: str) -> Verdicts:
    """Same, open or different for each pair of names, written in this order."""
    with connect(":memory:") as memory:
        memory.vocabulary.define_slot("noted", description="what was noted", cardinality="many")
        raw = {name: say(memory, name, kind) for name in names}
        doubtful = {c.mention for c in memory.reviews.list() if c.reason == "doubted"}
        views = {name: memory.entities.get(raw[name]).entity for name in names}
        assert memory.doctor() == ()

    found: Verdicts = {}
    for left, right in combinations(sorted(names), 2):
        states = {views[left].state, views[right].state}
        if "pending" in states or doubtful & {left, right}:
            found[left, right] = "open"
        elif views[left].entity_id == views[right].entity_id:
            found[left, right] = "same"
        else:
            found[left, right] = "different"
    return found


def vetoes(left: str, right: str, kind: str) -> tuple[str, ...]:
    context = PairContext(person_context=PersonContext.ASSUMED)
    forms = normalize(left, kind), (normalize(right, kind),)
    return score_pair(*forms, kind, context, default_model()).vetoes


def check(names: Sequence[str], kind: str) -> None:
    by_pair: dict[tuple[str, str], set[str]] = {}
    for order in permutations(names):
        for pair, verdict in verdicts(order, kind).items():
            by_pair.setdefault(pair, set()).add(verdict)

    assert [pair for pair, said in by_pair.items() if {"same", "different"} <= said] == []
    same = [pair for pair, said in by_pair.items() if "same" in said]
    assert [pair for pair in same if vetoes(*pair, kind)] == []


@pytest.mark.parametrize(("kind", "names"), SETS)
def test_no_order_makes_one_what_another_order_keeps_apart(kind: str, names: str) -> None:
    check(names.split("/"), kind)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "names"), FIVE)
def test_no_order_of_five_names_decides(kind: str, names: str) -> None:
    check(names.split("|"), kind)


@pytest.mark.slow
def test_no_order_of_five_names_from_elsewhere_decides(shared_data: Path) -> None:
    for kind, names in part(list(alias_sets(shared_data / "aliases", size=5))):
        check(tuple(dict.fromkeys(names)), kind)


def alias_sets(folder: Path, size: int = 4) -> Iterator[tuple[str, tuple[str, ...]]]:
    """So many names, all but one of one cluster of the alias data."""
    for file in ("openstack_company_aliases.csv", "un_person_variants.csv"):
        with (folder / file).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        clusters: dict[str, set[str]] = {}
        strangers: dict[str, str] = {}
        for row in rows:
            clusters.setdefault(row["cluster1"], set()).add(row["name1"])
            clusters.setdefault(row["cluster2"], set()).add(row["name2"])
            if row["is_match"] == "0":
                strangers[row["cluster1"]] = row["name2"]
        large = [name for name in sorted(strangers) if len(clusters[name]) >= size - 1]
        for name in islice(large, 4):
            yield rows[0]["kind"], (*sorted(clusters[name])[: size - 1], strangers[name])


def test_no_order_decides_on_names_from_elsewhere(shared_data: Path) -> None:
    for kind, names in alias_sets(shared_data / "aliases"):
        check(tuple(dict.fromkeys(names)), kind)


def test_a_later_name_that_makes_a_bind_ambiguous_opens_a_doubt(memory: Memory) -> None:
    first = say(memory, "Acme Logistics Ltd", "organization")
    assert say(memory, "Acme Logistics", "organization") == first
    assert memory.reviews.list() == ()

    rival = say(memory, "Acme Logistics LLC", "organization")
    (doubt,) = (case for case in memory.reviews.list() if case.reason == "doubted")
    assert doubt.blocking
    assert doubt.mention == "Acme Logistics"
    assert [candidate.entity for candidate in doubt.candidates] == [first, rival]
    assert doubt.candidates[0].score >= 0.95  # the evidence of the judgement, which stands
    assert memory.entities.get("Acme Logistics").entity.entity_id == first

    say(memory, "Acme Logistics GmbH", "organization")
    assert [c.reason for c in memory.reviews.list()].count("doubted") == 1
    assert memory.doctor() == ()


def test_a_doubt_is_rejected_undone_and_confirmed(memory: Memory) -> None:
    names = ("Acme Logistics Ltd", "Acme Logistics", "Acme Logistics LLC")
    first, *_ = [say(memory, name, "organization") for name in names]
    (doubt,) = (case for case in memory.reviews.list() if case.reason == "doubted")

    memory.reviews.reject(doubt.review_id)
    apart = memory.entities.get("Acme Logistics").entity
    assert (apart.entity_id, apart.state) == (doubt.entity_id, "active")

    undone = memory.reviews.undo(doubt.review_id)
    assert undone.merge is not None  # the bind stands again, and is doubted again
    assert memory.entities.get(doubt.entity_id).entity.entity_id == first
    assert [case.review_id for case in memory.reviews.list()].count(doubt.review_id) == 1

    memory.reviews.reject(doubt.review_id)
    memory.reviews.undo(doubt.review_id)
    memory.reviews.accept(doubt.review_id)
    assert memory.entities.get("Acme Logistics").entity.entity_id == first
    assert memory.doctor() == ()


def record(memory: Memory, name: str, mail: str = "", birthday: str = "") -> str:
    person = EntityRef(name=name, type="person", external_ids={"email": mail} if mail else {})
    facts = {"noted": name} | ({"birthday": birthday} if birthday else {})
    writes = [Write(subject=person, slot=slot, value=value) for slot, value in facts.items()]
    return str(memory.write_many(writes)[0].entity)


def test_a_bind_that_a_birthday_speaks_for_is_not_doubted_for_a_bare_name(memory: Memory) -> None:
    first = record(memory, "Tilda Oakes", birthday="1961-02-17")
    assert record(memory, "Tilda R. Oakes", birthday="1961-02-17") == first
    record(memory, "T. Oakes", mail="t.oakes@mill.example")
    assert [case.mention for case in memory.reviews.list() if case.reason == "doubted"] == []
    assert record(memory, "Oakes, Tilda", birthday="1961-02-17") == first


@pytest.mark.parametrize("names", list(permutations(("Dr. Ivo Kraan", "Ivo Kraan"))))
def test_people_of_one_name_whose_contacts_differ_are_asked_about(
    memory: Memory, names: tuple[str, str]
) -> None:
    entities = {record(memory, name, mail=f"{name[:2]}@mill.example") for name in names}
    assert len(entities) == 2
    assert len(memory.reviews.list()) == 1


def test_what_a_person_judged_is_not_doubted_again(memory: Memory) -> None:
    first = say(memory, "Acme Logistics Ltd", "organization")
    other = say(memory, "Acme Logistics International", "organization")
    memory.entities.merge(first, other, reason="one company")
    say(memory, "Acme Logistics International LLC", "organization")
    assert [case for case in memory.reviews.list() if case.reason == "doubted"] == []


def test_a_case_may_be_decided_and_undone_in_any_order(memory: Memory) -> None:
    first = say(memory, "Sam Rivera", "person")
    say(memory, "S. Rivera", "person")
    (case,) = memory.reviews.list()
    for decide in ("accept", "undo", "reject", "undo", "accept", "undo", "reject", "undo"):
        getattr(memory.reviews, decide)(case.review_id)
        assert memory.doctor() == ()
    memory.reviews.accept(case.review_id)
    assert memory.entities.get(case.entity_id).entity.entity_id == first


def test_a_name_that_was_not_to_be_remembered_is_asked_about_again(memory: Memory) -> None:
    say(memory, "Sam Rivera", "person")
    say(memory, "S. Rivera", "person")
    (case,) = memory.reviews.list()
    memory.reviews.accept(case.review_id, remember="no")
    say(memory, "S. Rivera", "person")
    assert [case.mention for case in memory.reviews.list()] == ["S. Rivera"]


@pytest.mark.parametrize("order", ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"])
def test_undoing_one_merge_leaves_the_other_as_it_was_said(memory: Memory, order: str) -> None:
    names = {"A": "Alpha Works", "B": "Bravo Foods", "C": "Charlie Mills"}
    ids = {letter: say(memory, names[letter], "organization") for letter in order}
    first = memory.entities.merge(ids["A"], ids["B"], reason="one company")
    memory.entities.merge(ids["B"], ids["C"], reason="one company")
    memory.entities.unmerge(first.merge_id, reason="they are two")

    roots = {letter: memory.entities.get(raw).entity.entity_id for letter, raw in ids.items()}
    assert roots["B"] == roots["C"] != roots["A"]
    assert memory.doctor() == ()
