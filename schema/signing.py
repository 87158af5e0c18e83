"""Signatures of scopes and of stored tools, with the tenant's key, which never leaves the store.

The store signs (object id, scope) when it writes an object. The compiler's gate checks the
signature of everything from a project, so it withholds a row that was copied or patched into
another project (C-096).

>>> sign_scope(b"k", "o", "project=nova") == sign_scope(b"k", "o", "project=atlas")
False

A stored tool is an instruction, so its text counts only as the store took it from a writer who may
offer tools. The store signs its name, version, description and schemas together with the object and
its scope. A manifest that was changed or copied does not verify, and is text like any other
(C-010).

>>> signed = signed_manifest('{"name": "search"}', b"key", object_id="o", scope_id="tenant")
>>> is_signed(signed, [b"key"], object_id="o", scope_id="tenant")
True
>>> is_signed(signed.replace("search", "delete"), [b"key"], object_id="o", scope_id="tenant")
False
>>> plain_manifest(signed)
'{"name":"search"}'
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .errors import InvalidInput
from .limits import NESTING, check_json, nesting
from .values import NO_FIELDS, canonical_json, fields_of

OBJECT_SPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "urn:tenure:object")
"""The namespace of every object id that follows from something stated."""
_LENGTH = 32

_SIGNATURE: Final = "signature"


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


def manifest_fields(text: str) -> Mapping[str, Any]:
    """The fields of a tool without its signature; none for a text that is no JSON object."""
    fields = _fields(text)
    return {name: value for name, value in fields.items() if name != _SIGNATURE}


def plain_manifest(text: str) -> str:
    """The text of a tool without its signature; a text that bears none as it is."""
    return canonical_json(manifest_fields(text)) if _SIGNATURE in _fields(text) else text


def signed_manifest(text: str, key: bytes, *, object_id: str, scope_id: str) -> str:
    """The text of a tool with the store's signature; a text that is no JSON object as it is."""
    fields = manifest_fields(text)
    if not fields:
        return text

    signature = sign_tool(key, object_id, scope_id, canonical_json(fields))
    return canonical_json({**fields, _SIGNATURE: signature})


def is_signed(text: str, keys: Iterable[bytes], *, object_id: str, scope_id: str) -> bool:
    """Whether one of a tenant's keys, old epochs included, signed exactly this tool."""
    signature = _fields(text).get(_SIGNATURE)
    # Comparing takes ASCII alone.
    if not isinstance(signature, str) or not signature.isascii():
        return False

    manifest = canonical_json(manifest_fields(text))
    return any(
        hmac.compare_digest(sign_tool(key, object_id, scope_id, manifest), signature)
        for key in keys
    )


def manifest_digest(text: str) -> str:
    """The SHA-256 of a tool without its signature: what two versions of a tool differ by."""
    return hashlib.sha256(canonical_json(manifest_fields(text)).encode()).hexdigest()


def _fields(text: str) -> Mapping[str, Any]:
    # A reader of JSON runs out of stack on what is nested deeply.
    if not text.lstrip().startswith("{") or nesting(text) > NESTING:
        return NO_FIELDS

    try:
        fields = fields_of(json.loads(text))
        check_json(fields, "content")
    except (ValueError, InvalidInput):
        return NO_FIELDS

    return fields
