"""Attributes: equal things are equal however they are written, and a conflict is told apart."""

from __future__ import annotations

import pytest

from tenure.resolution.context import PairContext, PersonContext
from tenure.resolution.model import default_model
from tenure.resolution.normalize import normalize
from tenure.resolution.score import PairScore, score_pair
from tenure.resolution.vetoes import COMPARATORS, compare_attributes
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.vocabulary import AttributeKind


@pytest.mark.parametrize(
    ("kind", "left", "right", "is_equal"),
    [
        (AttributeKind.BIRTH_DATE, "1980-04-02", "1980-04-02T00:00:00Z", True),
        (AttributeKind.BIRTH_DATE, "1980-04-02", "1980-02-04", False),
        (AttributeKind.EMAIL, "Sam@Acme.io", " mailto:sam@acme.io", True),
        (AttributeKind.EMAIL, "sam@acme.io", "sue@acme.io", False),
        (AttributeKind.PHONE, "+49 (0)30 901820-11", "0049 30 90182011", True),
        (AttributeKind.PHONE, "030 90182011", "030 90182012", False),
        (AttributeKind.HANDLE, "@SamR", "samr", True),
        (AttributeKind.HANDLE, "@samr", "@samra", False),
        (AttributeKind.DOMAIN, "https://www.Acme.io/jobs", "acme.io.", True),
        (AttributeKind.DOMAIN, "acme.io", "acme.com", False),
        (AttributeKind.PLACE, "Zürich", "zurich", True),
        (AttributeKind.PLACE, "Zurich", "Geneva", False),
        (AttributeKind.IDENTIFIER, "DE 123.456.789", "de123456789", True),
        (AttributeKind.IDENTIFIER, "DE123456789", "DE123456780", False),
    ],
)
def test_a_kind_tells_equal_from_differing(
    kind: AttributeKind, left: str, right: str, is_equal: bool
) -> None:
    evidence = compare_attributes({"slot": [left]}, {"slot": [right]}, {"slot": kind})
    (line,) = evidence.features
    assert line.score == float(is_equal)
    assert line.weight == (COMPARATORS[kind].equal if is_equal else 0.0)
    assert evidence.same_contact == (is_equal and COMPARATORS[kind].is_contact)
    assert evidence.conflict == (not is_equal and COMPARATORS[kind].is_unique)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (AttributeKind.BIRTH_DATE, "in spring"),
        (AttributeKind.EMAIL, "ask Sam"),
        (AttributeKind.PHONE, "ext. 12"),
        (AttributeKind.HANDLE, "@"),
        (AttributeKind.DOMAIN, "localhost"),
        (AttributeKind.IDENTIFIER, "--"),
    ],
)
def test_what_says_nothing_is_no_evidence(kind: AttributeKind, value: str) -> None:
    assert compare_attributes({"x": [value]}, {"x": [value]}, {"x": kind}).features == ()


def test_one_value_in_common_is_enough_and_the_sides_may_be_swapped() -> None:
    left, right = {"email": ["b@x.org", "a@x.org"]}, {"email": ["c@x.org", "a@x.org"]}
    kinds = {"email": AttributeKind.EMAIL}
    one = compare_attributes(left, right, kinds)
    assert one == compare_attributes(right, left, kinds)
    assert one.features[0].detail == "equal: 'a@x.org' / 'a@x.org'"
    assert compare_attributes(left, {}, kinds).features == ()


def scored(left: str, right: str, context: PairContext) -> PairScore:
    names = (normalize(right, "person"),)
    return score_pair(normalize(left, "person"), names, "person", context, default_model())


def test_a_shared_phone_binds_what_a_name_alone_may_not() -> None:
    kinds = {"phone": AttributeKind.PHONE, "birthday": AttributeKind.BIRTH_DATE}
    phone = {"phone": ["030 90182011"]}
    evidence = compare_attributes(phone, phone, kinds)
    alone = scored(
        "Jon Smythe", "Jonathan Smythe", PairContext(person_context=PersonContext.TENANT)
    )
    reached = scored(
        "Jon Smythe",
        "Jonathan Smythe",
        PairContext(same_contact=evidence.same_contact, attributes=evidence.features),
    )
    assert alone.score == 0.94
    assert (reached.vetoes, reached.score > 0.95) == ((), True)
    assert reached.log_odds == pytest.approx(alone.log_odds + 4.0)


def test_another_birth_date_forbids_a_bind_of_equal_names() -> None:
    context = PairContext(attribute_conflict=True, person_context=PersonContext.TENANT)
    pair = scored("Jon Smythe", "Jon Smythe", context)
    assert "attribute_conflict" in pair.vetoes
    assert pair.score < 0.95


def test_a_policy_names_kinds_that_exist() -> None:
    with pytest.raises(InvalidInput, match="birth_date, email"):
        ResolutionPolicy(attributes=(("badge", "smell"),))
