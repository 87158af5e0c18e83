"""What look-ups answer: joined answers, and the order in which every store gives them."""

from tenure.resolution.known import Known, Lookup, identifier_order, merge_known, worth_it
from tenure.schema.entity import Identifier
from tenure.tests.support.entities import entity


def known(raw: str) -> Known:
    identifier = Identifier(entity_id=raw, scheme="hr", value=raw, tx_start=1)
    return Known(entities={raw: entity(raw)}, identifiers=(identifier,), weights={(raw, raw): 7})


def test_joined_answers_hold_everything_once_and_no_weights() -> None:
    both = merge_known([known("a"), Known(), known("b"), known("a")])
    assert sorted(both.entities) == ["a", "b"]
    assert [one.entity_id for one in both.identifiers] == ["a", "b"]
    assert not both.weights
    assert merge_known([Known(), known("a")]).entities.keys() == {"a"}
    assert not merge_known([known("a")]).weights
    assert merge_known([]) == Known()


def test_identifiers_come_by_entity_then_scheme_then_value() -> None:
    given = [
        Identifier(entity_id=raw, scheme=scheme, value=value, tx_start=1)
        for raw, scheme, value in (("b", "hr", "1"), ("a", "tax", "1"), ("a", "hr", "2"))
    ]
    ranked = sorted(given, key=identifier_order)
    assert [(one.entity_id, one.scheme) for one in ranked] == [
        ("a", "hr"),
        ("a", "tax"),
        ("b", "hr"),
    ]


def test_a_norm_is_worth_it_when_one_of_its_surfaces_is_near() -> None:
    proposed = [("Acme", "acme"), ("ACME", "acme"), ("Zenith", "zenith")]
    assert worth_it(proposed, Lookup(near=lambda surfaces: {"ACME"} & set(surfaces))) == {"acme"}
    assert worth_it(proposed, Lookup()) == {"acme", "zenith"}
