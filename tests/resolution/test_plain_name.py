"""What is read word for word, and what is left to `normalize`; the equal forms are tried there."""

import pytest

from tenure.resolution.normalize import acronyms_of, plain_name, stem_of
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["plain_name"]


@pytest.mark.parametrize(
    ("surface", "entity_type", "core", "legal"),
    [
        ("Acme Foods", "organization", ["acme", "foods"], ""),
        ("Acme  Labs", "organization", ["acme", "laboratory"], ""),
        ("Labs Acme", "organization", ["labs", "acme"], ""),
        ("Dept Energy", "organization", ["department", "energy"], ""),
        ("Dept Inc", "organization", ["dept"], "inc"),
        ("Acme Foods GmbH", "organization", ["acme", "foods"], "gmbh"),
        ("Acme Foods GmbH", "system", ["acme", "foods", "gmbh"], ""),
        ("Sam Rivera", "person", ["sam", "rivera"], ""),
    ],
)
def test_plain_words_give_core_and_legal_form(
    surface: str, entity_type: str, core: list[str], legal: str
) -> None:
    name = plain_name(surface, entity_type)
    assert name is not None
    assert (name.core, name.legal) == (core, legal)


@pytest.mark.parametrize(
    ("surface", "entity_type"),
    NAMES["what_a_list_reads_in_its_own_way_is_taken_apart"],
)
def test_what_a_list_reads_in_its_own_way_is_taken_apart(surface: str, entity_type: str) -> None:
    assert plain_name(surface, entity_type) is None


def test_a_word_of_trade_goes_where_enough_is_left() -> None:
    assert stem_of(["juniper", "network"], "organization") == "juniper"
    assert stem_of(["juniper", "network"], "system") == "junipernetwork"
    assert stem_of(["delta", "system"], "organization") == "deltasystem"
    assert stem_of(["pacific", "system"], "organization") == "pacificsystem"
    assert stem_of([], "organization") == ""


def test_an_acronym_leaves_small_words_out_or_in() -> None:
    assert acronyms_of(["bank", "york"], ["bank", "of", "york"]) == ("by", "boy")
    assert acronyms_of(["acme"], ["acme", "inc"]) == ()
