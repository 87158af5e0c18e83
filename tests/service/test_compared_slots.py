"""Two records side by side: what is hidden of either agrees with nothing."""

import pytest

import tenure
from tenure.service.client.answer import ComparedCell, compared_slots

STEWARD = tenure.Principal(user="stan", roles=frozenset({"steward"}))
HIDDEN = {"deny_roles": ["steward"]}
MASKED = {"sensitivity": ["personal"]}


def cell(memory: tenure.Memory, slot: str, view: tenure.View | None = None) -> ComparedCell:
    """How a steward sees a slot of the two beside each other."""
    ids = [memory.as_of().entity(name).entity_id for name in ("Sam Rivera", "Samuel Rivera")]
    steward = memory.bind(STEWARD)
    page = steward.reviews.get(memory.reviews.open(*ids).review_id)
    rows = {row.slot: row for row in compared_slots(steward, page, view)}
    (candidate,) = rows[slot].candidates
    return candidate


def say(memory: tenure.Memory, *offices: str, **terms: list[str]) -> None:
    for name, office in zip(("Sam Rivera", "Samuel Rivera"), offices, strict=True):
        memory.write({"name": name, "type": "person"}, "title", "Engineer")
        memory.write(name, "office", office, **terms)


@pytest.mark.parametrize("offices", [("Ulm", "Ulm"), ("Ulm", "Rome")])
@pytest.mark.parametrize(("terms", "words"), [(HIDDEN, "withheld"), (MASKED, "[masked]")])
def test_what_is_hidden_neither_agrees_nor_differs(
    memory: tenure.Memory, offices: tuple[str, str], terms: dict[str, list[str]], words: str
) -> None:
    say(memory, *offices, **terms)
    office = cell(memory, "office")
    assert (office.sign, office.words) == ("?", words)
    assert cell(memory, "title").sign == "="


@pytest.mark.parametrize(("offices", "sign"), [(("Ulm", "Ulm"), "="), (("Ulm", "Rome"), "!")])
def test_what_all_may_see_agrees_or_differs(
    memory: tenure.Memory, offices: tuple[str, str], sign: str
) -> None:
    say(memory, *offices)
    assert cell(memory, "office").sign == sign


@pytest.mark.parametrize(
    ("elder", "younger", "sign"),
    [(("Ulm", "Rome"), ("Rome", "Ulm"), "="), (("Ulm", "Rome"), ("Ulm", "Bonn"), "!")],
)
def test_two_ties_agree_where_they_are_between_the_same(
    memory: tenure.Memory, elder: tuple[str, str], younger: tuple[str, str], sign: str
) -> None:
    for name, offices in (("Sam Rivera", elder), ("Samuel Rivera", younger)):
        person = {"name": name, "type": "person"}
        memory.write_many(
            [tenure.Write(subject=person, slot="office", value=office) for office in offices]
        )
    office = cell(memory, "office")
    assert (office.sign, office.words) == (sign, "disputed")


def test_what_was_erased_agrees_with_nothing(memory: tenure.Memory) -> None:
    say(memory, "Ulm", "Ulm")
    before = memory.as_of()
    for name in ("Sam Rivera", "Samuel Rivera"):
        memory.erase(before.slot(name, "office").candidates[0].object_id, reason="case 7")
    office = cell(memory, "office", memory.as_of(tx=before.tx))
    assert (office.sign, office.words) == ("?", "erased")
