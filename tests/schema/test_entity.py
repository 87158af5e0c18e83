"""How a caller names an entity, checked once at the edge."""

from typing import Any

import pytest

from tenure.schema.entity import MAX_IDENTIFIER, MAX_NAME, EntityRef
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused


def test_a_reference_normalises_what_it_is_given() -> None:
    ref = EntityRef(name="Ann", aliases=["A."], external_ids={"hr": 7})  # type: ignore[arg-type, dict-item]
    assert ref == EntityRef(name="Ann", aliases=("A.",), external_ids={"hr": "7"})
    assert ref.type == "unknown"


def test_a_reference_keeps_no_hold_on_what_it_was_given() -> None:
    ids = {"hr": "7"}
    ref = EntityRef(name="Ann", external_ids=ids)
    ids["hr"] = "8"
    assert ref.external_ids == {"hr": "7"}


def test_the_longest_name_fits() -> None:
    ref = EntityRef(
        name="n" * 300, aliases=("a" * MAX_NAME,), external_ids={"hr": "i" * MAX_IDENTIFIER}
    )
    assert (len(ref.name), len(ref.aliases[0]), len(ref.external_ids["hr"])) == (300, 300, 512)


@pytest.mark.parametrize(
    "given",
    [
        {"name": ""},
        {"name": "  "},
        {"name": "\u200b\u200d"},
        {"name": "\u3164"},
        {"name": "Ann", "aliases": ("\ufeff",)},
        {"name": "n" * 301},
        {"name": "Ann", "aliases": ("n" * 301,)},
        {"name": "Ann", "external_ids": {"hr": "7" * 513}},
        {"name": None},
        {"name": "Ann", "aliases": ("",)},
        {"name": "Ann", "aliases": (3,)},
        {"name": "Ann", "external_ids": {"hr": " "}},
        {"name": "Ann", "external_ids": {"HR": "7"}},
        {"name": "Ann", "external_ids": {"": "7"}},
    ],
)
def test_a_name_nobody_could_mean_is_refused(given: dict[str, object]) -> None:
    with refused(InvalidInput, "bad_name") as caught:
        EntityRef(**given)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("fields", [{"aliases": "Sam"}, {"aliases": 5}, {"external_ids": ["7"]}])
def test_lists_of_an_entity_of_another_type_are_refused(fields: dict[str, Any]) -> None:
    with refused(InvalidInput, "bad_entity"):
        EntityRef(name="Sam Rivera", **fields)
