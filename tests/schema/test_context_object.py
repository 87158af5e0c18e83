"""The JSON Schema of a context object is the source's, and objects fit it."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker, ValidationError  # type: ignore[import-untyped]

from tenure.schema.context_object import ContextObject, json_schema
from tenure.schema.vocabulary import (
    ASPECTS,
    Authority,
    Classification,
    ObjectType,
    RetirementRule,
    Sensitivity,
    StateLayer,
    Status,
    missing_aspects,
)

REQUIRED = """
object_id content normalized_claim object_type canonical_entity_ids source_origin source_authority
confidence_score security_classification permission_scope tenant_id valid_from tx_start
why_it_matters applicable_task_types contradiction_status
""".split()
"""The sixteen that source 003 requires."""

OPTIONAL = """
aliases user_id project_id session_id valid_until tx_end last_confirmed last_used
behavioral_implication supersession_link decay_rule update_path retirement_rule
""".split()
"""Its thirteen others."""

ADDED = """
authority_level state_layer sensitivity slot value external_ids derived_from status_reason
source_kind precision
""".split()

UUID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
THEN = datetime(2026, 1, 1, tzinfo=UTC)

BARE = ContextObject(
    object_id=UUID,
    content="Ann's office is Chicago.",
    normalized_claim="ann office Chicago",
    object_type=ObjectType.IDENTITY_FACT,
    canonical_entity_ids=(UUID,),
    source_origin="user://ann",
    source_authority=0.8,
    confidence_score=1.0,
    security_classification=Classification.PUBLIC,
    permission_scope={"allow_roles": ["*"], "deny_roles": []},
    tenant_id="default",
    valid_from=None,
    tx_start=THEN,
    why_it_matters="where to send letters",
    applicable_task_types=(),
    contradiction_status=Status.CLEAN,
    authority_level=Authority.USER,
    state_layer=StateLayer.TENANT,
    source_kind="user_statement",
)

FULL = replace(
    BARE,
    aliases=("A.", "Ann"),
    user_id="ann",
    project_id="nova",
    session_id="s1",
    valid_from=THEN,
    valid_until=THEN,
    tx_end=THEN,
    last_confirmed=THEN,
    last_used=THEN,
    applicable_task_types=("code_generation", "knitting"),
    behavioral_implication="address letters to Chicago",
    supersession_link=UUID,
    decay_rule={"half_life_days": 30.0, "minimum_threshold": 0.3},
    update_path="api://tenure/write",
    retirement_rule=RetirementRule.ARCHIVE,
    sensitivity=(Sensitivity.PERSONAL,),
    slot="office",
    value={"city": ["Chicago", None]},
    external_ids={"hr": "7"},
    derived_from=(UUID,),
    status_reason="denial",
)

SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())


def test_the_schema_requires_exactly_the_sixteen() -> None:
    assert len(REQUIRED) == 16
    assert SCHEMA["required"] == REQUIRED


def test_the_schema_has_all_properties_of_the_source_and_those_added() -> None:
    assert len(REQUIRED) + len(OPTIONAL) == 29
    assert set(SCHEMA["properties"]) == {*REQUIRED, *OPTIONAL, *ADDED}
    assert not SCHEMA["additionalProperties"]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize("given", [BARE, FULL], ids=["bare", "full"])
def test_an_object_fits_the_schema(given: ContextObject) -> None:
    plain = json.loads(given.to_json())
    VALIDATOR.validate(plain)
    assert plain == given.to_dict()
    assert list(plain) == [f.name for f in fields(ContextObject)]


def test_times_are_iso_with_z_and_words_are_words() -> None:
    plain = FULL.to_dict()
    assert plain["tx_start"] == "2026-01-01T00:00:00Z"
    assert (plain["object_type"], plain["authority_level"]) == ("identity_fact", 2)
    assert (plain["sensitivity"], plain["aliases"]) == (["personal"], ["A.", "Ann"])
    assert BARE.to_dict()["valid_from"] is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("object_id", "no uuid"),
        ("object_type", "fact"),
        ("canonical_entity_ids", ["x"]),
        ("source_authority", 1.1),
        ("confidence_score", -0.1),
        ("security_classification", "secret"),
        ("permission_scope", {"allow_roles": "hr"}),
        ("valid_from", "yesterday"),
        ("tx_start", None),
        ("contradiction_status", "fine"),
        ("retirement_rule", "forget"),
        ("authority_level", 5),
        ("state_layer", None),
        ("sensitivity", ["rude"]),
        ("extra", 1),
    ],
)
def test_another_object_does_not_fit(name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        VALIDATOR.validate({**FULL.to_dict(), name: value})


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_property_may_not_be_missing(name: str) -> None:
    plain = FULL.to_dict()
    del plain[name]
    with pytest.raises(ValidationError, match=name):
        VALIDATOR.validate(plain)


def test_the_eight_aspects_stand_on_fields() -> None:
    assert list(ASPECTS) == [
        "scope", "source", "authority", "lifespan", "relevance", "update_path", "conflict_policy",
        "retirement_rule",
    ]  # fmt: skip
    assert {c for carriers in ASPECTS.values() for c in carriers} <= set(SCHEMA["properties"])


def test_a_whole_object_misses_no_aspect() -> None:
    assert missing_aspects(FULL.to_dict()) == ()
    assert missing_aspects({}) == tuple(ASPECTS)


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("nothing", [None, ""])
def test_a_missing_aspect_is_named(aspect: str, nothing: str | None) -> None:
    for carrier in ASPECTS[aspect]:
        assert missing_aspects({**FULL.to_dict(), carrier: nothing}) == (aspect,)


def test_an_empty_list_of_task_types_is_a_value() -> None:
    assert missing_aspects({**FULL.to_dict(), "applicable_task_types": []}) == ()
