"""The strongest name that a caller may see, else the head of the id."""

from dataclasses import replace

import pytest

from tenure.resolution.known import Known
from tenure.resolution.names import (
    SHOWN_LENGTH,
    NameRow,
    shown_name,
    visible_names,
    with_visible_names,
)
from tenure.resolution.register import UNTRUSTED_LEVEL, Register, taught_level
from tenure.schema.claim import Permissions
from tenure.schema.principal import Sight
from tenure.schema.vocabulary import Classification, EntityState
from tenure.tests.support.entities import entity

ID = "0123456789-entity"
OTHER = "9876543210-entity"
SIGHT = Sight(scopes=("tenant", "user=ann"), tags=("*",), clearance=0)


def row(surface: str, **fields: object) -> NameRow:
    base = NameRow(
        entity_id=ID, surface=surface, scope_id="tenant", tx_start=1, object_id="w", level=2,
        is_live=True, permissions=Permissions(), is_first=False,
    )  # fmt: skip
    return replace(base, **fields)  # type: ignore[arg-type]


def shown(*rows: NameRow) -> tuple[str, int | None]:
    known = with_visible_names(Known(entities={ID: entity(ID, "as created")}), rows, SIGHT)
    return known.entities[ID].name, known.name_levels.get(ID)


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        (row("a", level=4), row("b", level=3)),
        (row("a"), row("b", scope_id="user=ann", tx_start=9)),
        (row("a", tx_start=2), row("b", tx_start=1)),
        (row("a", is_live=False), row("b", tx_start=9)),
        (row("as created", is_live=False), row("b", tx_start=9)),
        (row("a", entity_id=ID), row("b", level=1)),
        (row("a", scope_id="user=bob", level=0), row("b", level=4)),
        (row("a", level=UNTRUSTED_LEVEL), row("b", level=4)),
    ],
)
def test_the_strongest_visible_name_is_shown(weaker: NameRow, stronger: NameRow) -> None:
    assert shown(weaker, stronger) == shown(stronger, weaker) == ("b", stronger.level)


@pytest.mark.parametrize(
    "hidden",
    [
        row("a", scope_id="user=bob"),
        row("a", level=UNTRUSTED_LEVEL),
        row("a", permissions=Permissions(deny=("*",))),
        row("a", permissions=Permissions(classification=Classification.RESTRICTED)),
    ],
)
def test_without_a_visible_name_the_head_of_the_id_is_shown(hidden: NameRow) -> None:
    assert shown(hidden) == ("01234567", None)


def test_a_cluster_has_one_name_and_an_erased_entity_stays_as_it_is() -> None:
    known = Known(
        entities={
            ID: entity(ID),
            OTHER: entity(OTHER),
            "gone": entity("gone", "as created", state=EntityState.ERASED),
        },
        canonical={ID: ID, OTHER: ID},
    )
    names = with_visible_names(known, [row("Sam", entity_id=OTHER)], SIGHT)
    assert [each.name for each in names.entities.values()] == ["Sam", "Sam", "as created"]
    assert names.name_levels == {ID: 2, OTHER: 2}


def test_of_equals_the_name_that_it_was_made_with_stands_first() -> None:
    made, nickname = row("as created", tx_start=9), row("Bill", tx_start=1)
    assert shown(nickname, made) == shown(made, nickname) == ("as created", 2)
    assert shown(row("Sam"), row("Eve", entity_id=OTHER, level=0)) == ("Sam", 2)


def test_what_pages_call_an_entity_is_a_name_while_nobody_stronger_names_it() -> None:
    register = Register(Known(entities={ID: entity(ID), OTHER: entity(OTHER)}))
    of_page, of_person = row("Page name", level=4), row("Sam Rivera", level=2)
    hidden = row("Secret", scope_id="user=bob")
    elsewhere = row("Only a page", level=4, entity_id=OTHER)
    rows = [of_page, hidden, elsewhere, of_person, row("Sam R", level=1)]
    assert visible_names(rows, register, SIGHT) == {
        ID: ("Sam R", "Sam Rivera"),
        OTHER: ("Only a page",),
    }
    assert visible_names([of_page, hidden], register, SIGHT) == {ID: ("Page name",)}


def test_a_name_is_one_line_of_limited_length() -> None:
    assert shown_name("Globex.\n\x1b[0m Ignore\u2028all") == "Globex. [0m Ignore all"
    assert len(shown_name("x" * 300)) == SHOWN_LENGTH
    assert shown_name("x" * SHOWN_LENGTH) == "x" * SHOWN_LENGTH


def test_a_name_is_as_strong_as_its_teacher() -> None:
    assert taught_level(3, "") == 3
    assert taught_level(None, None) == 2
    assert taught_level(0, "injection") == UNTRUSTED_LEVEL
