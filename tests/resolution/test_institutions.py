"""Institutions under the names that other languages give them."""

import pytest

from tenure import EntityRef, connect
from tenure.resolution.blocking import block_keys, near_names
from tenure.resolution.lexicon import institution_keys
from tenure.resolution.normalize import form_of
from tenure.resolution.renderings import is_rendering
from tenure.schema.vocabulary import Decision
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["institutions"]

SAME = (
    ("Bundesministerium der Finanzen", "Federal Ministry of Finance"),
    ("Bundesministerium für Wirtschaft und Energie", "Federal Ministry of Economics and Energy"),
    ("Bundesfinanzministerium", "Federal Ministry of Finance"),
    ("Ministère des Finances", "Ministry of Finance"),
    ("Ministerio de Justicia", "Justizministerium"),
    ("Wirtschaftsministerium", "Ministry of Economy"),
    ("Università di Bologna", "Universität Bologna"),
    ("Ministério da Saúde", "Ministry of Health"),
    ("Oberster Gerichtshof", "Cour suprême"),
)


@pytest.mark.parametrize(("left", "right"), SAME)
def test_two_languages_name_one_kind_of_institution(left: str, right: str) -> None:
    forms = [form_of(name, "organization") for name in (left, right)]
    assert is_rendering(*forms)
    assert is_rendering(*reversed(forms))
    shared_keys = set(block_keys(forms[0])).intersection(block_keys(forms[1]))
    assert any(kind.label == "sound" for _, kind in shared_keys), "a store finds it"
    assert near_names(left, "organization", [right, "Acme Foods"]) == {right}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Bundesministerium der Finanzen", "Federal Ministry of Justice"),
        ("Bundesministerium der Finanzen", "Ministry of Finance"),
        ("Universität Hamburg", "University of Bremen"),
        ("Ministry of Finance", "Finance Ministry"),
    ],
)
def test_other_institutions_and_other_orders_are_no_renderings(left: str, right: str) -> None:
    assert not is_rendering(form_of(left, "organization"), form_of(right, "organization"))


@pytest.mark.parametrize(
    "name",
    NAMES["what_names_no_institution_has_no_key"],
)
def test_what_names_no_institution_has_no_key(name: str) -> None:
    assert institution_keys(form_of(name, "organization").core) == ()


def test_a_name_of_unknown_type_may_be_that_of_an_institution() -> None:
    forms = [form_of(name, "unknown") for name in SAME[0]]
    assert is_rendering(*forms)


def test_only_organisations_have_such_keys() -> None:
    kinds = {kind.label for _, kind in block_keys(form_of("Ministry of Finance", "system"))}
    assert "sound" not in kinds


def test_a_person_is_shown_both_and_nobody_waits() -> None:
    with connect(":memory:") as memory:
        memory.vocabulary.define_slot("noted", description="what was noted")
        known = EntityRef(name="Federal Ministry of Finance", type="organization")
        memory.write(known, "noted", "budget")
        mention = EntityRef(name="Bundesministerium der Finanzen", type="organization")
        resolution = memory.entities.resolve(mention)
        assert (resolution.decision, resolution.reason) == (Decision.NEW, "possible_same_as")
        (candidate,) = resolution.candidates
        assert "rendering" in {feature.name for feature in candidate.features}

        receipt = memory.write(mention, "noted", "Haushalt")
        assert receipt.outcome == "accepted"
        (case,) = memory.reviews.list(kind="all")
        assert not case.blocking
