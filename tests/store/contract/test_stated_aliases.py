"""What a write says of further names: kept, or told why not, and never a choice. On every store."""

from itertools import permutations
from typing import Any

import pytest

from tenure import Memory

ADA, BO = "Ada Lund", "Bo Falk"


def person(name: str, *aliases: str) -> dict[str, Any]:
    return {"name": name, "type": "person", "aliases": list(aliases)}


def with_two_people(memory: Memory) -> list[str]:
    return sorted(str(memory.write(person(name), "phone", name).entity) for name in (ADA, BO))


@pytest.mark.parametrize("names", [*permutations(["Xu Nordin", ADA, BO]), (ADA, BO), (BO, ADA)])
def test_names_of_two_known_people_are_a_review(memory: Memory, names: tuple[str, ...]) -> None:
    known_ids = with_two_people(memory)
    receipt = memory.write(person(*names), "office", "Turin")
    assert receipt.outcome == "pending_review"
    assert receipt.warnings == ("alias_of_other",)
    (case,) = memory.reviews.list()
    assert case.reason == "scored" or sorted(row.entity for row in case.candidates) == known_ids

    # No read of either has become ambiguous.
    for name in (ADA, BO):
        assert memory.as_of().value(name, "phone") == name


def test_a_new_name_with_one_known_alias_is_bound_to_it(memory: Memory) -> None:
    ada = memory.write(person(ADA), "phone", "1").entity
    receipt = memory.write(person("Zoe", ADA), "office", "Turin")
    assert (receipt.entity, receipt.resolution.reason, receipt.warnings) == (ada, "alias", ())
    assert memory.reviews.list(kind="all") == ()
    assert memory.as_of().value("Zoe", "phone") == "1"


def test_an_unknown_alias_is_kept(memory: Memory) -> None:
    receipt = memory.write(person(ADA, "Addie"), "phone", "1")
    assert receipt.warnings == ()
    assert memory.as_of().value("Addie", "phone") == "1"
    # Stated again it is its own, and no sign of another entity.
    assert memory.write(person(ADA, "Addie"), "phone", "1").outcome == "confirmed"


def test_a_description_is_left_out_with_a_warning(memory: Memory) -> None:
    subject = {"name": "build-farm", "type": "system", "aliases": ["the green machines"]}
    assert memory.write(subject, "status", "up").warnings == ("alias_describes",)


def test_a_page_teaches_no_alias_and_says_so(memory: Memory) -> None:
    receipt = memory.write(
        person(ADA, "Addie"), "phone", "1", source_origin="web://mill.example/staff"
    )
    assert "alias_untrusted" in receipt.warnings
    assert memory.as_of().slot("Addie", "phone").status == "unknown"


@pytest.mark.parametrize(
    ("name", "former", "kind"),
    [
        ("Anna Schulz (geb. Weber)", "Anna Weber", "person"),
        ("Ida Roth, née Marsh", "Ida Marsh", "person"),
        ("Mill Ltd (formerly Kiln Works Ltd)", "Kiln Works Ltd", "organization"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_former_name_is_an_alias_or_leaves_a_suggestion(
    memory: Memory, name: str, former: str, kind: str, *, known: bool
) -> None:
    before = memory.write({"name": former, "type": kind}, "phone", "1").entity if known else None
    receipt = memory.write({"name": name, "type": kind}, "phone", "2")
    assert receipt.entity != before
    assert memory.as_of().value(former, "phone") == ("1" if known else "2")
    proposed = [row.entity for case in memory.reviews.list(kind="all") for row in case.candidates]
    assert proposed == ([before] if known else [])
