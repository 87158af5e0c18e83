"""Addresses name bytes, and a grant says who may read them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.artifact import (
    SCHEME,
    Artifact,
    Original,
    address_of,
    artifact_from_json,
    digest_of,
    is_address,
)
from tenure.schema.claim import Permissions
from tenure.schema.errors import InvalidInput
from tenure.schema.principal import Principal, Scope
from tenure.schema.vocabulary import Classification
from tenure.tests.support.refusals import refused


def grant(**changed: Any) -> Artifact:
    stated: dict[str, Any] = {
        "address": address_of(b"x"),
        "size": 1,
        "media_type": "text/plain",
        "name": "x.txt",
        "origin": "tool://ci",
        "scope": Scope(user="ann"),
        "permissions": Permissions(deny=("analyst",)),
        "actor": "ann",
        "at": datetime(2026, 6, 1, 12, 0, 0, 123457, UTC),
        "object_ids": ("a", "b"),
    }
    return Artifact(**{**stated, **changed})


@given(st.binary(max_size=50))
def test_an_address_is_read_back_as_the_digest_of_its_bytes(data: bytes) -> None:
    address = address_of(data)
    assert is_address(address)
    assert address == SCHEME + digest_of(address)


@given(st.text(max_size=90))
def test_no_other_text_is_an_address(text: str) -> None:
    assert not is_address(text)
    with refused(InvalidInput, "bad_artifact"):
        digest_of(text)


def test_a_grant_is_read_back_as_it_was_written() -> None:
    held = grant(
        permissions=Permissions(
            classification=Classification.CONFIDENTIAL, allow=("hr",), deny=("analyst",)
        )
    )
    assert artifact_from_json(held.to_json()) == held


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "5", "[" * 100_000, '{"address": "artifact://x"}']
)
def test_what_no_grant_is_stored_as_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no grant of an artifact"):
        artifact_from_json(text)


def test_the_same_put_is_one_grant_whenever_it_was_made() -> None:
    later = datetime(2026, 7, 1, tzinfo=UTC)
    assert grant(at=later).grant_id == grant().grant_id
    assert grant(scope=Scope()).grant_id != grant().grant_id


@pytest.mark.parametrize(
    ("principal", "admitted"),
    [
        (Principal(user="ann"), True),
        (Principal(user="bob"), False),
        (Principal(user="ann", roles=frozenset({"analyst"})), False),
        (Principal(user="ann", clearance=Classification.PUBLIC), True),
    ],
)
def test_scope_and_roles_admit(principal: Principal, admitted: bool) -> None:
    assert grant().admits(principal.sight()) is admitted


def test_an_original_that_is_no_text_says_so() -> None:
    original = Original(pointer="p", origin="", media_type="image/png", data=b"\xff")
    with pytest.raises(InvalidInput, match="read its bytes"):
        _ = original.text
