"""Signatures and digests that only a tenant's key makes."""

from __future__ import annotations

from tenure.schema.signing import key_digest, stored_digest


def test_a_stored_key_becomes_the_digest_of_its_actor_once() -> None:
    digest = stored_digest(b"secret", "ann", "key 7")
    assert digest == key_digest(b"secret", ("ann", None), "key 7")
    assert stored_digest(b"secret", "ann", digest) == digest
    assert stored_digest(b"secret", "bob", "key 7") != digest
    for nobody in ("service", None):
        assert stored_digest(b"secret", nobody, "k") == key_digest(b"secret", (None, None), "k")
