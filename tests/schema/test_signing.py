"""Signatures that only a tenant's key makes, and what a signed manifest vouches for."""

import pytest

from tenure.schema.signing import (
    is_signed,
    manifest_digest,
    manifest_fields,
    plain_manifest,
    signed_manifest,
)

# ---- What a signed manifest vouches for, and what it refuses to read


KEY, TOOL = b"k" * 32, '{"name": "search", "version": 2}'


@pytest.mark.parametrize(
    ("key", "object_id", "scope_id"),
    [(b"other", "o", "tenant"), (KEY, "p", "tenant"), (KEY, "o", "user=bob")],
)
def test_another_key_object_or_scope_does_not_verify(
    key: bytes, object_id: str, scope_id: str
) -> None:
    signed = signed_manifest(TOOL, KEY, object_id="o", scope_id="tenant")
    assert is_signed(signed, [b"newer", KEY], object_id="o", scope_id="tenant")
    assert not is_signed(signed, [key], object_id=object_id, scope_id=scope_id)


def test_signing_anew_replaces_a_signature_and_keeps_the_digest() -> None:
    first = signed_manifest(TOOL, KEY, object_id="o", scope_id="tenant")
    second = signed_manifest(first, KEY, object_id="p", scope_id="tenant")
    assert second.count("signature") == 1
    assert manifest_digest(first) == manifest_digest(second) == manifest_digest(TOOL)
    assert manifest_digest(TOOL.replace("2", "3")) != manifest_digest(TOOL)


@pytest.mark.parametrize(
    "text",
    ["", "call us", "[1]", "{", '{"a":' * 5_000, '{"a":1e999}', '{"a":NaN}', '{"a":"\\ud800"}'],
)
def test_what_is_no_storable_object_is_no_manifest(text: str) -> None:
    assert manifest_fields(text) == {}
    assert signed_manifest(text, KEY, object_id="o", scope_id="tenant") == text
    assert plain_manifest(text) == text
    assert not is_signed(text, [KEY], object_id="o", scope_id="tenant")


@pytest.mark.parametrize("signature", ['"é"', "5", '""', "null"])
def test_an_odd_signature_does_not_verify(signature: str) -> None:
    text = f'{{"name": "search", "signature": {signature}}}'
    assert not is_signed(text, [KEY], object_id="o", scope_id="tenant")
