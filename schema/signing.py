"""Signed scopes: proof that an object stands in the scope it is shown in (C-096).

The store signs (object id, scope) with the tenant's key when it writes an object, and the
compiler's gate checks the signature of everything from a project, so that a row that was
copied or patched into another project is withheld. The key never leaves the store.

>>> sign_scope(b"k", "o", "project=nova") == sign_scope(b"k", "o", "project=atlas")
False
"""

from __future__ import annotations

import hmac
import re
import uuid
from collections.abc import Iterable, Sequence
from typing import Final

from .values import canonical_json

OBJECT_SPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "urn:tenure:object")
"""The namespace of every object id that follows from something stated."""
_LENGTH = 32
_DIGEST: Final = re.compile("[0-9a-f]{64}")


def sign_scope(key: bytes, object_id: str, scope_id: str) -> str:
    """The signature of an object in a scope: 32 hexadecimal digits."""
    return _code(key, b"scope-v1", object_id.encode(), scope_id.encode())[:_LENGTH]


def sign_tool(key: bytes, object_id: str, scope_id: str, manifest: str) -> str:
    """The signature of a tool's manifest, of the object that holds it and of its scope."""
    return _code(key, b"tool-v1", object_id.encode(), scope_id.encode(), manifest.encode())


def signed_by_any(keys: Iterable[bytes], object_id: str, scope_id: str, signature: str) -> bool:
    """Whether one of a tenant's keys, old epochs included, made the signature."""
    return any(hmac.compare_digest(sign_scope(key, object_id, scope_id), signature) for key in keys)


def _code(key: bytes, *fields: bytes) -> str:
    # Each field with its length (a netstring), so that no two lists of fields give one text.
    message = b"".join(b"%d:%s" % (len(field), field) for field in fields)
    return hmac.digest(key, message, "sha256").hex()


def key_digest(secret: bytes, caller: Sequence[str | None], key: str) -> str:
    """What is stored of an idempotency key: a digest that only this tenant and caller can make.

    A caller is its user and, for a service without one, its session.
    """
    message = canonical_json(["key", *caller, key]).encode("utf-8", "surrogatepass")
    return hmac.digest(secret, message, "sha256").hex()


def key_id(tenant: str, digest: str) -> str:
    """The object id of an idempotency key, from its digest."""
    return str(uuid.uuid5(OBJECT_SPACE, canonical_json(["key", tenant, digest])))


def stored_digest(secret: bytes, actor: str | None, key: str) -> str:
    """The digest of a key as a store holds it: as older versions stated it, or a digest already.

    A stated key that looks like a digest stays: it says no more than one.
    """
    if _DIGEST.fullmatch(key):
        return key
    return key_digest(secret, (None if actor == "service" else actor, None), key)
