"""Manifests of stored tools: what a tool is, signed by the store that took it (C-010).

A tool that a model may call is an instruction, so the text of a stored tool counts only as what its
store took from a writer who may offer tools. The store signs its fields (name, version,
description, schemas) together with the object and its scope: a manifest that was changed, copied
into another object or moved to another scope does not verify, and is text like any other.

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
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .errors import InvalidInput
from .limits import NESTING, check_json, nesting
from .signing import sign_tool
from .values import NO_FIELDS, canonical_json, fields_of

_SIGNATURE: Final = "signature"


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
