"""What an identifier proves: hard, soft and filler values, in any spelling, on every store."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, Write
from tenure.tests.store.builders import Open, person


def firm(name: str, **ids: str) -> dict[str, Any]:
    return {"name": name, "type": "organization", "external_ids": ids}


def entity(memory: Memory, subject: dict[str, Any]) -> str | None:
    return memory.write(subject, "phone", "1").entity


@pytest.mark.parametrize("scheme", ["badge", "email", "phone", "handle"])
@pytest.mark.parametrize("value", ["n.a.", "N/A", "-", "unknown", "000000", "123456", "TBD"])
def test_a_filler_identifies_nobody(memory: Memory, scheme: str, value: str) -> None:
    one, two = person("Vera Stolz", **{scheme: value}), person("Ivo Kraan", **{scheme: value})
    receipt = memory.write(one, "phone", "a")
    assert "filler_identifier" in receipt.warnings
    assert entity(memory, two) != receipt.entity
    assert memory.reviews.list(kind="all") == ()
    assert memory.as_of().entity("Vera Stolz").external_ids == {}
    # A read that states one falls back to the name, as it says nothing of who is meant.
    assert memory.as_of().entity(one).entity_id == receipt.entity


def test_a_filler_excludes_nobody(memory: Memory) -> None:
    known = entity(memory, person("Vera Stolz", badge="B-4471"))
    assert entity(memory, person("Vera Stolz", badge="none")) == known


@pytest.mark.parametrize("value", ["7", "123", "111"])
def test_a_short_record_number_identifies(memory: Memory, value: str) -> None:
    known = entity(memory, person("Vera Stolz", crm=value))
    assert entity(memory, person("Vera Stolz-Amman", crm=value)) == known


def test_a_batch_a_table_and_a_dry_run_leave_fillers_out(memory: Memory, tmp_path: Path) -> None:
    names = ("Vera Stolz", "Ivo Kraan")
    subjects = [person(name, badge="n.a.") for name in names]
    receipts = memory.write_many([Write(subject=s, slot="phone", value="a") for s in subjects])
    assert len({receipt.entity for receipt in receipts}) == 2
    preview = memory.write(person("Jo Wend", badge="n.a."), "phone", "a", dry_run=True)
    assert preview.resolution is not None
    assert preview.resolution.decision == "new"

    table = tmp_path / "t.jsonl"
    lines = [{"subject": person(n, badge="N/A"), "slot": "phone", "value": "b"} for n in names]
    table.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = memory.ingest(table)
    assert report.warnings == {"filler_identifier": 2}
    assert len(memory.entities.list()) == 2


@pytest.mark.parametrize("scheme", ["badge", "email"])
@pytest.mark.parametrize("turned", [False, True])
def test_an_identifier_never_joins_a_person_with_a_firm(
    memory: Memory, scheme: str, *, turned: bool
) -> None:
    ids = {scheme: "jo@mill.example"}
    pair = [person("Jo Mill", **ids), firm("Mill Estates", **ids)]
    subjects = pair[::-1] if turned else pair
    first = memory.write(subjects[0], "phone", "a")
    second = memory.write(subjects[1], "phone", "b")
    assert first.entity != second.entity
    assert "possible_same_as" in second.warnings
    assert memory.reviews.list() == ()
    (case,) = memory.reviews.list(kind="all")
    assert any("of type" in line.detail for line in case.candidates[0].features)


@pytest.mark.parametrize(
    ("scheme", "spellings"),
    [
        ("badge", ("AK-4471 b", "ak4471b", "AK 4471/B")),
        ("lei", ("5493 001k", "5493001K", "5493-001k")),
    ],
)
def test_two_spellings_of_a_hard_value_are_one(
    open_memory: Open, scheme: str, spellings: tuple[str, ...]
) -> None:
    for order in permutations(spellings):
        memory = open_memory()
        ids = {entity(memory, person("Vera Stolz", **{scheme: text})) for text in order}
        assert len(ids) == 1
        # The first spelling is kept and shown.
        assert memory.as_of().entity("Vera Stolz").identifiers == ((scheme, order[0]),)
        assert memory.as_of().entity(person("Vera", **{scheme: order[1]})).entity_id in ids


def test_another_hard_value_excludes_and_suggests(memory: Memory) -> None:
    known = entity(memory, person("Vera Stolz", badge="AK-4471"))
    receipt = memory.write(person("Vera Stolz", badge="AK-4472"), "phone", "a")
    assert receipt.entity != known
    assert "possible_same_as" in receipt.warnings


def test_a_hard_value_under_a_wholly_unlike_name_is_a_review(memory: Memory) -> None:
    known = entity(memory, person("Vera Stolz", badge="AK-4471"))
    receipt = memory.write(person("Ivo Kraan", badge="AK-4471"), "phone", "a")
    assert receipt.outcome == "pending_review"
    again = memory.write(person("Ivo Kraan", badge="AK-4471"), "phone", "b")
    assert again.entity == receipt.entity
    (case,) = memory.reviews.list()
    assert case.candidates[0].entity == known

    # The name says which of the two is meant, once a person has kept them apart.
    memory.reviews.reject(case.review_id)
    assert entity(memory, person("Vera Stolz", badge="AK-4471")) == known
    assert entity(memory, person("Ivo Kraan", badge="AK-4471")) == receipt.entity


@pytest.mark.parametrize(
    ("stored", "stated"),
    [
        ("Vera Stolz", "Vera Amman"),
        ("William Nelson", "Bill Aster"),
        ("Vera Stolz", "Stolz, V."),
    ],
)
def test_a_hard_value_binds_where_a_word_or_nickname_is_common(
    memory: Memory, stored: str, stated: str
) -> None:
    known = entity(memory, person(stored, badge="AK-4471"))
    assert entity(memory, person(stated, badge="ak 4471")) == known


def test_a_contact_besides_a_hard_value_binds_an_unlike_name(memory: Memory) -> None:
    ids = {"badge": "AK-4471", "email": "v@mill.example"}
    known = entity(memory, person("Vera Stolz", **ids))
    assert entity(memory, person("Ivo Kraan", **ids)) == known


def test_an_acronym_is_no_unlike_name(memory: Memory) -> None:
    known = entity(memory, firm("Mill Estates Holding", lei="54930014"))
    assert entity(memory, firm("MEH", lei="5493 0014")) == known


@pytest.mark.parametrize("value", ["a@mill.example", "Office@mill.example"])
def test_an_address_alone_joins_no_two_names(memory: Memory, value: str) -> None:
    ids = {entity(memory, person(n, email=value)) for n in ("Vera Stolz", "Ivo Kraan")}
    assert len(ids) == 2
    assert memory.reviews.list() == ()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "names", [("Vera Stolz", "Vera Stoltz"), ("Sam Rivera", "Samuel Rivera")], ids=["slip", "short"]
)
def test_an_address_lifts_a_near_name(
    open_memory: Open, names: tuple[str, str], *, turned: bool
) -> None:
    alone, memory = open_memory(), open_memory()
    order = names[::-1] if turned else names
    assert len({entity(alone, person(name)) for name in order}) == 2
    values = ("Sam.V@mill.example", " sam.v@MILL.example")
    pairs = zip(order, values, strict=True)
    assert len({entity(memory, person(name, email=value)) for name, value in pairs}) == 1


def test_two_addresses_exclude_nobody(memory: Memory) -> None:
    known = entity(memory, person("Vera Stolz", email="v@mill.example", badge="AK-4471"))
    assert entity(memory, person("V. Stolz", email="x@home.example", badge="AK-4471")) == known


def test_a_shared_house_address_lifts_no_name(memory: Memory) -> None:
    for name in ("Ivo Kraan", "Jo Wend", "Nils Berg"):
        entity(memory, person(name, phone="+41 44 668 18 01"))
    known = entity(memory, person("Katherine Moreau", phone="044 668 18 01"))
    receipt = memory.write(person("Katharina Moreau", phone="+41446681801"), "phone", "a")
    assert receipt.entity != known
    assert receipt.resolution is not None
    lines = [line for row in receipt.resolution.candidates for line in row.features]
    assert all(line.name != "phone" for line in lines)


def test_two_equal_names_are_told_apart_by_their_address(memory: Memory) -> None:
    one = entity(memory, person("Vera Stolz", badge="1", email="v1@mill.example"))
    two = entity(memory, person("Vera Stolz", badge="2", email="v2@mill.example"))
    assert one != two
    assert entity(memory, person("Vera Stolz", email="V2@mill.example")) == two


@pytest.mark.parametrize("scheme", ["record", "transcript", "task", "owner", "project"])
def test_keys_that_differ_in_any_sign_are_of_two_entities(memory: Memory, scheme: str) -> None:
    keys = ["n/a/b", "n/A/B", "n/ab", "n/a-b", "n/a%2Fb", "na/b"]
    # One name for all: the key alone tells them apart.
    refs = [person("Page of Notes", **{scheme: key}) for key in keys]
    found = [entity(memory, ref) for ref in refs]
    assert len(set(found)) == len(keys)
    assert [entity(memory, ref) for ref in refs] == found
